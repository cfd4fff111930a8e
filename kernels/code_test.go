//go:build emulated && !cuda

package kernels_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/kernels/emulated"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
)

// asked is a driver that notes what it is asked to compile, and fails then if it is to.
type asked struct {
	kernels.Driver
	calls   atomic.Int32
	sources atomic.Pointer[[]kernels.Source]
	fail    bool
}

func (a *asked) Compile(ctx context.Context, sources []kernels.Source, compile bool) (kernels.Compilation, error) {
	a.calls.Add(1)
	a.sources.Store(&sources)
	if a.fail {
		return kernels.Compilation{}, &kernels.Error{Kind: kernels.Failed, Place: "compilation of " + sources[0].Kernel, What: "fault", Err: errInjected}
	}
	return a.Driver.Compile(ctx, sources, compile)
}

// TestCodePolicy asks a driver for kernels, which it has none of: circuits are interpreted, and what the driver says of kernels is not lost.
func TestCodePolicy(t *testing.T) {
	r := rand.New(rand.NewPCG(93, 94))
	x := randomInstance(t, r, 4, 4, 5)
	rec := &asked{Driver: emulated.NewDriver()}
	d := kernels.New(rec)
	t.Cleanup(func() { check(t, d.Close()) })
	for _, c := range []struct {
		policy          kernels.CodePolicy
		operations, log int // limits
		calls           int32
	}{
		{kernels.CodeAuto, 1 << 17, 28, 0}, {kernels.CodeInterpret, 1 << 17, 28, 0}, {kernels.CodeCompile, 1, 28, 0}, {kernels.CodeCompile, 1 << 17, 5, 1}, {kernels.CodeCompile, 1 << 17, 28, 2},
	} {
		rec.calls.Store(0)
		d.SetCode(c.policy, kernels.NewLibrary())
		restore := kernels.SetCompiledLimits(c.operations, c.log)
		compareTable(t, d, r, x, 2)
		restore()
		if n := rec.calls.Load(); n != c.calls {
			t.Errorf("%+v: the driver was asked %d times", c, n)
		}
	}
	counters, err := d.Counters()
	check(t, err)
	if code := counters.Stages[0].Code; code.Interpreted != 10 || code.Direct != 0 {
		t.Errorf("%+v", code)
	}
	for _, s := range *rec.sources.Load() {
		if !strings.Contains(s.Text, ".entry "+s.Kernel+"(") || s.ArgBytes == 0 {
			t.Errorf("kernel %s: %d bytes of parameters, %.80q", s.Kernel, s.ArgBytes, s.Text)
		}
	}

	// A failure while kernels are made is told where they are wanted, also when they were made beforehand.
	const logBlowup = 2
	n := 1 << x.LogHeight
	ch := logup.NewChallenges(ext(r), ext(r), 4)
	main, fixed := from(t, d, elements(r, len(x.main)*n<<logBlowup)), from(t, d, elements(r, len(x.fixed)*n<<logBlowup))
	aux, out := from(t, d, elements(r, x.AuxColumns()*n<<logBlowup)), alloc[field.Element](t, d, x.QuotientColumns()*n)
	quotient := func() error {
		return d.Quotient(out, x.Circuit, x.LogHeight, logBlowup, main, fixed, aux, ch, ext(r), ext(r))
	}
	lookups := func() error { _, err := d.Lookups(aux, x.Circuit, x.LogHeight, main, fixed, ch); return err }
	check(t, lookups())
	rec.fail = true
	for name, f := range map[string]func() error{"quotient": quotient, "lookups": lookups} {
		if err := f(); !errors.Is(err, errInjected) {
			t.Errorf("%s: %v", name, err)
		}
	}
	rec.calls.Store(0)
	d.Prepare(x.Circuit, x.LogHeight)
	d.Prepare(x.Circuit, x.LogHeight)
	for name, f := range map[string]func() error{"quotient": quotient, "lookups": lookups} {
		if err := f(); !errors.Is(err, errInjected) {
			t.Errorf("%s, prepared: %v", name, err)
		}
	}
	if n := rec.calls.Load(); n != 2 {
		t.Errorf("the driver was asked %d times, want 2", n)
	}
	rec.fail = false
	check(t, quotient())
	d.Prepare(x.Circuit, x.LogHeight) // Close waits for it
}
