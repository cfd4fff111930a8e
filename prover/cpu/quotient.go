package cpu

import (
	"context"
	"errors"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
)

// quotientJob computes C/Z on the quotient domain: the first `parts` slabs of the extension.
type quotientJob struct {
	t                *verifier.Table
	fixed, main, aux [][]field.Element // extended columns
	ch               *logup.Challenges
	perRow           field.Ext   // the table's sum over its height
	deltas           []field.Ext // delta^(m-1-k) for constraint k
	logBlowup        int
	parts            int
	program          *program
	next             []uint32
	table            *transforms
	periodic         [][]field.Element // per slab and periodic column, its values in natural order
	out              [3][]field.Element
}

// quotient returns the coefficients of the slices, 3(D-1) columns of n.
func quotient(ctx context.Context, a *arena, j *quotientJob, delta field.Ext) ([][]field.Element, error) {
	t := j.t
	h, n := t.LogHeight, 1<<t.LogHeight
	log := 0
	for 1<<log < t.Slices() {
		log++
	}
	j.parts = 1 << log
	outputs := append([]uint32(nil), t.Constraints...)
	j.program = compile(t.Circuit, append(outputs, lookupOutputs(t.Circuit)...))
	j.deltas = make([]field.Ext, t.FoldedConstraints())
	for k, p := len(j.deltas)-1, (field.Ext{1}); k >= 0; k, p = k-1, field.MulExt(p, delta) {
		j.deltas[k] = p
	}
	var err error
	if j.next, err = buffer[uint32](a, n); err != nil {
		return nil, err
	}
	defer release(a, j.next)
	for i := range j.next {
		j.next[i] = uint32(field.ReverseBits((field.ReverseBits(uint64(i), h)+1)&uint64(n-1), h))
	}
	j.table = roots(h)
	for s := range j.parts {
		for _, values := range t.Periodic {
			j.periodic = append(j.periodic, periodicOnSlab(values, h, j.shift(s)))
		}
	}
	for c := range j.out {
		if j.out[c], err = a.elements(n << log); err != nil {
			return nil, err
		}
		defer release(a, j.out[c])
	}
	machines := make([]*quotientMachine, maxWorkers)
	grain := min(rows, n)
	err = parallel(ctx, n<<log, grain, func(worker, first, last int) error {
		if machines[worker] == nil {
			machines[worker] = &quotientMachine{machine: j.program.machine()}
		}
		return j.block(machines[worker], first, last)
	})
	if err != nil {
		return nil, err
	}
	return j.slices(ctx, a, log)
}

// shift is the first point of slab s.
func (j *quotientJob) shift(s int) field.Element {
	w, _ := field.RootOfUnity(j.t.LogHeight + j.logBlowup)
	return field.Mul(field.Shift, field.Pow(w, field.ReverseBits(uint64(s), j.logBlowup)))
}

type quotientMachine struct {
	*machine
	fractions
	folded, step [rows]field.Ext
	x, scratch   [rows]field.Element
	selectors    [3][rows]field.Element
}

// block computes the points first to last-1 of the quotient domain, all in one slab.
func (j *quotientJob) block(m *quotientMachine, first, last int) error {
	t, count := j.t, last-first
	h, n := t.LogHeight, 1<<t.LogHeight
	slab, within := first>>h, first&(n-1)
	shift := j.shift(slab)

	// The points of the block and Z on the slab, where it is constant.
	z := field.Sub(field.Pow(shift, uint64(n)), 1)
	x := m.x[:count]
	for r := range x {
		x[r] = field.Mul(shift, j.root(int(field.ReverseBits(uint64(within+r), h))))
	}
	src := &cosetSource{main: j.main, fixed: j.fixed, next: j.next, slab: slab * n, first: within}
	if err := j.selectors(m, src, x, z); err != nil {
		return err
	}
	src.periodicAt = func(dst []field.Element, index int, next bool) {
		values := j.periodic[slab*len(t.Periodic)+index]
		offset := 0
		if next {
			offset = 1
		}
		for r := range dst {
			dst[r] = values[(int(field.ReverseBits(uint64(within+r), h))+offset)&(len(values)-1)]
		}
	}
	j.program.run(m.machine, src, count)

	folded := m.folded[:count]
	clear(folded)
	for k, id := range t.Constraints {
		d := j.deltas[k]
		for r, v := range j.program.node(m.machine, id)[:count] {
			f := &folded[r]
			f[0] = field.Add(f[0], field.Mul(d[0], v))
			f[1] = field.Add(f[1], field.Mul(d[1], v))
			f[2] = field.Add(f[2], field.Mul(d[2], v))
		}
	}
	for g, group := range t.Groups {
		m.fractions.evaluate(j.program, m.machine, group, j.ch, count)
		j.stepOf(m, g, slab*n, within, count)
		d := j.deltas[len(t.Constraints)+g]
		for r := range folded {
			c := field.SubExt(field.MulExt(m.denominator[r], m.step[r]), m.numerator[r])
			folded[r] = field.AddExt(folded[r], field.MulExt(d, c))
		}
	}
	inverse, _ := field.Inverse(z) // the coset avoids the trace domain
	for r, f := range folded {
		for c := range f {
			j.out[c][first+r] = field.Mul(f[c], inverse)
		}
	}
	return nil
}

