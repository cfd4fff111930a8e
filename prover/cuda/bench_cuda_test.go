//go:build cuda

package cuda_test

import (
	"context"
	"sort"
	"testing"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/systems/fibonacci"
)

// BenchmarkFRI reports the time of the stage fri in proofs of a table of 2^20 rows, blowup 4, by the host's clock and by the device's: from a word of 2^22 values to the final polynomial, with
// layers of eight and four, their trees, and roots on the host.
func BenchmarkFRI(b *testing.B) {
	backend := open(b)
	pk := keygen(b, fibonacci.System(), "standard")
	w, err := fibonacci.Witness([]uint32{1<<20 - 1}, 1, pk.Profile.MinLogHeight)
	if err != nil {
		b.Fatal(err)
	}
	if got := w.Shards[0].Tables[0].LogHeight; got != 20 {
		b.Fatalf("the table has 2^%d rows", got)
	}
	var wall, busy []float64
	for b.Loop() {
		r, err := prover.Prove(context.Background(), pk, w, prover.Options{Backend: backend})
		if err != nil {
			b.Fatal(err)
		}
		for _, s := range r.Stages {
			if s.Stage == prover.StageFRI {
				wall = append(wall, float64(s.Time.Microseconds())/1000)
			}
		}
		for _, s := range r.Work {
			if s.Stage == prover.StageFRI {
				busy = append(busy, float64(s.Busy.Microseconds())/1000)
			}
		}
	}
	for name, times := range map[string][]float64{"wall-ms": wall, "busy-ms": busy} {
		sort.Float64s(times)
		b.ReportMetric(times[len(times)/2], name)
	}
}
