package types

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/syntax"
)

// binder collects the variables of a pattern. In further alternatives of an or-pattern, known holds those of the first.
type binder struct {
	vars  []*Local
	known []*Local
}

func find(list []*Local, name string) *Local {
	for _, l := range list {
		if l.Name == name {
			return l
		}
	}
	return nil
}

// pattern infers a pattern for values of type t and declares its variables.
func (in *inference) pattern(p syntax.Pattern, t Type, b *binder) Pattern {
	if b != nil {
		return in.bindPattern(p, t, b)
	}
	b = &binder{}
	out := in.bindPattern(p, t, b)
	for _, l := range b.vars {
		in.declareVar(l, "let")
	}
	return out
}

// irrefutable infers a pattern that must fit every value.
func (in *inference) irrefutable(p syntax.Pattern, t Type) Pattern {
	out := in.pattern(p, t, nil)
	in.later = append(in.later, func() {
		m := &matrix{budget: matchBudget}
		if in.broken {
			return
		}
		w := m.missing([][]*cell{{m.cell(out)}}, []Type{out.Type()})
		switch {
		case m.over():
			in.report(&syntax.Diagnostic{Span: p.Place(), Class: formats.Limit, What: "the pattern has too many cases to check", Next: "take one part after the other"})
		case w != nil:
			in.report(&syntax.Diagnostic{Span: p.Place(), What: "the pattern does not fit every value", Got: "a value such as " + w[0], Next: "use match"})
		}
	})
	return out
}

// expectType unifies the type of what is matched with what the pattern is for.
func (in *inference) expectType(at syntax.Span, value, pattern Type) bool {
	was := value.String()
	if in.unify(value, pattern) {
		return true
	}
	in.report(&syntax.Diagnostic{Span: at, What: "the pattern is for another type", Expected: was, Got: pattern.String()})
	return false
}

func (in *inference) bindPattern(p syntax.Pattern, t Type, b *binder) Pattern {
	at := p.Place()
	wild := &Wild{base{t, at}}
	switch p := p.(type) {
	case *syntax.WildPattern:
		return wild
	case *syntax.BindPattern:
		if p.Sub == nil && in.parameter(p.Name.Text) {
			in.report(&syntax.Diagnostic{Span: at, What: "this would bind a variable of the name of a constant parameter", Got: p.Name.Text, Next: "compare it: if x == " + p.Name.Text})
			return wild
		}
		if i := in.module.items[p.Name.Text]; i != nil && p.Sub == nil {
			if _, ok := i.syntax.(*syntax.Const); ok {
				if in.lookupVar(p.Name.Text) != nil {
					in.report(&syntax.Diagnostic{Span: at, What: "a variable hides the constant of this name", Got: p.Name.Text, Next: "give one of them another name"})
					return wild
				}
				return in.constPattern(i, p.Name.Span, t)
			}
		}
		if n, ok := Resolve(t).(*Named); ok && n.Data.Enum && p.Sub == nil && slices.ContainsFunc(n.Data.Variants, func(v Variant) bool { return v.Name == p.Name.Text }) {
			in.report(&syntax.Diagnostic{Span: at, What: "this would bind a variable of the name of a variant", Got: p.Name.Text, Next: "write " + n.Data.Name + "::" + p.Name.Text})
			return wild
		}
		return in.bind(p, t, b)
	case *syntax.LitPattern:
		l := in.expr(p.Value, t)
		if !in.expectType(at, t, l.Type()) {
			return wild
		}
		return asPattern(l)
	case *syntax.TuplePattern:
		tuple := &Tuple{}
		if have, ok := Resolve(t).(*Tuple); ok && len(have.Elems) == len(p.Elems) {
			tuple = have
		} else {
			for _, e := range p.Elems {
				tuple.Elems = append(tuple.Elems, in.fresh(e.Place()))
			}
			if !in.expectType(at, t, tuple) {
				t = Bad
			}
		}
		out := &ProductPattern{base: base{t, at}}
		for i, e := range p.Elems {
			out.Elems = append(out.Elems, in.bindPattern(e, tuple.Elems[i], b))
		}
		return or(t == Bad, wild, out)
	case *syntax.ArrayPattern:
		var elem Type = in.fresh(at)
		in.expectType(at, t, &Array{elem, Length(len(p.Elems))})
		out := &ProductPattern{base: base{t, at}}
		for _, e := range p.Elems {
			out.Elems = append(out.Elems, in.bindPattern(e, elem, b))
		}
		return out
	case *syntax.PointerPattern:
		var to Type
		if have, ok := Resolve(t).(*Pointer); ok {
			to = have.To
		} else {
			to = in.fresh(at)
			in.expectType(at, t, &Pointer{to})
		}
		return &PointerPattern{base{t, at}, in.bindPattern(p.To, to, b)}
	case *syntax.PathPattern:
		return in.pathPattern(p, t, b)
	case *syntax.StructPattern:
		return in.structPattern(p, t, b)
	case *syntax.OrPattern:
		out := &OrPattern{base: base{t, at}}
		var first *binder
		for _, a := range p.Alts {
			alt := &binder{known: b.known}
			if first != nil {
				alt.known = slices.Concat(first.vars, b.known)
			}
			out.Alts = append(out.Alts, in.bindPattern(a, t, alt))
			if first == nil {
				first = alt
				continue
			}
			for _, l := range first.vars {
				if find(alt.vars, l.Name) == nil {
					in.report(&syntax.Diagnostic{Span: a.Place(), What: "the alternatives bind different variables", Expected: l.Name})
				}
			}
			for _, l := range alt.vars {
				if find(first.vars, l.Name) == nil {
					in.report(&syntax.Diagnostic{Span: l.Span, What: "the alternatives bind different variables", Got: l.Name})
				}
			}
		}
		for _, l := range first.vars {
			in.add(l, b)
		}
		return out
	}
	return wild
}

