// Package exec runs programs and records what a proof of the run needs.
//
// A function is a table: arguments in, results out. A call whose arguments are in the table takes the results from there, so a record has one entry, later one row of a circuit, for each distinct call, and
// a count of its uses. Memory is a table as well: storing equal values twice gives one pointer. The order of entries is the order of first use, so that equal runs have equal records.
//
// An unconstrained call runs everything below it unconstrained: entries are made, so that results are remembered, but nothing is counted and the entries are no rows. When a constrained call meets such
// an entry it runs the function once more (the entry is promoted), because what the function itself calls must be counted.
package exec

import (
	"context"
	"math"
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/accel"
	bc "github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/verifier/field"
)

// Call is an entry and its arguments, as elements.
type Call struct {
	Entry int
	Args  []field.Element
}

// Limits end an execution that takes too much.
type Limits struct {
	Memory int64  // bytes of tables and stack; 0 for DefaultMemory
	Steps  uint64 // operations; 0 for no limit
}

// DefaultMemory is the memory of an execution whose limits name none: 4 GiB.
const DefaultMemory = 4 << 30

// Record is what an execution leaves: the tables of functions, memory and accelerators. It must not change while a trace is written from it.
type Record struct {
	Module *Module
	Claims []Claim
	Steps  uint64
	Bytes  int64 // held by tables

	inputs    [][]field.Element
	functions []*table
	memory    map[int]*table // by width
	widths    []int          // in the order of first use
	accel     [accel.NumKinds]*table
}

// Claim is an executed call.
type Claim struct {
	Entry   int
	Row     int // number of the entry in its function's table
	Results []field.Element
}

// Marks of a function's entry, behind its arguments and results.
const (
	markUses  = iota
	markState // rank, below 2^32, and the bits below
	functionMarks
)

const (
	stateOpen        = 1 << 32 // the function runs
	stateConstrained = 1 << 33
	stateDone        = 1 << 34
	rankMask         = 1<<32 - 1
)

// machine is an execution.
type machine struct {
	*Record
	ctx    context.Context
	limits Limits
	memory memory
	stack  []field.Element
	frames []frame
	key    [bc.MaxWidth]field.Element
}

type frame struct {
	function    uint32
	pc          uint32 // of the instruction to go on with
	base        int
	entry       int
	rank        uint32
	constrained bool
}

// contextSteps is how many operations pass between two looks at the context.
const contextSteps = 1 << 16

// Execute runs the calls one after the other with common tables. inputs are the program's private inputs, in its order; those that are missing are empty. Errors are the context's, or *formats.Error:
// of class Invalid, with the place in the source, for a program that fails, and Limit for one that takes too much.
func (m *Module) Execute(ctx context.Context, calls []Call, inputs [][]field.Element, limits Limits) (*Record, error) {
	if limits.Memory == 0 {
		limits.Memory = DefaultMemory
	}
	if limits.Steps == 0 {
		limits.Steps = math.MaxUint64
	}
	x := &machine{Record: &Record{Module: m, inputs: make([][]field.Element, len(m.Program.Inputs))}, ctx: ctx, limits: limits}
	x.Record.memory = map[int]*table{}
	x.memory.limit = limits.Memory
	if err := x.setInputs(inputs); err != nil {
		return nil, err
	}
	for i := range m.functions {
		f := &m.functions[i]
		x.functions = append(x.functions, newTable(f.params, f.results+functionMarks, &x.memory))
	}
	for _, c := range calls {
		if err := x.claim(c); err != nil {
			return nil, err
		}
	}
	x.Bytes = x.memory.used - int64(len(x.stack))*wordBytes - int64(cap(x.frames))*frameBytes
	return x.Record, nil
}

