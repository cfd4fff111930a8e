package kernels

import (
	"math/bits"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels/program"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
)

// programParams is the kernels' ProgramParams.
type programParams struct {
	code                    Address
	instructions            uint64
	constants               Address
	scratch                 Address
	deltas, bases, powers   Address
	main, fixed             Address
	mainColumn, fixedColumn uint64
	periodic, periodicPlace Address
	periodicSlab            uint64
}

// maxSharedRegisters is the size in bytes up to which a block's registers are kept in shared memory: a multiprocessor of compute capability 8.0 then holds two blocks. Only
// tests change it.
var maxSharedRegisters = 72 << 10

const (
	programThreads = 128
	// Others are kept in device memory, by as many threads as that allows and the device can run.
	maxScratchBytes  = 256 << 20
	blocksAProcessor = 4
)

// run is a program ready to start: its parameters, grid and shared memory. Free gives back what they refer to.
type run struct {
	params      programParams
	grid, block [3]uint32
	sharedBytes int
	free        []func() error
}

// Free gives the run's buffers back.
func (r *run) Free() error {
	var first error
	for _, f := range r.free {
		if err := f(); first == nil {
			first = err
		}
	}
	r.free = nil
	return first
}

// hold uploads values for as long as the run lives.
func hold[T Value](d *Device, r *run, values []T) (Address, error) {
	a, err := From(d, values)
	if err == nil {
		r.free = append(r.free, a.Free)
	}
	return a.at, err
}

// prepare uploads a program with its challenges and periodic columns, which periodic gives slab by slab, and shapes its launch over points.
func (d *Device) prepare(place string, p *program.Program, c *air.Circuit, ch *logup.Challenges, deltas []field.Ext, periodic [][]field.Element, slabs int, points uint64) (*run, error) {
	if p.Registers > program.MaxRegisters {
		return nil, outOfRange(place, "a program of %d registers", p.Registers)
	}
	r := &run{params: programParams{instructions: uint64(p.Len())}}
	var channels uint32
	for i := range c.Lookups {
		channels = max(channels, c.Lookups[i].Channel+1)
	}
	var bases, powers []field.Ext
	if ch != nil {
		for i := range channels {
			bases = append(bases, ch.Base(i))
		}
		powers = ch.Powers
	}
	for i := range c.Lookups {
		if len(c.Lookups[i].Args) > len(powers) {
			return nil, outOfRange(place, "a lookup of %d arguments, %d powers", len(c.Lookups[i].Args), len(powers))
		}
	}
	var places []uint64
	var values []field.Element
	for i, column := range periodic {
		if i < len(periodic)/slabs {
			places = append(places, r.params.periodicSlab, uint64(len(column)))
			r.params.periodicSlab += uint64(len(column))
		}
		values = append(values, column...)
	}
	blocks := (points + programThreads - 1) / programThreads
	blocks = min(blocks, uint64(blocksAProcessor*max(1, d.Info().Processors)))
	r.sharedBytes = 8 * programThreads * p.Registers
	if r.sharedBytes > maxSharedRegisters {
		blocks = max(1, min(blocks, maxScratchBytes/uint64(r.sharedBytes)))
		scratch, err := Alloc[uint64](d, p.Registers*programThreads*int(blocks))
		if err != nil {
			return nil, err
		}
		r.free = append(r.free, scratch.Free)
		r.params.scratch, r.sharedBytes = scratch.at, 0
	}
	r.grid, r.block = [3]uint32{uint32(blocks), 1, 1}, [3]uint32{programThreads, 1, 1}
	for _, upload := range []func() error{
		func() (err error) { r.params.code, err = hold(d, r, p.Code); return },
		func() (err error) { r.params.constants, err = hold(d, r, p.Constants); return },
		func() (err error) { r.params.deltas, err = hold(d, r, deltas); return },
		func() (err error) { r.params.bases, err = hold(d, r, bases); return },
		func() (err error) { r.params.powers, err = hold(d, r, powers); return },
		func() (err error) { r.params.periodic, err = hold(d, r, values); return },
		func() (err error) { r.params.periodicPlace, err = hold(d, r, places); return },
	} {
		if err := upload(); err != nil {
			r.Free()
			return nil, err
		}
	}
	return r, nil
}

// checkTable checks a table's columns, of n values each.
func checkTable(place string, c *air.Circuit, logHeight int, main, fixed Array[field.Element], n uint64) error {
	if logHeight < 0 || logHeight > maxLogHeight || logHeight < c.LogPeriod {
		return outOfRange(place, "log height %d, log period %d", logHeight, c.LogPeriod)
	}
	if err := need(place, "the main trace", main, uint64(c.Circuit.Columns)*n); err != nil {
		return err
	}
	return need(place, "the fixed columns", fixed, uint64(c.FixedColumns())*n)
}

