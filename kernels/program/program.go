// Package program lowers a circuit's constraint graph and lookups to straight-line code over numbered registers, in a form that a kernel interprets (kernels/cu/program.cuh)
// and so does Go (Run, the kernel's twin).
//
// An instruction is two 64-bit words: op + 2^8·to + 2^32·a, and b. Operands say where a value is (Kind): columns and constants are read where they are used, so that
// registers hold results only. What constraints and lookups evaluate to is consumed as soon as it is computed, so that few results are held at a time.
package program

import (
	"math"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// Op is an operation.
type Op uint8

// The operations. a is an operand throughout, b one where arithmetic takes two.
const (
	First      Op = iota // to = a selector
	Last                 //
	Transition           //
	Add                  // to = a + b
	Sub                  // to = a - b
	Mul                  // to = a * b
	Fold                 // folded += delta power b times a
	Message              // message = base of channel b
	Arg                  // message += gamma power b times a
	Begin                // the group's fraction = ±a / message; b = 1 for a push, else 0
	Join                 // the group's fraction += ±a / message; b as above
	Group                // the fraction is that of group b
)

// arithmetic gives the operation of a node of the graph that has a register.
var arithmetic = map[formats.Op]Op{
	formats.OpFirst: First, formats.OpLast: Last, formats.OpTransition: Transition, formats.OpAdd: Add, formats.OpSub: Sub, formats.OpMul: Mul,
}

// Operand is Kind + index: where a value is.
type Operand uint32

// Kind is the top four bits of an operand; Next is set in it for a column's value in the next row.
type Kind = Operand

// The kinds of operands.
const (
	Register Kind = iota << 28
	Constant
	Main
	Fixed
	Periodic
	Next Kind = 1 << 31
)

const indexMask = 1<<28 - 1

// columnKind gives the kind of operand of a column node.
var columnKind = map[formats.Op]Kind{formats.OpMain: Main, formats.OpFixed: Fixed, formats.OpPeriodic: Periodic}

// words is the number of words of an instruction.
const words = 2

// MaxRegisters bounds a program's registers: their numbers take 24 bits.
const MaxRegisters = 1 << 24

// Program is straight-line code.
type Program struct {
	Code      []uint64
	Constants []field.Element
	Registers int
}

// Len is the number of instructions.
func (p *Program) Len() int { return len(p.Code) / words }

func (p *Program) emit(op Op, to uint32, a Operand, b uint64) {
	p.Code = append(p.Code, uint64(op)|uint64(to)<<8|uint64(a)<<32, b)
}

// Constraints is the program of all constraints of a circuit, folded, and then its lookup groups' fractions.
func Constraints(c *air.Circuit) *Program { return lower(c, c.Constraints) }

// Lookups is the program of a circuit's lookup groups' fractions alone.
func Lookups(c *air.Circuit) *Program { return lower(c, nil) }

// lower orders the nodes that constraints and lookups need as the graph does, and consumes a constraint after its node, a group after the last node that it reads.
func lower(c *air.Circuit, constraints []uint32) *Program {
	const never, end = -1, math.MaxInt
	// last[i] is the step at which node i is last read: the node that reads it, or the node after which it is consumed.
	last := make([]int, len(c.Nodes))
	for i := range last {
		last[i] = never
	}
	folds, groups := make([][]int, len(c.Nodes)), make([][]int, len(c.Nodes))
	for k, id := range constraints {
		folds[id] = append(folds[id], k)
		last[id] = max(last[id], int(id))
	}
	for g, group := range c.Groups {
		var nodes []uint32
		for i := group.First; i < group.End; i++ {
			nodes = append(append(nodes, c.Lookups[i].Multiplicity), c.Lookups[i].Args...)
		}
		at := uint32(0)
		for _, id := range nodes {
			at = max(at, id)
		}
		groups[at] = append(groups[at], g)
		for _, id := range nodes {
			last[id] = max(last[id], int(at))
		}
	}
	for i := len(c.Nodes) - 1; i >= 0; i-- {
		if n := c.Nodes[i]; last[i] != never && n.Op >= formats.OpAdd {
			last[n.A] = max(last[n.A], i)
			last[n.B] = max(last[n.B], i)
		}
	}

	p := &Program{}
	where := make([]Operand, len(c.Nodes))
	var free []uint32
	// done frees a node's register, if it has one, after its last reader.
	done := func(id uint32, step int) {
		if last[id] == step && where[id] < Constant {
			last[id] = end
			free = append(free, uint32(where[id]))
		}
	}
	for i, n := range c.Nodes {
		if last[i] == never {
			continue
		}
		op, computed := arithmetic[n.Op]
		switch {
		case n.Op == formats.OpConst:
			where[i] = Constant | Operand(len(p.Constants))
			p.Constants = append(p.Constants, field.Element(n.A))
		case !computed:
			where[i] = columnKind[n.Op] | Operand(n.A)
			if n.B == 1 {
				where[i] |= Next
			}
		default:
			var a Operand
			var b uint64
			if n.Op >= formats.OpAdd {
				a, b = where[n.A], uint64(where[n.B])
				// An instruction may write over its own operand, unless a group that is consumed after it needs that.
				if len(groups[i]) == 0 {
					done(uint32(n.A), i)
					done(n.B, i)
				}
			}
			to := uint32(p.Registers)
			if len(free) > 0 {
				to, free = free[len(free)-1], free[:len(free)-1]
			} else {
				p.Registers++
			}
			where[i] = Operand(to)
			p.emit(op, to, a, b)
		}
		for _, k := range folds[i] {
			p.emit(Fold, 0, where[i], uint64(k))
		}
		for _, g := range groups[i] {
			p.group(c, g, where)
		}
		for _, g := range groups[i] {
			for k := c.Groups[g].First; k < c.Groups[g].End; k++ {
				done(c.Lookups[k].Multiplicity, i)
				for _, id := range c.Lookups[k].Args {
					done(id, i)
				}
			}
		}
		if n.Op >= formats.OpAdd {
			done(uint32(n.A), i)
			done(n.B, i)
		}
		done(uint32(i), i)
	}
	return p
}

func (p *Program) group(c *air.Circuit, g int, where []Operand) {
	op := Begin
	for i := c.Groups[g].First; i < c.Groups[g].End; i++ {
		l := &c.Lookups[i]
		p.emit(Message, 0, 0, uint64(l.Channel))
		for k, id := range l.Args {
			p.emit(Arg, 0, where[id], uint64(k))
		}
		push := uint64(0)
		if l.Push {
			push = 1
		}
		p.emit(op, 0, where[l.Multiplicity], push)
		op = Join
	}
	p.emit(Group, 0, 0, uint64(g))
}

// Inputs is what a program reads on a row, and what it is told about lookups.
type Inputs struct {
	Column   func(kind Kind, index int, next bool) field.Element
	Selector func(op Op) field.Element
	Deltas   []field.Ext                                       // by constraint
	Bases    []field.Ext                                       // by channel: alpha + the channel's number
	Powers   []field.Ext                                       // gamma, gamma^2, …
	Group    func(group int, numerator, denominator field.Ext) // takes a group's fraction
}

// Run evaluates a program on one row, with registers as working memory, and returns Σ delta·constraint.
func (p *Program) Run(in *Inputs, registers []field.Element) (folded field.Ext) {
	var message, numerator, denominator field.Ext
	signed := func(sum, term field.Ext, push uint64) field.Ext {
		if push == 1 {
			return field.AddExt(sum, term)
		}
		return field.SubExt(sum, term)
	}
	value := func(o Operand) field.Element {
		index := int(o & indexMask)
		switch kind := o &^ indexMask; kind {
		case Register:
			return registers[index]
		case Constant:
			return p.Constants[index]
		default:
			return in.Column(kind&^Next, index, kind&Next != 0)
		}
	}
	for i := 0; i < len(p.Code); i += words {
		w, b := p.Code[i], p.Code[i+1]
		op, to, a := Op(w), uint32(w)>>8, Operand(w>>32)
		switch op {
		case First, Last, Transition:
			registers[to] = in.Selector(op)
		case Add:
			registers[to] = field.Add(value(a), value(Operand(b)))
		case Sub:
			registers[to] = field.Sub(value(a), value(Operand(b)))
		case Mul:
			registers[to] = field.Mul(value(a), value(Operand(b)))
		case Fold:
			folded = field.AddExt(folded, field.ScaleExt(in.Deltas[b], value(a)))
		case Message:
			message = in.Bases[b]
		case Arg:
			message = field.AddExt(message, field.ScaleExt(in.Powers[b], value(a)))
		case Begin:
			numerator, denominator = signed(field.Ext{}, field.FromBase(value(a)), b), message
		case Join:
			numerator = signed(field.MulExt(numerator, message), field.ScaleExt(denominator, value(a)), b)
			denominator = field.MulExt(denominator, message)
		case Group:
			in.Group(int(b), numerator, denominator)
		}
	}
	return folded
}
