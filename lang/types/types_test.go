package types

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/syntax"
)

func check(text string, more ...string) (*Program, syntax.Errors) {
	files := fstest.MapFS{"main.ix": {Data: []byte(text)}}
	for i := 0; i+1 < len(more); i += 2 {
		files[more[i]] = &fstest.MapFile{Data: []byte(more[i+1])}
	}
	return Check(files, "main.ix", Options{})
}

func render(errs syntax.Errors) string {
	var b strings.Builder
	errs.Text(&b)
	return b.String()
}

func TestAccepted(t *testing.T) {
	for _, text := range []string{
		`pub fn fib(n: field) -> field { match n { 0 => 0, 1 => 1, _ => fib(n - 1) + fib(n - 2) } }`,
		`import "std/option" (Option, unwrap);
		pub fn main(a: u32) -> u32 { unwrap(Option::Some(a)) + option::unwrap_or::<u32>(Option::None, 4) }`,
		`struct P<A, B> { a: A, b: B } type Q<T> = P<T, T>;
		fn swap<A, B>(p: P<A, B>) -> P<B, A> { let P { a, b } = p; P { a: b, b: a } }
		pub fn main(x: u8, y: bool) -> (bool, u8) { let q = swap(P { a: x, b: y }); let r: Q<u8> = Q { a: 1, b: 2 }; let r = P { a: 3, ..r }; assert r.a == 3; (q.a, q.b) }`,
		`enum List<T> { Nil, Cons(T, &List<T>) }
		fn sum(l: &List<u64>) -> u64 { match *l { List::Nil => 0, List::Cons(x, rest) => x + sum(rest) } }
		fn two(l: List<u64>) -> bool { match l { List::Cons(_, &List::Cons(_, &List::Nil)) => true, _ => false } }
		pub fn main() -> u64 { let e = &List::Nil; let l = List::Cons(2, e); assert !two(l); sum(&l) }`,
		`const N: u32 = 2 + 2; const T: [u8; N] = [1, 2, 3, N as u8];
		fn total<const M: u32>(xs: [u64; M]) -> u64 { for i in 0..M with s = 0 { s + xs[i] } }
		pub fn main(k: u32) -> u64 { let a = [for i in 0..N => i as u64 * 2]; let z = [0; N]; total(a) + total(z) + T[k] as u64 + total(a[1..3]) }`,
		`unconstrained fn half(x: u64) -> (u64, bool) { (x / 2, x % 2 == 1) }
		pub fn main(x: u64) -> u64 { let (h, odd) = unconstrained half(x) where h * 2 + (odd as u64) == x; h }`,
		`const A: u8 = b'a'; pub fn main(x: u8, y: (bool, bool)) -> field {
			let r: field = match (x, y) { (A | b'b', (true, _)) => 1, (c @ 3, (d, false)) => c as field + (d as field), (_, (_, true)) | (_, (false, _)) => fail "no", _ => 2 }; -r }`,
		`pub fn main(x: u8) { if x == 1 { assert x < 2; } else if x == 3 { fail } }`,
		`pub fn main(x: u8) -> u8 { if x == 1 { x } else { fail "no"; } }`,
		`fn f<T>(x: T) -> &T { &x } pub fn main(x: u8) -> u8 { *f(x) + *f::<u8>(x) << 1 >> 1 & 3 | 4 ^ 5 }`,

		`enum E { A(u8, u8), B } pub fn main(e: E, private l: &E) -> u8 { match (e, *l) { (E::A(x, _), E::B) | (E::B, E::A(_, x)) => x, (E::B, _) => 0, _ => 1 } }`,
	} {
		if p, errs := check(text); len(errs) > 0 || len(p.Entries) != 1 {
			t.Errorf("%s\n%s", text, render(errs))
		}
	}
}

