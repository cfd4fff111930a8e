package blake3

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/systems/bytes"
	"github.com/ixprove/ixprove/verifier/blake3"
	"github.com/ixprove/ixprove/verifier/field"
)

// splitFact is a message on the channel split.
type splitFact struct{ kind, p, x uint64 }

// splitFact is the fact that a parent or a chunk's end uses.
func (c *compression) splitFact() splitFact {
	return splitFact{bit(c.has(blake3.Parent)), c.split[0], c.split[1]}
}

// splitRow is a row of the circuit split: a fact of kind 0 or of kind 1 and the row's power.
type splitRow struct {
	kind, x uint64
	uses    uint64
}

// splitTable is the trace of the circuit split.
type splitTable []splitRow

// power is P in row r for a fact of the row's kind.
func (t splitTable) power(r int) uint64 {
	if t[r].kind == 0 {
		return blake3.ChunkSize
	}
	return blake3.ChunkSize << (r & (1<<logPowers - 1))
}

// newSplitTable places facts of kind 1 in rows of their power and the others wherever there is room, and counts the lookups of all rows.
func newSplitTable(uses map[splitFact]uint64, minLogHeight int, counts *bytes.Counts) prover.Table {
	facts := make([]splitFact, 0, len(uses))
	for f := range uses {
		facts = append(facts, f)
	}
	slices.SortFunc(facts, func(a, b splitFact) int {
		return cmp.Or(cmp.Compare(b.kind, a.kind), cmp.Compare(a.p, b.p), cmp.Compare(a.x, b.x))
	})
	var inClass [1 << logPowers]int
	height := max(minLogHeight, logPowers, bits.Len(uint(len(facts)-1)))
	rowOf := make([]int, len(facts))
	taken := map[int]bool{}
	free := 0
	for i, f := range facts {
		if f.kind == 1 {
			class := (bits.TrailingZeros64(f.p) - logChunk) & (1<<logPowers - 1)
			rowOf[i] = inClass[class]<<logPowers + class
			inClass[class]++
		} else {
			for taken[free] {
				free++
			}
			rowOf[i] = free
		}
		taken[rowOf[i]] = true
		height = max(height, bits.Len(uint(rowOf[i])))
	}
	t := make(splitTable, 1<<height)
	for i, f := range facts {
		t[rowOf[i]] = splitRow{f.kind, f.x, uses[f]}
	}
	for r := range t {
		above, below := t.bounds(r)
		for j := range rangeSize {
			counts.Range(byte(above>>(8*j)), 1)
			counts.Range(byte(below>>(8*j)), 1)
		}
	}
	return prover.Table{Circuit: circuitSplit, LogHeight: height, Trace: t}
}

// bounds are how far x lies above its least value and below its greatest.
func (t splitTable) bounds(r int) (above, below uint64) {
	return t[r].x - t[r].kind, t.power(r) - t[r].x
}

// WriteRows implements prover.TraceWriter.
func (t splitTable) WriteRows(columns [][]field.Element, first int) error {
	for r := range columns[0] {
		row := &t[first+r]
		columns[colSplitUses][r], columns[colSplitKind][r] = field.Element(row.uses), field.Element(row.kind)
		above, below := t.bounds(first + r)
		for j := range rangeSize {
			columns[colSplitAbove+j][r] = field.Element(above >> (8 * j) & 0xff)
			columns[colSplitBelow+j][r] = field.Element(below >> (8 * j) & 0xff)
		}
	}
	return nil
}

// tailTable is the trace of the circuit tail: the short blocks, then rows that answer for an empty one.
type tailTable []compression

// newTailTable counts the lookups of all rows.
func newTailTable(blocks []compression, minLogHeight int, counts *bytes.Counts) prover.Table {
	height := max(minLogHeight, bits.Len(uint(len(blocks)-1)))
	for i := range blocks {
		for _, b := range blocks[i].shortWord() {
			counts.Range(b, 1)
		}
	}
	counts.Range(0, 3*uint64(1<<height-len(blocks)))
	return prover.Table{Circuit: circuitTail, LogHeight: height, Trace: tailTable(blocks)}
}

// shortWord is the three low bytes of the word in which the block ends.
func (c *compression) shortWord() [3]byte {
	w := c.block[c.length/4]
	return [3]byte{byte(w), byte(w >> 8), byte(w >> 16)}
}

// WriteRows implements prover.TraceWriter.
func (t tailTable) WriteRows(columns [][]field.Element, first int) error {
	for r := range columns[0] {
		if first+r >= len(t) {
			columns[colTailStart][r] = 1
			continue
		}
		c := &t[first+r]
		columns[colTailUses][r], columns[colTailStart][r] = 1, field.Element(bit(c.has(blake3.ChunkStart)))
		for i, w := range c.block {
			columns[colTailMessage+i][r] = field.Element(w)
		}
		if at := c.length / 4; at > 0 {
			columns[colTailAt+at-1][r] = 1
		}
		for j, b := range c.shortWord() {
			columns[colTailMore+j][r] = field.Element(bit(uint32(j) < c.length%4))
			columns[colTailBytes+j][r] = field.Element(b)
		}
	}
	return nil
}
