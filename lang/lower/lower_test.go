package lower_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang"
	bc "github.com/ixprove/ixprove/lang/bytecode"
)

// names are the functions of a program.
func names(p *lang.Program) string {
	var out []string
	for _, f := range p.Bytecode.Functions {
		out = append(out, f.Name)
	}
	return strings.Join(out, " ")
}

// count counts the operations of a code in a program.
func count(p *lang.Program, code bc.Code) int {
	n := 0
	var block func(b *bc.Block)
	block = func(b *bc.Block) {
		for i := range b.Ops {
			if b.Ops[i].Code == code {
				n++
			}
			if b.Ops[i].Match != nil {
				b.Ops[i].Match.Blocks(block)
			}
		}
		if b.End.Match != nil {
			b.End.Match.Blocks(block)
		}
	}
	for i := range p.Bytecode.Functions {
		block(&p.Bytecode.Functions[i].Body)
	}
	return n
}

func TestFunctions(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		// Only what entries reach is compiled.
		{`fn unused(n: field) -> field { unused(n - 1) } pub fn f(n: field) -> field { n }`, "f"},
		// Small functions are replaced by their bodies, unless they are recursive or must not be.
		{`fn twice(n: field) -> field { n + n } pub fn f(n: field) -> field { twice(twice(n)) }`, "f"},
		{`#[inline(never)] fn twice(n: field) -> field { n + n } pub fn f(n: field) -> field { twice(twice(n)) }`, "f twice"},
		{`fn down(n: field) -> field { match n { 0 => 0, _ => down(n - 1) } } pub fn f(n: field) -> field { down(n) }`, "f down"},
		{`fn big(n: u64) -> u64 { n / 3 + n / 5 * (n % 7) } pub fn f(n: u64) -> u64 { big(n) + big(n + 1) }`, "f big"},
		{`#[inline] fn big(n: u64) -> u64 { n / 3 + n / 5 * (n % 7) } pub fn f(n: u64) -> u64 { big(n) + big(n + 1) }`, "f"},
		// One function for each choice of type arguments, and one for those that are equal.
		{`fn id<T>(x: T, n: field) -> T { match n { 0 => x, _ => id(x, n - 1) } } pub fn f(n: field) -> (field, bool, (u8, u8)) { (id(n, n), id(n == 3, n), id((1, 2), n)) }`, "f id<field> id<(u8, u8)>"},
		{`fn a(n: field) -> field { match n { 0 => 5, _ => b(n - 1) } } fn b(n: field) -> field { match n { 0 => 5, _ => a(n - 1) } } pub fn f(n: field) -> field { a(n) + b(n) }`, "f a"},
		{`fn a(n: field) -> field { match n { 0 => 5, _ => b(n - 1) } } fn b(n: field) -> field { match n { 0 => 6, _ => a(n - 1) } } pub fn f(n: field) -> field { a(n) + b(n) }`, "f a b"},
		// Entries stay apart.
		{`pub fn f(n: field) -> field { n * n } pub fn g(n: field) -> field { n * n }`, "f g"},
	} {
		if got := names(compile(t, c.text)); got != c.want {
			t.Errorf("%s\nhas %s, want %s", c.text, got, c.want)
		}
	}
}

