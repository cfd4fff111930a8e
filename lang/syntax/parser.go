package syntax

import (
	"math/bits"
	"strings"

	"github.com/ixprove/ixprove/formats"
)

// Parse reads a file. The module holds what could be read; it is complete if there are no errors.
func Parse(file *File) (*Module, Errors) {
	p := &parser{file: file, last: -1}
	if len(file.Text) > MaxSourceBytes {
		p.report(&Diagnostic{Span: Span{file, 0, 0}, Class: formats.Limit, What: "the file is too large", Next: "split it into modules"})
		return &Module{File: file, Lost: map[string]bool{}}, p.errors
	}
	l := &lexer{file: file, report: p.report}
	l.run()
	p.tokens = l.tokens
	m := p.module()
	m.tokens, m.comments = l.tokens, l.comments
	docs(m)
	p.errors.Sort()
	return m, p.errors
}

// ParseExpr reads a lone expression, such as the call that a command line gives.
func ParseExpr(file *File) (Expr, Errors) {
	p := &parser{file: file, last: -1}
	if len(file.Text) > MaxSourceBytes {
		p.report(&Diagnostic{Span: Span{file, 0, 0}, Class: formats.Limit, What: "the expression is too large"})
		return nil, p.errors
	}
	l := &lexer{file: file, report: p.report}
	l.run()
	p.tokens = l.tokens
	x := p.guard(func() Expr {
		x := p.expr(0)
		p.expect(EOF, "")
		return x
	})
	return x, p.errors
}

// stop ends the parsing of a statement or item after an error; it never leaves the package.
type stop struct{}

type parser struct {
	file     *File
	tokens   []Token
	at       int
	depth    int
	noStruct bool // a brace does not open a struct expression: the head of if, match and for
	last     int  // token of the last error: one error a place
	errors   Errors
}

func (p *parser) report(d *Diagnostic) {
	if len(p.errors) < MaxErrors {
		p.errors = append(p.errors, d)
	}
}

func (p *parser) token() Token         { return p.tokens[p.at] }
func (p *parser) kind() Kind           { return p.tokens[p.at].Kind }
func (p *parser) span() Span           { t := p.token(); return Span{p.file, t.Start, t.End} }
func (p *parser) since(start int) Span { return Span{p.file, start, p.tokens[max(0, p.at-1)].End} }
func (p *parser) textOf(s Span) string { return p.file.Text[s.Start:s.End] }
func (p *parser) start() int           { return p.token().Start }
func (p *parser) peek(ahead int) Kind  { return p.tokens[min(p.at+ahead, len(p.tokens)-1)].Kind }
func (p *parser) adjacent() bool {
	return p.tokens[p.at].End == p.tokens[min(p.at+1, len(p.tokens)-1)].Start
}
func (p *parser) base(start int) node    { return node{p.since(start), 1} }
func (p *parser) mark(at int, role role) { p.tokens[at].role = role }

func (p *parser) next() Token {
	t := p.tokens[p.at]
	if t.Kind != EOF {
		p.at++
	}
	return t
}

func (p *parser) accept(k Kind) bool {
	if p.kind() != k {
		return false
	}
	p.next()
	return true
}

// expect takes a token of kind k; otherwise it reports and unwinds to the statement or item.
func (p *parser) expect(k Kind, next string) Token {
	if p.kind() == k {
		return p.next()
	}
	p.failAt(k.String(), next)
	return Token{}
}

// failAt reports that something else was expected at the current token, and unwinds.
func (p *parser) failAt(expected, next string) {
	if p.last != p.at && p.kind() != Invalid { // the lexer has reported invalid tokens
		got := p.kind().String()
		switch k := p.kind(); {
		case k == Ident || k == Int:
			got += " `" + p.textOf(p.span()) + "`"
		case k > keywordFirst && expected == Ident.String():
			got = "the keyword " + got
		}
		p.report(&Diagnostic{Span: p.span(), Class: formats.Malformed, What: "this does not belong here", Expected: expected, Got: got, Next: next})
	}
	p.last = p.at
	panic(stop{})
}

// recovering runs f; if f meets an error it returns false, the error being reported.
func (p *parser) recovering(f func()) (ok bool) {
	depth, noStruct := p.depth, p.noStruct
	defer func() {
		if r := recover(); r != nil {
			if _, mine := r.(stop); !mine {
				panic(r)
			}
			p.depth, p.noStruct, ok = depth, noStruct, false
		}
	}()
	f()
	return true
}

