package lang_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang"
)

// lines writes a line for each number from 0 to n-1, which stands for # in it, and the next number for @.
func lines(n int, line string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.NewReplacer("#", fmt.Sprint(i), "@", fmt.Sprint(i+1)).Replace(line) + "\n")
	}
	return b.String()
}

// entry is an entry of one argument a0 with a body.
func entry(body string) string { return "pub fn main(a0: field) -> field {\n" + body + "0 }" }

// TestHostile compiles programs of which a part doubles with each line, or that are wide, deep or long. Each gets an error that says where, within bounds of time and of memory.
func TestHostile(t *testing.T) {
	const structure, variant = "struct P<T> { a: T, b: T }\n", "enum E<T> { N, C(T, T) }\n"
	elements := func(n int, x string) string { return strings.Repeat(x+", ", n) }
	for name, c := range map[string]struct{ text, want string }{
		"structs":             {structure + entry(lines(60, "let a@ = P { a: a#, b: a# };")), "the type is too large"},
		"structs of nothing":  {structure + entry("let a0 = ();"+lines(60, "let a@ = P { a: a#, b: a# };")), "the type is too large"},
		"enums":               {variant + entry(lines(60, "let a@ = E::C(a#, a#);")), "the type is too large"},
		"tuples":              {entry(lines(60, "let a@ = (a#, a#);")), "the type is too large"},
		"tuples of a pointer": {entry(lines(60, "let a@ = (&a#, &a#);")), "the type is too large"},
		"arrays":              {entry(lines(60, "let a@ = [a#, a#];")), "the type is too large"},
		"arrays of each":      {entry("let z = [for i in 0..65536 => [for j in 0..65536 => i]];"), "the type is too large"},
		"calls":               {"fn d<T>(x: T) -> (T, T) { (x, x) }\n" + entry(lines(60, "let a@ = d(a#);")), "the type is too large"},
		"nested calls":        {"fn d<T>(x: T) -> (T, T) { (x, x) }\n" + entry("let z = "+strings.Repeat("d(", 60)+"a0"+strings.Repeat(")", 60)+";"), "the type is too large"},
		"a variable grows":    {"enum O<T> { S(T), N }\nfn s<T>(a: T, b: T) {}\n" + entry(lines(12, "let v#a = O::N; let v#b = (v#a, v#a); let v#c = (v#b, v#b); let v#d = (v#c, v#c); let v#e = (v#d, v#d);")+lines(11, "s(v@a, O::S(v#e));")+"s(v11a, O::S(a0));"), "the type"},
		"aliases":             {"type A0<T> = (T, T);\n" + lines(60, "type A@<T> = A#<A#<T>>;") + entry(""), "the type is too large"},
		"declarations":        {"struct D0<T> { a: T, b: T }\n" + lines(60, "struct D@<T> { a: D#<(T, T)>, b: D#<(T, T)> }") + entry(""), "the type is too large"},
		"declared pointers":   {"struct D0<T> { a: &T, b: &T }\n" + lines(60, "struct D@<T> { a: &D#<(T, T)>, b: &D#<&(T, T)> }") + "pub fn main(private q: D60<field>) -> field { 1 }", "ever larger types"},
		"a growing list":      {"struct L<T> { a: &L<(T, T)>, b: field }\npub fn main(private q: L<field>) -> field { 1 }", "ever larger types"},
		"functions":           {"fn f0<T>(x: T) -> field { 0 }\n" + lines(60, "fn f@<T>(x: T) -> field { f#((x, x)) }") + entry("let z = f60(a0);"), "types too large for these type arguments"},
		"recursion":           {"fn f<T>(x: T, n: field) -> field { match n { 0 => 0, _ => f(&(x, x), n - 1) } }\n" + entry("let z = f(a0, 3);"), "types too large for these type arguments"},
		"recursion of structs": {"struct Q<T> { a: &T, b: &T }\nfn f<T>(x: &Q<T>, n: field) -> field { match n { 0 => 0, _ => f(&Q { a: x, b: x }, n - 1) } }\n" + entry("let z = f(&Q { a: &a0, b: &a0 }, 3);"),
			"calls itself for ever larger types"},
		"recursion of two":           {"fn f<A, B>(n: field) -> field { match n { 0 => 0, _ => f::<(A, B), B>(n - 1) + f::<A, (A, B)>(n - 1) } }\n" + entry("let z = f::<u8, u32>(a0);"), "too many functions for different types"},
		"instances":                  {"fn f0<T>() -> field { 0 }\n" + lines(40, "fn f@<T>() -> field { f#::<(T, u8)>() + f#::<(T, u32)>() }") + entry("let z = f30::<field>();"), "too many functions for different types"},
		"constants":                  {"const C: [[[u8; 50]; 50]; 50] = [[[0; 50]; 50]; 50];\n" + entry(lines(2000, "let b# = C[0][0][0];")), "the types and constants of the program are too large altogether"},
		"constant patterns":          {"const C: [[[u8; 40]; 40]; 40] = [[[0; 40]; 40]; 40];\npub fn main(private x: [[[u8; 40]; 40]; 40]) -> field { match x { " + strings.Repeat("C => 1, ", 300) + "_ => 0 } }", "too large altogether"},
		"a wide pattern":             {"const C: [u8; 65536] = [0; 65536];\npub fn main(private x: [u8; 65536]) -> field { match x { C => 1, _ => 0 } }", "too many cases to check"},
		"constants of constants":     {"const N: u32 = 60000;\nconst C: [[[field; N]; N]; N] = [[[0; N]; N]; N];\n" + entry(""), "the type is too large"},
		"alternatives":               {"pub fn main(x: (" + elements(24, "field") + ")) -> field { match x { (" + elements(24, "1 | 2 | 3 | 4") + ") => 1, _ => 0 } }", "too many c"},
		"a let that was not checked": {"const C: [[(); 350]; 350] = [[(); 350]; 350];\n" + entry("let (C, 1) = ([[(); 350]; 350], a0);"), "the pattern has too many cases to check"},
		"alternatives of a let":      {"const C: [(); 2000] = [(); 2000];\n" + entry("let ("+strings.Repeat("C | ", 110)+"C, 1) = ([(); 2000], a0);"), "the pattern has too many cases to check"},
		"nested names":               {entry("let " + strings.Repeat("a@", 100_000) + "a = 1;"), "nested too deeply"},
		"many arguments":             {"fn f(" + lines(100_000, "a#: field,") + ") -> field { 1 }\n" + entry(""), "too many arguments"},
		"many fields":                {"struct S { " + lines(100_000, "a#: field,") + "}\n" + entry(""), "too many fields"},
		"many variants":              {"enum S { " + lines(100_000, "A#,") + "}\n" + entry(""), "too many variants"},
		"many parameters":            {"fn f<" + lines(100_000, "A#,") + ">() -> field { 1 }\n" + entry(""), "too many type parameters"},
		"many variables":             {"pub fn main(x: [field; 20000]) -> field { let [" + lines(20_000, "a#,") + "] = x; 0 }", "too many variables"},
		"many errors":                {entry(lines(50_000, "let a@: u8 = b#;")), "there is no such variable"},
		"many arms":                  {entry("let z = match a0 { " + strings.Repeat("_ => 1, ", 50_000) + "};"), "too many cases to check"},
		"a long name":                {"pub fn main(x: field) -> field { " + strings.Repeat("y", 1<<20) + " }", "there is no such variable"},
		"a long line":                {entry(strings.ReplaceAll(lines(50_000, "let x#: u8 = 1u32;"), "\n", "")), "the types differ"},
		"comparisons in a loop":      {entry("let a = [(); 65536]; for i in 0..200000 { let b = a == a; }"), "too large once loops"},
		"long comparisons":           {entry("let a = [a0; 65000]; for i in 0..200000 { let b = a == a; }"), "too large once loops"},
		"choices of much":            {entry("let a = [0u8; 65000]; let c = a0 == 1; let b = for i in 0..200000 with b = a { if c { b } else { a } };"), "too large once loops"},
		"fields in a loop":           {"struct S { " + lines(1000, "a#: field,") + "}\n" + entry("let s = S { "+lines(1000, "a#: a0,")+"}; for i in 0..200000 { "+strings.Repeat("let b = s.a999; ", 60)+"}"), "too large once loops"},
		"patterns in a loop":         {entry("let s = [0; 1000]; for i in 0..200000 { let [" + lines(1000, "a#,") + "] = s; }"), "too large once loops"},
		"matches in a loop":          {entry("for i in 0..200000 { let z = match a0 { " + lines(600, "# => 1,") + "_ => 0 }; }"), "too large"},
		"arms in a loop":             {entry("for i in 0..300000 { let z = match (i, i) { (300000, _) | (_, 300000) => { " + strings.Repeat("let y = a0 * a0; ", 100_000) + "y }, _ => 0 }; }"), "too large once loops"},
		"arguments in a loop":        {"#[inline]\nfn f(x: [u8; 65000]) {}\n" + entry("let a = [0; 65000]; for i in 0..200000 { "+strings.Repeat("f(a); ", 40)+"}"), "too large once loops"},
		"plans in a loop":            {entry("for i in 0..200000 { let z = match (0, 0, 0, 0, 0, 0) { " + lines(200, "(_, _, _, _, _, #) => 1,") + "_ => 0 }; }"), "too large once loops"},
		"loops":                      {entry("for i in 0..100000 { for j in 0..100000 { for k in 0..100000 {} } }"), "too large once loops"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := lang.Compile(files(c.text), "main.ix")
			runtime.ReadMemStats(&after)
			var e *formats.Error
			if !errors.As(err, &e) || e.Place == "" || e.Place == "program" {
				t.Fatalf("no error with a place: %v", err)
			}
			text := explain(err)
			if !strings.Contains(text, c.want) || len(text) > 1<<17 {
				t.Errorf("want %s in %d bytes of\n%.2000s", c.want, len(text), text)
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 3<<30 {
				t.Errorf("allocated %d MiB", allocated>>20)
			}
		})
	}
}
