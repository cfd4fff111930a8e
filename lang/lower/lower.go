// Package lower compiles checked programs to bytecode.
//
// Only what entries reach is compiled, once for each choice of type arguments. A call of a small function is replaced by its body where that costs no more than the call. Matches become
// decision trees; enums are flattened to a tag and the largest payload; integers are words that range checks keep in bounds, so that arithmetic is exact in the field. Equal operations in scope
// are made once, and functions that are equal up to the functions they call are one.
package lower

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/lang/types"
)

// Limits of a program.
const (
	maxInstances = 1 << 14
	maxWork      = 1 << 25
	maxTypeDepth = 40 // of type arguments, which recursion can nest without end
)

// instance is a function for certain type arguments.
type instance struct {
	fn    *types.Func
	types []types.Type
	known map[types.Type]types.Type // types of the body, with these arguments
	calls map[*types.Call]*instance // what calls in the body call
	index uint32                    // in the program; entries' wrappers and readers have instances without fn
	key   string
}

func (i *instance) place() syntax.Span { return i.fn.Span }

// program is a program that is being compiled.
type program struct {
	checked   *types.Program
	out       *bytecode.Program
	errors    syntax.Errors
	instances map[string]*instance
	queue     []*instance
	readers   map[string]*reader
	reads     []*reader
	tables    map[int]uint32 // functions of powers of two, by bits
	weights   *weights
	sites     map[siteKey]uint32
	files     map[*syntax.File]uint32
	notes     map[string]uint32
	fn        *instance // whose body is being made
	meter     types.Meter
	generic   map[*types.Func][]types.Type // types in a body that type arguments change
	*shapes
	work int // expressions and words made so far, also those that cost nothing
}

type siteKey struct {
	file  *syntax.File
	start int
	note  string
}

// Compile compiles a checked program with entries. name becomes the name of the verifying key. The program is valid if there are no errors.
func Compile(checked *types.Program, name string) (*bytecode.Program, []Entry, syntax.Errors) {
	p := &program{
		checked: checked, out: &bytecode.Program{Name: name}, instances: map[string]*instance{}, readers: map[string]*reader{}, tables: map[int]uint32{},
		generic: map[*types.Func][]types.Type{}, sites: map[siteKey]uint32{}, files: map[*syntax.File]uint32{}, notes: map[string]uint32{},
	}
	p.shapes = &shapes{map[any]int{}, map[types.Type][]types.Type{}, &p.work}
	p.weights = weigh(checked, p.shapes)
	entries := p.entries()
	for len(p.queue)+len(p.reads) > 0 && len(p.errors) < syntax.MaxErrors {
		for len(p.queue) > 0 && len(p.errors) < syntax.MaxErrors {
			i := p.queue[0]
			p.queue = p.queue[1:]
			p.function(i)
		}
		for len(p.reads) > 0 && len(p.errors) < syntax.MaxErrors {
			r := p.reads[0]
			p.reads = p.reads[1:]
			p.reader(r)
		}
	}
	p.errors.Sort()
	if len(p.errors) > 0 {
		return nil, nil, p.errors
	}
	p.deduplicate()
	if err := p.out.Validate(); err != nil {
		d := &syntax.Diagnostic{Class: formats.Internal, What: err.Error(), Next: "report this with the program"}
		if errors.Is(err, formats.Limit) {
			d.Class, d.Next = formats.Limit, "a program may have so much altogether: make it smaller"
		}
		p.report(d)
		return nil, nil, p.errors
	}
	return p.out, entries, nil
}

func (p *program) report(d *syntax.Diagnostic) {
	if d.Class == 0 {
		d.Class = formats.Invalid
	}
	if len(p.errors) < syntax.MaxErrors {
		p.errors = append(p.errors, d)
	}
}

// add adds a function.
func (p *program) add(f bytecode.Function) uint32 {
	if len(f.Name) > formats.MaxNameBytes {
		f.Name = f.Name[:formats.MaxNameBytes-1] + "~"
	}
	p.out.Functions = append(p.out.Functions, f)
	return uint32(len(p.out.Functions) - 1)
}