func (p *parser) guard(f func() Expr) (x Expr) {
	start := p.start()
	if !p.recovering(func() { x = f() }) {
		x = &BadExpr{node{p.since(start), 1}}
	}
	return x
}

// enter bounds recursion; leave must follow.
func (p *parser) enter() {
	if p.depth++; p.depth > MaxDepth {
		p.tooDeep(p.span())
	}
}

func (p *parser) leave() { p.depth-- }

func (p *parser) tooDeep(at Span) {
	if p.last != p.at {
		p.report(&Diagnostic{Span: at, Class: formats.Limit, What: "the program is nested too deeply", Next: "give parts names with let, or make them functions"})
	}
	p.last = p.at
	panic(stop{})
}

// over is the base of a node above others. Chains of operators are read by loops, so their height is bounded here.
func (p *parser) over(start int, below ...interface{ height() int }) node {
	n := node{p.since(start), 1}
	for _, b := range below {
		n.high = max(n.high, b.height()+1)
	}
	if n.high > MaxDepth {
		p.tooDeep(n.Span)
	}
	return n
}

func (p *parser) name() Name {
	next := ""
	if k := p.kind(); k > keywordFirst && k < keywordLast {
		next = "choose a name that is not a keyword"
	}
	t := p.expect(Ident, next)
	s := Span{p.file, t.Start, t.End}
	return Name{s, p.textOf(s)}
}

// list reads elements up to close, with commas between and perhaps after them.
func (p *parser) list(close Kind, element func()) {
	for p.kind() != close && p.kind() != EOF {
		element()
		if !p.accept(Comma) {
			break
		}
	}
	if p.kind() != close {
		p.failAt("`,` or "+close.String(), "")
	}
	p.mark(p.at, listEnd)
	p.next()
}

// noComma says that a comma before the closing bracket that was just read would change or break what it closes.
func (p *parser) noComma() { p.mark(p.at-1, plain) }

func (p *parser) module() *Module {
	m := &Module{File: p.file, Lost: map[string]bool{}}
	for p.kind() != EOF {
		start := p.at
		ok := p.recovering(func() {
			if p.kind() == ImportWord {
				m.Imports = append(m.Imports, p.importDecl())
			} else {
				m.Items = append(m.Items, p.item())
			}
		})
		if !ok {
			if name, found := p.declared(start); found {
				m.Lost[name] = true
			}
			p.skipItem(start)
		}
	}
	return m
}

// declared is the name that the item from a token on declares, if it got so far.
func (p *parser) declared(start int) (name string, found bool) {
	for at := start; at < p.at; at++ {
		switch p.tokens[at].Kind {
		case FnWord, StructWord, EnumWord, ConstWord, TypeWord:
			t := p.tokens[at+1] // there is one: the last is EOF
			return p.textOf(Span{p.file, t.Start, t.End}), t.Kind == Ident
		}
	}
	return "", false
}

// skipItem moves to the next token that begins an item outside of braces, at least one token on.
func (p *parser) skipItem(start int) {
	if p.at == start {
		p.next()
	}
	for {
		switch p.kind() {
		case EOF:
			return
		case FnWord, StructWord, EnumWord, ConstWord, ImportWord, PubWord, Hash, TypeWord:
			// Only at the start of a line: `pub` and `const` also stand inside of items.
			if at := p.file.Position(p.start()); at.Column == 1 {
				return
			}
		}
		p.next()
	}
}

func (p *parser) importDecl() *Import {
	i := &Import{}
	start := p.next().Start
	t := p.expect(String, `such as import "std/list";`)
	i.PathSpan = Span{p.file, t.Start, t.End}
	content, _ := Unquote(p.textOf(i.PathSpan))
	i.Path = string(content)
	if p.accept(AsWord) {
		i.As = p.name()
	}
	if p.accept(LParen) {
		p.mark(p.at-1, apart)
		p.list(RParen, func() { i.Names = append(i.Names, p.name()) })
	}
	p.expect(Semicolon, "")
	i.Span = p.since(start)
	return i
}

