package poseidon2

import (
	"strconv"

	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// CallElements is the arity of a channel of calls: the state before and after.
const CallElements = 2 * Width

// Main columns: the input, cube and power of each S-box in order, the uses.
const (
	colBoxes = Width
	colUses  = colBoxes + 2*boxes
	columns  = colUses + 1
)

// BuildCalls builds a circuit of the permutation, for systems that call it: each row answers on the channel for one call, and depends on no other row.
func BuildCalls(c *air.Builder, calls air.Channel) {
	in := c.ColumnVector("input", Width)
	state := externalOf(c, in)
	for r, constant := range constants() {
		n := Width
		if partial(r) {
			n = 1
		}
		for i := range n {
			name := "round " + strconv.Itoa(r) + ", element " + strconv.Itoa(i)
			x, cube, power := state[i].Plus(constant[i]), c.Column("cube of "+name), c.Column("power of "+name)
			c.Assert(name+": cube", x.Mul(x).Mul(x).Sub(cube))
			c.Assert(name+": power", cube.Mul(cube).Mul(x).Sub(power))
			state[i] = power
		}
		if partial(r) {
			state = internalOf(c, state)
		} else {
			state = externalOf(c, state)
		}
	}
	c.Pull(calls, c.Column("uses"), append(in, state...)...)
}

// externalOf is the product of the external matrix and s.
func externalOf(c *air.Builder, s []air.Expr) []air.Expr {
	out, sums := make([]air.Expr, Width), [4]air.Expr{}
	for i := range out {
		out[i] = c.Const(0)
		for k := range 4 {
			out[i] = out[i].Add(s[i&^3+k].Times(external[i&3][k]))
		}
	}
	for k := range sums {
		sums[k] = c.Sum(out[k], out[4+k], out[8+k])
	}
	for i := range out {
		out[i] = out[i].Add(sums[i&3])
	}
	return out
}

// internalOf is the product of the internal matrix and s.
func internalOf(c *air.Builder, s []air.Expr) []air.Expr {
	sum, out := c.Sum(s...), make([]air.Expr, Width)
	for i := range out {
		out[i] = sum.Add(s[i].Times(diagonal[i]))
	}
	return out
}

// Call is one call and how often it is used.
type Call struct {
	Input [Width]field.Element
	Uses  uint64
}

// Calls is the trace of a circuit of calls: a row for each, and the permutation of zeros in rows that are left. It implements prover.TraceWriter.
type Calls struct {
	At    func(i int) Call // call i of Count; it may be called concurrently
	Count int
}

// WriteRows implements prover.TraceWriter.
func (t *Calls) WriteRows(trace [][]field.Element, first int) error {
	var b [boxes]box
	for r := range trace[0] {
		var c Call
		if first+r < t.Count {
			c = t.At(first + r)
		}
		s := c.Input
		permute(&s, &b)
		writeRow(trace, r, &c, &b)
	}
	return nil
}

func writeRow(trace [][]field.Element, r int, c *Call, b *[boxes]box) {
	for i, v := range c.Input {
		trace[i][r] = v
	}
	for i := range b {
		trace[colBoxes+2*i][r], trace[colBoxes+2*i+1][r] = b[i].cube, b[i].power
	}
	trace[colUses][r] = field.Element(c.Uses)
}