func TestRejected(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`pub fn main(x: u32) -> u64 { x }`, "main.ix:1:30: error: the types differ\n     1 | pub fn main(x: u32) -> u64 { x }\n       |                              ^\n  expected  u64\n  got       u32\n  next      convert it: x as u64"},
		{`pub fn main(x: u32, y: u64) -> bool { x + 1 < y }`, "convert it: y as u32"},
		{`pub fn main(x: u8) -> &u8 { &x }`, "no pointers"},
		{`pub fn main(x: &u8) -> u8 { *x }`, "make it private"},
		{`pub fn main<T>(x: T) -> T { x }`, "no type parameters"},
		{`fn main(x: u8) -> u8 { x }`, "no entry"},
		{`fn f(private x: u8) {} pub fn main() {}`, "only an entry"},
		{`pub fn main(x: u8) -> u8 { match x { 0 => 1, 1 => 2 } }`, "no arm for 2"},
		{`pub fn main(x: bool) -> u8 { match (x, x) { (true, _) => 1, (_, true) => 2 } }`, "no arm for (false, false)"},
		{`enum E { A, B(bool) } pub fn main(e: E) -> u8 { match e { E::A => 1, E::B(true) => 2 } }`, "no arm for E::B(false)"},
		{`enum E { A, B(bool) } pub fn main(e: E) -> u8 { match e { E::B(_) => 1, E::A => 2, E::B(true) => 3 } }`, "1:84: error: the arm is never reached"},
		{`pub fn main(x: bool) -> u8 { match x { true | false => 1, _ => 3 } }`, "never reached"},
		{`enum E { A, B } pub fn main(e: E) -> u8 { match e { A => 1, E::B => 2 } }`, "write E::A"},
		{`pub fn main(x: u8) -> u8 { let 3 = x; x }`, "does not fit every value"},
		{`pub fn main(x: u8) -> u8 { y }`, "there is no such variable"},
		{`pub fn main(value: u8) -> u8 { valeu }`, "did you mean value?"},
		{`struct S { x: u8 } pub fn main(s: S) -> u8 { s.y }`, "no such field"},
		{`struct S { x: u8, s: S } pub fn main() {}`, "&S"},
		{`enum E { A(F), C } struct F { e: E } pub fn main() {}`, "without end"},
		{`struct S { s: S } const A: S = fail; const B: bool = { let s: S = fail; s == s }; pub fn main() {}`, "no constant expression"},
		{`struct S { s: S } const B: bool = { let s: S = fail; let t = (s, s); true }; pub fn main() {}`, "no constant expression"},
		{`enum E<T> { N, A(E<(T, T)>) } const B: bool = { let s: E<u8> = E::N; let t = (s, [s; 3]); true }; pub fn main() {}`, "no constant expression"},
		{`const A: E = E::N; enum E { N, P(&E) } pub fn main() {}`, "a constant has no pointers"},
		{`type A = B; type B = A; pub fn main() {}`, "defined by itself"},
		{`const A: u8 = B; const B: u8 = A; pub fn main() {}`, "defined by itself"},
		{`const A: u8 = 200 + 100; pub fn main() {}`, "overflow"},
		{`const A: [u8; 3] = [1, 2]; pub fn main() {}`, "the types differ"},
		{`pub fn main() -> u8 { 256 }`, "at most 255"},
		{`pub fn main() -> field { 0xffffffff00000001 }`, "at most 18446744069414584320"},
		{`pub fn main(x: u32) -> u32 { -x }`, "only field elements"},
		{`pub fn main(x: field) -> bool { x < 3 }`, "as u64"},
		{`pub fn main(x: field) -> field { x % 3 }`, "only integers"},
		{`fn f(x: &u8, y: &u8) -> bool { x == y } pub fn main() {}`, "pointers are not compared"},
		{`fn f<T>(x: T, y: T) -> bool { x == y } pub fn main() {}`, "not compared"},
		{`unconstrained fn g() -> u8 { 1 } pub fn main() -> u8 { g() }`, "not proven"},
		{`unconstrained fn g() -> u8 { 1 } pub fn main() -> u8 { let x = unconstrained g(); x }`, "must be checked"},
		{`unconstrained fn g() -> (u8, u8) { (1, 2) } pub fn main() -> u8 { let (x, y) = unconstrained g() where x == 1; y }`, "the condition says nothing of y"},
		{`unconstrained fn g() -> &u8 { &1 } pub fn main() -> u8 { let x = unconstrained g() where *x == 1; *x }`, "no pointers"},
		{`pub fn main(n: u32) -> u32 { for i in 0..n with s = 0 { s + i } }`, "bounds of a loop are constants"},
		{`pub fn main(x: [u8; 4]) -> u8 { x[4] }`, "below 4"},
		{`pub fn main(x: [u8; 4]) -> [u8; 2] { x[3..5] }`, "outside of the array"},
		{`pub fn main() { let x = []; }`, "not known here"},
		{`pub fn main() -> u8 { 1; }`, "not used"},
		{`pub fn main(x: u8) -> u8 { x; }`, "not used"},
		{`pub fn main(x: u8) -> u8 { if x == 1 { 2 } }`, "has an else"},
		{`pub fn main(x: u8, x: u8) {}`, "another argument"},
		{`fn f() {} fn f() {} pub fn main() {}`, "declared already"},
		{`fn u8() {} pub fn main() {}`, "of the language"},
		{`fn f(); pub fn main() {}`, "no body"},
		{`#[builtin("x")] fn f(); pub fn main() {}`, "no such attribute"},
		{`#[fast] pub fn main() {}`, "no such attribute"},
		{`import "std/opton"; pub fn main() {}`, "did you mean std/option?"},
		{`import "../x"; pub fn main() {}`, "below the folder"},
		{`import "x"; pub fn main() {}`, "no such module"},
		{`pub fn main() -> Option<u8> { 1 }`, "no such type"},
		{`import "std/option"; pub fn main() -> Option<u8> { fail }`, `import "std/option" (Option);`},
		{`import "std/option" (Optoin); pub fn main() {}`, "did you mean Option?"},
		{`import "std/option" (Optoin); fn a(x: Optoin<u8>) {} fn b(x: Optoin<u8>) {} pub fn main() {}`, "did you mean Option?"},
		{`pub fn main(x: u8) -> u8 { match x { a | 3 => 1 } }`, "bind different variables"},
		{`pub fn main(x: (u8, u8)) -> u8 { match x { (a, a) => 1 } }`, "twice"},
		{`fn f(x: u8) -> u8 { x } pub fn main() -> u8 { f(1, 2) }`, "takes one argument"},
		{`fn f(x: u8) -> u8 { x } pub fn main() -> u8 { f }`, "a function is no value"},
		{`fn f(l: [u8; 70000]) {} pub fn main() {}`, "too long"},
		{`struct S<T> { x: T } pub fn main(s: S) {}`, "takes one type argument"},
		{`struct S { x: u8 } pub fn main() -> S { S { } }`, "no x"},
		{`pub fn main(x: u8) -> bool { x as bool && x }`, "the types differ"},
		{`fn f(x: &u8) -> u8 { x } pub fn main() {}`, "load it: *x"},
		{`fn f(x: u8) -> &u8 { x } pub fn main() {}`, "store it: &x"},
		{`struct S { x: u8 } fn f(s: &S) -> u8 { s.x } pub fn main() {}`, "(*s).x"},
	} {
		_, errs := check(c.text)
		if !strings.Contains(render(errs), c.want) || !errors.Is(errs.Err(), formats.Invalid) && !errors.Is(errs.Err(), formats.Limit) && !errors.Is(errs.Err(), formats.Malformed) {
			t.Errorf("%s\nno %q in\n%s", c.text, c.want, render(errs))
		}
		if len(errs) > 2 {
			t.Errorf("%s\n%d errors for one mistake:\n%s", c.text, len(errs), render(errs))
		}
	}
}

