//go:build emulated && !cuda

package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/kernels/emulated"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
)

// recorder lists the sizes that are allocated.
type recorder struct {
	kernels.Driver
	sizes []int64
}

func (r *recorder) Alloc(bytes int64) (kernels.Address, error) {
	r.sizes = append(r.sizes, bytes)
	return r.Driver.Alloc(bytes)
}

// Working memory is what is said of it, size by size.
func TestWorkingMemory(t *testing.T) {
	rec := &recorder{Driver: emulated.NewDriver()}
	d := kernels.New(rec)
	t.Cleanup(func() { check(t, d.Close()) })
	takes := func(what string, want []int64, f func() error) {
		t.Helper()
		rec.sizes = nil
		check(t, f())
		if !slices.Equal(rec.sizes, want) {
			t.Errorf("%s took %v, said to take %v", what, rec.sizes, want)
		}
	}
	r := rand.New(rand.NewPCG(61, 62))
	const logBlowup = 3

	// Tables, once.
	in, out := from(t, d, elements(r, 1<<4)), alloc[field.Element](t, d, 1<<(4+logBlowup))
	takes("tables", kernels.TablesMemory(), func() error { return d.Extend(out, in, 1, 4, logBlowup) })
	takes("extension", nil, func() error { return d.ExtendCoefficients(out, in, 1, 4, logBlowup) })

	const log, columns = 14, 5
	_, list := matrix(t, d, r, columns, 1<<log)
	coefficients := from(t, d, exts(r, columns))
	weights := alloc[field.Ext](t, d, 1<<log)
	z := ext(r)
	takes("weights", nil, func() error { return d.Weights(weights, log, z, true) })
	takes("sums", kernels.SumsMemory(columns, 1<<log), func() error { _, err := d.Sums(list, weights, 1<<log); return err })
	takes("DEEP", nil, func() error { return d.Deep(weights, log, list, coefficients, z, z, false) })
	takes("gather", kernels.GatherMemory(columns, 3), func() error { _, err := d.Gather(list, []uint64{1, 2, 9}, 1); return err })
	takes("final", kernels.FinalMemory(6), func() error { _, err := d.Final(weights, 6); return err })
	takes("grinding", kernels.GrindMemory(), func() error { _, err := d.Grind(&formats.Digest{}, 3); return err })
	nodes := from(t, d, make([]formats.Digest, 8))
	takes("gather of digests", kernels.GatherDigestsMemory(2), func() error { _, err := d.GatherDigests(nodes, []uint64{1, 7}); return err })
	takes("tree", nil, func() error { return d.Tree(nodes, 2, nil) })

	// Programs, with registers in both kinds of memory and denominators in one piece or more.
	defer kernels.SetDenominatorWords(1 << 13)()
	for _, registers := range []int{0, 48} {
		restore := kernels.SetSharedRegisters(registers)
		for _, c := range [][3]int{{3, 2, 0}, {4, 3, 2}, {11, 4, 9}, {5, 9, 3}} {
			x := randomInstance(t, r, c[0], c[1], c[2])
			ch := logup.NewChallenges(ext(r), ext(r), 7)
			n := 1 << x.LogHeight
			main, fixed := from(t, d, elements(r, len(x.main)*n<<logBlowup)), from(t, d, elements(r, len(x.fixed)*n<<logBlowup))
			aux, out := from(t, d, elements(r, x.AuxColumns()*n<<logBlowup)), alloc[field.Element](t, d, x.QuotientColumns()*n)
			what := fmt.Sprintf("2^%d rows, degree %d, %d lookups, %d registers: ", c[0], c[1], c[2], registers)
			takes(what+"lookups", kernels.LookupsMemory(x.Circuit, x.LogHeight, len(ch.Powers), d.Info().Processors), func() error {
				_, err := d.Lookups(aux, x.Circuit, x.LogHeight, main, fixed, ch)
				return err
			})
			takes(what+"quotient", kernels.QuotientMemory(x.Circuit, x.LogHeight, len(ch.Powers), d.Info().Processors), func() error {
				return d.Quotient(out, x.Circuit, x.LogHeight, logBlowup, main, fixed, aux, ch, z, z)
			})
		}
		restore()
	}
}