func or(bad bool, a, b Pattern) Pattern {
	if bad {
		return a
	}
	return b
}

// bind makes a variable of a pattern, or takes that of the first alternative.
func (in *inference) bind(p *syntax.BindPattern, t Type, b *binder) Pattern {
	l := find(b.known, p.Name.Text)
	if l != nil {
		in.expectType(p.Name.Span, l.Type, t)
		in.ref(Ref{Span: p.Name.Span, Def: l.Span, What: "let", Type: l.Type})
	} else {
		l = &Local{Name: p.Name.Text, Type: t, Span: p.Name.Span}
	}
	in.add(l, b)
	out := &Bind{base: base{t, p.Span}, Local: l}
	if p.Sub != nil {
		out.Sub = in.bindPattern(p.Sub, t, b)
	}
	return out
}

func (in *inference) add(l *Local, b *binder) {
	if find(b.vars, l.Name) != nil {
		in.report(&syntax.Diagnostic{Span: l.Span, What: "the pattern binds the variable twice", Got: l.Name})
		return
	}
	if len(b.vars) == maxMembers {
		in.report(&syntax.Diagnostic{Span: l.Span, Class: formats.Limit, What: "the pattern binds too many variables", Expected: fmt.Sprintf("at most %d", maxMembers)})
		return
	}
	b.vars = append(b.vars, l)
}

// parameter reports whether a name is that of a constant parameter.
func (in *inference) parameter(name string) bool {
	return in.generics != nil && in.generics.at[name] != nil && in.generics.at[name].Const
}

func (in *inference) constPattern(i *item, at syntax.Span, t Type) Pattern {
	in.refItem(at, i)
	in.resolve(i)
	if i.konst == nil || i.konst.Value == nil || !in.spend(i.konst.Type, 16, at) || !in.expectType(at, t, i.konst.Type) {
		return &Wild{base{t, at}}
	}
	return asPattern(placed(i.konst.Value, at))
}

// asPattern is a constant's value as a pattern.
func asPattern(x Expr) Pattern {
	b := base{x.Type(), x.Place()}
	switch x := x.(type) {
	case *Lit:
		b.typ = x.typ
		return &LitPattern{b, x.Value}
	case *Product:
		p := &ProductPattern{base: b}
		for _, e := range x.Elems {
			p.Elems = append(p.Elems, asPattern(e))
		}
		return p
	case *Make:
		p := &MakePattern{base: b, Variant: x.Variant}
		for _, e := range x.Args {
			p.Args = append(p.Args, asPattern(e))
		}
		return p
	}
	return &Wild{b}
}