// site is the number of a place in the source and what to say when an operation there fails.
func (p *program) site(at syntax.Span, note string) uint32 {
	if at.File == nil {
		return 0
	}
	k := siteKey{at.File, at.Start, note}
	if s, ok := p.sites[k]; ok {
		return s
	}
	file, ok := p.files[at.File]
	d := &p.out.Debug
	if !ok {
		file = uint32(len(d.Files))
		d.Files = append(d.Files, at.File.Name)
		p.files[at.File] = file
	}
	n := uint32(0)
	if note != "" {
		if n, ok = p.notes[note]; !ok {
			d.Notes = append(d.Notes, note)
			n = uint32(len(d.Notes))
			p.notes[note] = n
		}
	}
	position := at.File.Position(at.Start)
	d.Sites = append(d.Sites, bytecode.Site{File: file, Line: uint32(position.Line), Column: uint32(position.Column), Note: n})
	p.sites[k] = uint32(len(d.Sites))
	return p.sites[k]
}

// typeKey names a type without parameters uniquely.
func typeKey(t types.Type) string {
	switch t := types.Resolve(t).(type) {
	case *types.Named:
		return fmt.Sprintf("%p<%s>", t.Data, typeKeys(t.Args))
	case *types.Tuple:
		return "(" + typeKeys(t.Elems) + ")"
	case *types.Array:
		return "[" + typeKey(t.Elem) + ";" + typeKey(t.Len) + "]"
	case *types.Pointer:
		return "&" + typeKey(t.To)
	default:
		return t.String()
	}
}

func typeKeys(list []types.Type) string {
	var b strings.Builder
	for _, t := range list {
		b.WriteString(typeKey(t))
		b.WriteByte(',')
	}
	return b.String()
}

func typeDepth(t types.Type) int {
	d := 0
	deeper := func(list ...types.Type) {
		for _, e := range list {
			d = max(d, typeDepth(e))
		}
	}
	switch t := types.Resolve(t).(type) {
	case *types.Named:
		deeper(t.Args...)
	case *types.Tuple:
		deeper(t.Elems...)
	case *types.Array:
		deeper(t.Elem)
	case *types.Pointer:
		deeper(t.To)
	}
	return d + 1
}

// instance finds or makes the instance of a function for type arguments.
func (p *program) instance(fn *types.Func, args []types.Type, at syntax.Span) *instance {
	for _, t := range args {
		if !p.meter.Written(t) || typeDepth(t) > maxTypeDepth {
			p.report(&syntax.Diagnostic{Span: at, Class: formats.Limit, What: "the function calls itself for ever larger types", Got: fn.Name})
			return nil
		}
	}
	key := fmt.Sprintf("%p|%s", fn, typeKeys(args))
	if i, ok := p.instances[key]; ok {
		return i
	}
	if len(p.instances) >= maxInstances {
		p.report(&syntax.Diagnostic{Span: at, Class: formats.Limit, What: "the program has too many functions for different types"})
		return nil
	}
	i := &instance{fn: fn, types: args, known: map[types.Type]types.Type{}, calls: map[*types.Call]*instance{}, key: key}
	f := frame{instance: i}
	for _, t := range p.genericOf(fn) {
		if !p.meter.Fits(f.of(t)) {
			p.report(&syntax.Diagnostic{Span: at, Class: formats.Limit, What: "the function has types too large for these type arguments", Got: fn.Name, Next: "keep large data in lists behind pointers"})
			return nil
		}
	}
	p.instances[key] = i
	return i
}

// genericOf lists the types of a function that type arguments change.
func (p *program) genericOf(fn *types.Func) []types.Type {
	if len(fn.Params) == 0 {
		return nil
	}
	list, ok := p.generic[fn]
	if ok {
		return list
	}
	seen := map[types.Type]bool{}
	add := func(t types.Type) {
		t = types.Resolve(t)
		if _, plain := t.(types.Prim); !plain && !seen[t] {
			seen[t] = true
			list = append(list, t)
		}
	}
	add(fn.Result)
	for _, a := range fn.Args {
		add(a.Local.Type)
	}
	if fn.Body != nil {
		types.Walk(fn.Body, func(x types.Expr) { add(x.Type()) })
	}
	p.generic[fn] = list
	return list
}

