package cpu

import (
	"errors"
	"math/bits"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/field"
)

var errPoint = errors.New("an evaluation point lies in a domain: this happens with negligible probability, prove again with other claims")

// barycentric returns the weights w_j with f(z) = Σ w_j f_j: f of degree below 2^log is given on shift·H, in row order where shift is 1 and in
// bit-reversed order otherwise.
func (s *session) barycentric(log int, z field.Ext, shift field.Element) ([]field.Ext, error) {
	n := 1 << log
	weights, err := buffer[field.Ext](s.arena, n)
	if err != nil {
		return nil, err
	}
	w, _ := field.RootOfUnity(log)
	// (z^n - s^n)/(n s^n) · x_j/(z - x_j)
	sn := field.Pow(shift, uint64(n))
	inverse, _ := field.Inverse(sn)
	factor := field.ScaleExt(field.SubExt(field.SquareExtTimes(z, log), field.FromBase(sn)), field.Mul(inverse, field.InverseOfTwoPower(log)))
	err = parallel(s.ctx, n, 1<<10, func(_, first, last int) error {
		x := make([]field.Element, last-first)
		p := field.Mul(shift, field.Pow(w, uint64(first)))
		for i := range x {
			if shift != 1 {
				p = field.Mul(shift, field.Pow(w, field.ReverseBits(uint64(first+i), log)))
			}
			x[i] = p
			p = field.Mul(p, w)
		}
		part := weights[first:last]
		for i := range part {
			part[i] = field.SubExt(z, field.FromBase(x[i]))
		}
		if !field.BatchInverseExt(part, make([]field.Ext, len(part))) {
			return errPoint
		}
		for i := range part {
			part[i] = field.MulExt(field.ScaleExt(part[i], x[i]), factor)
		}
		return nil
	})
	return weights, err
}

// inner returns Σ column[i]·weights[i], with one reduction for a run of products.
func inner(column []field.Element, weights []field.Ext) (sum field.Ext) {
	for c := range sum {
		var hi, lo, top uint64
		for i, v := range column {
			h, l := bits.Mul64(uint64(v), uint64(weights[i][c]))
			var carry uint64
			lo, carry = bits.Add64(lo, l, 0)
			hi, carry = bits.Add64(hi, h, carry)
			top += carry
		}
		sum[c] = field.Reduce160(top, hi, lo)
	}
	return sum
}

// Evaluate implements prover.Session.
func (s *session) Evaluate(c prover.Columns, logHeight int, z field.Ext, which []int) ([]field.Ext, error) {
	columns := extended(c)
	if which != nil {
		all := columns
		columns = nil
		for _, i := range which {
			columns = append(columns, all[i])
		}
	}
	weights, err := s.barycentric(logHeight, z, field.Shift)
	if err != nil {
		return nil, err
	}
	defer release(s.arena, weights)
	out := make([]field.Ext, len(columns))
	err = parallel(s.ctx, len(columns), 1, func(_, i, _ int) error {
		out[i] = inner(columns[i][:1<<logHeight], weights) // the first slab is the coset g·H
		return nil
	})
	return out, err
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
	w, _ := field.RootOfUnity(log)
	type scratch struct {
		sums     [3][]field.Element
		x        []field.Element
		inverses []field.Ext
		products []field.Ext
	}
	const grain = 1 << 9
	machines := make([]*scratch, maxWorkers)
	err = parallel(s.ctx, size, grain, func(worker, first, last int) error {
		m := machines[worker]
		if m == nil {
			m = &scratch{x: make([]field.Element, grain), inverses: make([]field.Ext, grain), products: make([]field.Ext, grain)}
			for c := range m.sums {
				m.sums[c] = make([]field.Element, grain)
			}
			machines[worker] = m
		}
		n := last - first
		for i := range n {
			m.x[i] = field.Mul(field.Shift, field.Pow(w, field.ReverseBits(uint64(first+i), log)))
		}
		for k := range points {
			p := &points[k]
			for c := range m.sums {
				clear(m.sums[c])
			}
			for t := range p.Terms {
				term := &p.Terms[t]
				columns := extended(term.Columns)
				for i, f := range term.Coefficients {
					at := i
					if term.Which != nil {
						at = term.Which[i]
					}
					combineAt(&m.sums, columns[at][first:last], f)
				}
			}
			if columns := pins[k]; columns != nil {
				for c := range m.sums {
					for r, v := range columns[c][first:last] {
						m.sums[c][r] = field.Add(m.sums[c][r], v)
					}
				}
			}
			inverses := m.inverses[:n]
			for r := range inverses {
				inverses[r] = field.SubExt(field.FromBase(m.x[r]), p.Z)
			}
			if !field.BatchInverseExt(inverses, m.products) {
				return errPoint
			}
			for r := range inverses {
				v := field.SubExt(field.Ext{m.sums[0][r], m.sums[1][r], m.sums[2][r]}, p.Claimed)
				word[first+r] = field.AddExt(word[first+r], field.MulExt(v, inverses[r]))
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

// combineAt adds f·column to three sums.
func combineAt(sums *[3][]field.Element, column []field.Element, f field.Ext) {
	for c := range sums {
		to, k := sums[c][:len(column)], field.Lazy(f[c])
		for r, v := range column {
			to[r] = field.Add(to[r], field.MulLazy(k, field.Lazy(v)).Canonical())
		}
	}
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
		for r := range n {
			v := field.MulExt(p.Coefficient, field.Ext{g[0][r], g[1][r], g[2][r]})
			for c := range sum {
				sum[c][r] = field.Add(sum[c][r], v[c])
			}
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
