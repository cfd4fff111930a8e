package wasm_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/formats/encode"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/wasm"
	"github.com/ixprove/ixprove/wasm/wasmtest"
)

// hostileProofs are proofs that make a decoder or a verifier do as much as their bytes can. Each is refused.
func hostileProofs(t testing.TB, key []byte) map[string][]byte {
	t.Helper()
	k, err := verifier.ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	claim := formats.Claim{Args: formats.Elements{}.Append(1), Results: formats.Elements{}.Append(1)}
	proof := func(claims, shards, tables, openings int) []byte {
		p := &formats.Proof{Key: k.Digest(), Shards: make([]formats.Shard, shards)}
		for range claims {
			p.Claims = append(p.Claims, claim)
		}
		for i := range p.Shards {
			s := &p.Shards[i]
			s.Tables = make([]formats.Table, tables)
			for j := range s.Tables {
				s.Tables[j].LogHeight = 27 - uint8(20*j/max(tables, 1))
			}
			s.Trees = make([]formats.Opening, openings)
			s.Layers = make([]formats.Opening, min(openings, formats.MaxLayers))
		}
		data, err := encode.Proof(p)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	garbage := bytes.Repeat([]byte{0x9b, 0, 0, 0, 1, 0, 0, 0, 0}, wasm.MaxProofBytes/9)
	start := proof(0, 0, 0, 0)
	within := func(tail []byte) []byte { // in the place of the empty list of shards, which ends a proof
		return append(bytes.Clone(start[:len(start)-1]), tail...)
	}
	return map[string][]byte{
		"garbage":                 garbage,
		"zeros":                   make([]byte, wasm.MaxProofBytes),
		"nested arrays":           within(bytes.Repeat([]byte{0x81}, 4<<20)),
		"nested maps":             within(bytes.Repeat([]byte{0xa1, 0}, 3<<20)),
		"an array of 2^32":        within([]byte{0x9b, 0, 0, 0, 1, 0, 0, 0, 0}),
		"a string of 2^32":        within([]byte{0x5b, 0, 0, 0, 1, 0, 0, 0, 0}),
		"a string of 2^64 - 1":    within([]byte{0x5b, 255, 255, 255, 255, 255, 255, 255, 255}),
		"as many claims as fit":   proof(formats.MaxClaims, 1, 1, 0),
		"as many tables as fit":   proof(1, formats.MaxBatchTables/formats.MaxTables, formats.MaxTables, 0),
		"as many openings as fit": proof(1, formats.MaxShards, formats.MaxBatchTables/formats.MaxShards, formats.MaxBatchTrees/formats.MaxShards),
		"all of it":               proof(formats.MaxClaims, formats.MaxBatchTables/formats.MaxTables, formats.MaxTables, formats.MaxOpeningSets),
	}
}

func TestHostileProofs(t *testing.T) {
	key := read(t, "fibonacci-fast-v1.key")
	v := newVerifier(t, wasm.NewConfig())
	for name, proof := range hostileProofs(t, key) {
		for _, policy := range []string{"", `{"insecure":true}`} {
			result, err := v.VerifyJSON(context.Background(), key, proof, []byte(policy))
			t.Logf("%s: %d bytes: %s %v", name, len(proof), result, err)
			if err != nil {
				t.Error(err)
			}
			if len(proof) <= wasm.MaxProofBytes {
				wasmtest.Compare(t, key, proof, []byte(policy))
			}
		}
	}
}
