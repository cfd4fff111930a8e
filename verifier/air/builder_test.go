package air_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// TestMistakes makes one mistake each: the first is kept, with its place, and Compile returns it.
func TestMistakes(t *testing.T) {
	var zero air.Expr
	otherSystem := air.NewSystem("other")
	foreignChannel := otherSystem.Channel("foreign", 1)
	for _, c := range []struct {
		name, place, what string
		make              func(s *air.System, b *air.Builder, x, foreign air.Expr)
	}{
		{"negative arity", `channel "bad"`, "arity", func(s *air.System, _ *air.Builder, _, _ air.Expr) { s.Channel("bad", -1) }},
		{"arity too large", `channel "bad"`, "arity", func(s *air.System, _ *air.Builder, _, _ air.Expr) { s.Channel("bad", formats.MaxLookupArgs+1) }},
		{"entry on another system's channel", `entry "e"`, "another system", func(s *air.System, _ *air.Builder, _, _ air.Expr) { s.Entry("e", foreignChannel, nil, nil) }},
		{"entry on no channel", `entry "e"`, "another system", func(s *air.System, _ *air.Builder, _, _ air.Expr) { s.Entry("e", air.Channel{}, nil, nil) }},
		{"push on another system's channel", `circuit "mine"`, "another system", func(_ *air.System, b *air.Builder, x, _ air.Expr) { b.Push(foreignChannel, x, 1, x) }},
		{"pull on no channel", `circuit "mine"`, "another system", func(_ *air.System, b *air.Builder, x, _ air.Expr) { b.Pull(air.Channel{}, x, x) }},
		{"foreign argument", `circuit "mine"`, `"c" has an expression of another circuit`, func(s *air.System, b *air.Builder, x, foreign air.Expr) { b.Pull(s.Channel("c", 1), x, foreign) }},
		{"foreign multiplicity", `circuit "mine"`, `"c" has an expression of another circuit`, func(s *air.System, b *air.Builder, x, foreign air.Expr) { b.Push(s.Channel("c", 1), foreign, 1, x) }},
		{"zero multiplicity", `circuit "mine"`, "another circuit", func(s *air.System, b *air.Builder, x, _ air.Expr) { b.Pull(s.Channel("c", 1), zero, x) }},
		{"foreign constraint", `circuit "mine"`, `"name" is no expression of the circuit`, func(_ *air.System, b *air.Builder, _, foreign air.Expr) { b.Assert("name", foreign) }},
		{"foreign sum", `circuit "mine"`, "two circuits", func(_ *air.System, _ *air.Builder, x, foreign air.Expr) { x.Add(foreign) }},
		{"foreign term", `circuit "mine"`, "two circuits", func(_ *air.System, b *air.Builder, x, foreign air.Expr) { b.Sum(x, foreign) }},
		{"zero on the right", `circuit "mine"`, "two circuits", func(_ *air.System, _ *air.Builder, x, _ air.Expr) { x.Mul(zero) }},
		{"zero on the left", `circuit "mine"`, "two circuits", func(_ *air.System, _ *air.Builder, x, _ air.Expr) { zero.Sub(x) }},
		{"zero constraint", `circuit "mine"`, `"name"`, func(_ *air.System, b *air.Builder, _, _ air.Expr) { b.Assert("name", zero) }},
		{"zero boolean", `circuit "mine"`, `"name"`, func(_ *air.System, b *air.Builder, _, _ air.Expr) { b.AssertBoolean("name", zero) }},
		{"zero, however combined", `circuit "mine"`, `"name"`, func(_ *air.System, b *air.Builder, _, _ air.Expr) {
			b.Assert("name", zero.Next().Not().Plus(1).Minus(2).Times(3).Add(zero).Sub(zero).Mul(zero))
		}},
		{"next of next", `circuit "mine"`, "further than the next row", func(_ *air.System, _ *air.Builder, x, _ air.Expr) { x.Times(2).Next().Plus(1).Next() }},
		{"next of first", `circuit "mine"`, "selector", func(_ *air.System, b *air.Builder, _, _ air.Expr) { b.First().Next() }},
		{"next of last", `circuit "mine"`, "selector", func(_ *air.System, b *air.Builder, x, _ air.Expr) { x.Mul(b.Last()).Next() }},
		{"next of transition", `circuit "mine"`, "selector", func(_ *air.System, b *air.Builder, x, _ air.Expr) { x.Sub(b.Transition()).Next() }},
		{"fixed columns of different length", `circuit "mine"`, "different lengths", func(_ *air.System, b *air.Builder, _, _ air.Expr) {
			b.FixedColumn(elements(4))
			b.FixedColumn(elements(8))
		}},
		{"fixed column of three rows", `circuit "mine"`, "power of two", func(_ *air.System, b *air.Builder, _, _ air.Expr) { b.FixedColumn(elements(3)) }},
		{"fixed column of no rows", `circuit "mine"`, "power of two", func(_ *air.System, b *air.Builder, _, _ air.Expr) { b.FixedColumn(nil) }},
	} {
		s := air.NewSystem("system")
		b := s.Circuit("mine")
		x, foreign := b.Column("x"), s.Circuit("theirs").Column("y")
		b.Assert("harmless", x)
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		c.make(s, b, x, foreign)
		s.Channel("second mistake", -1)
		_, compiled := s.Compile("blake3", formats.Profile{LogBlowup: 1}, 1)
		var e *formats.Error
		if err := s.Err(); !errors.As(err, &e) || e.Class != formats.Invalid || e.Place != c.place || !strings.Contains(e.What, c.what) {
			t.Errorf("%s: %v", c.name, err)
		}
		if compiled != error(e) {
			t.Errorf("%s: Compile returns %v", c.name, compiled)
		}
	}
	if err := otherSystem.Err(); err != nil {
		t.Error("the other system was blamed:", err)
	}
}

