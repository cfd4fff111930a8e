package lang_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/internal/tracecheck"
	"github.com/ixprove/ixprove/lang"
	"github.com/ixprove/ixprove/lang/circuits"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/lang/reference"
	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/lang/types"
	"github.com/ixprove/ixprove/lang/values"
	"github.com/ixprove/ixprove/verifier/field"
)

// generator writes random programs that are well typed.
type generator struct {
	*rand.Rand
	out   strings.Builder
	datas []genData
	funcs []genFunc
	fresh int
	size  int // what the function may still grow
}

// genType is a type: a name of one without parts, or "tuple", "array", "pointer" of parts, or "data".
type genType struct {
	kind  string
	parts []genType
	n     int // length of an array
	data  int
}

type genData struct {
	enum     bool
	variants [][]genType
}

type genFunc struct {
	args   []genType
	result genType
}

type genVar struct {
	name string
	typ  genType
}

var primKinds = []string{"field", "bool", "u8", "u32", "u64"}

func (t genType) String() string {
	var parts []string
	for _, p := range t.parts {
		parts = append(parts, p.String())
	}
	switch t.kind {
	case "tuple":
		if len(parts) == 1 {
			return "(" + parts[0] + ",)"
		}
		return "(" + strings.Join(parts, ", ") + ")"
	case "array":
		return fmt.Sprintf("[%s; %d]", parts[0], t.n)
	case "pointer":
		return "&" + parts[0]
	case "data":
		return fmt.Sprintf("D%d", t.data)
	}
	return t.kind
}

func (t genType) equal(u genType) bool { return t.String() == u.String() }

func (g *generator) typ(depth int, pointers bool) genType {
	if depth > 0 && g.IntN(3) == 0 {
		switch g.IntN(4) {
		case 0:
			t := genType{kind: "tuple"}
			for range g.IntN(4) {
				t.parts = append(t.parts, g.typ(depth-1, pointers))
			}
			return t
		case 1:
			return genType{kind: "array", n: g.IntN(4), parts: []genType{g.typ(depth-1, pointers)}}
		case 2:
			if pointers {
				return genType{kind: "pointer", parts: []genType{g.typ(depth-1, pointers)}}
			}
		case 3:
			if len(g.datas) > 0 {
				return genType{kind: "data", data: g.IntN(len(g.datas))}
			}
		}
	}
	return genType{kind: primKinds[g.IntN(len(primKinds))]}
}

func (g *generator) name() string {
	g.fresh++
	return fmt.Sprintf("v%d", g.fresh)
}

var interesting = map[string][]uint64{
	"field": {0, 1, 2, types.Modulus - 1, 1 << 32, 1<<32 - 1}, "u8": {0, 1, 7, 8, 127, 128, 255}, "u32": {0, 1, 2, 31, 32, 65535, 65536, 1<<32 - 1},
	"u64": {0, 1, 3, 63, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1<<64 - 1},
}

func (g *generator) literal(kind string) string {
	if kind == "bool" {
		return fmt.Sprint(g.IntN(2) == 0)
	}
	list := interesting[kind]
	v := list[g.IntN(len(list))]
	if g.IntN(2) == 0 {
		v = uint64(g.IntN(10))
	}
	return fmt.Sprintf("%d%s", v, kind)
}

