package prover_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/fibonacci"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// seeded is a trace writer with a row kernel.
type seeded struct {
	prover.TraceWriter
	kernel prover.RowKernel
}

func (s seeded) RowKernels() []prover.RowKernel { return []prover.RowKernel{s.kernel} }

// Row kernels whose numbers make no sense are refused before any memory is planned; what the seeds take is part of the job.
func TestRowKernels(t *testing.T) {
	p, _ := security.ProfileByName("dev")
	pk, err := prover.Keygen(context.Background(), fibonacci.System(), hash.Blake3{}, p, cpu.Backend{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := fibonacci.Witness([]uint32{5}, 1, p.MinLogHeight)
	if err != nil {
		t.Fatal(err)
	}
	table := &w.Shards[0].Tables[0]
	host := table.Trace
	fill := func([]uint64, int) {}
	for _, k := range []prover.RowKernel{
		{"", 1, 1, 1, fill}, {"rows", 0, 1, 1, fill}, {"rows", 1, 0, 1, fill}, {"rows", 1, 1, 0, fill}, {"rows", 1, 1, 1, nil}, {"rows", -1, -1, 1, fill}, {"rows", math.MaxInt, 1, 1, fill},
		{"rows", 1, math.MaxInt, 1, fill},
	} {
		table.Trace = seeded{host, k}
		if _, err := prover.Shapes(pk.Key, w); !errors.Is(err, formats.Invalid) {
			t.Errorf("%+v: %v", k, err)
		}
	}
	table.Trace = seeded{host, prover.RowKernel{"rows", 1000, 3, 2, fill}}
	shapes, err := prover.Shapes(pk.Key, w)
	if err != nil {
		t.Fatal(err)
	}
	if got := prover.NewJob(pk.Key, shapes, w, false).Seeds[0][0]; len(got) != 1 || got[0] != 24000 {
		t.Errorf("seeds of %v bytes", got)
	}
	found := false
	for _, s := range prover.DeviceMemory(prover.NewJob(pk.Key, shapes, w, false), 132).Stages {
		for _, term := range s.Terms {
			found = found || s.Stage == prover.StageTrace && term.Name == "seeds" && term.Bytes >= 24000
		}
	}
	if !found {
		t.Error("the memory model has no term for seeds")
	}
}
