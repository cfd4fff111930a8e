package cpu

import (
	"errors"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/internal/vector"
	"github.com/ixprove/ixprove/verifier/field"
)

var errPoint = errors.New("an evaluation point lies in a domain: this happens with negligible probability, prove again with other claims")

// points lists the points of a coset of the subgroup of order 2^log, in row order or bit-reversed. A run of them that starts at a multiple of its length, a power of two, is a multiple of
// the first run.
type points struct {
	log      int
	shift, w field.Element
	reversed bool
	run      []field.Element // the first points of the subgroup
}

func newPoints(log int, shift field.Element, reversed bool, run int) *points {
	p := &points{log: log, shift: shift, reversed: reversed}
	p.w, _ = field.RootOfUnity(log)
	p.run = make([]field.Element, min(run, 1<<log))
	powers(p.run, 1, p.w)
	if reversed {
		for i := range p.run {
			p.run[i] = field.Pow(p.w, field.ReverseBits(uint64(i), log))
		}
	}
	return p
}

// fill sets dst to the points from first on.
func (p *points) fill(dst []field.Element, first int) {
	e := uint64(first)
	if p.reversed {
		e = field.ReverseBits(e, p.log)
	}
	vector.Scale(dst, p.run, field.Mul(p.shift, field.Pow(p.w, e)))
}

// evaluator evaluates polynomials of degree below 2^log, given by their values on a coset, at z: f(z) = (z^n - s^n)/(n s^n) Σ x_j/(z - x_j) f_j.
type evaluator struct {
	points *points
	z      field.Ext
	factor field.Ext
}

// newEvaluator takes values on shift·H, in row order where shift is 1 and bit-reversed otherwise.
func newEvaluator(log int, z field.Ext, shift field.Element) *evaluator {
	sn := field.Pow(shift, uint64(1)<<log)
	inverse, _ := field.Inverse(sn)
	return &evaluator{
		points: newPoints(log, shift, shift != 1, vector.WeightRows),
		z:      z,
		factor: field.ScaleExt(field.SubExt(field.SquareExtTimes(z, log), field.FromBase(sn)), field.Mul(inverse, field.InverseOfTwoPower(log))),
	}
}

// evaluate returns the values at z of columns.
func (e *evaluator) evaluate(s *session, columns [][]field.Element) ([]field.Ext, error) {
	type scratch struct {
		sums      []field.Ext
		x         [vector.WeightRows]field.Element
		w, prefix [vector.WeightRows / vector.Block]vector.Ext
		weights   vector.Weights
	}
	machines := make([]*scratch, maxWorkers)
	err := parallel(s.ctx, 1<<e.points.log, vector.WeightRows, func(worker, first, last int) error {
		m := machines[worker]
		if m == nil {
			m = &scratch{sums: make([]field.Ext, len(columns))}
			machines[worker] = m
		}
		n := last - first
		x := m.x[:n]
		e.points.fill(x, first)
		count := min(n, vector.Block)
		blocks := m.w[:n/count]
		for k := range blocks {
			difference(&blocks[k], e.z, x[k*count:(k+1)*count])
		}
		if !vector.InverseExt(blocks, m.prefix[:], count) {
			return errPoint
		}
		for k := range blocks {
			vector.ScaleExt(&blocks[k], &blocks[k], x[k*count:], count)
		}
		m.weights.Set(blocks, n)
		for i, column := range columns {
			m.sums[i] = field.AddExt(m.sums[i], m.weights.Dot(column[first:last]))
		}
		return nil
	})
	out := make([]field.Ext, len(columns))
	for _, m := range machines {
		if m != nil {
			for i, v := range m.sums {
				out[i] = field.AddExt(out[i], v)
			}
		}
	}
	for i, v := range out {
		out[i] = field.MulExt(v, e.factor)
	}
	return out, err
}

// difference sets d to z - x.
func difference(d *vector.Ext, z field.Ext, x []field.Element) {
	d.Fill(z, len(x))
	vector.Sub(d[0][:len(x)], d[0][:], x)
}

// Evaluate implements prover.Session.
func (s *session) Evaluate(selections []prover.Selection, logHeight int, z field.Ext) ([]field.Ext, error) {
	var columns [][]field.Element
	for i := range selections {
		columns = append(columns, selected(&selections[i])...)
	}
	return newEvaluator(logHeight, z, field.Shift).evaluate(s, columns) // the first slab is the coset g·H
}

// selected lists the extended columns of a selection.
func selected(c *prover.Selection) (some [][]field.Element) {
	all := extended(c.Columns)
	if c.Which == nil {
		return all
	}
	for _, i := range c.Which {
		some = append(some, all[i])
	}
	return some
}

