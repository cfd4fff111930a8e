package syntax

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ixprove/ixprove/formats"
)

// sample uses every form of the grammar.
const sample = `// A module.
import "std/list";
import "lib/tree.ix" as t (Tree, size);

// fib is the classic.
// It has two lines.
pub fn fib(n: field) -> field {
	match n {
		0 => 0,
		1 => 1, // base
		_ => fib(n - 1) + fib(n - 2),
	}
}

const LIMIT: u32 = 1_000 * 2 + 0xff;
type Hash = [u32; 8];

struct Pair<A, B> {
	a: A,
	b: B,
}

enum Tree<T> {
	Leaf,
	Node(&Tree<T>, T, &Tree<T>),
}

#[inline(never)]
fn size<T, const N: u32>(t: &Tree<T>, xs: [T; N]) -> u32 {
	match *t {
		Tree::Leaf => 0,
		Tree::Node(l, _, &r) => {
			let n = size::<T, N>(l, xs);
			n + 1
		}
	}
}

unconstrained fn guess(x: u64, y: u64) -> (u64, u64) {
	(x / y, x % y)
}

pub fn main(a: u64, private b: u64, c: [u8; 4]) -> (u64, bool) {
	// the quotient
	let (q, r): (u64, u64) = unconstrained guess(a, b) where r < b && q * b + r == a;
	assert c[0] == b'x' || c[1..3] == b"y\n", "no \"x\"";
	let p = Pair { a: q, b: &r };
	let s = Pair { b: p.b, ..p };
	let z = for i in 0..4 with sum = 0u64 {
		sum + (c[i] as u64 << 2)
	};
	let all = [for i in 0..4 => -(i as field) * 2];
	let zero = [0u8; 4];
	if !(z >> 1 == 3) {
		assert z != 4;
	} else if true {
		assert z <= 5;
	} else { fail "never" };
	let (x, _) = (*s.b, ());
	let y = match (x, z) {
		(0 | 1, w @ 3) => w,
		(_, Wide { a, b: 1, .. }) => a,
		_ => fail,
	};
	(y & 1 | y ^ 2 % 3, all[0] == 0 && zero == c)
}
`

func parse(t *testing.T, text string) *Module {
	t.Helper()
	m, errs := Parse(NewFile("test.ix", text))
	if len(errs) > 0 {
		var b strings.Builder
		errs.Text(&b)
		t.Fatalf("%s\n%s", b.String(), text)
	}
	return m
}

