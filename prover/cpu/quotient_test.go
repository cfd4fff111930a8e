package cpu

import (
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
	"github.com/ixprove/ixprove/verifier/merkle"
)

// treeOf is the tree over the extensions of matrices of one height.
func treeOf(s *session, logHeight int, m ...prover.Matrix) *merkle.Tree {
	var shapes []merkle.Matrix
	for _, x := range m {
		shapes = append(shapes, merkle.Matrix{LogRows: logHeight + s.logBlowup, Width: len(x.(*matrix).columns)})
	}
	return merkle.NewTree(s.suite, shapes)
}

func commit(t *testing.T, s *session, logHeight int, m ...prover.Matrix) prover.Commitment {
	t.Helper()
	c, err := s.Commit(treeOf(s, logHeight, m...), m)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// combineValues joins the values of three base columns to that of the extension column that they hold.
func combineValues(values []field.Ext) (out []field.Ext) {
	for i := 0; i < len(values); i += 3 {
		v := values[i]
		v = field.AddExt(v, field.MulX(values[i+1]))
		out = append(out, field.AddExt(v, field.MulX(field.MulX(values[i+2]))))
	}
	return out
}

// TestQuotient checks C(z) = Z(z) Σ z^(i n) q_i(z) at a random z, with C from the graph's evaluation at the columns' polynomials: an identity of
// polynomials, so nearly every wrong value at any point of the quotient domain shows.
func TestQuotient(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 1))
	for _, logHeight := range []int{1, 2, 5, 7} {
		for degree := 2; degree <= 9; degree++ {
			for _, lookups := range []int{0, 1, 6} {
				x := newInstance(t, r, logHeight, degree, lookups)
				blowup := max(1, log2(degree-1))
				for logBlowup := blowup; logBlowup <= blowup+1; logBlowup++ { // as little room as can be, and more
					checkQuotient(t, r, x, logBlowup)
				}
			}
		}
	}
}

func checkQuotient(t *testing.T, r *rand.Rand, x *instance, logBlowup int) {
	t.Helper()
	s, h, c := newSession(t, logBlowup), x.table.LogHeight, x.table.Circuit
	main, fixed := x.trace(t, s)
	ch := logup.NewChallenges(randomExt(r), randomExt(r), 4)
	delta, z := randomExt(r), randomExt(r)
	var aux prover.Columns
	var acc [][]field.Element
	var sum field.Ext
	if c.HasLookups() {
		m, total, err := s.Lookups(&x.table, fixed, main, ch)
		if err != nil {
			t.Fatal(err)
		}
		sum, acc, aux = total, interpolateAll(m.(*matrix).columns), prover.Columns{In: commit(t, s, h, m)}
	}
	q, err := s.Quotient(&x.table, prover.Columns{In: commit(t, s, h, fixed)}, prover.Columns{In: commit(t, s, h, main)}, aux, ch, sum, delta)
	if err != nil {
		t.Fatal(err)
	}

	nodes := c.Evaluate(x.point(z))
	var values []field.Ext
	for _, id := range c.Constraints {
		values = append(values, nodes[id])
	}
	if c.HasLookups() {
		var here, next []field.Ext
		for _, p := range acc {
			here = append(here, hornerExt(p, z))
			next = append(next, hornerExt(p, field.ScaleExt(z, root(h))))
		}
		values = logup.Constraints(values, c, ch, nodes, combineValues(here), combineValues(next)[0], field.ScaleExt(sum, field.InverseOfTwoPower(h)))
	}
	var folded field.Ext
	for k, v := range values {
		folded = field.AddExt(folded, field.MulExt(field.PowExt(delta, uint64(len(values)-1-k)), v))
	}

	columns := q.(*matrix).columns
	if len(columns) != x.table.Columns(verifier.Quotient) {
		t.Fatalf("%d quotient columns, want %d", len(columns), x.table.Columns(verifier.Quotient))
	}
	var at []field.Ext
	for _, p := range columns { // coefficients
		at = append(at, hornerExt(p, z))
	}
	zn := field.SquareExtTimes(z, h)
	var quotient field.Ext
	for i, v := range combineValues(at) {
		quotient = field.AddExt(quotient, field.MulExt(field.PowExt(zn, uint64(i)), v))
	}
	if want := field.MulExt(field.SubExt(zn, field.Ext{1}), quotient); folded != want {
		t.Errorf("height 2^%d, degree %d, blowup 2^%d, %d groups: C(z) is not Z(z) Q(z)", h, c.Degree, logBlowup, len(c.Groups))
	}
}

// TestSelectorsOfTheVerifier ties the verifier's closed forms to the interpolated indicator of a row.
func TestSelectorsOfTheVerifier(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 1))
	for h := 1; h <= 7; h++ {
		x := newInstance(t, r, h, 2, 0)
		z := randomExt(r)
		p := x.point(z)
		first, last, transition := verifier.Selectors(z, field.SubExt(field.SquareExtTimes(z, h), field.Ext{1}), h)
		if first != p.First || last != p.Last || transition != p.Transition {
			t.Errorf("height 2^%d: the selectors differ", h)
		}
	}
}
