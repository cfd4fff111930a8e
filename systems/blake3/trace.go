package blake3

import (
	"math/bits"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/systems/bytes"
	"github.com/ixprove/ixprove/verifier/blake3"
	"github.com/ixprove/ixprove/verifier/field"
)

// compression is one call of the compression function with what the control columns say of it.
type compression struct {
	cv     [8]uint32
	block  [16]uint32
	bytes  uint64    // of the subtree so far
	split  [2]uint64 // columns u and v of row 1
	chunk  uint32    // number of the subtree's first chunk
	length uint32    // of the block
	flags  uint32    // those of package verifier/blake3
	tail   bool      // the block is short
	uses   [2]uint32 // of the output as a node and as a claim: columns u and v of the next compression's row 0
}

func (c *compression) has(flag uint32) bool { return c.flags&flag != 0 }

// closes reports whether the next compression starts from the IV.
func (c *compression) closes() bool { return c.has(blake3.Parent | blake3.ChunkEnd) }

// state is the sixteen words before the first round.
func (c *compression) state() (v [16]uint32) {
	copy(v[:], c.cv[:])
	copy(v[8:], blake3.IV[:4])
	if !c.has(blake3.Parent) {
		v[12] = c.chunk
	}
	v[14], v[15] = c.length, c.flags
	return v
}

// quarter holds the words of one quarter-round in one row: its inputs and what its columns hold, xors before their rotation.
type quarter struct{ a, b, c, d, a1, d1, c1, b1, a2, d2, c2, b2 uint32 }

// mix computes a quarter-round (BLAKE3 specification, section 2.2).
func mix(a, b, c, d, x, y uint32) (q quarter) {
	q.a, q.b, q.c, q.d = a, b, c, d
	q.a1 = a + b + x
	q.d1 = d ^ q.a1
	q.c1 = c + bits.RotateLeft32(q.d1, -16)
	q.b1 = b ^ q.c1
	q.a2 = q.a1 + bits.RotateLeft32(q.b1, -12) + y
	q.d2 = bits.RotateLeft32(q.d1, -16) ^ q.a2
	q.c2 = q.c1 + bits.RotateLeft32(q.d2, -8)
	q.b2 = bits.RotateLeft32(q.b1, -12) ^ q.c2
	return q
}

// solve finds the words of a quarter-round without sums, as in row 0: any d1, c1, a2, c2 do, and the xors follow.
func solve(a, b, c, d, d1, c1, a2, c2 uint32) quarter {
	b1 := b ^ c1
	return quarter{a, b, c, d, d ^ d1, d1, c1, b1, a2, bits.RotateLeft32(d1, -16) ^ a2, c2, bits.RotateLeft32(b1, -12) ^ c2}
}

// put writes the words that leave the quarter-round back to the state.
func (q *quarter) put(v *[16]uint32, a, b, c, d int) {
	v[a], v[b], v[c], v[d] = q.a2, bits.RotateLeft32(q.b2, -7), q.c2, bits.RotateLeft32(q.d2, -8)
}

// block holds the words of a compression's eight rows, row 0 first.
type block struct {
	quarters [rowsPerCompression][8]quarter
	messages [rowsPerCompression][16]uint32 // from row 1
}

// fillRounds fills rows 1 to 7 and returns the state after them.
func (b *block) fillRounds(c *compression) [16]uint32 {
	return b.mixRounds(c.state(), c.block)
}

// mixRounds is fillRounds for any state and block.
func (b *block) mixRounds(v, m [16]uint32) [16]uint32 {
	for r := 1; r < rowsPerCompression; r++ {
		b.messages[r] = m
		for g := range 8 {
			ia, ib, ic, id := quarterInputs(g)
			b.quarters[r][g] = mix(v[ia], v[ib], v[ic], v[id], m[2*g], m[2*g+1])
			b.quarters[r][g].put(&v, ia, ib, ic, id)
		}
		for i, from := range blake3.MsgPermutation {
			m[i] = b.messages[r][from]
		}
	}
	return v
}

// fillInitial fills row 0 from the state v that the compression before ends with, and the bytes of its subtree.
func (b *block) fillInitial(c *compression, v [16]uint32, before uint64) {
	b.solveInitial(c.state(), v, before)
}

