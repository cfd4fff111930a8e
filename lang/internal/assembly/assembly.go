// Package assembly writes bytecode by hand, for tests and benchmarks of what lies behind the compiler.
package assembly

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/bytecode"
)

// Program is a program under construction. Functions are referred to by number, in the order of their declaration, so that they can call each other.
type Program struct{ bytecode.Program }

// New starts a program with one source file, named like it.
func New(name string) *Program {
	return &Program{bytecode.Program{Name: name, Debug: bytecode.Debug{Files: []string{name + ".ix"}}}}
}

// Declare adds a function without a body and returns its number.
func (p *Program) Declare(name string, params, results int) uint32 {
	p.Functions = append(p.Functions, bytecode.Function{Name: name, Params: params, Results: results})
	return uint32(len(p.Functions) - 1)
}

// Define writes the body of a declared function.
func (p *Program) Define(f uint32, body func(b *Block, params []bytecode.Value)) {
	fn := &p.Functions[f]
	b := &Block{program: p, Block: &fn.Body, next: bytecode.Value(fn.Params)}
	body(b, numbers(0, fn.Params))
}

// Function declares and defines a function.
func (p *Program) Function(name string, params, results int, body func(b *Block, params []bytecode.Value)) uint32 {
	f := p.Declare(name, params, results)
	p.Define(f, body)
	return f
}

// Entry makes an entry of a function whose parameters and results are named a0, a1, … and r0, r1, … and have these types.
func (p *Program) Entry(f uint32, args, results []formats.ValueType) {
	p.Entries = append(p.Entries, bytecode.Entry{Name: p.Functions[f].Name, Function: f, Args: values("a", args), Results: values("r", results)})
}

// Fields is n times the type field.
func Fields(n int) []formats.ValueType { return make([]formats.ValueType, n) }

func values(prefix string, types []formats.ValueType) (out []formats.Value) {
	for i, t := range types {
		out = append(out, formats.Value{Name: prefix + string(rune('0'+i/10)) + string(rune('0'+i%10)), Type: t})
	}
	return out
}

func numbers(first bytecode.Value, n int) []bytecode.Value {
	out := make([]bytecode.Value, n)
	for i := range out {
		out[i] = first + bytecode.Value(i)
	}
	return out
}

// Block is a block under construction.
type Block struct {
	*bytecode.Block
	program *Program
	next    bytecode.Value
	line    uint32
}

// At gives the operations that follow a line of the source and a note.
func (b *Block) At(line uint32, note string) *Block {
	d := &b.program.Debug
	d.Notes = append(d.Notes, note)
	d.Sites = append(d.Sites, bytecode.Site{Line: line, Column: 1, Note: uint32(len(d.Notes))})
	b.line = uint32(len(d.Sites))
	return b
}

// Op adds an operation and returns its results.
func (b *Block) Op(code bytecode.Code, a, imm uint64, args ...bytecode.Value) []bytecode.Value {
	o := bytecode.Op{Code: code, A: a, B: imm, Args: args, Site: b.line}
	b.Ops = append(b.Ops, o)
	_, results := b.program.Arity(&o)
	return b.results(results)
}

func (b *Block) results(n int) []bytecode.Value {
	out := numbers(b.next, n)
	b.next += bytecode.Value(n)
	return out
}

// Const is a constant.
func (b *Block) Const(v uint64) bytecode.Value { return b.Op(bytecode.OpConst, v, 0)[0] }

// Add is x + y.
func (b *Block) Add(x, y bytecode.Value) bytecode.Value { return b.Op(bytecode.OpAdd, 0, 0, x, y)[0] }

// Sub is x - y.
func (b *Block) Sub(x, y bytecode.Value) bytecode.Value { return b.Op(bytecode.OpSub, 0, 0, x, y)[0] }

// Mul is x · y.
func (b *Block) Mul(x, y bytecode.Value) bytecode.Value { return b.Op(bytecode.OpMul, 0, 0, x, y)[0] }

// Call calls a function.
func (b *Block) Call(f uint32, args ...bytecode.Value) []bytecode.Value {
	return b.Op(bytecode.OpCall, uint64(f), 0, args...)
}

// Hint calls a function unconstrained.
func (b *Block) Hint(f uint32, args ...bytecode.Value) []bytecode.Value {
	return b.Op(bytecode.OpCall, uint64(f), 1, args...)
}

// Store stores a cell.
func (b *Block) Store(values ...bytecode.Value) bytecode.Value {
	return b.Op(bytecode.OpStore, uint64(len(values)), 0, values...)[0]
}

// Load loads a cell.
func (b *Block) Load(width int, pointer bytecode.Value) []bytecode.Value {
	return b.Op(bytecode.OpLoad, uint64(width), 0, pointer)
}

// Return ends the function.
func (b *Block) Return(values ...bytecode.Value) {
	b.End = bytecode.End{Kind: bytecode.EndReturn, Values: values, Site: b.line}
}

// Yield ends a block of an operation Match.
func (b *Block) Yield(values ...bytecode.Value) {
	b.End = bytecode.End{Kind: bytecode.EndYield, Values: values, Site: b.line}
}

// Fail ends a block that is never reached.
func (b *Block) Fail() { b.End = bytecode.End{Kind: bytecode.EndFail, Site: b.line} }

// Arm is a case of a match; one without values is the default.
type Arm struct {
	Values []uint64
	Body   func(b *Block)
}

// Case is an arm for values.
func Case(body func(b *Block), values ...uint64) Arm { return Arm{values, body} }

// Default is the arm for all other values.
func Default(body func(b *Block)) Arm { return Arm{nil, body} }

// Match ends the block with a match.
func (b *Block) Match(v bytecode.Value, arms ...Arm) {
	b.End = bytecode.End{Kind: bytecode.EndMatch, Match: b.match(v, arms), Site: b.line}
}

// Choose adds an operation Match with n results.
func (b *Block) Choose(n int, v bytecode.Value, arms ...Arm) []bytecode.Value {
	b.Ops = append(b.Ops, bytecode.Op{Code: bytecode.OpMatch, A: uint64(n), Match: b.match(v, arms), Site: b.line})
	return b.results(n)
}

func (b *Block) match(v bytecode.Value, arms []Arm) *bytecode.Match {
	m := &bytecode.Match{Value: v}
	for _, a := range arms {
		inner := &Block{program: b.program, Block: new(bytecode.Block), next: b.next, line: b.line}
		a.Body(inner)
		if a.Values == nil {
			m.Default = inner.Block
		} else {
			m.Cases = append(m.Cases, bytecode.Case{Values: a.Values, Block: *inner.Block})
		}
	}
	return m
}