func TestOperations(t *testing.T) {
	for _, c := range []struct {
		text string
		code bc.Code
		want int
	}{
		{`pub fn f(a: field, b: field) -> field { (a * b + 1) * (a * b) }`, bc.OpMul, 2},                          // a·b is made once
		{`pub fn f(a: field, b: field) -> field { let _ = a * b; a }`, bc.OpMul, 0},                               // nobody uses it
		{`pub fn f(a: field) -> field { match a { 0 => a * a, _ => a * a * a } }`, bc.OpMul, 3},                   // made in each of two blocks
		{`pub fn f(a: field) -> field { let s = a * a; match a { 0 => s, _ => s * a } }`, bc.OpMul, 2},            // made before them
		{`pub fn f(a: u8) -> u8 { (2 + 3 * 4) + a }`, bc.OpRange, 1},                                              // constants are computed
		{`pub fn f(a: u8) -> u8 { if 1u8 < 2 { a } else { a / 0 } }`, bc.OpHintDivMod, 0},                         // what is decided is not made
		{`pub fn f(a: u8) -> u8 { let x = match a { 0 => (1, 2), 1 => (1, 3), _ => (1, 4) }; x.0 }`, bc.OpMul, 0}, //
		{`pub fn f(a: u32, b: u32) -> bool { a < b && b != 3 }`, bc.OpMatch, 0},                                   // a right side that cannot fail needs no choice
		{`pub fn f(a: u32, b: u32) -> bool { a < b && b - 1 != 3 }`, bc.OpMatch, 1},                               // one that can does
		{`pub fn f(a: bool, b: field) -> field { if a { b } else { 1 - b } }`, bc.OpMatch, 0},                     // a choice of free values is a sum
		{`fn g(p: &(u8, u8)) -> u8 { (*p).0 + (*p).1 } pub fn f(a: u8) -> u8 { g(&(a, 1)) }`, bc.OpLoad, 1},       // loaded once
	} {
		if got := count(compile(t, c.text), c.code); got != c.want {
			t.Errorf("%s\nhas %d of %s, want %d", c.text, got, c.code, c.want)
		}
	}
}

// TestMerge checks that a choice yields only what its blocks differ in and what is used.
func TestMerge(t *testing.T) {
	p := compile(t, `pub fn f(a: u8, b: u8) -> u8 { let x = match a { 0 => (1, b, 7, b + 1), 1 => (1, b, 8, b + 2), _ => (1, b, 9, b + 3) }; x.0 + x.1 + x.2 }`)
	var widths []uint64
	for _, o := range p.Bytecode.Functions[0].Body.Ops {
		if o.Code == bc.OpMatch {
			widths = append(widths, o.A)
		}
	}
	if len(widths) != 1 || widths[0] != 1 {
		t.Errorf("the choices yield %v words, want one of 1", widths)
	}
}

// TestSharedArm checks that a large arm that several leaves reach is made once.
func TestSharedArm(t *testing.T) {
	p := compile(t, `pub fn f(a: u8, b: u8, n: u64) -> u64 { match (a, b) { (0, 1) | (2, 3) | (4, 5) => n / 3 / 5 / 7, (x, _) => x as u64 } }`)
	if got := count(p, bc.OpHintDivMod); got != 3 {
		t.Errorf("%d divisions, want 3", got)
	}
}

// TestLongNames checks that values of a claim have a name each, also where those of the source are longer than the formats allow.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("a", 70)
	p := compile(t, "struct S { "+long+"x: u8, "+long+"y: u8, b: u8, "+long+"z: u8 } pub fn f("+long+": [u8; 12], s: S) -> (S, S) { (s, s) }")
	e := p.Bytecode.Entries[0]
	for _, list := range [][]formats.Value{e.Args, e.Results} {
		names := map[string]bool{}
		for _, v := range list {
			names[v.Name] = true
		}
		if len(names) != len(list) {
			t.Errorf("%d names for %d values: %v", len(names), len(list), list)
		}
	}
}

// TestRepeatedGenericCalls compiles a loop of calls with one large type: it is measured once.
func TestRepeatedGenericCalls(t *testing.T) {
	text := "fn g<T>(x: T) -> T { x } pub fn f(x: u32) -> u32 { let t = (" + strings.Repeat("x, ", 200) + "x); let r = for i in 0..100000 with t = t { g(t) }; r.0 }"
	if _, err := lang.Compile(fstest.MapFS{"main.ix": {Data: []byte(text)}}, "main.ix"); err != nil {
		t.Error(err)
	}
}

