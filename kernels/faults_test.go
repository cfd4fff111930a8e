//go:build emulated && !cuda

package kernels_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/kernels/emulated"
	"github.com/ixprove/ixprove/systems/fibonacci"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
	"github.com/ixprove/ixprove/verifier/security"
)

// faulty fails the call that brings left to zero.
type faulty struct {
	kernels.Driver
	left int
}

var errInjected = errors.New("injected")

func (f *faulty) fail() error {
	f.left--
	if f.left == 0 {
		return &kernels.Error{Kind: kernels.Failed, Place: "test", What: "fault", Err: errInjected}
	}
	return nil
}

func (f *faulty) Alloc(bytes int64) (kernels.Address, error) {
	if err := f.fail(); err != nil {
		return 0, err
	}
	return f.Driver.Alloc(bytes)
}

func (f *faulty) Upload(s kernels.Stream, to kernels.Address, from unsafe.Pointer, bytes int64) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.Driver.Upload(s, to, from, bytes)
}

func (f *faulty) Download(s kernels.Stream, to unsafe.Pointer, from kernels.Address, bytes int64) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.Driver.Download(s, to, from, bytes)
}

func (f *faulty) Copy(s kernels.Stream, to, from kernels.Address, bytes int64) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.Driver.Copy(s, to, from, bytes)
}

func (f *faulty) Launch(l *kernels.Launch) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.Driver.Launch(l)
}

func (f *faulty) Compile(ctx context.Context, sources []kernels.Source, compile bool) (kernels.Compilation, error) {
	if err := f.fail(); err != nil {
		return kernels.Compilation{}, err
	}
	return f.Driver.Compile(ctx, sources, compile)
}

func (f *faulty) NewEvent() (kernels.Event, error) {
	if err := f.fail(); err != nil {
		return 0, err
	}
	return f.Driver.NewEvent()
}

func (f *faulty) Elapsed(from, to kernels.Event) (time.Duration, error) {
	if err := f.fail(); err != nil {
		return 0, err
	}
	return f.Driver.Elapsed(from, to)
}

