package circuit

import (
	"github.com/ixprove/ixprove/compress/goldilocks"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
)

// constraintsHold demands C(zeta) = Z(zeta) Σ zeta^(i n) q_i(zeta) of a table (P-27).
func (v *checker) constraintsHold(table int, delta goldilocks.Ext) {
	t, o, chip := &v.Tables[table], &v.opened[table], v.chip
	power := v.zetaPower(t.LogHeight) // zeta^n
	z := chip.SubExt(power, chip.ConstantExt(field.Ext{1}))
	nodes := v.evaluate(t, o, z)

	var folded goldilocks.Ext
	first := true
	fold := func(c goldilocks.Ext) {
		if first {
			folded, first = c, false
			return
		}
		folded = chip.AddExt(chip.MulExt(folded, delta), c)
	}
	for _, id := range t.Constraints {
		fold(nodes.at(id))
	}
	if t.HasLookups() {
		v.lookupConstraints(t, o, nodes, fold)
	}

	slices := v.combine(o.here[verifier.Quotient])
	quotient := slices[len(slices)-1]
	for i := len(slices) - 2; i >= 0; i-- {
		quotient = chip.AddExt(chip.MulExt(quotient, power), slices[i])
	}
	chip.AssertEqualExt(folded, chip.MulExt(z, quotient))
}

// combine joins the values of triples of base columns to those of the extension columns that they hold.
func (v *checker) combine(values []goldilocks.Ext) []goldilocks.Ext {
	out := make([]goldilocks.Ext, len(values)/3)
	for i := range out {
		out[i] = v.chip.SumExt(values[3*i], v.chip.MulX(values[3*i+1]), v.chip.MulX(v.chip.MulX(values[3*i+2])))
	}
	return out
}

// nodeValues are the values of a constraint graph at zeta. Those that are too large to be multiplied are reduced once, for all uses.
type nodeValues struct {
	chip   *goldilocks.Chip
	values []goldilocks.Ext
}

func (n *nodeValues) at(id uint32) goldilocks.Ext { return n.values[id] }

// factor is a value that can be multiplied with two others of 64 bits.
func (n *nodeValues) factor(id uint32) goldilocks.Ext {
	const limit = 80
	for _, x := range n.values[id] {
		if lo, hi := x.Bounds(); lo.BitLen() > limit || hi.BitLen() > limit {
			n.values[id] = n.chip.ReduceExt(n.values[id])
			break
		}
	}
	return n.values[id]
}

// evaluate computes the value of every node of the table's graph at zeta; z is zeta^n - 1.
func (v *checker) evaluate(t *verifier.Table, o *tableOpenings, z goldilocks.Ext) *nodeValues {
	chip := v.chip
	nodes := &nodeValues{chip, make([]goldilocks.Ext, len(t.Nodes))}
	next := [2]map[uint64]goldilocks.Ext{}
	for i, kind := range []verifier.Kind{verifier.Main, verifier.Fixed} {
		next[i] = map[uint64]goldilocks.Ext{}
		for k, column := range t.NextColumns(kind) {
			next[i][uint64(column)] = o.next[kind][k]
		}
	}
	// Selectors are computed when they are first read.
	selectors := map[formats.Op]goldilocks.Ext{}
	selector := func(op formats.Op) goldilocks.Ext {
		s, ok := selectors[op]
		if !ok {
			s = v.selector(op, t.LogHeight, z)
			selectors[op] = s
		}
		return s
	}
	powers := map[int][]goldilocks.Ext{}
	for i, n := range t.Nodes {
		out := &nodes.values[i]
		switch n.Op {
		case formats.OpConst:
			*out = chip.ConstantExt(field.FromBase(field.Element(n.A)))
		case formats.OpMain, formats.OpFixed:
			kind := map[formats.Op]verifier.Kind{formats.OpMain: verifier.Main, formats.OpFixed: verifier.Fixed}[n.Op]
			if n.B == 0 {
				*out = o.here[kind][n.A]
			} else {
				*out = next[n.Op-formats.OpMain][n.A]
			}
		case formats.OpPeriodic:
			*out = v.periodic(t.Periodic[n.A], t.LogHeight, n.B == 1, powers)
		case formats.OpFirst, formats.OpLast, formats.OpTransition:
			*out = selector(n.Op)
		case formats.OpAdd:
			*out = chip.AddExt(nodes.at(uint32(n.A)), nodes.at(n.B))
		case formats.OpSub:
			*out = chip.SubExt(nodes.at(uint32(n.A)), nodes.at(n.B))
		case formats.OpMul:
			a, b := nodes.factor(uint32(n.A)), nodes.factor(n.B)
			*out = chip.MulExt(a, b)
		}
	}
	return nodes
}

