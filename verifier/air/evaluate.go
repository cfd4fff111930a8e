package air

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
)

// Point holds the values of a circuit's columns and selectors at one point of E. The slices NextMain and NextFixed are indexed by column; only
// columns that the circuit reads in the next row need a value there.
type Point struct {
	Main, NextMain         []field.Ext
	Fixed, NextFixed       []field.Ext
	Periodic, NextPeriodic []field.Ext
	First, Last            field.Ext
	Transition             field.Ext
}

// Evaluate returns the value of every node of the graph at the point.
func (c *Circuit) Evaluate(p *Point) []field.Ext {
	values := make([]field.Ext, len(c.Nodes))
	columns := [...][2][]field.Ext{{p.Main, p.NextMain}, {p.Fixed, p.NextFixed}, {p.Periodic, p.NextPeriodic}}
	for i, n := range c.Nodes {
		switch n.Op {
		case formats.OpConst:
			values[i] = field.FromBase(field.Element(n.A))
		case formats.OpMain, formats.OpFixed, formats.OpPeriodic:
			values[i] = columns[n.Op-formats.OpMain][n.B][n.A]
		case formats.OpFirst:
			values[i] = p.First
		case formats.OpLast:
			values[i] = p.Last
		case formats.OpTransition:
			values[i] = p.Transition
		case formats.OpAdd:
			values[i] = field.AddExt(values[n.A], values[n.B])
		case formats.OpSub:
			values[i] = field.SubExt(values[n.A], values[n.B])
		case formats.OpMul:
			values[i] = field.MulExt(values[n.A], values[n.B])
		}
	}
	return values
}