// everyKernel goes through a proof's operations on a small table and frees what it allocates itself.
func everyKernel(d *kernels.Device, c *air.Circuit) (err error) {
	const log, logBlowup, n = 4, 2, 16
	r := rand.New(rand.NewPCG(31, 32))
	step := func(f func() error) {
		if err == nil {
			err = f()
		}
	}
	var live []func() error
	defer func() {
		for _, f := range live {
			if freed := f(); err == nil {
				err = freed
			}
		}
	}()
	make64 := func(to *kernels.Array[field.Element], width int) {
		step(func() (err error) {
			*to, err = kernels.Alloc[field.Element](d, width)
			live = append(live, func() error { return to.Free() })
			return err
		})
	}
	var main, extended, aux, auxExtended, slices kernels.Array[field.Element]
	var nodes kernels.Array[formats.Digest]
	var list kernels.Array[uint64]
	var word, folded, coefficients kernels.Array[field.Ext]
	width := int(c.Circuit.Columns)
	make64(&main, width*n)
	make64(&extended, width*n<<logBlowup)
	make64(&aux, c.AuxColumns()*n)
	make64(&auxExtended, c.AuxColumns()*n<<logBlowup)
	make64(&slices, c.QuotientColumns()*n)
	step(func() error { return main.Upload(elements(r, width*n)) })
	step(func() error { return d.Extend(extended, main, width, log, logBlowup) })
	step(func() (err error) {
		columns, err := kernels.Columns(nil).Add(extended, width, n<<logBlowup)
		if err == nil {
			list, err = kernels.From(d, []uint64(columns))
			live = append(live, func() error { return list.Free() })
		}
		return err
	})
	step(func() (err error) {
		nodes, err = kernels.Alloc[formats.Digest](d, 2*n<<logBlowup)
		live = append(live, func() error { return nodes.Free() })
		return err
	})
	for _, a := range []*kernels.Array[field.Ext]{&word, &folded} {
		step(func() (err error) {
			*a, err = kernels.Alloc[field.Ext](d, n<<logBlowup)
			live = append(live, func() error { return a.Free() })
			return err
		})
	}
	step(func() (err error) {
		coefficients, err = kernels.From(d, exts(r, width))
		live = append(live, func() error { return coefficients.Free() })
		return err
	})
	step(func() error {
		leaves, err := nodes.Slice(n<<logBlowup, 2*n<<logBlowup)
		if err != nil {
			return err
		}
		return d.Leaves(leaves, list, n<<logBlowup, 1, &formats.Digest{1})
	})
	step(func() error { return d.Tree(nodes, log+logBlowup, nil) })
	step(func() error { _, err := d.GatherDigests(nodes, []uint64{1}); return err })
	ch := logup.NewChallenges(ext(r), ext(r), formats.MaxLookupArgs)
	step(func() error { _, err := d.Lookups(aux, c, log, main, kernels.Array[field.Element]{}, ch); return err })
	step(func() error { return d.Extend(auxExtended, aux, c.AuxColumns(), log, logBlowup) })
	step(func() error {
		return d.Quotient(slices, c, log, logBlowup, extended, kernels.Array[field.Element]{}, auxExtended, ch, ext(r), ext(r))
	})
	step(func() error { return d.Weights(word, log, ext(r), true) })
	step(func() error { _, err := d.Sums(list, word, n); return err })
	step(func() error { return d.Deep(word, log+logBlowup, list, coefficients, ext(r), ext(r), false) })
	step(func() error { return d.Flagged("faults") })
	step(func() error {
		return d.Fold(folded, word, log+logBlowup, 2, coefficients, kernels.Array[field.Ext]{})
	})
	step(func() error {
		leaves, err := nodes.Slice(4, 8)
		if err != nil {
			return err
		}
		return d.WordLeaves(leaves, word, 2, &formats.Digest{2})
	})
	step(func() error { return d.Draw(folded, nodes, nodes, nodes, 1, 2) })
	step(func() error { _, err := d.Final(folded, log); return err })
	step(func() error { _, err := d.Gather(list, []uint64{3}, 1); return err })
	step(func() error { _, err := d.Grind(&formats.Digest{}, 2); return err })
	step(func() error { _, err := d.Counters(); return err })
	return err
}

// Whatever call fails first, the error comes back, nothing is left allocated but tables, and the device works afterwards.
func TestEveryFaultIsReportedAndLeaksNothing(t *testing.T) {
	profile, _ := security.ProfileByName("dev")
	key, err := fibonacci.System().Compile("blake3", verifier.RawProfile(profile), 1)
	check(t, err)
	c, err := air.CheckCircuit(&key.Circuits[0], key.Channels, profile.LogBlowup, 1)
	check(t, err)
	clean := open(t)
	check(t, everyKernel(clean, c))
	want, err := clean.Counters()
	check(t, err)
	total := 0
	for n := 1; ; n++ {
		f := &faulty{Driver: emulated.NewDriver(), left: n}
		d := kernels.New(f)
		err := everyKernel(d, c)
		if f.left > 0 {
			check(t, err)
			total = n - 1
			check(t, d.Close())
			break
		}
		if !errors.Is(err, errInjected) {
			t.Fatalf("fault %d came back as %v", n, err)
		}
		check(t, everyKernel(d, c))
		first, err := d.Counters()
		check(t, err)
		check(t, everyKernel(d, c))
		second, err := d.Counters()
		check(t, err)
		if first.Now != want.Now || second.Now != want.Now {
			t.Fatalf("after fault %d: %d and %d bytes are allocated, want %d", n, first.Now, second.Now, want.Now)
		}
		check(t, d.Close())
	}
	t.Logf("%d faults", total)
	if total < 100 {
		t.Fatalf("only %d calls can fail", total)
	}
}