// expr writes an expression of a type.
func (g *generator) expr(t genType, vars []genVar, depth int) string {
	g.size--
	var fit []string
	for _, v := range vars {
		switch {
		case v.typ.equal(t):
			fit = append(fit, v.name)
		case v.typ.kind == "pointer" && v.typ.parts[0].equal(t):
			fit = append(fit, "(*"+v.name+")")
		case v.typ.kind == "tuple":
			for i, p := range v.typ.parts {
				if p.equal(t) {
					fit = append(fit, fmt.Sprintf("%s.%d", v.name, i))
				}
			}
		case v.typ.kind == "array" && v.typ.n > 0 && v.typ.parts[0].equal(t):
			fit = append(fit, fmt.Sprintf("%s[%d]", v.name, g.IntN(v.typ.n)))
			if depth > 0 && g.IntN(3) == 0 {
				fit = append(fit, fmt.Sprintf("%s[%s]", v.name, g.expr(genType{kind: "u32"}, vars, 0)))
			}
		case v.typ.kind == "data" && !g.datas[v.typ.data].enum:
			for i, p := range g.datas[v.typ.data].variants[0] {
				if p.equal(t) {
					fit = append(fit, fmt.Sprintf("%s.f%d", v.name, i))
				}
			}
		}
	}
	if len(fit) > 0 && (depth <= 0 || g.IntN(3) == 0) {
		return fit[g.IntN(len(fit))]
	}
	if depth > 0 && g.size > 0 {
		switch g.IntN(8) {
		case 0:
			return fmt.Sprintf("if %s { %s } else { %s }", g.head(genType{kind: "bool"}, vars, depth-1), g.expr(t, vars, depth-1), g.expr(t, vars, depth-1))
		case 1, 2:
			return g.match(t, vars, depth-1)
		case 3:
			return g.block(t, vars, depth-1)
		case 4:
			var calls []string
			for i, f := range g.funcs {
				if f.result.equal(t) {
					var args []string
					for _, a := range f.args {
						args = append(args, g.expr(a, vars, depth-2))
					}
					calls = append(calls, fmt.Sprintf("f%d(%s)", i, strings.Join(args, ", ")))
				}
			}
			if calls != nil {
				return calls[g.IntN(len(calls))]
			}
		case 6:
			u := g.typ(1, false)
			switch g.IntN(4) {
			case 0:
				return fmt.Sprintf("same::<%s>(%s)", t, g.expr(t, vars, depth-1))
			case 1:
				return fmt.Sprintf("swapped::<%s, %s>(%s, %s).0", u, t, g.expr(u, vars, depth-2), g.expr(t, vars, depth-2))
			case 2:
				return fmt.Sprintf("element::<%s, 2>([%s, %s], %s %% 2)", t, g.expr(t, vars, depth-2), g.expr(t, vars, depth-2), g.paren(genType{kind: "u32"}, vars, depth-2))
			}
			if t.kind == "u64" {
				n := g.paren(genType{kind: "u8"}, vars, depth-2)
				return fmt.Sprintf([]string{"halved(%s %% 9, 77)", "total(counted(%s %% 9, &List::Nil))"}[g.IntN(2)], n)
			}
		case 5:
			if g.IntN(3) == 0 {
				i, acc := g.name(), g.name()
				inner := append(slices.Clip(vars), genVar{i, genType{kind: "u32"}}, genVar{acc, t})
				return fmt.Sprintf("(for %s in %d..%d with %s = %s { %s })", i, g.IntN(2), g.IntN(4), acc, g.head(t, vars, depth-2), g.expr(t, inner, depth-2))
			}
		}
	}
	list := func(types []genType) string {
		var out []string
		for _, p := range types {
			out = append(out, g.expr(p, vars, depth-1))
		}
		return strings.Join(out, ", ")
	}
	switch t.kind {
	case "tuple":
		if len(t.parts) == 1 {
			return "(" + list(t.parts) + ",)"
		}
		return "(" + list(t.parts) + ")"
	case "array":
		if t.n > 0 && g.IntN(4) == 0 {
			i := g.name()
			return fmt.Sprintf("[for %s in 0..%d => %s]", i, t.n, g.expr(t.parts[0], append(slices.Clip(vars), genVar{i, genType{kind: "u32"}}), depth-1))
		}
		if g.IntN(4) == 0 {
			return fmt.Sprintf("[%s; %d]", g.expr(t.parts[0], vars, depth-1), t.n)
		}
		return "[" + list(slices.Repeat(t.parts, t.n)) + "]"
	case "pointer":
		return "&" + g.paren(t.parts[0], vars, depth-1)
	case "data":
		d := g.datas[t.data]
		v := g.IntN(len(d.variants))
		if !d.enum {
			var fields []string
			for i, p := range d.variants[0] {
				fields = append(fields, fmt.Sprintf("f%d: %s", i, g.expr(p, vars, depth-1)))
			}
			return fmt.Sprintf("D%d { %s }", t.data, strings.Join(fields, ", "))
		}
		if len(d.variants[v]) == 0 {
			return fmt.Sprintf("D%d::V%d", t.data, v)
		}
		return fmt.Sprintf("D%d::V%d(%s)", t.data, v, list(d.variants[v]))
	}
	return g.prim(t, vars, depth)
}

