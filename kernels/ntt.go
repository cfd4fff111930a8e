package kernels

import (
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
)

// Limits of transforms.
const (
	maxLogHeight = formats.MaxLogHeight
	maxLogSize   = 30 // three passes of 2^10
	maxLogBlowup = 5
)

// passLog is the log2 of the most values that a pass transforms; only tests change it.
var passLog = 10

// passes splits a transform of 2^log values, log >= 1, into passes of at most 2^passLog, smaller ones first: a column pass needs a stride of at least its block's width.
func passes(log int) []int {
	n := (log + passLog - 1) / passLog
	var out []int
	for ; n > 0; n-- {
		k := log / n
		out = append(out, k)
		log -= k
	}
	return out
}

// passParams is the kernels' PassParams.
type passParams struct {
	in, out, weights          Address
	tables                    tableParams
	columns                   uint64
	inColumn, outColumn       uint64
	inCoset, outCoset         uint64
	inRow, rows               uint64
	logStride, logTotal       uint64
	firstCoset, logBlowup     uint64
	logLow, logMid, logParent uint64
	last                      uint64
	scale                     field.Element
}

// passShape is the registers and threads of a pass of 2^k: see the instances of cu/ntt.cuh.
type passShape struct{ k1, k2 int }

func shapeOf(k int) passShape {
	if k < 5 {
		return passShape{k, 0}
	}
	return passShape{(k + 1) / 2, k / 2}
}

const passThreads = 256

// width is the number of transforms that a block works on.
func (s passShape) width() int { return passThreads >> s.k2 }

func (s passShape) sharedBytes(transposed bool) int {
	if s.k2 == 0 {
		return 0
	}
	values := s.width() << s.k1 * (1<<s.k2 + 1)
	if transposed {
		values = max(values, 1<<(s.k1+s.k2)*(s.width()+1))
	}
	return 8 * values
}

// maxGridColumns is the number of columns that one launch of a column pass takes: the grid's third dimension ends at 65,535.
const maxGridColumns = 1 << 15

// columnPass launches a pass over 2^logValues values a column, and cosets of those.
func (d *Device) columnPass(form string, k int, p passParams, logValues int, cosets uint64) error {
	s := shapeOf(k)
	tiles := uint64(1) << (logValues - k) / uint64(s.width())
	in, out, columns := p.in, p.out, p.columns
	for first := uint64(0); first < columns; first += maxGridColumns {
		p.columns = min(columns-first, maxGridColumns)
		p.in, p.out = in+Address(8*first*p.inColumn), out+Address(8*first*p.outColumn)
		grid := [3]uint32{uint32(tiles), uint32(cosets), uint32(p.columns)}
		if err := Start(d, "ntt_column_"+form+"_"+strconv.Itoa(k), grid, [3]uint32{passThreads, 1, 1}, s.sharedBytes(false), &p); err != nil {
			return err
		}
	}
	return nil
}

// rowPass launches a pass over p.rows rows of 2^k values a column.
func (d *Device) rowPass(form string, k int, p passParams) error {
	s := shapeOf(k)
	grid := [3]uint32{uint32((p.columns*p.rows + uint64(s.width()) - 1) / uint64(s.width())), 1, 1}
	return Start(d, "ntt_row_"+form+"_"+strconv.Itoa(k), grid, [3]uint32{passThreads, 1, 1}, s.sharedBytes(form == "inverse"), &p)
}

// Extend writes to out the extension of columns of 2^logHeight values on the trace domain, in row order: columns of 2^(logHeight+logBlowup) values on the coset g·H in
// bit-reversed order. in is left as it is and must not overlap out. No other memory is used: the coefficients are kept in the last slab until it is their turn.
func (d *Device) Extend(out, in Array[field.Element], columns, logHeight, logBlowup int) error {
	return d.extend("extension of values", out, in, columns, logHeight, logBlowup, true)
}

// ExtendCoefficients is Extend for columns given as coefficients, constant first.
func (d *Device) ExtendCoefficients(out, in Array[field.Element], columns, logHeight, logBlowup int) error {
	return d.extend("extension of coefficients", out, in, columns, logHeight, logBlowup, false)
}

func (d *Device) extend(place string, out, in Array[field.Element], columns, logHeight, logBlowup int, values bool) error {
	if columns < 1 || columns > 1<<16 || logHeight < 0 || logHeight > maxLogHeight || logBlowup < 1 || logBlowup > maxLogBlowup {
		return outOfRange(place, "%d columns, log height %d, log blowup %d", columns, logHeight, logBlowup)
	}
	n, blowup := uint64(1)<<logHeight, uint64(1)<<logBlowup
	if err := need(place, "the input", in, uint64(columns)*n); err != nil {
		return err
	}
	if err := need(place, "the output", out, uint64(columns)*n*blowup); err != nil {
		return err
	}
	if logHeight == 0 {
		grid, block := linear(uint64(columns)*blowup, 256)
		return Start(d, "ntt_repeat", grid, block, 0, &struct {
			in, out            Address
			columns, logBlowup uint64
		}{in.at, out.at, uint64(columns), uint64(logBlowup)})
	}
	tables, err := d.powerTables()
	if err != nil {
		return err
	}
	ks := passes(logHeight)
	weights, err := d.passWeights(weightsKey{logHeight, logBlowup, values}, ks[0])
	if err != nil {
		return err
	}
	p := passParams{
		tables: tables, columns: uint64(columns), logTotal: uint64(logHeight), logBlowup: uint64(logBlowup),
		in: in.at, inColumn: n, out: out.at, outColumn: n * blowup,
	}
	if values {
		if p, err = d.interpolate(p, ks, logHeight, out.at+Address(8*n*(blowup-1))); err != nil {
			return err
		}
	}
	return d.evaluate(p, ks, logHeight, out.at, weights.at, values)
}