func TestFormatKeepsStandardForm(t *testing.T) {
	if got := Format(parse(t, sample)); got != sample {
		t.Errorf("got\n%s", got)
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"//  only a comment  \n\n\n\n// more", "//  only a comment\n\n// more\n"},
		{"fn f( )->field{1}", "fn f() -> field { 1 }\n"},
		{"fn f(x:&u8,y:Option<List<u8>>)->bool{\n\n\nlet a=*x;a==- 1&&! y}", "fn f(x: &u8, y: Option<List<u8>>) -> bool {\n\tlet a = *x;\n\ta == -1 && !y\n}\n"},
		{"struct S{a:u8,\nb:u8}", "struct S {\n\ta: u8,\n\tb: u8,\n}\n"},
		{"enum E{\nA,B(u8,\nu32)\n}", "enum E {\n\tA, B(\n\t\tu8,\n\t\tu32,\n\t),\n}\n"},
		{"fn f() { g(x,[\n1]) }", "fn f() { g(x, [\n\t1,\n]) }\n"},
		{"fn f() { match x { a => {\n} } }", "fn f() { match x { a => {} } }\n"},
		{"fn f() {}\r\n// x \r\n\r\nfn g() {}\r\n", "fn f() {}\n// x\n\nfn g() {}\n"},
		{"fn f() { (\nx\n) }", "fn f() { (\n\tx\n) }\n"},
		{"fn f() -> field { g(\n1,\n2) }", "fn f() -> field { g(\n\t1,\n\t2,\n) }\n"},
		{"fn f() {// why\nlet x=[0;3];// here\n}", "fn f() { // why\n\tlet x = [0; 3]; // here\n}\n"},
		{"fn f() -> u8 {\na\n+b\n// end\n}", "fn f() -> u8 {\n\ta\n\t\t+ b\n\t// end\n}\n"},
		{"fn f() -> u32 { x>>1<<2 }", "fn f() -> u32 { x >> 1 << 2 }\n"},
	} {
		got := Format(parse(t, c.in))
		if got != c.want {
			t.Errorf("%q\ngot  %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		in    string
		wants []string // of "line:column what … next"
	}{
		{"fn f( {", []string{"1:7"}},
		{"fn f() { let = 1; let y 2; y }\nfn g( -> u8 {}\nfn ok() {}\nfn match() {}", []string{"1:14", "1:25", "2:7", "4:4"}},
		{"fn f() { a < b < c }", []string{"do not chain"}},
		{"fn f() { x.len() }", []string{"no methods"}},
		{"fn f() { assert!(x) ; }\nfn g() { println!(1) }", []string{"2:17"}},
		{"\ufefffn f() {}", []string{"byte order mark"}},
		{"fn f() { 'a' }", []string{"b'x'"}},
		{"fn f() { b'ab' }", []string{"holds one byte"}},
		{"fn f() { \"text\" }", []string{`b"text"`}},
		{"fn f() { let x = b\"abc; }", []string{"no end", "end of the file"}},
		{"fn f() { 12_34zz }", []string{"not a number"}},
		{"fn f() { 18446744073709551616 }", []string{"2^64"}},
		{"fn f() { unconstrained g() }", []string{"where"}},
		{"fn f() { let x = 1 + unconstrained g(); }", []string{"where"}},
		{"fn f() { é }", []string{"1:10"}},
		{"fn f<const N: u8>() {}", []string{"u32"}},
		{"fn f() { match x { a if b => c } }", []string{"guards"}},
		{"let x = 1;", []string{"`fn`"}},
		{"fn f() -> u8 {\n\tlet x = 1\n\tx\n}\nfn g() {}", []string{"3:2"}},
		{"fn f() {\n\tif x {\n\t\ty\n}\nfn g() {}\nfn h( {}", []string{"5:1", "6:7"}},
	} {
		_, errs := Parse(NewFile("t.ix", c.in))
		var b strings.Builder
		errs.Text(&b)
		if len(errs) != len(c.wants) {
			t.Errorf("%q: %d errors, want %d\n%s", c.in, len(errs), len(c.wants), b.String())
			continue
		}
		for i, w := range c.wants {
			var one strings.Builder
			errs[i].Text(&one)
			if !strings.Contains(one.String(), w) {
				t.Errorf("%q: no %q in\n%s", c.in, w, one.String())
			}
			if !errors.Is(errs.Err(), formats.Malformed) {
				t.Errorf("%q: not malformed", c.in)
			}
		}
	}
}

func TestCaret(t *testing.T) {
	_, errs := Parse(NewFile("t.ix", "fn f() {\n\tlet é = 1;\n}"))
	var b strings.Builder
	errs.Text(&b)
	const want = "t.ix:2:6: error: no token starts with this character\n     2 |  let é = 1;\n       |      ^\n"
	if !strings.HasPrefix(b.String(), want) {
		t.Errorf("got\n%s", b.String())
	}
	b.Reset()
	_, errs = Parse(NewFile("\x1b[2J\u202e\n.ix", "fn"))
	if errs.Text(&b); strings.ContainsAny(b.String(), "\x1b\u202e") || !strings.HasPrefix(b.String(), "\ufffd[2J\ufffd\ufffd.ix:1:3: error") {
		t.Errorf("got\n%q", b.String())
	}
}

func TestDepth(t *testing.T) {
	const n = 100_000
	for _, text := range []string{
		strings.Repeat("(", n), strings.Repeat("[", n), strings.Repeat("{", n), strings.Repeat("-", n) + "1", strings.Repeat("&", n+1) + "1", "1" + strings.Repeat(" + 1", n),
		"x" + strings.Repeat(".a", n), "x" + strings.Repeat(" as u8", n), "x" + strings.Repeat("[0]", n), strings.Repeat("if x {} else ", n) + "{}", strings.Repeat("f(", n),
		"match x { " + strings.Repeat("(", n), "match x { " + strings.Repeat("&", n), strings.Repeat("match ", n), strings.Repeat("for i in ", n),
	} {
		_, errs := Parse(NewFile("t.ix", "fn f() { "+text))
		if len(errs) == 0 || !errors.Is(errs[0].Err(), formats.Limit) {
			t.Errorf("%.40s…: %v", text, errs)
		}
	}
	for _, text := range []string{strings.Repeat("&", n), strings.Repeat("(", n), strings.Repeat("[", n), strings.Repeat("A<", n)} {
		_, errs := Parse(NewFile("t.ix", "type T = "+text))
		if len(errs) == 0 || !errors.Is(errs[0].Err(), formats.Limit) {
			t.Errorf("%.40s…: %v", text, errs)
		}
	}
}

func TestParseExpr(t *testing.T) {
	for _, c := range []struct {
		text string
		ok   bool
	}{{"fib(90)", true}, {"f(P { a: 1 }, [1, 2])", true}, {"", false}, {"f() f()", false}, {"f(", false}, {"f())", false}, {"'", false}, {"let x = 1;", false}} {
		if _, errs := ParseExpr(NewFile("call", c.text)); len(errs) == 0 != c.ok {
			t.Errorf("%q: %v", c.text, errs)
		}
	}
}

func TestDocs(t *testing.T) {
	if got := parse(t, sample).Items[0].(*Func).Doc; got != "fib is the classic.\nIt has two lines." {
		t.Errorf("got %q", got)
	}
}

func TestUnits(t *testing.T) {
	f := NewFile("t.ix", "a\nb𝄞c\n")
	for _, c := range []struct{ line, units, offset int }{{0, 0, 0}, {0, 9, 1}, {1, 1, 3}, {1, 3, 7}, {1, 4, 8}, {9, 0, 9}, {-1, 4, 0}} {
		if got := f.Offset(c.line, c.units); got != c.offset {
			t.Errorf("%d:%d is %d, want %d", c.line, c.units, got, c.offset)
		}
	}
	if got := NewFile("t.ix", "\xff\xfeab").Offset(0, 3); got != 3 { // what is not UTF-8 counts a unit a byte
		t.Errorf("got %d", got)
	}
	if line, units := f.Units(7); line != 1 || units != 3 {
		t.Errorf("got %d:%d", line, units)
	}
}

// checkParse checks that text does not make the parser or the formatter panic, and that a formatted file has the same tokens and is its own standard form.
func checkParse(t *testing.T, text string) {
	t.Helper()
	_, errs := ParseExpr(NewFile("call", text[:min(len(text), 200)]))
	m, more := Parse(NewFile("f.ix", text))
	for _, e := range errs {
		e.Text(new(strings.Builder))
	}
	errs = more
	for _, e := range errs {
		e.Text(new(strings.Builder))
	}
	if len(errs) > 0 {
		return
	}
	once := Format(m)
	again, errs := Parse(NewFile("f.ix", once))
	if len(errs) > 0 {
		t.Fatalf("the formatted file has errors: %v\n%q\n%q", errs, text, once)
	}
	if twice := Format(again); twice != once {
		t.Fatalf("not idempotent:\n%q\n%q\n%q", text, once, twice)
	}
	if a, b := essence(m), essence(again); a != b {
		t.Fatalf("tokens differ:\n%s\n%s", a, b)
	}
}

const longStatements = `let x = [1; 2]; assert x, "é"; `

// longBlock is a function of 100,000 statements in one line.
func longBlock(t testing.TB) (string, *Module) {
	text := "fn f() { " + strings.Repeat(longStatements, 50_000) + "x }"
	m, errs := Parse(NewFile("", text))
	if errs != nil {
		t.Fatal(errs)
	}
	return text, m
}

// TestLongBlock formats a block of many statements, and finds a place at the end of a long line. Either once took time that was quadratic.
func TestLongBlock(t *testing.T) {
	text, m := longBlock(t)
	if out := Format(m); strings.Count(out, "\n") != 100_003 {
		t.Errorf("%d lines", strings.Count(out, "\n"))
	}
	if p := m.File.Position(strings.LastIndex(text, "x")); p != (Position{1, 10 + 50_000*utf8.RuneCountInString(longStatements)}) {
		t.Error(p)
	}
}

func BenchmarkFormat(b *testing.B) {
	text, m := longBlock(b)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Format(m)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add("fn f() { let x = ; } }")
	f.Add("fn f() { x >> = > 1 } // é")
	f.Add("#[a(\"b\")] pub fn f<T>() -> T;")
	f.Fuzz(checkParse)
}

// TestMutations parses the sample with parts moved, removed and replaced.
func TestMutations(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		b := []byte(sample)
		for range 1 + r.IntN(6) {
			i := r.IntN(len(b))
			part := slices.Clone(b[i : i+r.IntN(min(40, len(b)-i))])
			switch r.IntN(4) {
			case 0:
				b = slices.Delete(b, i, i+len(part))
			case 1:
				b[i] = "(){}[]<>;,:|&=!x1 \n"[r.IntN(19)]
			case 2:
				b = slices.Insert(b, r.IntN(len(b)), part...)
			case 3:
				b[i] = byte(r.Uint32())
			}
		}
		checkParse(t, string(b))
	}
}

// essence is a module's tokens without commas before closing brackets, and its comments.
func essence(m *Module) string {
	var b strings.Builder
	for i, t := range m.tokens {
		if t.Kind == Comma && i+1 < len(m.tokens) && isClose(m.tokens[i+1].Kind) {
			continue
		}
		b.WriteString(m.File.Text[t.Start:t.End] + " ")
	}
	for _, c := range m.comments {
		b.WriteString(m.File.Text[c.Start:c.End] + "\n")
	}
	return b.String()
}