// TestUnread checks programs with errors of syntax: what follows from those is not reported.
func TestUnread(t *testing.T) {
	for _, text := range []string{
		"enum E { A, B { x: u8 } }\nfn f(e: E) -> u8 { 1 }\npub fn main() -> u8 { f(E::A) }",
		"const N: u8 = ;\nfn f(x: [u8; N]) -> u8 { 1 }\npub fn main() -> u8 { f([1u8; N]) }",
		"fn f(x: u8 -> u8 { x }\npub fn main() -> u8 { f(1) }",
		"import \"a\" (E);\nfn f(e: E) -> u8 { 1 }\npub fn main() -> u8 { 1 }",
	} {
		if _, errs := check(text, "a.ix", "pub enum E { A, B { x: u8 } }"); len(errs) != 1 || !errors.Is(errs.Err(), formats.Malformed) {
			t.Errorf("%s\n%s", text, render(errs))
		}
	}
}

func TestModules(t *testing.T) {
	p, errs := check(`import "lib/a"; import "lib/b" as other (twice); pub fn main() -> u8 { a::one() + other::twice(a::K) + twice(1) }`,
		"lib/a.ix", `import "lib/b"; pub const K: u8 = 3; pub fn one() -> u8 { b::twice(hidden()) } fn hidden() -> u8 { 1 }`,
		"lib/b.ix", `import "lib/a"; pub fn twice(x: u8) -> u8 { x + x }`)
	if len(errs) > 0 || len(p.Modules) != 3 || len(p.Entries) != 1 {
		t.Error(render(errs))
	}
	_, errs = check(`import "a"; pub fn main() -> u8 { a::hidden() }`, "a.ix", `fn hidden() -> u8 { 1 }`)
	if !strings.Contains(render(errs), "not pub") {
		t.Error(render(errs))
	}
	_, errs = check(`import "a"; pub fn main() { }`, "a.ix", `fn hidden() -> u8 { true }`)
	if !strings.Contains(render(errs), "a.ix:1:21: error") {
		t.Error(render(errs))
	}
}

