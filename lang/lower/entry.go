package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/lang/types"
)

// Entry is what claims can be made of, in the program's types. Its number is that of the bytecode's entry.
type Entry struct {
	Name    string
	Args    []EntryArg // public ones, in order
	Private []EntryArg // in order; each has an input of the bytecode
	Result  types.Type
	Span    syntax.Span
	Doc     string
}

// EntryArg is an argument of an entry. Input is the number of the bytecode's input of a private one.
type EntryArg struct {
	Name  string
	Type  types.Type
	Input int
}

// entries makes the entries: for each a function that checks its public arguments, reads the private ones and calls the program's function; or that function itself where there is nothing to check
// or read.
func (p *program) entries() (out []Entry) {
	names := map[string]int{}
	for _, fn := range p.checked.Entries {
		for _, a := range fn.Args {
			if a.Private {
				names[a.Local.Name]++
			}
		}
	}
	for _, fn := range p.checked.Entries {
		e := Entry{Name: fn.Name, Result: fn.Result, Span: fn.Span, Doc: fn.Doc}
		be := bytecode.Entry{Name: fn.Name}
		direct := true
		for _, a := range fn.Args {
			if a.Private {
				direct = false
				name := a.Local.Name
				if names[name] > 1 {
					name = fn.Name + "." + name
				}
				e.Private = append(e.Private, EntryArg{a.Local.Name, a.Local.Type, len(p.out.Inputs)})
				p.out.Inputs = append(p.out.Inputs, bytecode.Input{Name: shorten(name), Bits: p.inputBits(a.Local.Type)})
				continue
			}
			e.Args = append(e.Args, EntryArg{Name: a.Local.Name, Type: a.Local.Type})
			be.Args = p.claimValues(a.Local.Name, a.Local.Type, be.Args)
			direct = direct && !p.needsCheck(a.Local.Type)
		}
		be.Results = p.claimValues("result", fn.Result, nil)
		distinct(be.Args)
		distinct(be.Results)
		if len(be.Args)+len(be.Results) == 0 {
			p.report(&syntax.Diagnostic{Span: fn.Span, What: "the entry states nothing: it has no public arguments and no result", Got: fn.Signature(), Next: "return what is to be known, such as a digest or a bool"})
			continue
		}
		if len(be.Args) > formats.MaxValues || len(be.Results) > formats.MaxValues || len(p.out.Inputs) > bytecode.MaxInputs || p.wordsOfArgs(e.Args) > bytecode.MaxParams || p.words(fn.Result) > bytecode.MaxParams {
			p.report(&syntax.Diagnostic{
				Span: fn.Span, Class: formats.Limit, What: "the entry has too many public values or private arguments", Expected: fmt.Sprintf("at most %d values", formats.MaxValues),
				Next: "make large arguments private, and let a public one hold their digest",
			})
			continue
		}
		i := p.instance(fn, nil, fn.Span)
		if i == nil {
			continue
		}
		if direct {
			be.Function = p.indexOf(i)
		} else {
			be.Function = p.wrapper(i, &e)
		}
		p.out.Entries = append(p.out.Entries, be)
		out = append(out, e)
	}
	return out
}

func (p *program) wordsOfArgs(list []EntryArg) int {
	n := 0
	for _, a := range list {
		n = min(n+p.words(a.Type), MaxWords)
	}
	return n
}

// shorten cuts a name to what the formats allow.
func shorten(s string) string {
	if len(s) > formats.MaxNameBytes {
		return s[:formats.MaxNameBytes-1] + "~"
	}
	return s
}

// distinct gives values a name each: those of long names may have become the same, and a claim that is shown by names would lack one.
func distinct(list []formats.Value) {
	seen := map[string]bool{}
	for i := range list {
		if v := &list[i]; seen[v.Name] {
			end := fmt.Sprintf("~%d", i) // no other name ends so
			v.Name = v.Name[:min(len(v.Name), formats.MaxNameBytes-len(end))] + end
		}
		seen[list[i].Name] = true
	}
}

