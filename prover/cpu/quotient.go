package cpu

import (
	"context"
	"errors"
	"slices"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover/internal/vector"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
)

// quotientJob computes C/Z on the quotient domain: the first `parts` slabs of the extension.
type quotientJob struct {
	t                *verifier.Table
	fixed, main, aux [][]field.Element // extended columns
	ch               *fingerprints
	perRow           field.Ext              // the table's sum over its height
	deltas           *vector.Coefficients   // delta^(m-1-k) for constraint k
	groupDeltas      []*vector.Coefficients // for group g, its power of delta times 1, X and X^2
	logBlowup        int
	parts            int
	program          *program
	twiddles         []field.Element   // of the trace domain
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
	deltas := make([]field.Ext, t.FoldedConstraints())
	for k, p := len(deltas)-1, (field.Ext{1}); k >= 0; k, p = k-1, field.MulExt(p, delta) {
		deltas[k] = p
	}
	j.deltas = vector.NewCoefficients(deltas[:len(t.Constraints)])
	for _, d := range deltas[len(t.Constraints):] {
		j.groupDeltas = append(j.groupDeltas, vector.NewCoefficients([]field.Ext{d, field.MulX(d), field.MulX(field.MulX(d))}))
	}
	j.twiddles = twiddles(h)
	for s := range j.parts {
		for _, values := range t.Periodic {
			j.periodic = append(j.periodic, periodicOnSlab(values, h, j.shift(s)))
		}
	}
	var err error
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
	return j.slices(ctx, a)
}

// shift is the first point of slab s.
func (j *quotientJob) shift(s int) field.Element {
	w, _ := field.RootOfUnity(j.t.LogHeight + j.logBlowup)
	return field.Mul(field.Shift, field.Pow(w, field.ReverseBits(uint64(s), j.logBlowup)))
}

type quotientMachine struct {
	*machine
	fractions
	numerator, denominator vector.Ext
	folded, step           vector.Ext
	constraints            [][]field.Element
	x, scratch             [rows]field.Element
	selectors              [3][rows]field.Element
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
	src := &cosetSource{main: j.main, fixed: j.fixed, logHeight: h, slab: slab * n, first: within}
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

	folded := m.folded.Planes(count)
	m.folded.Fill(field.Ext{}, count)
	m.constraints = m.constraints[:0]
	for _, id := range t.Constraints {
		m.constraints = append(m.constraints, j.program.node(m.machine, id))
	}
	vector.Combine(folded, j.deltas, m.constraints, 0)
	for g, group := range t.Groups {
		m.fractions.evaluate(&m.numerator, &m.denominator, j.program, m.machine, group, j.ch, count)
		j.stepOf(m, src, g, count)
		// denominator·step - numerator
		vector.MulExt(&m.step, &m.step, &m.denominator, count)
		vector.SubExt(&m.step, &m.step, &m.numerator, count)
		c := m.step.Planes(count)
		vector.Combine(folded, j.groupDeltas[g], c[:], 0)
	}
	inverse, _ := field.Inverse(z) // the coset avoids the trace domain
	for c, f := range folded {
		vector.Scale(j.out[c][first:last], f, inverse)
	}
	return nil
}

// root is ω_h^e.
func (j *quotientJob) root(e int) field.Element {
	half := 1 << j.t.LogHeight / 2
	if e < half {
		return j.twiddles[half+e]
	}
	return field.Neg(j.twiddles[e])
}

// stepOf fills m.step with acc_{g+1} - acc_g, or acc_0' - acc_g + s/n for the last group.
func (j *quotientJob) stepOf(m *quotientMachine, src *cosetSource, g, count int) {
	for c := range m.step {
		step := m.step[c][:count]
		here := src.read(step, j.aux[3*g+c], false)
		if g+1 < len(j.t.Groups) {
			vector.Sub(step, src.read(step, j.aux[3*(g+1)+c], false), here)
			continue
		}
		vector.Sub(step, src.read(step, j.aux[c], true), here)
		for r, v := range step {
			step[r] = field.Add(v, j.perRow[c])
		}
	}
}

// selectors fills the selectors that the circuit uses.
func (j *quotientJob) selectors(m *quotientMachine, src *cosetSource, x []field.Element, z field.Element) error {
	w := j.root(1 & (1<<j.t.LogHeight - 1))
	zn := field.Mul(z, field.InverseOfTwoPower(j.t.LogHeight))
	back, _ := field.Inverse(w)
	for _, ins := range j.program.Code {
		if ins.Op < formats.OpFirst || ins.Op > formats.OpTransition {
			continue
		}
		out := m.selectors[ins.Op-formats.OpFirst][:len(x)]
		src.selectors[ins.Op-formats.OpFirst] = out
		if ins.Op == formats.OpTransition {
			for r, v := range x {
				out[r] = field.Sub(v, back)
			}
			continue
		}
		for r, v := range x {
			if ins.Op == formats.OpLast {
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
	vector.Negate(coeff, natural)
	vector.Forward(coeff, twiddles(log))
	vector.Reverse(natural, coeff)
	powers(coeff, field.InverseOfTwoPower(log), field.Pow(shift, uint64(1)<<(logHeight-log)))
	vector.ForwardScaled(coeff, slices.Clone(natural), slices.Clone(coeff), twiddles(log))
	vector.Reverse(natural, coeff)
	return natural
}

// slices interpolates the quotient and cuts it into coefficients.
func (j *quotientJob) slices(ctx context.Context, a *arena) ([][]field.Element, error) {
	t, n := j.t, 1<<j.t.LogHeight
	back, _ := field.Inverse(field.Shift)
	factors := make([]field.Element, min(n, 1<<10))
	powers(factors, 1, back)
	step := field.Pow(back, uint64(len(factors)))
	columns := make([][]field.Element, t.QuotientColumns())
	err := parallel(ctx, 3, 1, func(_, c, _ int) error {
		x := j.out[c]
		coefficients(x)
		first := field.Element(1)
		for s := range t.Slices() {
			column, err := a.elements(n)
			if err != nil {
				return err
			}
			for i := 0; i < n; i += len(factors) {
				part := column[i : i+len(factors)]
				vector.Mul(part, x[s*n+i:], factors)
				vector.Scale(part, part, first)
				first = field.Mul(first, step)
			}
			columns[3*s+c] = column
		}
		return nil
	})
	return columns, err
}
