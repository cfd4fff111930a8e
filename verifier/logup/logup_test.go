package logup_test

import (
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
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

// fingerprint is α + c + Σ v_i γ^i, channels and arguments counted from 1.
func fingerprint(alpha, gamma field.Ext, channel int, args []field.Ext) field.Ext {
	m := field.AddExt(alpha, field.FromBase(field.Element(channel)))
	for i, v := range args {
		m = field.AddExt(m, field.MulExt(v, field.PowExt(gamma, uint64(i+1))))
	}
	return m
}

func TestFingerprints(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	alpha, gamma := randomExt(r), randomExt(r)
	ch := logup.NewChallenges(alpha, gamma, 10)
	if ch.Alpha != alpha || len(ch.Powers) != 10 {
		t.Fatal("the challenges are not those given")
	}
	for n := range 11 {
		for channel := range 3 {
			var args []field.Ext
			for range n {
				args = append(args, field.FromBase(field.New(r.Uint64())))
			}
			got := ch.Message(uint32(channel), n, func(i int) field.Element { return args[i][0] })
			if want := fingerprint(alpha, gamma, channel+1, args); got != want {
				t.Errorf("channel %d, %d arguments: %v, want %v", channel, n, got, want)
			}
		}
	}
	if got := logup.NewChallenges(alpha, gamma, 0); len(got.Powers) != 0 || got.Message(2, 0, nil) != fingerprint(alpha, gamma, 3, nil) {
		t.Error("a message without arguments is not its channel")
	}
}

// circuit has pushes and pulls of several arities and multiplicities, in groups of several sizes.
func circuit(t *testing.T, logBlowup int) *air.Circuit {
	t.Helper()
	s := air.NewSystem("lookups")
	none, one, three := s.Channel("none", 0), s.Channel("one", 1), s.Channel("three", 3)
	b := s.Circuit("only")
	x := b.ColumnVector("x", 4)
	b.Push(none, x[0], 9)
	b.Pull(one, b.Const(1), x[1])
	b.Push(three, b.Const(2), 2, x[1], b.Const(0), x[2].Next())
	b.Pull(three, x[3], x[0], x[0], x[3])
	b.Push(one, x[0].Mul(x[1]), 9, x[2].Mul(x[3]))
	b.Pull(none, b.Const(0))
	b.Pull(one, b.Const(1), x[1].Add(x[2]))
	key, err := s.Compile("blake3", formats.Profile{LogBlowup: uint8(logBlowup)}, 1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := air.CheckCircuit(&key.Circuits[0], key.Channels, logBlowup, 1)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestConstraints computes section 2's products and sums as they stand there, for every division of the lookups into groups.
func TestConstraints(t *testing.T) {
	r := rand.New(rand.NewPCG(32, 1))
	c := circuit(t, 1)
	n := len(c.Lookups)
	for division := range 1 << (n - 1) { // a set bit ends a group
		c.Groups = nil
		first := 0
		for i := range n {
			if i == n-1 || division>>i&1 == 1 {
				c.Groups = append(c.Groups, air.Group{First: first, End: i + 1})
				first = i + 1
			}
		}
		alpha, gamma, next, perRow := randomExt(r), randomExt(r), randomExt(r), randomExt(r)
		nodes, acc := randomExts(r, len(c.Nodes)), randomExts(r, len(c.Groups))
		before := randomExts(r, 2)
		got := logup.Constraints(before[:1:1], c, logup.NewChallenges(alpha, gamma, 3), nodes, acc, next, perRow)
		if len(got) != 1+len(c.Groups) || got[0] != before[0] {
			t.Fatal("the constraints are not appended")
		}
		for j, g := range c.Groups {
			message := func(i int) field.Ext {
				var args []field.Ext
				for _, a := range c.Lookups[i].Args {
					args = append(args, nodes[a])
				}
				return fingerprint(alpha, gamma, int(c.Lookups[i].Channel)+1, args)
			}
			product, sum := field.Ext{1}, field.Ext{}
			for i := g.First; i < g.End; i++ {
				product = field.MulExt(product, message(i))
				term := nodes[c.Lookups[i].Multiplicity]
				for l := g.First; l < g.End; l++ {
					if l != i {
						term = field.MulExt(term, message(l))
					}
				}
				if !c.Lookups[i].Push {
					term = field.SubExt(field.Ext{}, term)
				}
				sum = field.AddExt(sum, term)
			}
			step := field.AddExt(field.SubExt(next, acc[j]), perRow)
			if j < len(c.Groups)-1 {
				step = field.SubExt(acc[j+1], acc[j])
			}
			if want := field.SubExt(field.MulExt(product, step), sum); got[1+j] != want {
				t.Fatalf("groups %v, constraint %d: %v, want %v", c.Groups, j, got[1+j], want)
			}
		}
	}
}

// TestAccumulators walks a cycle of rows with the fractions that the constraints demand: it closes exactly for the true sum, and only then are all constraints
// zero.
func TestAccumulators(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 1))
	for logBlowup := 1; logBlowup <= 3; logBlowup++ {
		c := circuit(t, logBlowup)
		ch := logup.NewChallenges(randomExt(r), randomExt(r), 3)
		const rows = 4
		var nodes [rows][]field.Ext
		var fractions [rows][]field.Ext
		var sum field.Ext
		for row := range rows {
			nodes[row] = randomExts(r, len(c.Nodes))
			for _, g := range c.Groups {
				var f field.Ext
				for i := g.First; i < g.End; i++ {
					l := &c.Lookups[i]
					m := ch.Base(l.Channel)
					for k, a := range l.Args {
						m = field.AddExt(m, field.MulExt(ch.Powers[k], nodes[row][a]))
					}
					inverse, _ := field.InverseExt(m)
					term := field.MulExt(nodes[row][l.Multiplicity], inverse)
					if !l.Push {
						term = field.SubExt(field.Ext{}, term)
					}
					f = field.AddExt(f, term)
				}
				fractions[row] = append(fractions[row], f)
				sum = field.AddExt(sum, f)
			}
		}
		for _, claimed := range []field.Ext{sum, field.AddExt(sum, field.Ext{1})} {
			perRow := field.ScaleExt(claimed, field.InverseOfTwoPower(2))
			value := randomExt(r) // the accumulators are free up to a constant
			start := value
			var acc [rows][]field.Ext
			for row := range rows {
				for g := range c.Groups {
					acc[row] = append(acc[row], value)
					value = field.AddExt(value, fractions[row][g])
				}
				value = field.SubExt(value, perRow)
			}
			if closes := value == start; closes != (claimed == sum) {
				t.Fatalf("the accumulators close: %v", closes)
			}
			zero := true
			for row := range rows {
				for _, v := range logup.Constraints(nil, c, ch, nodes[row], acc[row], acc[(row+1)%rows][0], perRow) {
					zero = zero && v.IsZero()
				}
			}
			if zero != (claimed == sum) {
				t.Errorf("all constraints are zero: %v", zero)
			}
		}
	}
}