func (in *inference) pathPattern(p *syntax.PathPattern, t Type, b *binder) Pattern {
	wild := &Wild{base{t, p.Span}}
	skip := func() Pattern {
		for _, a := range p.Args {
			in.bindPattern(a, Bad, b)
		}
		return wild
	}
	i, used := in.lookup(in.module, p.Path.Parts)
	if used == -1 {
		in.unknown(in.module, p.Path.Parts[0], "enum or constant", none)
	}
	if i == nil {
		return skip()
	}
	in.refItem(p.Path.Parts[used-1].Span, i)
	rest := p.Path.Parts[used:]
	switch s := i.syntax.(type) {
	case *syntax.Const:
		if len(rest) == 0 && !p.Call && p.Path.Args == nil {
			return in.constPattern(i, p.Span, t)
		}
	case *syntax.Enum:
		if len(rest) != 1 {
			break
		}
		d := in.dataOf(i, &s.Decl)
		in.resolve(i)
		n, ok := Resolve(t).(*Named)
		if !ok || n.Data != d || p.Path.Args != nil {
			n = &Named{d, in.instantiate(d.Params, &p.Path, p.Span)}
			if !in.expectType(p.Span, t, n) {
				return skip()
			}
		}
		v := in.variantOf(d, rest[0])
		if v < 0 {
			return skip()
		}
		fields := n.Fields(v)
		if len(fields) != len(p.Args) || p.Call && len(fields) == 0 {
			in.payload(d, v, len(p.Args), p.Call, p.Span)
			return skip()
		}
		out := &MakePattern{base: base{t, p.Span}, Variant: v}
		for k, a := range p.Args {
			out.Args = append(out.Args, in.bindPattern(a, fields[k], b))
		}
		return out
	}
	in.report(&syntax.Diagnostic{Span: p.Path.Span, What: "this is no pattern", Got: p.Path.Span.Text(), Next: "a pattern names a variant of an enum, or a constant"})
	return skip()
}

func (in *inference) structPattern(p *syntax.StructPattern, t Type, b *binder) Pattern {
	wild := &Wild{base{t, p.Span}}
	n := in.structType(&p.Path, p.Span)
	if n == nil || !in.expectType(p.Span, t, n) {
		return wild
	}
	types := n.Fields(0)
	out := &MakePattern{base: base{t, p.Span}, Args: make([]Pattern, len(types))}
	for _, f := range p.Fields {
		k := in.fieldOf(n, f.Name)
		if k < 0 {
			continue
		}
		if out.Args[k] != nil {
			in.report(&syntax.Diagnostic{Span: f.Name.Span, What: "the field is given twice", Got: f.Name.Text})
		}
		if f.Pattern == nil {
			out.Args[k] = in.bindPattern(syntax.NewBindPattern(f.Name), types[k], b)
		} else {
			out.Args[k] = in.bindPattern(f.Pattern, types[k], b)
		}
	}
	var missing []string
	for k, a := range out.Args {
		if a == nil {
			missing = append(missing, n.Data.Variants[0].Fields[k].Name)
			out.Args[k] = &Wild{base{types[k], p.Span}}
		}
	}
	if missing != nil && !p.Rest {
		in.report(&syntax.Diagnostic{Span: p.Path.Span, What: "fields are missing", Got: "no " + strings.Join(missing, ", "), Next: "end the pattern with .. to leave them out"})
	}
	return out
}

// variables lists the variables of a pattern, each once.
func variables(p Pattern, out []*Local) []*Local {
	switch p := p.(type) {
	case *Bind:
		if !slices.Contains(out, p.Local) {
			out = append(out, p.Local)
		}
		if p.Sub != nil {
			out = variables(p.Sub, out)
		}
	case *ProductPattern:
		for _, e := range p.Elems {
			out = variables(e, out)
		}
	case *MakePattern:
		for _, e := range p.Args {
			out = variables(e, out)
		}
	case *PointerPattern:
		return variables(p.To, out)
	case *OrPattern:
		return variables(p.Alts[0], out)
	}
	return out
}

// Variables lists the variables that a pattern binds, each once.
func Variables(p Pattern) []*Local { return variables(p, nil) }

// matchBudget bounds the work of checking one match, which can grow exponentially: the patterns and types that are copied.
const matchBudget = 1 << 22