// TestNoBuiltins checks that a user's folder of the standard library's name has none of its rights.
func TestNoBuiltins(t *testing.T) {
	_, errs := Check(fstest.MapFS{"std/list.ix": {Data: []byte(`#[builtin("u32.bytes")] fn f(); pub fn main() -> u8 { 1 }`)}}, "std/list.ix", Options{})
	if !strings.Contains(render(errs), "no such attribute") {
		t.Error(render(errs))
	}
}

// TestHiddenConstants checks that lengths and bounds of slices mean by a name what stands for it there: a parameter or a variable hides a constant of its name, and is none.
func TestHiddenConstants(t *testing.T) {
	for _, text := range []string{
		`fn g<const N: u32>(x: u8) -> u8 { let a = [x; N + 2]; a[2] }`,
		`fn g<const N: u32>(a: [u8; 5]) -> u8 { a[N..3][0] }`,
		`fn g<const N: u32>(a: [u8; 5]) -> u8 { a[0..N][0] }`,
		`fn g<const N: u32>(a: [u8; N + 2]) -> u8 { a[2] }`,
		`struct S<const N: u32> { a: [u8; N + 2] }`,
		`type A<const N: u32> = [u8; N + 2];`,
		`fn g(N: u32, a: [u8; 5]) -> u8 { a[N..5][0] }`,
		`fn g(N: u32, x: u8) -> u8 { [x; N][0] }`,
		`fn g<const N: u32>(x: u8, N: u32) -> u8 { [x; N][0] }`,
		`fn g(a: [u8; 5]) -> u8 { for N in 0..4 with s = 0 { s + a[N..5][0] } }`,
		`fn g(N: u32, x: u8) -> u8 { let a: [u8; N] = [x]; a[0] }`,
		`fn h<const K: u32>(x: u8) -> u8 { x } fn g(N: u32, x: u8) -> u8 { h::<N>(x) }`,
	} {
		_, errs := check("const N: u32 = 1; " + text + " pub fn main(x: u8) -> u8 { x }")
		if len(errs) != 1 || !strings.Contains(render(errs), "no constant expression") {
			t.Errorf("%s\n%s", text, render(errs))
		}
	}
	// What does not hide it leaves it as it is.
	if _, errs := check(`const N: u32 = 1; fn h<const K: u32>(a: [u8; K]) -> u8 { if K == 0 { 0 } else { a[N..2][0] } } pub fn main(x: [u8; 5]) -> u8 { { let n = 3u32; } h(x[N..3 * N + 1]) + [x[0]; N][0] }`); !strings.Contains(render(errs), "known length") {
		t.Error(render(errs))
	}
	if _, errs := check(`const N: u32 = 1; fn h<const K: u32>(a: [u8; K]) -> u8 { [3; N][0] } pub fn main(x: [u8; 5]) -> u8 { { for i in 0..N { } } h(x[N..3 * N + 1]) + [x[0]; N][0] + { let a: [u8; N] = [1]; a[0] } }`); len(errs) > 0 {
		t.Error(render(errs))
	}
	// A pattern does not mean by a name what is hidden either.
	for _, c := range []struct{ text, want string }{
		{`fn g<const N: u32>(x: u32) -> u8 { match x { N => 1, _ => 2 } }`, "constant parameter"},
		{`fn g<const M: u32>(x: (u32, u8)) -> u8 { let (M, y) = x; y }`, "constant parameter"},
		{`struct T { M: u32, y: u8 } fn g<const M: u32>(x: T) -> u8 { let T { M, y } = x; y }`, "constant parameter"},
		{`fn g(x: u32, N: u32) -> u8 { match x { N => 1, _ => 2 } }`, "hides the constant"},
		{`fn g(x: u32, N: u32) -> u8 { match x { N::<u8> => 1, _ => 2 } }`, "no pattern"},
		{`fn g<const N: u32>(x: u32) -> u8 { match x { N::<u8> => 1, _ => 2 } }`, "no pattern"},
		{`fn g(x: u32) -> u32 { for N in 0..3 with s = 0 { match x { N => 1, _ => s } } }`, "hides the constant"},
	} {
		_, errs := check("const N: u32 = 1; " + c.text + " pub fn main(x: u8) -> u8 { x }")
		if len(errs) != 1 || !strings.Contains(render(errs), c.want) {
			t.Errorf("%s\n%s", c.text, render(errs))
		}
	}
	if _, errs := check(`const N: u32 = 1; fn g<const M: u32>(x: u32) -> u8 { match x { N => 1, M @ 2 => 3, _ => 2 } } pub fn main(x: u32) -> u8 { g::<3>(x) }`); len(errs) > 0 {
		t.Error(render(errs))
	}
	// A field's name alone is a pattern of that name: a constant is compared with.
	if _, errs := check(`const version: u8 = 1; struct S { version: u8, x: u8 } pub fn main(s: S) -> u8 { let S { version, x } = s; x }`); !strings.Contains(render(errs), "does not fit every value") {
		t.Error(render(errs))
	}
}