// paren is an expression as an operand.
func (g *generator) paren(t genType, vars []genVar, depth int) string {
	return "(" + g.expr(t, vars, depth) + ")"
}

// head is an expression before a brace.
func (g *generator) head(t genType, vars []genVar, depth int) string { return g.paren(t, vars, depth) }

func (g *generator) prim(t genType, vars []genVar, depth int) string {
	if depth <= 0 || g.size <= 0 {
		return g.literal(t.kind)
	}
	operand := func(t genType) string { return g.paren(t, vars, depth-1) }
	pick := func(ops ...string) string { return ops[g.IntN(len(ops))] }
	numeric := func() genType { return genType{kind: []string{"u8", "u32", "u64"}[g.IntN(3)]} }
	switch t.kind {
	case "bool":
		switch g.IntN(5) {
		case 0:
			n := numeric()
			return operand(n) + pick(" < ", " <= ", " > ", " >= ") + operand(n)
		case 1, 2:
			u := g.typ(2, false)
			return operand(u) + pick(" == ", " != ") + operand(u)
		case 3:
			return "!" + operand(t)
		}
		return operand(t) + pick(" && ", " || ") + operand(t)
	case "field":
		switch g.IntN(4) {
		case 0:
			return "-" + operand(t)
		case 1:
			return operand(genType{kind: primKinds[g.IntN(5)]}) + " as field"
		}
		return operand(t) + pick(" + ", " - ", " * ", " / ") + operand(t)
	}
	switch g.IntN(5) {
	case 0:
		return operand(genType{kind: primKinds[g.IntN(5)]}) + " as " + t.kind
	case 1:
		amount := fmt.Sprint(g.IntN(map[string]int{"u8": 8, "u32": 32, "u64": 64}[t.kind]))
		if g.IntN(3) == 0 {
			amount = operand(genType{kind: "u32"})
		}
		return operand(t) + pick(" << ", " >> ", " >> ") + amount
	case 2:
		return operand(t) + pick(" & ", " | ", " ^ ") + operand(t)
	case 3:
		return operand(t) + pick(" / ", " % ") + operand(t)
	}
	return operand(t) + pick(" + ", " - ", " * ") + operand(t)
}

// pattern writes a pattern for a type and lists what it binds.
func (g *generator) pattern(t genType, depth int, names bool) (string, []genVar) {
	if depth <= 0 || g.IntN(4) == 0 {
		if names && g.IntN(2) == 0 {
			v := genVar{g.name(), t}
			return v.name, []genVar{v}
		}
		return "_", nil
	}
	list := func(types []genType) (string, []genVar) {
		var out []string
		var vars []genVar
		for _, p := range types {
			s, v := g.pattern(p, depth-1, names)
			out, vars = append(out, s), append(vars, v...)
		}
		return strings.Join(out, ", "), vars
	}
	if g.IntN(5) == 0 { // alternatives that bind nothing
		a, _ := g.pattern(t, depth-1, false)
		b, _ := g.pattern(t, depth-1, false)
		return "(" + a + " | " + b + ")", nil
	}
	if names && g.IntN(6) == 0 {
		s, vars := g.pattern(t, depth-1, true)
		v := genVar{g.name(), t}
		return v.name + " @ (" + s + ")", append(vars, v)
	}
	switch t.kind {
	case "tuple":
		s, v := list(t.parts)
		if len(t.parts) == 1 {
			s += ","
		}
		return "(" + s + ")", v
	case "array":
		s, v := list(slices.Repeat(t.parts, t.n))
		return "[" + s + "]", v
	case "pointer":
		s, v := g.pattern(t.parts[0], depth-1, names)
		return "&(" + s + ")", v
	case "data":
		d := g.datas[t.data]
		if !d.enum {
			var out []string
			var vars []genVar
			for i, p := range d.variants[0] {
				s, v := g.pattern(p, depth-1, names)
				out, vars = append(out, fmt.Sprintf("f%d: %s", i, s)), append(vars, v...)
			}
			return fmt.Sprintf("D%d { %s }", t.data, strings.Join(out, ", ")), vars
		}
		v := g.IntN(len(d.variants))
		if len(d.variants[v]) == 0 {
			return fmt.Sprintf("D%d::V%d", t.data, v), nil
		}
		s, vars := list(d.variants[v])
		return fmt.Sprintf("D%d::V%d(%s)", t.data, v, s), vars
	}
	return g.literal(t.kind), nil
}

