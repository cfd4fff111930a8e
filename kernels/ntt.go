package kernels

import (
	"strconv"
	"strings"

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

// passes splits a transform of 2^log values, log >= 1, into passes of at most 2^passLog, evenly but for passes of 2^(passLog-1), whose rounds are short.
func passes(log int) (out []int) {
	n := (log + passLog - 1) / passLog
	for less := n*passLog - log; n > 0; n-- {
		part := (less + n - 1) / n
		if part == 1 && less > 1 || less-part == 1 {
			part++
		}
		out = append(out, passLog-part)
		less -= part
	}
	return out
}

// passParams is the kernels' PassParams.
type passParams struct {
	in, out             Address
	first, second       Address
	tables              tableParams
	columns, each       uint64
	inColumn, outColumn uint64
	cosets              uint64
	outCoset            uint64
	logRows, logStride  uint64
	logMid, logLow      uint64
	logParent           uint64
	shifted             uint64
	firstCoset          uint64
	logBlowup           uint64
	scale               field.Element
}

// passShape says how a block works on passes of 2^(r1+r2+r3) values: see the instances of cu/ntt.cuh.
type passShape struct{ r1, r2, r3, logThreads int }

var passShapes = [...]passShape{
	1: {1, 0, 0, 8}, 2: {2, 0, 0, 8}, 3: {3, 0, 0, 8}, 4: {4, 0, 0, 8},
	5: {3, 2, 0, 7}, 6: {3, 3, 0, 7}, 7: {4, 3, 0, 7}, 8: {4, 4, 0, 7}, 9: {3, 3, 3, 8}, 10: {5, 5, 0, 7},
}

// wideShape is that of column passes of 2^10 where a block may have so much shared memory: segments of 64 bytes instead of 32.
var wideShape = passShape{5, 5, 0, 8}

// logTeam is the log2 of the threads of a transform.
func (s passShape) logTeam() int { return s.r2 + s.r3 }

// logWidth is the log2 of the transforms that a block works on at a time.
func (s passShape) logWidth() int { return s.logThreads - s.logTeam() }

// sharedBytes is the shared memory of a block: for the exchange between the rounds, and in the end where rows are stored transposed, and for factors.
func (s passShape) sharedBytes(transposed bool) int {
	n, width := 1<<(s.r1+s.logTeam()), 1<<s.logWidth()
	exchanged := 0
	if s.r2 > 0 {
		apart := 1<<s.r2 + 1
		if s.r3 > 0 {
			apart = 1 << s.r2 * (1<<s.r3 + 1)
		}
		exchanged = width << s.r1 * apart
		if transposed {
			exchanged = max(exchanged, (n+n>>s.r1)*(width+1))
		}
	}
	return 8 * (exchanged + width*(n+max(1, 16/width)))
}

// Blocks do several columns one after the other, to make their factors less often, as long as there are blocksAProcessor for each of the device's multiprocessors.
const (
	maxEach          = 16
	blocksAProcessor = 16
	maxGridColumns   = 1<<16 - 1
)

// pass launches a pass whose blocks are `tiles` a column and coset and take `sides` columns side by side.
func (d *Device) pass(kernel string, s passShape, p passParams, tiles, sides uint64) error {
	p.cosets = max(1, p.cosets)
	enough := uint64(d.Info().Processors) * blocksAProcessor
	p.each = min(p.columns*tiles*p.cosets/enough, maxEach*sides)
	p.each = max(p.each, (p.columns+maxGridColumns-1)/maxGridColumns, 1)
	p.each = (p.each + sides - 1) / sides * sides
	p.first, p.second = d.between(s.r1+s.logTeam(), strings.Contains(kernel, "inverse"))
	grid := [3]uint32{uint32(tiles * p.cosets), uint32((p.columns + p.each - 1) / p.each), 1}
	return Start(d, kernel, grid, [3]uint32{1 << s.logThreads, 1, 1}, s.sharedBytes(strings.HasPrefix(kernel, "ntt_row_inverse")), &p)
}

// columnPass launches a pass of 2^k over 2^logValues values a column and coset.
func (d *Device) columnPass(form string, k int, p passParams, logValues int) error {
	s, kernel := passShapes[k], "ntt_column_"+form+"_"+strconv.Itoa(k)
	if k == 10 && d.Info().SharedBytes >= wideShape.sharedBytes(false) {
		s, kernel = wideShape, kernel+"_wide"
	}
	return d.pass(kernel, s, p, 1<<(logValues-k-s.logWidth()), 1)
}

// rowPass launches a pass over 2^p.logRows rows of 2^k values a column and coset.
func (d *Device) rowPass(form string, k int, p passParams) error {
	s := passShapes[k]
	tiles, sides := uint64(1), uint64(1)
	if rows, width := int(p.logRows), s.logWidth(); rows < width {
		sides <<= width - rows
	} else {
		tiles <<= rows - width
	}
	return d.pass("ntt_row_"+form+"_"+strconv.Itoa(k), s, p, tiles, sides)
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
	p := passParams{
		tables: tables, columns: uint64(columns), logBlowup: uint64(logBlowup), scale: 1,
		in: in.at, inColumn: n, out: out.at, outColumn: n * blowup,
	}
	if values {
		p.scale = field.InverseOfTwoPower(logHeight)
		if p, err = d.interpolate(p, ks, logHeight, out.at+Address(8*n*(blowup-1))); err != nil {
			return err
		}
	}
	return d.evaluate(p, ks, logHeight, out.at, values)
}

// interpolate turns values at p.in into coefficients times n at to, by way of the first slab of p.out, and returns p with the coefficients as input.
func (d *Device) interpolate(p passParams, ks []int, log int, to Address) (passParams, error) {
	q, rest := p, log
	for _, k := range ks[:len(ks)-1] {
		rest -= k
		q.logStride = uint64(rest)
		if err := d.columnPass("inverse", k, q, log); err != nil {
			return p, err
		}
		q.in, q.inColumn, q.logParent = q.out, q.outColumn, uint64(k)
	}
	k := ks[len(ks)-1]
	q.logRows, q.out = uint64(log-k), to
	if len(ks) > 1 {
		q.logLow = uint64(ks[0])
		q.logMid = q.logRows - q.logLow
	}
	p.in, p.inColumn = to, p.outColumn
	return p, d.rowPass("inverse", k, q)
}

// evaluate turns the coefficients at p.in into slabs at out. When inPlace is set they are in the last slab.
func (d *Device) evaluate(p passParams, ks []int, log int, out Address, inPlace bool) error {
	n, blowup := uint64(1)<<log, uint64(1)<<p.logBlowup
	// The last slab is written when the others no longer need the coefficients in it.
	ranges := [][2]uint64{{0, blowup}}
	if inPlace {
		ranges = [][2]uint64{{0, blowup - 1}, {blowup - 1, blowup}}
	}
	q, k := p, ks[0]
	for _, r := range ranges {
		q.shifted, q.firstCoset, q.cosets, q.outCoset, q.out = 1, r[0], r[1]-r[0], n, out+Address(8*n*r[0])
		q.logStride = uint64(log - k)
		launch := func() error { return d.columnPass("forward", k, q, log) }
		if len(ks) == 1 {
			launch = func() error { return d.rowPass("forward", k, q) }
		}
		if err := launch(); err != nil {
			return err
		}
	}
	if len(ks) == 1 {
		return nil
	}
	// What follows does not depend on the coset: each slab is a column.
	q = p
	q.in, q.out, q.columns, q.inColumn, q.outColumn = out, out, p.columns*blowup, n, n
	rest := log - k
	for _, k := range ks[1 : len(ks)-1] {
		q.logParent = uint64(log - rest)
		rest -= k
		q.logStride = uint64(rest)
		if err := d.columnPass("forward", k, q, log); err != nil {
			return err
		}
	}
	q.logStride, q.logParent, q.logRows = 0, uint64(ks[len(ks)-2]), uint64(log-rest)
	return d.rowPass("forward", rest, q)
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
		tables: tables, columns: uint64(columns), scale: field.InverseOfTwoPower(logSize),
		in: values.at, inColumn: n, out: values.at, outColumn: n,
	}
	done := 0
	for i := len(ks) - 1; i >= 0; i-- {
		k := ks[i]
		p.logStride, p.logParent, p.shifted = uint64(done), 0, 0
		if i > 0 {
			p.logParent = uint64(ks[i-1])
		} else {
			p.shifted = 1
		}
		if i == len(ks)-1 {
			p.logRows = uint64(logSize - k)
			err = d.rowPass("inverse_reversed", k, p)
		} else {
			err = d.columnPass("inverse_reversed", k, p, logSize)
		}
		if err != nil {
			return err
		}
		done += k
	}
	return nil
}
