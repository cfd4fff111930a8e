package blake3

import (
	"strconv"

	"github.com/ixprove/ixprove/systems/bytes"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/blake3"
	"github.com/ixprove/ixprove/verifier/field"
)

// CallElements is the arity of a channel of calls: chaining value of 8 words, block of 16, counter low and high, block length, flags, and the output of 8 words.
const CallElements = callArgs + 8

const callArgs = 28

// CallRows is the height of a table for one call.
const CallRows = rowsPerCompression

// Main columns behind those of the rounds.
const (
	colCallUses   = colMessage + 16
	colCallOutput = colCallUses + 1
	callColumns   = colCallOutput + 8
)

// BuildCalls builds a circuit of the bare compression function, for systems that call it: it answers on the channel for any call. All elements of an answer but those of the block are words; the block's
// are to be known as words by those who ask, because a compression depends on them modulo 2^32 alone.
func BuildCalls(c *air.Builder, ch bytes.Channels, calls air.Channel) {
	r := addRounds(c)
	uses, output := c.Column("uses"), c.ColumnVector("output", 8)
	r.build(c, ch)
	out := r.output(c)
	for i := range out {
		n := strconv.Itoa(i)
		c.Assert("output word "+n+" is that of the rounds", r.initial.Mul(output[i].Next().Sub(out[i])))
		c.Assert("output word "+n+" stays", r.later.Mul(output[i].Sub(output[i].Next())))
	}
	for i := range 4 {
		c.Assert("IV word "+strconv.Itoa(i), r.initial.Mul(r.after[8+i].value().Minus(field.Element(blake3.IV[i]))))
	}
	// Row 1 has the block, and next to it the initial state.
	var message []air.Expr
	for i := range 8 {
		message = append(message, r.before[i].value())
	}
	message = append(message, r.message...)
	for i := 12; i < 16; i++ {
		message = append(message, r.before[i].value())
	}
	c.Pull(calls, r.first.Mul(uses), append(message, output...)...)
}

// Call is one call and how often it is used.
type Call struct {
	Chaining [8]uint32
	Block    [16]uint32
	Counter  uint64
	Length   uint32
	Flags    uint32
	Uses     uint64
}

func (c *Call) state() (v [16]uint32) {
	copy(v[:], c.Chaining[:])
	copy(v[8:], blake3.IV[:4])
	v[12], v[13], v[14], v[15] = uint32(c.Counter), uint32(c.Counter>>32), c.Length, c.Flags
	return v
}

// Calls is the trace of a circuit of calls: rows for each, and for calls of nothing up to 2^LogHeight rows. It implements prover.TraceWriter.
type Calls struct {
	LogHeight int
	At        func(i int) Call // call i of Count; it may be called concurrently
	Count     int
}

func (t *Calls) call(i int) Call {
	if i < t.Count {
		return t.At(i)
	}
	return Call{}
}

// each calls f with the words of calls first to last-1. Like other compressions they lie in reverse, and each computes the output of the one before.
func (t *Calls) each(first, last int, f func(k int, b *block, c *Call)) {
	var b block
	n := 1 << t.LogHeight / rowsPerCompression
	before := t.call((first + n - 1) % n)
	v := b.mixRounds(before.state(), before.Block)
	for k := first; k < last; k++ {
		c := t.call(k)
		b.solveInitial(c.state(), v, 0)
		v = b.mixRounds(c.state(), c.Block)
		f(k, &b, &c)
	}
}

// WriteRows implements prover.TraceWriter.
func (t *Calls) WriteRows(columns [][]field.Element, first int) error {
	n, last := 1<<t.LogHeight/rowsPerCompression, first+len(columns[0])
	var values [callColumns]column
	t.each(n-last/rowsPerCompression, n-first/rowsPerCompression, func(k int, b *block, c *Call) {
		storeWords(values[:], b)
		out := blake3.Compress(&c.Chaining, &c.Block, c.Counter, c.Length, c.Flags)
		values[colCallUses] = column{rowsPerCompression - 2: field.Element(c.Uses)}
		for i, w := range out {
			for at := range rowsPerCompression - 1 {
				values[colCallOutput+i][at] = field.Element(w)
			}
		}
		r := (n-1-k)*rowsPerCompression - first
		for i := range values {
			copy(columns[i][r:r+rowsPerCompression], values[i][:])
		}
	})
	return nil
}

// Tally counts the byte lookups of all rows of calls first to last-1, of the 2^LogHeight/CallRows that the table has.
func (t *Calls) Tally(first, last int, counts *bytes.Counts) {
	t.each(first, last, func(_ int, b *block, _ *Call) { b.tally(counts) })
}