func (g *generator) match(t genType, vars []genVar, depth int) string {
	of := g.typ(2, true)
	if len(vars) > 0 && g.IntN(2) == 0 {
		of = vars[g.IntN(len(vars))].typ
	}
	var b strings.Builder
	fmt.Fprintf(&b, "match %s { ", g.head(of, vars, depth-1))
	for range g.IntN(4) {
		p, bound := g.pattern(of, 3, true)
		fmt.Fprintf(&b, "%s => { %s } ", p, g.expr(t, append(slices.Clip(vars), bound...), depth-1))
	}
	fmt.Fprintf(&b, "_ => { %s } }", g.expr(t, vars, depth-1))
	return b.String()
}

func (g *generator) block(t genType, vars []genVar, depth int) string {
	var b strings.Builder
	b.WriteString("{ ")
	for range g.IntN(3) {
		switch g.IntN(6) {
		case 1:
			v := genVar{g.name(), g.typ(2, false)}
			fmt.Fprintf(&b, "let %s = unconstrained hinted::<%s>(%s) where %s == %s; ", v.name, v.typ, g.expr(v.typ, vars, depth-1), v.name, v.name)
			vars = append(slices.Clip(vars), v)
		case 0:
			fmt.Fprintf(&b, "assert %s; ", g.paren(genType{kind: "bool"}, vars, depth-1))
		default:
			v := genVar{g.name(), g.typ(2, true)}
			fmt.Fprintf(&b, "let %s: %s = %s; ", v.name, v.typ, g.expr(v.typ, vars, depth-1))
			vars = append(slices.Clip(vars), v)
		}
	}
	b.WriteString(g.expr(t, vars, depth-1) + " }")
	return b.String()
}

// prelude is what every program has: generic functions, recursion, a hint, lists.
const prelude = `fn same<T>(x: T) -> T { x }
#[inline(never)] fn swapped<A, B>(a: A, b: B) -> (B, A) { (b, a) }
fn element<T, const N: u32>(a: [T; N], i: u32) -> T { a[i] }
fn halved(n: u8, x: u64) -> u64 { match n { 0 => x, _ => halved(n - 1, x / 2 + 3) } }
unconstrained fn hinted<T>(x: T) -> T { x }
enum List { Nil, Cons(u64, &List) }
fn counted(n: u8, l: &List) -> &List { if n == 0 { l } else { counted(n - 1, &List::Cons(n as u64, l)) } }
fn total(l: &List) -> u64 { match l { &List::Nil => 0, &List::Cons(x, &List::Nil) => x * 3, &List::Cons(x, rest) => x + total(rest) } }
`

