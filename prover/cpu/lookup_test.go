package cpu

import (
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
)

// TestLookups checks the accumulators: the verifier's constraints are zero on every row, and the sum is that of all fractions.
func TestLookups(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 1))
	for _, logHeight := range []int{1, 3, 6, 7, 11} { // 2^11 rows are two ranges of running sums
		for _, degree := range []int{2, 3, 5} {
			for _, lookups := range []int{1, 2, 9} {
				s := newSession(t, 2)
				x := newInstance(t, r, logHeight, degree, lookups)
				c, n := x.table.Circuit, 1<<logHeight
				ch := logup.NewChallenges(randomExt(r), randomExt(r), 4)
				main, fixed := x.trace(t, s)
				aux, sum, err := s.Lookups(&x.table, fixed, main, ch)
				if err != nil {
					t.Fatal(err)
				}
				columns := aux.(*matrix).columns
				if len(columns) != x.table.Columns(verifier.Aux) || len(columns) != 3*len(c.Groups) {
					t.Fatalf("%d auxiliary columns for %d groups", len(columns), len(c.Groups))
				}
				acc := func(row int) (out []field.Ext) {
					for g := range c.Groups {
						out = append(out, field.Ext{columns[3*g][row], columns[3*g+1][row], columns[3*g+2][row]})
					}
					return out
				}
				perRow := field.ScaleExt(sum, field.InverseOfTwoPower(logHeight))
				var want field.Ext
				for row := range n {
					nodes := c.Evaluate(x.row(row))
					for g, v := range logup.Constraints(nil, c, ch, nodes, acc(row), acc((row + 1) % n)[0], perRow) {
						if !v.IsZero() {
							t.Fatalf("height 2^%d, row %d: the constraint of group %d is not zero", logHeight, row, g)
						}
					}
					for i := range c.Lookups {
						l := &c.Lookups[i]
						m := ch.Message(l.Channel, len(l.Args), func(k int) field.Element { return nodes[l.Args[k]][0] })
						inverse, _ := field.InverseExt(m)
						term := field.MulExt(nodes[l.Multiplicity], inverse)
						if l.Push {
							want = field.AddExt(want, term)
						} else {
							want = field.SubExt(want, term)
						}
					}
				}
				if sum != want {
					t.Errorf("height 2^%d, %d lookups: the sum is wrong", logHeight, lookups)
				}
			}
		}
	}
}

// TestZeroDenominator draws the one α at which a message has no fraction.
func TestZeroDenominator(t *testing.T) {
	system := air.NewSystem("zero")
	b := system.Circuit("only")
	x := b.Column("x")
	b.Pull(system.Channel("c", 1), b.Const(1), x)
	key, err := system.Compile("blake3", formats.Profile{LogBlowup: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := air.CheckCircuit(&key.Circuits[0], key.Channels, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t, 1)
	table := verifier.Table{Circuit: c, LogHeight: 2}
	main, err := s.Trace(&table, writer{{5, 6, 7, 8}})
	if err != nil {
		t.Fatal(err)
	}
	gamma := field.Ext{0, 1}
	for _, c := range []struct {
		alpha field.Ext // of 1 + α + 7γ = 0, or not quite
		ok    bool
	}{{field.Ext{field.Modulus - 1, field.Modulus - 7}, false}, {field.Ext{field.Modulus - 2, field.Modulus - 7}, true}} {
		if _, _, err := s.Lookups(&table, nil, main, logup.NewChallenges(c.alpha, gamma, 1)); (err == nil) != c.ok {
			t.Errorf("α = %v: %v", c.alpha, err)
		}
	}
}
