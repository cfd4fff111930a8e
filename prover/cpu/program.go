package cpu

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels/lower"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// rows is the number of rows that a program works on at a time: long enough to hide the cost of dispatch, short enough that a circuit's live values stay
// in the second-level cache.
const rows = 64

// program is part of a circuit's graph, lowered to straight-line code over registers of `rows` values.
type program struct {
	*lower.Program
	circuit *air.Circuit
}

// compile lowers the nodes that the outputs need.
func compile(c *air.Circuit, outputs []uint32) *program { return &program{lower.Keep(c, outputs), c} }

// source gives a program the values of a block of rows: columns of this row and the next, by kind (main, fixed, periodic as in formats.Op), and selectors.
type source interface {
	column(dst []field.Element, op formats.Op, index int, next bool)
	selector(dst []field.Element, op formats.Op)
}

// machine holds the registers of one worker.
type machine struct{ registers []field.Element }

func (p *program) machine() *machine {
	return &machine{make([]field.Element, p.Registers*rows)}
}

func (m *machine) register(r int32) []field.Element {
	return m.registers[int(r)*rows : int(r)*rows+rows : int(r)*rows+rows]
}

// run evaluates the program on a block of n <= rows rows.
func (p *program) run(m *machine, s source, n int) {
	for i := range p.Code {
		ins := &p.Code[i]
		to := m.register(ins.To)[:n]
		switch ins.Op {
		case formats.OpConst:
			for r := range to {
				to[r] = ins.V
			}
		case formats.OpMain, formats.OpFixed, formats.OpPeriodic:
			s.column(to, ins.Op, int(ins.A), ins.B == 1)
		case formats.OpFirst, formats.OpLast, formats.OpTransition:
			s.selector(to, ins.Op)
		default:
			a, b := m.register(ins.A)[:n], m.register(ins.B)[:n]
			switch ins.Op {
			case formats.OpAdd:
				for r := range to {
					to[r] = field.Add(a[r], b[r])
				}
			case formats.OpSub:
				for r := range to {
					to[r] = field.Sub(a[r], b[r])
				}
			case formats.OpMul:
				for r := range to {
					to[r] = field.MulLazy(field.Lazy(a[r]), field.Lazy(b[r])).Canonical()
				}
			}
		}
	}
}

// node is the register of an output after run.
func (p *program) node(m *machine, id uint32) []field.Element { return m.register(p.Where[id]) }
