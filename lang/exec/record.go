package exec

import (
	"github.com/ixprove/ixprove/lang/accel"
	"github.com/ixprove/ixprove/verifier/field"
)

// Entry is an entry of a function's table. Its slices are the table's own.
type Entry struct {
	Args, Results []field.Element
	Uses          uint64 // by constrained calls, claims not counted
	Rank          uint32 // above that of all entries of the same component that the call used
	Constrained   bool   // it is a row
}

// Entries is the number of entries of a function's table.
func (r *Record) Entries(function int) int { return r.functions[function].count }

// Entry is an entry of a function's table.
func (r *Record) Entry(function, i int) Entry {
	return r.split(function, r.functions[function].entry(i))
}

func (r *Record) split(function int, e []field.Element) Entry {
	f := &r.Module.functions[function]
	marks := e[f.params+f.results:]
	return Entry{e[:f.params:f.params], e[f.params : f.params+f.results : f.params+f.results], uint64(marks[markUses]), uint32(marks[markState] & rankMask), marks[markState]&stateConstrained != 0}
}

// Find returns the entry with these arguments. It is false if the execution called the function with no such arguments.
func (r *Record) Find(function int, args []field.Element) (Entry, bool) {
	t := r.functions[function]
	i, ok := t.lookup(args)
	if !ok {
		return Entry{}, false
	}
	return r.split(function, t.entry(i)), true
}

// Rows lists the entries of a function's table that are rows, ascending.
func (r *Record) Rows(function int) []uint32 {
	t := r.functions[function]
	var rows []uint32
	for i := range t.count {
		if t.entry(i)[t.stride-functionMarks+markState]&stateConstrained != 0 {
			rows = append(rows, uint32(i))
		}
	}
	return rows
}

// Widths lists the widths of memory cells, in the order of first use.
func (r *Record) Widths() []int { return r.widths }

// Cells is the number of cells of a width; pointers to them count from 0.
func (r *Record) Cells(width int) int {
	if t := r.memory[width]; t != nil {
		return t.count
	}
	return 0
}

// Cell is what a cell holds and how often constrained operations use it.
func (r *Record) Cell(width, pointer int) (values []field.Element, uses uint64) {
	e := r.memory[width].entry(pointer)
	return e[:width:width], uint64(e[width])
}

// FindCell returns the pointer to the cell with these values, and false if there is none.
func (r *Record) FindCell(values []field.Element) (pointer int, ok bool) {
	t := r.memory[len(values)]
	if t == nil {
		return 0, false
	}
	return t.lookup(values)
}

// Accelerated is the number of distinct constrained calls of an accelerator.
func (r *Record) Accelerated(k accel.Kind) int {
	if t := r.accel[k]; t != nil {
		return t.count
	}
	return 0
}

// AcceleratedCall is call i of an accelerator and how often it is used.
func (r *Record) AcceleratedCall(k accel.Kind, i int) (args, results []field.Element, uses uint64) {
	a, e := k.Of(), r.accel[k].entry(i)
	return e[:a.Args:a.Args], e[a.Args : a.Args+a.Results : a.Args+a.Results], uint64(e[a.Args+a.Results])
}

// Input is a private input of the program.
func (r *Record) Input(i int) []field.Element { return r.inputs[i] }