// interpolate turns values at p.in into coefficients times n at to, by way of the first slab of p.out, and returns p with the coefficients as input.
func (d *Device) interpolate(p passParams, ks []int, log int, to Address) (passParams, error) {
	rest := log
	for _, k := range ks[:len(ks)-1] {
		rest -= k
		p.logStride = uint64(rest)
		if err := d.columnPass("inverse", k, p, log, 1); err != nil {
			return p, err
		}
		p.in, p.inColumn = p.out, p.outColumn
	}
	k := ks[len(ks)-1]
	p.rows, p.inRow, p.out = 1<<(log-k), 1<<k, to
	if len(ks) > 1 {
		p.logLow = uint64(ks[0])
		p.logMid = uint64(log-k) - p.logLow
	}
	err := d.rowPass("inverse", k, p)
	p.in, p.inColumn, p.logStride, p.logLow, p.logMid = to, p.outColumn, 0, 0, 0
	return p, err
}

// evaluate turns the coefficients at p.in into slabs at out. When inPlace is set they are in the last slab.
func (d *Device) evaluate(p passParams, ks []int, log int, out, weights Address, inPlace bool) error {
	n, blowup := uint64(1)<<log, uint64(1)<<p.logBlowup
	// The last slab is written when the others no longer need the coefficients in it.
	ranges := [][2]uint64{{0, blowup}}
	if inPlace {
		ranges = [][2]uint64{{0, blowup - 1}, {blowup - 1, blowup}}
	}
	k := ks[0]
	for _, r := range ranges {
		p.weights, p.firstCoset, p.out = weights, r[0], out+Address(8*n*r[0])
		if len(ks) == 1 {
			p.inRow, p.rows = 0, r[1]-r[0]
			if err := d.rowPass("forward", k, p); err != nil {
				return err
			}
			continue
		}
		p.logStride, p.inCoset, p.outCoset = uint64(log-k), 0, n
		if err := d.columnPass("forward", k, p, log, r[1]-r[0]); err != nil {
			return err
		}
	}
	if len(ks) == 1 {
		return nil
	}
	p.weights, p.firstCoset = 0, 0
	p.in, p.out, p.inColumn = out, out, p.outColumn
	rest := log - k
	all := log + int(p.logBlowup)
	for _, k := range ks[1 : len(ks)-1] {
		rest -= k
		p.logStride = uint64(rest)
		if err := d.columnPass("forward", k, p, all, 1); err != nil {
			return err
		}
	}
	k = ks[len(ks)-1]
	p.rows, p.inRow = 1<<(all-k), 1<<k
	return d.rowPass("forward", k, p)
}

// Interpolate replaces columns of 2^logSize values on the coset g·H, in bit-reversed order, by the coefficients of their polynomials, constant first.
func (d *Device) Interpolate(values Array[field.Element], columns, logSize int) error {
	return d.interpolateOn(values, columns, logSize, true)
}

// interpolateOn is Interpolate on g·H, or on H itself.
func (d *Device) interpolateOn(values Array[field.Element], columns, logSize int, shifted bool) error {
	const place = "interpolation"
	if columns < 1 || columns > 1<<16 || logSize < 0 || logSize > maxLogSize {
		return outOfRange(place, "%d columns, log size %d", columns, logSize)
	}
	n := uint64(1) << logSize
	if err := need(place, "the array", values, uint64(columns)*n); err != nil {
		return err
	}
	if logSize == 0 {
		return nil
	}
	tables, err := d.powerTables()
	if err != nil {
		return err
	}
	if !shifted {
		d.mu.Lock()
		tables.inverseShifts = d.tables.ones.at
		d.mu.Unlock()
	}
	ks := passes(logSize)
	p := passParams{
		tables: tables, columns: uint64(columns), logTotal: uint64(logSize), scale: field.InverseOfTwoPower(logSize),
		in: values.at, inColumn: n, out: values.at, outColumn: n,
	}
	done := 0
	for i := len(ks) - 1; i >= 0; i-- {
		k := ks[i]
		p.logStride, p.logParent, p.last = uint64(done), 0, 0
		if i > 0 {
			p.logParent = uint64(ks[i-1])
		} else {
			p.last = 1
		}
		if i == len(ks)-1 {
			p.rows, p.inRow = n>>k, 1<<k
			err = d.rowPass("inverse_reversed", k, p)
		} else {
			err = d.columnPass("inverse_reversed", k, p, logSize, 1)
		}
		if err != nil {
			return err
		}
		done += k
	}
	return nil
}
