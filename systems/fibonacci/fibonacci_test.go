package fibonacci

import (
	"errors"
	"math/big"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/internal/tracecheck"
	"github.com/ixprove/ixprove/verifier/field"
)

func TestWitness(t *testing.T) {
	want := []*big.Int{big.NewInt(0), big.NewInt(1)}
	modulus := new(big.Int).SetUint64(field.Modulus)
	for len(want) <= 200 {
		next := new(big.Int).Add(want[len(want)-1], want[len(want)-2])
		want = append(want, next.Mod(next, modulus))
	}
	for _, blowup := range []int{1, 2, 3} {
		for minLogHeight := 1; minLogHeight <= 3; minLogHeight++ {
			checker, err := tracecheck.New(System(), blowup, minLogHeight)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				indices []uint32
				shards  int
			}{{[]uint32{0}, 1}, {[]uint32{1}, 1}, {[]uint32{2, 1}, 1}, {[]uint32{63, 64, 64, 7}, 1}, {[]uint32{200, 3, 128, 100, 200}, 2}, {[]uint32{5, 6, 7}, 3}} {
				w, err := Witness(c.indices, c.shards, minLogHeight)
				if err != nil {
					t.Fatal(err)
				}
				for i, n := range c.indices {
					if got := w.Claims[i].Results.At(0); w.Claims[i].Args.At(0) != uint64(n) || got != want[n].Uint64() {
						t.Errorf("F(%d) = %d, want %v", n, got, want[n])
					}
				}
				traces, err := checker.Write(w)
				if err != nil {
					t.Fatal(err)
				}
				if failures, err := checker.Check(w, traces); err != nil || len(failures) > 0 {
					t.Errorf("%v: %v %v", c, failures, err)
				}
			}
		}
	}
}

func TestRefusedInputs(t *testing.T) {
	for _, c := range []struct {
		indices []uint32
		shards  int
	}{{nil, 1}, {[]uint32{1}, 0}, {[]uint32{1}, 2}, {[]uint32{MaxIndex + 1}, 1}} {
		if _, err := Witness(c.indices, c.shards, 1); !errors.Is(err, formats.Invalid) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// Each forgery breaks one rule, and the checker names it.
func TestForgeries(t *testing.T) {
	checker, err := tracecheck.New(System(), 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want  string
		forge func(x tracecheck.Trace, claim *formats.Claim)
	}{
		{"i starts at 0", func(x tracecheck.Trace, _ *formats.Claim) { // all indices shifted by one
			for r := range x[colI] {
				x[colI][r]++
			}
		}},
		{"a starts at F(0)", func(x tracecheck.Trace, _ *formats.Claim) { run(x, 1, 1) }},
		{"b starts at F(1)", func(x tracecheck.Trace, _ *formats.Claim) { run(x, 0, 2) }},
		{"i counts rows", func(x tracecheck.Trace, _ *formats.Claim) { x[colI][5] = 6 }},
		{"a moves on", func(x tracecheck.Trace, _ *formats.Claim) { x[colA][7]++ }},
		{"b adds", func(x tracecheck.Trace, _ *formats.Claim) { x[colB][7]++ }},
		{Name, func(_ tracecheck.Trace, claim *formats.Claim) { claim.Results = formats.Elements(nil).Append(4) }},
	} {
		w, err := Witness([]uint32{5}, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		traces, err := checker.Write(w)
		if err != nil {
			t.Fatal(err)
		}
		c.forge(traces[0][0], &w.Claims[0])
		failures, err := checker.Check(w, traces)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range failures {
			found = found || f.Name() == c.want
		}
		if !found {
			t.Errorf("%s: not among %v", c.want, failures)
		}
	}
}

// run fills the sequence that starts with a, b.
func run(x tracecheck.Trace, a, b field.Element) {
	for r := range x[colA] {
		x[colA][r], x[colB][r] = a, b
		a, b = b, field.Add(a, b)
	}
}
