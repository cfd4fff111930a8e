package cpu_test

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/compress/poseidon2"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/fibonacci"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// prove makes and verifies a proof.
func prove(t testing.TB, pk *prover.ProvingKey, w *prover.Witness, o prover.Options) *prover.Result {
	t.Helper()
	o.Backend = cpu.Backend{}
	var last prover.Event
	o.Progress = func(e prover.Event) { last = e }
	r, err := prover.Prove(context.Background(), pk, w, o)
	if err != nil {
		t.Fatal(err)
	}
	if last.Done != last.Total {
		t.Errorf("progress ended at %d of %d", last.Done, last.Total)
	}
	key, err := verifier.ParseKey(pk.Encoded, pk.Suite)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := verifier.Verify(key, r.Proof, verifier.Policy{Claims: w.Claims, Insecure: strings.HasSuffix(pk.Profile.Name, "dev")}); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFibonacciUnderEveryProfile(t *testing.T) {
	for _, p := range security.Profiles() {
		t.Run(p.Name, func(t *testing.T) {
			suite, _ := hash.Named(p.Suite, []hash.Suite{hash.Blake3{}, poseidon2.Suite{}})
			pk, err := prover.Keygen(context.Background(), fibonacci.System(), suite, p, cpu.Backend{})
			if err != nil {
				t.Fatal(err)
			}
			indices := []uint32{0, 1, 2, 90, 1000, 5, 77, 3}
			counts := []int{1, 2, 5}
			if p.Name == "root" { // grinding takes 2^20 permutations a shard; root-dev has the rest
				counts = counts[:1]
			}
			for _, shards := range counts {
				w, err := fibonacci.Witness(indices, shards, p.MinLogHeight)
				if err != nil {
					t.Fatal(err)
				}
				r := prove(t, pk, w, prover.Options{})
				again := prove(t, pk, w, prover.Options{Regenerate: true})
				was := runtime.GOMAXPROCS(1)
				single := prove(t, pk, w, prover.Options{})
				runtime.GOMAXPROCS(was)
				if !bytes.Equal(r.Proof, again.Proof) || !bytes.Equal(r.Proof, single.Proof) {
					t.Fatal("the proof depends on how it was made")
				}
				t.Logf("%d shards: %d bytes, %d proven bits", shards, len(r.Proof), r.Report.ProvenBits)
			}
		})
	}
}
