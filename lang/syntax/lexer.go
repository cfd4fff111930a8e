package syntax

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/ixprove/ixprove/formats"
)

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens. Each punctuation mark and each keyword is a kind of its own.
const (
	EOF Kind = iota
	Invalid
	Ident
	Int    // 12, 0xff, 0b101, with _ between digits and perhaps a type behind
	Byte   // b'x'
	Bytes  // b"text", or x"00ff" in hexadecimal
	String // "text"

	punctuationFirst
	LParen
	RParen
	LBrace
	RBrace
	LBracket
	RBracket
	Comma
	Semicolon
	Colon
	PathSep
	Arrow
	FatArrow
	Dot
	DotDot
	Assign
	Equal
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	ShiftLeft
	Plus
	Minus
	Star
	Slash
	Percent
	And
	AndAnd
	Or
	OrOr
	Caret
	Not
	Hash
	At
	Underscore
	punctuationLast

	keywordFirst
	AsWord
	AssertWord
	ConstWord
	ElseWord
	EnumWord
	FailWord
	FalseWord
	FnWord
	ForWord
	IfWord
	ImportWord
	InWord
	LetWord
	MatchWord
	PrivateWord
	PubWord
	StructWord
	TrueWord
	TypeWord
	UnconstrainedWord
	WhereWord
	WithWord
	keywordLast
)

var kindNames = [...]string{
	EOF: "the end of the file", Invalid: "an invalid token", Ident: "a name", Int: "a number", Byte: "a byte", Bytes: "a byte string", String: "a string",
	LParen: "(", RParen: ")", LBrace: "{", RBrace: "}", LBracket: "[", RBracket: "]", Comma: ",", Semicolon: ";", Colon: ":", PathSep: "::", Arrow: "->",
	FatArrow: "=>", Dot: ".", DotDot: "..", Assign: "=", Equal: "==", NotEqual: "!=", Less: "<", LessEqual: "<=", Greater: ">", GreaterEqual: ">=",
	ShiftLeft: "<<", Plus: "+", Minus: "-", Star: "*", Slash: "/", Percent: "%", And: "&", AndAnd: "&&", Or: "|", OrOr: "||", Caret: "^", Not: "!",
	Hash: "#", At: "@", Underscore: "_",
	AsWord: "as", AssertWord: "assert", ConstWord: "const", ElseWord: "else", EnumWord: "enum", FailWord: "fail", FalseWord: "false", FnWord: "fn", ForWord: "for", IfWord: "if", ImportWord: "import",
	InWord: "in", LetWord: "let", MatchWord: "match", PrivateWord: "private", PubWord: "pub", StructWord: "struct", TrueWord: "true", TypeWord: "type", UnconstrainedWord: "unconstrained",
	WhereWord: "where", WithWord: "with",
}

// String is the kind as a message names it: a mark or keyword in backquotes, other kinds in words.
func (k Kind) String() string {
	if k > punctuationFirst {
		return "`" + kindNames[k] + "`"
	}
	return kindNames[k]
}

var (
	keywords = map[string]Kind{}
	marks    = [3][]Kind{} // by length, 1 and 2
)

func init() {
	for k := keywordFirst + 1; k < keywordLast; k++ {
		keywords[kindNames[k]] = k
	}
	for k := punctuationFirst + 1; k < punctuationLast; k++ {
		marks[len(kindNames[k])] = append(marks[len(kindNames[k])], k)
	}
}

// Keywords lists the keywords in alphabetical order.
func Keywords() []string {
	var out []string
	for k := keywordFirst + 1; k < keywordLast; k++ {
		out = append(out, kindNames[k])
	}
	return out
}

// role is what the parser found a token to be, where the formatter must know.
type role uint8

const (
	plain   role = iota
	prefix       // a unary operator: no space behind
	angle        // < or > of type arguments: no space around
	shift        // the first > of >>
	listEnd      // a closing bracket before which a comma may stand
	apart        // an opening bracket behind a space
)

// Token is a token of a file.
type Token struct {
	Kind       Kind
	role       role
	Start, End int
}

// Comment is a line comment from // to just before the end of its line.
type Comment struct{ Start, End int }

