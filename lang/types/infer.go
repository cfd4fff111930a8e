package types

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ixprove/ixprove/lang/syntax"
)

func plural(n int, thing string) string {
	switch n {
	case 0:
		return "no " + thing + "s"
	case 1:
		return "one " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// text is a literal's value.
func (l *Lit) text() string {
	if l.Type() == Bool {
		return strconv.FormatBool(l.Value != 0)
	}
	return strconv.FormatUint(l.Value, 10)
}

// maxUnified bounds the steps of making two types equal. Types that are measured need fewer, unless variables bound since made them larger.
const maxUnified = 1 << 16

// unifier makes two types equal.
type unifier struct{ steps int }

// unify makes two types equal by binding variables. It reports whether that is possible; some variables may be bound if not.
func (in *inference) unify(a, b Type) bool {
	u := unifier{}
	ok := u.unify(a, b)
	in.meter.work += u.steps
	return ok
}

func (u *unifier) unify(a, b Type) bool {
	a, b = Resolve(a), Resolve(b)
	if a == b {
		return true
	}
	if u.steps++; u.steps > maxUnified {
		return false
	}
	if a == Bad || b == Bad { // reported: it fits everything
		for _, t := range []Type{a, b} {
			if v, ok := t.(*Var); ok {
				v.bound = Bad
			}
		}
		return true
	}
	v, ok := a.(*Var)
	if !ok {
		if v, ok = b.(*Var); ok {
			b = a
		}
	}
	if ok {
		return u.bind(v, b)
	}
	switch a := a.(type) {
	case *Tuple:
		b, ok := b.(*Tuple)
		return ok && slices.EqualFunc(a.Elems, b.Elems, u.unify)
	case *Array:
		b, ok := b.(*Array)
		return ok && u.unify(a.Elem, b.Elem) && u.unify(a.Len, b.Len)
	case *Pointer:
		b, ok := b.(*Pointer)
		return ok && u.unify(a.To, b.To)
	case *Named:
		b, ok := b.(*Named)
		return ok && a.Data == b.Data && slices.EqualFunc(a.Args, b.Args, u.unify)
	}
	return false
}

func (u *unifier) bind(v *Var, t Type) bool {
	if w, ok := t.(*Var); ok {
		if v.others > w.others { // the smaller class joins the larger one, so that chains stay short
			v, w = w, v
		}
		v.bound, w.literal, w.others = w, w.literal || v.literal, w.others+v.others+1
		return true
	}
	if v.literal {
		if p, ok := t.(Prim); !ok || p == Bool {
			return false
		}
	}
	if u.occurs(v, t, 0) {
		return false
	}
	v.bound = t
	return true
}

// occurs reports whether a variable is part of a type, or the type is nested without measure or too large.
func (u *unifier) occurs(v *Var, t Type, depth int) bool {
	if u.steps++; depth > MaxTypeDepth || u.steps > maxUnified {
		return true
	}
	in := func(t Type) bool { return u.occurs(v, t, depth+1) }
	switch t := Resolve(t).(type) {
	case *Var:
		return t == v
	case *Tuple:
		return slices.ContainsFunc(t.Elems, in)
	case *Array:
		return in(t.Elem) || in(t.Len)
	case *Pointer:
		return in(t.To)
	case *Named:
		return slices.ContainsFunc(t.Args, in)
	}
	return false
}

// scope is the variables of a block.
type scope struct {
	outer *scope
	vars  map[string]*Local
}

// inference checks one body.
type inference struct {
	*checker
	module        *Module
	generics      *generics
	fn            *Func // nil for a constant
	unconstrained bool  // in an unconstrained function
	scope         *scope
	vars          []*Var
	later         []func() // checks that need all types
	before        int      // errors before this body
	broken        bool     // the body has errors of types, so that its patterns may not fit theirs
}

// body checks a function's body.
func (c *checker) body(i *item, s *syntax.Func) {
	in := &inference{checker: c, module: i.module, fn: i.fn, unconstrained: i.fn.Unconstrained, before: c.count}
	in.generics = i.scope.within(in)
	in.push()
	for _, a := range i.fn.Args {
		in.scope.vars[a.Local.Name] = a.Local
	}
	x := in.block(s.Body, i.fn.Result)
	at := s.Body.Span
	if s.Body.Result != nil {
		at = s.Body.Result.Place()
	} else if x.Result == nil {
		at = s.Body.End
	}
	in.same(at, i.fn.Result, x.typ)
	in.finish(x)
	i.fn.Body = x
}

// finish gives numbers without a type the type field, measures the types of a body, which variables may have made larger, and makes the checks that waited.
func (in *inference) finish(body Expr) {
	for _, v := range in.vars {
		if v.bound == nil && v.literal {
			v.bound = Field
		}
	}
	for _, v := range in.vars {
		if Resolve(v) == v {
			in.report(&syntax.Diagnostic{Span: v.span, What: "the type is not known here", Next: "state it: let x: TYPE = …, or f::<TYPE>(…)"})
			v.bound = Bad
		}
	}
	large := false
	Walk(body, func(x Expr) {
		large = large || !in.sized(x.Type(), x.Place())
	})
	if large { // what waits may walk all of a type
		return
	}
	in.broken = in.count > in.before
	for _, f := range in.later {
		f()
	}
}

func (in *inference) push() { in.scope = &scope{in.scope, map[string]*Local{}} }
func (in *inference) pop()  { in.scope = in.scope.outer }

func (in *inference) fresh(at syntax.Span) *Var {
	v := &Var{span: at}
	in.vars = append(in.vars, v)
	return v
}

func (in *inference) number(at syntax.Span) *Var {
	v := in.fresh(at)
	v.literal = true
	return v
}

// same reports types that differ.
func (in *inference) same(at syntax.Span, want, got Type) bool {
	if a, b := Resolve(want), Resolve(got); a == b {
		return true
	}
	before, was := want.String(), got.String()
	if in.unify(want, got) {
		return true
	}
	if !in.sized(want, at) || !in.sized(got, at) {
		return false
	}
	in.report(&syntax.Diagnostic{Span: at, What: "the types differ", Expected: before, Got: was, Next: convert(Resolve(want), Resolve(got), at)})
	return false
}

// convert suggests how a value of type got becomes one of type want.
func convert(want, got Type, at syntax.Span) string {
	w, okW := want.(Prim)
	_, okG := got.(Prim)
	text := at.Text()
	if len(text) > 40 || strings.ContainsAny(text, "\n") {
		text = "…"
	}
	switch {
	case okW && okG && w != Bad:
		if strings.ContainsAny(text, " ") {
			text = "(" + text + ")"
		}
		return "convert it: " + text + " as " + w.String()
	case got == Type(Unit) || Equal(got, Unit):
		return "a block's value is its last expression, without a semicolon"
	}
	if p, ok := want.(*Pointer); ok && Equal(p.To, got) {
		return "store it: &" + text
	}
	if p, ok := got.(*Pointer); ok && Equal(p.To, want) {
		return "load it: *" + text
	}
	return ""
}

// never is a number of others that keeps the variable of a fail, which has a type of its own if nobody asks for a value, from standing for variables that need one.
const never = -1 << 40

func (in *inference) bad(at syntax.Span) Expr { return &Fail{base{Bad, at}, ""} }

// expr infers an expression. want is a hint, the type that the place expects, or nil; the caller compares.
func (in *inference) expr(x syntax.Expr, want Type) Expr {
	at := x.Place()
	switch x := x.(type) {
	case *syntax.IntLit:
		var t Type
		if x.Suffix != "" {
			t = prims[x.Suffix]
		} else {
			t = in.number(at)
		}
		l := &Lit{base{t, at}, x.Value}
		in.later = append(in.later, func() { in.fits(l) })
		return l
	case *syntax.ByteLit:
		return &Lit{base{U8, at}, uint64(x.Value)}
	case *syntax.BytesLit:
		if want != nil && len(x.Value) == 32 && (IsDigest(want) || IsU256(want)) {
			return words(x.Value, Resolve(want), at)
		}
		return byteString(x.Value, at)
	case *syntax.BoolLit:
		return &Lit{base{Bool, at}, bit(x.Value)}
	case *syntax.PathExpr:
		return in.path(&x.Path, nil, false, at)
	case *syntax.CallExpr:
		return in.path(&x.Path, x.Args, true, at)
	case *syntax.StructExpr:
		return in.structure(x)
	case *syntax.TupleExpr:
		p := &Product{}
		t := &Tuple{}
		wanted, _ := resolveOr(want).(*Tuple)
		for i, e := range x.Elems {
			var w Type
			if wanted != nil && i < len(wanted.Elems) {
				w = wanted.Elems[i]
			}
			y := in.expr(e, w)
			p.Elems = append(p.Elems, y)
			t.Elems = append(t.Elems, y.Type())
		}
		p.base = base{t, at}
		return in.measured(p)
	case *syntax.ArrayExpr:
		elem := in.elem(want, at)
		p := &Product{base: base{&Array{elem, Length(len(x.Elems))}, at}}
		for _, e := range x.Elems {
			p.Elems = append(p.Elems, in.checked(e, elem))
		}
		return in.measured(p)
	case *syntax.RepeatExpr:
		elem := in.elem(want, at)
		v := in.checked(x.Value, elem)
		return in.measured(&Repeat{base{&Array{elem, in.lengthOf(in.module, in.generics, x.Len)}, at}, v})
	case *syntax.EachExpr:
		return in.each(x, want)
	case *syntax.ForExpr:
		return in.loop(x)
	case *syntax.UnaryExpr:
		return in.unary(x, want)
	case *syntax.BinaryExpr:
		return in.binary(x, want)
	case *syntax.CastExpr:
		return in.cast(x)
	case *syntax.FieldExpr:
		return in.field(x)
	case *syntax.IndexExpr:
		return in.index(x)
	case *syntax.SliceExpr:
		return in.slice(x)
	case *syntax.IfExpr:
		return in.choice(x, want)
	case *syntax.MatchExpr:
		return in.match(x, want)
	case *syntax.Block:
		return in.block(x, want)
	case *syntax.FailExpr:
		v := &Var{span: at, others: never}
		in.later = append(in.later, func() {
			if v.bound == nil { // nobody asks for a value
				v.bound = Unit
			}
		})
		return &Fail{base{v, at}, x.Message}
	}
	return in.bad(at) // *syntax.BadExpr: reported by the parser
}

// measured is an expression that makes a new type, or what stands for it if that is too large.
func (in *inference) measured(x Expr) Expr {
	if !in.sized(x.Type(), x.Place()) {
		return in.bad(x.Place())
	}
	return x
}

func resolveOr(t Type) Type {
	if t == nil {
		return nil
	}
	return Resolve(t)
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func byteString(b []byte, at syntax.Span) *Product {
	p := &Product{base: base{&Array{U8, Length(len(b))}, at}}
	for _, c := range b {
		p.Elems = append(p.Elems, &Lit{base{U8, at}, uint64(c)})
	}
	return p
}

// IsDigest reports whether a type is the standard library's digest of 32 bytes, of which a byte string of that length is a literal.
func IsDigest(t Type) bool { return isStandard(t, "std/digest", "Digest") }

// IsU256 reports whether a type is the standard library's integer of 256 bits, of which a byte string of 32 bytes, highest first, is a literal.
func IsU256(t Type) bool { return isStandard(t, "std/u256", "U256") }

func isStandard(t Type, module, name string) bool {
	n, ok := Resolve(t).(*Named)
	return ok && n.Data.Name == name && n.Data.Module.Path == module
}

// words is a literal of 32 bytes of a struct of eight words: a digest, or an integer whose lowest word comes first.
func words(b []byte, t Type, at syntax.Span) Expr {
	if IsU256(t) {
		b = slices.Clone(b)
		slices.Reverse(b)
	}
	list := &Product{base: base{&Array{U32, Length(8)}, at}}
	for i := 0; i < 32; i += 4 {
		list.Elems = append(list.Elems, &Lit{base{U32, at}, uint64(b[i]) | uint64(b[i+1])<<8 | uint64(b[i+2])<<16 | uint64(b[i+3])<<24})
	}
	return &Make{base{t, at}, 0, []Expr{list}}
}

// elem is the type of the elements of an array that is expected, or a fresh one.
func (in *inference) elem(want Type, at syntax.Span) Type {
	if a, ok := resolveOr(want).(*Array); ok {
		return a.Elem
	}
	return in.fresh(at)
}

// checked infers an expression and compares its type.
func (in *inference) checked(x syntax.Expr, want Type) Expr {
	y := in.expr(x, want)
	in.same(valuePlace(x), want, y.Type())
	return y
}

// valuePlace is where the value of an expression is made: the end of blocks.
func valuePlace(x syntax.Expr) syntax.Span {
	for {
		b, ok := x.(*syntax.Block)
		if !ok || b.Result == nil {
			return x.Place()
		}
		x = b.Result
	}
}

// fits checks that a literal is a value of its type.
func (in *inference) fits(l *Lit) {
	if p, ok := l.Type().(Prim); ok && p != Bad && l.Value > p.Max() {
		in.report(&syntax.Diagnostic{Span: l.span, What: "the number does not fit its type", Expected: fmt.Sprintf("%s, at most %d", p, p.Max()), Got: l.text()})
	}
}

// lookupVar finds a variable.
func (in *inference) lookupVar(name string) *Local {
	for s := in.scope; s != nil; s = s.outer {
		if l := s.vars[name]; l != nil {
			return l
		}
	}
	return nil
}

// visible goes through the names of variables.
func (in *inference) visible(yield func(string) bool) {
	for s := in.scope; s != nil; s = s.outer {
		for name := range s.vars {
			if !yield(name) {
				return
			}
		}
	}
}

// path infers a variable, a constant, a call or a variant.
func (in *inference) path(p *syntax.Path, args []syntax.Expr, call bool, at syntax.Span) Expr {
	first := p.Parts[0]
	if len(p.Parts) == 1 && p.Args == nil {
		if l := in.lookupVar(first.Text); l != nil {
			in.ref(Ref{Span: first.Span, Def: l.Span, What: "let", Type: l.Type})
			if call {
				in.report(&syntax.Diagnostic{Span: first.Span, What: "a variable cannot be called", Got: first.Text})
				return in.bad(at)
			}
			return &LocalRef{base{l.Type, at}, l}
		}
		if in.generics != nil && !call {
			if q := in.generics.at[first.Text]; q != nil && q.Const {
				in.ref(Ref{Span: first.Span, Def: in.generics.span[q.Name], What: "constant parameter", Type: U32})
				return &LengthRef{base{U32, at}, q}
			}
		}
	}
	i, used := in.lookup(in.module, p.Parts)
	switch {
	case used == -1:
		what := "variable, constant or function"
		if call {
			what = "function"
		}
		in.unknown(in.module, first, what, in.visible)
		in.ignore(args)
		return in.bad(at)
	case i == nil:
		in.ignore(args)
		return in.bad(at)
	}
	in.refItem(p.Parts[used-1].Span, i)
	rest := p.Parts[used:]
	switch s := i.syntax.(type) {
	case *syntax.Func:
		switch {
		case len(rest) > 0:
		case !call:
			in.report(&syntax.Diagnostic{Span: at, What: "a function is no value", Got: first.Text, Next: "call it: " + p.Span.Text() + "(…)"})
			return in.bad(at)
		default:
			return in.call(i, p, args, at)
		}
	case *syntax.Const:
		if len(rest) > 0 || call || p.Args != nil {
			break
		}
		in.resolve(i)
		if i.konst == nil || i.konst.Value == nil {
			return in.bad(at) // reported
		}
		if !in.spend(i.konst.Type, 1, at) {
			return in.bad(at)
		}
		return placed(i.konst.Value, at)
	case *syntax.Enum:
		if len(rest) != 1 {
			break
		}
		d := in.dataOf(i, &s.Decl)
		in.resolve(i)
		return in.variant(d, p, rest[0], args, call, at)
	case *syntax.Struct:
		in.report(&syntax.Diagnostic{Span: at, What: "a struct is made with braces", Got: at.Text(), Next: s.Name.Text + " { field: value, … }"})
		in.ignore(args)
		return in.bad(at)
	}
	in.report(&syntax.Diagnostic{Span: p.Span, What: "this is a " + i.what() + " and no value", Got: p.Span.Text()})
	in.ignore(args)
	return in.bad(at)
}

// ignore infers arguments only for the errors in them.
func (in *inference) ignore(args []syntax.Expr) {
	for _, a := range args {
		in.expr(a, nil)
	}
}

// placed is a constant's value as it stands at another place. Its parts keep the places of the declaration, so that they are not copied for each use.
func placed(x Expr, at syntax.Span) Expr {
	switch x := x.(type) {
	case *Lit:
		return &Lit{base{x.typ, at}, x.Value}
	case *Product:
		return &Product{base{x.typ, at}, x.Elems}
	case *Make:
		return &Make{base{x.typ, at}, x.Variant, x.Args}
	}
	return x
}

// instantiate gives the arguments of type parameters: those written, or fresh variables.
func (in *inference) instantiate(params []*Param, p *syntax.Path, at syntax.Span) []Type {
	out := make([]Type, len(params))
	if p.Args != nil && len(p.Args) != len(params) {
		(&counts{"there are", len(params), len(p.Args), "type parameter"}).report(in.checker, p.Span)
	}
	for i, q := range params {
		if i < len(p.Args) {
			out[i] = in.typeArg(in.module, in.generics, p.Args[i], q)
		} else {
			out[i] = in.fresh(at)
		}
	}
	return out
}

func (in *inference) call(i *item, p *syntax.Path, args []syntax.Expr, at syntax.Span) Expr {
	f := i.fn
	if f == nil { // in a constant, before functions are resolved
		in.report(&syntax.Diagnostic{Span: at, What: "a constant calls no functions", Got: at.Text()})
		return in.bad(at)
	}
	if f.Unconstrained && !in.unconstrained {
		in.report(&syntax.Diagnostic{Span: at, What: "the result of an unconstrained function is not proven, and must be checked", Got: f.Name, Next: "write let x = unconstrained " + f.Name + "(…) where CONDITION;"})
	}
	return in.apply(f, p, args, at)
}

// apply infers a call whether or not it may stand here.
func (in *inference) apply(f *Func, p *syntax.Path, args []syntax.Expr, at syntax.Span) *Call {
	types := in.instantiate(f.Params, p, at)
	c := &Call{base: base{Substitute(f.Result, f.Params, types), at}, Func: f, Types: types}
	defer func() {
		if !in.sized(c.typ, at) {
			c.typ = Bad
		}
	}()
	if len(args) != len(f.Args) {
		d := &counts{"the function takes", len(f.Args), len(args), "argument"}
		d.report(in.checker, at)
		in.errors[len(in.errors)-1].Related = []syntax.Related{{Span: f.Span, What: "it is " + f.Signature()}}
		in.ignore(args)
		return c
	}
	for i, a := range args {
		c.Args = append(c.Args, in.checked(a, Substitute(f.Args[i].Local.Type, f.Params, types)))
	}
	return c
}

func (in *inference) variant(d *Data, p *syntax.Path, name syntax.Name, args []syntax.Expr, call bool, at syntax.Span) Expr {
	n := &Named{d, in.instantiate(d.Params, p, at)}
	v := in.variantOf(d, name)
	if v < 0 {
		in.ignore(args)
		return in.bad(at)
	}
	fields := n.Fields(v)
	if len(fields) != len(args) || call && len(fields) == 0 {
		in.payload(d, v, len(args), call, at)
		in.ignore(args)
		return in.bad(at)
	}
	m := &Make{base: base{n, at}, Variant: v}
	for i, a := range args {
		m.Args = append(m.Args, in.checked(a, fields[i]))
	}
	return in.measured(m)
}

// variantOf finds a variant by its name, or reports and returns -1.
func (in *inference) variantOf(d *Data, name syntax.Name) int {
	v := slices.IndexFunc(d.Variants, func(v Variant) bool { return v.Name == name.Text })
	if v < 0 {
		var names []string
		for _, w := range d.Variants {
			names = append(names, w.Name)
		}
		in.report(&syntax.Diagnostic{Span: name.Span, What: d.Name + " has no such variant", Expected: "one of " + strings.Join(names, ", "), Got: name.Text, Next: nearest(name.Text, names)})
		return -1
	}
	in.ref(Ref{Span: name.Span, Def: d.Variants[v].Span, What: "variant", Text: d.variantText(v), Doc: d.Doc})
	return v
}

func (d *Data) variantText(v int) string {
	s := d.Name + "::" + d.Variants[v].Name
	if len(d.Variants[v].Fields) == 0 {
		return s
	}
	var fields []string
	for _, f := range d.Variants[v].Fields {
		fields = append(fields, f.Type.String())
	}
	return s + "(" + strings.Join(fields, ", ") + ")"
}

func (in *inference) payload(d *Data, v, got int, call bool, at syntax.Span) {
	diagnostic := &syntax.Diagnostic{Span: at, What: "the variant's payload is not as declared", Expected: d.variantText(v), Got: plural(got, "value")}
	if call && got == 0 && len(d.Variants[v].Fields) == 0 {
		diagnostic.Got, diagnostic.Next = "parentheses", "write it without ()"
	}
	in.report(diagnostic)
}

// structType finds the struct that a path names.
func (in *inference) structType(p *syntax.Path, at syntax.Span) *Named {
	i, used := in.lookup(in.module, p.Parts)
	if used == -1 {
		in.unknown(in.module, p.Parts[0], "struct", none)
		return nil
	}
	if i == nil {
		return nil
	}
	in.refItem(p.Parts[used-1].Span, i)
	s, ok := i.syntax.(*syntax.Struct)
	if a, alias := i.syntax.(*syntax.Alias); alias && used == len(p.Parts) {
		in.resolve(i)
		args := in.instantiate(i.scope.list, p, at)
		if !in.written(i.alias, p.Span) {
			return nil
		}
		if n, isNamed := Substitute(i.alias, i.scope.list, args).(*Named); isNamed && in.whole(n.Data) && !n.Data.Enum {
			return n
		}
		in.report(&syntax.Diagnostic{Span: p.Span, What: "the type is no struct", Got: a.Name.Text})
		return nil
	}
	if !ok || used != len(p.Parts) {
		in.report(&syntax.Diagnostic{Span: p.Span, What: "this is no struct", Got: p.Span.Text()})
		return nil
	}
	d := in.dataOf(i, &s.Decl)
	if !in.whole(d) {
		return nil
	}
	return &Named{d, in.instantiate(d.Params, p, at)}
}

func (in *inference) structure(x *syntax.StructExpr) Expr {
	at := x.Span
	n := in.structType(&x.Path, at)
	if n == nil {
		for _, f := range x.Fields {
			if f.Value != nil {
				in.expr(f.Value, nil)
			}
		}
		return in.bad(at)
	}
	types := n.Fields(0)
	args := make([]Expr, len(types))
	for _, f := range x.Fields {
		k := in.fieldOf(n, f.Name)
		if k < 0 {
			continue
		}
		if args[k] != nil {
			in.report(&syntax.Diagnostic{Span: f.Name.Span, What: "the field is given twice", Got: f.Name.Text})
		}
		value := f.Value
		if value == nil {
			value = syntax.NewPathExpr(syntax.Path{Span: f.Name.Span, Parts: []syntax.Name{f.Name}})
		}
		args[k] = in.checked(value, types[k])
	}
	if x.Base != nil {
		return &Update{base{n, at}, in.checked(x.Base, n), args}
	}
	var missing []string
	for k, a := range args {
		if a == nil {
			missing = append(missing, n.Data.Variants[0].Fields[k].Name)
			args[k] = in.bad(at)
		}
	}
	if missing != nil {
		in.report(&syntax.Diagnostic{Span: x.Path.Span, What: "fields are missing", Got: "no " + strings.Join(missing, ", ")})
	}
	return in.measured(&Make{base{n, at}, 0, args})
}

func (in *inference) fieldOf(t *Named, name syntax.Name) int {
	if !in.whole(t.Data) {
		return -1
	}
	fields := t.Data.Variants[0].Fields
	k := slices.IndexFunc(fields, func(f FieldType) bool { return f.Name == name.Text })
	if k < 0 {
		var names []string
		for _, f := range fields {
			names = append(names, f.Name)
		}
		in.report(&syntax.Diagnostic{Span: name.Span, What: t.Data.Name + " has no such field", Expected: "one of " + strings.Join(names, ", "), Got: name.Text, Next: nearest(name.Text, names)})
		return k
	}
	in.ref(Ref{Span: name.Span, Def: fields[k].Span, What: "field", Type: t.Field(0, k)})
	return k
}

func (in *inference) field(x *syntax.FieldExpr) Expr {
	y := in.expr(x.X, nil)
	wrong := func(what, next string) Expr {
		in.report(&syntax.Diagnostic{Span: x.Field.Span, What: what, Got: y.Type().String(), Next: next})
		return in.bad(x.Span)
	}
	switch t := y.Type().(type) {
	case *Tuple:
		k, err := strconv.Atoi(x.Field.Text)
		if err != nil || k >= len(t.Elems) || strconv.Itoa(k) != x.Field.Text {
			return wrong("the tuple has no such element", "elements are .0, .1 and so on")
		}
		return &Part{base{t.Elems[k], x.Span}, y, k}
	case *Named:
		if t.Data.Enum {
			return wrong("an enum has no fields", "use match")
		}
		k := in.fieldOf(t, x.Field)
		if k < 0 {
			return in.bad(x.Span)
		}
		return &Part{base{t.Field(0, k), x.Span}, y, k}
	case *Pointer:
		return wrong("a pointer has no fields", "load it first: (*"+x.X.Place().Text()+")."+x.Field.Text)
	case *Var:
		return wrong("the type is not known here", "state it where the value is made")
	case Prim:
		if t == Bad {
			return in.bad(x.Span)
		}
	}
	return wrong("values of the type have no fields", "")
}

func (in *inference) index(x *syntax.IndexExpr) Expr {
	y := in.expr(x.X, nil)
	i := in.checked(x.I, U32)
	a, ok := in.array(y, x.X.Place())
	if !ok {
		return in.bad(x.Span)
	}
	if l, ok := i.(*Lit); ok {
		if n, ok := Resolve(a.Len).(Length); ok && l.Value >= uint64(n) {
			in.report(&syntax.Diagnostic{Span: x.I.Place(), What: "the index is outside of the array", Expected: "below " + n.String(), Got: l.text()})
		}
	}
	return &Index{base{a.Elem, x.Span}, y, i}
}

func (in *inference) array(y Expr, at syntax.Span) (*Array, bool) {
	switch t := y.Type().(type) {
	case *Array:
		return t, true
	case Prim:
		if t == Bad {
			return nil, false
		}
	case *Pointer:
		if _, ok := Resolve(t.To).(*Array); ok {
			in.report(&syntax.Diagnostic{Span: at, What: "a pointer is no array", Got: y.Type().String(), Next: "load it first: (*" + at.Text() + ")"})
			return nil, false
		}
	}
	in.report(&syntax.Diagnostic{Span: at, What: "this is no array", Got: y.Type().String()})
	return nil, false
}

func (in *inference) slice(x *syntax.SliceExpr) Expr {
	y := in.expr(x.X, nil)
	a, ok := in.array(y, x.X.Place())
	low, okLow := in.evaluate(in.module, in.generics, x.Low, U32)
	high, okHigh := in.evaluate(in.module, in.generics, x.High, U32)
	if !ok || !okLow || !okHigh {
		return in.bad(x.Span)
	}
	lo, hi := low.(*Lit).Value, high.(*Lit).Value
	n, known := Resolve(a.Len).(Length)
	if lo > hi || hi > MaxArray || known && hi > uint64(n) {
		in.report(&syntax.Diagnostic{Span: x.Span, What: "the slice is outside of the array", Expected: "bounds in order, at most " + a.Len.String(), Got: fmt.Sprintf("%d..%d", lo, hi)})
		return in.bad(x.Span)
	}
	if !known {
		in.report(&syntax.Diagnostic{Span: x.Span, What: "a slice needs an array of known length", Got: a.String(), Next: "write [for i in 0..4 => x[i]]"})
		return in.bad(x.Span)
	}
	return &Slice{base{&Array{a.Elem, Length(hi - lo)}, x.Span}, y, uint32(lo)}
}

// static infers a bound of a loop: a constant, or made of constants, constant parameters and variables of loops.
func (in *inference) static(x syntax.Expr) Expr {
	y := in.checked(x, U32)
	if !isStatic(y) {
		in.report(&syntax.Diagnostic{Span: x.Place(), What: "the bounds of a loop are constants", Got: x.Place().Text(), Next: "repeat a number of times that is not constant with a recursive function"})
	}
	return y
}

func isStatic(x Expr) bool {
	switch x := x.(type) {
	case *Lit, *LengthRef:
		return true
	case *LocalRef:
		return x.Local.Static
	case *Binary:
		return isStatic(x.L) && isStatic(x.R)
	case *Cast:
		return isStatic(x.X)
	case *Fail:
		return x.typ == Bad
	}
	return false
}

func (in *inference) loopVar(n syntax.Name) *Local {
	l := &Local{Name: n.Text, Type: U32, Span: n.Span, Static: true}
	in.declareVar(l, "loop variable")
	return l
}

func (in *inference) declareVar(l *Local, what string) {
	in.scope.vars[l.Name] = l
	in.ref(Ref{Span: l.Span, Def: l.Span, What: what, Type: l.Type})
}

func (in *inference) each(x *syntax.EachExpr, want Type) Expr {
	low, high := in.static(x.Low), in.static(x.High)
	var length Type = Bad
	lo, okLow := low.(*Lit)
	switch hi := high.(type) {
	case *Lit:
		if okLow && lo.Value <= hi.Value && hi.Value <= MaxArray {
			length = Length(hi.Value - lo.Value)
		}
	case *LengthRef:
		if okLow && lo.Value == 0 {
			length = hi.Param
		}
	}
	if length == Bad {
		in.report(&syntax.Diagnostic{Span: x.Low.Place().To(x.High.Place()), What: "the length of the array is not known", Expected: "constants in order, or 0..N for a constant parameter N"})
	}
	elem := in.elem(want, x.Span)
	in.push()
	v := in.loopVar(x.Var)
	body := in.checked(x.Body, elem)
	in.pop()
	return in.measured(&Each{base{&Array{elem, length}, x.Span}, v, low, high, body})
}

func (in *inference) loop(x *syntax.ForExpr) Expr {
	out := &Loop{Low: in.static(x.Low), High: in.static(x.High)}
	var t Type = Unit
	if x.Init != nil {
		out.Init = in.expr(x.Init, nil)
		t = out.Init.Type()
	}
	in.push()
	out.Var = in.loopVar(x.Var)
	if x.Acc != nil {
		out.Acc = in.irrefutable(x.Acc, t)
	}
	body := in.block(x.Body, t)
	in.same(valuePlace(x.Body), t, body.typ)
	out.Body = body
	in.pop()
	out.base = base{t, x.Span}
	return out
}

// need checks, when types are known, that an operand has one of some types.
func (in *inference) need(at syntax.Span, x Expr, what, next string, ok func(Type) bool) {
	in.later = append(in.later, func() {
		t := x.Type()
		if t != Type(Bad) && !ok(t) {
			in.report(&syntax.Diagnostic{Span: at, What: what, Got: t.String(), Next: next})
		}
	})
}

func oneOf(list ...Prim) func(Type) bool {
	return func(t Type) bool {
		p, ok := t.(Prim)
		return ok && slices.Contains(list, p)
	}
}

func (in *inference) unary(x *syntax.UnaryExpr, want Type) Expr {
	at := x.Span
	switch x.Op {
	case syntax.And:
		var w Type
		if p, ok := resolveOr(want).(*Pointer); ok {
			w = p.To
		}
		y := in.expr(x.X, w)
		return in.measured(&Unary{base{&Pointer{y.Type()}, at}, x.Op, y})
	case syntax.Star:
		y := in.expr(x.X, nil)
		switch t := y.Type().(type) {
		case *Pointer:
			return &Unary{base{t.To, at}, x.Op, y}
		case Prim:
			if t == Bad {
				return in.bad(at)
			}
		}
		in.report(&syntax.Diagnostic{Span: at, What: "only pointers can be loaded", Expected: "&T", Got: y.Type().String()})
		return in.bad(at)
	case syntax.Not:
		return &Unary{base{Bool, at}, x.Op, in.checked(x.X, Bool)}
	}
	y := in.expr(x.X, want)
	in.need(at, y, "only field elements can be negated", "integers have no negative values", oneOf(Field))
	return &Unary{base{y.Type(), at}, x.Op, y}
}

func (in *inference) binary(x *syntax.BinaryExpr, want Type) Expr {
	at := x.Span
	text := "`" + syntax.OperatorText(x.Op) + "`"
	switch x.Op {
	case syntax.AndAnd, syntax.OrOr:
		return &Binary{base{Bool, at}, x.Op, in.checked(x.L, Bool), in.checked(x.R, Bool)}
	case syntax.ShiftLeft, syntax.ShiftRight:
		l := in.expr(x.L, want)
		r := in.checked(x.R, U32)
		in.need(x.L.Place(), l, "only integers have "+text, "", oneOf(U8, U32, U64))
		return &Binary{base{l.Type(), at}, x.Op, l, r}
	}
	comparison := false
	switch x.Op {
	case syntax.Equal, syntax.NotEqual, syntax.Less, syntax.LessEqual, syntax.Greater, syntax.GreaterEqual:
		comparison, want = true, nil
	}
	l := in.expr(x.L, want)
	r := in.expr(x.R, l.Type())
	if !in.operands(x, l, r) {
		return in.bad(at)
	}
	if comparison {
		if x.Op == syntax.Equal || x.Op == syntax.NotEqual {
			in.later = append(in.later, func() { in.comparable(x.OpSpan, l.Type()) })
		} else {
			in.need(x.OpSpan, l, "only integers are ordered", "convert it: … as u64", oneOf(U8, U32, U64))
		}
		return &Binary{base{Bool, at}, x.Op, l, r}
	}
	switch x.Op {
	case syntax.Plus, syntax.Minus, syntax.Star, syntax.Slash:
		in.need(x.OpSpan, l, "only numbers have "+text, "", oneOf(Field, U8, U32, U64))
	default:
		in.need(x.OpSpan, l, "only integers have "+text, "", oneOf(U8, U32, U64))
	}
	return &Binary{base{l.Type(), at}, x.Op, l, r}
}

// operands reports operands of different types.
func (in *inference) operands(x *syntax.BinaryExpr, l, r Expr) bool {
	if l.Type() == r.Type() {
		return true
	}
	left, right := l.Type().String(), r.Type().String()
	if in.unify(l.Type(), r.Type()) {
		return true
	}
	if !in.sized(l.Type(), x.OpSpan) || !in.sized(r.Type(), x.OpSpan) {
		return false
	}
	in.report(&syntax.Diagnostic{
		Span: x.OpSpan, What: "the operands of `" + syntax.OperatorText(x.Op) + "` have different types", Expected: left, Got: right, Next: convert(l.Type(), r.Type(), x.R.Place()),
	})
	return false
}

// comparable reports types whose values cannot be compared: pointers that differ may point to equal values.
func (in *inference) comparable(at syntax.Span, t Type) {
	switch {
	case HasPointer(t):
		in.report(&syntax.Diagnostic{Span: at, What: "pointers are not compared: different pointers may point to equal values", Got: t.String(), Next: "compare what they point to"})
	case hasParam(t):
		in.report(&syntax.Diagnostic{Span: at, What: "values of a type parameter are not compared", Got: t.String(), Next: "write the function for one type"})
	}
}

func hasParam(t Type) bool {
	switch t := Resolve(t).(type) {
	case *Param:
		return !t.Const
	case *Tuple:
		return slices.ContainsFunc(t.Elems, hasParam)
	case *Array:
		return hasParam(t.Elem)
	case *Pointer:
		return hasParam(t.To)
	case *Named:
		return slices.ContainsFunc(t.Args, hasParam)
	}
	return false
}

func (in *inference) cast(x *syntax.CastExpr) Expr {
	to := in.typeOf(in.module, in.generics, x.To)
	y := in.expr(x.X, nil)
	if l, ok := y.(*Lit); ok { // 5 as u32 is 5u32
		if v, unbound := l.Type().(*Var); unbound && v.literal && to != Type(Bool) {
			in.unify(v, to)
		}
	}
	in.need(x.Span, y, "only numbers and bools can be converted", "", oneOf(Field, Bool, U8, U32, U64))
	if p, ok := to.(Prim); !ok {
		in.report(&syntax.Diagnostic{Span: x.To.Place(), What: "values cannot be converted to this type", Expected: "field, bool, u8, u32 or u64", Got: to.String()})
		return in.bad(x.Span)
	} else if p == Bad {
		return in.bad(x.Span)
	}
	return &Cast{base{to, x.Span}, y}
}

func (in *inference) choice(x *syntax.IfExpr, want Type) Expr {
	out := &If{Cond: in.checked(x.Cond, Bool)}
	then := in.block(x.Then, want)
	out.Then = then
	if x.Else == nil {
		if !in.unify(Unit, then.typ) {
			in.report(&syntax.Diagnostic{Span: valuePlace(x.Then), What: "an if with a value has an else", Expected: "()", Got: then.Type().String()})
		}
		out.base = base{Unit, x.Span}
		return out
	}
	t := then.typ
	out.Else = in.expr(x.Else, t)
	in.same(valuePlace(x.Else), t, out.Else.Type())
	out.base = base{t, x.Span}
	return out
}

func (in *inference) match(x *syntax.MatchExpr, want Type) Expr {
	out := &Match{X: in.expr(x.X, nil)}
	var t Type
	for _, a := range x.Arms {
		in.push()
		p := in.pattern(a.Pattern, out.X.Type(), nil)
		hint := want
		if t != nil {
			hint = t
		}
		body := in.expr(a.Body, hint)
		if t == nil {
			t = body.Type()
		} else {
			in.same(valuePlace(a.Body), t, body.Type())
		}
		in.pop()
		out.Arms = append(out.Arms, MatchArm{p, body})
	}
	if t == nil {
		t = Unit
		in.report(&syntax.Diagnostic{Span: x.Span, What: "the match has no arms"})
	}
	out.base = base{t, x.Span}
	in.later = append(in.later, func() { in.exhaustive(out) })
	return out
}

func (in *inference) block(x *syntax.Block, want Type) *Block {
	out := &Block{}
	in.push()
	defer in.pop()
	var never bool
	for _, s := range x.Stmts {
		switch s := s.(type) {
		case *syntax.LetStmt:
			out.Stmts = append(out.Stmts, in.let(s))
		case *syntax.AssertStmt:
			out.Stmts = append(out.Stmts, &Assert{s.Span, in.checked(s.Cond, Bool), s.Message})
		case *syntax.ExprStmt:
			y := in.expr(s.X, Unit)
			if _, ok := y.(*Fail); ok {
				never = true
			}
			if !in.unify(Unit, y.Type()) {
				in.report(&syntax.Diagnostic{Span: s.X.Place(), What: "the value is not used", Got: y.Type().String(), Next: "bind it: let _ = …;"})
			}
			out.Stmts = append(out.Stmts, &Do{s.Span, y})
		}
	}
	switch {
	case x.Result != nil:
		out.Result = in.expr(x.Result, want)
		out.base = base{out.Result.Type(), x.Span}
	case never && want != nil: // `fail;` ends the block: it has any type
		out.Result = &Fail{base{want, x.Span}, ""}
		out.base = base{want, x.Span}
	default:
		out.base = base{Unit, x.Span}
	}
	return out
}

func (in *inference) let(s *syntax.LetStmt) Stmt {
	var t Type
	if s.Type != nil {
		t = in.typeOf(in.module, in.generics, s.Type)
	}
	if s.Unconstrained {
		return in.hint(s, t)
	}
	if s.Where != nil {
		in.report(&syntax.Diagnostic{Span: s.Where.Place(), What: "only the result of an unconstrained call has a condition", Next: "write assert behind the let"})
	}
	value := in.expr(s.Value, t)
	if t == nil {
		t = value.Type()
	} else {
		in.same(valuePlace(s.Value), t, value.Type())
	}
	return &Let{s.Span, in.irrefutable(s.Pattern, t), value}
}

// hint infers let pattern = unconstrained f(…) where condition. The condition must mention each variable, so that nothing unchecked can be used by mistake.
func (in *inference) hint(s *syntax.LetStmt, t Type) Stmt {
	call, ok := s.Value.(*syntax.CallExpr)
	var f *item
	if ok {
		if i, used := in.lookup(in.module, call.Path.Parts); used == len(call.Path.Parts) {
			if _, isFunc := i.syntax.(*syntax.Func); isFunc {
				f = i
			}
		}
	}
	if f == nil || f.fn == nil {
		in.expr(s.Value, t)
		in.report(&syntax.Diagnostic{Span: s.Value.Place(), What: "unconstrained stands before the call of a function", Got: s.Value.Place().Text()})
		in.irrefutable(s.Pattern, Bad)
		return &Do{s.Span, in.bad(s.Span)}
	}
	in.refItem(call.Path.Parts[len(call.Path.Parts)-1].Span, f)
	c := in.apply(f.fn, &call.Path, call.Args, call.Span)
	if t != nil {
		in.same(s.Value.Place(), t, c.Type())
	}
	p := in.irrefutable(s.Pattern, c.Type())
	in.later = append(in.later, func() {
		if HasPointer(c.Type()) {
			in.report(&syntax.Diagnostic{Span: call.Span, What: "the result of an unconstrained call has no pointers", Got: c.Type().String(), Next: "return the values, and store them once they are checked"})
		}
	})
	if s.Where == nil {
		in.report(&syntax.Diagnostic{Span: s.Span, What: "the result of an unconstrained call is not proven, and must be checked", Next: "say what holds of it: let … = unconstrained … where CONDITION;"})
		return &Do{s.Span, in.bad(s.Span)}
	}
	out := &Hint{s.Span, p, c, in.checked(s.Where, Bool)}
	used := map[*Local]bool{}
	mentions(out.Where, used)
	for _, l := range variables(p, nil) {
		if !used[l] {
			in.report(&syntax.Diagnostic{Span: s.Where.Place(), What: "the condition says nothing of " + l.Name, Next: "a hinted value may be anything of its type: check it, or bind it as _"})
		}
	}
	return out
}

// evaluate infers an expression of a type and evaluates it as a constant. g is what is in scope there: parameters and variables are no constants, but hide constants of their names.
func (c *checker) evaluate(m *Module, g *generics, x syntax.Expr, t Type) (Expr, bool) {
	before := c.count
	in := &inference{checker: c, module: m, generics: g, before: c.count}
	if g != nil && g.body != nil {
		in.scope = g.body.scope
	}
	in.push()
	y := in.checked(x, t)
	in.finish(y)
	if c.count > before {
		return nil, false
	}
	v, d := fold(y)
	if d != nil {
		c.report(d)
		return nil, false
	}
	return v, true
}

// Evaluate infers an expression of type t in the root module and evaluates it as a constant: literals, products and variants.
func (p *Program) Evaluate(x syntax.Expr, t Type) (Expr, syntax.Errors) {
	c := &checker{program: &Program{Modules: p.Modules}, finite: true}
	v, ok := c.evaluate(p.Modules[0], nil, x, t)
	if !ok && len(c.errors) == 0 {
		c.report(&syntax.Diagnostic{Span: x.Place(), What: "this is no constant expression"})
	}
	return v, c.errors
}
