package lang

import (
	"slices"
	"strings"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/lang/values"
	"github.com/ixprove/ixprove/verifier/field"
)

// Call is a call of an entry.
type Call struct {
	Entry int
	Args  []values.Value // of the public arguments
	Words []field.Element
}

// ParseCall reads a call such as fib(90): an entry and constant expressions for its public arguments, which may use what the root file declares. The error is a syntax.Errors.
func (p *Program) ParseCall(text string) (*Call, error) {
	file := syntax.NewFile("call", text)
	x, errs := syntax.ParseExpr(file)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	one := func(d *syntax.Diagnostic) error {
		d.Class = formats.Invalid
		return syntax.Errors{d}
	}
	var names []string
	for i := range p.Entries {
		names = append(names, p.Entries[i].Name)
	}
	call, ok := x.(*syntax.CallExpr)
	if !ok || len(call.Path.Parts) != 1 {
		return nil, one(&syntax.Diagnostic{Span: x.Place(), What: "this is no call of an entry", Expected: "such as " + names[0] + "(…)"})
	}
	name := call.Path.Parts[0]
	c := &Call{Entry: slices.Index(names, name.Text)}
	if c.Entry < 0 {
		return nil, one(&syntax.Diagnostic{Span: name.Span, What: "there is no such entry", Expected: "one of " + strings.Join(names, ", "), Got: name.Text})
	}
	e := &p.Entries[c.Entry]
	if len(call.Args) != len(e.Args) {
		var want []string
		for _, a := range e.Args {
			want = append(want, a.Name+": "+a.Type.String())
		}
		return nil, one(&syntax.Diagnostic{Span: call.Span, What: "the entry takes other public arguments", Expected: name.Text + "(" + strings.Join(want, ", ") + ")", Got: text})
	}
	for i, a := range call.Args {
		v, errs := p.Checked.Evaluate(a, e.Args[i].Type)
		if err := errs.Err(); err != nil {
			return nil, err
		}
		c.Args = append(c.Args, values.FromExpr(v))
		c.Words = values.Words(e.Args[i].Type, c.Args[i], c.Words)
	}
	return c, nil
}

// Inputs places the elements of an entry's private arguments, as values.Witness gives them, among the inputs of the bytecode.
func (p *Program) Inputs(entry int, private [][]field.Element) [][]field.Element {
	out := make([][]field.Element, len(p.Bytecode.Inputs))
	for i, a := range p.Entries[entry].Private {
		out[a.Input] = private[i]
	}
	return out
}

// Result is the value of the words that a call of an entry returned.
func (p *Program) Result(entry int, words []field.Element) values.Value {
	v, _ := values.FromWords(p.Entries[entry].Result, words)
	return v
}
