package sha256

import (
	"strconv"

	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// CallElements is the arity of a channel of calls: state of 8 words, block of 16, and the next state of 8.
const CallElements = 32

// A table is made of TableRows rows for TableCalls calls, once or more often.
const (
	TableRows  = 256
	TableCalls = TableRows / callRows

	callRows = 1 + rounds/4 // the state, and four rounds a row
)

// Rows of a call that have a part of their own.
const (
	rowCall = 3            // answers
	rowLast = callRows - 1 // has the final state
)

// rangeRows are the rows that bound two output words each: where the column s2 is free.
var rangeRows = [4]int{0, rowLast - 2, rowLast - 1, rowLast}

// Main columns.
const (
	colA      = 0             // 4 words of bits, the lowest first: a after each round
	colE      = colA + 128    // 4 words of bits: e after each round
	colW      = colE + 128    // 4 words of bits: of the message schedule
	colCarryE = colW + 128    // 4 trits and 4 bits
	colCarryA = colCarryE + 8 // 4 low and 4 high bits
	colCarryW = colCarryA + 8 // 4 low and 4 high bits
	colS      = colCarryW + 8 // 3 stages of 4 sums that the schedule needs later
	colState  = colS + 12     // 8 words, constant in a call
	colOutput = colState + 8  // 8 words, constant in a call
	colUses   = colOutput + 8
	columns   = colUses + 1
)

// stateSlots says where the words a…h of a state lie: in which of four rounds' e (true) or a.
var stateSlots = [8]struct {
	e    bool
	slot int
}{{false, 3}, {false, 2}, {false, 1}, {false, 0}, {true, 3}, {true, 2}, {true, 1}, {true, 0}}

// word is a word as 32 expressions that are bits, the lowest first.
type word [32]air.Expr

func (w *word) value(c *air.Builder) air.Expr { return weighted(c, w[:]) }

func (w *word) next() (out word) {
	for i := range w {
		out[i] = w[i].Next()
	}
	return out
}

// weighted is the number with these bits.
func weighted(c *air.Builder, bits []air.Expr) air.Expr {
	out := c.Const(0)
	for i, b := range bits {
		out = out.Add(b.Times(1 << i))
	}
	return out
}

func xor(x, y air.Expr) air.Expr { return x.Add(y).Sub(x.Mul(y).Times(2)) }

// rotate is a function of section 4.1.2 as a number, of degree 3.
func (r *rotation) rotate(c *air.Builder, w *word) air.Expr {
	var out word
	for i := range out {
		out[i] = xor(w[(i+r.by[0])&31], w[(i+r.by[1])&31])
		if k := i + r.by[2]; k < 32 || !r.shift {
			out[i] = xor(out[i], w[k&31])
		}
	}
	return out.value(c)
}

// chosen is Ch(x, y, z) as a number, of degree 2.
func chosen(c *air.Builder, x, y, z *word) air.Expr {
	var out word
	for i := range out {
		out[i] = z[i].Add(x[i].Mul(y[i].Sub(z[i])))
	}
	return out.value(c)
}

// agreed is Maj(x, y, z) as a number, of degree 3.
func agreed(c *air.Builder, x, y, z *word) air.Expr {
	var out word
	for i := range out {
		out[i] = x[i].Mul(y[i]).Add(z[i].Mul(xor(x[i], y[i])))
	}
	return out.value(c)
}

// addWords adds the columns of four words of bits.
func addWords(c *air.Builder, name string) (out [4]word) {
	for j := range out {
		copy(out[j][:], c.ColumnVector(name+strconv.Itoa(j), 32))
		for i, b := range out[j] {
			c.AssertBoolean(name+strconv.Itoa(j)+", bit "+strconv.Itoa(i), b)
		}
	}
	return out
}

// at is 1 in the given rows of each call and 0 elsewhere.
func at(c *air.Builder, rows ...int) air.Expr {
	return periodic(c, func(r int) field.Element {
		for _, k := range rows {
			if k == r {
				return 1
			}
		}
		return 0
	})
}

// periodic has a value for each row of a call; the idle row has 0. Time runs backwards.
func periodic(c *air.Builder, f func(r int) field.Element) air.Expr {
	values := make([]field.Element, TableRows)
	for k := range TableCalls {
		for r := range callRows {
			values[position(k, r)] = f(r)
		}
	}
	return c.PeriodicColumn(values...)
}

// position is where row r of call k lies. The last position is idle.
func position(k, r int) int { return TableRows - 2 - k*callRows - r }

func sequence(first, last int) (out []int) {
	for r := first; r <= last; r++ {
		out = append(out, r)
	}
	return out
}

// BuildCalls builds a circuit of the compression function, for systems that call it: it answers on the channel for any call. All elements of an answer are words. words16 is a channel on which the system answers for all numbers
// below 2^16.
func BuildCalls(c *air.Builder, words16, calls air.Channel) {
	a, e, w := addWords(c, "a"), addWords(c, "e"), addWords(c, "w")
	carryE, carryE3 := c.ColumnVector("carry of e", 4), c.ColumnVector("threes of the carry of e", 4)
	carryA, carryA2 := c.ColumnVector("carry of a", 4), c.ColumnVector("twos of the carry of a", 4)
	carryW, carryW2 := c.ColumnVector("carry of w", 4), c.ColumnVector("twos of the carry of w", 4)
	s1, s2, s3 := c.ColumnVector("s1", 4), c.ColumnVector("s2", 4), c.ColumnVector("s3", 4)
	state, output, uses := c.ColumnVector("state", 8), c.ColumnVector("output", 8), c.Column("uses")

	initial, last, later := at(c, 0), at(c, rowLast), at(c, sequence(1, rowLast)...)
	var before [3][4]word // the row before: a, e, w
	var value [3][8]air.Expr
	for k, words := range [3]*[4]word{&a, &e, &w} {
		for j := range words {
			before[k][j] = words[j].next()
			value[k][4+j] = words[j].value(c)
			value[k][j] = value[k][4+j].Next()
		}
	}
	history := func(k int, words *[4]word, i int) *word { // word i of eight: four of the row before, four of this one
		if i < 4 {
			return &before[k][i]
		}
		return &words[i-4]
	}

	// Rounds. In row 0 and the idle one nothing bounds the carries, and so nothing binds the words.
	for j := range 4 {
		n := strconv.Itoa(j)
		k := periodic(c, func(r int) field.Element {
			if r == 0 {
				return 0
			}
			return field.Element(constants[4*(r-1)+j])
		})
		e3, e2, e1 := history(1, &e, j+3), history(1, &e, j+2), history(1, &e, j+1)
		sum := c.Sum(value[0][j], value[1][j], bigSigma1.rotate(c, e3), chosen(c, e3, e2, e1), k, value[2][j])
		c.Assert("e of round "+n, sum.Sub(value[1][4+j]).Sub(carryE[j].Add(carryE3[j].Times(3)).Times(1<<32)))
		c.Assert("the carry of e "+n+" is 0, 1 or 2", carryE[j].Mul(carryE[j].Minus(1)).Mul(carryE[j].Minus(2)))
		c.Assert("the threes of the carry of e "+n+" are a bit", later.Mul(carryE3[j]).Mul(carryE3[j].Minus(1)))

		a3, a2, a1 := history(0, &a, j+3), history(0, &a, j+2), history(0, &a, j+1)
		sum = value[1][4+j].Sub(value[0][j]).Add(bigSigma0.rotate(c, a3)).Add(agreed(c, a3, a2, a1))
		c.Assert("a of round "+n, sum.Sub(value[0][4+j]).Sub(carryA[j].Add(carryA2[j].Times(2)).Minus(1).Times(1<<32)))
		c.Assert("the carry of a "+n+" is a bit", later.Mul(carryA[j]).Mul(carryA[j].Minus(1)))
		c.Assert("the twos of the carry of a "+n+" are a bit", later.Mul(carryA2[j]).Mul(carryA2[j].Minus(1)))
	}

	// The schedule. Row r has the words 4r…4r+3. s1, s2, s3 are W[t-16] + σ0(W[t-15]) for the words three, two and one rows on, and s3 also has W[t-7] where it is known.
	scheduled, early, middle, ranges := at(c, sequence(4, rowLast-1)...), at(c, sequence(2, 13)...), at(c, sequence(3, 14)...), at(c, rangeRows[:]...)
	for j := range 4 {
		n := strconv.Itoa(j)
		c.Assert("s1 "+n, value[2][j].Add(smallSigma0.rotate(c, history(2, &w, j+1))).Sub(s1[j]))
		c.Assert("s2 "+n, early.Mul(s1[j].Next().Sub(s2[j])))
		sum := s2[j].Next()
		if j < 3 {
			sum = sum.Add(value[2][j+1])
		}
		c.Assert("s3 "+n, middle.Mul(sum.Sub(s3[j])))
		sum = s3[j].Next().Add(smallSigma1.rotate(c, history(2, &w, j+2)))
		if j == 3 {
			sum = sum.Add(value[2][0])
		}
		c.Assert("w "+n, sum.Sub(value[2][4+j]).Sub(carryW[j].Add(carryW2[j].Times(2)).Times(1<<32)))
		c.Assert("the carry of w "+n+" is a bit", scheduled.Mul(carryW[j]).Mul(carryW[j].Minus(1)))
		c.Assert("the twos of the carry of w "+n+" are a bit", scheduled.Mul(carryW2[j]).Mul(carryW2[j].Minus(1)))
	}

	// The block comes to the row that answers: its first words by the twos of the carries, which are free before the schedule, and the second ones by s3.
	first, second := at(c, 1), at(c, 2)
	for j := range 4 {
		n := strconv.Itoa(j)
		c.Assert("block word "+n+" in row 1", first.Mul(value[2][j].Sub(carryW2[j])))
		c.Assert("block word "+n+" in row 2", second.Mul(carryW2[j].Next().Sub(carryW2[j])))
		c.Assert("block word "+strconv.Itoa(4+j)+" in row 2", second.Mul(value[2][j].Sub(s3[j])))
	}

	// The state and the output.
	for i, p := range stateSlots {
		n, v := strconv.Itoa(i), value[0][4+p.slot]
		if p.e {
			v = value[1][4+p.slot]
		}
		c.Assert("state word "+n, initial.Mul(state[i].Sub(v)))
		c.Assert("state word "+n+" stays", later.Mul(state[i].Sub(state[i].Next())))
		c.Assert("output word "+n+" stays", later.Mul(output[i].Sub(output[i].Next())))
		sum := state[i].Add(v).Sub(output[i])
		c.Assert("output word "+n, last.Mul(sum).Mul(sum.Minus(1<<32)))
	}
	for i, r := range rangeRows {
		here := at(c, r)
		for k := range 2 {
			c.Assert("output word "+strconv.Itoa(2*i+k)+" in halves", here.Mul(output[2*i+k].Sub(s2[2*k]).Sub(s2[2*k+1].Times(1<<16))))
		}
	}
	for j := range 4 {
		c.Push(words16, ranges, 1, s2[j])
	}
	message := append([]air.Expr{}, state...)
	for j := range 4 {
		message = append(message, carryW2[j].Next())
	}
	for j := range 4 {
		message = append(message, s3[j].Next())
	}
	message = append(append(message, value[2][:]...), output...)
	c.Pull(calls, at(c, rowCall).Mul(uses), message...)
}