// program writes a program with the entry main.
func (g *generator) program() (args []genType) {
	g.out.WriteString(prelude)
	for i := range g.IntN(4) {
		d := genData{enum: g.IntN(3) > 0}
		n := 1
		if d.enum {
			n = 1 + g.IntN(4)
			fmt.Fprintf(&g.out, "enum D%d { ", i)
		} else {
			fmt.Fprintf(&g.out, "struct D%d { ", i)
		}
		for v := range n {
			var fields []genType
			var text []string
			for k := range g.IntN(4) {
				f := g.typ(2, false)
				fields = append(fields, f)
				if d.enum {
					text = append(text, f.String())
				} else {
					text = append(text, fmt.Sprintf("f%d: %s", k, f))
				}
			}
			d.variants = append(d.variants, fields)
			switch {
			case !d.enum:
				g.out.WriteString(strings.Join(text, ", "))
			case len(text) == 0:
				fmt.Fprintf(&g.out, "V%d, ", v)
			default:
				fmt.Fprintf(&g.out, "V%d(%s), ", v, strings.Join(text, ", "))
			}
		}
		g.out.WriteString(" }\n")
		g.datas = append(g.datas, d)
	}
	n := 1 + g.IntN(4)
	for i := range n {
		last := i == n-1
		var f genFunc
		var vars []genVar
		var text []string
		for range 1 + g.IntN(3) {
			v := genVar{g.name(), g.typ(2, !last)}
			f.args = append(f.args, v.typ)
			vars = append(vars, v)
			private := ""
			if last && g.IntN(3) == 0 {
				private = "private "
			}
			text = append(text, private+v.name+": "+v.typ.String())
		}
		f.result = g.typ(2, !last)
		name, result := fmt.Sprintf("f%d", i), f.result.String()
		if last {
			name = "pub fn main"
			result = "(u8, " + result + ")"
		} else {
			name = []string{"", "#[inline] ", "#[inline(never)] "}[g.IntN(3)] + "fn " + name
		}
		g.size = 60
		body := g.expr(f.result, vars, 5)
		if last {
			body = "(0, " + body + ")"
		}
		fmt.Fprintf(&g.out, "%s(%s) -> %s { %s }\n", name, strings.Join(text, ", "), result, body)
		if last {
			return f.args
		}
		g.funcs = append(g.funcs, f)
	}
	return nil
}

// value makes a random value.
func (g *generator) value(t genType) values.Value {
	all := func(list []genType) (out []values.Value) {
		for _, p := range list {
			out = append(out, g.value(p))
		}
		return out
	}
	switch t.kind {
	case "tuple":
		return values.Value{Parts: all(t.parts)}
	case "array":
		return values.Value{Parts: all(slices.Repeat(t.parts, t.n))}
	case "data":
		v := g.IntN(len(g.datas[t.data].variants))
		return values.Value{Variant: v, Parts: all(g.datas[t.data].variants[v])}
	case "bool":
		return values.Value{Number: uint64(g.IntN(2))}
	}
	list := interesting[t.kind]
	if g.IntN(2) == 0 {
		return values.Value{Number: list[g.IntN(len(list))]}
	}
	return values.Value{Number: uint64(g.IntN(12))}
}

// withoutUnreachable removes the arms that a compilation found unreachable.
func withoutUnreachable(text string, err error) string {
	var list syntax.Errors
	errors.As(err, &list)
	for _, d := range slices.Backward(list) {
		if !strings.Contains(d.What, "never reached") {
			continue
		}
		end := d.Span.End + strings.Index(text[d.Span.End:], "{")
	scan:
		for depth := 0; ; end++ {
			switch text[end] {
			case '{':
				depth++
			case '}':
				depth--
			}
			if depth == 0 {
				end++
				break scan
			}
		}
		text = strings.TrimRight(text[:d.Span.Start], "(") + text[end:]
	}
	return text
}

// record executes main.
func record(p *lang.Program, m *exec.Module, args []values.Value) (*exec.Record, error) {
	var words []field.Element
	var private [][]field.Element
	for i, a := range p.Checked.Entries[0].Args {
		if a.Private {
			private = append(private, values.Stream(a.Local.Type, args[i], nil))
		} else {
			words = values.Words(a.Local.Type, args[i], words)
		}
	}
	return m.Execute(context.Background(), []exec.Call{{Entry: 0, Args: words}}, p.Inputs(0, private), exec.Limits{Memory: 1 << 28, Steps: 1 << 24})
}

// execute calls main in the executor.
func execute(t *testing.T, p *lang.Program, m *exec.Module, args []values.Value) (values.Value, error) {
	t.Helper()
	r, err := record(p, m, args)
	if err != nil {
		return values.Value{}, err
	}
	v, rest := values.FromWords(p.Entries[0].Result, r.Claims[0].Results)
	if len(rest) != 0 {
		t.Errorf("%d words too many", len(rest))
	}
	return v, nil
}

