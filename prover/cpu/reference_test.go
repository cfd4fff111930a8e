package cpu

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
)

// This file computes slowly, from definitions, what the backend computes fast.

func newSession(t *testing.T, logBlowup int) *session {
	t.Helper()
	s, err := Backend{}.Open(context.Background(), hash.Blake3{}, logBlowup)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s.(*session)
}

func random(r *rand.Rand) field.Element { return field.New(r.Uint64()) }

func randomColumn(r *rand.Rand, n int) []field.Element {
	out := make([]field.Element, n)
	for i := range out {
		out[i] = random(r)
	}
	return out
}

func randomExt(r *rand.Rand) field.Ext { return field.Ext{random(r), random(r), random(r)} }

func root(log int) field.Element {
	w, _ := field.RootOfUnity(log)
	return w
}

// horner is the polynomial's value at x.
func horner(coeff []field.Element, x field.Element) (v field.Element) {
	for i := len(coeff) - 1; i >= 0; i-- {
		v = field.Add(field.Mul(v, x), coeff[i])
	}
	return v
}

// hornerExt is the polynomial's value at z.
func hornerExt(coeff []field.Element, z field.Ext) (v field.Ext) {
	for i := len(coeff) - 1; i >= 0; i-- {
		v = field.AddExt(field.MulExt(v, z), field.FromBase(coeff[i]))
	}
	return v
}

// interpolate returns the coefficients of the polynomial with these values on the trace domain.
func interpolate(values []field.Element) []field.Element {
	log := log2(len(values))
	w, _ := field.Inverse(root(log))
	out := make([]field.Element, len(values))
	for i := range out {
		out[i] = field.Mul(horner(values, field.Pow(w, uint64(i))), field.InverseOfTwoPower(log))
	}
	return out
}

func interpolateAll(columns [][]field.Element) (out [][]field.Element) {
	for _, c := range columns {
		out = append(out, interpolate(c))
	}
	return out
}

// pointOf is x_j of an extension of 2^log points.
func pointOf(log, j int) field.Element {
	return field.Mul(field.Shift, field.Pow(root(log), field.ReverseBits(uint64(j), log)))
}

// writer writes given columns.
type writer [][]field.Element

func (w writer) WriteRows(columns [][]field.Element, first, last int) error {
	for c := range columns {
		copy(columns[c][first:last], w[c][first:last])
	}
	return nil
}

// instance is a table of a random circuit that its trace satisfies.
type instance struct {
	table       verifier.Table
	main, fixed [][]field.Element
	periodic    [][]field.Element // one period each
}