// index is the number of an instance in the program; the first time, its body is queued.
func (p *program) indexOf(i *instance) uint32 {
	if i.index == 0 {
		name := i.fn.Name
		if len(i.types) > 0 {
			var args []string
			for _, t := range i.types {
				args = append(args, t.String())
			}
			name += "<" + strings.Join(args, ", ") + ">"
		}
		if strings.HasPrefix(i.fn.Module.Path, "std/") {
			name = strings.TrimPrefix(i.fn.Module.Path, "std/") + "::" + name
		}
		f := &frame{instance: i}
		params := 0
		for _, a := range i.fn.Args {
			params += p.words(f.of(a.Local.Type))
		}
		i.index = p.add(bytecode.Function{Name: name, Params: params, Results: p.words(f.of(i.fn.Result)), Site: p.site(i.fn.Span, "")}) + 1
		p.queue = append(p.queue, i)
	}
	return i.index - 1
}

// frame is a function whose body is being made, perhaps inside of another.
type frame struct {
	*instance
	vars map[*types.Local][]word
}

// of replaces type parameters.
func (f *frame) of(t types.Type) types.Type {
	if len(f.types) == 0 {
		return types.Resolve(t)
	}
	t = types.Resolve(t)
	if _, plain := t.(types.Prim); plain {
		return t
	}
	out, ok := f.known[t]
	if !ok {
		out = types.Resolve(types.Substitute(t, f.fn.Params, f.types))
		f.known[t] = out
	}
	return out
}

// newBuilder starts the body of a function with so many parameters.
func (p *program) newBuilder(params int) (*builder, []word) {
	b := &builder{program: p, next: bytecode.Value(params), memo: map[key][]word{}}
	out := make([]word, params)
	for i := range out {
		out[i] = word{v: uint64(i)}
	}
	return b, out
}

// done stores the body of a function.
func (b *builder) done(index uint32) {
	f := &b.out.Functions[index]
	f.Body = bytecode.Block{Ops: b.ops, End: b.end}
	if len(b.errors) == 0 {
		compact(b.out, f)
	}
}

// function makes the body of an instance.
func (p *program) function(i *instance) {
	p.fn = i
	f := &frame{i, map[*types.Local][]word{}}
	params, results := p.out.Functions[i.index-1].Params, p.out.Functions[i.index-1].Results
	if params > bytecode.MaxParams || results > bytecode.MaxParams {
		p.report(&syntax.Diagnostic{
			Span: i.fn.Span, Class: formats.Limit, What: "the function's arguments or result are too large", Expected: fmt.Sprintf("at most %d words each", bytecode.MaxParams),
			Got: fmt.Sprintf("%d and %d", params, results), Next: "pass a pointer: &value",
		})
		return
	}
	b, words := p.newBuilder(params)
	b.hinting = i.fn.Unconstrained
	for _, a := range i.fn.Args {
		n := p.words(f.of(a.Local.Type))
		f.vars[a.Local] = words[:n]
		words = words[n:]
	}
	if i.fn.Builtin != "" {
		b.finish(b.builtin(f, i.fn.Span))
	} else {
		b.tail(f, i.fn.Body)
	}
	b.done(i.index - 1)
}

// tail makes an expression whose value is the function's result, and ends the block.
func (b *builder) tail(f *frame, x types.Expr) {
	if b.dead {
		return
	}
	switch x := x.(type) {
	case *types.Block:
		b.statements(f, x)
		switch {
		case b.dead:
		case x.Result != nil:
			b.tail(f, x.Result)
		default:
			b.finish(nil)
		}
		return
	case *types.If:
		b.branch(f, x, true)
		return
	case *types.Match:
		b.match(f, x, true)
		return
	case *types.Call:
		if inner, ok := b.inline(f, x); ok {
			b.tail(inner, inner.fn.Body)
			b.inlined = b.inlined[:len(b.inlined)-1]
			return
		}
	}
	words := b.expr(f, x)
	b.finish(words)
}

// statements makes the statements of a block.
func (b *builder) statements(f *frame, x *types.Block) {
	for _, s := range x.Stmts {
		if b.dead {
			return
		}
		switch s := s.(type) {
		case *types.Let:
			b.bind(f, s.Pattern, b.expr(f, s.Value))
		case *types.Hint:
			b.hint(f, s)
		case *types.Assert:
			note := "the assertion fails"
			if s.Message != "" {
				note += ": " + s.Message
			}
			b.assert(f, s.Cond, b.site(s.Span, note))
		case *types.Do:
			b.expr(f, s.X)
		}
	}
}