// A program of very many errors is checked to its end, and reports some of them.
// TestOwnLength checks declarations with lengths that ask for the type that is being declared.
func TestOwnLength(t *testing.T) {
	for _, text := range []string{
		`struct S { a: [u8; S { a: 1 }.a] }`,
		`struct S { a: [u8; S { ..1 }.a] }`,
		`const K: [S; 0] = []; struct S { a: [u8; K[0].a] }`,
		`const K: S = S { a: [] }; struct S { a: [u8; K.a] }`,
		`struct S { a: [u8; match 1 { S { a } => a }] }`,
		`type A = S; struct S { a: [u8; A { a: 1 }.a] }`,
		`const K: [S; 0] = []; struct S { a: [u8; match K { [S { a }] => a, [b] => b.a }] }`,
		`const K: [E; 0] = []; enum E { A([u8; match K[0] { E::A(x) => x, E::B => 1 }]), B }`,
		`enum E { A, B([u8; match E::A { E::A => 1, E::B(x) => 2 }]) }`,
		`const K: [E; 0] = []; enum E { A, B([u8; { let E::A = K[0]; 1 }]) }`,
	} {
		if _, errs := check(text + " pub fn main(x: u8) -> u8 { x }"); !strings.Contains(render(errs), "defined by itself") {
			t.Errorf("%s\n%s", text, render(errs))
		}
	}
}

