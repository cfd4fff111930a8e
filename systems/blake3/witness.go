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
	return witness(files, minLogHeight, func(t *tree) ([][]*table, error) {
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
	return witness(files, minLogHeight, func(t *tree) ([][]*table, error) { return t.spread(shards, minLogHeight), nil })
}

func witness(files [][]byte, minLogHeight int, arrange func(*tree) ([][]*table, error)) (*prover.Witness, error) {
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
	for i, output := range t.hash() {
		for _, w := range output {
			claims[i].Results = claims[i].Results.Append(uint64(w))
		}
		n := uint64(len(files[i]))
		claims[i].Results = claims[i].Results.Append(n & (1<<32 - 1)).Append(n >> 32)
	}
	tables, err := arrange(t)
	if err != nil {
		return nil, err
	}
	return assemble(claims, tables, minLogHeight), nil
}

// tree is the compressions of files: blocks, and the parents of chunks and subtrees, after their children.
type tree struct {
	blocks  *blocks
	parents []compression
}

// blocks is the compressions of chunks, block after block. They are made when they are asked for, of the files and the chaining values that blocks begin with, since keeping them
// costs more time than making them.
type blocks struct {
	files  [][]byte
	first  []int // block of each file
	values [][8]uint32
}

const blocksPerChunk = blake3.ChunkSize / blake3.BlockSize

// atLeastOne is how many pieces of a size n bytes take; no bytes take one.
func atLeastOne(n, size int) int { return max(1, (n+size-1)/size) }

// newTree makes room for the compressions of files.
func newTree(files [][]byte) *tree {
	b := &blocks{files: files}
	total, parents := 0, 0
	for _, f := range files {
		b.first = append(b.first, total)
		total += atLeastOne(len(f), blake3.BlockSize)
		parents += atLeastOne(len(f), blake3.ChunkSize) - 1
	}
	b.values = make([][8]uint32, total)
	return &tree{b, make([]compression, parents)}
}

// hash fills in the tree and returns the files' outputs.
func (t *tree) hash() [][8]uint32 {
	out := make([][8]uint32, len(t.blocks.files))
	values, parents := t.blocks.values, t.parents
	for i, f := range t.blocks.files {
		n, p := atLeastOne(len(f), blake3.BlockSize), atLeastOne(len(f), blake3.ChunkSize)-1
		out[i] = hash(f, 0, blake3.Root, values[:n], parents[:p])
		values, parents = values[n:], parents[p:]
	}
	return out
}

// splitBytes is the least size of a subtree whose halves are hashed at the same time: some tens of microseconds of work.
const splitBytes = 64 << 10

// hash fills in the chaining values and the parents of a subtree and returns its output.
func hash(data []byte, chunk, root uint32, values [][8]uint32, parents []compression) [8]uint32 {
	if len(data) <= blake3.ChunkSize {
		cv := blake3.IV
		for i := range values {
			values[i] = cv
			c := chunkBlock(data, i, chunk, root)
			c.cv = cv
			cv = c.output()
		}
		return cv
	}
	left := blake3.ChunkSize << (bits.Len(uint(len(data)-1)>>logChunk) - 1)
	c := &parents[len(parents)-1]
	*c = compression{
		cv: blake3.IV, bytes: uint64(len(data)), split: [2]uint64{uint64(left), uint64(len(data) - left)},
		chunk: chunk, length: blake3.BlockSize, flags: blake3.Parent | root, uses: uses(root),
	}
	n, p := left/blake3.BlockSize, left/blake3.ChunkSize-1
	var l, r [8]uint32
	first := func() { l = hash(data[:left], chunk, 0, values[:n], parents[:p]) }
	second := func() {
		r = hash(data[left:], chunk+uint32(left>>logChunk), 0, values[n:], parents[p:len(parents)-1])
	}
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

// uses is how often an output is used, as a node and as a claim: once, as a claim under the flag blake3.Root.
func uses(root uint32) [2]uint32 {
	if root != 0 {
		return [2]uint32{0, 1}
	}
	return [2]uint32{1, 0}
}

// chunkBlock is block i of a chunk of data, but for its chaining value.
func chunkBlock(data []byte, i int, chunk, root uint32) compression {
	first := i * blake3.BlockSize
	last := min(first+blake3.BlockSize, len(data))
	c := compression{block: loadBlock(data[first:last]), bytes: uint64(last), chunk: chunk, length: uint32(last - first)}
	if i == 0 {
		c.flags = blake3.ChunkStart
	}
	if last == len(data) {
		c.flags |= blake3.ChunkEnd | root
		c.tail = c.length < blake3.BlockSize
		c.split = [2]uint64{blake3.ChunkSize, c.bytes}
		c.uses = uses(root)
	}
	return c
}

// find returns the file of block i, and which of the file's blocks it is.
func (b *blocks) find(i int) (file []byte, block int) {
	at, found := slices.BinarySearch(b.first, i)
	if !found {
		at--
	}
	return b.files[at], i - b.first[at]
}

// at is the compression of block i.
func (b *blocks) at(i int) compression {
	file, block := b.find(i)
	chunk, root := block/blocksPerChunk, uint32(0)
	if len(file) <= blake3.ChunkSize {
		root = blake3.Root
	}
	data := file[chunk*blake3.ChunkSize : min((chunk+1)*blake3.ChunkSize, len(file))]
	c := chunkBlock(data, block%blocksPerChunk, uint32(chunk), root)
	c.cv = b.values[i]
	return c
}

// chunk is the range of the blocks of block i's chunk.
func (b *blocks) chunk(i int) (first, end int) {
	file, block := b.find(i)
	begin := i - block
	first = begin + block/blocksPerChunk*blocksPerChunk
	return first, min(first+blocksPerChunk, begin+atLeastOne(len(file), blake3.BlockSize))
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
func (t *tree) arrange(plan Plan, minLogHeight int) ([][]*table, error) {
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
func (t *tree) spread(shards, minLogHeight int) [][]*table {
	for need := len(t.blocks.values) + len(t.parents); ; {
		each := (need + shards - 1) / shards
		tables, left := t.pack(slices.Repeat(Plan{defaultHeights(each, least(minLogHeight))}, shards))
		if left == 0 {
			return tables
		}
		need += left
	}
}

// defaultHeights are the log heights, falling, of tables that hold so many compressions. Below 2^6 rows a table saves less than its openings cost.
func defaultHeights(compressions, least int) []int {
	return prover.TableHeights(compressions*rowsPerCompression, least, 6)
}

// pack fills the tables with chunks in order, the place that the next chunk is too long for with parents, and what remains with padding. It returns how many
// compressions found no place.
func (t *tree) pack(plan Plan) (shards [][]*table, left int) {
	at, parents := 0, t.parents
	for _, heights := range plan {
		var tables []*table
		heights = slices.SortedFunc(slices.Values(heights), func(a, b int) int { return cmp.Compare(b, a) })
		for _, h := range heights {
			capacity := 1 << h / rowsPerCompression
			end := len(t.blocks.values)
			if at+capacity < end {
				end, _ = t.blocks.chunk(at + capacity)
			}
			out := &table{blocks: t.blocks, first: at, end: end}
			capacity -= end - at
			at = end
			n := min(len(parents), capacity)
			out.others, parents = slices.Concat(parents[:n], slices.Repeat([]compression{padding}, capacity-n)), parents[n:]
			tables = append(tables, out)
		}
		shards = append(shards, tables)
	}
	return shards, len(t.blocks.values) - at + len(parents)
}

// assemble makes the witness of claims and arranged compressions. What these look up of bytes is counted when it is needed.
func assemble(claims []formats.Claim, shards [][]*table, minLogHeight int) *prover.Witness {
	w := &prover.Witness{Claims: claims, Shards: make([]prover.Shard, len(shards))}
	splits := map[splitFact]uint64{}
	var run splitFact // the fact used last, n times in a row
	n := uint64(0)
	flush := func() {
		if n > 0 {
			splits[run] += n
		}
		n = 0
	}
	count := func(f splitFact, more uint64) {
		if f != run {
			flush()
		}
		run, n = f, n+more
	}
	var tails []compression
	var sources []bytes.Source
	for i, tables := range shards {
		for _, t := range tables {
			w.Shards[i].Tables = append(w.Shards[i].Tables, prover.Table{
				Circuit: circuitCompress, LogHeight: bits.Len(uint(t.size()*rowsPerCompression)) - 1, Trace: t,
			})
			tails = append(tails, t.facts(count)...)
			sources = append(sources, bytes.Source{Count: t.count, Kernel: t.kernel("rows_blake3_count")})
		}
	}
	flush()
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
func (t *table) count(counts *bytes.Counts) {
	const least = 1 << 10 // compressions that are worth a worker's 1.5 MiB of counts
	workers := max(1, min(runtime.GOMAXPROCS(0), t.size()/least))
	parts := make([]*bytes.Counts, workers)
	var wait sync.WaitGroup
	for i := range parts {
		wait.Go(func() {
			parts[i] = new(bytes.Counts)
			t.each(i*t.size()/workers, (i+1)*t.size()/workers, func(_ int, b *block, _, _ *compression) { b.tally(parts[i]) })
		})
	}
	wait.Wait()
	for _, part := range parts {
		counts.Merge(part)
	}
}
