package kernels

import (
	"math"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
)

func (d *Device) checkTerms(place string, columns Array[uint64], coefficients Array[field.Ext]) error {
	if columns.n < 1 || columns.n != coefficients.n {
		return outOfRange(place, "%d columns, %d coefficients", columns.n, coefficients.n)
	}
	return nil
}

// Combine writes to out, as three columns of `rows` values, Σ coefficient·column. columns is a device copy of a Columns; at most 2^31 of them.
func (d *Device) Combine(out Array[field.Element], columns Array[uint64], coefficients Array[field.Ext], rows int) error {
	const place = "combination"
	if err := d.checkTerms(place, columns, coefficients); err != nil {
		return err
	}
	if rows < 1 || rows > out.n/3 {
		return outOfRange(place, "%d rows, room for %d", rows, out.n/3)
	}
	grid, block := linear(uint64(rows), 128)
	return Start(d, "open_combine", grid, block, 0, &struct {
		columns, coefficients, out Address
		count, rows                uint64
	}{columns.at, coefficients.at, out.at, uint64(columns.n), uint64(rows)})
}

// Flagged reports whether an evaluation point of a call of Weights or Deep lay in its domain: what these wrote is worth nothing then. It waits for the device.
func (d *Device) Flagged(place string) error {
	flag := d.flag()
	if flag.n == 0 {
		return nil
	}
	word := []uint64{0}
	if err := flag.Download(word); err != nil {
		return err
	}
	return flagged(place, word[0])
}

func (d *Device) flag() Array[uint64] {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.tables.flag
}

func flagged(place string, word uint64) error {
	if word != 0 {
		return &Error{Kind: Failed, Place: place, What: "an evaluation point lies in a domain: this happens with negligible probability", Next: "prove again with other claims"}
	}
	return nil
}

// Deep adds (Σ coefficient·f(x) - claimed)/(x - z) to a word on the points of an extension of 2^logSize, in bit-reversed order, or begins the word with it. Flagged tells whether z was in the domain.
func (d *Device) Deep(word Array[field.Ext], logSize int, columns Array[uint64], coefficients Array[field.Ext], z, claimed field.Ext, accumulate bool) error {
	const place = "DEEP quotient"
	if err := d.checkTerms(place, columns, coefficients); err != nil {
		return err
	}
	if logSize < 1 || logSize > field.TwoAdicity {
		return outOfRange(place, "log size %d", logSize)
	}
	if err := need(place, "the word", word, 1<<logSize); err != nil {
		return err
	}
	tables, err := d.powerTables()
	if err != nil {
		return err
	}
	add := uint64(0)
	if accumulate {
		add = 1
	}
	grid, block := linear(1<<logSize, 128)
	return Start(d, "open_deep", grid, block, 0, &struct {
		columns, coefficients, word Address
		tables                      tableParams
		count, logSize, accumulate  uint64
		z, claimed                  field.Ext
		failed                      Address
	}{columns.at, coefficients.at, word.at, tables, uint64(columns.n), uint64(logSize), add, z, claimed, d.flag().at})
}

// Weights writes to out the weights w with f(z) = Σ w_j f_j for polynomials of degree below 2^logSize, given by their values on the trace domain in row order, or, shifted,
// on g·H in bit-reversed order. Sums tells whether z was in the domain.
func (d *Device) Weights(out Array[field.Ext], logSize int, z field.Ext, shifted bool) error {
	const place = "barycentric weights"
	if logSize < 0 || logSize > maxLogHeight {
		return outOfRange(place, "log size %d", logSize)
	}
	if err := need(place, "the output", out, 1<<logSize); err != nil {
		return err
	}
	tables, err := d.powerTables()
	if err != nil {
		return err
	}
	onCoset, sn := uint64(0), field.Element(1)
	if shifted {
		onCoset, sn = 1, field.Pow(field.Shift, 1<<logSize)
	}
	inverse, _ := field.Inverse(sn)
	factor := field.ScaleExt(field.SubExt(field.SquareExtTimes(z, logSize), field.FromBase(sn)), field.Mul(inverse, field.InverseOfTwoPower(logSize)))
	grid, block := linear(1<<logSize, 128)
	return Start(d, "open_weights", grid, block, 0, &struct {
		out              Address
		tables           tableParams
		logSize, shifted uint64
		z, factor        field.Ext
		failed           Address
	}{out.at, tables, uint64(logSize), onCoset, z, factor, d.flag().at})
}

