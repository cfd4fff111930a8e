package verifier

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
)

// constraintsHold checks C(zeta) = Z(zeta) Σ zeta^(i n) q_i(zeta) for a table.
func (v *shardVerifier) constraintsHold(table int, delta field.Ext) bool {
	t, o := &v.Tables[table], &v.opened[table]
	n := t.LogHeight
	power := field.SquareExtTimes(v.zeta, n) // zeta^n
	z := field.SubExt(power, field.Ext{1})

	point := air.Point{
		Main: o.here[Main], NextMain: scatter(o.next[Main], t.NextMain, t.Columns(Main)),
		Fixed: o.here[Fixed], NextFixed: scatter(o.next[Fixed], t.NextFixed, t.Columns(Fixed)),
	}
	point.First, point.Last, point.Transition = Selectors(v.zeta, z, n)
	w, _ := field.RootOfUnity(n)
	point.Periodic = periodicAt(t.Periodic, v.zeta, n)
	point.NextPeriodic = periodicAt(t.Periodic, field.ScaleExt(v.zeta, w), n)
	nodes := t.Evaluate(&point)

	values := make([]field.Ext, 0, t.FoldedConstraints())
	for _, id := range t.Constraints {
		values = append(values, nodes[id])
	}
	if t.HasLookups() {
		perRow := field.ScaleExt(o.sum, field.InverseOfTwoPower(n))
		values = logup.Constraints(values, t.Circuit, v.lookup, nodes, combine(o.here[Aux]), combine(o.next[Aux])[0], perRow)
	}
	var folded field.Ext
	for _, c := range values {
		folded = field.AddExt(field.MulExt(folded, delta), c)
	}

	slices := combine(o.here[Quotient])
	var quotient field.Ext
	for i := len(slices) - 1; i >= 0; i-- {
		quotient = field.AddExt(field.MulExt(quotient, power), slices[i])
	}
	return folded == field.MulExt(z, quotient)
}

// scatter spreads values over a vector indexed by column.
func scatter(values []field.Ext, columns []int, width int) []field.Ext {
	out := make([]field.Ext, width)
	for i, c := range columns {
		out[c] = values[i]
	}
	return out
}

// combine joins the values of triples of base columns to those of the extension columns that they hold.
func combine(values []field.Ext) []field.Ext {
	out := make([]field.Ext, len(values)/3)
	for i := range out {
		out[i] = field.AddExt(values[3*i], field.MulX(field.AddExt(values[3*i+1], field.MulX(values[3*i+2]))))
	}
	return out
}

// Selectors returns the selectors of a table of 2^logHeight rows at x outside F, where z = x^n - 1.
func Selectors(x, z field.Ext, logHeight int) (first, last, transition field.Ext) {
	w, _ := field.RootOfUnity(logHeight)
	inverse, _ := field.Inverse(w)
	zn := field.ScaleExt(z, field.InverseOfTwoPower(logHeight))
	one := field.Ext{1}
	a, _ := field.InverseExt(field.SubExt(x, one))
	b, _ := field.InverseExt(field.SubExt(field.ScaleExt(x, w), one))
	return field.MulExt(zn, a), field.MulExt(zn, b), field.SubExt(x, field.FromBase(inverse))
}

// periodicAt evaluates periodic columns at x: each is interpolated over its period's subgroup and taken at x^(n/period).
func periodicAt(columns []formats.Elements, x field.Ext, logHeight int) []field.Ext {
	out := make([]field.Ext, len(columns))
	for i, values := range columns {
		log := 0
		for 1<<log < values.Len() {
			log++
		}
		u := field.SquareExtTimes(x, logHeight-log)
		w, _ := field.RootOfUnity(log)
		// Barycentric form on the subgroup: (u^k - 1)/k Σ v_i w^i/(u - w^i). If u lies on the subgroup, which has a probability of 2^-176, the value is taken for 0.
		inverses := make([]field.Ext, values.Len())
		p := field.Element(1)
		for k := range inverses {
			inverses[k] = field.SubExt(u, field.FromBase(p))
			p = field.Mul(p, w)
		}
		var sum field.Ext
		if field.BatchInverseExt(inverses, make([]field.Ext, len(inverses))) {
			for k, d := range inverses {
				sum = field.AddExt(sum, field.ScaleExt(d, field.Mul(p, field.Element(values.At(k)))))
				p = field.Mul(p, w)
			}
		}
		z := field.SubExt(field.SquareExtTimes(u, log), field.Ext{1})
		out[i] = field.MulExt(field.ScaleExt(z, field.InverseOfTwoPower(log)), sum)
	}
	return out
}
