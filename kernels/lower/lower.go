// Package lower turns circuits into straight-line programs over registers, for the backends to interpret: one order of evaluation, one allocation of registers.
package lower

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// Use is the Op of an instruction that hands over an output: B is its position in the list of outputs, A the operand that holds it.
const Use = formats.NumOps

// Instruction is one step. Arithmetic reads A and B and writes register To; a column is read as by the node's A and B; a constant is V.
//
// In a streamed program, an operand below zero is node ^operand of the circuit: a leaf that is read where it is.
type Instruction struct {
	Op   formats.Op
	To   int32
	A, B int32
	V    field.Element
}

// Program is part of a circuit's graph as straight-line code.
type Program struct {
	Code      []Instruction
	Registers int
	Where     []int32 // register of each node that was computed; that of an output of Keep holds it at the end
}

// Keep lowers what the outputs need. All leaves are loaded into registers, and all outputs are in theirs at the end.
func Keep(c *air.Circuit, outputs []uint32) *Program { return lower(c, outputs, false) }

// Stream lowers what the outputs need into a program that hands over one output after the other, in order, and keeps none. Constants, columns and selectors are read where they
// are; periodic columns are loaded, for where they are depends on the period.
func Stream(c *air.Circuit, outputs []uint32) *Program { return lower(c, outputs, true) }

// step is the evaluation of a node, or, where use is not negative, an output.
type step struct {
	node uint32
	use  int
}

func lower(c *air.Circuit, outputs []uint32, stream bool) *Program {
	direct := func(id uint32) bool {
		return stream && c.Nodes[id].Op < formats.OpAdd && c.Nodes[id].Op != formats.OpPeriodic
	}
	steps := schedule(c, outputs, direct)
	last := make([]int, len(c.Nodes)) // the last step that reads each node
	for i, s := range steps {
		n := c.Nodes[s.node]
		switch {
		case s.use >= 0 && !stream:
			last[s.node] = len(steps)
		case s.use >= 0:
			last[s.node] = i
		case n.Op >= formats.OpAdd:
			last[n.A], last[n.B] = max(last[n.A], i), max(last[n.B], i)
		}
	}
	p := &Program{Where: make([]int32, len(c.Nodes))}
	for i := range p.Where {
		p.Where[i] = -1
	}
	var free []int32
	read := func(id uint32, i int) int32 {
		if direct(id) {
			return ^int32(id)
		}
		if last[id] == i {
			last[id] = -1 // freed once where an instruction reads it twice
			free = append(free, p.Where[id])
		}
		return p.Where[id]
	}
	for i, s := range steps {
		n := c.Nodes[s.node]
		ins := Instruction{Op: n.Op, A: int32(n.A), B: int32(n.B)}
		switch {
		case s.use >= 0 && !stream:
			continue
		case s.use >= 0:
			p.Code = append(p.Code, Instruction{Op: Use, A: read(s.node, i), B: int32(s.use)})
			continue
		case n.Op == formats.OpConst:
			ins.A, ins.V = 0, field.Element(n.A)
		case n.Op >= formats.OpAdd:
			ins.A, ins.B = read(uint32(n.A), i), read(n.B, i)
		}
		// An instruction may write over its own operand: it reads each value before it writes it.
		if len(free) > 0 {
			ins.To = free[len(free)-1]
			free = free[:len(free)-1]
		} else {
			ins.To = int32(p.Registers)
			p.Registers++
		}
		p.Where[s.node] = ins.To
		p.Code = append(p.Code, ins)
	}
	return p
}

// schedule orders the nodes that the outputs need depth first, output by output, of two operands the one that needs more registers first (Sethi and Ullman, JACM 17(4), 1970,
// as if the graph were a tree).
func schedule(c *air.Circuit, outputs []uint32, direct func(uint32) bool) []step {
	need := make([]int, len(c.Nodes))
	for i, n := range c.Nodes {
		if n.Op < formats.OpAdd {
			if !direct(uint32(i)) {
				need[i] = 1
			}
			continue
		}
		a, b := need[n.A], need[n.B]
		if need[i] = max(a, b, 1); a == b {
			need[i] = a + 1
		}
	}
	var steps []step
	var stack []uint32
	done := make([]bool, len(c.Nodes))
	for k, id := range outputs {
		stack = append(stack, id)
		for len(stack) > 0 {
			id := stack[len(stack)-1]
			n := c.Nodes[id]
			if !done[id] && n.Op >= formats.OpAdd {
				a, b := uint32(n.A), n.B
				if need[b] > need[a] {
					a, b = b, a
				}
				if !done[a] {
					stack = append(stack, a)
					continue
				}
				if !done[b] {
					stack = append(stack, b)
					continue
				}
			}
			stack = stack[:len(stack)-1]
			if !done[id] {
				done[id] = true
				if !direct(id) {
					steps = append(steps, step{id, -1})
				}
			}
		}
		steps = append(steps, step{id, k})
	}
	return steps
}
