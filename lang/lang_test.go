package lang_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/lang/values"
)

func files(text string) fstest.MapFS { return fstest.MapFS{"main.ix": {Data: []byte(text)}} }

func compile(t testing.TB, text string) *lang.Program {
	t.Helper()
	p, err := lang.Compile(files(text), "main.ix")
	if err != nil {
		t.Fatalf("%s\n%s", text, explain(err))
	}
	return p
}

func explain(err error) string {
	var b strings.Builder
	var list syntax.Errors
	if errors.As(err, &list) {
		list.Text(&b)
		return b.String()
	}
	return err.Error()
}

// run executes a call and gives the result as text.
func run(t testing.TB, p *lang.Program, call, witness string) (string, error) {
	t.Helper()
	c, err := p.ParseCall(call)
	if err != nil {
		t.Fatal(explain(err))
	}
	m, err := exec.Load(p.Bytecode)
	if err != nil {
		t.Fatal(err)
	}
	private, err := values.Witness(&p.Entries[c.Entry], []byte(witness), func(string) ([]byte, error) { return nil, errors.New("no files here") })
	if err != nil {
		return "", err
	}
	r, err := m.Execute(context.Background(), []exec.Call{{Entry: c.Entry, Args: c.Words}}, p.Inputs(c.Entry, private), exec.Limits{Memory: 1 << 30, Steps: 1 << 27})
	if err != nil {
		return "", err
	}
	return values.Text(p.Entries[c.Entry].Result, p.Result(c.Entry, r.Claims[0].Results)), nil
}

func TestRun(t *testing.T) {
	for _, c := range []struct{ text, call, witness, want string }{
		{`pub fn fib(n: field) -> field { match n { 0 => 0, 1 => 1, _ => fib(n - 1) + fib(n - 2) } }`, "fib(90)", "{}", "2880067194370816120"},
		{`pub fn f(a: u8, b: u32, c: u64) -> (u8, u32, u64) { (a + 1, b * b, c * c - 1) }`, "f(254, 65535, 4294967295)", "{}", "(255, 4294836225, 18446744065119617024)"},
		{`pub fn f(a: u64, b: u64) -> (u64, u64, u64, u64, u64) { (a / b, a % b, a & b, a | b, a ^ b) }`, "f(18446744073709551615, 1311768467463790320)", "{}",
			"(14, 81985529216487135, 1311768467463790320, 18446744073709551615, 17134975606245761295)"},
		{`pub fn f(a: u32, b: u32) -> (bool, bool, bool, bool, bool, bool) { (a < b, a <= b, a > b, a >= b, a == b, a != b) }`, "f(3, 4)", "{}", "(true, true, false, false, false, true)"},
		{`pub fn f(a: u64, b: u64) -> (bool, bool, bool, bool, bool, bool) { (a < b, a <= b, a > b, a >= b, a == b, a != b) }`, "f(4294967296, 1)", "{}", "(false, false, true, true, false, true)"},
		{`pub fn f(a: u64, k: u32) -> (u64, u64, u64) { (a << 4, a >> 36, a << k >> (k + 1)) }`, "f(1152921504606846975, 2)", "{}", "(18446744073709551600, 16777215, 576460752303423487)"},
		{`struct P { x: u8, y: (bool, u64) } pub fn f(p: P) -> P { let P { x, y: (b, n) } = p; P { y: (!b, n + 1), ..P { x: x + 1, y: p.y } } }`, "f(P { x: 1, y: (false, 2) })", "{}", "P { x: 2, y: (true, 3) }"},
		{`enum E { A, B(u64), C(u8, bool) } pub fn f(e: E) -> E { match e { E::A => E::B(5), E::B(n) => E::C(n as u8, n == 7), E::C(_, true) => E::A, E::C(x, _) => E::C(x, true) } }`, "f(E::C(9, false))", "{}", "E::C(9, true)"},
		{`import "std/list" (List, sum, length, reverse); pub fn f(private l: List<u64>) -> (u64, u32, u64) { (sum(l), length(l), match reverse(l) { List::Cons(x, _) => x, _ => 0 }) }`, "f()", `{"l": [1, 2, "18446744073709551000"]}`,
			"(18446744073709551003, 3, 18446744073709551000)"},
		{`pub fn f(x: [u8; 4], i: u32) -> (u8, [u8; 2], u32) { (x[i], x[1..3], for k in 0..4 with s = 0u32 { s + x[k] as u32 * k }) }`, `f(b"abcd", 2)`, "{}", "(99, [98, 99], 596)"},
		{`unconstrained fn root(x: u64) -> u64 { try(x, 0) } unconstrained fn try(x: u64, r: u64) -> u64 { if (r + 1) * (r + 1) > x { r } else { try(x, r + 1) } }
		pub fn f(x: u64) -> u64 { let r = unconstrained root(x) where r * r <= x && x < (r + 1) * (r + 1); r }`, "f(1000)", "{}", "31"},
		{`fn even(n: u32) -> bool { n == 0 || odd(n - 1) } fn odd(n: u32) -> bool { n != 0 && even(n - 1) } pub fn f(n: u32) -> bool { even(n) }`, "f(10)", "{}", "true"},
		{`pub fn f(x: field) -> (field, u64, bool) { (1 / x, x as u64, (-x) as u64 == 18446744069414584319) }`, "f(2)", "{}", "(9223372034707292161, 2, true)"},
		{`fn id<T>(x: &T) -> T { *x } pub fn f(x: u8) -> (u8, (u8, bool)) { (id(&x), id(&(x, true))) }`, "f(7)", "{}", "(7, (7, true))"},
		{`pub fn f(x: u32, y: (u8, u8)) -> u32 { match (x, y) { (0 | 1 | 2, (a, 3)) | (_, (3, a)) => a as u32 + 100, (n, (1, 2)) => n, _ => 77 } }`, "f(2, (5, 3))", "{}", "105"},
	} {
		p := compile(t, c.text)
		got, err := run(t, p, c.call, c.witness)
		if err != nil || got != c.want {
			t.Errorf("%s\n%s = %s, %v; want %s", c.text, c.call, got, err, c.want)
		}
	}
}

