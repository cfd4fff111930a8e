//go:build emulated || cuda

package cuda_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/prover/cuda"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/systems/fibonacci"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

func open(t testing.TB) *cuda.Backend {
	t.Helper()
	d, err := newDriver()
	if err != nil {
		t.Fatal(err)
	}
	b := cuda.New(d)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func keygen(t testing.TB, s *air.System, profile string) *prover.ProvingKey {
	t.Helper()
	p, _ := security.ProfileByName(profile)
	pk, err := prover.Keygen(context.Background(), s, hash.Blake3{}, p, cpu.Backend{})
	if err != nil {
		t.Fatal(err)
	}
	return pk
}

// same proves on the device and on the CPU, and compares bytes, peak and model.
func same(t *testing.T, b *cuda.Backend, pk *prover.ProvingKey, w *prover.Witness, regenerate bool) *prover.Result {
	t.Helper()
	want, err := prover.Prove(context.Background(), pk, w, prover.Options{Backend: cpu.Backend{}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := prover.Prove(context.Background(), pk, w, prover.Options{Backend: b, Regenerate: regenerate})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Proof, want.Proof) {
		t.Fatal("the proof differs from the CPU's")
	}
	shapes, err := prover.Shapes(pk.Key, w)
	if err != nil {
		t.Fatal(err)
	}
	model := prover.DeviceMemory(prover.NewJob(pk.Key, shapes, regenerate), b.Info().Processors)
	if got.PeakBytes > int64(model.Peak) || float64(got.PeakBytes) < 0.97*float64(model.Peak) {
		t.Errorf("the proof took %d bytes, the model says %d", got.PeakBytes, model.Peak)
	}
	t.Logf("%d shards: peak %d of %d", len(shapes), got.PeakBytes, model.Peak)
	return got
}

func TestFibonacci(t *testing.T) {
	b := open(t)
	for _, p := range security.Profiles() {
		pk := keygen(t, fibonacci.System(), p.Name)
		for _, shards := range []int{1, 3} {
			w, err := fibonacci.Witness([]uint32{0, 1, 2, 90, 300, 5}, shards, p.MinLogHeight)
			if err != nil {
				t.Fatal(err)
			}
			for _, regenerate := range []bool{false, true} {
				same(t, b, pk, w, regenerate)
			}
		}
	}
}

func TestBlake3(t *testing.T) {
	b := open(t)
	p, _ := security.ProfileByName("dev")
	pk := keygen(t, blake3.System(), "dev")
	w, err := blake3.Witness([][]byte{make([]byte, 1500)}, nil, p.MinLogHeight)
	if err != nil {
		t.Fatal(err)
	}
	same(t, b, pk, w, false)
}
