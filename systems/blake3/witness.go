// Package blake3 is the system that proves BLAKE3 digests of private files, over chunks and the tree as its specification has them.
//
// The layout, and why no false digest passes, is docs/systems/blake3.md. The specification is "BLAKE3: one function, fast everywhere" (O'Connor, Aumasson, Neves,
// Wilcox-O'Hearn; version 20211102).
package blake3

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/systems/bytes"
	"github.com/ixprove/ixprove/verifier/blake3"
)

// MaxBytes is the most that the files of one witness may have together.
const MaxBytes = 1 << 30

// Plan lists, for each shard, the log heights of its tables of the circuit compress. A table of 2^h rows holds 2^(h-3) compressions.
type Plan [][]int

// Witness claims the digest and length of each file, in order. Without a plan there is one shard of up to three tables. Each table is at least 2^minLogHeight rows high. The
// tables of the other circuits are in the first shard, with the totals. Files must not change while the witness is in use.
//
// Files of more than MaxBytes are a *formats.Error of class Limit; no file, or a plan that does not hold them, one of class Invalid.
func Witness(files [][]byte, plan Plan, minLogHeight int) (*prover.Witness, error) {
	return witness(files, minLogHeight, func(t tree) ([][]table, error) {
		if plan == nil {
			return t.spread(1, minLogHeight), nil
		}
		return t.arrange(plan, minLogHeight)
	})
}

// WitnessOver is Witness with so many shards, whose tables of the circuit compress have the same heights. A number that is not 1 to formats.MaxShards is a
// *formats.Error of class Invalid.
func WitnessOver(files [][]byte, shards, minLogHeight int) (*prover.Witness, error) {
	if shards < 1 || shards > formats.MaxShards {
		e := (&formats.Error{Class: formats.Invalid, Place: "shards", What: "the number of shards is out of range"}).Mismatch(1, uint64(max(shards, 0)))
		e.Expected = "1 to " + strconv.Itoa(formats.MaxShards)
		return nil, e
	}
	return witness(files, minLogHeight, func(t tree) ([][]table, error) { return t.spread(shards, minLogHeight), nil })
}

func witness(files [][]byte, minLogHeight int, arrange func(tree) ([][]table, error)) (*prover.Witness, error) {
	if len(files) == 0 {
		return nil, &formats.Error{Class: formats.Invalid, Place: Name, What: "there is no file to claim the digest of"}
	}
	total := uint64(0)
	for i, f := range files {
		if total += uint64(len(f)); total > MaxBytes {
			e := (&formats.Error{Class: formats.Limit, Place: "file " + strconv.Itoa(i), What: "the files are too long"}).Mismatch(MaxBytes, total)
			e.Expected, e.Next = "at most "+e.Expected+" bytes", "claim them in several proofs"
			return nil, e
		}
	}
	t := newTree(files)
	claims := make([]formats.Claim, len(files))
	left := t
	for i, f := range files {
		var room tree
		room, left = left.cut(len(f))
		for _, w := range room.hash(f, 0, blake3.Root) {
			claims[i].Results = claims[i].Results.Append(uint64(w))
		}
		n := uint64(len(f))
		claims[i].Results = claims[i].Results.Append(n & (1<<32 - 1)).Append(n >> 32)
	}
	tables, err := arrange(t)
	if err != nil {
		return nil, err
	}
	return assemble(claims, tables, minLogHeight), nil
}

// tree holds the compressions of files: chunks block after block, parents after their children.
type tree struct{ chunks, parents []compression }

// blocks is the number of blocks of so many bytes; one for none.
func blocks(n int) int { return max(1, (n+blake3.BlockSize-1)/blake3.BlockSize) }

// chunks is the number of chunks of so many bytes; one for none.
func chunks(n int) int { return max(1, (n+blake3.ChunkSize-1)/blake3.ChunkSize) }

// newTree makes room for the compressions of files.
func newTree(files [][]byte) tree {
	var leaves, parents int
	for _, f := range files {
		leaves += blocks(len(f))
		parents += chunks(len(f)) - 1
	}
	return tree{make([]compression, leaves), make([]compression, parents)}
}

// cut divides a tree: the room for the first n bytes, and the rest.
func (t tree) cut(n int) (first, rest tree) {
	leaves, parents := blocks(n), chunks(n)-1
	return tree{t.chunks[:leaves], t.parents[:parents]}, tree{t.chunks[leaves:], t.parents[parents:]}
}

// splitBytes is the least size of a subtree whose halves are hashed at the same time: some tens of microseconds of work.
const splitBytes = 64 << 10