func (x *machine) setInputs(inputs [][]field.Element) error {
	p := x.Module.Program
	if len(inputs) > len(p.Inputs) {
		return (&formats.Error{Class: formats.Invalid, Place: "witness", What: "there are more inputs than the program reads"}).Mismatch(uint64(len(p.Inputs)), uint64(len(inputs)))
	}
	for i, values := range inputs {
		for k, v := range values {
			if bits := p.Inputs[i].Bits; uint64(v) >= formats.Modulus || bits < 64 && v>>bits != 0 {
				return &formats.Error{Class: formats.Invalid, Place: "witness, " + formats.Quote(p.Inputs[i].Name) + ", element " + strconv.Itoa(k), What: "an element is too large",
					Expected: "below 2^" + strconv.Itoa(int(bits)), Got: decimal(v)}
			}
		}
	}
	copy(x.inputs, inputs)
	return nil
}

// claim executes a call of an entry.
func (x *machine) claim(c Call) error {
	p := x.Module.Program
	if c.Entry < 0 || c.Entry >= len(p.Entries) {
		return (&formats.Error{Class: formats.Invalid, Place: "call", What: "the entry does not exist"}).Mismatch(uint64(len(p.Entries)), uint64(c.Entry))
	}
	e := &p.Entries[c.Entry]
	place := "call of " + formats.Quote(e.Name)
	f := &x.Module.functions[e.Function]
	if len(c.Args) != f.params {
		return (&formats.Error{Class: formats.Invalid, Place: place, What: "a wrong number of argument elements"}).Mismatch(uint64(f.params), uint64(len(c.Args)))
	}
	if err := holds(place+", argument ", e.Args, c.Args); err != nil {
		return err
	}
	t := x.functions[e.Function]
	i, _, ok := t.find(c.Args)
	if !ok {
		return x.outOfMemory()
	}
	if t.entry(i)[f.params+f.results+markState]&stateConstrained == 0 {
		if err := x.run(e.Function, i); err != nil {
			return err
		}
	}
	results := t.entry(i)[f.params : f.params+f.results : f.params+f.results]
	if err := holds(place+", result ", e.Results, results); err != nil {
		return err
	}
	x.Claims = append(x.Claims, Claim{c.Entry, i, results})
	return nil
}

// holds demands that elements are values of the types.
func holds(place string, types []formats.Value, elements []field.Element) error {
	k := 0
	for _, t := range types {
		for range t.Type.Elements() {
			if !t.Type.Holds(uint64(elements[k])) {
				return &formats.Error{Class: formats.Invalid, Place: place + formats.Quote(t.Name), What: "the value is not of its type", Expected: "a " + t.Type.String(), Got: decimal(elements[k])}
			}
			k++
		}
	}
	return nil
}

func decimal(v field.Element) string { return strconv.FormatUint(uint64(v), 10) }

func (x *machine) outOfMemory() error {
	return &formats.Error{Class: formats.Limit, Place: "execution", What: "the execution needs more memory than it may have", Expected: "at most " + strconv.FormatInt(x.limits.Memory, 10) + " bytes",
		Next: "allow more with --memory, or call the program for less"}
}

// push opens a frame for an entry of a function's table.
func (x *machine) push(f uint32, entry int, constrained bool) bool {
	base := 0
	if n := len(x.frames); n > 0 {
		top := &x.frames[n-1]
		base = top.base + x.Module.functions[top.function].registers
	}
	fn := &x.Module.functions[f]
	if need := base + fn.registers; need > len(x.stack) {
		size := max(need, 2*len(x.stack), 1<<12)
		if !x.memory.take(int64(size) * wordBytes) {
			return false
		}
		stack := make([]field.Element, size)
		copy(stack, x.stack)
		x.memory.used -= int64(len(x.stack)) * wordBytes
		x.stack = stack
	}
	if len(x.frames) == cap(x.frames) {
		grown := max(64, 2*cap(x.frames))
		if !x.memory.take(int64(grown) * frameBytes) {
			return false
		}
		frames := make([]frame, len(x.frames), grown)
		copy(frames, x.frames)
		x.memory.used -= int64(cap(x.frames)) * frameBytes
		x.frames = frames
	}
	e := x.functions[f].entry(entry)
	copy(x.stack[base:], e[:fn.params])
	state := field.Element(stateOpen)
	if constrained {
		state |= stateConstrained
	}
	e[fn.params+fn.results+markState] = state
	x.frames = append(x.frames, frame{function: f, base: base, entry: entry, constrained: constrained})
	return true
}

