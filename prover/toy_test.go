package prover_test

import (
	"context"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/fibonacci"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// The toy system has one of everything: a fixed table, periodic columns, the next row, groups of several lookups with weights, a circuit without lookups
// with a column that nothing constrains, and two entries.
const (
	circuitRange  = iota // fixed: the digits 0 to 15
	circuitLadder        // entry ladder: a doubles or grows by a digit from row to row
	circuitSquare        // entry square
	circuitEcho          // proves the squares that circuitSquare asks for
	circuitQuiet         // no lookups
)

const (
	entryLadder = iota
	entrySquare
)

const rangeLog = 4

func toy() *air.System { return toyOf(false) }

// toyOf is the toy system; with even entries, ladder has another result, which is always 0, so that both entries have as many elements.
func toyOf(even bool) *air.System {
	s := air.NewSystem("toy")
	arity, ladderResults := 2, []formats.Value{{Name: "a", Type: formats.TypeField}}
	if even {
		arity, ladderResults = 3, append(ladderResults, formats.Value{Name: "zero", Type: formats.TypeU8})
	}
	ladder, square := s.Channel("ladder", arity), s.Channel("square", 3)
	digit, pair := s.Channel("digit", 1), s.Channel("pair", 2)
	u32, element := formats.TypeU32, formats.TypeField
	s.Entry("ladder", ladder, []formats.Value{{Name: "n", Type: u32}}, ladderResults)
	s.Entry("square", square, []formats.Value{{Name: "x", Type: formats.TypeU64}}, []formats.Value{{Name: "y", Type: element}})

	c := s.Circuit("range")
	digits := make([]field.Element, 1<<rangeLog)
	for i := range digits {
		digits[i] = field.Element(i)
	}
	d := c.FixedColumn(digits)
	c.Assert("digits count", c.Transition().Mul(d.Next().Sub(d).Minus(1)))
	c.Pull(digit, c.Column("uses"), d)

	c = s.Circuit("ladder")
	i, a, x, answers := c.Column("i"), c.Column("a"), c.Column("digit"), c.Column("answers")
	doubles := c.PeriodicColumn(0, 0, 0, 1)
	odd := c.PeriodicColumn(0, 1)
	c.Assert("i starts at 0", c.First().Mul(i))
	c.Assert("a starts at 1", c.First().Mul(a.Minus(1)))
	c.Assert("i counts", c.Transition().Mul(i.Next().Sub(i).Minus(1)))
	grown := a.Add(x).Add(odd.Next())
	c.Assert("a moves on", c.Transition().Mul(a.Next().Sub(doubles.Mul(a.Add(a))).Sub(doubles.Not().Mul(grown))))
	c.Assert("the last digit is 0", c.Last().Mul(x))
	c.Pull(ladder, answers, []air.Expr{i, a, c.Const(0)}[:arity]...)
	c.Push(digit, c.Const(1), 1, x)
	c.Push(digit, doubles, 1, x)
	c.Push(digit, c.Last(), 1, x)

	c = s.Circuit("square")
	low, high, y, asks := c.Column("low"), c.Column("high"), c.Column("y"), c.Column("asks")
	c.AssertBoolean("asks is 0 or 1", asks)
	c.Push(pair, asks.Add(asks), 2, low.Add(high.Times(1<<32)), y)
	c.Pull(square, asks, low, high, y)

	c = s.Circuit("echo")
	u, v, uses := c.Column("u"), c.Column("v"), c.Column("uses")
	c.Assert("v is the square of u", v.Sub(u.Mul(u)))
	c.Pull(pair, uses, u, v)

	c = s.Circuit("quiet")
	w := c.Column("w")
	c.Column("free")
	c.Assert("w triples", c.Transition().Mul(w.Next().Sub(w.Times(3))))
	return s
}

// writer writes a table's columns with a function from row to values.
type writer [][]field.Element

func (w writer) WriteRows(columns [][]field.Element, first int) error {
	for c := range columns {
		copy(columns[c], w[c][first:])
	}
	return nil
}

func newTrace(width, log int) writer {
	w := make(writer, width)
	for c := range w {
		w[c] = make([]field.Element, 1<<log)
	}
	return w
}

func elements(values ...uint64) (e formats.Elements) {
	for _, v := range values {
		e = e.Append(v)
	}
	return e
}

// toyWitness claims two steps of ladders and two squares, in one shard or in three.
func toyWitness(shards int) *prover.Witness {
	return toyWitnessOf(shards, func(x int) (field.Element, int) { return field.Element(x), x })
}

// toyWitnessOf takes digits as a prover would have them: for each of 0 to 15 the value in the ladders and the row of the fixed table that supplies it.
func toyWitnessOf(shards int, digit func(int) (value field.Element, row int)) *prover.Witness {
	w := &prover.Witness{}
	uses := newTrace(1, rangeLog)
	ladder := func(log, answer int) writer {
		t := newTrace(4, log)
		a := field.Element(1)
		for r := range 1 << log {
			x, row := digit(r * 7 % 16)
			if r == 1<<log-1 {
				x, row = digit(0)
				uses[0][row]++ // the push of the last row
			}
			t[0][r], t[1][r], t[2][r] = field.Element(r), a, x
			uses[0][row]++
			if r%4 == 3 {
				uses[0][row]++
			}
			if r == answer {
				t[3][r] = 1
				w.Claims = append(w.Claims, formats.Claim{Entry: entryLadder, Args: elements(uint64(r)), Results: elements(uint64(a))})
			}
			if r%4 == 3 {
				a = field.Add(a, a)
			} else { // a digit, and 1 before odd rows
				a = field.Add(a, field.Add(x, field.Element((r+1)%2)))
			}
		}
		return t
	}
	tall, low := ladder(8, 200), ladder(5, 3)
	square, echo, quiet := newTrace(4, 2), newTrace(3, 1), newTrace(2, 7)
	for r, x := range []uint64{5, 1<<32 + 9} {
		y := field.Mul(field.New(x), field.New(x))
		square[0][r], square[1][r], square[2][r], square[3][r] = field.Element(x&0xffffffff), field.Element(x>>32), y, 1
		echo[0][r], echo[1][r], echo[2][r] = field.New(x), y, 2
		w.Claims = append(w.Claims, formats.Claim{Entry: entrySquare, Args: elements(x&0xffffffff, x>>32), Results: elements(uint64(y))})
	}
	quiet[0][0] = 1
	for r := 1; r < len(quiet[0]); r++ {
		quiet[0][r] = field.Mul(quiet[0][r-1], 3)
	}
	table := func(circuit, log int, t writer) prover.Table {
		return prover.Table{Circuit: circuit, LogHeight: log, Trace: t}
	}
	if shards == 1 {
		w.Shards = []prover.Shard{{Tables: []prover.Table{
			table(circuitRange, rangeLog, uses), table(circuitLadder, 8, tall), table(circuitLadder, 5, low),
			table(circuitSquare, 2, square), table(circuitEcho, 1, echo), table(circuitQuiet, 7, quiet),
		}}}
		return w
	}
	w.Shards = []prover.Shard{
		{Tables: []prover.Table{table(circuitRange, rangeLog, uses), table(circuitLadder, 5, low), table(circuitSquare, 2, square)}},
		{Tables: []prover.Table{table(circuitLadder, 8, tall), table(circuitEcho, 1, echo), table(circuitQuiet, 7, quiet)}},
		{Tables: []prover.Table{table(circuitQuiet, 7, quiet)}},
	}
	return w
}

// devProfile is the profile for tests whose suite this is.
func devProfile(t testing.TB, suite hash.Suite) security.Profile {
	for _, name := range []string{"dev", "root-dev"} {
		if p, ok := security.ProfileByName(name); ok && p.Suite == suite.Name() {
			return p
		}
	}
	t.Fatalf("no profile for tests is for the suite %s", suite.Name())
	return security.Profile{}
}

func keygen(t testing.TB, s *air.System, suite hash.Suite) *prover.ProvingKey {
	t.Helper()
	pk, err := prover.Keygen(context.Background(), s, suite, devProfile(t, suite), cpu.Backend{})
	if err != nil {
		t.Fatal(err)
	}
	return pk
}

func proveWith(t testing.TB, b prover.Backend, pk *prover.ProvingKey, w *prover.Witness) []byte {
	t.Helper()
	proof, err := prover.ProveUnchecked(context.Background(), pk, w, prover.Options{Backend: b})
	if err != nil {
		t.Fatal(err)
	}
	return proof
}

func fibonacciWitness(t testing.TB) *prover.Witness {
	w, err := fibonacci.Witness([]uint32{0, 700, 5}, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	return w
}
