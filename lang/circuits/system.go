// Package circuits makes a program's circuits and the witness of its executions.
//
// Every constrained function is a table: a row for each call, which answers for it as often as it is used, and uses the facts that the call's operations need: other calls, cells of memory, bytes and
// words. All facts are messages on lookup channels. Rows know nothing of each other, so that they may stand in any order, table and shard. docs/lang/internals.md argues that a proof's claims are true.
package circuits

import (
	"strconv"
	"strings"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/accel"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// MemoryEntry is the name of the entry that stands for the memory of a batch: it is claimed once (P-38), and its one row starts the one chain of cells. Programs without memory have no such entry.
const MemoryEntry = "(memory)"

// System is a program's circuits, and what is needed to write their tables. It is immutable and safe for concurrent use.
type System struct {
	Module *exec.Module
	Air    *air.System
	groups []group
	widths []int                                      // of memory, in the order of their circuits
	first  struct{ memory, anchor, accel, words int } // circuits; -1 where there are none
	accels []accel.Kind
	facts  []fact
}

// group is functions that share a circuit.
type group struct {
	Name      string
	Functions []int
	Recursive bool // its messages have ranks
	payload   int  // elements of the longest arguments and results
	Plans     []*Plan
}

// channel is a lookup channel and its number.
type channel struct {
	air.Channel
	number int
}

// assembler builds a system. Channels of memory, facts and accelerators are declared when they are first used.
type assembler struct {
	air      *air.System
	module   *exec.Module
	groups   []group
	groupOf  []int // of functions; -1 for those without rows
	memberOf []int // their place in the group
	entryOf  []int // of functions; -1 for those that are none
	trial    map[slotKey]int
	users    map[slotKey]int

	channels      int
	calls         []channel // of groups
	entries       []channel
	cells         map[int]channel // by width
	widths        []int
	facts         [numFacts]*channel
	factOrder     []fact
	accelerators  [accel.NumKinds]*channel
	acceleratorOf []accel.Kind
}

func (a *assembler) channel(name string, arity int) channel {
	a.channels++
	return channel{a.air.Channel(name, arity), a.channels - 1}
}

func (a *assembler) memory(width int) channel {
	ch, ok := a.cells[width]
	if !ok {
		ch = a.channel("memory "+strconv.Itoa(width), 1+width)
		a.cells[width] = ch
		a.widths = append(a.widths, width)
	}
	return ch
}

func (a *assembler) accelerator(k accel.Kind) channel {
	if a.accelerators[k] == nil {
		ch := a.channel(k.Of().Name, k.Of().Args+k.Of().Results)
		a.accelerators[k] = &ch
		a.acceleratorOf = append(a.acceleratorOf, k)
	}
	return *a.accelerators[k]
}

// message is what a call of function f, or its answer, says: which member of the group, its rank, arguments and results, and zeros up to the group's longest.
func (a *assembler) message(b *air.Builder, f int, rank air.Expr, payload []air.Expr) []air.Expr {
	g := &a.groups[a.groupOf[f]]
	var m []air.Expr
	if len(g.Functions) > 1 {
		m = append(m, b.Const(field.Element(a.memberOf[f])))
	}
	if g.Recursive {
		if !a.module.Recursive[f] {
			rank = b.Const(0)
		}
		m = append(m, rank)
	}
	m = append(m, payload...)
	for range g.payload - len(payload) {
		m = append(m, b.Const(0))
	}
	return m
}

// Build makes the circuits of a program. A program that needs more than a key can hold is a *formats.Error of class Invalid.
func Build(m *exec.Module) (*System, error) {
	single, err := assemble(m, alone(m), nil)
	if err != nil {
		return nil, err
	}
	groups := groupFunctions(m, func(f int) int { return int(single.air.Circuits[single.groupOf[f]].Columns) })
	trial, err := assemble(m, groups, nil)
	if err != nil {
		return nil, err
	}
	a, err := assemble(m, groups, trial.users)
	if err != nil {
		return nil, err
	}
	return a.finish()
}

func assemble(m *exec.Module, groups [][]int, trial map[slotKey]int) (*assembler, error) {
	p := m.Program
	a := &assembler{air: air.NewSystem(p.Name), module: m, trial: trial, users: map[slotKey]int{}, cells: map[int]channel{}}
	a.groupOf, a.memberOf, a.entryOf = filled(len(p.Functions)), filled(len(p.Functions)), filled(len(p.Functions))
	for i := range p.Entries {
		e := &p.Entries[i]
		ch := a.channel("entry "+e.Name, p.Functions[e.Function].Params+p.Functions[e.Function].Results)
		a.air.Entry(e.Name, ch.Channel, e.Args, e.Results)
		a.entries = append(a.entries, ch)
		a.entryOf[e.Function] = i
	}
	names := groupNames(m, groups)
	for g, functions := range groups {
		grp := group{Name: names[g], Functions: functions}
		for k, f := range functions {
			a.groupOf[f], a.memberOf[f] = g, k
			grp.Recursive = grp.Recursive || m.Recursive[f]
			grp.payload = max(grp.payload, p.Functions[f].Params+p.Functions[f].Results)
		}
		arity := grp.payload
		if len(functions) > 1 {
			arity++
		}
		if grp.Recursive {
			arity++
		}
		a.groups = append(a.groups, grp)
		a.calls = append(a.calls, a.channel("call "+grp.Name, arity))
	}
	for g := range a.groups {
		a.groups[g].Plans = a.buildGroup(g)
	}
	if err := a.air.Err(); err != nil {
		return nil, err
	}
	return a, nil
}

func filled(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = none
	}
	return out
}

// groupNames are the names of the groups' first functions, with numbers where a name occurs twice or is too long.
func groupNames(m *exec.Module, groups [][]int) []string {
	const most = formats.MaxNameBytes - len("call ")
	seen, names := map[string]int{}, make([]string, len(groups))
	for g, functions := range groups {
		names[g] = m.Program.Functions[functions[0]].Name
		seen[names[g]]++
	}
	for g, name := range names {
		if seen[name] > 1 || len(name) > most || reserved(name) {
			suffix := " #" + strconv.Itoa(g)
			names[g] = name[:min(len(name), most-len(suffix))] + suffix
		}
	}
	return names
}

// reserved reports whether a circuit that is no function's may have the name.
func reserved(name string) bool {
	if name == "anchor" || name == "words" || strings.HasPrefix(name, "memory ") || strings.Contains(name, " #") {
		return true
	}
	for k := range accel.NumKinds {
		if name == k.Of().Name {
			return true
		}
	}
	return false
}

// finish adds the circuits behind the functions.
func (a *assembler) finish() (*System, error) {
	s := &System{Module: a.module, Air: a.air, groups: a.groups, widths: a.widths, accels: a.acceleratorOf}
	s.first.memory = len(a.air.Circuits)
	a.buildMemory()
	s.first.anchor = s.first.memory + len(a.widths)
	s.first.accel = len(a.air.Circuits)
	for _, k := range a.acceleratorOf {
		if acceleratorCircuits[k].build == nil {
			return nil, &formats.Error{Class: formats.Invalid, Place: "program", What: "the accelerator " + k.Of().Name + " has no circuit"}
		}
		acceleratorCircuits[k].build(a, a.air.Circuit(k.Of().Name), a.accelerators[k].Channel)
	}
	s.first.words = len(a.air.Circuits)
	a.buildWords()
	s.facts = a.factOrder
	if err := a.air.Err(); err != nil {
		return nil, err
	}
	return s, nil
}
