package cpu

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover/internal/vector"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// rows is the number of rows that a program works on at a time: long enough to hide the cost of dispatch, short enough that a circuit's live values stay
// in the second-level cache.
const rows = vector.Block

// program is part of a circuit's graph, lowered to straight-line code over registers of `rows` values.
type program struct {
	circuit   *air.Circuit
	code      []instruction
	registers int
	where     []int32 // register of each node that is an output or is read as a column; -1 for others
}

type instruction struct {
	op   formats.Op
	to   int32
	a, b int32         // registers, or column and offset
	v    field.Element // constant
}

// compile lowers the nodes that the outputs need. Registers are reused after the last reader of their value, except those of outputs and constants.
func compile(c *air.Circuit, outputs []uint32) *program {
	p := &program{circuit: c, where: make([]int32, len(c.Nodes))}
	const never = -1
	last := make([]int, len(c.Nodes))
	for i := range last {
		last[i] = never
		p.where[i] = never
	}
	for _, id := range outputs {
		last[id] = len(c.Nodes)
	}
	for i := len(c.Nodes) - 1; i >= 0; i-- {
		if n := c.Nodes[i]; last[i] != never && n.Op >= formats.OpAdd {
			last[n.A] = max(last[n.A], i)
			last[n.B] = max(last[n.B], i)
		}
	}
	var free []int32
	for i, n := range c.Nodes {
		if last[i] == never {
			continue
		}
		ins := instruction{op: n.Op, a: int32(n.A), b: int32(n.B)}
		switch {
		case n.Op == formats.OpConst:
			ins.a, ins.v = 0, field.Element(n.A)
		case n.Op >= formats.OpAdd:
			ins.a, ins.b = p.where[n.A], p.where[n.B]
			for _, id := range [...]uint32{uint32(n.A), n.B} {
				if last[id] == i {
					last[id] = never
					if c.Nodes[id].Op != formats.OpConst {
						free = append(free, p.where[id])
					}
				}
			}
		}
		// An instruction may write over its own operand: it reads each value before it writes it.
		if len(free) > 0 && n.Op != formats.OpConst {
			ins.to = free[len(free)-1]
			free = free[:len(free)-1]
		} else {
			ins.to = int32(p.registers)
			p.registers++
		}
		p.where[i] = ins.to
		p.code = append(p.code, ins)
	}
	return p
}

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
	m := &machine{make([]field.Element, p.registers*rows), make([][]field.Element, p.registers)}
	// Constants have registers of their own, written once.
	for i := range p.code {
		if ins := &p.code[i]; ins.op == formats.OpConst {
			to := m.register(ins.to)
			for r := range to {
				to[r] = ins.v
			}
		}
	}
	return m
}

func (m *machine) register(r int32) []field.Element {
	return m.registers[int(r)*rows : int(r)*rows+rows : int(r)*rows+rows]
}

// run evaluates the program on a block of n <= rows rows.
func (p *program) run(m *machine, s source, n int) {
	for i := range p.code {
		ins := &p.code[i]
		to := m.register(ins.to)[:n]
		switch ins.op {
		case formats.OpConst:
		case formats.OpMain, formats.OpFixed, formats.OpPeriodic:
			to = s.column(to, ins.op, int(ins.a), ins.b == 1)
		case formats.OpFirst, formats.OpLast, formats.OpTransition:
			to = s.selector(to, ins.op)
		case formats.OpAdd:
			vector.Add(to, m.values[ins.a], m.values[ins.b])
		case formats.OpSub:
			vector.Sub(to, m.values[ins.a], m.values[ins.b])
		case formats.OpMul:
			vector.Mul(to, m.values[ins.a], m.values[ins.b])
		}
		m.values[ins.to] = to
	}
}

// node is the values of an output after run.
func (p *program) node(m *machine, id uint32) []field.Element { return m.values[p.where[id]] }
