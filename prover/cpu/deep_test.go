package cpu

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/field"
)

// TestEvaluate compares barycentric evaluation with Horner's rule, at points of E and of F, for all columns and for some.
func TestEvaluate(t *testing.T) {
	r := rand.New(rand.NewPCG(91, 1))
	for _, logHeight := range []int{0, 1, 5, 11} { // 2^11 points are two ranges
		s := newSession(t, 1)
		m, err := s.newMatrix(5, 1<<logHeight)
		if err != nil {
			t.Fatal(err)
		}
		for i := range m.columns {
			copy(m.columns[i], randomColumn(r, 1<<logHeight))
		}
		c, err := s.CommitSlices(treeOf(s, logHeight, m), []prover.Matrix{m})
		if err != nil {
			t.Fatal(err)
		}
		for _, z := range []field.Ext{randomExt(r), {0, 1}, {random(r)}} {
			for _, which := range [][]int{nil, {}, {4}, {3, 1}, {0, 1, 2, 3, 4}} {
				got, err := s.Evaluate([]prover.Selection{{Columns: prover.Columns{In: c}, Which: which}}, logHeight, z)
				if err != nil {
					t.Fatal(err)
				}
				at := which
				if which == nil {
					at = []int{0, 1, 2, 3, 4}
				}
				if len(got) != len(at) {
					t.Fatalf("%d values of %d columns", len(got), len(at))
				}
				for i, column := range at {
					if want := hornerExt(m.columns[column], z); got[i] != want {
						t.Errorf("height 2^%d, z = %v, column %d: %v, want %v", logHeight, z, column, got[i], want)
					}
				}
			}
		}
		if _, err := s.Evaluate([]prover.Selection{{Columns: prover.Columns{In: c}}}, logHeight, field.FromBase(pointOf(logHeight+1, 0))); !errors.Is(err, errPoint) {
			t.Errorf("a point of the domain: %v", err)
		}
	}
}

// TestPin compares a pin with the combination and its polynomial's value.
func TestPin(t *testing.T) {
	r := rand.New(rand.NewPCG(92, 1))
	for _, logHeight := range []int{1, 6, 11} {
		s, x := newSession(t, 1), newInstance(t, r, min(logHeight, 6), 2, 0)
		x.table.LogHeight = logHeight
		for i := range x.main { // the pin does not ask whether constraints hold
			x.main[i] = randomColumn(r, 1<<logHeight)
		}
		main, err := s.Trace(&x.table, writer(x.main))
		if err != nil {
			t.Fatal(err)
		}
		z, fold := randomExt(r), randomExt(r)
		m, value, err := s.Pin(&x.table, main, z, fold)
		if err != nil {
			t.Fatal(err)
		}
		g := m.(*matrix).columns
		for row := range 1 << logHeight {
			var want field.Ext
			for c := range x.main {
				want = field.AddExt(want, field.ScaleExt(field.PowExt(fold, uint64(c)), x.main[c][row]))
			}
			if got := (field.Ext{g[0][row], g[1][row], g[2][row]}); got != want {
				t.Fatalf("height 2^%d, row %d: %v, want %v", logHeight, row, got, want)
			}
		}
		if logHeight > 6 {
			continue // interpolation is slow
		}
		var want field.Ext
		for c := range x.main {
			want = field.AddExt(want, field.MulExt(field.PowExt(fold, uint64(c)), hornerExt(interpolate(x.main[c]), z)))
		}
		if value != want {
			t.Errorf("height 2^%d: the value is %v, want %v", logHeight, value, want)
		}
	}
}

