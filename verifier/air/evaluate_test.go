package air_test

import (
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

func randomExt(r *rand.Rand) field.Ext {
	return field.Ext{field.New(r.Uint64()), field.New(r.Uint64()), field.New(r.Uint64())}
}

func randomExts(r *rand.Rand, n int) []field.Ext {
	out := make([]field.Ext, n)
	for i := range out {
		out[i] = randomExt(r)
	}
	return out
}

// valued is an expression with what it is worth at the point, computed while it was written.
type valued struct {
	e    air.Expr
	v    field.Ext
	next *field.Ext // in the next row; nil where it cannot be read there
}

// TestEvaluate writes random expressions and computes their values alongside, with Next of whole expressions.
func TestEvaluate(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 1))
	for range 50 {
		s := air.NewSystem("random")
		b := s.Circuit("only")
		p := &air.Point{
			Main: randomExts(r, 3), NextMain: randomExts(r, 3), Fixed: randomExts(r, 2), NextFixed: randomExts(r, 2),
			Periodic: randomExts(r, 2), NextPeriodic: randomExts(r, 2), First: randomExt(r), Last: randomExt(r), Transition: randomExt(r),
		}
		var all []valued
		for i := range p.Main {
			all = append(all, valued{b.Column("x"), p.Main[i], &p.NextMain[i]})
		}
		for i := range p.Fixed {
			all = append(all, valued{b.FixedColumn(elements(4)), p.Fixed[i], &p.NextFixed[i]})
		}
		for i := range p.Periodic {
			all = append(all, valued{b.PeriodicColumn(elements(2)...), p.Periodic[i], &p.NextPeriodic[i]})
		}
		all = append(all, valued{b.First(), p.First, nil}, valued{b.Last(), p.Last, nil}, valued{b.Transition(), p.Transition, nil})
		for _, c := range []field.Element{0, 1, field.New(r.Uint64())} {
			v := field.FromBase(c)
			all = append(all, valued{b.Const(c), v, &v})
		}
		for range 100 {
			x, y := all[r.IntN(len(all))], all[r.IntN(len(all))]
			var z valued
			switch r.IntN(5) {
			case 0:
				z = valued{x.e.Add(y.e), field.AddExt(x.v, y.v), both(field.AddExt, x, y)}
			case 1:
				z = valued{x.e.Sub(y.e), field.SubExt(x.v, y.v), both(field.SubExt, x, y)}
			case 2:
				z = valued{x.e.Mul(y.e), field.MulExt(x.v, y.v), both(field.MulExt, x, y)}
			case 3:
				one := valued{v: field.Ext{1}, next: &field.Ext{1}}
				z = valued{x.e.Not(), field.SubExt(one.v, x.v), both(field.SubExt, one, x)}
			case 4:
				if x.next == nil {
					continue
				}
				z = valued{x.e.Next(), *x.next, nil}
			}
			all = append(all, z)
		}
		for _, x := range all {
			b.Assert("", x.e)
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		// The values matter here, not the degrees, so the graph is evaluated unchecked.
		c := &air.Circuit{Circuit: b.Circuit}
		values := c.Evaluate(p)
		if len(values) != len(c.Nodes) {
			t.Fatalf("%d values of %d nodes", len(values), len(c.Nodes))
		}
		for i, x := range all {
			if got := values[c.Constraints[i]]; got != x.v {
				t.Fatalf("expression %d: %v, want %v", i, got, x.v)
			}
		}
	}
}

func both(f func(x, y field.Ext) field.Ext, x, y valued) *field.Ext {
	if x.next == nil || y.next == nil {
		return nil
	}
	v := f(*x.next, *y.next)
	return &v
}

// TestEvaluateEachOperation has a node of each kind, written by hand.
func TestEvaluateEachOperation(t *testing.T) {
	p := &air.Point{
		Main: []field.Ext{{1, 2, 3}}, NextMain: []field.Ext{{4}}, Fixed: []field.Ext{{5}}, NextFixed: []field.Ext{{6}}, Periodic: []field.Ext{{7}}, NextPeriodic: []field.Ext{{8}},
		First: field.Ext{9}, Last: field.Ext{10}, Transition: field.Ext{11},
	}
	c := &air.Circuit{}
	var want []field.Ext
	for _, n := range []struct {
		node formats.Node
		want field.Ext
	}{
		{formats.Node{Op: formats.OpMain}, field.Ext{1, 2, 3}}, {formats.Node{Op: formats.OpMain, B: 1}, field.Ext{4}},
		{formats.Node{Op: formats.OpFixed}, field.Ext{5}}, {formats.Node{Op: formats.OpFixed, B: 1}, field.Ext{6}},
		{formats.Node{Op: formats.OpPeriodic}, field.Ext{7}}, {formats.Node{Op: formats.OpPeriodic, B: 1}, field.Ext{8}},
		{formats.Node{Op: formats.OpFirst}, field.Ext{9}}, {formats.Node{Op: formats.OpLast}, field.Ext{10}}, {formats.Node{Op: formats.OpTransition}, field.Ext{11}},
		{formats.Node{Op: formats.OpConst, A: 12}, field.Ext{12}},
		{formats.Node{Op: formats.OpAdd, A: 0, B: 1}, field.Ext{5, 2, 3}}, {formats.Node{Op: formats.OpSub, A: 9, B: 0}, field.Ext{11, field.Modulus - 2, field.Modulus - 3}},
		{formats.Node{Op: formats.OpMul, A: 0, B: 0}, field.Ext{1 + 2*2*2*3, 4 + 2*9, 6 + 4}}, // (1+2X+3X²)² with X³ = 2
	} {
		c.Nodes = append(c.Nodes, n.node)
		want = append(want, n.want)
	}
	for i, got := range c.Evaluate(p) {
		if got != want[i] {
			t.Errorf("node %d: %v, want %v", i, got, want[i])
		}
	}
}