// hash fills in the compressions of a subtree and returns its output. Every output is used once: as a claim under the flag blake3.Root, else as a node.
func (t tree) hash(data []byte, chunk, root uint32) [8]uint32 {
	uses := [2]uint32{1, 0}
	if root != 0 {
		uses = [2]uint32{0, 1}
	}
	if len(data) <= blake3.ChunkSize {
		return hashChunk(t.chunks, data, chunk, root, uses)
	}
	left := blake3.ChunkSize << (bits.Len(uint(len(data)-1)>>logChunk) - 1)
	c := &t.parents[len(t.parents)-1] // after its children
	*c = compression{
		cv: blake3.IV, bytes: uint64(len(data)), split: [2]uint64{uint64(left), uint64(len(data) - left)},
		chunk: chunk, length: blake3.BlockSize, flags: blake3.Parent | root, uses: uses,
	}
	before, after := t.cut(left)
	after.parents = after.parents[:len(after.parents)-1]
	var l, r [8]uint32
	first := func() { l = before.hash(data[:left], chunk, 0) }
	second := func() { r = after.hash(data[left:], chunk+uint32(left>>logChunk), 0) }
	if len(data) < splitBytes {
		first()
		second()
	} else {
		var wait sync.WaitGroup
		wait.Go(first)
		second()
		wait.Wait()
	}
	copy(c.block[:8], l[:])
	copy(c.block[8:], r[:])
	return c.output()
}

// hashChunk fills in the compressions of a chunk and returns its output.
func hashChunk(to []compression, data []byte, chunk, root uint32, uses [2]uint32) (cv [8]uint32) {
	cv = blake3.IV
	for i := range to {
		c := &to[i]
		n := min(len(data)-i*blake3.BlockSize, blake3.BlockSize)
		end := i*blake3.BlockSize + n
		*c = compression{cv: cv, block: loadBlock(data[end-n : end]), bytes: uint64(end), chunk: chunk, length: uint32(n)}
		if i == 0 {
			c.flags = blake3.ChunkStart
		}
		if i == len(to)-1 {
			c.flags |= blake3.ChunkEnd | root
			c.tail = c.length < blake3.BlockSize
			c.split = [2]uint64{blake3.ChunkSize, c.bytes}
			c.uses = uses
		}
		cv = c.output()
	}
	return cv
}

// loadBlock is the block's sixteen little-endian words, zero after the data.
func loadBlock(data []byte) (m [16]uint32) {
	if len(data) == blake3.BlockSize {
		for i := range m {
			m[i] = binary.LittleEndian.Uint32(data[4*i:])
		}
		return m
	}
	for i, b := range data {
		m[i/4] |= uint32(b) << (8 * (i % 4))
	}
	return m
}

// output is the first half of the compression function's output.
func (c *compression) output() [8]uint32 {
	counter := uint64(c.chunk)
	if c.has(blake3.Parent) {
		counter = 0
	}
	return blake3.Compress(&c.cv, &c.block, counter, c.length, c.flags)
}

// padding is a chunk of one zero block that nothing uses. What it says is true.
var padding = compression{
	cv: blake3.IV, bytes: blake3.BlockSize, split: [2]uint64{blake3.ChunkSize, blake3.BlockSize},
	length: blake3.BlockSize, flags: blake3.ChunkStart | blake3.ChunkEnd,
}

// least is the smallest log height of a table of the circuit compress.
func least(minLogHeight int) int { return max(minLogHeight, bits.Len(rowsPerCompression-1)) }

// arrange shares the compressions out among the tables of a plan.
func (t tree) arrange(plan Plan, minLogHeight int) ([][]table, error) {
	least := least(minLogHeight)
	for i, heights := range plan {
		if len(heights) == 0 || slices.Min(heights) < least || slices.Max(heights) > formats.MaxLogHeight {
			return nil, &formats.Error{
				Class: formats.Invalid, Place: "plan, shard " + strconv.Itoa(i), What: "the tables are out of range",
				Expected: "some, with log heights from " + strconv.Itoa(least) + " to " + strconv.Itoa(formats.MaxLogHeight),
			}
		}
	}
	tables, left := t.pack(plan)
	if left > 0 || len(plan) == 0 {
		return nil, &formats.Error{
			Class: formats.Invalid, Place: "plan", What: "the files do not fit the plan's tables",
			Got: strconv.Itoa(left) + " compressions without a place", Next: "plan more rows: chunks are not cut",
		}
	}
	return tables, nil
}