func (p *parser) item() Item {
	start := p.start()
	d := Decl{}
	for p.kind() == Hash {
		d.Attrs = append(d.Attrs, p.attribute())
	}
	d.Pub = p.accept(PubWord)
	switch p.kind() {
	case FnWord, UnconstrainedWord:
		return p.function(start, d)
	case StructWord:
		p.next()
		s := &Struct{Decl: d}
		p.header(&s.Decl)
		p.expect(LBrace, "")
		p.list(RBrace, func() {
			f := FieldDecl{Name: p.name()}
			p.expect(Colon, "")
			f.Type = p.typeExpr()
			s.Fields = append(s.Fields, f)
		})
		s.Span = p.since(start)
		return s
	case EnumWord:
		p.next()
		e := &Enum{Decl: d}
		p.header(&e.Decl)
		p.expect(LBrace, "")
		p.list(RBrace, func() {
			v := VariantDecl{Name: p.name()}
			if p.accept(LParen) {
				p.list(RParen, func() { v.Args = append(v.Args, p.typeExpr()) })
			}
			e.Variants = append(e.Variants, v)
		})
		e.Span = p.since(start)
		return e
	case ConstWord:
		p.next()
		c := &Const{Decl: d}
		c.Name = p.name()
		p.expect(Colon, "a constant states its type")
		c.Type = p.typeExpr()
		p.expect(Assign, "")
		c.Value = p.expr(0)
		p.expect(Semicolon, "")
		c.Span = p.since(start)
		return c
	case TypeWord:
		p.next()
		a := &Alias{Decl: d}
		p.header(&a.Decl)
		p.expect(Assign, "")
		a.Type = p.typeExpr()
		p.expect(Semicolon, "")
		a.Span = p.since(start)
		return a
	}
	p.failAt("`fn`, `struct`, `enum`, `const`, `type` or `import`", "")
	return nil
}

func (p *parser) attribute() Attr {
	start := p.next().Start
	p.expect(LBracket, "such as #[inline]")
	a := Attr{Name: p.name()}
	if p.accept(LParen) {
		if p.kind() == String {
			content, _ := Unquote(p.textOf(p.span()))
			a.Arg = string(content)
			p.next()
		} else {
			a.Arg = p.name().Text
		}
		p.expect(RParen, "")
	}
	p.expect(RBracket, "")
	a.Span = p.since(start)
	return a
}

// header reads a declaration's name and type parameters.
func (p *parser) header(d *Decl) {
	d.Name = p.name()
	if p.kind() != Less {
		return
	}
	p.mark(p.at, angle)
	p.next()
	for p.kind() != Greater {
		t := TypeParam{Const: p.accept(ConstWord)}
		t.Name = p.name()
		if t.Const {
			p.expect(Colon, "a constant parameter is written const N: u32")
			if n := p.name(); n.Text != "u32" {
				p.report(&Diagnostic{Span: n.Span, Class: formats.Malformed, What: "a constant parameter has type u32", Expected: "u32", Got: n.Text})
			}
		}
		d.Params = append(d.Params, t)
		if !p.accept(Comma) {
			break
		}
	}
	p.close()
}

// close takes the > of type arguments.
func (p *parser) close() {
	p.expect(Greater, "")
	p.mark(p.at-1, angle)
}

func (p *parser) function(start int, d Decl) Item {
	f := &Func{Decl: d, Unconstrained: p.accept(UnconstrainedWord)}
	p.expect(FnWord, "")
	p.header(&f.Decl)
	p.expect(LParen, "")
	p.list(RParen, func() {
		a := Param{Private: p.accept(PrivateWord)}
		a.Name = p.name()
		p.expect(Colon, "an argument states its type")
		a.Type = p.typeExpr()
		f.Args = append(f.Args, a)
	})
	if p.accept(Arrow) {
		f.Result = p.typeExpr()
	}
	f.Span = p.since(start)
	if p.accept(Semicolon) {
		return f
	}
	if p.kind() != LBrace {
		p.failAt(LBrace.String(), "")
	}
	f.Body = p.block()
	return f
}

func (p *parser) typeExpr() TypeExpr {
	p.enter()
	defer p.leave()
	start := p.start()
	switch p.kind() {
	case Ident:
		return &NamedType{p.path(false)}
	case And, AndAnd:
		twice := p.kind() == AndAnd
		p.mark(p.at, prefix)
		p.next()
		to := p.typeExpr()
		if twice {
			to = &PointerType{Span{p.file, start + 1, p.since(start).End}, to}
		}
		return &PointerType{p.since(start), to}
	case LParen:
		p.next()
		t := &TupleType{}
		comma := false
		p.list(RParen, func() {
			t.Elems = append(t.Elems, p.typeExpr())
			comma = p.kind() == Comma
		})
		if len(t.Elems) == 1 && !comma {
			p.noComma()
			return t.Elems[0]
		}
		t.Span = p.since(start)
		return t
	case LBracket:
		p.next()
		t := &ArrayType{Elem: p.typeExpr()}
		p.expect(Semicolon, "an array type is written [type; length]")
		t.Len = p.expr(0)
		p.expect(RBracket, "")
		t.Span = p.since(start)
		return t
	}
	p.failAt("a type", "")
	return nil
}