// hint makes an unconstrained call. Its words are made values of their type, and the condition is asserted.
func (b *builder) hint(f *frame, s *types.Hint) {
	args := b.exprs(f, s.Call.Args)
	i := b.callee(f, s.Call)
	t := f.of(s.Call.Type())
	if i == nil || b.dead {
		b.fail(0)
		return
	}
	if types.HasPointer(t) { // of a type parameter: nothing could be said of the cell
		b.report(&syntax.Diagnostic{Span: s.Call.Place(), What: "the result of an unconstrained call has no pointers", Got: t.String(), Next: "return the values, and store them once they are checked"})
		b.fail(0)
		return
	}
	site := b.site(s.Call.Place(), "the hint is no value of its type")
	var words []word
	if i.fn.Builtin != "" {
		inner := b.enter(i, args)
		words = b.builtin(inner, s.Call.Place())
	} else {
		words = b.emit(bytecode.Op{Code: bytecode.OpCall, A: uint64(b.indexOf(i)), B: 1, Site: b.site(s.Call.Place(), "")}, args, b.words(t))
	}
	b.valid(t, words, site)
	b.bind(f, s.Pattern, words)
	b.assert(f, s.Where, b.site(s.Where.Place(), "the hint does not satisfy its condition"))
}

// callee is the instance that a call calls. It is found once, however often loops make the call: finding it walks the types.
func (b *builder) callee(f *frame, x *types.Call) *instance {
	i := f.calls[x]
	if i == nil {
		if i = b.instance(x.Func, b.typesOf(f, x.Types), x.Place()); i != nil {
			f.calls[x] = i
		}
	}
	return i
}

func (b *builder) typesOf(f *frame, list []types.Type) []types.Type {
	out := make([]types.Type, len(list))
	for i, t := range list {
		out[i] = f.of(t)
	}
	return out
}

// valid asserts that words are a value of a type without pointers.
func (b *builder) valid(t types.Type, words []word, site uint32) {
	switch t := types.Resolve(t).(type) {
	case types.Prim:
		switch t {
		case types.Bool:
			b.assertZero(b.mul(words[0], b.sub(words[0], one)), site)
		case types.U8, types.U32:
			b.below(words[0], t.Bits(), site)
		case types.U64:
			b.below(words[0], 32, site)
			b.below(words[1], 32, site)
		}
		return
	case *types.Named:
		if tagWords(t) == 0 {
			b.validAll(t.Fields(0), words, site)
			return
		}
		b.variants(t, words[0], site, func(v int) []word {
			fields := t.Fields(v)
			n := b.wordsOf(fields)
			b.validAll(fields, words[1:1+n], site)
			for _, w := range words[1+n:] {
				b.assertZero(w, site)
			}
			return nil
		}, 0)
		return
	}
	b.validAll(b.partsOf(t), words, site)
}

func (b *builder) validAll(list []types.Type, words []word, site uint32) {
	if !b.spend(len(list)) {
		return
	}
	for _, t := range list {
		n := b.words(t)
		b.valid(t, words[:n], site)
		words = words[n:]
	}
}

// variants chooses by a tag among the variants of an enum; those without fields share a block.
func (b *builder) variants(t *types.Named, tag word, site uint32, body func(v int) []word, n int) []word {
	var choices []choice
	var plain []uint64
	for v := range t.Data.Variants {
		if len(t.Data.Variants[v].Fields) == 0 && n == 0 {
			plain = append(plain, uint64(v))
			continue
		}
		choices = append(choices, choice{[]uint64{uint64(v)}, func() []word { return body(v) }})
	}
	if plain != nil {
		choices = append(choices, choice{plain, func() []word { return body(int(plain[0])) }})
	}
	if len(t.Data.Variants) > bytecode.MaxCases {
		b.report(&syntax.Diagnostic{Span: t.Data.Span, Class: formats.Limit, What: "the enum has too many variants"})
		b.fail(site)
	}
	return b.choose(tag, choices, n, false, site)
}