const accumulateThreads = 256

// Lookups writes to out a table's auxiliary trace, three columns for each group of lookups, and returns the sum of its lookups. main and fixed are columns in row order;
// fixed may be empty without fixed columns. A zero denominator is an error of kind Failed.
func (d *Device) Lookups(out Array[field.Element], c *air.Circuit, logHeight int, main, fixed Array[field.Element], ch *logup.Challenges) (sum field.Ext, err error) {
	const place = "lookups"
	n := uint64(1) << logHeight
	if err := checkTable(place, c, logHeight, main, fixed, n); err != nil {
		return sum, err
	}
	if !c.HasLookups() || ch == nil {
		return sum, outOfRange(place, "%d groups of lookups", len(c.Groups))
	}
	if err := need(place, "the auxiliary trace", out, uint64(c.AuxColumns())*n); err != nil {
		return sum, err
	}
	tables, err := d.powerTables()
	if err != nil {
		return sum, err
	}
	var periodic [][]field.Element
	for _, v := range c.Periodic {
		periodic = append(periodic, naturalValues(v))
	}
	r, err := d.prepare(place, program.Lookups(c), c, ch, nil, periodic, 1, n)
	if err != nil {
		return sum, err
	}
	defer func() {
		if freed := r.Free(); err == nil {
			err = freed
		}
	}()
	r.params.main, r.params.mainColumn, r.params.fixed, r.params.fixedColumn = main.at, n, fixed.at, n
	err = d.flagged("a lookup's denominator", func(failed Address) error {
		return Start(d, "lookup_fractions", r.grid, r.block, r.sharedBytes, &struct {
			program   programParams
			tables    tableParams
			out       Address
			logHeight uint64
			failed    Address
		}{r.params, tables, out.at, uint64(logHeight), failed})
	})
	if err != nil {
		return sum, err
	}

	blocks := (n + accumulateThreads - 1) / accumulateThreads
	totals, err := Alloc[field.Ext](d, int(blocks)+1)
	if err != nil {
		return sum, err
	}
	r.free = append(r.free, totals.Free)
	total, err := totals.Slice(int(blocks), int(blocks)+1)
	if err != nil {
		return sum, err
	}
	params := struct {
		columns, totals, sum Address
		groups, rows, blocks uint64
		perRow               field.Ext
	}{out.at, totals.at, total.at, uint64(len(c.Groups)), n, blocks, field.Ext{}}
	grid, block := linear(n, accumulateThreads)
	const shared = 24 * accumulateThreads
	if err := Start(d, "lookup_totals", grid, block, shared, &params); err != nil {
		return sum, err
	}
	if err := Start(d, "lookup_scan", [3]uint32{1, 1, 1}, block, shared, &params); err != nil {
		return sum, err
	}
	down := make([]field.Ext, 1)
	if err := total.Download(down); err != nil {
		return sum, err
	}
	params.perRow = field.ScaleExt(down[0], field.InverseOfTwoPower(logHeight))
	return down[0], Start(d, "lookup_accumulate", grid, block, shared, &params)
}

// slab is the kernels' Slab.
type slab struct{ shift, inverseZ, zOverN field.Element }

