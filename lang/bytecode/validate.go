package bytecode

import (
	"strconv"
	"unicode/utf8"

	"github.com/ixprove/ixprove/formats"
)

// Validate checks that the program is one: every number refers to something that exists, arities and types agree, and nothing exceeds the limits. The error is a *formats.Error of class Invalid, or
// Limit, that names the function and the operation. It never panics, whatever the program.
func (p *Program) Validate() error {
	v := validator{p: p}
	v.program()
	if v.err != nil {
		return v.err
	}
	return nil
}

// validator keeps the first mistake; after it nothing is looked at.
type validator struct {
	p     *Program
	f     *Function
	index int // of f
	ops   int // and blocks, of the program so far
	path  []step
	err   *formats.Error
}

// step is one step of the way into a function's body. Ways are made into text only by a failure.
type step struct {
	name  string
	index int // -1 for none
}

func (v *validator) enter(name string, index int) { v.path = append(v.path, step{name, index}) }

func (v *validator) leave() { v.path = v.path[:len(v.path)-1] }

func (v *validator) fail(class formats.Class, place, what, expected, got string) {
	if v.err != nil {
		return
	}
	if v.f != nil {
		at := "function " + strconv.Itoa(v.index) + " " + formats.Quote(v.f.Name)
		for _, s := range v.path {
			at += ", " + s.name
			if s.index >= 0 {
				at += " " + strconv.Itoa(s.index)
			}
		}
		if place != "" {
			at += ", " + place
		}
		place = at
	}
	v.err = &formats.Error{Class: class, Place: place, What: what, Expected: expected, Got: got, Next: "report this with the source: a compiler should not make it"}
}

func (v *validator) invalid(place, what, expected, got string) {
	v.fail(formats.Invalid, place, what, expected, got)
}

// within demands least <= n <= most.
func (v *validator) within(place, what string, n, least, most uint64) bool {
	if v.err == nil && (n < least || n > most) {
		v.fail(formats.Limit, place, what, number(least)+" to "+number(most), number(n))
	}
	return v.err == nil
}

