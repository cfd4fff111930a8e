package types

import (
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/syntax"
)

// Options of Check.
type Options struct {
	// Library allows the root file to have pub functions that cannot be entries.
	Library bool
}

// Check loads a program and checks it. folder holds the root file and all that it imports but for the standard library. The program is complete if there are no errors. If all
// errors are of syntax, it still has Refs and bodies of what could be read, for editors.
func Check(folder fs.FS, root string, o Options) (*Program, syntax.Errors) {
	c := &checker{program: &Program{}, options: o}
	c.load(folder, root)
	unread := len(c.errors)
	c.declare()
	if declared := len(c.errors); declared == unread { // types that could not be declared would make errors everywhere
		for _, m := range c.program.Modules {
			c.bodies(m)
		}
		switch {
		case unread > 0: // what could not be read makes errors elsewhere
			c.errors = c.errors[:unread]
		case len(c.errors) == 0:
			c.entries()
		}
	}
	c.errors.Sort()
	return c.program, c.errors[:min(len(c.errors), maxErrors)]
}

// maxErrors bounds the diagnostics of a program.
const maxErrors = 4 * syntax.MaxErrors

type checker struct {
	program *Program
	options Options
	modules map[string]*Module
	errors  syntax.Errors
	count   int // of errors, also of those that are not kept
	meter   Meter
	finite  bool // no type holds itself
}

func (c *checker) report(d *syntax.Diagnostic) {
	c.count++
	if d.Class == 0 {
		d.Class = formats.Invalid
	}
	c.errors = append(c.errors, d) // all of them: their number tells whether a part is right
}

func (c *checker) ref(r Ref) { c.program.Refs = append(c.program.Refs, r) }

// state is how far the resolution of an item has come.
type state uint8

const (
	fresh state = iota
	busy
	done
)

// item is a declaration of a module, resolved when first used.
type item struct {
	module *Module
	syntax syntax.Item
	state  state

	data  *Data     // of a struct or enum
	fn    *Func     // of a function
	konst *Constant // of a constant
	alias Type      // of a type alias
	scope *generics // of an alias or data
}

func (i *item) what() string {
	switch i.syntax.(type) {
	case *syntax.Func:
		return "function"
	case *syntax.Struct:
		return "struct"
	case *syntax.Enum:
		return "enum"
	case *syntax.Const:
		return "constant"
	}
	return "type"
}

// generics are the type parameters in scope.
type generics struct {
	list []*Param
	at   map[string]*Param
	span map[string]syntax.Span
	body *inference // of the body that a type or a constant expression stands in, nil for a declaration: its variables hide parameters and constants
}

// within is g for what stands in a body.
func (g *generics) within(in *inference) *generics { return &generics{g.list, g.at, g.span, in} }

// hides reports whether a name is that of a variable where a type or a constant expression stands.
func (g *generics) hides(name string) bool { return g.body != nil && g.body.lookupVar(name) != nil }

func (c *checker) generics(params []syntax.TypeParam) *generics {
	g := &generics{at: map[string]*Param{}, span: map[string]syntax.Span{}}
	if len(params) > 0 && !c.members(len(params), "type parameters", params[0].Name.Span) {
		params = params[:maxMembers]
	}
	for i, p := range params {
		if g.at[p.Name.Text] != nil {
			c.report(&syntax.Diagnostic{Span: p.Name.Span, What: "another parameter has this name", Got: p.Name.Text})
			continue
		}
		q := &Param{Name: p.Name.Text, Const: p.Const, Index: i}
		g.list = append(g.list, q)
		g.at[q.Name], g.span[q.Name] = q, p.Name.Span
	}
	return g
}

var prims = map[string]Prim{"field": Field, "bool": Bool, "u8": U8, "u32": U32, "u64": U64}

