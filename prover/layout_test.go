package prover_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// Spans never overlap, whatever is taken and given in which order, and the extent covers them.
func TestLayout(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var l prover.Layout
		var live []prover.Span
		var peak prover.Bytes
		for range 60 {
			if len(live) > 0 && r.IntN(3) == 0 {
				i := r.IntN(len(live))
				if !l.Give(live[i]) {
					t.Fatal("a live span is unknown")
				}
				live = append(live[:i], live[i+1:]...)
			} else {
				live = append(live, l.Take(prover.End(r.IntN(2)), prover.Bytes(1+r.IntN(5000))))
			}
			peak = max(peak, l.Extent())
			var sum prover.Bytes
			for i, a := range live {
				sum += a.Size
				if a.At%256 != 0 || a.Size%256 != 0 {
					t.Fatalf("span %+v is not aligned", a)
				}
				for _, b := range live[:i] {
					if a.End == b.End && a.At < b.At+b.Size && b.At < a.At+a.Size {
						t.Fatalf("spans %+v and %+v overlap", a, b)
					}
				}
			}
			if l.Live() != sum || l.Extent() < sum || l.Peak() != peak {
				t.Fatalf("live %d of %d, extent %d, peak %d of %d", l.Live(), sum, l.Extent(), l.Peak(), peak)
			}
		}
		if l.Give(prover.Span{At: 1, Size: 256}) {
			t.Fatal("a span that nobody took was given back")
		}
	}
}

// The terms of each stage add up to its total, the peak is the greatest, and regenerating takes no more than holding all shards.
func TestDeviceMemory(t *testing.T) {
	for _, name := range []string{"dev", "standard", "compact"} {
		p, _ := security.ProfileByName(name)
		pk, err := prover.Keygen(context.Background(), blake3.System(), hash.Blake3{}, p, cpu.Backend{})
		if err != nil {
			t.Fatal(err)
		}
		for _, shards := range []int{1, 3} {
			w, err := blake3.WitnessOver([][]byte{make([]byte, 50000)}, shards, p.MinLogHeight)
			if err != nil {
				t.Fatal(err)
			}
			shapes, err := prover.Shapes(pk.Key, w)
			if err != nil {
				t.Fatal(err)
			}
			m := prover.DeviceMemory(prover.NewJob(pk.Key, shapes, w, false), 132)
			var peak prover.Bytes
			for _, s := range m.Stages {
				var sum prover.Bytes
				for _, term := range s.Terms {
					sum += term.Bytes
				}
				if sum != s.Total {
					t.Errorf("%s, stage %s of shard %d: the terms are %d, the total is %d", name, s.Stage, s.Shard, sum, s.Total)
				}
				peak = max(peak, s.Total)
			}
			if m.Peak != peak || m.Worst().Total != peak {
				t.Errorf("%s: the peak is %d, the worst stage's total %d", name, m.Peak, peak)
			}
			again := prover.DeviceMemory(prover.NewJob(pk.Key, shapes, w, true), 132)
			if again.Peak > m.Peak || shards > 1 && again.Peak == m.Peak {
				t.Errorf("%s, %d shards: regenerating takes %d instead of %d", name, shards, again.Peak, m.Peak)
			}
			if m.Admit(m.Peak) != nil {
				t.Error("a proof that fits is refused")
			}
			var e *prover.MemoryError
			if err := m.Admit(m.Peak - 1); !errors.As(err, &e) || e.Budget != m.Peak-1 || e.Worst.Total != m.Peak {
				t.Errorf("a proof that does not fit: %v", err)
			}
		}
	}
}

// Whether scratch counts as large depends on its size, so a call for fewer columns may need more of the small part than one for all. (2^21 rows of BLAKE3 did: the scratch for
// the columns that are opened in the next row is just below the limit, that for all columns above.)
func TestScratchAboutTheLimit(t *testing.T) {
	p, _ := security.ProfileByName("standard")
	pk, err := prover.Keygen(context.Background(), blake3.System(), hash.Blake3{}, p, cpu.Backend{})
	if err != nil {
		t.Fatal(err)
	}
	aligned := func(n int64) prover.Bytes { return prover.Bytes((n + 255) &^ 255) }
	w := &prover.Witness{Shards: []prover.Shard{{Tables: make([]prover.Table, 1)}}}
	for log := uint8(3); log <= formats.MaxLogHeight; log++ {
		tables, err := verifier.CheckTables(pk.Key, 0, []formats.Table{{LogHeight: log}})
		if err != nil {
			t.Fatal(err)
		}
		shapes := []*verifier.Shape{verifier.NewShape(pk.Key, tables)}
		plan := prover.DeviceMemory(prover.NewJob(pk.Key, shapes, w, false), 132)
		var here, next int
		for kind := range verifier.NumKinds {
			here, next = here+tables[0].Columns(kind), next+len(tables[0].NextColumns(kind))
		}
		for _, n := range []int{here, next} {
			need := aligned(8 * int64(n))
			for _, size := range kernels.TablesMemory() {
				need += aligned(size)
			}
			for _, size := range kernels.SumsMemory(n, 1<<log) {
				if prover.Bytes(size) < prover.LargeScratch {
					need += aligned(size)
				}
			}
			if plan.Small < need {
				t.Errorf("2^%d rows, %d columns: %d bytes of small scratch, the model has %d", log, n, need, plan.Small)
			}
		}
	}
}
