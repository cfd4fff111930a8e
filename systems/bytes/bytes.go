// Package bytes is a circuit that other circuits look bytes up in: one row for each pair of bytes, fixed in the key.
//
// What a row tells about its pair (x, y) and z = x ⊕ y is true whatever the witness holds, so the multiplicities, its only main columns, need no constraint. A message that
// names x and y also says that they are bytes.
package bytes

import (
	"sync"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// LogHeight is the table's height: all 2^16 pairs of bytes.
const LogHeight = 16

// Main columns: how often each channel's message is used.
const (
	colXor = iota
	colNibbles
	colSplit7
	columns
)

// Channels are the facts that the circuit supplies about bytes x and y and z = x ⊕ y.
type Channels struct {
	Xor     air.Channel // (x, y, z)
	Nibbles air.Channel // (x, y, low, high): z = low + 16·high, both below 16
	Split7  air.Channel // (x, y, low, high): z = low + 128·high, low below 128, high a bit
}

// Add declares the channels in a system and adds the circuit. The witness needs one table of it, in any one shard.
func Add(s *air.System) Channels {
	ch := Channels{s.Channel("xor", 3), s.Channel("nibbles", 4), s.Channel("split7", 4)}
	var values [5][]field.Element
	for y := range 256 {
		for x := range 256 {
			z := x ^ y
			for i, v := range [5]int{x, y, z & 15, z >> 4, z >> 7} {
				values[i] = append(values[i], field.Element(v))
			}
		}
	}
	c := s.Circuit("bytes")
	x, y := c.FixedColumn(values[0]), c.FixedColumn(values[1])
	low, high, top := c.FixedColumn(values[2]), c.FixedColumn(values[3]), c.FixedColumn(values[4])
	z := low.Add(high.Times(16))
	c.Pull(ch.Xor, c.Column("xor uses"), x, y, z)
	c.Pull(ch.Nibbles, c.Column("nibbles uses"), x, y, low, high)
	c.Pull(ch.Split7, c.Column("split7 uses"), x, y, z.Sub(top.Times(128)), top)
	return ch
}

// Counts is how often each fact is used. The zero value is ready; it is not safe for concurrent use, so that each worker keeps its own and they are merged.
type Counts [columns][1 << LogHeight]uint64

// Xor counts the uses of the four bytes of x ⊕ y.
func (c *Counts) Xor(x, y uint32) { count(&c[colXor], x, y) }

// Nibbles counts the uses of the four bytes of x ⊕ y in nibbles.
func (c *Counts) Nibbles(x, y uint32) { count(&c[colNibbles], x, y) }

// Split7 counts the uses of the four bytes of x ⊕ y split above bit 6.
func (c *Counts) Split7(x, y uint32) { count(&c[colSplit7], x, y) }

// Range counts n uses of the message (x, x, 0) on the channel Xor, which says that x is a byte.
func (c *Counts) Range(x byte, n uint64) { c[colXor][uint16(x)<<8|uint16(x)] += n }

func count(uses *[1 << LogHeight]uint64, x, y uint32) {
	uses[y<<8&0xff00|x&0xff]++
	uses[y&0xff00|x>>8&0xff]++
	uses[y>>8&0xff00|x>>16&0xff]++
	uses[y>>16&0xff00|x>>24]++
}

// Merge adds the counts of another worker.
func (c *Counts) Merge(other *Counts) {
	for i := range c {
		for k, n := range other[i] {
			c[i][k] += n
		}
	}
}

// Source is rows of another circuit whose uses are counted when the table is written: by the host, or by a kernel that adds them to the columns.
type Source struct {
	Count  func(*Counts)
	Kernel prover.RowKernel
}

// Table is the witness table of the counts and of what the sources count, neither of which may change any more. circuit is the index of the circuit in the key.
func (c *Counts) Table(circuit int, sources ...Source) prover.Table {
	total := func() *Counts {
		sum := *c
		for _, s := range sources {
			s.Count(&sum)
		}
		return &sum
	}
	return prover.Table{Circuit: circuit, LogHeight: LogHeight, Trace: &trace{c, sources, sync.OnceValue(total)}}
}

// trace is the trace of the circuit.
type trace struct {
	counts  *Counts
	sources []Source
	total   func() *Counts
}

// WriteRows implements prover.TraceWriter.
func (t *trace) WriteRows(to [][]field.Element, first int) error {
	for i, uses := range t.total() {
		for r := range to[i] {
			to[i][r] = field.Element(uses[first+r])
		}
	}
	return nil
}

// RowKernels implements prover.DeviceTrace: the counts, then what the sources add.
func (t *trace) RowKernels() []prover.RowKernel {
	out := []prover.RowKernel{{Name: "rows_words", Items: columns << LogHeight, Words: 1, Threads: 1, Seeds: func(words []uint64, first int) {
		for i := range words {
			words[i] = t.counts[(first+i)>>LogHeight][(first+i)&(1<<LogHeight-1)]
		}
	}}}
	for _, s := range t.sources {
		out = append(out, s.Kernel)
	}
	return out
}