// codeword is a word over E on a FRI domain.
type codeword struct {
	s    *session
	word []field.Ext
}

// Free implements prover.Codeword.
func (c *codeword) Free() {
	release(c.s.arena, c.word)
	c.word = nil
}

// Deep implements prover.Session.
func (s *session) Deep(logHeight int, points []prover.DeepPoint) (prover.Codeword, error) {
	log := logHeight + s.logBlowup
	size := 1 << log
	word, err := buffer[field.Ext](s.arena, size)
	if err != nil {
		return nil, err
	}
	out := &codeword{s, word}
	// Pins are extended here: three columns for each.
	pins := make([][][]field.Element, len(points))
	defer func() {
		for _, columns := range pins {
			for _, c := range columns {
				release(s.arena, c)
			}
		}
	}()
	for i := range points {
		if pins[i], err = s.extendPins(logHeight, points[i].Pins); err != nil {
			out.Free()
			return nil, err
		}
	}
	// The columns and coefficients of each point, of all its terms.
	type combination struct {
		columns [][]field.Element
		factors *vector.Coefficients
	}
	combinations := make([]combination, len(points))
	for k := range points {
		var factors []field.Ext
		for _, term := range points[k].Terms {
			columns := extended(term.Columns)
			for i, f := range term.Coefficients {
				at := i
				if term.Which != nil {
					at = term.Which[i]
				}
				combinations[k].columns = append(combinations[k].columns, columns[at])
				factors = append(factors, f)
			}
		}
		combinations[k].factors = vector.NewCoefficients(factors)
	}
	const grain = 1 << 10
	domain := newPoints(log, field.Shift, true, grain)
	type scratch struct {
		x               [grain]field.Element
		inverses        [][grain / vector.Block]vector.Ext // of z - x, for each point
		prefix          [grain / vector.Block]vector.Ext
		sums, quotients vector.Ext
	}
	machines := make([]*scratch, maxWorkers)
	err = parallel(s.ctx, size, grain, func(worker, first, last int) error {
		if machines[worker] == nil {
			machines[worker] = &scratch{inverses: make([][grain / vector.Block]vector.Ext, len(points))}
		}
		m := machines[worker]
		x := m.x[:last-first]
		domain.fill(x, first)
		count := min(len(x), vector.Block)
		blocks := len(x) / count
		for k := range points {
			inverses := m.inverses[k][:blocks]
			for b := range inverses {
				difference(&inverses[b], points[k].Z, x[b*count:(b+1)*count])
			}
			if !vector.InverseExt(inverses, m.prefix[:], count) {
				return errPoint
			}
		}
		// All points of a block, whose columns are then in the second-level cache.
		for b := range blocks {
			from := first + b*count
			m.sums.Fill(field.Ext{}, count)
			for k := range points {
				// (Claimed - Σ)/(z - x) = (Σ - Claimed)/(x - z)
				q := &m.quotients
				q.Fill(field.SubExt(field.Ext{}, points[k].Claimed), count)
				vector.Combine(q.Planes(count), combinations[k].factors, combinations[k].columns, from)
				for c, pin := range pins[k] {
					vector.Add(q[c][:count], q[c][:], pin[from:])
				}
				vector.MulExt(q, q, &m.inverses[k][b], count)
				vector.SubExt(&m.sums, &m.sums, q, count)
			}
			for r := range count {
				word[from+r] = m.sums.At(r)
			}
		}
		return nil
	})
	if err != nil {
		out.Free()
		return nil, err
	}
	return out, nil
}

// extendPins returns the extension of Σ coefficient·pin, as three columns, nil without pins.
func (s *session) extendPins(logHeight int, pins []prover.DeepPin) ([][]field.Element, error) {
	if len(pins) == 0 {
		return nil, nil
	}
	co, err := s.cosetsOf(logHeight)
	if err != nil {
		return nil, err
	}
	n := 1 << logHeight
	sum := [3][]field.Element{make([]field.Element, n), make([]field.Element, n), make([]field.Element, n)}
	for _, p := range pins {
		g := p.Trace.(*matrix).columns
		f := p.Coefficient
		k := vector.NewCoefficients([]field.Ext{f, field.MulX(f), field.MulX(field.MulX(f))})
		err := parallel(s.ctx, n, 1<<12, func(_, first, last int) error {
			vector.Combine([3][]field.Element{sum[0][first:last], sum[1][first:last], sum[2][first:last]}, k, g, first)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	out := make([][]field.Element, 3)
	for c := range out {
		if out[c], err = s.arena.elements(n << s.logBlowup); err != nil {
			return out, err
		}
	}
	return out, parallel(s.ctx, 3, 1, func(_, c, _ int) error {
		co.extendTrace(out[c], sum[c], make([]field.Element, n))
		return nil
	})
}
