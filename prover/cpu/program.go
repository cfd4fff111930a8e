package cpu

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels/lower"
	"github.com/ixprove/ixprove/prover/internal/vector"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// rows is the number of rows that a program works on at a time: long enough to hide the cost of dispatch, short enough that a circuit's live values stay
// in the second-level cache.
const rows = vector.Block

// program is part of a circuit's graph, lowered to straight-line code over registers of `rows` values.
type program struct {
	*lower.Program
	circuit *air.Circuit
}

// compile lowers the nodes that the outputs need.
func compile(c *air.Circuit, outputs []uint32) *program { return &program{lower.Keep(c, outputs), c} }

// source gives a program the values of a block of rows: columns of this row and the next, by kind (main, fixed, periodic as in formats.Op), and selectors. The values are where they
// lie, or in dst.
type source interface {
	column(dst []field.Element, op formats.Op, index int, next bool) []field.Element
	selector(dst []field.Element, op formats.Op) []field.Element
}

// machine holds the registers of one worker, and where the value of each register is: there, or in the source.
type machine struct {
	registers []field.Element
	values    [][]field.Element
}

func (p *program) machine() *machine {
	return &machine{make([]field.Element, p.Registers*rows), make([][]field.Element, p.Registers)}
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
			to = s.column(to, ins.Op, int(ins.A), ins.B == 1)
		case formats.OpFirst, formats.OpLast, formats.OpTransition:
			to = s.selector(to, ins.Op)
		case formats.OpAdd:
			vector.Add(to, m.values[ins.A], m.values[ins.B])
		case formats.OpSub:
			vector.Sub(to, m.values[ins.A], m.values[ins.B])
		case formats.OpMul:
			vector.Mul(to, m.values[ins.A], m.values[ins.B])
		}
		m.values[ins.To] = to
	}
}

// node is the values of an output after run.
func (p *program) node(m *machine, id uint32) []field.Element { return m.values[p.Where[id]] }