// path reads names with :: between. Type arguments follow directly in types, and behind :: in expressions.
func (p *parser) path(inExpr bool) Path {
	start := p.start()
	q := Path{Parts: []Name{p.name()}}
	for {
		if inExpr && p.kind() == PathSep && p.peek(1) == Less {
			p.next()
			q.Args = p.typeArgs()
			if p.kind() == PathSep { // Enum::<T>::Variant
				continue
			}
			break
		}
		if !inExpr && p.kind() == Less {
			q.Args = p.typeArgs()
			break
		}
		if !p.accept(PathSep) {
			break
		}
		q.Parts = append(q.Parts, p.name())
	}
	q.Span = p.since(start)
	return q
}

func (p *parser) typeArgs() (args []TypeExpr) {
	p.mark(p.at, angle)
	p.next()
	for p.kind() != Greater {
		start := p.start()
		switch p.kind() {
		case Int:
			x := p.intLit()
			args = append(args, &LengthType{p.since(start), x})
		case LBrace:
			b := p.block()
			args = append(args, &LengthType{p.since(start), b})
		default:
			args = append(args, p.typeExpr())
		}
		if !p.accept(Comma) {
			break
		}
	}
	p.close()
	return args
}

// intLit reads a number.
func (p *parser) intLit() *IntLit {
	start := p.start()
	s := p.span()
	p.next()
	x := &IntLit{node: p.base(start)}
	digits := p.textOf(s)
	for _, suffix := range []string{"field", "u8", "u32", "u64"} {
		if before, ok := strings.CutSuffix(digits, suffix); ok && before != "" && !strings.HasPrefix(before, "0x") {
			digits, x.Suffix = before, suffix
			break
		}
	}
	base := uint64(10)
	if len(digits) > 2 && digits[0] == '0' {
		switch digits[1] {
		case 'x':
			base = 16
		case 'b':
			base = 2
		}
	}
	bad := func(what string) {
		p.report(&Diagnostic{Span: s, Class: formats.Malformed, What: what, Got: p.textOf(s)})
	}
	if base != 10 {
		digits = digits[2:]
	}
	for i := range len(digits) {
		if digits[i] == '_' {
			continue
		}
		d := hexDigit(digits[i])
		if d < 0 || uint64(d) >= base {
			bad("this is not a number")
			return x
		}
		hi, lo := bits.Mul64(x.Value, base)
		sum, carry := bits.Add64(lo, uint64(d), 0)
		if hi != 0 || carry != 0 {
			bad("the number is above 2^64 - 1")
			return x
		}
		x.Value = sum
	}
	return x
}

func (p *parser) block() *Block {
	p.enter()
	defer p.leave()
	noStruct := p.noStruct
	p.noStruct = false
	defer func() { p.noStruct = noStruct }()
	start := p.expect(LBrace, "").Start
	b := &Block{}
	var below []interface{ height() int }
	for p.kind() != RBrace && p.kind() != EOF {
		at := p.at
		var s Stmt
		var result Expr
		if !p.recovering(func() { s, result = p.statement() }) {
			p.skipStatement(at)
			continue
		}
		if result != nil {
			b.Result = result
			below = append(below, result)
			break
		}
		b.Stmts = append(b.Stmts, s)
		switch s := s.(type) {
		case *LetStmt:
			below = append(below, s.Value, s.Pattern)
			if s.Where != nil {
				below = append(below, s.Where)
			}
		case *AssertStmt:
			below = append(below, s.Cond)
		case *ExprStmt:
			below = append(below, s.X)
		}
	}
	if p.kind() != RBrace {
		expected := "`}`"
		if b.Result != nil {
			expected = "`;` or `}`"
		}
		p.failAt(expected, "")
	}
	b.End = p.span()
	p.next()
	b.node = p.over(start, below...)
	return b
}

