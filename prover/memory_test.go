package prover_test

import (
	"context"
	"testing"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// The model must never be below what the buffers take, and hardly above.
func TestMemoryModelMatchesBuffers(t *testing.T) {
	for _, c := range []struct {
		profile    string
		bytes      int
		plan       blake3.Plan
		regenerate bool
	}{
		{"dev", 40000, nil, false},
		{"standard", 9000, nil, false},
		{"fast", 20000, nil, false},
		{"dev", 30000, blake3.Plan{{11}, {11}, {11}}, false},
		{"dev", 30000, blake3.Plan{{11}, {11}, {11}}, true},
	} {
		p, _ := security.ProfileByName(c.profile)
		pk, err := prover.Keygen(context.Background(), blake3.System(), hash.Blake3{}, p, cpu.Backend{})
		if err != nil {
			t.Fatal(err)
		}
		w, err := blake3.Witness([][]byte{make([]byte, c.bytes)}, c.plan, p.MinLogHeight)
		if err != nil {
			t.Fatal(err)
		}
		shapes, err := prover.Shapes(pk.Key, w)
		if err != nil {
			t.Fatal(err)
		}
		m := prover.EstimateMemory(pk.Key, shapes, c.regenerate)
		r, err := prover.Prove(context.Background(), pk, w, prover.Options{Backend: cpu.Backend{}, Regenerate: c.regenerate})
		if err != nil {
			t.Fatal(err)
		}
		// Twiddles, fixed columns and combined pins live on the heap, where the backend does not count them.
		buffers := m.Peak - 40*prover.MiB
		if got := prover.Bytes(r.PeakBytes); got > buffers || buffers-got > buffers/50+8*prover.MiB {
			t.Errorf("%s, %d bytes, %d shards: the model says %d, the buffers took %d", c.profile, c.bytes, len(shapes), buffers, got)
		}
		t.Logf("%s %d: model %.1f MiB, buffers %.1f MiB", c.profile, c.bytes, float64(buffers)/float64(prover.MiB), float64(r.PeakBytes)/float64(prover.MiB))
	}
}