// declare makes the items of all modules known, then resolves the heads of all.
func (c *checker) declare() {
	before := len(c.errors)
	for _, m := range c.program.Modules {
		m.items = map[string]*item{}
		for _, s := range m.Syntax.Items {
			name := s.Ident()
			if _, ok := prims[name.Text]; ok {
				c.report(&syntax.Diagnostic{Span: name.Span, What: "the name is that of a type of the language", Got: name.Text})
				continue
			}
			if other := m.items[name.Text]; other != nil {
				c.report(&syntax.Diagnostic{Span: name.Span, What: "the name is declared already", Got: name.Text, Related: []syntax.Related{{Span: other.syntax.Ident().Span, What: "it is declared here"}}})
				continue
			}
			m.items[name.Text] = &item{module: m, syntax: s}
		}
	}
	for _, m := range c.program.Modules {
		c.importNames(m)
	}
	for _, m := range c.program.Modules {
		for _, s := range m.Syntax.Items {
			if i := m.items[s.Ident().Text]; i != nil && i.syntax == s {
				c.resolve(i)
			}
		}
	}
	if len(c.errors) == before {
		c.checkSizes()
		c.checkConstants()
	}
	if c.finite = len(c.errors) == before; c.finite {
		c.checkParts()
	}
}

// importNames makes the items known that imports list.
func (c *checker) importNames(m *Module) {
	for _, im := range m.Syntax.Imports {
		name := im.As.Text
		if name == "" {
			name = strings.TrimSuffix(im.Path[strings.LastIndexByte(im.Path, '/')+1:], extension)
		}
		from := m.modules[name]
		if from == nil {
			continue // reported
		}
		for _, n := range im.Names {
			i := c.exported(from, n)
			if i == nil {
				m.lost[n.Text] = true
				continue
			}
			if other := m.items[n.Text]; other != nil {
				c.report(&syntax.Diagnostic{Span: n.Span, What: "the name is declared already", Got: n.Text, Related: []syntax.Related{{Span: other.syntax.Ident().Span, What: "it is declared here"}}})
				continue
			}
			m.items[n.Text] = i
			c.refItem(n.Span, i)
		}
	}
}