// skipStatement moves behind the next ; or before the next } of the same nesting, at least one token on unless at that brace.
func (p *parser) skipStatement(start int) {
	depth := 0
	for i := start; i < p.at; i++ { // what of the statement was read before the error
		switch p.tokens[i].Kind {
		case LBrace, LParen, LBracket:
			depth++
		case RBrace, RParen, RBracket:
			depth--
		}
	}
	for {
		switch p.kind() {
		case EOF:
			return
		case FnWord, StructWord, EnumWord, PubWord, ImportWord:
			if p.file.Position(p.start()).Column == 1 { // a brace is missing: the next item begins
				panic(stop{})
			}
		case LBrace, LParen, LBracket:
			depth++
		case RBrace, RParen, RBracket:
			if depth <= 0 && p.kind() == RBrace {
				return
			}
			depth = max(0, depth-1)
			if depth == 0 && p.kind() == RBrace && p.peek(1) != Semicolon && p.peek(1) != ElseWord {
				p.next()
				return
			}
		case Semicolon:
			if depth <= 0 {
				p.next()
				return
			}
		}
		p.next()
	}
}

// statement reads a statement, or the expression that a block ends in.
func (p *parser) statement() (Stmt, Expr) {
	start := p.start()
	switch p.kind() {
	case LetWord:
		p.next()
		s := &LetStmt{Pattern: p.pattern()}
		if p.accept(Colon) {
			s.Type = p.typeExpr()
		}
		p.expect(Assign, "let states a value")
		s.Unconstrained = p.accept(UnconstrainedWord)
		s.Value = p.expr(0)
		if p.accept(WhereWord) {
			s.Where = p.expr(0)
		}
		p.expect(Semicolon, "")
		s.Span = p.since(start)
		return s, nil
	case AssertWord:
		p.next()
		s := &AssertStmt{Cond: p.expr(0)}
		if p.accept(Comma) {
			s.Message = p.message()
		}
		p.expect(Semicolon, "")
		s.Span = p.since(start)
		return s, nil
	case UnconstrainedWord:
		p.report(&Diagnostic{Span: p.span(), Class: formats.Malformed, What: "an unconstrained call stands in a let with a condition", Next: "write let x = unconstrained f(…) where CONDITION;"})
		p.last = p.at
		panic(stop{})
	}
	x, closed := p.body()
	if p.accept(Semicolon) || closed && p.kind() != RBrace {
		return &ExprStmt{p.since(start), x}, nil
	}
	return nil, x
}

// body reads an expression where a statement or an arm may end with its brace: one that begins with a block ends with it, and is closed.
func (p *parser) body() (x Expr, closed bool) {
	switch p.kind() {
	case IfWord, MatchWord, ForWord, LBrace:
		return p.primary(), true
	}
	return p.expr(0), false
}

func (p *parser) message() string {
	t := p.expect(String, "a message is a string")
	content, _ := Unquote(p.file.Text[t.Start:t.End])
	return string(content)
}

// binaryLevels are the binary operators from the loosest; all associate to the left, and comparisons do not associate.
var binaryLevels = [...][]Kind{
	{OrOr}, {AndAnd}, {Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual}, {Or}, {Caret}, {And}, {ShiftLeft, shiftRight}, {Plus, Minus}, {Star, Slash, Percent},
}

const (
	comparisonLevel = 2
	shiftRight      = Kind(250) // two adjacent > tokens
)

// ShiftRight is the operator >> of a BinaryExpr; it is two tokens.
const ShiftRight = shiftRight

// OperatorText is the operator's source.
func OperatorText(op Kind) string {
	if op == shiftRight {
		return ">>"
	}
	return kindNames[op]
}

var levelOf = map[Kind]int{}

func init() {
	for level, ops := range binaryLevels {
		for _, op := range ops {
			levelOf[op] = level
		}
	}
}

func (p *parser) operator() Kind {
	if p.kind() == Greater && p.peek(1) == Greater && p.adjacent() {
		return shiftRight
	}
	return p.kind()
}

// expr reads an expression of operators of at least a level.
func (p *parser) expr(level int) Expr {
	p.enter()
	defer p.leave()
	start := p.start()
	left := p.cast()
	compared := false
	for {
		op := p.operator()
		at, ok := levelOf[op]
		if !ok || at < level {
			return left
		}
		opSpan := p.span()
		if at == comparisonLevel {
			if compared {
				p.failAt("the end of the comparison", "comparisons do not chain: write a < b && b < c")
			}
			compared = true
		} else {
			compared = false
		}
		if op == shiftRight {
			p.mark(p.at, shift)
			p.next()
			opSpan.End = p.span().End
		}
		p.next()
		right := p.expr(at + 1)
		left = &BinaryExpr{p.over(start, left, right), op, opSpan, left, right}
	}
}

