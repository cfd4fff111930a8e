package cpu_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/ixprove/ixprove/compress/poseidon2"
	"github.com/ixprove/ixprove/internal/fullsize"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// BenchmarkProve proves the BLAKE3 digest of a file of 1 MiB under the profile standard, and reports each stage.
func BenchmarkProve(b *testing.B) {
	p, _ := security.ProfileByName("standard")
	pk, err := prover.Keygen(context.Background(), blake3.System(), hash.Blake3{}, p, cpu.Backend{})
	if err != nil {
		b.Fatal(err)
	}
	w, err := blake3.Witness([][]byte{make([]byte, 1<<20)}, nil, p.MinLogHeight)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r, err := prover.Prove(context.Background(), pk, w, prover.Options{Backend: cpu.Backend{}})
		if err != nil {
			b.Fatal(err)
		}
		for _, s := range r.Stages {
			b.ReportMetric(s.Time.Seconds(), string(s.Stage)+"-s")
		}
		b.ReportMetric(float64(r.PeakBytes)/float64(prover.MiB), "buffers-MiB")
	}
	b.ReportMetric(float64(runtime.GOMAXPROCS(0)), "cores")
}

// BenchmarkProveRoot proves a root of 2^16 rows of 50 columns, the size that is still hashed in a minute or two.
func BenchmarkProveRoot(b *testing.B) {
	p, _ := security.ProfileByName("root")
	pk, err := prover.Keygen(context.Background(), fullsize.System(), poseidon2.Suite{}, p, cpu.Backend{})
	if err != nil {
		b.Fatal(err)
	}
	w := fullsize.Witness()
	shapes, err := prover.Shapes(pk.Key, w)
	if err != nil {
		b.Fatal(err)
	}
	work := poseidon2.Hashing(pk.Key, shapes)
	b.Logf("%+v, estimated at %s", work, work.Time(poseidon2.MeasureRates(), runtime.GOMAXPROCS(0)))
	for b.Loop() {
		r, err := prover.Prove(context.Background(), pk, w, prover.Options{Backend: cpu.Backend{}})
		if err != nil {
			b.Fatal(err)
		}
		for _, s := range r.Stages {
			b.ReportMetric(s.Time.Seconds(), string(s.Stage)+"-s")
		}
		b.ReportMetric(float64(len(r.Proof)), "proof-B")
	}
	b.ReportMetric(float64(runtime.GOMAXPROCS(0)), "cores")
}
