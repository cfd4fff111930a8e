package syntax

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ixprove/ixprove/formats"
)

// File is a source file: its name as messages show it, and its text.
type File struct {
	Name string
	Text string

	lines []int   // offset of each line's first byte
	marks []width // of the text before each multiple of markStep, so that places in long lines are found without reading all of the line
}

const markStep = 512

// width is the length of a text as people and as editors count.
type width struct{ characters, units int }

// add counts a byte: characters by their first byte, of which those of four bytes take two units of UTF-16.
func (w *width) add(c byte) {
	if utf8.RuneStart(c) {
		w.characters++
		w.units++
	}
	if c >= 0xf0 {
		w.units++
	}
}

// between is the width of the text from one offset to another.
func (f *File) between(start, end int) width {
	a, b := f.before(start), f.before(end)
	return width{b.characters - a.characters, b.units - a.units}
}

func (f *File) before(offset int) width {
	w := f.marks[offset/markStep]
	for i := offset / markStep * markStep; i < offset; i++ {
		w.add(f.Text[i])
	}
	return w
}

// NewFile indexes the lines of text.
func NewFile(name, text string) *File {
	f := &File{Name: name, Text: text, lines: []int{0}, marks: []width{{}}}
	var w width
	for i := range len(text) {
		if text[i] == '\n' {
			f.lines = append(f.lines, i+1)
		}
		if w.add(text[i]); (i+1)%markStep == 0 {
			f.marks = append(f.marks, w)
		}
	}
	return f
}

// Position is a place for people: line and column count from 1, the column in characters.
type Position struct{ Line, Column int }

// Position finds the place of a byte offset. Offsets outside the file are moved to its ends.
func (f *File) Position(offset int) Position {
	offset = max(0, min(offset, len(f.Text)))
	line := sort.SearchInts(f.lines, offset+1) - 1
	return Position{line + 1, f.between(f.lines[line], offset).characters + 1}
}

// Line is the text of a line, which counts from 1, without its end. It is empty for a line that is not there.
func (f *File) Line(line int) string {
	if line < 1 || line > len(f.lines) {
		return ""
	}
	rest := f.Text[f.lines[line-1]:]
	if end := strings.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	return strings.TrimSuffix(rest, "\r")
}

// Offset is the byte offset of a line and a column, both from 0, the column in UTF-16 units as editors count. Places outside the file are moved to its ends.
func (f *File) Offset(line, units int) int {
	if line < 0 {
		return 0
	}
	if line >= len(f.lines) {
		return len(f.Text)
	}
	text := f.Line(line + 1)
	for i, r := range text {
		if units <= 0 {
			return f.lines[line] + i
		}
		units -= unitsOf(r)
	}
	return f.lines[line] + len(text)
}

// Units is the inverse of Offset.
func (f *File) Units(offset int) (line, units int) {
	offset = max(0, min(offset, len(f.Text)))
	line = sort.SearchInts(f.lines, offset+1) - 1
	return line, f.between(f.lines[line], offset).units
}

