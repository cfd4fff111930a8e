package wasm

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
)

// Report describes an accepted proof. It is the module's result, and what message.AppendReport writes natively.
type Report struct {
	System          string
	Key             string // digest, in hexadecimal
	Profile         string
	ProvenBits      int `json:"proven_bits"` // up to the Johnson bound
	UniqueBits      int `json:"unique_bits"` // proven within the unique decoding radius
	ConjecturedBits int `json:"conjectured_bits"`
	DigestBits      int `json:"digest_bits"` // work for a collision of digests
	Claims          []Claim
	Shards          []Shard
	Sizes           Sizes // in bytes
}

// Claim is a claim that the proof makes, readable.
type Claim struct {
	Entry   string
	Index   int // of the entry in the key
	Args    []Value
	Results []Value
}

// Value is an argument or result of a claim: Value in decimal, or in hexadecimal for type bytes32.
type Value struct{ Name, Type, Value string }

// Shard lists a shard's tables and the work it took.
type Shard struct {
	Tables []Table
	Layers int // FRI layers
}

// Table is a circuit at a height of 2^LogHeight rows.
type Table struct {
	Circuit   string
	LogHeight int `json:"log_height"`
}

// Sizes are the bytes of a proof by part; Rows and Siblings by kind of matrix: fixed, main, auxiliary, quotient.
type Sizes struct {
	Total                         int
	Rows, Siblings                map[string]int
	Openings, Layers, Final, Rest int
}

// Native is the report as package verifier makes it. A report that does not fit the key, which is the one that it was made with, is a *formats.Error of class Internal.
func (r *Report) Native(key *verifier.Key) (*verifier.Report, error) {
	misfit := &formats.Error{Class: formats.Internal, Place: "report", What: "the module's report does not fit the key"}
	digest, ok := verifier.ParseDigest(r.Key)
	if !ok || digest != key.Digest() {
		return nil, misfit
	}
	out := &verifier.Report{System: r.System, Key: digest, Profile: r.Profile, ProvenBits: r.ProvenBits, UniqueBits: r.UniqueBits, Conjectured: r.ConjecturedBits, DigestBits: r.DigestBits,
		Sizes: verifier.Sizes{Total: r.Sizes.Total, Openings: r.Sizes.Openings, Layers: r.Sizes.Layers, Final: r.Sizes.Final, Rest: r.Sizes.Rest}}
	for k := range verifier.NumKinds {
		out.Sizes.Rows[k], out.Sizes.Siblings[k] = r.Sizes.Rows[k.String()], r.Sizes.Siblings[k.String()]
	}
	for _, c := range r.Claims {
		claim := formats.Claim{Entry: uint32(c.Index)}
		if c.Index < 0 || c.Index >= len(key.Entries) {
			return nil, misfit
		}
		e := &key.Entries[c.Index]
		for _, part := range []struct {
			types  []formats.Value
			values []Value
			to     *formats.Elements
		}{{e.Args, c.Args, &claim.Args}, {e.Results, c.Results, &claim.Results}} {
			if len(part.types) != len(part.values) {
				return nil, misfit
			}
			for i, v := range part.values {
				if *part.to, ok = verifier.AppendValue(*part.to, part.types[i].Type, v.Value); !ok {
					return nil, misfit
				}
			}
		}
		out.Claims = append(out.Claims, claim)
	}
	for _, s := range r.Shards {
		shard := verifier.ShardReport{Layers: s.Layers}
		for _, t := range s.Tables {
			i := slices.IndexFunc(key.Circuits, func(c *air.Circuit) bool { return c.Name == t.Circuit })
			if i < 0 {
				return nil, misfit
			}
			shard.Tables = append(shard.Tables, verifier.Table{Circuit: key.Circuits[i], Index: i, LogHeight: t.LogHeight})
		}
		out.Shards = append(out.Shards, shard)
	}
	return out, nil
}

// JSON is the policy as docs/wasm.md has it, claims by number and element. A negative number is a *formats.Error of class Invalid.
func (p Policy) JSON() ([]byte, error) {
	if least := min(p.MinBits, p.MinDigestBits, p.MaxProofBytes); least < 0 {
		return nil, &formats.Error{Class: formats.Invalid, Place: "policy", What: "a number is negative", Expected: "0 or more", Got: strconv.Itoa(least)}
	}
	type claim struct {
		Entry   uint32   `json:"entry"`
		Args    []string `json:"args"`
		Results []string `json:"results"`
	}
	out := struct {
		Key       string   `json:"key,omitempty"`
		MaxBytes  int      `json:"max_proof_bytes,omitempty"`
		MinBits   int      `json:"min_bits,omitempty"`
		MinDigest int      `json:"min_digest_bits,omitempty"`
		Insecure  bool     `json:"insecure,omitempty"`
		Claims    *[]claim `json:"claims,omitempty"`
	}{MaxBytes: min(p.MaxProofBytes, MaxProofBytes), MinBits: p.MinBits, MinDigest: p.MinDigestBits, Insecure: p.Insecure}
	if p.Key != nil {
		out.Key = hex.EncodeToString(p.Key[:])
	}
	if p.Claims != nil {
		claims := make([]claim, len(p.Claims))
		for i, c := range p.Claims {
			claims[i] = claim{c.Entry, decimals(c.Args), decimals(c.Results)}
		}
		out.Claims = &claims
	}
	return json.Marshal(out)
}

func decimals(e formats.Elements) []string {
	out := make([]string, e.Len())
	for i := range out {
		out[i] = strconv.FormatUint(e.At(i), 10)
	}
	return out
}

// decodeResult reads the module's result: a report, or the error it stands for.
func decodeResult(data []byte) (*Report, error) {
	var r struct {
		Verdict                                        string
		Check, Place, What, Expected, Got, Next, Input string
		Report
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, &formats.Error{Class: formats.Internal, Place: "module", What: "the module's result cannot be read", Got: err.Error()}
	}
	if r.Verdict == "accepted" {
		return &r.Report, nil
	}
	classes := []formats.Class{formats.Internal, formats.Malformed, formats.Incompatible, formats.Rejected, formats.Limit, formats.Invalid}
	class := classes[max(slices.IndexFunc(classes, func(c formats.Class) bool { return c.String() == r.Verdict }), 0)]
	return nil, &formats.Error{Class: class, Check: r.Check, Place: r.Place, What: r.What, Expected: r.Expected, Got: r.Got, Next: r.Next}
}
