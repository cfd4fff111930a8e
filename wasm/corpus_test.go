package wasm_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
	"github.com/ixprove/ixprove/wasm"
	"github.com/ixprove/ixprove/wasm/wasmtest"
)

// TestCorpus compares engines on the fixtures, and on them cut, lengthened and changed. The forgeries of the dishonest prover and changes of every field are compared by
// `go test ./prover -engines`; with -node Node takes part in both, and with -tags browser Chromium.
func TestCorpus(t *testing.T) {
	insecure := []byte(`{"insecure":true}`)
	for _, name := range fixtures {
		key, proof := read(t, name+".key"), read(t, name+".proof")
		wasmtest.Compare(t, key, proof, nil)
		wasmtest.Compare(t, key, proof, insecure)
		for _, policy := range []string{"{", `{"claims":[]}`, `{"claims":[{"entry":0}]}`, `{"key":"00"}`, `{"min_bits":200}`, `{"max_proof_bytes":1}`} {
			wasmtest.Compare(t, key, proof, []byte(policy))
		}
		for _, other := range fixtures {
			wasmtest.Compare(t, read(t, other+".key"), proof, insecure)
		}
		changes := func(data []byte, dense, rest int, compare func([]byte)) {
			for i := 0; i < len(data); i++ {
				if i >= dense {
					i += max(len(data)/rest, 1)
				}
				if i >= len(data) {
					break
				}
				compare(data[:i])
				changed := bytes.Clone(data)
				changed[i] ^= 1 << (i % 8)
				compare(changed)
			}
			compare(append(bytes.Clone(data), 0))
		}
		changes(proof, 300, 200, func(data []byte) { wasmtest.Compare(t, key, data, insecure) })
		changes(key, 200, 100, func(data []byte) { wasmtest.Compare(t, data, proof, insecure) })
	}
	t.Log(wasmtest.Summary())
}

// maxMemoryFor5MB is what users have been promised for a proof of 5 MB.
const maxMemoryFor5MB = 32 * wasm.MiB

// wide is a trace of many columns, zero but for a one in the first row of the last.
type wide struct{}

func (wide) WriteRows(columns [][]field.Element, first int) error {
	if first == 0 {
		columns[len(columns)-1][0] = 1
	}
	return nil
}

// TestMemoryOfALongProof verifies one proof of 5 MB, of a circuit with thousands of columns, again and again.
func TestMemoryOfALongProof(t *testing.T) {
	ctx := context.Background()
	system := air.NewSystem("wide")
	zeros := system.Channel("zeros", 1)
	system.Entry("zero", zeros, nil, []formats.Value{{Name: "zero", Type: formats.TypeField}})
	c := system.Circuit("wide")
	column := c.Column("zero")
	c.Assert("is zero", column)
	for range 5500 {
		column = c.Column("more")
	}
	c.Pull(zeros, column, column.Sub(column))
	profile, _ := security.ProfileByName("standard")
	pk, err := prover.Keygen(ctx, system, hash.Blake3{}, profile, cpu.Backend{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := prover.Prove(ctx, pk, &prover.Witness{
		Claims: []formats.Claim{{Results: formats.Elements{}.Append(0)}},
		Shards: []prover.Shard{{Tables: []prover.Table{{LogHeight: 10, Trace: wide{}}}}},
	}, prover.Options{Backend: cpu.Backend{}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Proof) < 5_000_000 {
		t.Fatalf("the proof has %d bytes", len(r.Proof))
	}
	g := newGuest(t)
	for range 5 {
		at, n := g.put(wasmtest.Frame(r.Proof, pk.Encoded, nil))
		if status := g.call("verify", at, n); status != 0 {
			t.Fatal(g.result())
		}
		g.call("free", at)
	}
	t.Logf("%d bytes of proof, %d KiB of memory", len(r.Proof), g.Memory().Size()>>10)
	if n := g.Memory().Size(); n >= maxMemoryFor5MB {
		t.Errorf("%d bytes of memory for a proof of %d", n, len(r.Proof))
	}
}
