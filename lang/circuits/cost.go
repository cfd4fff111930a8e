package circuits

import (
	"strconv"

	"github.com/ixprove/ixprove/lang/exec"
)

// Cost is what a part of an execution costs to prove.
type Cost struct {
	Name    string
	Calls   uint64 // constrained uses, claims included: of a function, of cells, of an accelerator, of facts about words
	Rows    int    // distinct calls or cells times the rows that each takes, padding not counted
	Columns int    // of the circuit, all that a proof commits to
	Circuit int
}

// Cells is Rows times Columns.
func (c *Cost) Cells() int { return c.Rows * c.Columns }

// Costs lists the costs of an execution: of its functions in the order of the program, memory, accelerators, and the table of words. columns says how many columns of the base field a circuit of the key has, main, auxiliary and
// quotient.
func (s *System) Costs(r *exec.Record, columns func(circuit int) int) []Cost {
	var out []Cost
	claimed := map[int]uint64{}
	for _, c := range r.Claims {
		claimed[int(s.Module.Program.Entries[c.Entry].Function)]++
	}
	circuitOf := map[int]int{}
	for g := range s.groups {
		for _, f := range s.groups[g].Functions {
			circuitOf[f] = g
		}
	}
	for f := range s.Module.Program.Functions {
		g, ok := circuitOf[f]
		if !ok {
			continue
		}
		c := Cost{Name: s.Module.Program.Functions[f].Name, Calls: claimed[f], Columns: columns(g), Circuit: g}
		for i := range r.Entries(f) {
			if e := r.Entry(f, i); e.Constrained {
				c.Rows++
				c.Calls += e.Uses
			}
		}
		out = append(out, c)
	}
	for i, w := range s.widths {
		c := Cost{Name: "memory of width " + strconv.Itoa(w), Rows: r.Cells(w), Columns: columns(s.first.memory + i), Circuit: s.first.memory + i}
		for p := range c.Rows {
			_, uses := r.Cell(w, p)
			c.Calls += uses
		}
		out = append(out, c)
	}
	for i, k := range s.accels {
		c := Cost{Name: k.Of().Name + " compressions", Rows: r.Accelerated(k) * acceleratorCircuits[k].rows, Columns: columns(s.first.accel + i), Circuit: s.first.accel + i}
		for n := range r.Accelerated(k) {
			_, _, uses := r.AcceleratedCall(k, n)
			c.Calls += uses
		}
		out = append(out, c)
	}
	if len(s.facts) > 0 {
		out = append(out, Cost{Name: "table of words", Rows: 1 << wordsLog, Columns: columns(s.first.words), Circuit: s.first.words})
	}
	return out
}