// assert fails unless a condition holds.
func (b *builder) assert(f *frame, x types.Expr, site uint32) {
	switch y := x.(type) {
	case *types.Binary:
		prim, _ := f.of(y.L.Type()).(types.Prim)
		switch y.Op {
		case syntax.AndAnd:
			b.assert(f, y.L, site)
			b.assert(f, y.R, site)
			return
		case syntax.Equal:
			l, r := b.expr(f, y.L), b.expr(f, y.R)
			b.spend(len(l))
			for i := range l {
				b.assertZero(b.sub(l[i], r[i]), site)
			}
			return
		case syntax.Less, syntax.LessEqual, syntax.Greater, syntax.GreaterEqual:
			l, r := b.expr(f, y.L), b.expr(f, y.R)
			if y.Op == syntax.Greater || y.Op == syntax.GreaterEqual {
				l, r = r, l
			}
			if y.Op == syntax.Less || y.Op == syntax.Greater {
				b.assertLess(prim, l, r, site)
			} else {
				b.assertLessEqual(prim, l, r, site)
			}
			return
		}
	case *types.Unary:
		if y.Op == syntax.Not {
			b.assertZero(b.expr(f, y.X)[0], site)
			return
		}
	case *types.Block:
		if y.Result != nil {
			b.statements(f, y)
			b.assert(f, y.Result, site)
			return
		}
	case *types.Call:
		if inner, ok := b.inline(f, y); ok {
			b.assert(inner, inner.fn.Body, site)
			b.inlined = b.inlined[:len(b.inlined)-1]
			return
		}
	}
	b.assertZero(b.sub(one, b.expr(f, x)[0]), site)
}

func (b *builder) exprs(f *frame, list []types.Expr) []word {
	var out []word
	for _, e := range list {
		out = append(out, b.expr(f, e)...)
	}
	return out
}

// expr makes an expression and gives the words of its value. In a block that has its end they are zeros.
func (b *builder) expr(f *frame, x types.Expr) []word {
	if b.dead || !b.spend(1) {
		return b.nothing(f, x)
	}
	switch x := x.(type) {
	case *types.Lit:
		return literal(f.of(x.Type()), x.Value)
	case *types.LocalRef:
		if w, ok := f.vars[x.Local]; ok {
			return w
		}
		b.report(&syntax.Diagnostic{Span: x.Place(), Class: formats.Internal, What: "the variable has no value", Got: x.Local.Name, Next: "report this with the program"})
		b.fail(0)
	case *types.LengthRef:
		n, _ := f.of(x.Param).(types.Length)
		return []word{known(uint64(n))}
	case *types.Call:
		return b.call(f, x)
	case *types.Product:
		return b.sized(f, x, b.exprs(f, x.Elems))
	case *types.Repeat:
		v := b.expr(f, x.Value)
		if b.words(f.of(x.Type())) >= MaxWords {
			return b.sized(f, x, nil)
		}
		n, _ := f.of(f.of(x.Type()).(*types.Array).Len).(types.Length)
		if !b.spend(int(n) * len(v)) {
			return b.nothing(f, x)
		}
		return slices.Repeat(v, int(n))
	case *types.Make:
		return b.make(f, x)
	case *types.Update:
		out := slices.Clone(b.expr(f, x.Base))
		b.spend(len(out))
		fields := b.partsOf(f.of(x.Type()))
		for i, a := range x.Args {
			if a != nil {
				copy(out[b.offset(fields, i):], b.expr(f, a))
			}
		}
		return out
	case *types.Part:
		w := b.expr(f, x.X)
		parts := b.partsOf(f.of(x.X.Type()))
		at := b.offset(parts, x.Index)
		return w[at : at+b.words(parts[x.Index])]
	case *types.Index:
		return b.index(f, x)
	case *types.Slice:
		w := b.expr(f, x.X)
		t := f.of(x.Type()).(*types.Array)
		at := int(x.Low) * b.words(t.Elem)
		return w[at : at+b.words(t)]
	case *types.Unary:
		return b.unary(f, x)
	case *types.Binary:
		return b.binary(f, x)
	case *types.Cast:
		from, _ := f.of(x.X.Type()).(types.Prim)
		to, _ := f.of(x.Type()).(types.Prim)
		return b.cast(from, to, b.expr(f, x.X), x.Place())
	case *types.If:
		return b.branch(f, x, false)
	case *types.Match:
		return b.match(f, x, false)
	case *types.Loop:
		return b.loop(f, x)
	case *types.Each:
		low, high := b.bounds(f, x.Low, x.High)
		var out []word
		for i := low; i < high && !b.dead; i++ {
			f.vars[x.Var] = []word{known(i)}
			out = append(out, b.expr(f, x.Body)...)
		}
		if b.dead {
			return b.nothing(f, x)
		}
		return b.sized(f, x, out)
	case *types.Block:
		b.statements(f, x)
		if x.Result == nil || b.dead {
			return b.nothing(f, x)
		}
		return b.expr(f, x.Result)
	case *types.Fail:
		note := "the program fails"
		if x.Message != "" {
			note += ": " + x.Message
		}
		b.fail(b.site(x.Place(), note))
	}
	return b.nothing(f, x)
}