// needsCheck reports whether a claim's types say less of a value than its own type.
func (p *program) needsCheck(t types.Type) bool {
	switch t := types.Resolve(t).(type) {
	case types.Prim:
		return t == types.Bool
	case *types.Named:
		return tagWords(t) == 1 || slices.ContainsFunc(t.Fields(0), p.needsCheck)
	case *types.Array:
		return p.needsCheck(t.Elem)
	}
	return slices.ContainsFunc(p.partsOf(t), p.needsCheck)
}

// claimValues lists the values of a claim that make up a value of a type.
func (p *program) claimValues(name string, t types.Type, out []formats.Value) []formats.Value {
	if len(out) > formats.MaxValues {
		return out
	}
	add := func(v formats.ValueType) []formats.Value {
		return append(out, formats.Value{Name: shorten(name), Type: v})
	}
	if types.IsDigest(t) {
		return add(formats.TypeBytes32)
	}
	switch t := types.Resolve(t).(type) {
	case types.Prim:
		return add([...]formats.ValueType{types.Field: formats.TypeField, types.Bool: formats.TypeU8, types.U8: formats.TypeU8, types.U32: formats.TypeU32, types.U64: formats.TypeU64}[t])
	case *types.Named:
		if tagWords(t) == 1 {
			out = append(out, formats.Value{Name: shorten(name), Type: formats.TypeU32})
			for i := range p.words(t) - 1 {
				if len(out) <= formats.MaxValues {
					out = append(out, formats.Value{Name: shorten(fmt.Sprintf("%s.%d", name, i)), Type: formats.TypeField})
				}
			}
			return out
		}
		for i, part := range t.Fields(0) {
			field := t.Data.Variants[0].Fields[i].Name
			if field == "" {
				field = fmt.Sprint(i)
			}
			out = p.claimValues(name+"."+field, part, out)
		}
		return out
	default:
		for i, part := range p.partsOf(t) {
			out = p.claimValues(fmt.Sprintf("%s.%d", name, i), part, out)
			if len(out) > formats.MaxValues {
				break
			}
		}
		return out
	}
}

// wrapper makes the function of an entry.
func (p *program) wrapper(i *instance, e *Entry) uint32 {
	params, results := p.wordsOfArgs(e.Args), p.words(i.fn.Result)
	index := p.add(bytecode.Function{Name: e.Name, Params: params, Results: results, Site: p.site(i.fn.Span, "")})
	p.fn = i
	b, words := p.newBuilder(params)
	var args []word
	private := e.Private
	for _, a := range i.fn.Args {
		t := a.Local.Type
		if a.Private {
			site := b.site(a.Local.Span, "private argument "+a.Local.Name+" is no "+t.String())
			read, _ := b.read(t, private[0].Input, zero, site)
			private = private[1:]
			args = append(args, read...)
			continue
		}
		n := p.words(t)
		if p.needsCheck(t) {
			b.valid(t, words[:n], b.site(a.Local.Span, "argument "+a.Local.Name+" is no "+t.String()))
		}
		args = append(args, words[:n]...)
		words = words[n:]
	}
	if b.weights.recursive[i.fn] || len(args) > 64 && i.fn.Inline != types.InlineAlways && len(args) <= bytecode.MaxParams || i.fn.Inline == types.InlineNever {
		b.finish(b.emit(bytecode.Op{Code: bytecode.OpCall, A: uint64(p.indexOf(i)), Site: p.site(i.fn.Span, "")}, args, results))
	} else {
		b.inlined = []*instance{i}
		b.tail(b.enter(i, args), i.fn.Body)
	}
	b.done(index)
	return index
}

// inputBits is the smallest size of an input's elements that holds all words of a type.
func (p *program) inputBits(t types.Type) uint8 {
	most := 8
	seen := map[string]bool{}
	var visit func(t types.Type)
	visit = func(t types.Type) {
		if !p.meter.Fits(t) { // a type that points to ever larger ones: its reader reports it
			return
		}
		switch t := types.Resolve(t).(type) {
		case types.Prim:
			if t == types.U64 {
				most = max(most, 32)
			} else {
				most = max(most, bitsOf(t))
			}
		case *types.Pointer:
			visit(t.To)
		case *types.Array:
			visit(t.Elem)
		case *types.Named:
			if k := typeKey(t); !seen[k] {
				seen[k] = true
				if len(t.Data.Variants) > 256 {
					most = max(most, 32)
				}
				for v := range t.Data.Variants {
					for _, f := range t.Fields(v) {
						visit(f)
					}
				}
			}
		default:
			for _, part := range p.partsOf(t) {
				visit(part)
			}
		}
	}
	visit(t)
	switch {
	case most <= 8:
		return 8
	case most <= 32:
		return 32
	}
	return 64
}

