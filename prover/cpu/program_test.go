package cpu

import (
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// TestProgramOnTraces runs programs of random circuits over whole traces, block by block, and compares every output with the graph's evaluation.
func TestProgramOnTraces(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 1))
	for _, logHeight := range []int{0, 1, 2, 5, 6, 7, 8} {
		for degree := 2; degree <= 5; degree++ {
			x := newInstance(t, r, logHeight, degree, 5)
			c := x.table.Circuit
			outputs := append(append([]uint32(nil), c.Constraints...), lookupOutputs(c)...)
			for range 5 { // intermediate nodes, some twice
				outputs = append(outputs, uint32(r.IntN(len(c.Nodes))))
			}
			p := compile(c, outputs)
			m := p.machine()
			n := 1 << logHeight
			for first := 0; first < n; first += rows {
				count := min(rows, n-first)
				p.run(m, &traceSource{main: x.main, fixed: x.fixed, periodic: c.Periodic, height: n, first: first}, count)
				for i := range count {
					nodes := c.Evaluate(x.row(first + i))
					for _, id := range outputs {
						if got := p.node(m, id)[i]; field.FromBase(got) != nodes[id] {
							t.Fatalf("height 2^%d, row %d, node %d (%+v): %d, want %v", logHeight, first+i, id, c.Nodes[id], got, nodes[id])
						}
					}
				}
			}
		}
	}
}

// TestProgramsAreFrugal checks that only what the outputs need is computed, and that registers are used again.
func TestProgramsAreFrugal(t *testing.T) {
	b := air.NewSystem("chain").Circuit("only")
	x := b.Column("x")
	y, unused := b.Column("y"), b.Column("unused")
	e := x.Mul(y)
	for range 100 {
		e = e.Mul(x).Add(y)
	}
	b.Assert("chain", e)
	unused.Mul(unused)
	c := &air.Circuit{Circuit: b.Circuit}
	p := compile(c, c.Constraints)
	if len(p.code) != 2+1+200 {
		t.Errorf("%d instructions", len(p.code))
	}
	if p.registers != 3 {
		t.Errorf("%d registers for a chain of two columns", p.registers)
	}
	for _, ins := range p.code {
		if ins.op == formats.OpMain && ins.a == 2 {
			t.Error("a column is read that no output needs")
		}
	}
}

// TestProgramOperandTwice has instructions that read one register twice and write over it.
func TestProgramOperandTwice(t *testing.T) {
	for _, op := range []formats.Op{formats.OpAdd, formats.OpSub, formats.OpMul} {
		c := &air.Circuit{Circuit: formats.Circuit{Nodes: []formats.Node{
			{Op: formats.OpMain}, {Op: op, A: 0, B: 0}, {Op: formats.OpMain, A: 1}, {Op: formats.OpMul, A: 2, B: 2}, {Op: formats.OpAdd, A: 1, B: 3},
		}}}
		p := compile(c, []uint32{4})
		m := p.machine()
		p.run(m, &traceSource{main: [][]field.Element{{5}, {6}}, height: 1}, 1)
		want := c.Evaluate(&air.Point{Main: []field.Ext{{5}, {6}}})[4][0]
		if got := p.node(m, 4)[0]; got != want {
			t.Errorf("operation %d: %d, want %d", op, got, want)
		}
	}
}