// exhaustive checks that a match has an arm for every value and that every arm is reached, by the usefulness of patterns
// (Maranget, Warnings for pattern matching, JFP 17(3), 2007).
func (in *inference) exhaustive(x *Match) {
	if in.broken {
		return
	}
	m := &matrix{budget: matchBudget}
	var rows [][]*cell
	for _, a := range x.Arms {
		if m.over() {
			break
		}
		row := []*cell{m.cell(a.Pattern)}
		if !m.useful(rows, row, []Type{x.X.Type()}) && !m.over() {
			in.report(&syntax.Diagnostic{Span: a.Pattern.Place(), What: "the arm is never reached", Next: "an earlier arm fits the same values: remove this one or move it up"})
		}
		rows = append(rows, row)
	}
	w := m.missing(rows, []Type{x.X.Type()})
	switch {
	case m.over():
		in.report(&syntax.Diagnostic{Span: x.span, Class: formats.Limit, What: "the match has too many cases to check", Next: "match on one part after the other"})
	case w != nil:
		in.report(&syntax.Diagnostic{Span: x.X.Place(), What: "the match does not cover every value", Got: "no arm for " + w[0], Next: "add an arm for it, or _ => …"})
	}
}

// cell is a pattern without variables: anything, a constructor with parts, or alternatives.
type cell struct {
	con  *uint64 // nil for anything: the number of a constructor or a literal's value
	args []*cell
	alts []*cell
}

// matrix checks rows of patterns.
type matrix struct{ budget int }

func (m *matrix) over() bool { return m.budget < 0 }

// spend takes n from the budget, and reports whether it was there.
func (m *matrix) spend(n int) bool {
	m.budget -= n
	return m.budget >= 0
}

var (
	zeroCon  = new(uint64)
	anything cell
)

// cell converts a pattern.
func (m *matrix) cell(p Pattern) *cell {
	switch p := p.(type) {
	case *Bind:
		if p.Sub != nil {
			return m.cell(p.Sub)
		}
	case *LitPattern:
		return &cell{con: &p.Value}
	case *ProductPattern:
		return &cell{con: zeroCon, args: m.cells(p.Elems)}
	case *MakePattern:
		v := uint64(p.Variant)
		return &cell{con: &v, args: m.cells(p.Args)}
	case *PointerPattern:
		return &cell{con: zeroCon, args: []*cell{m.cell(p.To)}}
	case *OrPattern:
		return &cell{alts: m.cells(p.Alts)}
	}
	return &anything
}

func (m *matrix) cells(list []Pattern) []*cell {
	m.spend(len(list))
	out := make([]*cell, len(list))
	for i, p := range list {
		out[i] = m.cell(p)
	}
	return out
}

// expand replaces rows that begin with alternatives by a row for each.
func (m *matrix) expand(rows [][]*cell) [][]*cell {
	if !slices.ContainsFunc(rows, func(r []*cell) bool { return r[0].alts != nil }) {
		return rows
	}
	var out [][]*cell
	for _, r := range rows {
		if out = m.expandRow(out, r); m.over() {
			break
		}
	}
	return out
}

func (m *matrix) expandRow(out [][]*cell, r []*cell) [][]*cell {
	if r[0].alts == nil {
		return append(out, r)
	}
	for _, a := range r[0].alts {
		if !m.spend(len(r)) {
			break
		}
		out = m.expandRow(out, append([]*cell{a}, r[1:]...))
	}
	return out
}

// specialize keeps the rows that fit a constructor, with its parts in the place of the first pattern.
func (m *matrix) specialize(rows [][]*cell, con uint64, parts int) (out [][]*cell) {
	for _, r := range rows {
		fits := r[0].con == nil || *r[0].con == con
		if fits && !m.spend(parts+len(r)) || !m.spend(1) {
			return out
		}
		switch {
		case r[0].con == nil:
			row := make([]*cell, parts, parts+len(r)-1)
			for i := range row {
				row[i] = &anything
			}
			out = append(out, append(row, r[1:]...))
		case fits:
			out = append(out, append(slices.Clone(r[0].args), r[1:]...))
		}
	}
	return out
}

// rest keeps the rows that begin with anything, without it.
func (m *matrix) rest(rows [][]*cell) (out [][]*cell) {
	for _, r := range rows {
		if !m.spend(1) {
			return out
		}
		if r[0].con == nil {
			out = append(out, r[1:])
		}
	}
	return out
}

