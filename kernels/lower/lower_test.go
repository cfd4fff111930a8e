package lower_test

import (
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels/lower"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// run interprets a program of a graph whose leaves have the given values, node by node, and calls use for what it hands over.
func run(t *testing.T, p *lower.Program, leaves []field.Element, nodes []formats.Node, use func(k int, v field.Element)) []field.Element {
	t.Helper()
	registers := make([]field.Element, p.Registers)
	written := make([]bool, p.Registers)
	operand := func(o int32) field.Element {
		if o < 0 {
			if nodes[^o].Op >= formats.OpAdd || nodes[^o].Op == formats.OpPeriodic {
				t.Fatalf("node %d is read where it is", ^o)
			}
			return leaves[^o]
		}
		if !written[o] {
			t.Fatalf("register %d is read before it is written", o)
		}
		return registers[o]
	}
	for _, ins := range p.Code {
		var v field.Element
		switch ins.Op {
		case lower.Use:
			use(int(ins.B), operand(ins.A))
			continue
		case formats.OpConst:
			v = ins.V
		case formats.OpAdd:
			v = field.Add(operand(ins.A), operand(ins.B))
		case formats.OpSub:
			v = field.Sub(operand(ins.A), operand(ins.B))
		case formats.OpMul:
			v = field.Mul(operand(ins.A), operand(ins.B))
		default:
			for i, n := range nodes {
				if n.Op == ins.Op && n.A == uint64(ins.A) && n.B == uint32(ins.B) {
					v = leaves[i]
				}
			}
		}
		registers[ins.To], written[ins.To] = v, true
	}
	return registers
}

// randomGraph draws a graph of distinct leaves and of operations on any earlier nodes, and the value of each node.
func randomGraph(r *rand.Rand, leaves, operations int) (nodes []formats.Node, values []field.Element) {
	for i := range leaves {
		n := formats.Node{Op: formats.Op(i) % formats.OpAdd, A: uint64(i), B: uint32(r.IntN(2))}
		v := field.New(r.Uint64())
		if n.Op == formats.OpConst {
			n.A, n.B = uint64(v), 0
		}
		nodes, values = append(nodes, n), append(values, v)
	}
	for range operations {
		n := formats.Node{Op: formats.OpAdd + formats.Op(r.IntN(3)), A: r.Uint64N(uint64(len(nodes))), B: uint32(r.IntN(len(nodes)))}
		f := [...]func(a, b field.Element) field.Element{field.Add, field.Sub, field.Mul}[n.Op-formats.OpAdd]
		nodes, values = append(nodes, n), append(values, f(values[n.A], values[n.B]))
	}
	return nodes, values
}

func TestProgramsComputeTheOutputs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		nodes, values := randomGraph(r, 1+r.IntN(20), r.IntN(60))
		c := &air.Circuit{Circuit: formats.Circuit{Nodes: nodes}}
		outputs := make([]uint32, r.IntN(10))
		for k := range outputs {
			outputs[k] = uint32(r.IntN(len(nodes))) // some twice, some leaves
		}
		kept := lower.Keep(c, outputs)
		registers := run(t, kept, values, nodes, func(int, field.Element) { t.Fatal("Keep handed over an output") })
		for _, id := range outputs {
			if registers[kept.Where[id]] != values[id] {
				t.Fatalf("kept: node %d is wrong", id)
			}
		}
		next := 0
		run(t, lower.Stream(c, outputs), values, nodes, func(k int, v field.Element) {
			if k != next || v != values[outputs[k]] {
				t.Fatalf("streamed: output %d, after %d, is wrong", k, next)
			}
			next++
		})
		if next != len(outputs) {
			t.Fatalf("streamed: %d of %d outputs", next, len(outputs))
		}
	}
}

// TestProgramsAreFrugal checks that what no output needs is left out, and that registers are used again.
func TestProgramsAreFrugal(t *testing.T) {
	b := air.NewSystem("chain").Circuit("chain")
	x, y, unused := b.Column("x"), b.Column("y"), b.Column("unused")
	e := x.Mul(y)
	const links = 100_000
	for range links {
		e = e.Mul(x).Add(y)
	}
	for range 10 {
		b.Assert("chain", e)
		e = e.Mul(e)
	}
	unused.Mul(unused)
	c := &air.Circuit{Circuit: b.Circuit}
	operations := 1 + 2*links + 9
	for _, want := range []struct {
		program                 *lower.Program
		instructions, registers int
	}{{lower.Keep(c, c.Constraints), 2 + operations, 10}, {lower.Stream(c, c.Constraints), operations + 10, 1}} {
		if p := want.program; len(p.Code) != want.instructions || p.Registers != want.registers {
			t.Errorf("%d instructions on %d registers, want %d and %d", len(p.Code), p.Registers, want.instructions, want.registers)
		}
	}
}

// TestHeavierOperandsComeFirst has a sum whose right operand needs more registers than its left one, again and again.
func TestHeavierOperandsComeFirst(t *testing.T) {
	b := air.NewSystem("comb").Circuit("comb")
	x, y := b.Column("x"), b.Column("y")
	e := x.Sub(y)
	for i := range 50 {
		e = x.Times(field.Element(i + 2)).Sub(e)
	}
	b.Assert("comb", e)
	c := &air.Circuit{Circuit: b.Circuit}
	if p := lower.Stream(c, c.Constraints); p.Registers != 2 {
		t.Errorf("%d registers", p.Registers)
	}
}