// newInstance builds a circuit with constraints of degree up to `degree`: each says that a column of its own holds the value of a random expression in columns of
// three kinds, this row and the next, and selectors. Lookups are random too.
func newInstance(t *testing.T, r *rand.Rand, logHeight, degree, lookups int) *instance {
	t.Helper()
	s := air.NewSystem("random")
	n := 1 << logHeight
	x := &instance{}
	var channels []air.Channel
	for arity := range 4 {
		channels = append(channels, s.Channel("channel"+string(rune('0'+arity)), arity))
	}
	b := s.Circuit("random")
	leaves := []air.Expr{b.First(), b.Last(), b.Const(random(r)), b.Const(field.Modulus - 1)}
	add := func(e air.Expr) { leaves = append(leaves, e, e.Next()) }
	for range 3 {
		add(b.Column("x"))
		x.main = append(x.main, randomColumn(r, n))
	}
	for range 2 {
		x.fixed = append(x.fixed, randomColumn(r, n))
		add(b.FixedColumn(x.fixed[len(x.fixed)-1]))
	}
	for _, log := range []int{0, 1, logHeight / 2, logHeight} { // periods 1, 2, some, and the height itself
		if log <= logHeight {
			x.periodic = append(x.periodic, randomColumn(r, 1<<log))
			add(b.PeriodicColumn(x.periodic[len(x.periodic)-1]...))
		}
	}
	product := func(factors int) air.Expr {
		e := leaves[r.IntN(len(leaves))]
		for range factors - 1 {
			e = e.Mul(leaves[r.IntN(len(leaves))])
		}
		return e
	}
	expression := func(degree int) air.Expr {
		e := product(degree)
		for range 3 {
			switch f := product(1 + r.IntN(degree)); r.IntN(3) {
			case 0:
				e = e.Add(f)
			case 1:
				e = e.Sub(f)
			case 2:
				e = f.Sub(e.Times(random(r)))
			}
		}
		return e
	}
	var values []air.Expr
	for range 4 {
		e := expression(degree)
		values = append(values, e.Add(b.Transition().Mul(product(1))))
	}
	for _, e := range values {
		b.Assert("value", b.Column("y").Sub(e))
		x.main = append(x.main, make([]field.Element, n))
	}
	for i := range lookups {
		arity := i % 4
		var args []air.Expr
		for range arity {
			args = append(args, expression(1))
		}
		mult := []air.Expr{b.Const(1), leaves[r.IntN(len(leaves))], expression(1)}[r.IntN(3)]
		if r.IntN(2) == 0 {
			b.Push(channels[arity], mult, 1, args...)
		} else {
			b.Pull(channels[arity], mult, args...)
		}
	}
	blowup := max(1, log2(degree-1))
	key, err := s.Compile("blake3", formats.Profile{LogBlowup: uint8(blowup)}, 0)
	if err != nil {
		t.Fatal(err)
	}
	key.Circuits[0].Degree = uint8(degree) // rather than the cheapest
	c, err := air.CheckCircuit(&key.Circuits[0], key.Channels, blowup, 0)
	if err != nil {
		t.Fatal(err)
	}
	x.table = verifier.Table{Circuit: c, LogHeight: logHeight}
	for row := range n {
		nodes := c.Evaluate(x.row(row))
		for i, e := range c.Constraints {
			x.main[3+i][row] = field.Neg(nodes[e][0]) // the column itself is zero so far
		}
	}
	return x
}

// row is the point of a row of the trace.
func (x *instance) row(i int) *air.Point {
	n := 1 << x.table.LogHeight
	at := func(columns [][]field.Element, i int) (out []field.Ext) {
		for _, c := range columns {
			out = append(out, field.FromBase(c[i%len(c)]))
		}
		return out
	}
	p := &air.Point{
		Main: at(x.main, i), NextMain: at(x.main, (i+1)%n), Fixed: at(x.fixed, i), NextFixed: at(x.fixed, (i+1)%n),
		Periodic: at(x.periodic, i), NextPeriodic: at(x.periodic, i+1),
	}
	if i == 0 {
		p.First = field.Ext{1}
	}
	if i == n-1 {
		p.Last = field.Ext{1}
	}
	w := root(x.table.LogHeight)
	back, _ := field.Inverse(w)
	p.Transition = field.FromBase(field.Sub(field.Pow(w, uint64(i)), back))
	return p
}

// point is the table's columns, as polynomials, and its selectors at z.
func (x *instance) point(z field.Ext) *air.Point {
	h := x.table.LogHeight
	next := field.ScaleExt(z, root(h))
	at := func(columns [][]field.Element) (here, below []field.Ext) {
		for _, c := range columns {
			f, k := interpolate(c), h-log2(len(c)) // a shorter column is periodic
			here = append(here, hornerExt(f, field.SquareExtTimes(z, k)))
			below = append(below, hornerExt(f, field.SquareExtTimes(next, k)))
		}
		return here, below
	}
	p := &air.Point{}
	p.Main, p.NextMain = at(x.main)
	p.Fixed, p.NextFixed = at(x.fixed)
	p.Periodic, p.NextPeriodic = at(x.periodic)
	unit := make([]field.Element, 1<<h)
	unit[0] = 1
	p.First = hornerExt(interpolate(unit), z)
	p.Last = hornerExt(interpolate(unit), next) // 1 where the next row is the first
	back, _ := field.Inverse(root(h))
	p.Transition = field.SubExt(z, field.FromBase(back))
	return p
}

// trace hands the instance's columns to a session.
func (x *instance) trace(t *testing.T, s *session) (main, fixed prover.Matrix) {
	t.Helper()
	main, err := s.Trace(&x.table, writer(x.main))
	if err != nil {
		t.Fatal(err)
	}
	if fixed, err = s.Fixed(x.fixed); err != nil {
		t.Fatal(err)
	}
	return main, fixed
}