// spend bounds the compiler's work.
func (b *builder) spend(n int) bool {
	if b.work += n; b.work > maxWork && !b.dead {
		b.tooLarge()
	}
	return !b.dead
}

// nothing is a value of an expression that is not reached.
func (b *builder) nothing(f *frame, x types.Expr) []word {
	return make([]word, b.words(f.of(x.Type())))
}

// sized refuses values that are too large, for which sizes and offsets are cut off: whatever puts words together to a larger value asks.
func (b *builder) sized(f *frame, x types.Expr, words []word) []word {
	if b.words(f.of(x.Type())) < MaxWords {
		b.spend(len(words))
		return words
	}
	b.report(&syntax.Diagnostic{Span: x.Place(), Class: formats.Limit, What: "the value is too large", Got: f.of(x.Type()).String(), Next: "keep large data in lists behind pointers"})
	b.fail(0)
	return b.nothing(f, x)
}

func (b *builder) make(f *frame, x *types.Make) []word {
	t := f.of(x.Type()).(*types.Named)
	var out []word
	if tagWords(t) == 1 {
		out = append(out, known(uint64(x.Variant)))
	}
	out = append(out, b.exprs(f, x.Args)...)
	for len(out) < b.words(t) {
		out = append(out, zero)
	}
	return b.sized(f, x, out)
}

// index is an element of an array. An index that is not constant chooses among all elements.
func (b *builder) index(f *frame, x *types.Index) []word {
	w := b.expr(f, x.X)
	t := f.of(x.X.Type()).(*types.Array)
	n, _ := f.of(t.Len).(types.Length)
	size := b.words(t.Elem)
	i := b.expr(f, x.I)[0]
	if b.dead {
		return b.nothing(f, x)
	}
	if !i.known && int(n) > bytecode.MaxCases {
		b.report(&syntax.Diagnostic{
			Span: x.Place(), Class: formats.Limit, What: "the array is too long for an index that is not constant", Expected: fmt.Sprintf("at most %d elements", bytecode.MaxCases), Got: n.String(),
			Next: "use a list",
		})
		b.fail(0)
		return b.nothing(f, x)
	}
	site := b.site(x.Place(), fmt.Sprintf("the index is outside of the array of %d", n))
	if i.known {
		if i.v >= uint64(n) {
			b.fail(site)
			return b.nothing(f, x)
		}
		return w[int(i.v)*size : (int(i.v)+1)*size]
	}
	if n == 0 {
		b.fail(site)
		return b.nothing(f, x)
	}
	var choices []choice
	for k := range int(n) {
		choices = append(choices, choice{[]uint64{uint64(k)}, func() []word { return w[k*size : (k+1)*size] }})
	}
	return b.choose(i, choices, size, false, site)
}

