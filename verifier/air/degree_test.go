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

// power is x^n for n >= 1.
func power(x air.Expr, n int) air.Expr {
	y := x
	for range n - 1 {
		y = y.Mul(x)
	}
	return y
}

func elements(n int) []field.Element {
	out := make([]field.Element, n)
	for i := range out {
		out[i] = field.Element(i + 1)
	}
	return out
}

// compile compiles a system of one circuit and checks what it compiled to.
func compile(t *testing.T, s *air.System, logBlowup int) (*air.Circuit, error) {
	t.Helper()
	key, err := s.Compile("blake3", formats.Profile{LogBlowup: uint8(logBlowup)}, 1)
	if err != nil {
		return nil, err
	}
	c, err := air.CheckCircuit(&key.Circuits[0], key.Channels, logBlowup, 1)
	if err != nil {
		t.Fatal("a compiled circuit does not check:", err)
	}
	return c, nil
}

func TestNodeDegrees(t *testing.T) {
	s := air.NewSystem("degrees")
	b := s.Circuit("degrees")
	x, y := b.Column("x"), b.Column("y")
	f, p := b.FixedColumn(elements(4)), b.PeriodicColumn(elements(2)...)
	tr := b.Transition()
	cases := []struct {
		name string
		e    air.Expr
		want air.Degree
	}{
		{"constant", b.Const(7), air.Degree{}},
		{"main", x, air.Degree{Rows: 1}},
		{"next", x.Next(), air.Degree{Rows: 1}},
		{"fixed", f, air.Degree{Rows: 1}},
		{"periodic", p, air.Degree{Rows: 1}},
		{"first", b.First(), air.Degree{Rows: 1}},
		{"last", b.Last(), air.Degree{Rows: 1}},
		{"transition", tr, air.Degree{Extra: 1}},
		{"product", x.Mul(y), air.Degree{Rows: 2}},
		{"sum", x.Mul(y).Add(f), air.Degree{Rows: 2}},
		{"difference", f.Sub(x.Mul(y)), air.Degree{Rows: 2}},
		{"maximum of each part", x.Mul(y).Add(tr), air.Degree{Rows: 2, Extra: 1}},
		{"transition twice", tr.Mul(tr).Mul(power(x, 3)), air.Degree{Rows: 3, Extra: 2}},
		{"times a constant", x.Times(3), air.Degree{Rows: 1}},
		{"everything", x.Mul(y.Next()).Mul(tr).Add(p.Mul(f).Mul(b.Last())), air.Degree{Rows: 3, Extra: 1}},
	}
	for _, c := range cases {
		b.Assert(c.name, c.e)
	}
	c, err := compile(t, s, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range cases {
		if got := c.NodeDegree(c.Constraints[i]); got != want.want {
			t.Errorf("%s: %+v, want %+v", want.name, got, want.want)
		}
	}
	if !slices.Equal(c.NextMain, []int{0, 1}) || c.NextFixed != nil || c.LogPeriod != 1 || c.FixedColumns() != 1 {
		t.Errorf("next %v %v, period 2^%d, %d fixed columns", c.NextMain, c.NextFixed, c.LogPeriod, c.FixedColumns())
	}
}

// TestAdmissible checks the two bounds d <= D and t <= max(1, d-1), at the compiled degree, that of the least columns.
func TestAdmissible(t *testing.T) {
	for _, c := range []struct {
		name   string
		blowup int
		make   func(x, tr air.Expr) air.Expr
		degree int // 0: refused
	}{
		{"linear", 1, func(x, _ air.Expr) air.Expr { return x }, 2},
		{"quadratic", 1, func(x, _ air.Expr) air.Expr { return power(x, 2) }, 2},
		{"cubic", 1, func(x, _ air.Expr) air.Expr { return power(x, 3) }, 3},
		{"quartic at blowup 2", 1, func(x, _ air.Expr) air.Expr { return power(x, 4) }, 0},
		{"quartic at blowup 4", 2, func(x, _ air.Expr) air.Expr { return power(x, 4) }, 4},
		{"degree 9", 3, func(x, _ air.Expr) air.Expr { return power(x, 9) }, 9},
		{"degree 10", 3, func(x, _ air.Expr) air.Expr { return power(x, 10) }, 0},
		{"transition alone", 1, func(_, tr air.Expr) air.Expr { return tr }, 2},
		{"transition twice, linear", 1, func(x, tr air.Expr) air.Expr { return tr.Mul(tr).Mul(x) }, 0},
		{"transition twice, quadratic", 1, func(x, tr air.Expr) air.Expr { return tr.Mul(tr).Mul(power(x, 2)) }, 0},
		{"transition twice, cubic", 1, func(x, tr air.Expr) air.Expr { return tr.Mul(tr).Mul(power(x, 3)) }, 3},
		{"transition, cubic", 1, func(x, tr air.Expr) air.Expr { return tr.Mul(power(x, 3)) }, 3},
	} {
		s := air.NewSystem("admissible")
		b := s.Circuit("only")
		x := b.Column("x")
		b.Assert("harmless", x)
		b.Assert("the culprit", c.make(x, b.Transition()))
		got, err := compile(t, s, c.blowup)
		switch {
		case c.degree == 0:
			var e *formats.Error
			if !errors.As(err, &e) || e.Check != "K-8" || e.Class != formats.Invalid || !strings.Contains(e.Place, `"the culprit"`) ||
				!strings.Contains(e.Place, `circuit "only"`) || e.Next == "" || e.Expected == "" || e.Got == "" {
				t.Errorf("%s: %v", c.name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case int(got.Degree) != c.degree || got.Slices() != c.degree-1 || got.QuotientColumns() != 3*(c.degree-1):
			t.Errorf("%s: degree %d, want %d", c.name, got.Degree, c.degree)
		}
	}
}

// TestGroups packs pulls of given fingerprint and multiplicity degrees.
func TestGroups(t *testing.T) {
	type lookup struct{ arg, mult int } // degrees
	for _, c := range []struct {
		name    string
		blowup  int
		lookups []lookup
		degree  int
		groups  []air.Group
	}{
		{"one", 1, []lookup{{1, 1}}, 2, []air.Group{{0, 1}}},
		{"one with a quadratic multiplicity", 1, []lookup{{1, 2}}, 2, []air.Group{{0, 1}}},
		// Degree 2: two groups and a slice; degree 3: one and two. Equal costs go to the lower degree.
		{"two", 1, []lookup{{1, 0}, {1, 0}}, 2, []air.Group{{0, 1}, {1, 2}}},
		// Degree 2: four groups and a slice; degree 3: two and two; degree 5: one and four.
		{"four at blowup 4", 2, []lookup{{1, 0}, {1, 0}, {1, 0}, {1, 0}}, 3, []air.Group{{0, 2}, {2, 4}}},
		{"four at blowup 2", 1, []lookup{{1, 0}, {1, 0}, {1, 0}, {1, 0}}, 3, []air.Group{{0, 2}, {2, 4}}},
		{"greedy and in order", 1, []lookup{{1, 0}, {2, 0}, {1, 0}, {1, 0}}, 3, []air.Group{{0, 1}, {1, 2}, {2, 4}}},
		{"multiplicities count", 1, []lookup{{1, 3}, {1, 0}, {1, 2}, {1, 2}}, 3, []air.Group{{0, 1}, {1, 3}, {3, 4}}},
		{"constant fingerprints cost nothing", 1, []lookup{{0, 1}, {0, 1}, {0, 1}}, 2, []air.Group{{0, 3}}},
	} {
		s := air.NewSystem("groups")
		channel := s.Channel("c", 1)
		b := s.Circuit("only")
		x := b.Column("x")
		expr := func(degree int) air.Expr {
			if degree == 0 {
				return b.Const(1)
			}
			return power(x, degree)
		}
		for _, l := range c.lookups {
			b.Pull(channel, expr(l.mult), expr(l.arg))
		}
		got, err := compile(t, s, c.blowup)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if int(got.Degree) != c.degree || !slices.Equal(got.Groups, c.groups) {
			t.Errorf("%s: degree %d, groups %v; want %d, %v", c.name, got.Degree, got.Groups, c.degree, c.groups)
		}
		if got.AuxColumns() != 3*len(c.groups) || got.FoldedConstraints() != len(c.groups) || !got.HasLookups() || got.MessageElements() != 2 {
			t.Errorf("%s: derived numbers are wrong", c.name)
		}
	}
}

// TestDegreeChoice compares the choice with trying every degree: fewest columns first, then the lowest degree.
func TestDegreeChoice(t *testing.T) {
	for lookups := range 12 {
		for constraint := 1; constraint <= 5; constraint++ {
			s := air.NewSystem("choice")
			channel := s.Channel("c", 1)
			b := s.Circuit("only")
			x := b.Column("x")
			b.Assert("constraint", power(x, constraint))
			for range lookups {
				b.Pull(channel, b.Const(1), x)
			}
			got, err := compile(t, s, 2)
			if err != nil {
				t.Fatal(err)
			}
			best, cost := 0, 0
			for degree := max(2, constraint); degree <= 5; degree++ {
				perGroup := degree - 1
				columns := 3*((lookups+perGroup-1)/perGroup) + 3*(degree-1)
				if best == 0 || columns < cost {
					best, cost = degree, columns
				}
			}
			if int(got.Degree) != best || got.AuxColumns()+got.QuotientColumns() != cost {
				t.Errorf("%d lookups, degree %d: chose %d with %d columns, want %d with %d", lookups, constraint, got.Degree, got.AuxColumns()+got.QuotientColumns(), best, cost)
			}
		}
	}
}
