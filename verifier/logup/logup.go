// Package logup evaluates lookup arguments: fingerprints of messages and the constraints of the chained accumulators (docs/protocol.md section 2), after
// Haböck, "Multivariate lookups based on logarithmic derivatives" (2022/1530), in its univariate form with several fractions an accumulator.
package logup

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// Challenges are the lookup challenges of a batch: alpha, and the powers gamma^1, gamma^2, ….
type Challenges struct {
	Alpha  field.Ext
	Powers []field.Ext
}

// NewChallenges computes the powers that messages of up to n arguments need.
func NewChallenges(alpha, gamma field.Ext, n int) *Challenges {
	c := &Challenges{Alpha: alpha, Powers: make([]field.Ext, n)}
	p := gamma
	for i := range c.Powers {
		c.Powers[i] = p
		p = field.MulExt(p, gamma)
	}
	return c
}

// Base is alpha + channel number, the part of a fingerprint that does not depend on the arguments. Channels are numbered from 1.
func (c *Challenges) Base(channel uint32) field.Ext {
	return field.AddExt(c.Alpha, field.FromBase(field.Element(channel)+1))
}

// Message is the fingerprint of a message on a channel with elements given by at.
func (c *Challenges) Message(channel uint32, n int, at func(int) field.Element) field.Ext {
	m := c.Base(channel)
	for i := range n {
		m = field.AddExt(m, field.ScaleExt(c.Powers[i], at(i)))
	}
	return m
}

// Constraints appends to out the value, at one point, of the constraint of each group of lookups: nodes are the values of the circuit's graph,
// acc those of the accumulators, next the first accumulator's in the next row, perRow is the table's sum divided by its height.
func Constraints(out []field.Ext, c *air.Circuit, ch *Challenges, nodes, acc []field.Ext, next, perRow field.Ext) []field.Ext {
	for j, g := range c.Groups {
		denominator, numerator := field.Ext{1}, field.Ext{}
		for i := g.First; i < g.End; i++ {
			l := &c.Lookups[i]
			m := ch.Base(l.Channel)
			for k, a := range l.Args {
				m = field.AddExt(m, field.MulExt(ch.Powers[k], nodes[a]))
			}
			numerator = field.MulExt(numerator, m)
			term := field.MulExt(denominator, nodes[l.Multiplicity])
			numerator = signed(numerator, term, l)
			denominator = field.MulExt(denominator, m)
		}
		var step field.Ext
		if j+1 < len(c.Groups) {
			step = field.SubExt(acc[j+1], acc[j])
		} else {
			step = field.AddExt(field.SubExt(next, acc[j]), perRow)
		}
		out = append(out, field.SubExt(field.MulExt(denominator, step), numerator))
	}
	return out
}

// signed is sum + term for a push and sum - term for a pull.
func signed(sum, term field.Ext, l *formats.Lookup) field.Ext {
	if l.Push {
		return field.AddExt(sum, term)
	}
	return field.SubExt(sum, term)
}