// TestOrder checks constants of types that are declared behind them.
func TestOrder(t *testing.T) {
	for _, text := range []string{
		`const K: u8 = L.a; const L: A = A { a: 1 }; type A = S; struct S { a: u8 }`,
		`type A = B; type B = E; const K: A = E::X(1); enum E { X(u8) }`,
	} {
		if _, errs := check(text + " pub fn main(x: u8) -> u8 { x }"); errs != nil {
			t.Errorf("%s\n%s", text, render(errs))
		}
	}
}

func TestManyErrors(t *testing.T) {
	_, errs := check(strings.Repeat("const A: u8 = 1;\n", 2*maxErrors) + `const B: [u8; b"x"] = 3; pub fn main() {}`)
	if len(errs) != maxErrors {
		t.Errorf("%d errors", len(errs))
	}
}

// TestRefs checks what names stand for, also where parts of the program cannot be read.
func TestRefs(t *testing.T) {
	const text = `import "lib" (K);
struct P<T> { first: T }
enum E { A, B(u8) }
const N: u32 = 2;
fn f(p: P<u8>, xs: [u8; N]) -> u8 { let q = p.first; let z = ; lib::twice(q + K) }
fn g(e: E) -> u8 { match e { E::A => 0, E::B(n) => n } }
`
	p, errs := check(text, "lib.ix", `pub const K: u8 = 3; pub fn twice(x: u8) -> u8 { x + x }`)
	if len(errs) != 1 {
		t.Error(render(errs))
	}
	have := map[string]bool{}
	for _, r := range p.Refs {
		what := r.Text
		if r.Type != nil {
			what = r.Type.String()
		}
		have[r.Span.String()+" "+r.Span.Text()+" -> "+r.Def.String()+" "+r.What+" "+what] = true
	}
	for _, want := range []string{
		`main.ix:1:8 "lib" -> lib.ix:1:1 module module lib`,
		`main.ix:1:15 K -> lib.ix:1:11 constant pub const K: u8 = 3;`,
		`main.ix:2:8 P -> main.ix:2:8 struct struct P<T> { first: T }`,
		`main.ix:2:15 first -> main.ix:2:15 field T`,
		`main.ix:3:13 B -> main.ix:3:13 variant E::B(u8)`,
		`main.ix:5:25 N -> main.ix:4:7 constant const N: u32 = 2;`,
		`main.ix:5:41 q -> main.ix:5:41 let u8`,
		`main.ix:5:47 first -> main.ix:2:15 field u8`,
		`main.ix:5:64 lib -> lib.ix:1:1 module module lib`,
		`main.ix:5:69 twice -> lib.ix:1:29 function fn twice(x: u8) -> u8`,
		`main.ix:5:75 q -> main.ix:5:41 let u8`,
		`main.ix:6:44 B -> main.ix:3:13 variant E::B(u8)`,
		`main.ix:6:52 n -> main.ix:6:46 let u8`,
	} {
		if !have[want] {
			t.Errorf("no %s", want)
		}
	}
	if t.Failed() {
		for r := range have {
			t.Log(r)
		}
	}
}

// FuzzCheck checks that no program makes the checker panic.
func FuzzCheck(f *testing.F) {
	f.Add(`enum L<T> { N, C(T, &L<T>) } pub fn main(x: u8) -> u8 { match L::C(x, &L::N) { L::C(y, &L::N) => y, _ => 2 } }`)
	f.Add(`const N: u32 = 3; fn f<const M: u32>(x: [u8; M]) -> u8 { for i in 0..M with a = 0 { a + x[i] } } pub fn main() -> u8 { f([1; N]) }`)
	f.Fuzz(func(t *testing.T, text string) {
		_, errs := check(text)
		render(errs)
	})
}