// TestLargeTables compiles a program that uses a table of constants as often as lowering allows.
func TestLargeTables(t *testing.T) {
	text := "const T: [u32; 65536] = [7; 65536]; pub fn f(x: u32) -> u32 { " + strings.Repeat("let x = x ^ T[5]; ", 250) + "x }"
	if _, err := lang.Compile(fstest.MapFS{"main.ix": {Data: []byte(text)}}, "main.ix"); err != nil {
		t.Error(err)
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`pub fn f(a: u64) -> u64 { for i in 0..60000 with s = a { for k in 0..60000 with t = s { t ^ a } } }`, "too large"},
		{`pub fn f(a: u64) -> u64 { for i in 0..60000 with s = a { let x = [for k in 0..60000 => k]; s } }`, "too large"},
		{`pub fn f(a: u64) -> u64 { for i in 0..60000 with s = a { let x = [a; 60000]; s } }`, "too large"},
		{`pub fn f(a: u64) -> u64 { for i in 0..60000 with s = a { for k in 0..60000 { } s } }`, "too large"},
		{`fn g<T>(x: T, n: field) -> field { match n { 0 => 0, _ => g(&x, n - 1) } } pub fn f(n: field) -> field { g(n, n) }`, "ever larger types"},
		{`pub fn f(a: [u8; 257]) -> u8 { a[0] }`, "too many public values"},
		{`fn g(a: [u64; 300]) -> u64 { match a[0] { 0 => 1, _ => g(a) } } pub fn f(a: u64) -> u64 { g([a; 300]) }`, "arguments or result are too large"},
		{`struct S { a: [u64; 40000], b: [u64; 40000], c: [u64; 40000] } pub fn f(x: u64) -> u64 { let s = S { a: [1; 40000], b: [2; 40000], c: [3; 40000] }; s.c[0] + x }`, "value is too large"},
		{`struct S { a: [u64; 65000], b: [u64; 65000] } pub fn f(x: u64) -> u64 { let s = S { b: [2; 65000], a: [x; 65000] }; S { a: [1; 65000], ..s }.b[60000] }`, "value is too large"},
		{`enum E { A([u64; 65000], [u64; 65000]), B } pub fn f(x: u64) -> u64 { match E::A([1; 65000], [x; 65000]) { E::A(a, b) => a[9] + b[9], E::B => 0 } }`, "value is too large"},
		{`pub fn f(a: u64) -> u64 { (*&[a; 300])[3] }`, "too large to be stored"},
		{doubling("struct A%d { a: A%d, b: A%d }\n", "struct A0 {}\npub fn f(a: A30) -> u8 { 1 }"), "type is too large"},
		{doubling("type A%d = (A%d, A%d);\n", "type A0 = ();\npub fn f(a: A30) -> u8 { 1 }"), "type is too large"},
		{"fn f30() -> u8 { 1 }\npub fn f(x: u8) -> u8 { let a0 = (x, x);\n" + doubling("let a%d = (a%d, a%d);\n", "1 }"), "type is too large"},
		{`pub fn f(a: field) -> field { let x = [[[a; 60000]; 60000]; 60000]; x[0][0][0] }`, "type is too large"},
		{`#[inline] fn g(n: field) -> field { match n { 0 => 0, _ => g(n - 1) } } pub fn f(n: field) -> field { g(n) }`, "cannot be inlined"},
		{`pub fn f(private n: field) {}`, "states nothing"},
		{`import "std/u32"; pub fn f(x: u32, n: u32) -> u32 { u32::rotate_right(x, n) }`, "is constant"},
		{`pub fn f(i: u32) -> u8 { [1u8; 5000][i] }`, "at most 4096"},
		{`unconstrained fn h<T>(x: T) -> T { x } fn any<T>(x: T) -> bool { true } fn g<T>(x: T) -> T { let y = unconstrained h(x) where any(y); y } pub fn f(x: u8) -> u8 { *g(&x) + g(x) }`, "has no pointers"},
	} {
		_, err := lang.Compile(fstest.MapFS{"main.ix": {Data: []byte(c.text)}}, "main.ix")
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, formats.Limit) && !errors.Is(err, formats.Invalid) {
			t.Errorf("%s\n%v, want %q", c.text, err, c.want)
		}
	}
}

// doubling repeats a line for 1 to 30, each time with the number and twice the number before.
func doubling(line, end string) string {
	var b strings.Builder
	for i := 1; i <= 30; i++ {
		fmt.Fprintf(&b, line, i, i-1, i-1)
	}
	return b.String() + end
}
