// Package ptx writes circuits as kernels in PTX, NVIDIA's portable assembly (PTX ISA 7.0), for the driver of a device to compile: straight lines of field arithmetic, without loops, calls, shared
// memory or stack.
//
// A circuit's constraints and groups of lookups are cut into chunks, a kernel each, of few enough operations that the driver's compiler takes a fraction of a second and keeps all values in
// registers. A chunk computes shared nodes again that others compute too, and reads columns again. Kernels depend on the circuit alone, not on heights or challenges: these are parameters. The same
// circuit gives the same text, and a kernel's name is a digest of it.
//
// The tests run the text by a machine for just the instructions that are used, and compare with the formulas of docs/protocol.md.
package ptx

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/air"
)

// Threads is the size of a kernel's blocks.
const Threads = 128

// chunkOperations bounds the operations of a chunk of several items. Only tests change it.
var chunkOperations = 400

const (
	itemOperations  = 8000 // a circuit with a larger item is not written
	parameterBytes  = 4096 // a kernel's block of parameters
	periodicBytes   = 16
	extBytes        = 24
	twiceBytes      = 40 // with two coefficients doubled
	blocksProcessor = 4  // blocks that a multiprocessor should hold: at most 128 registers a thread
)

// What says which challenge a constant is.
type What int

// The challenges.
const (
	Delta    What = iota // delta to the power Index
	NegDelta             // the same, negated
	Gamma                // gamma to the power Index, from 1
	Base                 // alpha + 1 + Index, of the channel of that number
)

// Constant is an element of the extension that a kernel takes at an offset of its parameter block, three words; where Twice is set, two times its higher coefficients follow, two words.
type Constant struct {
	What   What
	Index  int
	Twice  bool
	Offset int
}

// Chunk is one kernel.
type Chunk struct {
	Kernel     string // its name: a digest of the text
	Text       string
	Operations int
	Items      int   // constraints and groups of lookups
	Periodic   []int // the columns of which an address, a shift and a mask, 8, 4 and 4 bytes, follow Parameters
	Constants  []Constant
	ArgBytes   int
}

// Program is the kernels of a circuit, to be run in their order.
type Program struct{ Chunks []Chunk }

// Operations is the number of field operations of all chunks.
func (p *Program) Operations() (n int) {
	for i := range p.Chunks {
		n += p.Chunks[i].Operations
	}
	return n
}

// Quotient writes the kernels that fold a circuit's constraints, those of its groups of lookups included, and divide by Z: each adds to three columns what its constraints contribute. It returns
// nil for a circuit with an item that is too large.
func Quotient(c *air.Circuit) *Program { return write(c, true) }

// Fractions writes the kernels that compute the fraction of each group of lookups. It returns nil for a circuit with an item that is too large.
func Fractions(c *air.Circuit) *Program { return write(c, false) }

// item is what is not cut: a constraint, or a group of lookups.
type item struct{ constraint, group int } // -1 where it is the other

// write cuts a circuit's items, in the order of their nodes, into chunks, and writes these side by side.
func write(c *air.Circuit, quotient bool) *Program {
	w := newWriter(c, quotient)
	items := order(c, quotient)
	var cuts []int
	for first := 0; first < len(items); {
		w.begin()
		end := first
		for ; end < len(items); end++ {
			w.extend(items[end])
			if end == first && (w.operations > itemOperations || w.bytes > parameterBytes) {
				return nil
			}
			if end > first && (w.operations > chunkOperations || w.bytes > parameterBytes) {
				break
			}
		}
		cuts = append(cuts, first)
		first = end
	}
	p := &Program{Chunks: make([]Chunk, len(cuts))}
	cuts = append(cuts, len(items))
	var wait sync.WaitGroup
	var next atomic.Int64
	for range min(len(p.Chunks), runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			w := &writer{c: c, quotient: quotient, need: w.need, seen: make([]int32, len(c.Nodes))}
			for i := int(next.Add(1)) - 1; i < len(p.Chunks); i = int(next.Add(1)) - 1 {
				p.Chunks[i] = w.chunk(items[cuts[i]:cuts[i+1]], i == 0, i == len(p.Chunks)-1)
			}
		})
	}
	wait.Wait()
	return p
}

// order lists the items: constraints before the first group with a node above theirs, so that both come about where the circuit's author wrote them.
func order(c *air.Circuit, quotient bool) (items []item) {
	var constraints []int
	if quotient {
		constraints = make([]int, len(c.Constraints))
		for k := range constraints {
			constraints[k] = k
		}
		slices.SortStableFunc(constraints, func(i, j int) int { return cmp.Compare(c.Constraints[i], c.Constraints[j]) })
	}
	for g, group := range c.Groups {
		top := uint32(0)
		for i := group.First; i < group.End; i++ {
			top = max(top, c.Lookups[i].Multiplicity)
			for _, id := range c.Lookups[i].Args {
				top = max(top, id)
			}
		}
		for len(constraints) > 0 && c.Constraints[constraints[0]] < top {
			items = append(items, item{constraints[0], -1})
			constraints = constraints[1:]
		}
		items = append(items, item{-1, g})
	}
	for _, k := range constraints {
		items = append(items, item{k, -1})
	}
	return items
}