// reader is a function that reads a value of a type from an input: it takes the place of the value's first element and gives the value's words and the place behind it. What a pointer points to is
// read by a reader of its own, so that a list takes a call for each of its nodes.
type reader struct {
	typ   types.Type
	input int
	index uint32
	site  uint32
	entry *instance
}

// read reads a value of a type from an input, at a place. Elements are hints; each is made a value of its type. In the input, a value is its parts in order: an enum is the number of its variant,
// unless there is only one, and the variant's fields; what a pointer points to stands in its place.
func (b *builder) read(t types.Type, input int, at word, site uint32) (words []word, next word) {
	element := func() word {
		w := b.emit(bytecode.Op{Code: bytecode.OpInput, A: uint64(input), Site: site}, []word{at}, 1)[0]
		at = b.add(at, one)
		return w
	}
	var list []types.Type
	switch t := types.Resolve(t).(type) {
	case types.Prim:
		for range b.words(t) {
			words = append(words, element())
		}
		b.valid(t, words, site)
		return words, at
	case *types.Pointer:
		r := b.readerOf(t.To, input, site)
		n := b.words(t.To)
		out := b.emit(bytecode.Op{Code: bytecode.OpCall, A: uint64(r), Site: site}, []word{at}, n+1)
		return []word{b.store(out[:n])}, out[n]
	case *types.Named:
		if tagWords(t) == 1 {
			tag := element()
			n := b.words(t) - 1
			first := at
			out := b.variants(t, tag, site, func(v int) []word {
				at := first
				var payload []word
				for _, f := range t.Fields(v) {
					var part []word
					part, at = b.read(f, input, at, site)
					payload = append(payload, part...)
				}
				for len(payload) < n {
					payload = append(payload, zero)
				}
				return append(payload, at)
			}, n+1)
			return append([]word{tag}, out[:n]...), out[n]
		}
		list = t.Fields(0)
	default:
		list = b.partsOf(t)
	}
	for _, part := range list {
		var w []word
		w, at = b.read(part, input, at, site)
		words = append(words, w...)
		if b.dead {
			return make([]word, b.words(t)), at
		}
	}
	return words, at
}

// readerOf finds or makes a reader.
func (p *program) readerOf(t types.Type, input int, site uint32) uint32 {
	if !p.meter.Fits(t) || len(p.readers) >= maxInstances {
		p.report(&syntax.Diagnostic{Span: p.fn.place(), Class: formats.Limit, What: "a private argument points to values of ever larger types, or of too many", Got: t.String(), Next: "let the type point to itself with the same type arguments"})
		return 0
	}
	name := "read " + p.out.Inputs[input].Name + " " + strings.ToValidUTF8(t.String(), "?")
	key := fmt.Sprintf("%d|%s", input, typeKey(t))
	if r, ok := p.readers[key]; ok {
		return r.index
	}
	r := &reader{t, input, p.add(bytecode.Function{Name: shorten(name), Params: 1, Results: p.words(t) + 1, Site: site}), site, p.fn}
	p.readers[key] = r
	p.reads = append(p.reads, r)
	return r.index
}

// reader makes the body of a reader.
func (p *program) reader(r *reader) {
	n := p.words(r.typ) + 1
	if n > bytecode.MaxParams {
		p.report(&syntax.Diagnostic{Span: r.entry.place(), Class: formats.Limit, What: "a private argument points to values too large", Expected: fmt.Sprintf("at most %d words", bytecode.MaxParams-1), Got: r.typ.String(),
			Next: "keep large data in lists behind pointers"})
		return
	}
	b, params := p.newBuilder(1)
	p.fn = r.entry
	words, next := b.read(r.typ, r.input, params[0], r.site)
	b.finish(append(slices.Clip(words), next))
	b.done(r.index)
}
