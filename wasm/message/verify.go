// Package message is what passes between the Wasm verifier and its hosts, byte for byte as docs/wasm.md has it: the policy and the result, both JSON, and the function from one
// to the other. It runs natively too, which is how the engines are compared.
//
// Policies are untrusted and read by hand, strictly; the module has neither encoding/json nor reflection.
package message

import (
	"strconv"

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
	if result := CheckLengths(proof, key, policy); result != nil {
		return Limit, result
	}
	k, err := verifier.ParseKey(key)
	if err != nil {
		return Failure(inputKey, err)
	}
	p, err := ParsePolicy(k, policy)
	if err != nil {
		return Failure(inputPolicy, err)
	}
	if p.MaxProofBytes == 0 {
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

// CheckLengths is the result for an input that is longer than the module takes, or nil. Hosts ask it too: such an input never reaches the module.
func CheckLengths(proof, key, policy []byte) []byte {
	for _, in := range [...]struct {
		name, check string
		limit, got  int
	}{{inputKey, "K-1", MaxKeyBytes, len(key)}, {inputPolicy, "", MaxPolicyBytes, len(policy)}, {inputProof, "P-1", MaxProofBytes, len(proof)}} {
		if in.got > in.limit {
			_, result := Failure(in.name, &formats.Error{Class: formats.Limit, Check: in.check, Place: "at byte 0", What: "the data is too long",
				Expected: "at most " + strconv.Itoa(in.limit) + " bytes", Got: strconv.Itoa(in.got)})
			return result
		}
	}
	return nil
}