const (
	sumsColumns = 4
	sumsThreads = 256
	sumsRows    = 1 << 13 // rows that a block adds up at most, where the grid allows
	maxGridPart = 1 << 10
)

// sumsParts is the number of blocks that add up a column.
func sumsParts(rows int) int { return min((rows+sumsRows-1)/sumsRows, maxGridPart) }

// Sums returns Σ weight·value over the first rows of each column: the values at z, with Weights. It fails as Flagged does.
func (d *Device) Sums(columns Array[uint64], weights Array[field.Ext], rows int) ([]field.Ext, error) {
	const place = "sums"
	if columns.n < 1 || uint64(columns.n) > math.MaxInt32 || rows < 1 || rows > weights.n {
		return nil, outOfRange(place, "%d columns, %d rows, %d weights", columns.n, rows, weights.n)
	}
	parts := sumsParts(rows)
	partial, err := Alloc[field.Ext](d, parts*columns.n)
	if err != nil {
		return nil, err
	}
	defer partial.Free()
	if _, err := d.powerTables(); err != nil {
		return nil, err
	}
	total, err := Alloc[field.Ext](d, columns.n+1) // and the flag
	if err != nil {
		return nil, err
	}
	defer total.Free()
	grid := [3]uint32{uint32((columns.n + sumsColumns - 1) / sumsColumns), uint32(parts), 1}
	err = Start(d, "open_sums", grid, [3]uint32{sumsThreads, 1, 1}, 24*sumsColumns*sumsThreads/32, &struct {
		columns, weights, out Address
		count, rows           uint64
	}{columns.at, weights.at, partial.at, uint64(columns.n), uint64(rows)})
	if err != nil {
		return nil, err
	}
	grid, block := linear(uint64(columns.n)+1, 128)
	err = Start(d, "open_parts", grid, block, 0, &struct {
		parts, out, flag Address
		count, every     uint64
	}{partial.at, total.at, d.flag().at, uint64(columns.n), uint64(parts)})
	if err != nil {
		return nil, err
	}
	out := make([]field.Ext, columns.n+1)
	if err := total.Download(out); err != nil {
		return nil, err
	}
	return out[:columns.n], flagged(place, uint64(out[columns.n][0]))
}

// Gather returns the values of the columns at some rows, row by row; the values of row i are at i·rowStride of each column.
func (d *Device) Gather(columns Array[uint64], rows []uint64, rowStride int) ([]uint64, error) {
	const place = "gather"
	if len(rows) == 0 || columns.n == 0 {
		return nil, nil
	}
	if rowStride < 1 || columns.n > math.MaxInt32/len(rows) {
		return nil, outOfRange(place, "%d columns, %d rows, stride %d", columns.n, len(rows), rowStride)
	}
	at, err := From(d, rows)
	if err != nil {
		return nil, err
	}
	defer at.Free()
	out, err := Alloc[uint64](d, columns.n*len(rows))
	if err != nil {
		return nil, err
	}
	defer out.Free()
	grid, block := linear(uint64(out.n), 128)
	err = Start(d, "open_gather", grid, block, 0, &struct {
		columns, rows, out      Address
		count, width, rowStride uint64
	}{columns.at, at.at, out.at, uint64(len(rows)), uint64(columns.n), uint64(rowStride)})
	if err != nil {
		return nil, err
	}
	values := make([]uint64, out.n)
	return values, out.Download(values)
}

// GatherDigests returns the digests at some places of an array.
func (d *Device) GatherDigests(nodes Array[formats.Digest], places []uint64) ([]formats.Digest, error) {
	const place = "gather of digests"
	if len(places) == 0 {
		return nil, nil
	}
	for _, p := range places {
		if p >= uint64(nodes.n) {
			return nil, outOfRange(place, "place %d of %d", p, nodes.n)
		}
	}
	at, err := From(d, places)
	if err != nil {
		return nil, err
	}
	defer at.Free()
	out, err := Alloc[formats.Digest](d, len(places))
	if err != nil {
		return nil, err
	}
	defer out.Free()
	grid, block := linear(4*uint64(len(places)), 128)
	err = Start(d, "open_gather_digests", grid, block, 0, &struct {
		nodes, places, out Address
		count              uint64
	}{nodes.at, at.at, out.at, uint64(len(places))})
	if err != nil {
		return nil, err
	}
	digests := make([]formats.Digest, len(places))
	return digests, out.Download(digests)
}
