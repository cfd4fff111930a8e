package wasm_test

import (
	"bytes"
	"context"
	"strconv"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/formats/encode"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
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

// hostileKeys are keys of up to wasm.MaxKeyBytes that make a verifier do as much as their bytes can.
func hostileKeys(t testing.TB) map[string][]byte {
	t.Helper()
	profile, _ := security.ProfileByName("standard")
	key := func(circuits int, c formats.Circuit) []byte {
		k := &formats.Key{Name: "k", Suite: hash.Blake3{}.Name(), Profile: verifier.RawProfile(profile), Channels: []formats.Channel{{Name: "c"}}, Entries: []formats.Entry{{Name: "e"}}}
		c.Columns, c.MinLogHeight, c.Degree = max(c.Columns, 1), max(c.MinLogHeight, uint8(profile.MinLogHeight)), 2
		if len(c.Nodes) == 0 {
			c.Nodes = []formats.Node{{Op: formats.OpConst}}
		}
		c.Constraints = append(c.Constraints, 0)
		for i := range circuits {
			c.Name = strconv.Itoa(i)
			k.Circuits = append(k.Circuits, c)
		}
		data, err := encode.Key(k)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	nodes := make([]formats.Node, 140_000)
	for i := 1; i < len(nodes); i++ {
		nodes[i] = formats.Node{Op: formats.OpAdd, A: uint64(i - 1)}
	}
	var periodic []formats.Elements
	for range 100 {
		periodic = append(periodic, make(formats.Elements, 1024*formats.ElementBytes))
	}
	return map[string][]byte{
		"nodes":       key(1, formats.Circuit{Nodes: nodes}),
		"constraints": key(1, formats.Circuit{Constraints: make([]uint32, 900_000)}),
		"lookups":     key(30, formats.Circuit{Lookups: make([]formats.Lookup, formats.MaxLookups)}),
		"columns":     key(formats.MaxCircuits, formats.Circuit{Columns: formats.MaxColumns}),
		"periods":     key(1, formats.Circuit{Periodic: periodic, MinLogHeight: 10}),
		"garbage":     bytes.Repeat([]byte{0xa1, 0}, wasm.MaxKeyBytes/2),
	}
}

func TestHostileKeys(t *testing.T) {
	for name, key := range hostileKeys(t) {
		if len(key) > wasm.MaxKeyBytes {
			t.Fatalf("%s: %d bytes", name, len(key))
		}
		result := wasmtest.Compare(t, key, read(t, "fibonacci-fast-v1.proof"), nil)
		t.Logf("%s: %d bytes: %s", name, len(key), result)
	}
}