// compare runs one random program in the reference evaluator and in the executor.
func compare(t *testing.T, seed uint64) (ran, failed int) {
	t.Helper()
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1))}
	args := g.program()
	text := g.out.String()
	p, err := lang.Compile(files(text), "main.ix")
	for range 8 {
		if pruned := withoutUnreachable(text, err); pruned != text {
			text = pruned
			p, err = lang.Compile(files(text), "main.ix")
		}
	}
	if err != nil {
		if strings.Contains(err.Error(), "too many") || strings.Contains(err.Error(), "is not known here") || strings.Contains(err.Error(), "outside of the array") {
			return 0, 0
		}
		t.Errorf("seed %d\n%s\n%s", seed, text, explain(err))
		return 0, 0
	}
	m, err := exec.Load(p.Bytecode)
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		var in []values.Value
		for _, a := range args {
			in = append(in, g.value(a))
		}
		want, wantErr := reference.Call(p.Checked.Entries[0], in)
		if errors.Is(wantErr, reference.ErrLimit) {
			continue
		}
		got, gotErr := execute(t, p, m, in)
		result := p.Entries[0].Result
		ran++
		switch {
		case wantErr != nil:
			failed++
			if gotErr == nil {
				t.Errorf("seed %d: %v\n%s\nthe reference fails: %v\nthe executor gives %s", seed, in, text, wantErr, values.Text(result, got))
			}
		case gotErr != nil:
			t.Errorf("seed %d: %v\n%s\nthe reference gives %s\nthe executor fails: %v", seed, in, text, values.Text(result, want), gotErr)
		case values.Text(result, got) != values.Text(result, want):
			t.Errorf("seed %d: %v\n%s\nthe reference gives %s\nthe executor gives  %s", seed, in, text, values.Text(result, want), values.Text(result, got))
		}
	}
	return ran, failed
}

func TestDifferential(t *testing.T) {
	ran, failed := 0, 0
	for seed := range uint64(1500) {
		r, f := compare(t, seed)
		ran, failed = ran+r, failed+f
		if t.Failed() {
			return
		}
	}
	if ran < 2000 || failed > ran*3/4 || failed < ran/50 {
		t.Errorf("%d calls, %d of them fail: the programs say little", ran, failed)
	}
	t.Logf("%d calls, %d of them fail", ran, failed)
}

// sample is a random program that compiles, with arguments for it.
type sample struct {
	*generator
	program *lang.Program
	module  *exec.Module
	in      []values.Value
}

// newSample is the sample of a seed, nil where its program does not compile.
func newSample(t *testing.T, seed uint64) *sample {
	t.Helper()
	s := &sample{generator: &generator{Rand: rand.New(rand.NewPCG(seed, 1))}}
	args := s.generator.program()
	var err error
	if s.program, err = lang.Compile(files(s.out.String()), "main.ix"); err != nil {
		return nil
	}
	if s.module, err = exec.Load(s.program.Bytecode); err != nil {
		t.Fatal(err)
	}
	for _, a := range args {
		s.in = append(s.in, s.value(a))
	}
	return s
}

// TestDifferentialCircuits checks that the traces of random programs satisfy their circuits: what the compiler promises of the words it makes, the circuits rely on.
func TestDifferentialCircuits(t *testing.T) {
	checked := 0
	for seed := uint64(5000); checked < 40; seed++ {
		random := newSample(t, seed)
		if random == nil {
			continue
		}
		text, p, m, in := random.out.String(), random.program, random.module, random.in
		r, err := record(p, m, in)
		if err != nil || r.Steps < 20 {
			continue
		}
		checked++
		s, err := circuits.Build(m)
		if err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
		c, err := tracecheck.New(s.Air, 2, 3)
		if err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
		w, err := s.Witness(r, 1, 3)
		if err != nil {
			t.Fatal(err)
		}
		traces, err := c.Write(w)
		if err != nil {
			t.Fatal(err)
		}
		failures, err := c.Check(w, traces)
		if err != nil || len(failures) > 0 {
			t.Errorf("seed %d\n%s\n%v %v", seed, text, err, failures[:min(3, len(failures))])
		}
	}
}

func FuzzDifferential(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { compare(t, seed) })
}