func (p *parser) cast() Expr {
	start := p.start()
	x := p.unary()
	for p.accept(AsWord) {
		var to TypeExpr
		if p.kind() == Ident { // a < behind it compares: no type that values are converted to takes arguments
			name := p.name()
			to = &NamedType{Path{Span: name.Span, Parts: []Name{name}}}
		} else {
			to = p.typeExpr()
		}
		x = &CastExpr{p.over(start, x), x, to}
	}
	return x
}

func (p *parser) unary() Expr {
	start := p.start()
	switch k := p.kind(); k {
	case Minus, Not, And, Star, AndAnd:
		p.enter()
		defer p.leave()
		p.mark(p.at, prefix)
		p.next()
		x := p.unary()
		if k == AndAnd {
			x = &UnaryExpr{p.over(start+1, x), And, x}
			k = And
		}
		return &UnaryExpr{p.over(start, x), k, x}
	}
	return p.postfix()
}

func (p *parser) postfix() Expr {
	start := p.start()
	x := p.primary()
	for {
		switch p.kind() {
		case Dot:
			p.next()
			var field Name
			if p.kind() == Int {
				s := p.span()
				p.next()
				field = Name{s, p.textOf(s)}
			} else {
				field = p.name()
			}
			x = &FieldExpr{p.over(start, x), x, field}
			if p.kind() == LParen {
				p.failAt("the end of the field", "there are no methods: write "+field.Text+"(value, …)")
			}
		case LBracket:
			p.next()
			noStruct := p.noStruct
			p.noStruct = false
			low := p.expr(0)
			if p.accept(DotDot) {
				high := p.expr(0)
				p.expect(RBracket, "")
				x = &SliceExpr{p.over(start, x, low, high), x, low, high}
			} else {
				p.expect(RBracket, "")
				x = &IndexExpr{p.over(start, x, low), x, low}
			}
			p.noStruct = noStruct
		default:
			return x
		}
	}
}

// exprs reads expressions up to close.
func (p *parser) exprs(close Kind) (out []Expr, below []interface{ height() int }, comma bool) {
	noStruct := p.noStruct
	p.noStruct = false
	p.list(close, func() {
		x := p.expr(0)
		out, below = append(out, x), append(below, x)
		comma = p.kind() == Comma
	})
	p.noStruct = noStruct
	return out, below, comma
}

func (p *parser) primary() Expr {
	start := p.start()
	switch p.kind() {
	case Int:
		return p.intLit()
	case Byte, Bytes:
		kind := p.kind()
		content, _ := Unquote(p.textOf(p.span()))
		p.next()
		if kind == Bytes {
			return &BytesLit{p.base(start), content}
		}
		if len(content) != 1 {
			content = []byte{0} // reported by the lexer
		}
		return &ByteLit{p.base(start), content[0]}
	case String:
		p.failAt("an expression", `a byte string is written b"text"`)
	case TrueWord, FalseWord:
		value := p.next().Kind == TrueWord
		return &BoolLit{p.base(start), value}
	case Ident:
		return p.pathExpr()
	case LParen:
		p.next()
		elems, below, comma := p.exprs(RParen)
		if len(elems) == 1 && !comma {
			p.noComma()
			return elems[0]
		}
		return &TupleExpr{p.over(start, below...), elems}
	case LBracket:
		return p.array()
	case LBrace:
		return p.block()
	case IfWord:
		return p.ifExpr()
	case MatchWord:
		return p.matchExpr()
	case ForWord:
		return p.forExpr()
	case FailWord:
		p.next()
		message := ""
		if p.kind() == String {
			message = p.message()
		}
		return &FailExpr{p.base(start), message}
	case UnconstrainedWord:
		p.failAt("an expression", "an unconstrained call stands in a let: let x = unconstrained f(…) where CONDITION;")
	}
	p.failAt("an expression", "")
	return nil
}

