package kernels

import (
	"encoding/binary"
	"math"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
)

// packed is a digest as kernels take it.
type packed [4]uint64

func pack(d *formats.Digest) (p packed) {
	for i := range p {
		p[i] = binary.LittleEndian.Uint64(d[8*i:])
	}
	return p
}

// label is a key of the suite blake3 (docs/protocol.md section 3).
func label(s string) packed {
	var d formats.Digest
	copy(d[:], s)
	return pack(&d)
}

var (
	keyNode   = label("ixprove/1 merkle node")
	keyInject = label("ixprove/1 merkle inject")
	keyGrind  = label("ixprove/1 grind")

	keyAbsorb  = label("ixprove/1 absorb")
	keySqueeze = label("ixprove/1 squeeze")
)

const (
	maxRowWidth = 1 << 27 // 2^20 chunks of 128 values
	maxLogRows  = 32
)

// Columns lists where the columns of matrices begin, in order: each matrix of `height` values a column, one column after the other.
type Columns []uint64

// Add appends the columns of a matrix.
func (c Columns) Add(matrix Array[field.Element], columns, height int) (Columns, error) {
	if columns < 0 || height < 0 || columns > matrix.n || (columns > 0 && height > matrix.n/columns) {
		return c, outOfRange("columns", "%d of %d values in a matrix of %d", columns, height, matrix.n)
	}
	for i := range columns {
		c = append(c, uint64(matrix.at)+8*uint64(i)*uint64(height))
	}
	return c, nil
}

// AddExts appends the columns of rows of `width` extension elements one after the other: 3·width columns of row stride 3·width.
func (c Columns) AddExts(word Array[field.Ext], width int) Columns {
	for i := range 3 * width {
		c = append(c, uint64(word.at)+8*uint64(i))
	}
	return c
}

// Leaves writes to out the hash of each of the first `rows` rows under a shape: the values of row i are at i·rowStride of each column. columns is a device copy of a
// Columns; what it refers to must be long enough.
func (d *Device) Leaves(out Array[formats.Digest], columns Array[uint64], rows, rowStride int, shape *formats.Digest) error {
	const place = "leaf hashes"
	if columns.n < 1 || columns.n > maxRowWidth || rows < 1 || uint64(rows) > math.MaxUint32 || rowStride < 1 {
		return outOfRange(place, "%d columns, %d rows, stride %d", columns.n, rows, rowStride)
	}
	if err := need(place, "the output", out, uint64(rows)); err != nil {
		return err
	}
	grid, block := linear(uint64(rows), 128)
	return Start(d, "hash_leaves", grid, block, 0, &struct {
		columns, out           Address
		width, rows, rowStride uint64
		key                    packed
	}{columns.at, out.at, uint64(columns.n), uint64(rows), uint64(rowStride), pack(shape)})
}

// WordLeaves writes to out the hashes, under a shape, of rows of 2^step elements of a word, 0 < step <= 3: the leaves of a FRI layer.
func (d *Device) WordLeaves(out Array[formats.Digest], word Array[field.Ext], step int, shape *formats.Digest) error {
	const place = "leaf hashes of a word"
	if step < 1 || step > 3 || out.n < 1 || uint64(out.n) > math.MaxUint32 {
		return outOfRange(place, "%d rows, step %d", out.n, step)
	}
	if err := need(place, "the word", word, uint64(out.n)<<step); err != nil {
		return err
	}
	grid, block := linear(uint64(out.n), 128)
	return Start(d, "hash_rows", grid, block, 0, &struct {
		rows, out    Address
		width, count uint64
		key          packed
	}{word.at, out.at, 3 << step, uint64(out.n), pack(shape)})
}

// Draw continues a transcript, whose state is the first value of state: it absorbs a root, the first value of root, as the message of step `absorb`, and writes the challenge of step
// `squeeze` to the first value of out (docs/protocol.md section 5). The root is copied to seen.
func (d *Device) Draw(out Array[field.Ext], state, seen, root Array[formats.Digest], absorb, squeeze uint64) error {
	const place = "challenge"
	if err := need(place, "the output", out, 1); err != nil {
		return err
	}
	for _, a := range []Array[formats.Digest]{state, seen, root} {
		if err := need(place, "a digest", a, 1); err != nil {
			return err
		}
	}
	return Start(d, "hash_draw", [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0, &struct {
		state, root, seen, out Address
		absorb, squeeze        uint64
		absorbKey, squeezeKey  packed
	}{state.at, root.at, seen.at, out.at, absorb, squeeze, keyAbsorb, keySqueeze})
}

// levelsALaunch is how many levels one block can make above its 512 children. Ten above 1,024 take as many launches for 2^22 leaves and a third longer.
const levelsALaunch = 9

// Tree makes the nodes of a Merkle tree with 2^logRows leaves: nodes holds level k's 2^k digests from place 2^k on, and the leaves already. entering[k], where there is
// one, is the digests of the 2^k rows that enter at level k < logRows.
func (d *Device) Tree(nodes Array[formats.Digest], logRows int, entering map[int]Array[formats.Digest]) error {
	const place = "tree"
	if logRows < 0 || logRows > maxLogRows {
		return outOfRange(place, "log rows %d", logRows)
	}
	if err := need(place, "the node array", nodes, 2<<logRows); err != nil {
		return err
	}
	for level, rows := range entering {
		if level < 0 || level >= logRows {
			return outOfRange(place, "rows enter at level %d of a tree of 2^%d", level, logRows)
		}
		if err := need(place, "an array of entering rows", rows, 1<<level); err != nil {
			return err
		}
	}
	for below := logRows; below > 0; {
		// The first level made may take rows; the next that does begins another launch.
		count := 1
		for count < min(levelsALaunch, below) && entering[below-count-1].n == 0 {
			count++
		}
		threads := uint64(min(1<<(levelsALaunch-1), 1<<(below-1)))
		grid, block := linear(1<<(below-1), uint32(max(threads, 1)))
		err := Start(d, "hash_levels", grid, block, 32*int(threads), &struct {
			nodes, rows        Address
			below, levels      uint64
			nodeKey, injectKey packed
		}{nodes.at, entering[below-1].at, uint64(below), uint64(count), keyNode, keyInject})
		if err != nil {
			return err
		}
		below -= count
	}
	return nil
}

// Grind returns the lowest nonce whose hash with state has its `bits` low bits zero, 1 to 60.
func (d *Device) Grind(state *formats.Digest, bits int) (uint64, error) {
	if bits < 1 || bits > 60 {
		return 0, outOfRange("grinding", "%d bits", bits)
	}
	const none = math.MaxUint64
	best, err := From(d, []uint64{none})
	if err != nil {
		return 0, err
	}
	found := []uint64{none}
	count := uint64(1) << min(max(bits, 12), 26)
	for first := uint64(0); err == nil && found[0] == none && first < 1<<63; first += count {
		grid, block := linear(count, 256)
		err = Start(d, "hash_grind", grid, block, 0, &struct {
			best               Address
			first, count, mask uint64
			key, state         packed
		}{best.at, first, count, 1<<bits - 1, keyGrind, pack(state)})
		if err == nil {
			err = best.Download(found)
		}
	}
	if freed := best.Free(); err == nil {
		err = freed
	}
	if err == nil && found[0] == none {
		err = outOfRange("grinding", "no nonce below 2^63 for %d bits", bits)
	}
	return found[0], err
}