// Field operations, of the base field, as a chunk's size and the benchmarks count them: an addition, a subtraction and a multiplication are one each. An element of the extension takes 3 additions;
// 3 multiplications by one of the base field; 9 and 6 additions by another.
const (
	extAdd   = 3
	extScale = 3
	extMul   = 15
)

// Operations counts the field operations of a circuit at a point: its graph, a power of delta for each constraint, and for each group of lookups messages, fraction and constraint
// (docs/protocol.md section 2), as they stand there, whatever a kernel saves.
func Operations(c *air.Circuit, quotient bool) int {
	w := newWriter(c, quotient)
	w.begin()
	for _, i := range order(c, quotient) {
		w.extend(i)
	}
	return w.operations
}

// itemCost counts what is done with an item's nodes.
func (w *writer) itemCost(i item) (n int) {
	if i.group < 0 {
		return extScale + extAdd
	}
	g := w.c.Groups[i.group]
	for k := g.First; k < g.End; k++ {
		n += len(w.c.Lookups[k].Args) * (extScale + extAdd)
		if k > g.First {
			n += 2*extMul + extScale + extAdd
		}
	}
	if w.quotient {
		n += 2*extAdd + 2*extMul + extAdd
	}
	return n
}

// writer writes the chunks of a circuit.
type writer struct {
	c        *air.Circuit
	quotient bool
	need     []int32 // registers that a node takes, about (Sethi and Ullman, JACM 17(4), 1970)
	stamp    int32   // the chunk's number
	seen     []int32 // the chunk in which a node was last counted

	// Of a chunk, when it is counted.
	uses       map[uint32]int
	wanted     map[Constant]bool
	periodic   []int
	operations int
	bytes      int // of parameters

	// Of a chunk, when it is written.
	f                 *function
	constants         []Constant
	values            map[uint32]word // computed nodes
	leaves            map[uint32]word // leaves and challenges that the item read: they are read again for the next, so that they are not held for long
	challenges        map[Constant]ext
	forms             map[uint32]form
	columns           map[origin]wide
	pitch             half
	index, next, last half // rows of the columns: this, the next, and the number of rows less 1
	position          half // of the point among those of the launch
}

func newWriter(c *air.Circuit, quotient bool) *writer {
	w := &writer{c: c, quotient: quotient, need: make([]int32, len(c.Nodes)), seen: make([]int32, len(c.Nodes))}
	for i, n := range c.Nodes {
		if n.Op < formats.OpAdd {
			w.need[i] = 1
			continue
		}
		a, b := w.need[n.A], w.need[n.B]
		if w.need[i] = max(a, b); a == b {
			w.need[i]++
		}
	}
	return w
}

func (w *writer) begin() {
	w.stamp++
	w.uses, w.wanted, w.periodic, w.operations, w.bytes = map[uint32]int{}, map[Constant]bool{}, nil, 0, HeaderBytes
	if w.quotient {
		w.bytes += 2 * twiceBytes // delta, and the power of it with which the groups' sum is multiplied
	}
}

// nodes lists the nodes that an item hands over.
func (w *writer) nodes(i item) (ids []uint32) {
	if i.group < 0 {
		return []uint32{w.c.Constraints[i.constraint]}
	}
	g := w.c.Groups[i.group]
	for k := g.First; k < g.End; k++ {
		ids = append(append(ids, w.c.Lookups[k].Args...), w.c.Lookups[k].Multiplicity)
	}
	return ids
}

// extend counts an item into the chunk, until it is known to be too large.
func (w *writer) extend(i item) {
	before := w.operations
	w.operations += w.itemCost(i)
	want := func(what What, index int) {
		if k := (Constant{What: what, Index: index}); !w.wanted[k] {
			w.wanted[k] = true
			w.bytes += extBytes
		}
	}
	if i.group < 0 {
		want(Delta, w.c.FoldedConstraints()-1-i.constraint)
	} else {
		for k := w.c.Groups[i.group].First; k < w.c.Groups[i.group].End; k++ {
			want(Base, int(w.c.Lookups[k].Channel))
			for a := range w.c.Lookups[k].Args {
				want(Gamma, a+1)
			}
		}
	}
	stack := w.nodes(i)
	for _, id := range stack {
		w.uses[id]++
	}
	for len(stack) > 0 && w.operations-before <= itemOperations {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if w.seen[id] == w.stamp {
			continue
		}
		w.seen[id] = w.stamp
		n := w.c.Nodes[id]
		if n.Op == formats.OpPeriodic && !slices.Contains(w.periodic, int(n.A)) {
			w.periodic = append(w.periodic, int(n.A))
			w.bytes += periodicBytes
		}
		if n.Op >= formats.OpAdd {
			w.operations++
			w.uses[uint32(n.A)]++
			w.uses[n.B]++
			stack = append(stack, uint32(n.A), n.B)
		}
	}
}