func unitsOf(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

// Span is the part of a file from byte offset Start to just before End.
type Span struct {
	File       *File
	Start, End int
}

// String is "file:line:column" of the start.
func (s Span) String() string {
	if s.File == nil {
		return "program"
	}
	p := s.File.Position(s.Start)
	return fmt.Sprintf("%s:%d:%d", s.File.Name, p.Line, p.Column)
}

// Text is the source that the span covers.
func (s Span) Text() string {
	if s.File == nil {
		return ""
	}
	return s.File.Text[s.Start:s.End]
}

// To is the span from the start of s to the end of t.
func (s Span) To(t Span) Span { return Span{s.File, s.Start, max(s.End, t.End)} }

// Diagnostic is an error in a program, where it is and what to do about it. Empty fields do not apply.
type Diagnostic struct {
	Span     Span
	Class    formats.Class // Malformed for syntax, Invalid for types, Limit for a program too large
	What     string
	Expected string
	Got      string
	Next     string // a suggestion
	Related  []Related
}

// Related points to another place that a diagnostic is about.
type Related struct {
	Span Span
	What string
}

// Err is the diagnostic as the module's error type.
func (d *Diagnostic) Err() *formats.Error {
	return &formats.Error{Class: d.Class, Place: d.Span.String(), What: Clip(d.What), Expected: Clip(d.Expected), Got: Clip(d.Got), Next: Clip(d.Next)}
}

// maxShown is how much of a name, a list or a line is shown.
const maxShown = 2000

// Clip cuts a text off where it is too long to be read.
func Clip(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "…"
}

// Text prints the diagnostic with the source line and carets under the span.
func (d *Diagnostic) Text(w io.Writer) {
	fmt.Fprintf(w, "%s: error: %s\n", visible(d.Span.String()), visible(Clip(d.What)))
	excerpt(w, d.Span)
	for _, line := range []struct{ label, text string }{{"expected", d.Expected}, {"got", d.Got}, {"next", d.Next}} {
		if line.text != "" {
			fmt.Fprintf(w, "  %-9s %s\n", line.label, visible(Clip(line.text)))
		}
	}
	for _, r := range d.Related {
		fmt.Fprintf(w, "%s: note: %s\n", visible(r.Span.String()), visible(Clip(r.What)))
		excerpt(w, r.Span)
	}
}

// Of a long line, what stands around the mark is shown.
const (
	excerptBefore = 80
	excerptAfter  = 120
)

// excerpt prints the first line of a span and marks the span under it. A tab is shown as one space, so that the marks stand right.
func excerpt(w io.Writer, s Span) {
	if s.File == nil {
		return
	}
	p := s.File.Position(s.Start)
	start := s.File.lines[p.Line-1]
	line := s.File.Line(p.Line)
	at := min(max(0, s.Start-start), len(line))
	end := min(max(at, s.End-start), len(line))
	before, marked, after := line[:at], line[at:end], line[end:]
	if n := len(before) - excerptBefore; n > 0 {
		before = "…" + strings.ToValidUTF8(before[n:], "")
	}
	if len(marked) > excerptAfter {
		marked, after = strings.ToValidUTF8(marked[:excerptAfter], "")+"…", ""
	} else if len(after) > excerptAfter {
		after = strings.ToValidUTF8(after[:excerptAfter], "") + "…"
	}
	before, marked, after = visible(before), visible(marked), visible(after)
	indent, width := utf8.RuneCountInString(before), max(1, utf8.RuneCountInString(marked))
	fmt.Fprintf(w, "%6d | %s%s%s\n%6s | %s%s\n", p.Line, before, marked, after, "", strings.Repeat(" ", indent), strings.Repeat("^", width))
}

// visible keeps a source file from commanding a terminal.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// Errors are the diagnostics of a program, at least one when used as an error. errors.As finds the first one's *formats.Error in it.
type Errors []*Diagnostic

// Error is the first diagnostic and the number of others.
func (e Errors) Error() string {
	switch len(e) {
	case 0:
		return "ixprove: no errors"
	case 1:
		return e[0].Err().Error()
	}
	return fmt.Sprintf("%s (and %d more)", e[0].Err().Error(), len(e)-1)
}

// Unwrap gives every diagnostic as a *formats.Error.
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, d := range e {
		out[i] = d.Err()
	}
	return out
}

// Text prints every diagnostic.
func (e Errors) Text(w io.Writer) {
	for _, d := range e {
		d.Text(w)
	}
}

// Err is e as an error: nil if there is no diagnostic.
func (e Errors) Err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// Sort puts diagnostics in the order of files and places, and drops those that say the same of the same place.
func (e *Errors) Sort() {
	slices.SortStableFunc(*e, func(a, b *Diagnostic) int {
		if a.Span.File != b.Span.File {
			if a.Span.File == nil || b.Span.File == nil {
				return 0
			}
			return strings.Compare(a.Span.File.Name, b.Span.File.Name)
		}
		return a.Span.Start - b.Span.Start
	})
	*e = slices.CompactFunc(*e, func(a, b *Diagnostic) bool { return a.Span == b.Span && a.What == b.What })
}