func TestRunFails(t *testing.T) {
	for _, c := range []struct{ text, call, witness, want string }{
		{`pub fn f(a: u8) -> u8 { a + 1 }`, "f(255)", "{}", "the sum overflows u8"},
		{`pub fn f(a: u32) -> u32 { 3 - a }`, "f(4)", "{}", "the difference is below zero in u32"},
		{`pub fn f(a: u64) -> u64 { a * a }`, "f(4294967296)", "{}", "the product overflows u64"},
		{`pub fn f(a: u64, b: u64) -> u64 { a * b }`, "f(4, 4611686018427387904)", "{}", "the product overflows u64"},
		{`pub fn f(a: u64) -> u64 { a << 40 }`, "f(16777216)", "{}", "the shift overflows u64"},
		{`pub fn f(a: u64) -> u64 { a << 4 }`, "f(1152921504606846976)", "{}", "the shift overflows u64"},
		{`pub fn f(a: u32, k: u32) -> u32 { a << k }`, "f(3, 31)", "{}", "the shift overflows u32"},
		{`pub fn f(a: u32, b: u32) -> u32 { assert a <= b; a }`, "f(4, 3)", "{}", "the assertion fails"},
		{`pub fn f(a: u8) -> bool { a as bool }`, "f(2)", "{}", "the value is no bool"},
		{`pub fn f(a: u64) -> field { a as field }`, "f(18446744073709551615)", "{}", "the value is no field"},
		{`pub fn f(a: u64) -> u64 { a / (a - a) }`, "f(4)", "{}", "division by zero in u64"},
		{`pub fn f(a: field) -> field { 1 / a }`, "f(0)", "{}", "division by zero in field"},
		{`pub fn f(a: u64) -> u8 { a as u8 }`, "f(256)", "{}", "the value is no u8"},
		{`pub fn f(a: u64) -> field { a as field }`, "f(18446744069414584321)", "{}", "the value is no field"},
		{`pub fn f(a: u8) -> u8 { assert a < 3, "too large"; a }`, "f(3)", "{}", "the assertion fails: too large"},
		{`pub fn f(a: u8) -> u8 { match a { 1 => 2, _ => fail "no" } }`, "f(3)", "{}", "the program fails: no"},
		{`pub fn f(a: [u8; 3], i: u32) -> u8 { a[i] }`, "f([1, 2, 3], 3)", "{}", "outside of the array of 3"},
		{`import "std/u64"; pub fn f(a: u64) -> u64 { u64::rotate_right(a, 64) }`, "f(1)", "{}", "by 63 places at most"},
		{`pub fn f(a: u8, i: u32) -> u8 { a << i }`, "f(1, 8)", "{}", "power_of_two_u8"},
		{`unconstrained fn g() -> u8 { 3 } pub fn f() -> u8 { let x = unconstrained g() where x == 4; x }`, "f()", "{}", "does not satisfy its condition"},
		{`pub fn f(private x: bool) -> bool { x }`, "f()", `{"x": 1}`, "another type"},
		{`pub fn f(private x: bool) -> bool { x }`, "f()", `{}`, "missing"},
	} {
		p := compile(t, c.text)
		got, err := run(t, p, c.call, c.witness)
		var e *formats.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n%s = %s, %v; want %q", c.text, c.call, got, err, c.want)
		}
	}
}