// spread shares the compressions out among shards of the same default tables.
func (t tree) spread(shards, minLogHeight int) [][]table {
	for need := len(t.chunks) + len(t.parents); ; {
		each := (need + shards - 1) / shards
		tables, left := t.pack(slices.Repeat(Plan{defaultHeights(each, least(minLogHeight))}, shards))
		if left == 0 {
			return tables
		}
		need += left
	}
}

// defaultHeights are the log heights, falling, of tables that hold so many compressions. The binary digits of the number would waste nothing, but each table has its own
// openings and shortens nothing else: three tables, the last rounded up, waste less than a seventh. Below 2^6 rows a table saves less than its openings cost.
func defaultHeights(compressions, least int) []int {
	const worthwhile, most = 6, 3
	rows := compressions * rowsPerCompression
	var heights []int
	for rows > 0 {
		h := min(bits.Len(uint(rows))-1, formats.MaxLogHeight)
		if last := len(heights) == most-1 || h < worthwhile; last && h < formats.MaxLogHeight {
			h = bits.Len(uint(rows - 1))
			if len(heights) > 0 {
				h = max(h, worthwhile)
			}
		}
		h = max(h, least)
		heights = append(heights, h)
		rows -= min(rows, 1<<h)
	}
	for n := len(heights); n > 1 && heights[n-1] >= heights[n-2] && heights[n-2] < formats.MaxLogHeight; n-- {
		heights = append(heights[:n-2], heights[n-2]+1) // two tables of one height are one of the next
	}
	return heights
}

// pack fills the tables with chunks in order, the place that the next chunk is too long for with parents, and what remains with padding. It returns how many
// compressions found no place. A table of chunks alone is not copied.
func (t tree) pack(plan Plan) (shards [][]table, left int) {
	chunks, parents := t.chunks, t.parents
	for _, heights := range plan {
		var tables []table
		heights = slices.SortedFunc(slices.Values(heights), func(a, b int) int { return cmp.Compare(b, a) })
		for _, h := range heights {
			capacity := 1 << h / rowsPerCompression
			whole := min(capacity, len(chunks))
			for whole > 0 && !chunks[whole-1].closes() {
				whole--
			}
			out := table(chunks[:whole:whole])
			chunks = chunks[whole:]
			if whole < capacity {
				out = append(make(table, 0, capacity), out...)
			}
			n := min(len(parents), capacity-whole)
			out, parents = append(out, parents[:n]...), parents[n:]
			for len(out) < capacity {
				out = append(out, padding)
			}
			tables = append(tables, out)
		}
		shards = append(shards, tables)
	}
	return shards, len(chunks) + len(parents)
}

// assemble makes the witness of claims and arranged compressions. What these look up of bytes is counted when it is needed.
func assemble(claims []formats.Claim, shards [][]table, minLogHeight int) *prover.Witness {
	w := &prover.Witness{Claims: claims, Shards: make([]prover.Shard, len(shards))}
	splits := map[splitFact]uint64{}
	var tails []*compression
	var sources []bytes.Source
	for i, tables := range shards {
		for _, t := range tables {
			w.Shards[i].Tables = append(w.Shards[i].Tables, prover.Table{
				Circuit: circuitCompress, LogHeight: bits.Len(uint(len(t)*rowsPerCompression)) - 1, Trace: t,
			})
			for k := range t {
				if t[k].closes() {
					splits[t[k].splitFact()]++
				}
				if t[k].tail {
					tails = append(tails, &t[k])
				}
			}
			sources = append(sources, bytes.Source{Count: t.count, Kernel: t.kernel("rows_blake3_count")})
		}
	}
	counts := new(bytes.Counts)
	first := &w.Shards[0].Tables
	*first = append(*first, newSplitTable(splits, minLogHeight, counts))
	if len(tails) > 0 {
		*first = append(*first, newTailTable(tails, minLogHeight, counts))
	}
	*first = append(*first, counts.Table(circuitBytes, sources...))
	return w
}

// count adds the table's byte lookups, counted by as many workers as there are processors and work for.
func (t table) count(counts *bytes.Counts) {
	const least = 1 << 10 // compressions that are worth a worker's 1.5 MiB of counts
	workers := max(1, min(runtime.GOMAXPROCS(0), len(t)/least))
	parts := make([]*bytes.Counts, workers)
	var wait sync.WaitGroup
	for i := range parts {
		wait.Go(func() {
			parts[i] = new(bytes.Counts)
			t.each(i*len(t)/workers, (i+1)*len(t)/workers, func(_ int, b *block, _, _ *compression) { b.tally(parts[i]) })
		})
	}
	wait.Wait()
	for _, part := range parts {
		counts.Merge(part)
	}
}
