package syntax

import "strings"

// Format is the module's source in the standard form: one space where the grammar wants one and none where it does not, one tab for each level of nesting,
// at most one empty line in a row, and a comma behind the last element of a list that ends on a line of its own. Where lines break is the author's choice, except that a block or a
// list that is broken at all is broken at both of its ends. Comments stay. The result is its own standard form. m must have been parsed without errors.
func Format(m *Module) string {
	f := formatter{m: m, text: m.File.Text}
	f.run()
	return f.out.String()
}

// piece is a token or a comment.
type piece struct {
	Token
	comment bool
	matched int  // of an opening or closing bracket: the piece of its partner
	array   bool // directly in brackets
}

type formatter struct {
	m      *Module
	text   string
	pieces []piece
	out    strings.Builder
}

func (f *formatter) run() {
	f.merge()
	broken := f.breaks()
	depth := 0
	var indents []int // of open brackets: whether each one indents, which only the first of a line does
	for i := range f.pieces {
		p := &f.pieces[i]
		newline := broken[i]
		closes := !p.comment && isClose(p.Kind)
		if closes && len(indents) > 0 {
			depth -= indents[len(indents)-1]
			indents = indents[:len(indents)-1]
		}
		if i > 0 {
			before := &f.pieces[i-1]
			switch {
			case newline:
				f.out.WriteByte('\n')
				if strings.Count(f.text[before.End:p.Start], "\n") > 1 && !(isOpen(before.Kind) && !before.comment) && !closes {
					f.out.WriteByte('\n')
				}
				extra := 0
				if f.continues(i) {
					extra = 1
				}
				f.out.WriteString(strings.Repeat("\t", depth+extra))
			case f.space(i):
				f.out.WriteByte(' ')
			}
		}
		f.out.WriteString(f.text[p.Start:p.End])
		if !p.comment && isOpen(p.Kind) {
			indent := 0
			if first := f.first(i, broken); first < len(f.pieces) && broken[first] {
				indent = 1
			}
			indents = append(indents, indent)
			depth += indent
		}
		if f.wantsComma(i, broken) {
			f.out.WriteByte(',')
		}
	}
	if len(f.pieces) > 0 {
		f.out.WriteByte('\n')
	}
}

// merge puts tokens and comments in one row.
func (f *formatter) merge() {
	comments := f.m.comments
	var open []int
	add := func(p piece) { f.pieces = append(f.pieces, p) }
	for _, t := range f.m.tokens {
		for len(comments) > 0 && comments[0].Start < t.Start || t.Kind == EOF && len(comments) > 0 {
			add(piece{Token: Token{Start: comments[0].Start, End: comments[0].End}, comment: true})
			comments = comments[1:]
		}
		if t.Kind == EOF {
			break
		}
		add(piece{Token: t, array: len(open) > 0 && f.pieces[open[len(open)-1]].Kind == LBracket})
		at := len(f.pieces) - 1
		switch {
		case isOpen(t.Kind):
			open = append(open, at)
		case isClose(t.Kind) && len(open) > 0:
			f.pieces[at].matched = open[len(open)-1]
			f.pieces[open[len(open)-1]].matched = at
			open = open[:len(open)-1]
		}
	}
}

// breaks says before which pieces a line breaks.
func (f *formatter) breaks() []bool {
	broken := make([]bool, len(f.pieces))
	for i := 1; i < len(f.pieces); i++ {
		before := &f.pieces[i-1]
		broken[i] = before.comment || strings.Contains(f.text[before.End:f.pieces[i].Start], "\n")
		if !f.pieces[i].comment && !before.comment && (before.Kind == Semicolon && f.pieces[i].Kind != RBrace && !before.array) {
			broken[i] = true
		}
	}
	// A bracket that is broken directly inside, or holds statements, is broken at both ends.
	for i := range f.pieces {
		p := &f.pieces[i]
		if p.comment || !isOpen(p.Kind) || p.matched <= i {
			continue
		}
		first, end := f.first(i, broken), p.matched
		switch {
		case end == i+1:
			broken[end] = false
		case f.broken(i, first, broken):
			broken[first], broken[end] = true, true
		}
	}
	return broken
}