// TestOneNodeForEqualExpressions checks hash-consing and folding: equal expressions are one node, and trivial ones are none.
func TestOneNodeForEqualExpressions(t *testing.T) {
	b := air.NewSystem("graph").Circuit("only")
	x, y := b.Column("x"), b.Column("y")
	zero, one := b.Const(0), b.Const(1)
	for _, c := range []struct {
		name string
		a, b air.Expr
	}{
		{"x+y = y+x", x.Add(y), y.Add(x)},
		{"x*y = y*x", x.Mul(y), y.Mul(x)},
		{"x-y = x-y", x.Sub(y), x.Sub(y)},
		{"constants", b.Const(5), b.Const(5)},
		{"selectors", b.First(), b.First()},
		{"next of a sum", x.Add(y).Next(), y.Next().Add(x.Next())},
		{"next of a product", x.Mul(y).Next(), x.Next().Mul(y.Next())},
		{"next of a difference", x.Sub(y).Next(), x.Next().Sub(y.Next())},
		{"next of a constant", b.Const(5).Next(), b.Const(5)},
		{"x+0", x.Add(zero), x}, {"0+x", zero.Add(x), x}, {"x-0", x.Sub(zero), x},
		{"x*1", x.Mul(one), x}, {"1*x", one.Mul(x), x}, {"x*0", x.Mul(zero), zero}, {"0*x", zero.Mul(x), zero},
		{"0*0", zero.Mul(zero), zero}, {"1*1", one.Mul(one), one}, {"1*0", one.Mul(zero), zero}, {"0-0", zero.Sub(zero), zero},
		{"2+3", b.Const(2).Add(b.Const(3)), b.Const(5)},
		{"2-3", b.Const(2).Sub(b.Const(3)), b.Const(field.Modulus - 1)},
		{"2*3", b.Const(2).Mul(b.Const(3)), b.Const(6)},
		{"Plus", x.Plus(3), b.Const(3).Add(x)}, {"Minus", x.Minus(3), x.Sub(b.Const(3))}, {"Times", x.Times(3), b.Const(3).Mul(x)},
		{"Not", x.Not(), one.Sub(x)}, {"Sum", b.Sum(x, y, x), x.Add(y).Add(x)}, {"empty Sum", b.Sum(), zero},
	} {
		if c.a != c.b {
			t.Errorf("%s: two nodes", c.name)
		}
	}
	if x.Sub(y) == y.Sub(x) || zero.Sub(x) == x || one.Sub(x) == x || x.Next() == x {
		t.Error("different expressions are one node")
	}
	seen := map[formats.Node]bool{}
	for i, n := range b.Nodes {
		if seen[n] {
			t.Errorf("node %d is there twice: %+v", i, n)
		}
		seen[n] = true
	}
}

// TestNextOfASharedGraph reads an expression with 2^200 paths in the next row: each node is moved once.
func TestNextOfASharedGraph(t *testing.T) {
	s := air.NewSystem("graph")
	b := s.Circuit("only")
	x := b.Column("x")
	y := x
	for range 200 {
		y = y.Mul(y)
	}
	before := len(b.Nodes)
	z := x.Next()
	for range 200 {
		z = z.Mul(z)
	}
	if y.Next() != z || len(b.Nodes) != before+201 || s.Err() != nil {
		t.Errorf("%d nodes became %d, %v", before, len(b.Nodes), s.Err())
	}
}

func TestColumnVector(t *testing.T) {
	b := air.NewSystem("columns").Circuit("only")
	b.Column("x")
	v := b.ColumnVector("v", 3)
	if want := []string{"x", "v[0]", "v[1]", "v[2]"}; !slices.Equal(b.ColumnNames, want) || b.Columns != 4 || len(v) != 3 {
		t.Errorf("%v", b.ColumnNames)
	}
}

// TestMinimumHeights checks that a table holds a period and is never lower than the profile's minimum.
func TestMinimumHeights(t *testing.T) {
	for _, c := range []struct{ period, profile, want int }{{1, 1, 1}, {2, 1, 1}, {8, 1, 3}, {8, 5, 5}} {
		s := air.NewSystem("heights")
		b := s.Circuit("only")
		b.Assert("constraint", b.Column("x").Mul(b.PeriodicColumn(elements(c.period)...)))
		key, err := s.Compile("blake3", formats.Profile{LogBlowup: 1}, c.profile)
		if err != nil {
			t.Fatal(err)
		}
		if got := int(key.Circuits[0].MinLogHeight); got != c.want {
			t.Errorf("%+v: minimum 2^%d", c, got)
		}
	}
}
