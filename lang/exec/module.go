package exec

import (
	"slices"

	bc "github.com/ixprove/ixprove/lang/bytecode"
)

// Module is a valid program, flattened for execution. It is immutable and safe for concurrent use.
type Module struct {
	Program *bc.Program
	// Order numbers the strongly connected components of constrained calls, per function: a call goes to a component of a lower number, or stays in its own.
	Order []int
	// Recursive says of each function whether it can call itself, through others or not: its rows have ranks.
	Recursive []bool
	// Constrained says of each function whether an entry reaches it over constrained calls: only then it has rows.
	Constrained []bool
	functions   []function
}

// function is flat code. Registers are numbered like values.
type function struct {
	code            []instruction
	operands        []uint32 // of instructions with other than one or two
	tables          []jumps
	params, results int
	registers       int
}

// opcode is a bytecode.Code, or one of those below.
type opcode uint8

const (
	opJump     = opcode(bc.NumCodes) + iota // to imm
	opMove                                  // copies n operands to dst and on, at once
	opReturn                                // n operands
	opFail                                  // where nothing gets to
	opRanked                                // a constrained call within a component
	opHinted                                // an unconstrained call
	numOpcodes = iota
)

type instruction struct {
	op   opcode
	dst  uint32
	a, b uint32 // operands; or where the operands start, and how many
	imm  uint64 // A
	more uint32 // B
	site uint32
}

// jumps are a match's targets.
type jumps struct {
	dense  []uint32 // by value, if all are small
	values []uint64 // ascending
	target []uint32
	other  uint32 // of the default; noTarget for none
}

const (
	noTarget  = 1<<32 - 1
	denseJump = 256
	sparsest  = 16 // a dense table has at most so many places for each value: a program of many matches would otherwise take many times its size
)

// Load validates a program and flattens it. Errors are those of bytecode.Program.Validate.
func Load(p *bc.Program) (*Module, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	m := &Module{Program: p, functions: make([]function, len(p.Functions))}
	m.components()
	for i := range p.Functions {
		f := flattener{module: m, index: i, function: &m.functions[i]}
		f.params, f.results, f.registers = p.Functions[i].Params, p.Functions[i].Results, p.Functions[i].Params
		f.block(&p.Functions[i].Body, f.params, nil)
	}
	return m, nil
}

// Registers is how many values of a function are in scope at most.
func (m *Module) Registers(function int) int { return m.functions[function].registers }

type flattener struct {
	*function
	module *Module
	index  int
}

// merge is where the blocks of an operation Match yield to.
type merge struct {
	dst   int
	jumps []int // instructions that jump behind the match
}

func (f *flattener) block(b *bc.Block, values int, to *merge) {
	for i := range b.Ops {
		o := &b.Ops[i]
		args, results := f.module.Program.Arity(o)
		if o.Code == bc.OpMatch {
			inner := &merge{dst: values}
			f.match(o.Match, values, o.Site, inner)
			for _, at := range inner.jumps {
				f.code[at].imm = uint64(len(f.code))
			}
		} else {
			in := instruction{op: opcode(o.Code), dst: uint32(values), imm: o.A, more: uint32(o.B), site: o.Site}
			if o.Code == bc.OpCall {
				switch {
				case o.Unconstrained():
					in.op = opHinted
				case f.module.Order[o.A] == f.module.Order[f.index] && f.module.Recursive[f.index]:
					in.op = opRanked
				}
			}
			if s := args; s <= 2 && o.Code != bc.OpCall && o.Code != bc.OpStore && o.Code != bc.OpHintDivMod && o.Code != bc.OpHintModInverse {
				if s > 0 {
					in.a = o.Args[0]
				}
				if s > 1 {
					in.b = o.Args[1]
				}
			} else {
				in.a, in.b = f.list(o.Args)
			}
			f.code = append(f.code, in)
		}
		values += results
		f.registers = max(f.registers, values)
	}
	switch e := &b.End; e.Kind {
	case bc.EndReturn:
		a, n := f.list(e.Values)
		f.code = append(f.code, instruction{op: opReturn, a: a, b: n})
	case bc.EndYield:
		a, n := f.list(e.Values)
		f.code = append(f.code, instruction{op: opMove, dst: uint32(to.dst), a: a, b: n}, instruction{op: opJump})
		to.jumps = append(to.jumps, len(f.code)-1)
		f.registers = max(f.registers, to.dst+len(e.Values))
	case bc.EndFail:
		f.code = append(f.code, instruction{op: opFail, site: e.Site})
	case bc.EndMatch:
		f.match(e.Match, values, e.Site, to)
	}
}

func (f *flattener) list(args []bc.Value) (at, n uint32) {
	at = uint32(len(f.operands))
	f.operands = append(f.operands, args...)
	return at, uint32(len(args))
}

func (f *flattener) match(m *bc.Match, values int, site uint32, to *merge) {
	number := len(f.tables)
	f.code = append(f.code, instruction{op: opcode(bc.OpMatch), a: m.Value, imm: uint64(number), site: site})
	f.tables = append(f.tables, jumps{})
	t := jumps{other: noTarget}
	type target struct {
		value uint64
		at    uint32
	}
	var targets []target
	most := uint64(0)
	for i := range m.Cases {
		at := uint32(len(f.code))
		for _, v := range m.Cases[i].Values {
			targets, most = append(targets, target{v, at}), max(most, v)
		}
		f.block(&m.Cases[i].Block, values, to)
	}
	if m.Default != nil {
		t.other = uint32(len(f.code))
		f.block(m.Default, values, to)
	}
	slices.SortFunc(targets, func(a, b target) int {
		if a.value < b.value {
			return -1
		}
		return 1
	})
	if most < denseJump && most < sparsest*uint64(len(targets)) {
		t.dense = make([]uint32, most+1)
		for v := range t.dense {
			t.dense[v] = t.other
		}
	}
	for _, x := range targets {
		t.values, t.target = append(t.values, x.value), append(t.target, x.at)
		if t.dense != nil {
			t.dense[x.value] = x.at
		}
	}
	f.tables[number] = t
}

func (t *jumps) to(v uint64) uint32 {
	if v < uint64(len(t.dense)) {
		return t.dense[v]
	}
	if i, ok := slices.BinarySearch(t.values, v); ok {
		return t.target[i]
	}
	return t.other
}
