package lsp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/lang/types"
)

func positionOf(f *syntax.File, offset int) position {
	line, units := f.Units(offset)
	return position{line, units}
}

// rangeOf is a span as editors count; the start of the file for a span without one.
func rangeOf(s syntax.Span) span {
	if s.File == nil {
		return span{}
	}
	return span{positionOf(s.File, s.Start), positionOf(s.File, s.End)}
}

// diagnostics are what is wrong in the workspace's programs, by key; a file of several programs has what is wrong in any.
func (w *workspace) diagnostics(relate bool) map[string][]diagnostic {
	out := map[string][]diagnostic{}
	for _, p := range w.programs {
		for _, d := range p.errors {
			k, ok := p.keys[d.Span.File]
			if !ok {
				k = p.root
			}
			one := w.diagnostic(p, d, relate)
			same := func(o diagnostic) bool { return o.Range == one.Range && o.Message == one.Message }
			if !slices.ContainsFunc(out[k], same) {
				out[k] = append(out[k], one)
			}
		}
	}
	return out
}

func (w *workspace) diagnostic(p *program, d *syntax.Diagnostic, relate bool) diagnostic {
	var text strings.Builder
	e := d.Err()
	text.WriteString(e.What)
	for _, line := range []struct{ label, text string }{{"expected", e.Expected}, {"got", e.Got}, {"next", e.Next}} {
		if line.text != "" {
			fmt.Fprintf(&text, "\n%s: %s", line.label, line.text)
		}
	}
	out := diagnostic{Range: rangeOf(d.Span), Severity: severityError, Code: d.Class.String(), Source: "ixprove"}
	for _, r := range d.Related {
		if k, ok := p.keys[r.Span.File]; ok && relate {
			out.Related = append(out.Related, related{location{w.uri(k), rangeOf(r.Span)}, r.What})
		} else {
			fmt.Fprintf(&text, "\n%s: %s", r.Span, r.What)
		}
	}
	out.Message = text.String()
	return out
}

// at finds what the names at a position stand for: of the shortest name there. A name that is a field and a variable at once has two answers.
func (p *program) at(m *types.Module, where position) (refs []types.Ref) {
	offset := m.File.Offset(where.Line, where.Character)
	for _, r := range p.checked.Refs {
		if r.Span.File != m.File || offset < r.Span.Start || offset > r.Span.End {
			continue
		}
		if len(refs) > 0 {
			switch have, length := refs[0].Span, r.Span.End-r.Span.Start; {
			case length > have.End-have.Start:
				continue
			case length < have.End-have.Start:
				refs = nil
			}
		}
		if !slices.ContainsFunc(refs, func(o types.Ref) bool { return o.Def == r.Def }) {
			refs = append(refs, r)
		}
	}
	return refs
}

// around finds the shortest expression at a position whose type is known.
func (p *program) around(m *types.Module, where position) (best types.Expr) {
	offset := m.File.Offset(where.Line, where.Character)
	for _, f := range p.checked.Funcs {
		if f.Module != m || f.Body == nil {
			continue
		}
		types.Walk(f.Body, func(x types.Expr) {
			s := x.Place()
			inside := s.File == m.File && s.Start <= offset && offset < s.End
			if inside && x.Type() != types.Type(types.Bad) && (best == nil || s.End-s.Start < best.Place().End-best.Place().Start) {
				best = x
			}
		})
	}
	return best
}

// definitions are the places of the declarations of a name, and nil where there is no name.
func (w *workspace) definitions(key string, where position) ([]location, error) {
	p, m := w.programOf(key)
	if m == nil {
		return nil, nil
	}
	var out []location
	for _, r := range p.at(m, where) {
		k, ok := p.keys[r.Def.File]
		if !ok {
			continue
		}
		if w.inLibrary(k) {
			if err := w.writeLibrary(); err != nil {
				return nil, err
			}
		}
		out = append(out, location{w.uri(k), rangeOf(r.Def)})
	}
	return out, nil
}

// maxHoverLines bounds what is shown of a declaration.
const maxHoverLines = 20