// root is ω_h^e.
func (j *quotientJob) root(e int) field.Element {
	half := len(j.table.forward)
	if e < half {
		return j.table.forward[e]
	}
	return field.Neg(j.table.forward[e-half])
}

// stepOf fills m.step with acc_{g+1} - acc_g, or acc_0' - acc_g + s/n for the last group.
func (j *quotientJob) stepOf(m *quotientMachine, g, slab, within, count int) {
	at := func(column, position int) field.Ext {
		return field.Ext{j.aux[3*column][position], j.aux[3*column+1][position], j.aux[3*column+2][position]}
	}
	for r := range count {
		here := slab + within + r
		var to field.Ext
		if g+1 < len(j.t.Groups) {
			to = at(g+1, here)
		} else {
			to = field.AddExt(at(0, slab+int(j.next[within+r])), j.perRow)
		}
		m.step[r] = field.SubExt(to, at(g, here))
	}
}

// selectors fills the selectors that the circuit uses.
func (j *quotientJob) selectors(m *quotientMachine, src *cosetSource, x []field.Element, z field.Element) error {
	w := j.root(1 & (1<<j.t.LogHeight - 1))
	zn := field.Mul(z, field.InverseOfTwoPower(j.t.LogHeight))
	back, _ := field.Inverse(w)
	for _, ins := range j.program.code {
		if ins.op < formats.OpFirst || ins.op > formats.OpTransition {
			continue
		}
		out := m.selectors[ins.op-formats.OpFirst][:len(x)]
		src.selectors[ins.op-formats.OpFirst] = out
		if ins.op == formats.OpTransition {
			for r, v := range x {
				out[r] = field.Sub(v, back)
			}
			continue
		}
		for r, v := range x {
			if ins.op == formats.OpLast {
				v = field.Mul(v, w)
			}
			out[r] = field.Sub(v, 1)
		}
		if !field.BatchInverse(out, m.scratch[:]) {
			return errors.New("a coset meets the trace domain")
		}
		for r := range out {
			out[r] = field.Mul(out[r], zn)
		}
	}
	return nil
}

// periodicOnSlab evaluates a periodic column on a slab with the given first point: value e is that at the points whose exponent is e modulo the period.
func periodicOnSlab(values formats.Elements, logHeight int, shift field.Element) []field.Element {
	log := log2(values.Len())
	natural := make([]field.Element, values.Len())
	for i := range natural {
		natural[i] = field.Element(values.At(i))
	}
	coeff := make([]field.Element, len(natural))
	bitReverse(coeff, natural, log)
	t := roots(log)
	inverse(coeff, t.inverse, 1)
	s := field.Pow(shift, uint64(1)<<(logHeight-log))
	p := field.InverseOfTwoPower(log)
	for i := range coeff {
		coeff[i] = field.Mul(coeff[i], p)
		p = field.Mul(p, s)
	}
	forward(coeff, t.forward, 1)
	bitReverse(natural, coeff, log)
	return natural
}

// slices interpolates the quotient and cuts it.
func (j *quotientJob) slices(ctx context.Context, a *arena, log int) ([][]field.Element, error) {
	t, n := j.t, 1<<j.t.LogHeight
	size := t.LogHeight + log
	table := roots(size)
	back, _ := field.Inverse(field.Shift)
	slices := make([][]field.Element, t.QuotientColumns())
	err := parallel(ctx, 3, 1, func(_, c, _ int) error {
		x := j.out[c]
		inverse(x, table.inverse, 1)
		p := field.InverseOfTwoPower(size)
		for i := range x {
			x[i] = field.Mul(x[i], p)
			p = field.Mul(p, back)
		}
		for s := range t.Slices() {
			column, err := a.elements(n)
			if err != nil {
				return err
			}
			copy(column, x[s*n:])
			slices[3*s+c] = column
		}
		return nil
	})
	return slices, err
}
