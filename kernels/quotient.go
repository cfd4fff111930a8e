package kernels

import (
	"math"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
)

// Extended is the extensions of a table's matrices, column-major in bit-reversed slabs; empty where the table has none.
type Extended struct{ Fixed, Main, Aux Array[field.Element] }

// LogParts is the log2 of the number of slabs that determine a table's quotient: the least power of two of at least as many as slices.
func LogParts(t *verifier.Table) int {
	log := 0
	for 1<<log < t.Slices() {
		log++
	}
	return log
}

// Quotient writes to out the quotient of a table, Σ delta^(m-1-k) C_k over Z, on the first 2^LogParts slabs of the extensions: three columns, of the coefficients of its
// values. sum is the table's sum of lookups.
func (d *Device) Quotient(out Array[field.Element], t *verifier.Table, logBlowup int, in Extended, ch *logup.Challenges, sum, delta field.Ext) error {
	const place = "quotient"
	if err := checkTable(place, t, ch); err != nil {
		return err
	}
	logParts := LogParts(t)
	if logBlowup < logParts || logBlowup < 1 || logBlowup > maxLogBlowup {
		return outOfRange(place, "log blowup %d, for 2^%d slabs", logBlowup, logParts)
	}
	logSize := t.LogHeight + logBlowup
	count := uint64(1) << (t.LogHeight + logParts)
	for _, a := range []struct {
		name   string
		array  Array[field.Element]
		values uint64
	}{
		{"the output", out, 3 * count},
		{"the fixed matrix", in.Fixed, uint64(t.FixedColumns()) << logSize},
		{"the main matrix", in.Main, uint64(t.Circuit.Columns) << logSize},
		{"the auxiliary matrix", in.Aux, uint64(t.AuxColumns()) << logSize},
	} {
		if err := need(place, a.name, a.array, a.values); err != nil {
			return err
		}
	}

	// On a slab Z is constant.
	root, _ := field.RootOfUnity(logSize)
	shifts, factors, inverses := make([]field.Element, 1<<logParts), make([]field.Element, 1<<logParts), make([]field.Element, 1<<logParts)
	for s := range shifts {
		shifts[s] = field.Mul(field.Shift, field.Pow(root, field.ReverseBits(uint64(s), logBlowup)))
		z := field.Sub(field.Pow(shifts[s], 1<<t.LogHeight), 1)
		factors[s] = field.Mul(z, field.InverseOfTwoPower(t.LogHeight))
		inverses[s], _ = field.Inverse(z) // the coset avoids the trace domain
	}
	slabs, err := From(d, append(factors, inverses...))
	if err != nil {
		return err
	}
	defer slabs.Free()
	first := Array[field.Element]{}
	if selects(t) {
		if first, err = d.firstSelector(slabs, t.LogHeight, logSize, count); err != nil {
			return err
		}
		defer first.Free()
	}
	program, err := d.load(encode(t, domain{
		main: in.Main.at, fixed: in.Fixed.at, logColumn: logSize, first: first.at,
		periodic: func(i int) periodicTable { return periodicOnSlabs(t.Periodic[i], t.LogHeight, shifts) },
	}, ch, &delta), t.LogHeight, count)
	if err != nil {
		return err
	}
	defer program.free()
	return Start(d, "quotient_"+program.kind, program.grid, [3]uint32{airThreads, 1, 1}, program.sharedBytes, &struct {
		program                programParams
		aux, out, inverses     Address
		count, logSize, groups uint64
		perRow                 field.Ext
	}{
		program.programParams, in.Aux.at, out.at, slabs.at + Address(8<<logParts),
		count, uint64(logSize), uint64(len(t.Groups)), field.ScaleExt(sum, field.InverseOfTwoPower(t.LogHeight)),
	})
}

// selects reports whether a circuit reads the first or the last row's selector.
func selects(t *verifier.Table) bool {
	for _, n := range t.Nodes {
		if n.Op == formats.OpFirst || n.Op == formats.OpLast {
			return true
		}
	}
	return false
}

// firstSelector returns the selector of the first row on the quotient domain.
func (d *Device) firstSelector(factors Array[field.Element], logHeight, logSize int, count uint64) (Array[field.Element], error) {
	tables, err := d.powerTables()
	if err != nil {
		return Array[field.Element]{}, err
	}
	out, err := Alloc[field.Element](d, int(count))
	if err != nil {
		return out, err
	}
	const each = 8 // points of a thread
	grid, _ := linear(count, each*airThreads)
	err = Start(d, "quotient_first", grid, [3]uint32{airThreads, 1, 1}, 0, &struct {
		out, factors              Address
		tables                    tableParams
		count, logHeight, logSize uint64
	}{out.at, factors.at, tables, count, uint64(logHeight), uint64(logSize)})
	if err != nil {
		out.Free()
	}
	return out, err
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
	coefficients := evaluate(values(column), back)
	out := periodicTable{shift: logHeight - log, mask: math.MaxUint64 >> 8}
	for _, shift := range shifts {
		s, p := field.Pow(shift, 1<<(logHeight-log)), field.InverseOfTwoPower(log)
		scaled := make([]field.Element, len(coefficients))
		for i, v := range coefficients {
			scaled[i] = field.Mul(v, p)
			p = field.Mul(p, s)
		}
		natural := evaluate(scaled, w)
		for i := range natural {
			out.values = append(out.values, natural[field.ReverseBits(uint64(i), log)])
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

// Slices cuts what Quotient wrote into the coefficients of a table's slices, 3(D - 1) columns of 2^LogHeight values: the three of q_0, those of q_1, …. It leaves the
// coefficients of the whole quotient in quotient, three columns.
func (d *Device) Slices(out Array[field.Element], t *verifier.Table, quotient Array[field.Element]) error {
	const place = "quotient slices"
	if t == nil || t.Circuit == nil {
		return outOfRange(place, "there is no circuit")
	}
	logSize := t.LogHeight + LogParts(t)
	n, size := 1<<t.LogHeight, 1<<logSize
	if err := need(place, "the output", out, uint64(t.QuotientColumns())<<t.LogHeight); err != nil {
		return err
	}
	if err := d.Interpolate(quotient, 3, logSize); err != nil {
		return err
	}
	for s := range t.Slices() {
		for c := range 3 {
			from, err := quotient.Slice(c*size+s*n, c*size+(s+1)*n)
			if err != nil {
				return err
			}
			to, err := out.Slice((3*s+c)*n, (3*s+c+1)*n)
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