// Quotient writes to out the coefficients of a table's quotient slices, 3(D-1) columns of 2^logHeight. main, fixed and aux are the table's extended columns, the last two
// empty where the table has none; sum is that of its lookups. Working memory is three columns of the quotient domain, 3·2^logHeight times D-1 rounded up to a power of two.
func (d *Device) Quotient(out Array[field.Element], c *air.Circuit, logHeight, logBlowup int, main, fixed, aux Array[field.Element], ch *logup.Challenges, sum, delta field.Ext) (err error) {
	const place = "quotient"
	logSlabs := bits.Len(uint(c.Slices() - 1))
	if c.Slices() < 1 || logBlowup < logSlabs || logBlowup > maxLogBlowup {
		return outOfRange(place, "%d slices, log blowup %d", c.Slices(), logBlowup)
	}
	n := uint64(1) << logHeight
	if err := checkTable(place, c, logHeight, main, fixed, n<<logBlowup); err != nil {
		return err
	}
	if err := need(place, "the auxiliary trace", aux, uint64(c.AuxColumns())*n<<logBlowup); err != nil {
		return err
	}
	if err := need(place, "the output", out, uint64(c.QuotientColumns())*n); err != nil {
		return err
	}
	tables, err := d.powerTables()
	if err != nil {
		return err
	}
	deltas := make([]field.Ext, c.FoldedConstraints())
	for k, p := len(deltas)-1, (field.Ext{1}); k >= 0; k, p = k-1, field.MulExt(p, delta) {
		deltas[k] = p
	}
	w, _ := field.RootOfUnity(logHeight + logBlowup)
	var words []field.Element
	var periodic [][]field.Element
	for s := range 1 << logSlabs {
		shift := field.Mul(field.Shift, field.Pow(w, field.ReverseBits(uint64(s), logBlowup)))
		z := field.Sub(field.Pow(shift, n), 1)
		inverse, _ := field.Inverse(z) // the coset avoids the trace domain
		words = append(words, shift, inverse, field.Mul(z, field.InverseOfTwoPower(logHeight)))
		for _, v := range c.Periodic {
			periodic = append(periodic, periodicOnSlab(naturalValues(v), logHeight, shift))
		}
	}
	r, err := d.prepare(place, program.Constraints(c), c, ch, deltas, periodic, 1<<logSlabs, n<<logSlabs)
	if err != nil {
		return err
	}
	defer func() {
		if freed := r.Free(); err == nil {
			err = freed
		}
	}()
	slabs, err := hold(d, r, words)
	if err != nil {
		return err
	}
	values, err := Alloc[field.Element](d, 3<<(logHeight+logSlabs))
	if err != nil {
		return err
	}
	r.free = append(r.free, values.Free)
	column := n << logBlowup
	r.params.main, r.params.mainColumn, r.params.fixed, r.params.fixedColumn = main.at, column, fixed.at, column
	err = Start(d, "quotient_evaluate", r.grid, r.block, r.sharedBytes, &struct {
		program                                  programParams
		tables                                   tableParams
		aux                                      Address
		auxColumn                                uint64
		slabs, out                               Address
		logHeight, logSlabs, constraints, groups uint64
		perRow                                   field.Ext
	}{
		r.params, tables, aux.at, column, slabs, values.at,
		uint64(logHeight), uint64(logSlabs), uint64(len(c.Constraints)), uint64(len(c.Groups)),
		field.ScaleExt(sum, field.InverseOfTwoPower(logHeight)),
	})
	if err != nil {
		return err
	}
	if err := d.Interpolate(values, 3, logHeight+logSlabs); err != nil {
		return err
	}
	for s := range c.Slices() {
		for k := range 3 {
			from, err := values.Slice((k<<logSlabs+s)<<logHeight, (k<<logSlabs+s+1)<<logHeight)
			if err != nil {
				return err
			}
			to, err := out.Slice((3*s+k)<<logHeight, (3*s+k+1)<<logHeight)
			if err != nil {
				return err
			}
			if err := to.Copy(from); err != nil {
				return err
			}
		}
	}
	return nil
}

func naturalValues(v formats.Elements) []field.Element {
	out := make([]field.Element, v.Len())
	for i := range out {
		out[i] = field.Element(v.At(i))
	}
	return out
}

// periodicOnSlab evaluates a periodic column, of period 2^k, on the slab with a given first point: value e is that at the points whose exponent is e modulo the period.
func periodicOnSlab(values []field.Element, logHeight int, shift field.Element) []field.Element {
	log := bits.Len(uint(len(values) - 1))
	w, _ := field.RootOfUnity(log)
	back, _ := field.Inverse(w)
	c := hostTransform(values, back)
	step, p := field.Pow(shift, 1<<(logHeight-log)), field.InverseOfTwoPower(log)
	for i := range c {
		c[i] = field.Mul(c[i], p)
		p = field.Mul(p, step)
	}
	return hostTransform(c, w)
}

// hostTransform evaluates a polynomial at the powers of w, of order len(c), on the host: periods are short.
func hostTransform(c []field.Element, w field.Element) []field.Element {
	n := len(c)
	out := make([]field.Element, n)
	if n == 1 {
		out[0] = c[0]
		return out
	}
	half := [2][]field.Element{make([]field.Element, n/2), make([]field.Element, n/2)}
	for i, v := range c {
		half[i&1][i/2] = v
	}
	even, odd := hostTransform(half[0], field.Mul(w, w)), hostTransform(half[1], field.Mul(w, w))
	p := field.Element(1)
	for i := range even {
		v := field.Mul(p, odd[i])
		out[i], out[i+n/2] = field.Add(even[i], v), field.Sub(even[i], v)
		p = field.Mul(p, w)
	}
	return out
}
