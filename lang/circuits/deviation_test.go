package circuits

import (
	"slices"
	"testing"

	"github.com/ixprove/ixprove/formats"
	bc "github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/lang/internal/assembly"
	"github.com/ixprove/ixprove/verifier/field"
)

// repoint makes a plan write what another program of the same shape computes.
func (p *blockPlan) repoint(b *bc.Block) {
	p.Block = b
	for i := range p.Ops {
		if m := p.Ops[i].Match; m != nil {
			m.repoint(b.Ops[i].Match)
		}
	}
	if p.Match != nil {
		p.Match.repoint(b.End.Match)
	}
}

func (p *matchPlan) repoint(m *bc.Match) {
	p.Match = m
	i := 0
	m.Blocks(func(b *bc.Block) { p.Blocks[i].repoint(b); i++ })
}

// deviation is a function of which an execution is forged: the row is that of another program, equal up to one operand, or of a changed plan. All that follows from the deviation is computed from it, results included.
type deviation struct {
	name    string
	results int
	body    func(p *assembly.Program, b *assembly.Block, x, y bc.Value)
	program func(b *bc.Block)  // changes the function's body
	plan    func(p *blockPlan) // changes its plan
	honest  []field.Element    // arguments of the honest execution
	forged  []field.Element    // of the forged one, the same if nil
	want    []string           // what fails
}