// below demands n < end.
func (v *validator) below(place, what string, n, end uint64) bool {
	if v.err == nil && n >= end {
		v.invalid(place, what, "less than "+number(end), number(n))
	}
	return v.err == nil
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

func (v *validator) name(place, s string) {
	ok := len(s) >= 1 && len(s) <= formats.MaxNameBytes
	for i := range len(s) {
		ok = ok && s[i] >= ' ' && s[i] <= '~'
	}
	if !ok {
		v.invalid(place, "a name is not printable ASCII of the right length", "1 to "+strconv.Itoa(formats.MaxNameBytes)+" characters", formats.Quote(s))
	}
}

func (v *validator) text(place, s string) {
	if len(s) > MaxText || !utf8.ValidString(s) {
		v.invalid(place, "a text is too long or not UTF-8", "at most "+strconv.Itoa(MaxText)+" bytes", strconv.Itoa(len(s))+" bytes")
	}
}

func (v *validator) program() {
	p := v.p
	v.name("name", p.Name)
	v.within("functions", "the number of functions is out of range", uint64(len(p.Functions)), 1, MaxFunctions)
	v.within("entries", "the number of entries is out of range", uint64(len(p.Entries)), 1, formats.MaxEntries)
	v.within("inputs", "the number of inputs is out of range", uint64(len(p.Inputs)), 0, MaxInputs)
	v.debug()
	v.entries()
	v.inputs()
	for i := range p.Functions {
		if v.err != nil {
			return
		}
		v.f, v.index = &p.Functions[i], i
		v.function()
	}
}

func (v *validator) debug() {
	d := &v.p.Debug
	v.within("debug", "there are too many sites, files or notes", uint64(max(len(d.Sites), len(d.Files), len(d.Notes))), 0, MaxDebug)
	for i, s := range d.Files {
		v.text("debug, file "+strconv.Itoa(i), s)
	}
	for i, s := range d.Notes {
		v.text("debug, note "+strconv.Itoa(i), s)
	}
	for i, s := range d.Sites {
		if v.err != nil {
			return
		}
		if int(s.File) >= len(d.Files) || int(s.Note) > len(d.Notes) || s.Line == 0 || s.Column == 0 {
			v.invalid("debug, site "+strconv.Itoa(i), "a site refers to a file or note that does not exist, or has no line", "", "")
		}
	}
}

func (v *validator) entries() {
	names, functions := map[string]bool{}, map[uint32]bool{}
	for i := range v.p.Entries {
		e, place := &v.p.Entries[i], "entry "+strconv.Itoa(i)
		v.name(place, e.Name)
		if !v.below(place, "the function does not exist", uint64(e.Function), uint64(len(v.p.Functions))) {
			return
		}
		if names[e.Name] || functions[e.Function] {
			v.invalid(place, "two entries have one name or one function", "distinct ones", formats.Quote(e.Name))
		}
		names[e.Name], functions[e.Function] = true, true
		f := &v.p.Functions[e.Function]
		v.values(place+", arguments", e.Args, f.Params)
		v.values(place+", results", e.Results, f.Results)
		if len(e.Args)+len(e.Results) == 0 {
			v.invalid(place, "the entry states nothing", "arguments or results", "none")
		}
	}
}

// values demands that the types take n elements.
func (v *validator) values(place string, types []formats.Value, n int) {
	if !v.within(place, "there are too many values", uint64(len(types)), 0, formats.MaxValues) {
		return
	}
	elements := 0
	for _, t := range types {
		v.name(place, t.Name)
		v.below(place, "the type does not exist", uint64(t.Type), uint64(formats.NumValueTypes))
		elements += t.Type.Elements()
	}
	if elements != n {
		v.invalid(place, "the types take another number of elements than the function has", strconv.Itoa(n), strconv.Itoa(elements))
	}
}

func (v *validator) inputs() {
	names := map[string]bool{}
	for i, in := range v.p.Inputs {
		place := "input " + strconv.Itoa(i)
		v.name(place, in.Name)
		if names[in.Name] {
			v.invalid(place, "two inputs have one name", "distinct ones", formats.Quote(in.Name))
		}
		names[in.Name] = true
		if in.Bits != 8 && in.Bits != 32 && in.Bits != 64 {
			v.invalid(place, "an input's elements have an unknown size", "8, 32 or 64 bits", strconv.Itoa(int(in.Bits)))
		}
	}
}

func (v *validator) function() {
	f := v.f
	v.name("", f.Name)
	v.site(f.Site)
	if f.Params < 0 || f.Params > MaxParams || f.Results < 0 || f.Results > MaxParams {
		v.fail(formats.Limit, "", "there are too many parameters or results", "0 to "+strconv.Itoa(MaxParams), strconv.Itoa(f.Params)+" and "+strconv.Itoa(f.Results))
		return
	}
	v.block(&f.Body, f.Params, 0, -1)
}

func (v *validator) site(site uint32) {
	if int(site) > len(v.p.Debug.Sites) {
		v.invalid("", "the site does not exist", "at most "+strconv.Itoa(len(v.p.Debug.Sites)), number(uint64(site)))
	}
}

// block checks a block that starts with so many values in scope. yields is the number of results of the match that it is part of, -1 for a block that ends the function.
func (v *validator) block(b *Block, values, depth, yields int) {
	v.count()
	for i := range b.Ops {
		if v.err != nil {
			return
		}
		o := &b.Ops[i]
		v.enter("operation", i)
		if !v.op(o, values) {
			return
		}
		if o.Code == OpMatch {
			v.match(o.Match, values, depth, int(o.A))
		} else if o.Match != nil {
			v.invalid("", "an operation that is no match has blocks", "none", o.Code.String())
		}
		if v.err != nil {
			return
		}
		_, results := v.p.Arity(o)
		values += results
		v.within("", "there are too many values", uint64(values), 0, MaxValues)
		v.leave()
	}
	if v.err != nil {
		return
	}
	e := &b.End
	v.enter("end", -1)
	v.site(e.Site)
	v.operands(e.Values, values)
	wrong := func(want int) {
		if v.err == nil && len(e.Values) != want {
			v.invalid("", "a wrong number of values", strconv.Itoa(want), strconv.Itoa(len(e.Values)))
		}
	}
	if (e.Kind == EndMatch) != (e.Match != nil) {
		v.invalid("", "an end is a match, or has one, but not both", "", "")
		return
	}
	switch {
	case e.Kind == EndReturn && yields < 0:
		wrong(v.f.Results)
	case e.Kind == EndYield && yields >= 0:
		wrong(yields)
	case e.Kind == EndMatch && yields < 0:
		wrong(0)
		v.match(e.Match, values, depth, -1)
	case e.Kind == EndFail:
		wrong(0)
	default:
		v.invalid("", "a block cannot end so here", "", number(uint64(e.Kind)))
	}
	v.leave()
}

// count counts an operation or a block, so that neither a large program nor one that contains itself takes long.
func (v *validator) count() {
	v.ops++
	v.within("", "the program is too large", uint64(v.ops), 0, MaxOps)
}

func (v *validator) operands(args []Value, values int) {
	for _, a := range args {
		if !v.below("", "an operand is not in scope", uint64(a), uint64(values)) {
			return
		}
	}
}

func (v *validator) match(m *Match, values, depth, yields int) {
	if m == nil {
		v.invalid("", "a match has no blocks", "", "")
		return
	}
	v.below("", "the matched value is not in scope", uint64(m.Value), uint64(values))
	v.within("", "matches are nested too deeply", uint64(depth+1), 0, MaxDepth)
	if len(m.Cases) == 0 && m.Default == nil {
		v.invalid("", "a match has no blocks", "", "")
	}
	seen := map[uint64]bool{}
	for i := range m.Cases {
		c := &m.Cases[i]
		v.enter("case", i)
		if len(c.Values) == 0 {
			v.invalid("", "a case has no values", "", "")
		}
		for _, x := range c.Values {
			if seen[x] || x >= formats.Modulus {
				v.invalid("", "a value occurs twice or is no canonical element", "", number(x))
			}
			seen[x] = true
		}
		v.within("", "a match has too many values", uint64(len(seen)), 0, MaxCases)
		if v.err != nil {
			return
		}
		v.block(&c.Block, values, depth+1, yields)
		v.leave()
	}
	if m.Default != nil && v.err == nil {
		v.enter("default", -1)
		v.block(m.Default, values, depth+1, yields)
		v.leave()
	}
}

// immediates are the ranges of A and B.
type immediates struct{ leastA, mostA, leastB, mostB uint64 }

var immediateRanges = [NumCodes]immediates{
	OpConst: {mostA: formats.Modulus - 1}, OpRange: {leastA: 1, mostA: 63}, OpSplit: {1, 32, 1, 32}, OpBytes: {leastA: 1, mostA: 7},
	OpCall: {mostA: MaxFunctions, mostB: 1}, OpMatch: {mostA: MaxParams}, OpStore: {leastA: 1, mostA: MaxWidth}, OpLoad: {leastA: 1, mostA: MaxWidth},
	OpInput: {mostA: MaxInputs}, OpInputLength: {mostA: MaxInputs}, OpHintLimbs: {1, 64, 1, 64}, OpHintDivMod: {1, MaxHintLimbs, 1, MaxHintLimbs},
	OpHintModInverse: {leastA: 1, mostA: MaxHintLimbs},
}

// op checks an operation but for its blocks, and reports whether all is well.
func (v *validator) op(o *Op, values int) bool {
	v.count()
	v.site(o.Site)
	if !v.below("", "the code does not exist", uint64(o.Code), uint64(NumCodes)) {
		return false
	}
	place := o.Code.String()
	r := &immediateRanges[o.Code]
	v.within(place, "the immediate A is out of range", o.A, r.leastA, r.mostA)
	v.within(place, "the immediate B is out of range", o.B, r.leastB, r.mostB)
	switch o.Code {
	case OpCall:
		v.below(place, "the function does not exist", o.A, uint64(len(v.p.Functions)))
	case OpInput, OpInputLength:
		v.below(place, "the input does not exist", o.A, uint64(len(v.p.Inputs)))
	case OpHintLimbs:
		v.within(place, "there are more bits than an element has", o.A*o.B, 1, 64)
	}
	if v.err != nil {
		return false
	}
	if args, _ := v.p.Arity(o); len(o.Args) != args {
		v.invalid(place, "a wrong number of operands", strconv.Itoa(args), strconv.Itoa(len(o.Args)))
	}
	v.operands(o.Args, values)
	return v.err == nil
}