// selector is a selector of a table of 2^logHeight rows at zeta. Zeta lies outside F (P-26), so no divisor is zero.
func (v *checker) selector(op formats.Op, logHeight int, z goldilocks.Ext) goldilocks.Ext {
	chip, zeta, w := v.chip, v.zetaPower(0), root(logHeight)
	one := chip.ConstantExt(field.Ext{1})
	zn := chip.ScaleConstantExt(z, field.InverseOfTwoPower(logHeight))
	switch op {
	case formats.OpFirst:
		return chip.Quotient(zn, chip.SubExt(zeta, one))
	case formats.OpLast:
		return chip.Quotient(zn, chip.SubExt(chip.ScaleConstantExt(zeta, w), one))
	}
	return chip.SubExt(zeta, chip.ConstantExt(field.FromBase(inverse(w))))
}

// periodic is a periodic column at zeta, or at zeta ω_h for the next row: the polynomial of degree below its period through its values on the subgroup of that order, at
// zeta^(n/period). powers caches powers of that point by period.
func (v *checker) periodic(values formats.Elements, logHeight int, next bool, powers map[int][]goldilocks.Ext) goldilocks.Ext {
	chip, n := v.chip, values.Len()
	log := 0
	for 1<<log < n {
		log++
	}
	u := powers[log]
	if u == nil {
		u = []goldilocks.Ext{chip.ConstantExt(field.Ext{1})}
		for k := 1; k < n; k++ {
			if k == 1 {
				u = append(u, v.zetaPower(logHeight-log))
			} else {
				u = append(u, chip.ReduceExt(chip.MulExt(u[k/2], u[k-k/2])))
			}
		}
		powers[log] = u
	}
	w := field.Element(1)
	if next {
		w = root(log) // (zeta ω_h)^(n/period) is the point times the generator of the subgroup
	}
	terms := make([]goldilocks.Ext, n)
	factor := field.Element(1)
	for k, c := range interpolate(values, log) {
		terms[k] = chip.ScaleConstantExt(u[k], field.Mul(c, factor))
		factor = field.Mul(factor, w)
	}
	return chip.SumExt(terms...)
}

// interpolate returns the coefficients of the polynomial through the values on the subgroup of order 2^log.
func interpolate(values formats.Elements, log int) []field.Element {
	n := values.Len()
	out := make([]field.Element, n)
	for i := range out {
		out[i] = field.Element(values.At(int(field.ReverseBits(uint64(i), log))))
	}
	for k := 1; k <= log; k++ {
		w, half := inverse(root(k)), 1<<(k-1)
		for start := 0; start < n; start += 2 * half {
			p := field.Element(1)
			for i := start; i < start+half; i++ {
				a, b := out[i], field.Mul(out[i+half], p)
				out[i], out[i+half] = field.Add(a, b), field.Sub(a, b)
				p = field.Mul(p, w)
			}
		}
	}
	scale := field.InverseOfTwoPower(log)
	for i := range out {
		out[i] = field.Mul(out[i], scale)
	}
	return out
}

// lookupConstraints folds the constraint of each group of lookups (docs/protocol.md section 2).
func (v *checker) lookupConstraints(t *verifier.Table, o *tableOpenings, nodes *nodeValues, fold func(goldilocks.Ext)) {
	chip := v.chip
	acc, next := v.combine(o.here[verifier.Aux]), v.combine(o.next[verifier.Aux])[0]
	perRow := chip.ScaleConstantExt(o.sum, field.InverseOfTwoPower(t.LogHeight))
	for j, g := range t.Groups {
		// The sum of ± mult/m over the group is numerator/denominator.
		denominator, numerator := chip.ConstantExt(field.Ext{1}), chip.ConstantExt(field.Ext{})
		for i := g.First; i < g.End; i++ {
			l := &t.Lookups[i]
			m := v.fingerprint(chip.Trusted(l.Channel+1, 11), len(l.Args), func(k int) goldilocks.Ext { return nodes.factor(l.Args[k]) })
			m = chip.ReduceExt(m)
			term := nodes.factor(l.Multiplicity)
			if i > g.First {
				term = chip.MulExt(denominator, term)
				numerator = chip.MulExt(numerator, m)
			}
			if !l.Push {
				term = chip.NegExt(term)
			}
			numerator = chip.AddExt(numerator, term)
			if i > g.First {
				denominator = chip.ReduceExt(chip.MulExt(denominator, m))
			} else {
				denominator = m
			}
		}
		step := chip.SumExt(next, chip.NegExt(acc[j]), perRow)
		if j+1 < len(t.Groups) {
			step = chip.SubExt(acc[j+1], acc[j])
		}
		fold(chip.SubExt(chip.MulExt(denominator, step), numerator))
	}
}