func (b *builder) unary(f *frame, x *types.Unary) []word {
	w := b.expr(f, x.X)
	switch x.Op {
	case syntax.And:
		if len(w) > bytecode.MaxWidth {
			b.report(&syntax.Diagnostic{
				Span: x.Place(), Class: formats.Limit, What: "the value is too large to be stored", Expected: fmt.Sprintf("at most %d words", bytecode.MaxWidth), Got: fmt.Sprint(len(w)),
				Next: "store parts of it, and keep large data in lists behind pointers",
			})
			b.fail(0)
			return b.nothing(f, x)
		}
		return []word{b.store(w)}
	case syntax.Star:
		return b.load(w[0], b.words(f.of(x.Type())), b.site(x.Place(), "there is no such cell"))
	case syntax.Not:
		return []word{b.sub(one, w[0])}
	}
	return []word{b.sub(zero, w[0])}
}

func (b *builder) binary(f *frame, x *types.Binary) []word {
	switch x.Op {
	case syntax.AndAnd, syntax.OrOr:
		return b.shortCircuit(f, x)
	}
	l, r := b.expr(f, x.L), b.expr(f, x.R)
	if b.dead {
		return b.nothing(f, x)
	}
	t := f.of(x.L.Type())
	switch x.Op {
	case syntax.Equal, syntax.NotEqual:
		eq := b.equal(l, r, b.sizesOf(t, nil))
		if t == types.Type(types.Bool) {
			d := b.sub(l[0], r[0])
			eq = b.sub(one, b.mul(d, d))
		}
		if x.Op == syntax.NotEqual {
			eq = b.sub(one, eq)
		}
		return []word{eq}
	}
	return b.arithmetic(x.Op, t, l, r, x.Place())
}

// shortCircuit is l && r or l || r. The right side is evaluated only where the left does not decide, unless it cannot fail.
func (b *builder) shortCircuit(f *frame, x *types.Binary) []word {
	l := b.expr(f, x.L)[0]
	and := x.Op == syntax.AndAnd
	if l.known {
		if (l.v != 0) == and {
			return b.expr(f, x.R)
		}
		return []word{l}
	}
	if b.weights.total(x.R) {
		r := b.expr(f, x.R)[0]
		if and {
			return []word{b.mul(l, r)}
		}
		return []word{b.sub(one, b.mul(b.sub(one, l), b.sub(one, r)))}
	}
	right := choice{[]uint64{bitOf(and)}, func() []word { return b.expr(f, x.R) }}
	decided := choice{[]uint64{bitOf(!and)}, func() []word { return []word{known(bitOf(!and))} }}
	return b.choose(l, []choice{decided, right}, 1, false, 0)
}

