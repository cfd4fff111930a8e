package cpu

import (
	"github.com/ixprove/ixprove/formats"
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

// fractions is the common fraction of a group of lookups on a block of rows.
type fractions struct{ numerator, denominator, message [rows]field.Ext }

// evaluate computes the fraction of a group from the program's outputs.
func (f *fractions) evaluate(p *program, m *machine, g air.Group, ch *logup.Challenges, n int) {
	for i := g.First; i < g.End; i++ {
		l := &p.circuit.Lookups[i]
		base := ch.Base(l.Channel)
		message := f.message[:n]
		for r := range message {
			message[r] = base
		}
		for k, a := range l.Args {
			power, arg := ch.Powers[k], p.node(m, a)[:n]
			for r := range message {
				x := &message[r]
				v := field.Lazy(arg[r])
				x[0] = field.Add(x[0], field.MulLazy(field.Lazy(power[0]), v).Canonical())
				x[1] = field.Add(x[1], field.MulLazy(field.Lazy(power[1]), v).Canonical())
				x[2] = field.Add(x[2], field.MulLazy(field.Lazy(power[2]), v).Canonical())
			}
		}
		mult := p.node(m, l.Multiplicity)[:n]
		add := field.SubExt
		if l.Push {
			add = field.AddExt
		}
		if i == g.First {
			for r := range message {
				f.denominator[r] = message[r]
				f.numerator[r] = add(field.Ext{}, field.FromBase(mult[r]))
			}
			continue
		}
		one := p.circuit.Nodes[l.Multiplicity] == formats.Node{Op: formats.OpConst, A: 1}
		for r := range message {
			term := f.denominator[r]
			if !one {
				term = field.ScaleExt(term, mult[r])
			}
			f.numerator[r] = add(field.MulExt(f.numerator[r], message[r]), term)
			f.denominator[r] = field.MulExt(f.denominator[r], message[r])
		}
	}
}
