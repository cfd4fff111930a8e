package cpu_test

import (
	"context"
	"runtime"
	"testing"

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