// heads are the constructors that rows begin with, in order.
func heads(rows [][]*cell) []uint64 {
	seen := map[uint64]bool{}
	for _, r := range rows {
		if r[0].con != nil {
			seen[*r[0].con] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// useful reports whether some value of the types fits row but no row of rows.
func (m *matrix) useful(rows [][]*cell, row []*cell, types []Type) bool {
	if !m.spend(1 + len(rows)) {
		return false
	}
	if len(row) == 0 {
		return len(rows) == 0
	}
	rows = m.expand(rows)
	if row[0].alts != nil {
		return slices.ContainsFunc(row[0].alts, func(a *cell) bool { return m.spend(len(row)) && m.useful(rows, append([]*cell{a}, row[1:]...), types) })
	}
	t := Resolve(types[0])
	under := func(con uint64) bool {
		fields := fieldsOf(t, con)
		rest := m.specialize([][]*cell{row}, con, len(fields))
		if !m.spend(len(fields) + len(types)) {
			return false
		}
		return m.useful(m.specialize(rows, con, len(fields)), rest[0], append(slices.Clone(fields), types[1:]...))
	}
	if row[0].con != nil {
		return under(*row[0].con)
	}
	if seen := heads(rows); len(seen) > 0 && uint64(len(seen)) == constructors(t) {
		return slices.ContainsFunc(seen, under)
	}
	return m.useful(m.rest(rows), row[1:], types[1:])
}

// missing gives patterns of values of the types that fit no row, or nil if there are none.
func (m *matrix) missing(rows [][]*cell, types []Type) []string {
	if !m.spend(1 + len(rows)) {
		return nil
	}
	if len(types) == 0 {
		if len(rows) == 0 {
			return []string{}
		}
		return nil
	}
	rows = m.expand(rows)
	t := Resolve(types[0])
	seen := heads(rows)
	if len(seen) > 0 && uint64(len(seen)) == constructors(t) {
		for _, c := range seen {
			fields := fieldsOf(t, c)
			if !m.spend(len(fields) + len(types)) {
				return nil
			}
			if w := m.missing(m.specialize(rows, c, len(fields)), append(slices.Clone(fields), types[1:]...)); w != nil {
				return append([]string{show(t, c, w[:len(fields)])}, w[len(fields):]...)
			}
		}
		return nil
	}
	w := m.missing(m.rest(rows), types[1:])
	if w == nil {
		return nil
	}
	first := "_"
	if len(seen) > 0 {
		c := uint64(0)
		for slices.Contains(seen, c) {
			c++
		}
		holes := make([]string, len(fieldsOf(t, c)))
		for i := range holes {
			holes[i] = "_"
		}
		first = show(t, c, holes)
	}
	m.spend(len(w))
	return append([]string{first}, w...)
}

// constructors is the number of constructors of a type; 0 stands for more than a match can list.
func constructors(t Type) uint64 {
	switch t := t.(type) {
	case Prim:
		switch t {
		case Bool:
			return 2
		case U8:
			return 256
		}
		return 0
	case *Named:
		return uint64(len(t.Data.Variants))
	case *Tuple, *Array, *Pointer:
		return 1
	}
	return 0
}

// fieldsOf are the types of a constructor's parts.
func fieldsOf(t Type, con uint64) []Type {
	switch t := t.(type) {
	case *Tuple:
		return t.Elems
	case *Array:
		n, _ := Resolve(t.Len).(Length)
		out := make([]Type, n)
		for i := range out {
			out[i] = t.Elem
		}
		return out
	case *Pointer:
		return []Type{t.To}
	case *Named:
		return t.Fields(int(con))
	}
	return nil
}

// show is a constructor as a pattern.
func show(t Type, con uint64, parts []string) string {
	list := strings.Join(parts, ", ")
	switch t := t.(type) {
	case Prim:
		return (&Lit{base{t, syntax.Span{}}, con}).text()
	case *Tuple:
		return "(" + list + ")"
	case *Array:
		return "[" + list + "]"
	case *Pointer:
		return "&" + list
	case *Named:
		v := &t.Data.Variants[con]
		if t.Data.Enum {
			if len(parts) == 0 {
				return t.Data.Name + "::" + v.Name
			}
			return fmt.Sprintf("%s::%s(%s)", t.Data.Name, v.Name, list)
		}
		var fields []string
		for i, f := range v.Fields {
			fields = append(fields, f.Name+": "+parts[i])
		}
		return fmt.Sprintf("%s { %s }", t.Data.Name, strings.Join(fields, ", "))
	}
	return "_"
}
