package exec

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/formats"
	bc "github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/lang/internal/assembly"
	"github.com/ixprove/ixprove/verifier/field"
)

func load(t testing.TB, p *assembly.Program) *Module {
	t.Helper()
	m, err := Load(&p.Program)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// call executes the first entry.
func call(t testing.TB, m *Module, inputs [][]field.Element, args ...field.Element) *Record {
	t.Helper()
	r, err := m.Execute(context.Background(), []Call{{0, args}}, inputs, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFib(t *testing.T) {
	m := load(t, assembly.Fib())
	r := call(t, m, nil, 90)
	if got := r.Claims[0].Results[0]; got != 2880067194370816120 {
		t.Errorf("fib(90) = %d", got)
	}
	if r.Entries(0) != 91 || len(r.Rows(0)) != 91 {
		t.Errorf("%d entries, %d rows; want 91 of both", r.Entries(0), len(r.Rows(0)))
	}
	for n := range field.Element(91) {
		e, ok := r.Find(0, []field.Element{n})
		uses := uint64(2)
		switch n {
		case 90:
			uses = 0 // the claim is no use
		case 89, 0:
			uses = 1
		}
		if !ok || e.Uses != uses || !e.Constrained || n >= 1 && e.Rank != uint32(n-1) {
			t.Errorf("fib(%d): %+v, %v; want %d uses", n, e, ok, uses)
		}
	}
	if !m.Recursive[0] || !m.Constrained[0] {
		t.Error("fib is recursive and constrained")
	}
}

func TestMemory(t *testing.T) {
	m := load(t, assembly.Squares())
	r := call(t, m, nil, 10)
	if got := r.Claims[0].Results[0]; got != 285 {
		t.Errorf("got %d, want 285", got)
	}
	if r.Cells(3) != 11 || len(r.Widths()) != 1 {
		t.Errorf("%d cells, want 11", r.Cells(3))
	}
	for i := range 11 {
		v, uses := r.Cell(3, i)
		if uses != 2 {
			t.Errorf("cell %d has %d uses, want 2: its store and its load", i, uses)
		}
		if p, ok := r.FindCell(v); !ok || p != i {
			t.Errorf("cell %d is found at %d", i, p)
		}
	}
}

func TestKitchen(t *testing.T) {
	m := load(t, assembly.Kitchen())
	data := [][]field.Element{{7, 9}}
	r := call(t, m, data, 4000000000, 500000000)
	want := []field.Element{1, 4000000000 * 500000000 & (1<<32 - 1), 4000000000 * 500000000 >> 32, 0, 0, (4000000000 + 500000000) & (1<<32 - 1)}
	if got := r.Claims[0].Results[:6]; !slices.Equal(got, want) {
		t.Errorf("got %d, want %d", got, want)
	}
	r = call(t, m, data, 0x1234, 0x1234)
	if got := r.Claims[0].Results; got[4] != 1 || got[5] != 0 || got[6] != 0x1234 {
		t.Errorf("got %d", got)
	}
}

// TestPromotion checks that an entry that was made unconstrained is run again by a constrained call, and everything below it.
func TestPromotion(t *testing.T) {
	p := assembly.New("promote")
	leaf := p.Function("leaf", 1, 1, func(b *assembly.Block, x []bc.Value) { b.Return(b.Mul(x[0], x[0])) })
	middle := p.Function("middle", 1, 1, func(b *assembly.Block, x []bc.Value) { b.Return(b.Call(leaf, x[0])[0]) })
	only := p.Function("only", 1, 1, func(b *assembly.Block, x []bc.Value) { b.Return(b.Call(leaf, b.Add(x[0], x[0]))[0]) })
	main := p.Function("main", 1, 1, func(b *assembly.Block, x []bc.Value) {
		h := b.Hint(middle, x[0])[0]
		b.Hint(only, x[0])
		b.Return(b.Add(h, b.Call(middle, x[0])[0]))
	})
	p.Entry(main, assembly.Fields(1), assembly.Fields(1))
	m := load(t, p)
	r := call(t, m, nil, 5)
	for _, c := range []struct {
		f           uint32
		arg         field.Element
		uses        uint64
		constrained bool
	}{{main, 5, 0, true}, {middle, 5, 1, true}, {leaf, 5, 1, true}, {only, 5, 0, false}, {leaf, 10, 0, false}} {
		e, ok := r.Find(int(c.f), []field.Element{c.arg})
		if !ok || e.Uses != c.uses || e.Constrained != c.constrained {
			t.Errorf("%s(%d): %+v, want %d uses and constrained %v", p.Functions[c.f].Name, c.arg, e, c.uses, c.constrained)
		}
	}
	if m.Constrained[only] {
		t.Error("a function that is called unconstrained alone has no rows")
	}
}

func TestFailures(t *testing.T) {
	loop := func(body func(p *assembly.Program, self uint32, b *assembly.Block, x bc.Value)) *assembly.Program {
		p := assembly.New("failing")
		f := p.Declare("f", 1, 1)
		p.Inputs = []bc.Input{{Name: "data", Bits: 8}}
		p.Define(f, func(b *assembly.Block, x []bc.Value) {
			b.At(7, "a note")
			body(p, f, b, x[0])
			if b.End.Values == nil {
				b.Return(x[0])
			}
		})
		p.Entry(f, assembly.Fields(1), []formats.ValueType{formats.TypeU8})
		return p
	}
	type block = assembly.Block
	for _, c := range []struct {
		name string
		body func(p *assembly.Program, self uint32, b *block, x bc.Value)
		arg  field.Element
		want string
	}{
		{"assertion", func(_ *assembly.Program, _ uint32, b *block, x bc.Value) { b.Op(bc.OpAssertZero, 0, 0, x) }, 3, "failing.ix:7:1, in f(3)"},
		{"range", func(_ *assembly.Program, _ uint32, b *block, x bc.Value) { b.Op(bc.OpRange, 8, 0, x) }, 256, "below 2^8, got 256"},
		{"split", func(_ *assembly.Program, _ uint32, b *block, x bc.Value) { b.Op(bc.OpSplit, 4, 4, x) }, 256, "below 2^8"},
		{"bytes", func(_ *assembly.Program, _ uint32, b *block, x bc.Value) { b.Op(bc.OpBytes, 1, 0, x) }, 256, "below 2^8"},
		{"xor", func(_ *assembly.Program, _ uint32, b *block, x bc.Value) { b.Op(bc.OpXor, 0, 0, x, x) }, 256, "below 2^8"},
		{"match", func(_ *assembly.Program, _ uint32, b *block, x bc.Value) {
			b.Choose(0, x, assembly.Case(func(b *block) { b.Yield() }, 5, 1<<40))
		}, 6, "got 6"},
		{"unreachable", func(_ *assembly.Program, _ uint32, b *block, x bc.Value) {
			b.Choose(0, x, assembly.Default(func(b *block) { b.Fail() }))
		}, 6, "a note"},
		{"load", func(_ *assembly.Program, _ uint32, b *block, x bc.Value) { b.Load(2, x) }, 0, "got 0"},
		{"input", func(_ *assembly.Program, _ uint32, b *block, x bc.Value) { b.Op(bc.OpInput, 0, 0, x) }, 1, "0 elements"},
		{"division", func(_ *assembly.Program, _ uint32, b *block, x bc.Value) { b.Op(bc.OpHintDivMod, 1, 1, x, x) }, 0, "a note"},
		{"limb", func(_ *assembly.Program, _ uint32, b *block, x bc.Value) { b.Op(bc.OpHintModInverse, 1, 0, x, x) }, 1 << 32, "below 2^32"},
		{"word", func(_ *assembly.Program, _ uint32, b *block, x bc.Value) {
			b.Op(bc.OpSha256, 0, 0, slices.Repeat([]bc.Value{x}, 24)...)
		}, 1 << 32, "below 2^32"},
		{"endless", func(_ *assembly.Program, f uint32, b *block, x bc.Value) { b.Return(b.Call(f, x)[0]) }, 1, "f(1)"},
		{"steps", func(_ *assembly.Program, f uint32, b *block, x bc.Value) {
			b.Return(b.Call(f, b.Add(x, b.Const(1)))[0])
		}, 1, "limit"},
		{"result", func(*assembly.Program, uint32, *block, bc.Value) {}, 256, "result \"r00\""},
	} {
		m := load(t, loop(c.body))
		_, err := m.Execute(context.Background(), []Call{{0, []field.Element{c.arg}}}, nil, Limits{Steps: 100000})
		var e *formats.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestCallsAreChecked(t *testing.T) {
	m := load(t, assembly.Kitchen())
	for _, c := range []struct {
		name   string
		call   Call
		inputs [][]field.Element
		want   string
	}{
		{"entry", Call{1, nil}, nil, "entry does not exist"},
		{"negative entry", Call{-1, nil}, nil, "entry does not exist"},
		{"arity", Call{0, []field.Element{1}}, nil, "wrong number"},
		{"type", Call{0, []field.Element{1, 1 << 32}}, nil, "not of its type"},
		{"input", Call{0, []field.Element{1, 1}}, [][]field.Element{{256}}, "too large"},
		{"inputs", Call{0, []field.Element{1, 1}}, make([][]field.Element, 2), "more inputs"},
	} {
		if _, err := m.Execute(context.Background(), []Call{c.call}, c.inputs, Limits{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestDeep recurses a million calls deep.
func TestDeep(t *testing.T) {
	r := call(t, load(t, assembly.Fib()), nil, 1000000)
	if n := len(r.Rows(0)); n != 1000001 {
		t.Errorf("%d rows", n)
	}
}

func TestLimits(t *testing.T) {
	m := load(t, assembly.Fib())
	run := func(ctx context.Context, l Limits) error {
		_, err := m.Execute(ctx, []Call{{0, []field.Element{1000000}}}, nil, l)
		return err
	}
	if err := run(context.Background(), Limits{Memory: 8 << 20}); !errors.Is(err, formats.Limit) {
		t.Errorf("memory: %v", err)
	}
	if err := run(context.Background(), Limits{Steps: 1000}); !errors.Is(err, formats.Limit) {
		t.Errorf("steps: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := run(ctx, Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("context: %v", err)
	}
}

// TestComponents checks the order of calls: down, or within a component.
func TestComponents(t *testing.T) {
	p := assembly.New("order")
	even, odd, top := p.Declare("even", 1, 1), p.Declare("odd", 1, 1), p.Declare("top", 1, 1)
	p.Define(even, func(b *assembly.Block, x []bc.Value) { b.Return(b.Call(odd, x[0])[0]) })
	p.Define(odd, func(b *assembly.Block, x []bc.Value) {
		b.Match(x[0], assembly.Case(func(b *assembly.Block) { b.Return(x[0]) }, 0), assembly.Default(func(b *assembly.Block) { b.Return(b.Call(even, b.Sub(x[0], b.Const(1)))[0]) }))
	})
	p.Define(top, func(b *assembly.Block, x []bc.Value) { b.Return(b.Call(even, x[0])[0]) })
	p.Entry(top, assembly.Fields(1), assembly.Fields(1))
	m := load(t, p)
	if m.Order[even] != m.Order[odd] || m.Order[top] <= m.Order[even] {
		t.Errorf("order %v", m.Order)
	}
	if want := []bool{true, true, false}; !slices.Equal(m.Recursive, want) {
		t.Errorf("recursive %v", m.Recursive)
	}
	call(t, m, nil, 9)
}

// BenchmarkLoop reports bytecode operations a second on code that is mostly arithmetic, and a call for each dozen of them.
func BenchmarkLoop(b *testing.B) {
	m := load(b, assembly.Loop())
	steps := uint64(0)
	for b.Loop() {
		steps += call(b, m, nil, 1000000).Steps
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "ops/s")
}

// BenchmarkRows executes ten million rows.
func BenchmarkRows(b *testing.B) {
	m := load(b, assembly.Fib())
	for b.Loop() {
		r := call(b, m, nil, 10000000)
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		b.ReportMetric(float64(s.Sys)/(1<<30), "GiB")
		b.ReportMetric(float64(r.Bytes)/(1<<30), "GiB-record")
	}
}