// lexer cuts a file into tokens.
type lexer struct {
	file     *File
	at       int
	tokens   []Token
	comments []Comment
	report   func(*Diagnostic)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

func (l *lexer) fail(start, end int, what, next string) {
	l.report(&Diagnostic{Span: Span{l.file, start, end}, Class: formats.Malformed, What: what, Next: next})
}

// run fills tokens, the last one EOF.
func (l *lexer) run() {
	text := l.file.Text
	for l.at < len(text) {
		start := l.at
		c := text[start]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			l.at++
		case strings.HasPrefix(text[start:], "//"):
			if end := strings.IndexByte(text[start:], '\n'); end >= 0 {
				l.at += end
			} else {
				l.at = len(text)
			}
			end := start + len(strings.TrimRight(text[start:l.at], " \t\r"))
			if !utf8.ValidString(text[start:end]) {
				l.fail(start, end, "the comment is not UTF-8", "")
			}
			l.comments = append(l.comments, Comment{start, end})
		case c == 'b' && start+1 < len(text) && text[start+1] == '\'':
			l.quoted(Byte, start+1, '\'')
		case (c == 'b' || c == 'x') && start+1 < len(text) && text[start+1] == '"':
			l.quoted(Bytes, start+1, '"')
		case c == '"':
			l.quoted(String, start, '"')
		case isLetter(c):
			l.scan(func(c byte) bool { return isLetter(c) || isDigit(c) })
			kind := Ident
			if k, ok := keywords[text[start:l.at]]; ok {
				kind = k
			} else if l.at == start+1 && c == '_' {
				kind = Underscore
			}
			l.add(kind, start)
		case isDigit(c):
			l.scan(func(c byte) bool { return isLetter(c) || isDigit(c) })
			l.add(Int, start)
		default:
			l.mark()
		}
	}
	l.add(EOF, len(text))
}

func (l *lexer) scan(in func(byte) bool) {
	for l.at < len(l.file.Text) && in(l.file.Text[l.at]) {
		l.at++
	}
}

func (l *lexer) add(kind Kind, start int) {
	l.tokens = append(l.tokens, Token{Kind: kind, Start: start, End: l.at})
}

func (l *lexer) mark() {
	rest := l.file.Text[l.at:]
	for length := 2; length >= 1; length-- {
		for _, k := range marks[length] {
			if strings.HasPrefix(rest, kindNames[k]) {
				l.at += length
				l.add(k, l.at-length)
				return
			}
		}
	}
	_, size := utf8.DecodeRuneInString(rest)
	start := l.at
	for l.at += size; l.at < len(l.file.Text) && l.file.Text[l.at] >= utf8.RuneSelf; { // one error for a run of such characters
		_, size := utf8.DecodeRuneInString(l.file.Text[l.at:])
		l.at += size
	}
	next := ""
	if strings.HasPrefix(rest, "\ufeff") {
		next = "save the file as UTF-8 without a byte order mark"
	}
	if rest[0] == '\'' {
		next = "a byte is written b'x'"
		if end := strings.IndexByte(rest[1:min(len(rest), 8)], '\''); end >= 0 {
			l.at = start + end + 2
		}
	}
	l.fail(start, l.at, "no token starts with this character", next)
	l.add(Invalid, start)
}

// quoted reads a literal whose opening quote is at offset open.
func (l *lexer) quoted(kind Kind, open int, quote byte) {
	start := l.at
	text := l.file.Text
	for at := open + 1; at < len(text) && text[at] != '\n'; at++ {
		switch text[at] {
		case '\\':
			at++
		case quote:
			l.at = at + 1
			l.add(kind, start)
			if _, problem := Unquote(text[start:l.at]); problem != "" {
				l.fail(start, l.at, problem, `the escapes are \n \r \t \0 \\ \' \" and \x with two digits`)
			}
			return
		}
	}
	if end := strings.IndexByte(text[start:], '\n'); end >= 0 {
		l.at = start + end
	} else {
		l.at = len(text)
	}
	l.fail(start, l.at, "the literal has no end on its line", "close it with "+string(quote))
	l.add(Invalid, start)
}

// Unquote is the content of a String, Bytes or Byte literal with its quotes; problem says what is wrong with it. Byte literals hold one byte, and bytes
// are ASCII or escapes.
func Unquote(literal string) (content []byte, problem string) {
	if digits, ok := strings.CutPrefix(literal, "x\""); ok {
		content, err := hex.DecodeString(strings.TrimSuffix(digits, "\""))
		if err != nil {
			return nil, "the literal is not made of pairs of hexadecimal digits"
		}
		return content, ""
	}
	bytes := strings.HasPrefix(literal, "b")
	body := strings.TrimPrefix(literal, "b")
	if len(body) < 2 {
		return nil, "the literal has no end"
	}
	single := body[0] == '\''
	body = body[1 : len(body)-1]
	for i := 0; i < len(body); i++ {
		c := body[i]
		if c != '\\' {
			if c >= utf8.RuneSelf && bytes || c < ' ' {
				return nil, "a byte is printable ASCII or an escape"
			}
			content = append(content, c)
			continue
		}
		if i++; i >= len(body) {
			return nil, "the escape has no end"
		}
		switch at := strings.IndexByte(`nrt0\'"`, body[i]); {
		case at >= 0:
			content = append(content, "\n\r\t\x00\\'\""[at])
		case body[i] == 'x' && i+2 < len(body) && hexDigit(body[i+1]) >= 0 && hexDigit(body[i+2]) >= 0:
			content = append(content, byte(hexDigit(body[i+1])<<4|hexDigit(body[i+2])))
			i += 2
		default:
			return nil, "there is no such escape"
		}
	}
	if single && len(content) != 1 {
		return nil, "a byte literal holds one byte"
	}
	if !bytes && !utf8.Valid(content) {
		return nil, "the string is not UTF-8"
	}
	return content, ""
}

func hexDigit(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
