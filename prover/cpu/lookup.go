package cpu

import (
	"errors"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/internal/vector"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
)

// lookupOutputs lists the nodes that the lookups of a circuit read.
func lookupOutputs(c *air.Circuit) []uint32 {
	var out []uint32
	for i := range c.Lookups {
		out = append(append(out, c.Lookups[i].Multiplicity), c.Lookups[i].Args...)
	}
	return out
}

// fingerprints are the challenges, with the coefficients of messages by their number of arguments.
type fingerprints struct {
	*logup.Challenges
	powers []*vector.Coefficients
}

func newFingerprints(c *air.Circuit, ch *logup.Challenges) *fingerprints {
	most := 0
	for i := range c.Lookups {
		most = max(most, len(c.Lookups[i].Args))
	}
	f := &fingerprints{Challenges: ch}
	all := vector.NewCoefficients(ch.Powers[:most])
	for n := range most + 1 {
		f.powers = append(f.powers, all.Slice(0, n))
	}
	return f
}

// fractions computes the common fractions of groups of lookups on a block of rows.
type fractions struct {
	message, term vector.Ext
	args          [][]field.Element
}

// evaluate sets numerator and denominator to the fraction of a group, from the program's outputs.
func (f *fractions) evaluate(numerator, denominator *vector.Ext, p *program, m *machine, g air.Group, ch *fingerprints, n int) {
	for i := g.First; i < g.End; i++ {
		l := &p.circuit.Lookups[i]
		message := &f.message
		if i == g.First {
			message = denominator
		}
		message.Fill(ch.Base(l.Channel), n)
		f.args = f.args[:0]
		for _, a := range l.Args {
			f.args = append(f.args, p.node(m, a))
		}
		vector.Combine(message.Planes(n), ch.powers[len(l.Args)], f.args, 0)

		// numerator·message ± denominator·multiplicity over denominator·message
		multiplicity := p.node(m, l.Multiplicity)
		if i == g.First {
			numerator.Fill(field.Ext{}, n)
			accumulate := vector.Sub
			if l.Push {
				accumulate = vector.Add
			}
			accumulate(numerator[0][:n], numerator[0][:], multiplicity)
			continue
		}
		if i == g.First+1 { // the numerator is still in the base field; the product overwrites it
			copy(f.term[0][:n], numerator[0][:])
			vector.ScaleExt(numerator, message, f.term[0][:], n)
		} else {
			vector.MulExt(numerator, numerator, message, n)
		}
		term := denominator
		if p.circuit.Nodes[l.Multiplicity] != (formats.Node{Op: formats.OpConst, A: 1}) {
			term = &f.term
			vector.ScaleExt(term, denominator, multiplicity, n)
		}
		if l.Push {
			vector.AddExt(numerator, numerator, term, n)
		} else {
			vector.SubExt(numerator, numerator, term, n)
		}
		vector.MulExt(denominator, denominator, message, n)
	}
}

// lookupGrain is the number of rows whose running sums are computed at a time.
const lookupGrain = 1 << 10

// Lookups implements prover.Session.
func (s *session) Lookups(t *verifier.Table, fixed, main prover.Matrix, ch *logup.Challenges) (prover.Matrix, field.Ext, error) {
	n, groups := 1<<t.LogHeight, len(t.Groups)
	out, err := s.newMatrix(t.Columns(verifier.Aux), n)
	if err != nil {
		return nil, field.Ext{}, err
	}
	src := traceSource{main: main.(*matrix).columns, periodic: t.Periodic, height: n}
	if fixed != nil {
		src.fixed = fixed.(*matrix).columns
	}
	// First every group's fraction on every row, and each range's total; then the running sums.
	p := compile(t.Circuit, lookupOutputs(t.Circuit))
	prints := newFingerprints(t.Circuit, ch)
	type scratch struct {
		*machine
		fractions
		numerators, denominators, products []vector.Ext
	}
	machines := make([]*scratch, maxWorkers)
	totals := make([]field.Ext, (n+lookupGrain-1)/lookupGrain)
	err = parallel(s.ctx, n, lookupGrain, func(worker, from, to int) error {
		m := machines[worker]
		if m == nil {
			m = &scratch{machine: p.machine(), numerators: make([]vector.Ext, groups), denominators: make([]vector.Ext, groups), products: make([]vector.Ext, groups)}
			machines[worker] = m
		}
		var total vector.Ext
		for first := from; first < to; first += rows {
			count := min(rows, to-first)
			block := src
			block.first = first
			p.run(m.machine, &block, count)
			for g, group := range t.Groups {
				m.fractions.evaluate(&m.numerators[g], &m.denominators[g], p, m.machine, group, prints, count)
			}
			if !vector.InverseExt(m.denominators, m.products, count) {
				return errors.New("a lookup's denominator is zero: this happens with negligible probability, prove again with other claims")
			}
			for g := range groups {
				v := &m.numerators[g]
				vector.MulExt(v, v, &m.denominators[g], count)
				vector.AddExt(&total, &total, v, count)
				for c := range v {
					copy(out.columns[3*g+c][first:first+count], v[c][:])
				}
			}
		}
		totals[from/lookupGrain] = total.Sum(rows)
		return nil
	})
	if err != nil {
		out.Free()
		return nil, field.Ext{}, err
	}
	var sum field.Ext
	for _, v := range totals {
		sum = field.AddExt(sum, v)
	}
	perRow := field.ScaleExt(sum, field.InverseOfTwoPower(t.LogHeight))
	starts := make([]field.Ext, len(totals))
	var acc field.Ext
	for i, v := range totals {
		starts[i] = acc
		count := min(lookupGrain, n-i*lookupGrain)
		acc = field.SubExt(field.AddExt(acc, v), field.ScaleExt(perRow, field.Element(count)))
	}
	err = parallel(s.ctx, n, lookupGrain, func(_, from, to int) error {
		for c := range 3 {
			acc := starts[from/lookupGrain][c]
			for first := from; first < to; first += rows {
				acc = runningSums(out.columns, c, first, min(first+rows, to), acc, perRow[c])
			}
		}
		return nil
	})
	return out, sum, err
}

// runningSums replaces one coordinate of the fractions of some rows, row by row and group by group, by the sum of those before, from acc on, and of -perRow for each row that is over. It returns the
// next sum.
func runningSums(columns [][]field.Element, c, first, last int, acc, perRow field.Element) field.Element {
	n := last - first
	var rowTotals, sums, fraction [rows]field.Element
	for g := c; g < len(columns); g += 3 {
		vector.Add(rowTotals[:n], rowTotals[:], columns[g][first:last])
	}
	for r := range n {
		sums[r] = acc
		acc = field.Sub(field.Add(acc, rowTotals[r]), perRow)
	}
	for g := c; g < len(columns); g += 3 {
		column := columns[g][first:last]
		copy(fraction[:], column)
		copy(column, sums[:])
		vector.Add(sums[:n], sums[:], fraction[:])
	}
	return acc
}