// TestDeep computes Σ (Σ coefficient·f(x) - claimed)/(x - z) at every point, with f's values at x by Horner's rule. Claimed values are arbitrary: the quotients
// need not be polynomials.
func TestDeep(t *testing.T) {
	r := rand.New(rand.NewPCG(93, 1))
	for _, logHeight := range []int{1, 4, 8} { // 2^10 points are two ranges
		const logBlowup = 2
		s, log := newSession(t, logBlowup), logHeight+logBlowup
		var commits []prover.Columns
		var polynomials [][][]field.Element
		for _, width := range []int{1, 4} {
			m, err := s.newMatrix(width, 1<<logHeight)
			if err != nil {
				t.Fatal(err)
			}
			for i := range m.columns {
				copy(m.columns[i], randomColumn(r, 1<<logHeight))
			}
			c, err := s.CommitSlices(treeOf(s, logHeight, m), []prover.Matrix{m})
			if err != nil {
				t.Fatal(err)
			}
			commits, polynomials = append(commits, prover.Columns{In: c}), append(polynomials, m.columns)
		}
		pin, err := s.newMatrix(3, 1<<logHeight)
		if err != nil {
			t.Fatal(err)
		}
		for i := range pin.columns {
			copy(pin.columns[i], randomColumn(r, 1<<logHeight))
		}
		pinned := interpolateAll(pin.columns)

		coefficients := func(n int) (out []field.Ext) {
			for range n {
				out = append(out, randomExt(r))
			}
			return out
		}
		points := []prover.DeepPoint{
			{Z: randomExt(r), Claimed: randomExt(r), Terms: []prover.DeepTerm{
				{Selection: prover.Selection{Columns: commits[0]}, Coefficients: coefficients(1)}, {Selection: prover.Selection{Columns: commits[1]}, Coefficients: coefficients(4)},
			}},
			{Z: randomExt(r), Claimed: randomExt(r), Terms: []prover.DeepTerm{{Selection: prover.Selection{Columns: commits[1], Which: []int{3, 1}}, Coefficients: coefficients(2)}}},
			{Z: randomExt(r), Claimed: randomExt(r), Pins: []prover.DeepPin{{Trace: pin, Coefficient: randomExt(r)}, {Trace: pin, Coefficient: randomExt(r)}}},
			{Z: randomExt(r)}, // nothing is opened there
		}
		word, err := s.Deep(logHeight, points)
		if err != nil {
			t.Fatal(err)
		}
		for j, got := range word.(*codeword).word {
			x := pointOf(log, j)
			var want field.Ext
			for _, p := range points {
				sum := field.SubExt(field.Ext{}, p.Claimed)
				for _, term := range p.Terms {
					columns := polynomials[0]
					if term.Columns == commits[1] {
						columns = polynomials[1]
					}
					for i, f := range term.Coefficients {
						at := i
						if term.Which != nil {
							at = term.Which[i]
						}
						sum = field.AddExt(sum, field.ScaleExt(f, horner(columns[at], x)))
					}
				}
				for _, pin := range p.Pins {
					v := field.Ext{horner(pinned[0], x), horner(pinned[1], x), horner(pinned[2], x)}
					sum = field.AddExt(sum, field.MulExt(pin.Coefficient, v))
				}
				inverse, _ := field.InverseExt(field.SubExt(field.FromBase(x), p.Z))
				want = field.AddExt(want, field.MulExt(sum, inverse))
			}
			if got != want {
				t.Fatalf("height 2^%d, point %d: %v, want %v", logHeight, j, got, want)
			}
		}
		if _, err := s.Deep(logHeight, []prover.DeepPoint{{Z: field.FromBase(pointOf(log, 5))}}); !errors.Is(err, errPoint) {
			t.Errorf("a point of the domain: %v", err)
		}
	}
}

// TestTraceRefusesValuesFromThePrimeUp names the column and the row of a value that is no element.
func TestTraceRefusesValuesFromThePrimeUp(t *testing.T) {
	s, x := newSession(t, 1), newInstance(t, rand.New(rand.NewPCG(94, 1)), 7, 2, 0)
	x.main[2][100] = field.Modulus
	if _, err := s.Trace(&x.table, writer(x.main)); err == nil || err.Error() != "the trace writer wrote a value that is no field element: column 2, row 100, value 0xffffffff00000001" {
		t.Errorf("%v", err)
	}
	if s.arena.now != 0 {
		t.Errorf("%d bytes are left", s.arena.now)
	}
	x.main[2][100] = field.Modulus - 1
	if _, err := s.Trace(&x.table, writer(x.main)); err != nil {
		t.Errorf("%v", err)
	}
}