func bitOf(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// branch is if. Between values that cost nothing to make it is a sum; otherwise a choice.
func (b *builder) branch(f *frame, x *types.If, tail bool) []word {
	c := b.expr(f, x.Cond)[0]
	if b.dead {
		return b.nothing(f, x)
	}
	n := b.words(f.of(x.Type()))
	if !c.known && x.Else != nil && b.weights.free(x.Then) && b.weights.free(x.Else) && n <= 8 {
		then, otherwise := b.expr(f, x.Then), b.expr(f, x.Else)
		out := make([]word, n)
		for i := range out {
			out[i] = b.add(otherwise[i], b.mul(c, b.sub(then[i], otherwise[i])))
		}
		if tail {
			b.finish(out)
		}
		return out
	}
	body := func(y types.Expr) func() []word {
		return func() []word {
			switch {
			case tail && y == nil:
				b.finish(nil)
				return nil
			case tail:
				b.tail(f, y)
				return nil
			case y == nil:
				return nil
			}
			return b.expr(f, y)
		}
	}
	return b.choose(c, []choice{{[]uint64{1}, body(x.Then)}, {[]uint64{0}, body(x.Else)}}, n, tail, 0)
}

// bounds are the bounds of a loop, which are constants by now.
func (b *builder) bounds(f *frame, low, high types.Expr) (lo, hi uint64) {
	l, h := b.expr(f, low)[0], b.expr(f, high)[0]
	if b.dead {
		return 0, 0
	}
	return l.v, h.v
}

func (b *builder) loop(f *frame, x *types.Loop) []word {
	low, high := b.bounds(f, x.Low, x.High)
	var acc []word
	if x.Init != nil {
		acc = b.expr(f, x.Init)
	}
	for i := low; i < high && !b.dead; i++ {
		if b.total++; b.total > maxOps {
			b.tooLarge()
			break
		}
		f.vars[x.Var] = []word{known(i)}
		if x.Acc != nil {
			b.bind(f, x.Acc, acc)
		}
		acc = b.expr(f, x.Body)
	}
	if b.dead {
		return b.nothing(f, x)
	}
	return acc
}

// call makes a call, or the body of the function in its place.
func (b *builder) call(f *frame, x *types.Call) []word {
	if x.Func.Builtin != "" {
		args := b.exprs(f, x.Args)
		i := b.callee(f, x)
		if i == nil || b.dead {
			return b.nothing(f, x)
		}
		return b.builtin(b.enter(i, args), x.Place())
	}
	if inner, ok := b.inline(f, x); ok {
		out := b.expr(inner, inner.fn.Body)
		b.inlined = b.inlined[:len(b.inlined)-1]
		return out
	}
	args := b.exprs(f, x.Args)
	b.spend(len(args) / 4)
	i := b.callee(f, x)
	if i == nil || b.dead {
		b.fail(0)
		return b.nothing(f, x)
	}
	return b.emit(bytecode.Op{Code: bytecode.OpCall, A: uint64(b.indexOf(i)), Site: b.site(x.Place(), "")}, args, b.words(f.of(x.Type())))
}

// enter binds the arguments of a function whose body is made in place.
func (b *builder) enter(i *instance, args []word) *frame {
	b.spend(len(args) / 4)
	inner := &frame{i, map[*types.Local][]word{}}
	for _, a := range i.fn.Args {
		n := b.words(inner.of(a.Local.Type))
		inner.vars[a.Local] = args[:n]
		args = args[n:]
	}
	return inner
}

// maxInlined bounds how deep bodies are made within bodies; inlinedWork is what each costs the compiler besides its expressions.
const (
	maxInlined  = 64
	inlinedWork = 8
)

// inline decides whether a call is replaced by the function's body; if so, the arguments are made and bound.
func (b *builder) inline(f *frame, x *types.Call) (*frame, bool) {
	fn := x.Func
	if fn.Builtin != "" || fn.Inline == types.InlineNever || fn.Inline == types.InlineAuto && !b.weights.worthInlining(fn, b.hinting) {
		return nil, false
	}
	i := b.callee(f, x)
	if i == nil {
		return nil, false
	}
	if b.weights.recursive[fn] {
		b.report(&syntax.Diagnostic{Span: fn.Span, What: "a recursive function cannot be inlined", Got: fn.Name, Next: "remove #[inline]"})
		return nil, false
	}
	if len(b.inlined) >= maxInlined {
		return nil, false
	}
	b.spend(inlinedWork)
	args := b.exprs(f, x.Args)
	b.inlined = append(b.inlined, i)
	return b.enter(i, args), true
}

// bind binds the variables of a pattern that fits every value.
func (b *builder) bind(f *frame, p types.Pattern, words []word) {
	b.spend(1)
	switch p := p.(type) {
	case *types.Bind:
		f.vars[p.Local] = words
		if p.Sub != nil {
			b.bind(f, p.Sub, words)
		}
	case *types.ProductPattern:
		b.bindAll(f, p.Elems, words)
	case *types.MakePattern:
		if t, ok := f.of(p.Type()).(*types.Named); !ok || tagWords(t) > 0 {
			b.unfit(p)
			return
		}
		b.bindAll(f, p.Args, words)
	case *types.PointerPattern:
		if b.dead {
			b.bind(f, p.To, make([]word, b.words(f.of(p.To.Type()))))
			return
		}
		b.bind(f, p.To, b.load(words[0], b.words(f.of(p.To.Type())), b.site(p.Place(), "there is no such cell")))
	case *types.OrPattern:
		b.bindCovering(f, p, words)
	case *types.LitPattern:
		b.unfit(p)
	}
}

// unfit refuses a part of a pattern that must fit every value and that would have to be compared with the value.
func (b *builder) unfit(p types.Pattern) {
	b.report(&syntax.Diagnostic{Span: p.Place(), Class: formats.Internal, What: "the pattern does not fit every value", Next: "report this with the program"})
	b.fail(0)
}

func (b *builder) bindAll(f *frame, list []types.Pattern, words []word) {
	for _, p := range list {
		n := b.words(f.of(p.Type()))
		b.bind(f, p, words[:n])
		words = words[n:]
	}
}