// hover describes the name, or else the expression, at a position; nil where there is nothing to say.
func (w *workspace) hover(key string, where position, markdown bool) *hover {
	p, m := w.programOf(key)
	if m == nil {
		return nil
	}
	var parts []string
	var at syntax.Span
	for _, r := range p.at(m, where) {
		at = r.Span
		if text := describe(r, markdown); !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	if parts == nil {
		x := p.around(m, where)
		if x == nil {
			return nil
		}
		at = x.Place()
		parts = []string{code(x.Type().String(), markdown)}
	}
	kind := "plaintext"
	if markdown {
		kind = "markdown"
	}
	return &hover{markup{kind, strings.Join(parts, "\n\n")}, rangeOf(at)}
}

// describe is a name's declaration and its comment.
func describe(r types.Ref, markdown bool) string {
	text := r.Text
	switch {
	case r.Type != nil:
		text = r.Span.Text() + ": " + r.Type.String()
	case text == "":
		text = r.What
	}
	if lines := strings.Split(text, "\n"); len(lines) > maxHoverLines {
		text = strings.Join(lines[:maxHoverLines], "\n") + "\n…"
	}
	text = code(syntax.Clip(text), markdown)
	if r.Doc != "" {
		text += "\n\n" + syntax.Clip(r.Doc)
	}
	return text
}

// code is source text in a hover.
func code(text string, markdown bool) string {
	if !markdown {
		return text
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "ix\n" + text + "\n" + fence
}

// format gives the edit that brings a text to the standard form: the lines from the first to the last that differ. It is empty if there are none, and nil if the text has errors of syntax.
func format(text string) []textEdit {
	m, errs := syntax.Parse(syntax.NewFile("", text))
	if len(errs) > 0 {
		return nil
	}
	formatted := syntax.Format(m)
	if formatted == text {
		return []textEdit{}
	}
	old, now := strings.SplitAfter(text, "\n"), strings.SplitAfter(formatted, "\n")
	first := 0
	for first < len(old)-1 && first < len(now)-1 && old[first] == now[first] {
		first++
	}
	last := 0 // lines that are the same at the end
	for last < len(old)-first && last < len(now)-first && old[len(old)-1-last] == now[len(now)-1-last] {
		last++
	}
	end := position{len(old) - last, 0}
	if last == 0 {
		end = positionOf(m.File, len(text))
	}
	return []textEdit{{span{position{first, 0}, end}, strings.Join(now[first:len(now)-last], "")}}
}

// symbols are the declarations of a file, as far as it can be read.
func symbols(text string) []documentSymbol {
	m, _ := syntax.Parse(syntax.NewFile("", text))
	out := []documentSymbol{}
	for _, item := range m.Items {
		switch item := item.(type) {
		case *syntax.Func:
			whole := item.Span
			if item.Body != nil {
				whole = whole.To(item.Body.Span)
			}
			detail := syntax.Span{File: m.File, Start: item.Name.End, End: item.Span.End}.Text()
			out = append(out, symbol(item.Name, symbolFunction, whole, strings.Join(strings.Fields(detail), " ")))
		case *syntax.Struct:
			s := symbol(item.Name, symbolStruct, item.Span, "")
			for _, f := range item.Fields {
				s.Children = append(s.Children, symbol(f.Name, symbolField, f.Name.Span.To(f.Type.Place()), f.Type.Place().Text()))
			}
			out = append(out, s)
		case *syntax.Enum:
			s := symbol(item.Name, symbolEnum, item.Span, "")
			for _, v := range item.Variants {
				whole := v.Name.Span
				for _, a := range v.Args {
					whole = whole.To(a.Place())
				}
				s.Children = append(s.Children, symbol(v.Name, symbolEnumMember, whole, ""))
			}
			out = append(out, s)
		case *syntax.Const:
			out = append(out, symbol(item.Name, symbolConstant, item.Span, item.Type.Place().Text()))
		case *syntax.Alias:
			out = append(out, symbol(item.Name, symbolType, item.Span, item.Type.Place().Text()))
		}
	}
	return out
}

func symbol(n syntax.Name, kind int, whole syntax.Span, detail string) documentSymbol {
	return documentSymbol{Name: n.Text, Detail: detail, Kind: kind, Range: rangeOf(whole), SelectionRange: rangeOf(n.Span)}
}

// flat lists symbols and those in them, for editors that know no tree.
func flat(list []documentSymbol, uri, container string) []symbolInformation {
	out := []symbolInformation{}
	for _, s := range list {
		out = append(out, symbolInformation{s.Name, s.Kind, location{uri, s.Range}, container})
		out = append(out, flat(s.Children, uri, s.Name)...)
	}
	return out
}