// exported finds a pub item of another module. What is missing is reported.
func (c *checker) exported(from *Module, n syntax.Name) *item {
	i := from.items[n.Text]
	if i == nil && c.lost(from, n) {
		return nil
	}
	if i == nil || i.module != from {
		var names []string
		for name, i := range from.items {
			if i.syntax.IsPub() && i.module == from {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		c.report(&syntax.Diagnostic{Span: n.Span, What: "module " + from.Path + " has no such item", Got: n.Text, Next: nearest(n.Text, names)})
		return nil
	}
	if !i.syntax.IsPub() {
		c.report(&syntax.Diagnostic{Span: n.Span, What: "the item is not pub", Got: n.Text, Next: "declare it as pub in module " + from.Path, Related: []syntax.Related{{Span: i.syntax.Ident().Span, What: "it is declared here"}}})
		return nil
	}
	return i
}

func (c *checker) refItem(at syntax.Span, i *item) {
	r := Ref{Span: at, Def: i.syntax.Ident().Span, What: i.what()}
	switch s := i.syntax.(type) {
	case *syntax.Func:
		if i.fn != nil {
			r.Text, r.Doc = i.fn.Signature(), s.Doc
		}
	case *syntax.Const:
		r.Text, r.Doc = s.Span.Text(), s.Doc
	case *syntax.Struct:
		r.Text, r.Doc = s.Span.Text(), s.Doc
	case *syntax.Enum:
		r.Text, r.Doc = s.Span.Text(), s.Doc
	case *syntax.Alias:
		r.Text, r.Doc = s.Span.Text(), s.Doc
	}
	c.ref(r)
}

func (c *checker) refModule(at syntax.Span, m *Module) {
	c.ref(Ref{Span: at, Def: syntax.Span{File: m.File}, What: "module", Text: "module " + m.Path})
}

// lookup finds the item that the first parts of a path name, and how many parts those are.
func (c *checker) lookup(m *Module, parts []syntax.Name) (i *item, used int) {
	first := parts[0]
	if i := m.items[first.Text]; i != nil {
		_, enum := i.syntax.(*syntax.Enum)
		if len(parts) == 1 || enum || m.modules[first.Text] == nil { // a function may have the name of a module
			return i, 1
		}
	}
	if other := m.modules[first.Text]; other != nil && len(parts) > 1 {
		c.refModule(first.Span, other)
		if i := c.exported(other, parts[1]); i != nil {
			return i, 2
		}
		return nil, 0
	}
	return nil, -1
}

func none(func(string) bool) {}

// lost reports whether a name is that of an item that could not be read or imported, which is reported: that nothing else is known of the name need not be.
func (c *checker) lost(m *Module, n syntax.Name) bool {
	if m.lost[n.Text] {
		c.count++
		return true
	}
	return false
}

// unknown reports a name that stands for nothing.
func (c *checker) unknown(m *Module, n syntax.Name, what string, others iter.Seq[string]) {
	if c.lost(m, n) {
		return
	}
	next := ""
	if len(c.errors) < maxErrors { // more are not shown, and suggestions take time
		if next = c.somewhere(n.Text); next == "" {
			names := slices.Concat(slices.Collect(maps.Keys(m.items)), slices.Collect(maps.Keys(m.modules)))
			names = slices.AppendSeq(names, others)
			next = nearest(n.Text, names)
		}
	}
	c.report(&syntax.Diagnostic{Span: n.Span, What: "there is no such " + what, Got: n.Text, Next: next})
}

// somewhere says which loaded module has a pub item of a name.
func (c *checker) somewhere(name string) string {
	for _, m := range c.program.Modules {
		if i := m.items[name]; i != nil && i.module == m && i.syntax.IsPub() {
			return "module " + m.Path + " has it: import \"" + m.Path + "\" (" + name + ");"
		}
	}
	return ""
}

// resolve resolves the head of an item: everything but a function's body.
func (c *checker) resolve(i *item) {
	switch i.state {
	case done:
		return
	case busy:
		c.report(&syntax.Diagnostic{Span: i.syntax.Ident().Span, What: "the " + i.what() + " is defined by itself", Got: i.syntax.Ident().Text})
		return
	}
	i.state = busy
	defer func() {
		i.state = done
		c.refItem(i.syntax.Ident().Span, i)
	}()
	switch s := i.syntax.(type) {
	case *syntax.Struct:
		d := c.dataOf(i, &s.Decl)
		fields := []FieldType{}
		if !c.members(len(s.Fields), "fields", s.Name.Span) {
			s.Fields = s.Fields[:maxMembers]
		}
		for _, f := range s.Fields {
			if slices.ContainsFunc(fields, func(g FieldType) bool { return g.Name == f.Name.Text }) {
				c.report(&syntax.Diagnostic{Span: f.Name.Span, What: "another field has this name", Got: f.Name.Text})
			}
			t := c.typeOf(i.module, i.scope, f.Type)
			fields = append(fields, FieldType{f.Name.Text, t, f.Name.Span})
			c.ref(Ref{Span: f.Name.Span, Def: f.Name.Span, What: "field", Type: t})
		}
		d.Variants = []Variant{{d.Name, s.Name.Span, fields}}
	case *syntax.Enum:
		d := c.dataOf(i, &s.Decl)
		d.Enum = true
		if !c.members(len(s.Variants), "variants", s.Name.Span) {
			s.Variants = s.Variants[:maxMembers]
		}
		for _, v := range s.Variants {
			if slices.ContainsFunc(d.Variants, func(w Variant) bool { return w.Name == v.Name.Text }) {
				c.report(&syntax.Diagnostic{Span: v.Name.Span, What: "another variant has this name", Got: v.Name.Text})
			}
			w := Variant{Name: v.Name.Text, Span: v.Name.Span}
			for _, t := range v.Args {
				w.Fields = append(w.Fields, FieldType{"", c.typeOf(i.module, i.scope, t), t.Place()})
			}
			d.Variants = append(d.Variants, w)
			c.ref(Ref{Span: w.Span, Def: w.Span, What: "variant", Text: d.variantText(len(d.Variants) - 1), Doc: d.Doc})
		}
		if len(s.Variants) == 0 {
			c.report(&syntax.Diagnostic{Span: s.Name.Span, What: "an enum has at least one variant", Got: s.Name.Text})
		}
	case *syntax.Alias:
		i.scope = c.generics(s.Params)
		c.noAttrs(s.Attrs)
		i.alias = c.typeOf(i.module, i.scope, s.Type)
	case *syntax.Const:
		c.noAttrs(s.Attrs)
		i.konst = c.constant(i.module, s)
	case *syntax.Func:
		i.fn = c.function(i, s)
	}
}

func (c *checker) noAttrs(attrs []syntax.Attr) {
	for _, a := range attrs {
		c.report(&syntax.Diagnostic{Span: a.Span, What: "only functions have attributes", Got: a.Name.Text})
	}
}

// dataOf is the struct or enum of an item; its variants may not be there yet.
func (c *checker) dataOf(i *item, d *syntax.Decl) *Data {
	if i.data == nil {
		i.scope = c.generics(d.Params)
		i.data = &Data{Name: d.Name.Text, Module: i.module, Params: i.scope.list, Pub: d.Pub, Span: d.Name.Span, Doc: d.Doc}
		c.noAttrs(d.Attrs)
	}
	return i.data
}

// whole resolves the declaration of a struct or an enum, and reports whether its variants are known: they are not where a length in the declaration asks for them, which is reported.
func (c *checker) whole(d *Data) bool {
	c.resolve(d.Module.items[d.Name])
	return len(d.Variants) > 0
}

// function resolves a function's head.
func (c *checker) function(i *item, s *syntax.Func) *Func {
	g := c.generics(s.Params)
	f := &Func{Name: s.Name.Text, Module: i.module, Params: g.list, Unconstrained: s.Unconstrained, Pub: s.Pub, Span: s.Name.Span, Doc: s.Doc, Result: Unit}
	i.scope = g
	root := i.module == c.program.Modules[0]
	if !c.members(len(s.Args), "arguments", s.Name.Span) {
		s.Args = s.Args[:maxMembers]
	}
	for _, a := range s.Args {
		t := c.typeOf(i.module, g, a.Type)
		if slices.ContainsFunc(f.Args, func(b Arg) bool { return b.Local.Name == a.Name.Text }) {
			c.report(&syntax.Diagnostic{Span: a.Name.Span, What: "another argument has this name", Got: a.Name.Text})
		}
		if a.Private && !(root && s.Pub && !s.Unconstrained) {
			c.report(&syntax.Diagnostic{Span: a.Name.Span, What: "only an entry has private arguments", Expected: "a pub fn of the program's first file", Got: s.Name.Text})
		}
		l := &Local{Name: a.Name.Text, Type: t, Span: a.Name.Span}
		f.Args = append(f.Args, Arg{l, a.Private})
		c.ref(Ref{Span: a.Name.Span, Def: a.Name.Span, What: "argument", Type: t})
	}
	if s.Result != nil {
		f.Result = c.typeOf(i.module, g, s.Result)
	}
	for _, a := range s.Attrs {
		switch {
		case a.Name.Text == "inline" && (a.Arg == "" || a.Arg == "always"):
			f.Inline = InlineAlways
		case a.Name.Text == "inline" && a.Arg == "never":
			f.Inline = InlineNever
		case a.Name.Text == "builtin" && strings.HasPrefix(i.module.Path, standard):
			f.Builtin = a.Arg
		default:
			c.report(&syntax.Diagnostic{Span: a.Span, What: "there is no such attribute", Expected: "#[inline] or #[inline(never)]", Got: a.Span.Text()})
		}
	}
	if (s.Body == nil) != (f.Builtin != "") {
		c.report(&syntax.Diagnostic{Span: s.Name.Span, What: "the function has no body", Expected: "{ … }"})
	}
	c.program.Funcs = append(c.program.Funcs, f)
	return f
}

// typeOf resolves a type. What is wrong is reported and gives Bad.
func (c *checker) typeOf(m *Module, g *generics, t syntax.TypeExpr) Type {
	switch t := t.(type) {
	case *syntax.TupleType:
		if len(t.Elems) == 0 {
			return Unit
		}
		out := &Tuple{}
		for _, e := range t.Elems {
			out.Elems = append(out.Elems, c.typeOf(m, g, e))
		}
		return out
	case *syntax.ArrayType:
		return &Array{c.typeOf(m, g, t.Elem), c.lengthOf(m, g, t.Len)}
	case *syntax.PointerType:
		return &Pointer{c.typeOf(m, g, t.To)}
	case *syntax.LengthType:
		c.report(&syntax.Diagnostic{Span: t.Span, What: "a number is no type"})
		return Bad
	case *syntax.NamedType:
		return c.namedType(m, g, &t.Path)
	}
	return Bad
}

func (c *checker) namedType(m *Module, g *generics, p *syntax.Path) Type {
	first := p.Parts[0]
	if len(p.Parts) == 1 {
		if g != nil && g.at[first.Text] != nil {
			q := g.at[first.Text]
			if q.Const || p.Args != nil {
				c.report(&syntax.Diagnostic{Span: p.Span, What: "the parameter is no type that takes arguments", Got: first.Text})
				return Bad
			}
			c.ref(Ref{Span: p.Span, Def: g.span[q.Name], What: "type parameter", Text: "type parameter " + q.Name})
			return q
		}
		if prim, ok := prims[first.Text]; ok {
			if p.Args != nil {
				c.report(&syntax.Diagnostic{Span: p.Span, What: "the type takes no arguments", Got: first.Text})
			}
			return prim
		}
	}
	i, used := c.lookup(m, p.Parts)
	switch {
	case used == -1:
		c.unknown(m, first, "type", func(yield func(string) bool) {
			for name := range prims {
				if !yield(name) {
					return
				}
			}
			for i := 0; g != nil && i < len(g.list); i++ {
				if !yield(g.list[i].Name) {
					return
				}
			}
		})
		return Bad
	case i == nil:
		return Bad
	case used < len(p.Parts):
		c.report(&syntax.Diagnostic{Span: p.Span, What: "this is no type", Got: p.Span.Text()})
		return Bad
	}
	c.refItem(p.Parts[used-1].Span, i)
	switch s := i.syntax.(type) {
	case *syntax.Struct:
		d := c.dataOf(i, &s.Decl)
		return &Named{d, c.typeArgs(m, g, p, d.Params)}
	case *syntax.Enum:
		d := c.dataOf(i, &s.Decl)
		return &Named{d, c.typeArgs(m, g, p, d.Params)}
	case *syntax.Alias:
		if i.state == busy {
			c.report(&syntax.Diagnostic{Span: p.Span, What: "the type is defined by itself", Got: s.Name.Text, Next: "make it a struct with a pointer"})
			return Bad
		}
		c.resolve(i)
		args := c.typeArgs(m, g, p, i.scope.list)
		if !c.counted(i.alias, true, p.Span) {
			return Bad
		}
		return Substitute(i.alias, i.scope.list, args)
	}
	c.report(&syntax.Diagnostic{Span: p.Span, What: "this is a " + i.what() + " and no type", Got: p.Span.Text()})
	return Bad
}

// typeArgs resolves the arguments of a type, which must be as many as its parameters.
func (c *checker) typeArgs(m *Module, g *generics, p *syntax.Path, params []*Param) []Type {
	if len(p.Args) != len(params) {
		(&counts{"the type takes", len(params), len(p.Args), "type argument"}).report(c, p.Span)
		bad := make([]Type, len(params))
		for i := range bad {
			bad[i] = Bad
		}
		return bad
	}
	var out []Type
	for i, a := range p.Args {
		out = append(out, c.typeArg(m, g, a, params[i]))
	}
	return out
}

// typeArg resolves an argument for a parameter: a type, or a length where the parameter is constant.
func (c *checker) typeArg(m *Module, g *generics, a syntax.TypeExpr, p *Param) Type {
	if !p.Const {
		return c.typeOf(m, g, a)
	}
	switch a := a.(type) {
	case *syntax.LengthType:
		return c.lengthOf(m, g, a.Value)
	case *syntax.NamedType:
		return c.lengthOf(m, g, syntax.NewPathExpr(a.Path))
	}
	c.report(&syntax.Diagnostic{Span: a.Place(), What: "the parameter is a number", Expected: "a constant u32", Got: "a type"})
	return Bad
}

// lengthOf evaluates a length: a constant parameter or a constant expression of type u32.
func (c *checker) lengthOf(m *Module, g *generics, x syntax.Expr) Type {
	if p, ok := x.(*syntax.PathExpr); ok && g != nil && len(p.Path.Parts) == 1 && p.Path.Args == nil {
		if q := g.at[p.Path.Parts[0].Text]; q != nil && q.Const && !g.hides(q.Name) {
			c.ref(Ref{Span: p.Span, Def: g.span[q.Name], What: "constant parameter", Type: U32})
			return q
		}
	}
	v, ok := c.evaluate(m, g, x, U32)
	if !ok {
		return Bad
	}
	n := v.(*Lit).Value
	if n > MaxArray {
		c.report(&syntax.Diagnostic{Span: x.Place(), Class: formats.Limit, What: "the array is too long", Expected: "at most 65536 elements", Got: v.(*Lit).text()})
		return Bad
	}
	return Length(n)
}

// constant resolves a constant and evaluates it.
func (c *checker) constant(m *Module, s *syntax.Const) *Constant {
	k := &Constant{Name: s.Name.Text, Pub: s.Pub, Span: s.Name.Span, Doc: s.Doc}
	k.Type = c.typeOf(m, nil, s.Type)
	if v, ok := c.evaluate(m, nil, s.Value, k.Type); ok {
		k.Value = v
	}
	return k
}

// checkSizes reports types that hold themselves.
func (c *checker) checkSizes() {
	state := map[*Data]state{}
	var visit func(d *Data) bool
	var within func(t Type) bool
	within = func(t Type) bool {
		switch t := t.(type) {
		case *Tuple:
			return slices.ContainsFunc(t.Elems, within)
		case *Array:
			return within(t.Elem)
		case *Named:
			return visit(t.Data) || slices.ContainsFunc(t.Args, within)
		}
		return false
	}
	visit = func(d *Data) bool {
		switch state[d] {
		case busy:
			return true
		case done:
			return false
		}
		state[d] = busy
		defer func() { state[d] = done }()
		for _, v := range d.Variants {
			for _, f := range v.Fields {
				if within(f.Type) {
					c.report(&syntax.Diagnostic{Span: d.Span, What: "values of the type would hold values of the same type without end", Got: d.Name, Next: "put a pointer in between: &" + d.Name})
					return false
				}
			}
		}
		return false
	}
	for _, m := range c.program.Modules {
		for _, s := range m.Syntax.Items {
			if i := m.items[s.Ident().Text]; i.data != nil && i.module == m {
				visit(i.data)
			}
		}
	}
}

// checkConstants reports constants of types with pointers.
func (c *checker) checkConstants() {
	for _, m := range c.program.Modules {
		for _, s := range m.Syntax.Items {
			if k, ok := s.(*syntax.Const); ok {
				if t := m.items[k.Name.Text].konst.Type; HasPointer(t) {
					c.report(&syntax.Diagnostic{Span: k.Type.Place(), What: "a constant has no pointers", Got: t.String()})
				}
			}
		}
	}
}

// bodies checks the functions of a module.
func (c *checker) bodies(m *Module) {
	for _, s := range m.Syntax.Items {
		if f, ok := s.(*syntax.Func); ok && f.Body != nil {
			c.body(m.items[f.Name.Text], f)
		}
	}
}

// entries finds the root's pub functions and checks that claims can be made of them.
func (c *checker) entries() {
	root := c.program.Modules[0]
	for _, s := range root.Syntax.Items {
		f, ok := s.(*syntax.Func)
		if !ok || !f.Pub {
			continue
		}
		fn := root.items[f.Name.Text].fn
		what, next := "", ""
		switch {
		case fn.Unconstrained, fn.Builtin != "":
			continue
		case len(fn.Params) > 0:
			what, next = "an entry has no type parameters", "remove pub, or write a pub fn that calls it for one type"
		case HasPointer(fn.Result):
			what, next = "the result of an entry has no pointers", "return values, or a digest of what is behind the pointer"
		case slices.ContainsFunc(fn.Args, func(a Arg) bool { return !a.Private && HasPointer(a.Local.Type) }):
			what, next = "a public argument of an entry has no pointers", "make it private, and let the public arguments hold a digest of it"
		case len(fn.Name) > formats.MaxNameBytes:
			what = "the name of an entry is too long"
		}
		if what != "" {
			if !c.options.Library {
				c.report(&syntax.Diagnostic{Span: fn.Span, What: what, Got: fn.Signature(), Next: next})
			}
			continue
		}
		c.program.Entries = append(c.program.Entries, fn)
	}
	if len(c.program.Entries) == 0 && !c.options.Library {
		c.report(&syntax.Diagnostic{Span: syntax.Span{File: root.File}, What: "the program has no entry", Expected: "a pub fn in " + root.File.Name})
	}
}

// counts is a complaint about a number of things.
type counts struct {
	what      string
	want, got int
	thing     string
}

func (n *counts) report(c *checker, at syntax.Span) {
	c.report(&syntax.Diagnostic{Span: at, What: n.what + " " + plural(n.want, n.thing), Got: plural(n.got, n.thing)})
}
