// Package message is what passes between the Wasm verifier and its hosts, byte for byte as docs/wasm.md has it: the policy and the result, both JSON, and the function from one
// to the other. It runs natively too, which is how the engines are compared.
//
// Policies are untrusted and read by hand, strictly; the module has neither encoding/json nor reflection.
package message

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
)

// Limits of the module's inputs in bytes. They bound its memory; a policy can only lower the first.
const (
	MaxProofBytes  = 8 << 20
	MaxKeyBytes    = 1 << 20
	MaxPolicyBytes = 1 << 20
)

// Status is the number that the module's verify functions return: zero, or the class of the error.
type Status int32

// The statuses. They are stable.
const (
	Accepted     Status = 0
	Rejected     Status = 1
	Malformed    Status = 2
	Incompatible Status = 3
	Limit        Status = 4
	Invalid      Status = 5
	Internal     Status = 70
)

var statuses = map[formats.Class]Status{
	formats.Rejected: Rejected, formats.Malformed: Malformed, formats.Incompatible: Incompatible, formats.Limit: Limit, formats.Invalid: Invalid,
}

// StatusOf is the status of an error's class; a class without one is Internal.
func StatusOf(c formats.Class) Status {
	if s, ok := statuses[c]; ok {
		return s
	}
	return Internal
}

// The inputs, as errors name them.
const (
	inputKey    = "key"
	inputPolicy = "policy"
	inputProof  = "proof"
)

// Verify checks a proof against a key under a policy, all three encoded, and returns the status and the result in JSON. Key, policy and proof are looked at in that order.
func Verify(proof, key, policy []byte) (Status, []byte) {
	for _, in := range []struct {
		name, check string
		data        []byte
		limit       int
	}{{inputKey, "K-1", key, MaxKeyBytes}, {inputPolicy, "", policy, MaxPolicyBytes}, {inputProof, "P-1", proof, MaxProofBytes}} {
		if len(in.data) > in.limit {
			return Failure(in.name, TooLong(in.check, in.limit, len(in.data)))
		}
	}
	k, err := verifier.ParseKey(key)
	if err != nil {
		return Failure(inputKey, err)
	}
	p, err := ParsePolicy(k, policy)
	if err != nil {
		return Failure(inputPolicy, err)
	}
	if p.MaxProofBytes == 0 || p.MaxProofBytes > MaxProofBytes {
		p.MaxProofBytes = MaxProofBytes
	}
	if p.Key != nil && *p.Key != k.Digest() {
		return Failure(inputKey, &formats.Error{Class: formats.Incompatible, Place: "key", What: "this is not the key that the policy names",
			Expected: verifier.Hex(*p.Key), Got: verifier.Hex(k.Digest()), Next: "pass the key that the policy names"})
	}
	r, err := verifier.Verify(k, proof, p.Policy)
	if err != nil {
		return Failure(inputProof, err)
	}
	return Accepted, AppendReport(nil, k, r)
}