// first is the first piece in the bracket that opens at piece i, but for a comment on the bracket's line.
func (f *formatter) first(i int, broken []bool) int {
	first := i + 1
	for first < f.pieces[i].matched && f.pieces[first].comment && !broken[first] {
		first++
	}
	return first
}

// broken reports whether a line breaks directly inside the bracket that opens at piece i, or must.
func (f *formatter) broken(i, first int, broken []bool) bool {
	for j := first; j <= f.pieces[i].matched; j++ {
		if broken[j] {
			return true
		}
		if p := &f.pieces[j]; !p.comment && isOpen(p.Kind) && p.matched > j {
			j = p.matched
		}
	}
	return f.pieces[i].Kind == LBrace && f.statements(i, f.pieces[i].matched)
}

// statements reports whether a brace that opens at piece i holds a statement: then it is broken.
func (f *formatter) statements(i, end int) bool {
	for j := i + 1; j < end; j++ {
		p := &f.pieces[j]
		switch {
		case p.comment:
			return true
		case isOpen(p.Kind) && p.matched > j:
			j = p.matched
		case p.Kind == Semicolon:
			return true
		}
	}
	return false
}

// wantsComma reports whether a comma is missing behind piece i: it is the last of a list whose end stands on a line of its own.
func (f *formatter) wantsComma(i int, broken []bool) bool {
	next := i + 1
	for next < len(f.pieces) && f.pieces[next].comment {
		next++
	}
	if f.pieces[i].comment || next >= len(f.pieces) || f.pieces[next].role != listEnd || !broken[next] {
		return false
	}
	return f.pieces[i].Kind != Comma && f.pieces[next].matched != i
}

// continues reports whether the line that piece i begins goes on with what the line before began.
func (f *formatter) continues(i int) bool {
	p, before := &f.pieces[i], &f.pieces[i-1]
	if p.comment || before.comment || isClose(p.Kind) {
		return false
	}
	if before.Kind == RBracket && f.attribute(before.matched) {
		return false
	}
	switch before.Kind {
	case LBrace, LParen, LBracket, Comma, Semicolon, RBrace:
		switch p.Kind { // a chain that goes on behind a brace
		case Dot, Plus, Slash, Percent, AndAnd, OrOr, Equal, NotEqual, AsWord, WhereWord:
			return true
		}
		return false
	}
	return true
}

func (f *formatter) attribute(open int) bool {
	return open > 0 && f.pieces[open-1].Kind == Hash
}

func isOpen(k Kind) bool  { return k == LParen || k == LBrace || k == LBracket }
func isClose(k Kind) bool { return k == RParen || k == RBrace || k == RBracket }

// space reports whether a space stands between piece i-1 and piece i of one line.
func (f *formatter) space(i int) bool {
	p, q := &f.pieces[i-1], &f.pieces[i]
	if q.comment || p.comment {
		return true
	}
	switch {
	case q.role == apart:
		return true
	case p.role == prefix, p.role == shift:
		return false
	case q.role == angle:
		return false
	case p.role == angle && p.Kind == Less:
		return false
	case p.role == angle && (q.Kind == LParen || q.Kind == PathSep):
		return false
	}
	switch q.Kind {
	case Comma, Semicolon, Colon, PathSep, Dot, DotDot, RParen, RBracket:
		return p.Kind == Comma && q.Kind == DotDot || p.Kind == LBrace && q.Kind == DotDot
	case RBrace:
		return p.Kind != LBrace
	case LParen, LBracket:
		switch p.Kind {
		case Ident, RParen, RBracket, Hash:
			return false
		}
	}
	switch p.Kind {
	case LParen, LBracket, PathSep, Dot, DotDot, Hash:
		return false
	case Or:
		return true
	}
	return true
}
