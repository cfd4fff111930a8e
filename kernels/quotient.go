package kernels

import (
	"math"
	"math/bits"
	"slices"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels/ptx"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
)

// Quotient writes to out the coefficients of a table's quotient slices, 3(D-1) columns of 2^logHeight values: the three of q_0, those of q_1, …. main, fixed and aux are the
// table's extended columns, the last two empty where the table has none; sum is that of its lookups. Working memory is three columns of the quotient domain,
// 3·2^logHeight times D-1 rounded up to a power of two, and the program.
func (d *Device) Quotient(out Array[field.Element], c *air.Circuit, logHeight, logBlowup int, main, fixed, aux Array[field.Element], ch *logup.Challenges, sum, delta field.Ext) error {
	const place = "quotient"
	if c == nil || c.Slices() < 1 {
		return outOfRange(place, "there is no circuit")
	}
	logSlabs := bits.Len(uint(c.Slices() - 1))
	if logBlowup < logSlabs || logBlowup < 1 || logBlowup > maxLogBlowup {
		return outOfRange(place, "%d slices, log blowup %d", c.Slices(), logBlowup)
	}
	if err := checkTable(place, c, logHeight, logBlowup, main, fixed, ch); err != nil {
		return err
	}
	if logHeight+logSlabs > maxLogSize {
		return outOfRange(place, "log height %d, %d slices", logHeight, c.Slices())
	}
	n, logSize := uint64(1)<<logHeight, logHeight+logBlowup
	if err := need(place, "the auxiliary matrix", aux, uint64(c.AuxColumns())*n<<logBlowup); err != nil {
		return err
	}
	if err := need(place, "the output", out, uint64(c.QuotientColumns())*n); err != nil {
		return err
	}
	count := n << logSlabs
	values, err := Alloc[field.Element](d, 3*int(count))
	if err != nil {
		return err
	}
	defer values.Free()
	if err := d.evaluateQuotient(values, out, c, logHeight, logSlabs, logSize, main, fixed, aux, ch, sum, delta); err != nil {
		return err
	}
	if err := d.Interpolate(values, 3, logHeight+logSlabs); err != nil {
		return err
	}
	for s := range uint64(c.Slices()) {
		for k := range uint64(3) {
			from, err := values.Slice(int(k*count+s*n), int(k*count+(s+1)*n))
			if err != nil {
				return err
			}
			to, err := out.Slice(int((3*s+k)*n), int((3*s+k+1)*n))
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

// evaluateQuotient writes to values the quotient Σ delta^(m-1-k) C_k over Z on the first slabs: three columns, of the coefficients of its values. The first row's selector
// takes part of the room for the slices, which is enough: they are more than half as many as slabs, of three columns each.
func (d *Device) evaluateQuotient(values, room Array[field.Element], c *air.Circuit, logHeight, logSlabs, logSize int, main, fixed, aux Array[field.Element], ch *logup.Challenges, sum, delta field.Ext) error {
	count := uint64(1) << (logHeight + logSlabs)
	// On a slab Z is constant.
	root, _ := field.RootOfUnity(logSize)
	shifts, factors, inverses := make([]field.Element, 1<<logSlabs), make([]field.Element, 1<<logSlabs), make([]field.Element, 1<<logSlabs)
	for s := range shifts {
		shifts[s] = field.Mul(field.Shift, field.Pow(root, field.ReverseBits(uint64(s), logSize-logHeight)))
		z := field.Sub(field.Pow(shifts[s], 1<<logHeight), 1)
		factors[s] = field.Mul(z, field.InverseOfTwoPower(logHeight))
		inverses[s], _ = field.Inverse(z) // the coset avoids the trace domain
	}
	slabs, err := From(d, append(factors, inverses...))
	if err != nil {
		return err
	}
	defer slabs.Free()
	first := Address(0)
	if selects(c) {
		first = room.at
		if err := d.firstSelector(room, slabs, logHeight, logSize, count); err != nil {
			return err
		}
	}
	perRow := field.ScaleExt(sum, field.InverseOfTwoPower(logHeight))
	inverse := slabs.at + Address(8<<logSlabs)
	code, err := d.compile(c, true, logSize, count)
	if err != nil {
		return err
	}
	e := encode(c, domain{
		main: main.at, fixed: fixed.at, logColumn: logSize, first: first,
		periodic: func(i int) periodicTable { return periodicOnSlabs(c.Periodic[i], logHeight, shifts) },
	}, ch, &delta)
	program, err := d.load(e, logHeight, count, code != nil)
	if err != nil {
		return err
	}
	defer program.free()
	if code != nil {
		return d.run(code, e, program, &ptx.Parameters{
			Main: uint64(main.at), Fixed: uint64(fixed.at), Aux: uint64(aux.at), Out: uint64(values.at), First: uint64(first), Inverses: uint64(inverse),
			PerRow: perRow, Count: uint32(count), LogHeight: uint32(logHeight), Pitch: 8 << logSize, OutPitch: uint32(8 * count),
		}, delta, ch)
	}
	return Start(d, "quotient_"+program.kind, program.grid, [3]uint32{airThreads, 1, 1}, program.sharedBytes, &struct {
		program                programParams
		aux, out, inverses     Address
		count, logSize, groups uint64
		perRow                 field.Ext
	}{program.programParams, aux.at, values.at, inverse, count, uint64(logSize), uint64(len(c.Groups)), perRow})
}

// selects reports whether a circuit reads the first or the last row's selector.
func selects(c *air.Circuit) bool {
	return slices.ContainsFunc(c.Nodes, func(n formats.Node) bool { return n.Op == formats.OpFirst || n.Op == formats.OpLast })
}

// firstSelector writes to out the selector of the first row on the quotient domain. factors is Z/n on each slab.
func (d *Device) firstSelector(out, factors Array[field.Element], logHeight, logSize int, count uint64) error {
	tables, err := d.powerTables()
	if err != nil {
		return err
	}
	const each = 8 // points of a thread
	grid, block := linear((count+each-1)/each, airThreads)
	return Start(d, "quotient_first", grid, block, 0, &struct {
		out, factors              Address
		tables                    tableParams
		count, logHeight, logSize uint64
	}{out.at, factors.at, tables, count, uint64(logHeight), uint64(logSize)})
}

// periodicOnSlabs evaluates a periodic column on slabs with the given first points. A slab's values are in bit-reversed order, so that those of the column's period are
// found by the highest bits of a position.
func periodicOnSlabs(column formats.Elements, logHeight int, shifts []field.Element) periodicTable {
	log := 0
	for 1<<log < column.Len() {
		log++
	}
	w, _ := field.RootOfUnity(log)
	back, _ := field.Inverse(w)
	coefficients := evaluate(natural(column), back)
	out := periodicTable{shift: logHeight - log, mask: math.MaxUint64 >> 8}
	for _, shift := range shifts {
		s, p := field.Pow(shift, 1<<(logHeight-log)), field.InverseOfTwoPower(log)
		scaled := make([]field.Element, len(coefficients))
		for i, v := range coefficients {
			scaled[i] = field.Mul(v, p)
			p = field.Mul(p, s)
		}
		evaluated := evaluate(scaled, w)
		for i := range evaluated {
			out.values = append(out.values, evaluated[field.ReverseBits(uint64(i), log)])
		}
	}
	return out
}

// evaluate returns the values of a polynomial at the powers of w, whose order is its number of coefficients.
func evaluate(c []field.Element, w field.Element) []field.Element {
	half := len(c) / 2
	if half == 0 {
		return c
	}
	var halves [2][]field.Element
	for i, v := range c {
		halves[i&1] = append(halves[i&1], v)
	}
	square := field.Mul(w, w)
	even, odd := evaluate(halves[0], square), evaluate(halves[1], square)
	out, p := make([]field.Element, len(c)), field.Element(1)
	for i := range half {
		v := field.Mul(p, odd[i])
		out[i], out[i+half] = field.Add(even[i], v), field.Sub(even[i], v)
		p = field.Mul(p, w)
	}
	return out
}