const frameBytes = 40

// run executes a constrained call to its end.
func (x *machine) run(function uint32, entry int) error {
	if !x.push(function, entry, true) {
		return x.outOfMemory()
	}
	fr := &x.frames[len(x.frames)-1]
	fn := &x.Module.functions[fr.function]
	regs := x.stack[fr.base : fr.base+fn.registers]
	code := fn.code
	pc := 0
	for {
		if x.Steps&(contextSteps-1) == 0 {
			if err := x.ctx.Err(); err != nil {
				return err
			}
		}
		if x.Steps >= x.limits.Steps {
			return x.failed(&code[pc], formats.Limit, "the execution takes more operations than it may", "at most "+strconv.FormatUint(x.limits.Steps, 10), "")
		}
		x.Steps++
		in := &code[pc]
		pc++
		switch in.op {
		case opcode(bc.OpConst):
			regs[in.dst] = field.Element(in.imm)
		case opcode(bc.OpAdd):
			regs[in.dst] = field.Add(regs[in.a], regs[in.b])
		case opcode(bc.OpSub):
			regs[in.dst] = field.Sub(regs[in.a], regs[in.b])
		case opcode(bc.OpMul):
			regs[in.dst] = field.Mul(regs[in.a], regs[in.b])
		case opcode(bc.OpIsZero):
			v := field.Element(0)
			if regs[in.a] == 0 {
				v = 1
			}
			regs[in.dst] = v
		case opcode(bc.OpAssertZero):
			if regs[in.a] != 0 {
				return x.failed(in, formats.Invalid, "an assertion fails", "0", decimal(regs[in.a]))
			}
		case opcode(bc.OpRange):
			if v := regs[in.a]; v>>in.imm != 0 {
				return x.failed(in, formats.Invalid, "a number is out of range", below(in.imm), decimal(v))
			}
		case opcode(bc.OpSplit):
			v := regs[in.a]
			high := v >> in.imm
			if high>>in.more != 0 {
				return x.failed(in, formats.Invalid, "a number is out of range", below(in.imm+uint64(in.more)), decimal(v))
			}
			regs[in.dst], regs[in.dst+1] = v&(1<<in.imm-1), high
		case opcode(bc.OpMatch):
			to := fn.tables[in.imm].to(uint64(regs[in.a]))
			if to == noTarget {
				return x.failed(in, formats.Invalid, "no case has the value", "", decimal(regs[in.a]))
			}
			pc = int(to)
		case opJump:
			pc = int(in.imm)
		case opMove:
			from := fn.operands[in.a : in.a+in.b]
			for k, r := range from {
				x.key[k] = regs[r]
			}
			copy(regs[in.dst:], x.key[:len(from)])
		case opcode(bc.OpCall), opRanked, opHinted:
			callee := &x.Module.functions[in.imm]
			key := x.key[:callee.params]
			for k, r := range fn.operands[in.a : in.a+in.b] {
				key[k] = regs[r]
			}
			t := x.functions[in.imm]
			i, added, ok := t.find(key)
			if !ok {
				return x.outOfMemory()
			}
			e := t.entry(i)
			marks := e[callee.params+callee.results:]
			constrained := fr.constrained && in.op != opHinted
			if !added && marks[markState]&stateOpen != 0 {
				return x.failed(in, formats.Invalid, "a call needs its own result: the program does not end", "", x.callText(uint32(in.imm), key))
			}
			if added || constrained && marks[markState]&stateConstrained == 0 {
				fr.pc = uint32(pc)
				if !x.push(uint32(in.imm), i, constrained) {
					return x.outOfMemory()
				}
				fr = &x.frames[len(x.frames)-1]
				fn = callee
				regs, code, pc = x.stack[fr.base:fr.base+fn.registers], fn.code, 0
				continue
			}
			copy(regs[in.dst:], e[callee.params:callee.params+callee.results])
			if constrained {
				marks[markUses]++
				if in.op == opRanked {
					fr.rank = max(fr.rank, uint32(marks[markState]&rankMask)+1)
				}
			}
		case opReturn:
			e := x.functions[fr.function].entry(fr.entry)
			for k, r := range fn.operands[in.a : in.a+in.b] {
				e[fn.params+k] = regs[r]
			}
			marks := e[fn.params+fn.results:]
			marks[markState] = marks[markState]&^stateOpen | stateDone | field.Element(fr.rank)
			results, constrained, rank := e[fn.params:fn.params+fn.results], fr.constrained, fr.rank
			x.frames = x.frames[:len(x.frames)-1]
			if len(x.frames) == 0 {
				return nil
			}
			fr = &x.frames[len(x.frames)-1]
			fn = &x.Module.functions[fr.function]
			regs, code, pc = x.stack[fr.base:fr.base+fn.registers], fn.code, int(fr.pc)
			call := &code[pc-1]
			copy(regs[call.dst:], results)
			if constrained {
				marks[markUses]++
				if call.op == opRanked {
					fr.rank = max(fr.rank, rank+1)
				}
			}
		case opFail:
			return x.failed(in, formats.Invalid, "the program gets where it must not", "", "")
		case opcode(bc.OpStore):
			t := x.Record.memory[int(in.b)]
			if t == nil {
				t = newTable(int(in.b), 1, &x.memory)
				x.Record.memory[int(in.b)] = t
				x.widths = append(x.widths, int(in.b))
			}
			for k, r := range fn.operands[in.a : in.a+in.b] {
				x.key[k] = regs[r]
			}
			i, _, ok := t.find(x.key[:in.b])
			if !ok {
				return x.outOfMemory()
			}
			if fr.constrained {
				t.entry(i)[in.b]++
			}
			regs[in.dst] = field.Element(i)
		case opcode(bc.OpLoad):
			t, at := x.Record.memory[int(in.imm)], regs[in.a]
			if t == nil || uint64(at) >= uint64(t.count) {
				return x.failed(in, formats.Invalid, "a pointer leads to no cell", "", decimal(at))
			}
			e := t.entry(int(at))
			copy(regs[in.dst:], e[:in.imm])
			if fr.constrained {
				e[in.imm]++
			}
		default:
			if err := x.rare(in, fn, regs, fr.constrained); err != nil {
				return err
			}
		}
	}
}

func below(bits uint64) string { return "below 2^" + strconv.FormatUint(bits, 10) }

// failed is the error of an operation, at its place in the source.
func (x *machine) failed(in *instruction, class formats.Class, what, expected, got string) error {
	e := &formats.Error{Class: class, What: what, Expected: expected, Got: got}
	file, line, column, note := x.Module.Program.Debug.At(in.site)
	fr := &x.frames[len(x.frames)-1]
	f := x.functions[fr.function]
	e.Place = "in " + x.callText(fr.function, f.entry(fr.entry)[:f.key])
	if file != "" {
		e.Place = file + ":" + strconv.Itoa(int(line)) + ":" + strconv.Itoa(int(column)) + ", " + e.Place
	}
	if note != "" && class == formats.Invalid {
		e.What = note
	}
	return e
}

// callText renders a call for people.
func (x *machine) callText(f uint32, args []field.Element) string {
	const shown = 8
	s := x.Module.Program.Functions[f].Name + "("
	for k, v := range args {
		if k == shown {
			s += ", …"
			break
		}
		if k > 0 {
			s += ", "
		}
		s += decimal(v)
	}
	return s + ")"
}