func (d *deviation) check(t *testing.T) {
	p := assembly.New("deviating")
	p.Function("g", 1, 1, func(b *assembly.Block, x []bc.Value) { b.Return(b.Mul(x[0], x[0])) })
	f := p.Function("f", 2, d.results, func(b *assembly.Block, x []bc.Value) { d.body(p, b, x[0], x[1]) })
	p.Entry(f, assembly.Fields(2), assembly.Fields(d.results))
	m, err := exec.Load(&p.Program)
	if err != nil {
		t.Fatal(err)
	}
	trial, err := assemble(m, alone(m), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := assemble(m, alone(m), trial.users)
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.finish()
	if err != nil {
		t.Fatal(err)
	}
	fg := forgeSystem(t, s)
	record := s.execute(t, nil, d.honest)
	fg.follow(record)
	if got := fg.check(); len(got) > 0 {
		t.Fatalf("the honest execution: %s", got[0])
	}

	data, err := bc.Encode(&p.Program)
	if err != nil {
		t.Fatal(err)
	}
	other, err := bc.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if d.program != nil {
		d.program(&other.Functions[f].Body)
	}
	grp := s.groups[a.groupOf[f]]
	plan := grp.Plans[0]
	plan.Body.repoint(&other.Functions[f].Body)
	if d.plan != nil {
		d.plan(&plan.Body)
	}
	entry := record.Entry(int(f), 0)
	if d.forged != nil {
		entry.Args = d.forged
	}
	trace := fg.table("f")
	for i := range trace {
		trace[i][0] = 0
	}
	w := &writer{record: record, columns: trace}
	if err := w.row(plan, entry, 1); err != nil {
		t.Fatal(err)
	}
	w.flush()
	block := &plan.Body
	for block.Match != nil { // the way that the row went
		block = w.choose(block.Match)
	}
	claim := formats.Claim{}
	for _, v := range entry.Args {
		claim.Args = claim.Args.Append(uint64(v))
	}
	for _, r := range block.Block.End.Values {
		claim.Results = claim.Results.Append(uint64(w.values[r]))
	}
	fg.witness.Claims[0] = claim
	fg.refused(d.want...)
}

// TestDeviations forges the result of each kind of operation: exactly the constraint or the channel that holds it fails.
func TestDeviations(t *testing.T) {
	type block = assembly.Block
	first := func(b *bc.Block) { b.Ops[0].Args[0] = 1 } // y for x
	one := func(code bc.Code, a, b uint64, args int) func(p *assembly.Program, blk *block, x, y bc.Value) {
		return func(_ *assembly.Program, blk *block, x, y bc.Value) {
			blk.Return(blk.Op(code, a, b, []bc.Value{x, y}[:args]...)[0])
		}
	}
	two := func(body func(b *block, x, y bc.Value)) func(p *assembly.Program, b *block, x, y bc.Value) { // in both of two branches, which share slots
		return func(_ *assembly.Program, b *block, x, y bc.Value) {
			b.Match(y, assembly.Case(func(b *block) { body(b, x, y) }, 1), assembly.Default(func(b *block) { body(b, x, y) }))
		}
	}
	for _, d := range []deviation{
		{name: "a product", results: 1, body: one(bc.OpMul, 0, 0, 2), program: first, honest: []field.Element{3, 5}, want: []string{"a value has its column"}},
		{name: "a product in range", results: 1, body: func(_ *assembly.Program, b *block, x, y bc.Value) {
			z := b.Mul(x, y)
			b.Op(bc.OpRange, 32, 0, z)
			b.Return(z)
		}, program: first, honest: []field.Element{3, 5}, want: []string{"a number in range"}},
		{name: "bytes of a number", results: 1, body: one(bc.OpSplit, 8, 8, 1), program: first, honest: []field.Element{0x102, 0x304}, want: []string{"pair"}},
		{name: "limbs of a number", results: 1, body: one(bc.OpSplit, 16, 16, 1), program: first, honest: []field.Element{0x10002, 0x30004}, want: []string{"range"}},
		{name: "a carry", results: 1, body: one(bc.OpSplit, 32, 1, 1), program: first, honest: []field.Element{1 << 32, 7}, want: []string{"a bit is 0 or 1"}},
		{name: "a high word of a product", results: 1, body: func(_ *assembly.Program, b *block, x, y bc.Value) {
			b.Return(b.Op(bc.OpSplit, 16, 16, b.Mul(x, y))[1])
		}, program: func(b *bc.Block) { b.Ops[1].Args[0] = 1 }, honest: []field.Element{0x10000, 0x50000 >> 16}, want: []string{"a value has its column"}},
		{name: "a byte string", results: 1, body: one(bc.OpBytes, 2, 0, 1), program: first, honest: []field.Element{0x102, 0x304}, want: []string{"pair"}},
		{name: "a xor", results: 1, body: one(bc.OpXor, 0, 0, 2), program: first, honest: []field.Element{1, 2}, want: []string{"xor"}},
		{name: "0 for 0", results: 1, body: one(bc.OpIsZero, 0, 0, 1), program: first, honest: []field.Element{0, 5}, want: []string{"1 unless the value has an inverse"}},
		{name: "1 for another number", results: 1, body: one(bc.OpIsZero, 0, 0, 1), program: first, honest: []field.Element{5, 0}, plan: func(p *blockPlan) {
			p.Ops[0].Writes[0].R = 1 // the inverse of 0
		}, want: []string{"0 unless the value is 0"}},
		{name: "an assertion", results: 1, body: func(_ *assembly.Program, b *block, x, y bc.Value) {
			b.Op(bc.OpAssertZero, 0, 0, b.Sub(x, y))
			b.Return(x)
		}, honest: []field.Element{5, 5}, forged: []field.Element{5, 6}, want: []string{"an assertion"}},
		{name: "a cell", results: 1, body: func(_ *assembly.Program, b *block, x, y bc.Value) {
			p := b.Store(x)
			b.Store(y)
			b.Return(b.Load(1, p)[0])
		}, program: func(b *bc.Block) { b.Ops[2].Args[0] = 3 }, honest: []field.Element{5, 6}, want: []string{"memory 1"}},
		{name: "a pointer", results: 1, body: func(_ *assembly.Program, b *block, x, y bc.Value) {
			b.Store(y)
			b.Return(b.Store(x))
		}, program: func(b *bc.Block) { b.Ops[1].Args[0] = 1 }, honest: []field.Element{5, 6}, want: []string{"memory 1"}},
		{name: "a call", results: 1, body: func(_ *assembly.Program, b *block, x, y bc.Value) {
			b.Call(0, y)
			b.Return(b.Call(0, x)[0])
		}, program: func(b *bc.Block) { b.Ops[1].Args[0] = 1 }, honest: []field.Element{5, 6}, want: []string{"call g"}},
		{name: "a hash", results: 1, body: func(_ *assembly.Program, b *block, x, y bc.Value) {
			b.Return(b.Op(bc.OpBlake3, 0, 0, slices.Repeat([]bc.Value{x}, 28)...)[0])
		}, program: first, honest: []field.Element{5, 6}, want: []string{"blake3"}},
		{name: "another hash", results: 1, body: func(_ *assembly.Program, b *block, x, y bc.Value) {
			b.Return(b.Op(bc.OpSha256, 0, 0, slices.Repeat([]bc.Value{x}, 24)...)[0])
		}, program: first, honest: []field.Element{5, 6}, want: []string{"sha256"}},
		{name: "a permutation", results: 1, body: func(_ *assembly.Program, b *block, x, y bc.Value) {
			b.Return(b.Op(bc.OpPoseidon2, 0, 0, slices.Repeat([]bc.Value{x}, 12)...)[0])
		}, program: first, honest: []field.Element{5, 6}, want: []string{"poseidon2"}},
		{name: "a case", results: 1, body: func(_ *assembly.Program, b *block, x, y bc.Value) {
			b.Match(x, assembly.Case(func(b *block) { b.Return(b.Const(7)) }, 1), assembly.Default(func(b *block) { b.Return(y) }))
		}, program: func(b *bc.Block) { b.End.Match.Value = 1 }, honest: []field.Element{9, 1}, want: []string{"the case has the value"}},
		{name: "a case of several values", results: 1, body: func(_ *assembly.Program, b *block, x, y bc.Value) {
			b.Match(x, assembly.Case(func(b *block) { b.Return(b.Const(7)) }, 1, 2, 3), assembly.Default(func(b *block) { b.Return(y) }))
		}, program: func(b *bc.Block) { b.End.Match.Value = 1 }, honest: []field.Element{9, 1}, want: []string{"the case has the value"}},
		{name: "a product over a case's values", results: 1, body: func(_ *assembly.Program, b *block, x, y bc.Value) {
			b.Match(x, assembly.Case(func(b *block) { b.Return(b.Const(7)) }, 1, 2, 3), assembly.Default(func(b *block) { b.Return(y) }))
		}, program: func(b *bc.Block) { b.End.Match.Value = 1 }, plan: func(p *blockPlan) { p.Match.Before[0][0].Constant = 9 }, honest: []field.Element{9, 1}, want: []string{"a product over cases"}},
		{name: "a default", results: 1, body: func(_ *assembly.Program, b *block, x, y bc.Value) {
			b.Match(x, assembly.Case(func(b *block) { b.Return(b.Const(7)) }, 1), assembly.Default(func(b *block) { b.Return(y) }))
		}, program: func(b *bc.Block) { b.End.Match.Value = 1 }, honest: []field.Element{1, 9}, want: []string{"no case has the value"}},
		{name: "a product over excluded values", results: 1, body: func(_ *assembly.Program, b *block, x, y bc.Value) {
			b.Match(x, assembly.Case(func(b *block) { b.Return(b.Const(7)) }, 1, 2), assembly.Default(func(b *block) { b.Return(y) }))
		}, program: func(b *bc.Block) { b.End.Match.Value = 1 }, plan: func(p *blockPlan) { p.Match.Before[1][0].Constant = 8 }, honest: []field.Element{1, 9}, want: []string{"a product over cases"}},
		{name: "a choice", results: 1, body: func(_ *assembly.Program, b *block, x, y bc.Value) {
			b.Return(b.Choose(1, x, assembly.Case(func(b *block) { b.Yield(y) }, 0), assembly.Case(func(b *block) { b.Yield(x) }, 1))[0])
		}, program: func(b *bc.Block) { b.Ops[0].Match.Value = 1 }, honest: []field.Element{0, 1}, want: []string{"the case has the value"}},
		{name: "what a choice yields", results: 1, body: func(_ *assembly.Program, b *block, x, y bc.Value) {
			b.Return(b.Choose(1, x, assembly.Case(func(b *block) { b.Yield(b.Mul(x, y)) }, 0), assembly.Case(func(b *block) { b.Yield(b.Mul(y, y)) }, 1))[0])
		}, program: func(b *bc.Block) { b.Ops[0].Match.Cases[0].Block.End.Values[0] = 1 }, honest: []field.Element{0, 5}, want: []string{"a match's result"}},
		{name: "a limb that branches share", results: 1, body: two(func(b *block, x, _ bc.Value) { b.Op(bc.OpRange, 16, 0, x); b.Return(x) }), plan: func(p *blockPlan) {
			p.Match.Blocks[0].Ops[0].Writes[0].R = 1
		}, honest: []field.Element{5, 1}, forged: []field.Element{1 << 20, 1}, want: []string{"a limb"}},
		{name: "a byte that branches share", results: 1, body: two(func(b *block, x, _ bc.Value) { b.Op(bc.OpRange, 8, 0, x); b.Return(x) }), plan: func(p *blockPlan) {
			p.Match.Blocks[0].End[1].R = 1
		}, honest: []field.Element{5, 1}, forged: []field.Element{1 << 20, 1}, want: []string{"a byte"}},
		{name: "a bit", results: 1, body: func(_ *assembly.Program, b *block, x, y bc.Value) {
			z := b.Op(bc.OpSplit, 16, 1, b.Mul(x, y))
			b.Return(z[0])
		}, program: func(b *bc.Block) { b.Ops[1].Args[0] = 1 }, honest: []field.Element{1 << 15, 3}, want: []string{"a value has its column"}},
	} {
		t.Run(d.name, d.check)
	}
}

// TestNoWay lets a row go where every way fails.
func TestNoWay(t *testing.T) {
	p := assembly.New("noway")
	f := p.Function("f", 1, 1, func(b *assembly.Block, x []bc.Value) {
		b.Choose(0, x[0], assembly.Default(func(b *assembly.Block) { b.Fail() }))
		b.Return(x[0])
	})
	p.Entry(f, assembly.Fields(1), assembly.Fields(1))
	fg := forge(t, p, nil)
	fg.set("f", "in[0]", 0, 5)
	fg.set("f", `"f" leaf 0`, 0, 1)
	fg.set("f", `claims of "f"`, 0, 1)
	fg.claim([]field.Element{5}, []field.Element{5})
	fg.refused("a match that always fails is not met")
}