// solveInitial is fillInitial for any initial state s.
func (b *block) solveInitial(s, v [16]uint32, before uint64) {
	length := [4]uint32{uint32(before), uint32(before >> 32)}
	row := &b.quarters[0]
	for i := range 4 { // the outputs v[i] ⊕ v[8+i] and v[4+i] ⊕ v[12+i]
		row[i] = solve(v[i], v[4+i], v[8+i], v[12+i], bits.RotateLeft32(v[i], 16), v[12+i], v[8+i], length[i])
		row[i].put(&v, i, 4+i, 8+i, 12+i)
	}
	for g := 4; g < 8; g++ { // the initial state, undoing the rotations by 8, 7 and 12
		ia, ib, ic, id := quarterInputs(g)
		d1 := bits.RotateLeft32(s[ia]^bits.RotateLeft32(s[id], 8), 16)
		b1 := bits.RotateLeft32(s[ic]^bits.RotateLeft32(s[ib], 7), 12)
		row[g] = solve(v[ia], v[ib], v[ic], v[id], d1, v[ib]^b1, s[ia], s[ic])
	}
}

// tally counts the byte lookups of all rows.
func (b *block) tally(counts *bytes.Counts) {
	for r := range b.quarters {
		for g := range b.quarters[r] {
			q := &b.quarters[r][g]
			counts.Xor(q.d, q.a1)
			counts.Nibbles(q.b, q.c1)
			counts.Xor(bits.RotateLeft32(q.d1, -16), q.a2)
			counts.Split7(bits.RotateLeft32(q.b1, -12), q.c2)
		}
	}
}

// column holds a column's values in a compression's rows, as they lie in the table: row 7 first.
type column [rowsPerCompression]field.Element

// rows holds the values of a compression's rows by column.
type rows [compressColumns]column

// storeWords spreads the words over the columns of the rounds.
func storeWords(t []column, b *block) {
	for r := range b.quarters {
		at := rowsPerCompression - 1 - r
		for g := range b.quarters[r] {
			q, base := &b.quarters[r][g], g*quarterColumns
			to := (*[quarterColumns]column)(t[base : base+quarterColumns])
			for j := range 4 {
				shift := 8 * j
				to[offA1+j][at] = field.Element(q.a1 >> shift & 0xff)
				to[offD1+j][at] = field.Element(q.d1 >> shift & 0xff)
				to[offC1+j][at] = field.Element(q.c1 >> shift & 0xff)
				to[offB1+j][at] = field.Element(q.b1 >> shift & 0x0f)
				to[offB1+4+j][at] = field.Element(q.b1 >> shift >> 4 & 0x0f)
				to[offA2+j][at] = field.Element(q.a2 >> shift & 0xff)
				to[offD2+j][at] = field.Element(q.d2 >> shift & 0xff)
				to[offC2+j][at] = field.Element(q.c2 >> shift & 0xff)
				to[offB2+j][at] = field.Element(q.b2 >> shift & 0x7f)
				to[offB2+4+j][at] = field.Element(q.b2 >> shift >> 7 & 1)
			}
			x, y := field.Element(b.messages[r][2*g]), field.Element(b.messages[r][2*g+1])
			if r == 0 { // what makes the sums true
				x = field.Sub(field.Element(q.a1), field.Element(q.a)+field.Element(q.b))
				y = field.Sub(field.Element(q.a2), field.Element(q.a1)+field.Element(bits.RotateLeft32(q.b1, -12)))
			}
			t[colMessage+2*g][at], t[colMessage+2*g+1][at] = x, y
		}
	}
}