func (p *parser) pathExpr() Expr {
	start := p.start()
	path := p.path(true)
	switch {
	case p.kind() == LParen:
		p.next()
		args, below, _ := p.exprs(RParen)
		return &CallExpr{p.over(start, below...), path, args}
	case p.kind() == LBrace && !p.noStruct:
		p.next()
		x := &StructExpr{Path: path}
		var below []interface{ height() int }
		p.list(RBrace, func() {
			if p.accept(DotDot) {
				x.Base = p.expr(0)
				below = append(below, x.Base)
				if p.kind() != RBrace {
					p.failAt(RBrace.String(), "the base comes last")
				}
				return
			}
			f := FieldInit{Name: p.name()}
			if p.accept(Colon) {
				f.Value = p.expr(0)
				below = append(below, f.Value)
			}
			x.Fields = append(x.Fields, f)
		})
		if x.Base != nil {
			p.noComma()
		}
		x.node = p.over(start, below...)
		return x
	case p.kind() == Not && p.peek(1) == LParen:
		p.failAt("the end of the name", "there are no macros: write "+path.Parts[len(path.Parts)-1].Text+" without !")
	}
	return &PathExpr{p.base(start), path}
}

func (p *parser) array() Expr {
	noStruct := p.noStruct
	p.noStruct = false
	defer func() { p.noStruct = noStruct }()
	start := p.next().Start
	if p.accept(ForWord) {
		x := &EachExpr{Var: p.name()}
		p.expect(InWord, "")
		x.Low = p.expr(0)
		p.expect(DotDot, "")
		x.High = p.expr(0)
		p.expect(FatArrow, "such as [for i in 0..4 => i * i]")
		x.Body = p.expr(0)
		p.expect(RBracket, "")
		x.node = p.over(start, x.Low, x.High, x.Body)
		return x
	}
	if p.accept(RBracket) {
		return &ArrayExpr{p.base(start), nil}
	}
	first := p.expr(0)
	if p.accept(Semicolon) {
		length := p.expr(0)
		p.expect(RBracket, "")
		return &RepeatExpr{p.over(start, first, length), first, length}
	}
	elems, below := []Expr{first}, []interface{ height() int }{first}
	if p.accept(Comma) {
		more, moreBelow, _ := p.exprs(RBracket)
		elems, below = append(elems, more...), append(below, moreBelow...)
	} else if p.kind() == RBracket {
		p.mark(p.at, listEnd)
		p.next()
	} else {
		p.failAt("`,` or `]`", "")
	}
	return &ArrayExpr{p.over(start, below...), elems}
}

// head reads an expression before a brace.
func (p *parser) head() Expr {
	noStruct := p.noStruct
	p.noStruct = true
	x := p.expr(0)
	p.noStruct = noStruct
	return x
}

func (p *parser) ifExpr() Expr {
	p.enter()
	defer p.leave()
	start := p.next().Start
	x := &IfExpr{Cond: p.head()}
	x.Then = p.block()
	below := []interface{ height() int }{x.Cond, x.Then}
	if p.accept(ElseWord) {
		if p.kind() == IfWord {
			x.Else = p.ifExpr()
		} else {
			x.Else = p.block()
		}
		below = append(below, x.Else)
	}
	x.node = p.over(start, below...)
	return x
}

func (p *parser) matchExpr() Expr {
	p.enter()
	defer p.leave()
	start := p.next().Start
	x := &MatchExpr{X: p.head()}
	below := []interface{ height() int }{x.X}
	p.expect(LBrace, "")
	noStruct := p.noStruct
	p.noStruct = false
	closed := false
	for p.kind() != RBrace && p.kind() != EOF {
		a := Arm{Pattern: p.pattern()}
		if p.kind() == IfWord {
			p.failAt(FatArrow.String(), "arms have no guards: write if in the arm's body")
		}
		p.expect(FatArrow, "")
		a.Body, closed = p.body()
		x.Arms = append(x.Arms, a)
		below = append(below, a.Pattern, a.Body)
		if !p.accept(Comma) && !closed {
			break
		}
	}
	p.noStruct = noStruct
	if p.kind() != RBrace {
		p.failAt("`,` or `}`", "")
	}
	if !closed {
		p.mark(p.at, listEnd)
	}
	p.next()
	x.node = p.over(start, below...)
	return x
}

func (p *parser) forExpr() Expr {
	p.enter()
	defer p.leave()
	start := p.next().Start
	x := &ForExpr{Var: p.name()}
	p.expect(InWord, "")
	x.Low = p.head()
	p.expect(DotDot, "a loop runs over a range: for i in 0..8 { … }")
	x.High = p.head()
	below := []interface{ height() int }{x.Low, x.High}
	if p.accept(WithWord) {
		x.Acc = p.pattern()
		p.expect(Assign, "with states the first value: with sum = 0")
		x.Init = p.head()
		below = append(below, x.Init, x.Acc)
	}
	x.Body = p.block()
	x.node = p.over(start, append(below, x.Body)...)
	return x
}