// store spreads the words and what the control columns say.
func (t *rows) store(b *block, c, before *compression) {
	storeWords(t[:], b)
	for at := range rowsPerCompression {
		for i, v := range [...]uint64{
			bit(c.has(blake3.Parent)), bit(c.has(blake3.ChunkStart)), bit(c.has(blake3.ChunkEnd)), bit(c.has(blake3.Root)), bit(c.tail),
			uint64(c.chunk), c.bytes, uint64(c.length),
		} {
			t[colParent+i][at] = field.Element(v)
		}
	}
	for i, col := range [2]int{colU, colV} {
		t[col] = column{}
		t[col][rowsPerCompression-1] = field.Element(before.uses[i])
		t[col][rowsPerCompression-2] = field.Element(c.split[i])
	}
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// table is the trace of the circuit compress: a power of two of compressions, each between the one that it follows and the one that follows it; the first follows the last.
// They are some blocks and others, and the table holds them in reverse.
type table struct {
	blocks     *blocks
	first, end int // of the blocks
	others     []compression
}

// size is the number of compressions.
func (t *table) size() int { return t.end - t.first + len(t.others) }

// at is compression k.
func (t *table) at(k int) compression {
	if n := t.end - t.first; k >= n {
		return t.others[k-n]
	}
	return t.blocks.at(t.first + k)
}

// facts counts the facts about sizes that the compressions use, and returns the short blocks. Only the last block of a chunk has either.
func (t *table) facts(count func(f splitFact, n uint64)) (tails []compression) {
	one := func(c compression) {
		if c.closes() {
			count(c.splitFact(), 1)
		}
		if c.tail {
			tails = append(tails, c)
		}
	}
	for i := t.first; i < t.end; {
		file, block := t.blocks.find(i)
		begin := i - block
		end := min(t.end, begin+atLeastOne(len(file), blake3.BlockSize))
		whole := min(end, begin+len(file)/blake3.ChunkSize*blocksPerChunk)
		if whole > i {
			count(splitFact{0, blake3.ChunkSize, blake3.ChunkSize}, uint64((whole-i)/blocksPerChunk))
		}
		if whole < end {
			one(t.blocks.at(end - 1))
		}
		i = end
	}
	for _, c := range t.others {
		one(c)
	}
	return tails
}

// each calls f with the words of every compression from first to last-1, its predecessor known.
func (t *table) each(first, last int, f func(k int, b *block, c, before *compression)) {
	var b block
	before := t.at((first + t.size() - 1) % t.size())
	v := b.fillRounds(&before)
	for k := first; k < last; k++ {
		c := t.at(k)
		b.fillInitial(&c, v, before.bytes)
		v = b.fillRounds(&c)
		f(k, &b, &c, &before)
		before = c
	}
}

// WriteRows implements prover.TraceWriter.
func (t *table) WriteRows(columns [][]field.Element, first int) error {
	n, last := t.size(), first+len(columns[0])
	var values rows
	t.each(n-last/rowsPerCompression, n-first/rowsPerCompression, func(k int, b *block, c, before *compression) {
		values.store(b, c, before)
		r := (n-1-k)*rowsPerCompression - first
		for i := range values {
			copy(columns[i][r:r+rowsPerCompression], values[i][:])
		}
	})
	return nil
}

// seedWords is what a kernel reads of a compression: seed's words.
const seedWords = 18

// seed writes what the rows of a compression and of its neighbours follow from. kernels/cu/rows_blake3.cu reads it.
func (c *compression) seed(words *[seedWords]uint64) {
	for i := range 4 {
		words[i] = uint64(c.cv[2*i]) | uint64(c.cv[2*i+1])<<32
	}
	for i := range 8 {
		words[4+i] = uint64(c.block[2*i]) | uint64(c.block[2*i+1])<<32
	}
	words[12], words[13], words[14] = c.bytes, c.split[0], c.split[1]
	words[15] = uint64(c.chunk) | uint64(c.length)<<32
	words[16] = uint64(c.flags) | bit(c.tail)<<32
	words[17] = uint64(c.uses[0]) | uint64(c.uses[1])<<32
}

// kernel is a run of a kernel over the compressions, with a thread for each row.
func (t *table) kernel(name string) prover.RowKernel {
	return prover.RowKernel{Name: name, Items: t.size(), Words: seedWords, Threads: rowsPerCompression, Seeds: func(words []uint64, first int) {
		for i := range len(words) / seedWords {
			c := t.at(first + i)
			c.seed((*[seedWords]uint64)(words[seedWords*i:]))
		}
	}}
}

// RowKernels implements prover.DeviceTrace.
func (t *table) RowKernels() []prover.RowKernel {
	return []prover.RowKernel{t.kernel("rows_blake3_compress")}
}