func (p *parser) pattern() Pattern {
	p.enter()
	defer p.leave()
	start := p.start()
	p.accept(Or)
	first := p.onePattern()
	if p.kind() != Or {
		return first
	}
	alts, below := []Pattern{first}, []interface{ height() int }{first}
	for p.accept(Or) {
		a := p.onePattern()
		alts, below = append(alts, a), append(below, a)
	}
	return &OrPattern{p.over(start, below...), alts}
}

func (p *parser) patterns(close Kind) (out []Pattern, below []interface{ height() int }, comma bool) {
	p.list(close, func() {
		x := p.pattern()
		out, below = append(out, x), append(below, x)
		comma = p.kind() == Comma
	})
	return out, below, comma
}

func (p *parser) onePattern() Pattern {
	start := p.start()
	switch p.kind() {
	case Underscore:
		p.next()
		return &WildPattern{p.base(start)}
	case Int, Byte, Bytes, TrueWord, FalseWord:
		x := p.primary()
		return &LitPattern{p.base(start), x}
	case Minus:
		p.failAt("a pattern", "a negative number is no pattern")
	case LParen:
		p.next()
		elems, below, comma := p.patterns(RParen)
		if len(elems) == 1 && !comma {
			p.noComma()
			return elems[0]
		}
		return &TuplePattern{p.over(start, below...), elems}
	case LBracket:
		p.next()
		elems, below, _ := p.patterns(RBracket)
		return &ArrayPattern{p.over(start, below...), elems}
	case And, AndAnd:
		p.enter()
		defer p.leave()
		twice := p.kind() == AndAnd
		p.mark(p.at, prefix)
		p.next()
		to := p.onePattern()
		if twice {
			to = &PointerPattern{p.over(start, to), to}
		}
		return &PointerPattern{p.over(start, to), to}
	case Ident:
		return p.namePattern()
	}
	p.failAt("a pattern", "")
	return nil
}

func (p *parser) namePattern() Pattern {
	start := p.start()
	path := p.path(true)
	switch {
	case p.kind() == LParen:
		p.next()
		args, below, _ := p.patterns(RParen)
		return &PathPattern{p.over(start, below...), path, args, true}
	case p.kind() == LBrace:
		p.next()
		x := &StructPattern{Path: path}
		var below []interface{ height() int }
		p.list(RBrace, func() {
			if p.accept(DotDot) {
				x.Rest = true
				if p.kind() != RBrace {
					p.failAt(RBrace.String(), "the .. comes last")
				}
				return
			}
			f := FieldPattern{Name: p.name()}
			if p.accept(Colon) {
				f.Pattern = p.pattern()
				below = append(below, f.Pattern)
			}
			x.Fields = append(x.Fields, f)
		})
		if x.Rest {
			p.noComma()
		}
		x.node = p.over(start, below...)
		return x
	case len(path.Parts) == 1 && path.Args == nil:
		b := &BindPattern{Name: path.Parts[0]}
		if p.accept(At) {
			p.enter()
			b.Sub = p.onePattern()
			p.leave()
			b.node = p.over(start, b.Sub)
		} else {
			b.node = p.base(start)
		}
		return b
	}
	return &PathPattern{p.base(start), path, nil, false}
}

// docs attaches the comments right above a declaration to it.
func docs(m *Module) {
	at := 0
	for _, item := range m.Items {
		d := declOf(item)
		line := m.File.Position(d.Start).Line
		for at < len(m.comments) && m.comments[at].Start < d.Start {
			at++
		}
		var lines []string
		for i := at - 1; i >= 0; i-- {
			if m.File.Position(m.comments[i].Start).Line != line-1 || m.File.Position(m.comments[i].Start).Column != 1 {
				break
			}
			line--
			lines = append(lines, strings.TrimSpace(strings.TrimLeft(m.File.Text[m.comments[i].Start:m.comments[i].End], "/")))
		}
		for i := len(lines) - 1; i >= 0; i-- {
			if d.Doc != "" {
				d.Doc += "\n"
			}
			d.Doc += lines[i]
		}
	}
}

func declOf(item Item) *Decl {
	switch item := item.(type) {
	case *Func:
		return &item.Decl
	case *Struct:
		return &item.Decl
	case *Enum:
		return &item.Decl
	case *Const:
		return &item.Decl
	case *Alias:
		return &item.Decl
	}
	return nil
}
