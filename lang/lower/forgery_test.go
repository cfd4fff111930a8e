package lower_test

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ixprove/ixprove/lang"
	bc "github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/lang/internal/assembly"
	"github.com/ixprove/ixprove/verifier/field"
)

func compile(t testing.TB, text string) *lang.Program {
	t.Helper()
	p, err := lang.Compile(fstest.MapFS{"main.ix": {Data: []byte(text)}}, "main.ix")
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return p
}

// hints lists the hints of a block and the blocks in it.
func hints(b *bc.Block, out []*bc.Op) []*bc.Op {
	inner := func(b *bc.Block) { out = hints(b, out) }
	for i := range b.Ops {
		if b.Ops[i].IsHint() {
			out = append(out, &b.Ops[i])
		}
		if b.Ops[i].Match != nil {
			b.Ops[i].Match.Blocks(inner)
		}
	}
	if b.End.Match != nil {
		b.End.Match.Blocks(inner)
	}
	return out
}

// lie makes the results of the n-th hint of a program's first entry those of a dishonest prover: constants.
func lie(p *bc.Program, n int, results []uint64) *bc.Program {
	out := *p
	out.Functions = slices.Clone(p.Functions)
	f := &out.Functions[p.Entries[0].Function]
	seen := 0
	f.Body = assembly.Rewrite(f.Body, func(o bc.Op) []bc.Op {
		if o.IsHint() {
			if seen++; seen-1 == n {
				var ops []bc.Op
				for _, r := range results {
					ops = append(ops, bc.Op{Code: bc.OpConst, A: r})
				}
				return ops
			}
		}
		return []bc.Op{o}
	})
	return &out
}

func executes(t *testing.T, p *bc.Program, args []field.Element, inputs [][]field.Element) ([]field.Element, bool) {
	t.Helper()
	m, err := exec.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Execute(context.Background(), []exec.Call{{Entry: 0, Args: args}}, inputs, exec.Limits{Steps: 1 << 20})
	if err != nil {
		return nil, false
	}
	return r.Claims[0].Results, true
}

// inverse of a nonzero element.
func inverse(x field.Element) field.Element {
	v, _ := field.Inverse(x)
	return v
}

// forgeries are results for a hint that a prover might try: random ones, ones near the honest ones, ones that are right in the field but not as integers, and the limits of the types.
func forgeries(r *rand.Rand, args []field.Element, honest []field.Element, results int) (out [][]uint64) {
	edges := []uint64{0, 1, 2, 255, 256, 1<<32 - 1, 1 << 32, field.Modulus - 1, field.Modulus - 2, 1<<32 + 1}
	for range 60 {
		f := make([]uint64, results)
		for i := range f {
			switch r.IntN(4) {
			case 0:
				f[i] = edges[r.IntN(len(edges))]
			case 1:
				f[i] = uint64(field.New(r.Uint64()))
			case 2:
				f[i] = uint64(r.IntN(1 << 16))
			default:
				if i < len(honest) {
					f[i] = uint64(field.Add(honest[i], field.New(uint64(r.IntN(3)))))
				}
			}
		}
		out = append(out, f)
	}
	// x = y·q + r in the field for any r.
	switch {
	case results == 2 && len(args) == 2 && args[1] != 0:
		for _, rem := range []uint64{0, 1, 2, uint64(args[1]), uint64(args[1]) - 1, 77} {
			q := field.Mul(field.Sub(args[0], field.New(rem)), inverse(args[1]))
			out = append(out, []uint64{uint64(q), rem})
		}
		for _, q := range []uint64{0, 1, 5} {
			out = append(out, []uint64{q, uint64(field.Sub(args[0], field.Mul(field.Element(q), args[1])))})
		}
	case results == 4 && len(args) == 4 && args[2] != 0:
		// Halves that make the same number without being below 2^32.
		for i := 0; i < 4; i += 2 {
			f := make([]uint64, 4)
			for k := range f {
				f[k] = uint64(honest[k])
			}
			f[i], f[i+1] = f[i]+1<<32, uint64(field.Sub(field.New(f[i+1]), 1))
			out = append(out, f)
		}
		for _, rem := range []uint64{0, 1, uint64(args[0])} {
			q := field.Mul(field.Sub(args[0], field.New(rem)), inverse(args[2]))
			out = append(out, []uint64{uint64(q) & 0xffffffff, uint64(q) >> 32, rem, 0}, []uint64{uint64(q), 0, rem, 0}, []uint64{0, 0, uint64(args[0]), uint64(args[1])})
		}
	}
	return out
}

// TestHintsAreChecked replaces each hint that the compiler puts into a program by the words of a dishonest prover: no execution may give another result.
func TestHintsAreChecked(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		text string
		args [][]field.Element
	}{
		{"pub fn f(x: u8, y: u8) -> (u8, u8) { (x / y, x % y) }", [][]field.Element{{200, 7}, {255, 255}, {3, 200}, {0, 1}}},
		{"pub fn f(x: u32, y: u32) -> (u32, u32) { (x / y, x % y) }", [][]field.Element{{4000000000, 7}, {1<<32 - 1, 1<<32 - 1}, {3, 1 << 31}, {0, 1}, {1<<32 - 1, 1}}},
		{"pub fn f(x: u64, y: u64) -> (u64, u64) { (x / y, x % y) }", [][]field.Element{{77, 0, 7, 0}, {5, 1, 7, 0}, {5, 9, 0, 4}, {3, 7, 0, 1 << 31}, {1<<32 - 1, 1<<32 - 1, 3, 0}, {9, 0, 1, 1}, {1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1}}},
		{"pub fn f(x: field, y: field) -> field { x / y }", [][]field.Element{{5, 7}, {0, 1}, {field.Modulus - 1, 2}}},
		{"pub fn f(x: u32, k: u32) -> u32 { x >> k }", [][]field.Element{{1 << 31, 3}, {77, 0}}},
		{"unconstrained fn g(x: u64) -> (u64, u8) { (x / 10, (x % 10) as u8) } pub fn f(x: u64) -> (u64, u8) { let (q, d) = unconstrained g(x) where q * 10 + (d as u64) == x && d < 10; (q, d) }",
			[][]field.Element{{123, 0}, {5, 77}}},
		{"enum E { A, B(u8, bool), C(u32) } unconstrained fn g(x: u32) -> E { if x < 10 { E::B(x as u8, true) } else if x == 77 { E::A } else { E::C(x) } } fn n(e: E) -> u32 { match e { E::A => 77, E::B(a, b) => if b { a as u32 } else { fail }, E::C(x) => x } } " +
			"pub fn f(x: u32) -> (E, bool) { let e = unconstrained g(x) where n(e) == x && (x > 300 || e == g2(x)); (e, true) } fn g2(x: u32) -> E { if x < 10 { E::B(x as u8, true) } else if x == 77 { E::A } else { E::C(x) } }",
			[][]field.Element{{5}, {77}, {200}, {1000}}},
	} {
		p := compile(t, c.text)
		tried := 0
		for _, args := range c.args {
			honest, ok := executes(t, p.Bytecode, args, nil)
			if !ok {
				t.Fatalf("%s fails for %v", c.text, args)
			}
			list := hints(&p.Bytecode.Functions[p.Bytecode.Entries[0].Function].Body, nil)
			for n, h := range list {
				_, results := p.Bytecode.Arity(h)
				for _, f := range forgeries(r, args, honest, results) {
					tried++
					got, ok := executes(t, lie(p.Bytecode, n, f), args, nil)
					if ok && !slices.Equal(got, honest) {
						t.Errorf("%s\nwith %v: the hint %d = %v gives %v instead of %v", c.text, args, n, f, got, honest)
					}
				}
			}
		}
		if tried == 0 {
			t.Errorf("%s has no hints", c.text)
		}
	}
}

// TestPrivateValuesAreChecked gives programs words as private inputs that are no values of the arguments' types. Inputs are hints: what the executor's input sizes refuse a prover could still give, so they are
// replaced in the bytecode.
func TestPrivateValuesAreChecked(t *testing.T) {
	for _, c := range []struct {
		typ  string
		good [][]uint64
		bad  [][]uint64
	}{
		{"bool", [][]uint64{{0}, {1}}, [][]uint64{{2}, {field.Modulus - 1}}},
		{"u8", [][]uint64{{255}}, [][]uint64{{256}, {1 << 32}, {field.Modulus - 1}}},
		{"u32", [][]uint64{{1<<32 - 1}}, [][]uint64{{1 << 32}, {field.Modulus - 1}}},
		{"u64", [][]uint64{{1<<32 - 1, 1<<32 - 1}}, [][]uint64{{1 << 32, 0}, {0, 1 << 32}, {field.Modulus - 1, 0}}},
		{"(u8, [bool; 2])", [][]uint64{{255, 0, 1}}, [][]uint64{{256, 0, 1}, {0, 2, 0}, {0, 0, 2}}},
		{"E", [][]uint64{{0}, {1, 255, 1}, {2, 1 << 31}}, [][]uint64{{3}, {field.Modulus - 1}, {1, 256, 1}, {1, 255, 2}, {2, 1 << 32}}},
		{"S", [][]uint64{{1, 5}}, [][]uint64{{2, 5}, {1, 256}}},
		{"&u8", [][]uint64{{255}}, [][]uint64{{256}}},
		{"L", [][]uint64{{0}, {1, 5, 0}, {1, 5, 1, 255, 0}}, [][]uint64{{2}, {1, 256, 0}, {1, 5, 1, 256, 0}, {1, 5, 2}}},
	} {
		text := "enum E { A, B(u8, bool), C(u32) } enum L { Nil, Cons(u8, &L) } struct S { a: bool, b: u8 } pub fn f(private x: " + c.typ + ") -> u8 { 7 }"
		p := compile(t, text)
		check := func(words []uint64, want bool) {
			t.Helper()
			out := *p.Bytecode
			out.Inputs = slices.Clone(p.Bytecode.Inputs)
			out.Inputs[0].Bits = 64
			in := make([]field.Element, len(words))
			for i, w := range words {
				in[i] = field.Element(w)
			}
			if _, ok := executes(t, &out, nil, [][]field.Element{in}); ok != want {
				t.Errorf("%s: %v is accepted: %v", c.typ, words, ok)
			}
		}
		for _, words := range c.good {
			check(words, true)
		}
		for _, words := range c.bad {
			check(words, false)
		}
	}
}

// TestPublicValuesAreChecked gives entries words that a claim's types allow but the arguments' types do not.
func TestPublicValuesAreChecked(t *testing.T) {
	for _, c := range []struct {
		typ string
		bad [][]field.Element
	}{
		{"bool", [][]field.Element{{2}, {255}}},
		{"(u8, bool)", [][]field.Element{{1, 2}}},
		{"E", [][]field.Element{{3, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 256, 1}, {1, 255, 2}, {2, 1 << 32, 0}, {2, 5, 1}}},
	} {
		p := compile(t, "enum E { A, B(u8, bool), C(u32) } pub fn f(x: "+c.typ+") -> u8 { 7 }")
		for _, words := range c.bad {
			if _, ok := executes(t, p.Bytecode, words, nil); ok {
				t.Errorf("%s: %v is accepted", c.typ, words)
			}
		}
	}
}

// TestHintedStruct checks that the fields of a struct from a hint are values of their types.
func TestHintedStruct(t *testing.T) {
	p := compile(t, "struct S { a: bool, b: u8 } unconstrained fn g() -> S { S { a: true, b: 1 } } pub fn f() -> S { let s = unconstrained g() where s.a || s.b as u32 < 10000; s }")
	for _, words := range [][]uint64{{2, 1}, {1, 256}} {
		if _, ok := executes(t, lie(p.Bytecode, 0, words), nil, nil); ok {
			t.Errorf("%v is accepted", words)
		}
	}
}

// TestHintedEnumPadding checks that an enum from a hint has zeros behind its payload, so that equal values have equal words.
func TestHintedEnumPadding(t *testing.T) {
	p := compile(t, "enum E { A, B(u8, bool) } unconstrained fn g() -> E { E::A } pub fn f() -> E { let e = unconstrained g() where match e { E::A => true, _ => true }; e }")
	for _, c := range []struct {
		words []uint64
		want  bool
	}{{[]uint64{0, 0, 0}, true}, {[]uint64{1, 200, 1}, true}, {[]uint64{0, 1, 0}, false}, {[]uint64{0, 0, 1}, false}, {[]uint64{1, 256, 0}, false}, {[]uint64{1, 0, 2}, false}, {[]uint64{2, 0, 0}, false}} {
		if _, ok := executes(t, lie(p.Bytecode, 0, c.words), nil, nil); ok != c.want {
			t.Errorf("%v is accepted: %v", c.words, ok)
		}
	}
	if fmt.Sprint(len(hints(&p.Bytecode.Functions[p.Bytecode.Entries[0].Function].Body, nil))) != "1" {
		t.Error("the entry has no hint of its own")
	}
}

// words256 are the words of a number below 2^256.
func words256(x *big.Int) (out []uint64) {
	for i := range 8 {
		out = append(out, new(big.Int).Rsh(x, uint(32*i)).Uint64()&0xffffffff)
	}
	return out
}

// carries256 are the carries that show a·b = q·m + r in limbs of 16 bits, moved by 2^31; the last one is checked by nobody here.
func carries256(a, b, q, m, r *big.Int) (out []uint64) {
	limb := func(x *big.Int, i int) int64 { return int64(new(big.Int).Rsh(x, uint(16*i)).Uint64() & 0xffff) }
	carry := int64(0)
	for k := range 30 {
		p := int64(0)
		for i := max(0, k-15); i <= min(k, 15); i++ {
			p += limb(a, i)*limb(b, k-i) - limb(q, i)*limb(m, k-i)
		}
		if k < 16 {
			p -= limb(r, k)
		}
		carry = (carry - p) >> 16
		out = append(out, uint64(carry+1<<31)&0xffffffff)
	}
	return out
}

// TestModularHintsAreChecked gives modular operations quotients, results and carries of a dishonest prover.
func TestModularHintsAreChecked(t *testing.T) {
	m, _ := new(big.Int).SetString("8000000000000000000000000000000000000000000000000000000000000063", 16)
	a, _ := new(big.Int).SetString("7123456789abcdef00000000fffffffffedcba98765432100123456789abcdef", 16)
	b, _ := new(big.Int).SetString("6fffffffffffffffffffffffffffffff00000000000000000000000000000001", 16)
	constant := strings.ReplaceAll(strings.Trim(fmt.Sprint(words256(m)), "[]"), " ", ", ")
	var args []field.Element
	for _, w := range append(words256(a), words256(b)...) {
		args = append(args, field.Element(w))
	}
	q, r := new(big.Int).DivMod(new(big.Int).Mul(a, b), m, new(big.Int))
	sum := new(big.Int).Add(a, b)
	less := new(big.Int).Sub(a, b)
	one := big.NewInt(1)
	join := func(list ...[]uint64) []uint64 { return slices.Concat(list...) }
	product := func(q, r *big.Int) []uint64 { return join(words256(q), words256(r), carries256(a, b, q, m, r)) }
	for _, c := range []struct {
		name string
		good []uint64
		bad  [][]uint64
	}{
		{"product_mod", product(q, r), [][]uint64{
			product(new(big.Int).Sub(q, one), new(big.Int).Add(r, m)), // the result is not below m
			product(q, new(big.Int).Add(r, one)), product(new(big.Int).Add(q, one), r), product(new(big.Int), new(big.Int)),
			join(words256(q), words256(new(big.Int).Add(r, one)), carries256(a, b, q, m, r)),
		}},
		{"sum_mod", join(words256(new(big.Int).Sub(sum, m)), []uint64{1}), [][]uint64{
			join(words256(sum), []uint64{0}), join(words256(new(big.Int).Sub(sum, m)), []uint64{0}), join(words256(new(big.Int).Sub(sum, new(big.Int).Add(m, m))), []uint64{2}), join(words256(one), []uint64{1}),
		}},
		{"difference_mod", join(words256(less), []uint64{0}), [][]uint64{
			join(words256(new(big.Int).Add(less, m)), []uint64{1}), join(words256(less), []uint64{1}), join(words256(one), []uint64{0}),
		}},
	} {
		p := compile(t, `import "std/u256" (U256); const M: U256 = U256 { words: [`+constant+`] }; pub fn f(a: U256, b: U256) -> U256 { u256::`+c.name+`(a, b, M) }`)
		honest, ok := executes(t, p.Bytecode, args, nil)
		if !ok {
			t.Fatalf("%s fails", c.name)
		}
		if got, ok := executes(t, lie(p.Bytecode, 0, c.good), args, nil); !ok || !slices.Equal(got, honest) {
			t.Errorf("%s: honest hints are refused", c.name)
		}
		for i, words := range c.bad {
			if got, ok := executes(t, lie(p.Bytecode, 0, words), args, nil); ok {
				t.Errorf("%s: forgery %d gives %v", c.name, i, got)
			}
		}
		// Each word changed alone, within and outside of its type.
		for i := range c.good {
			for _, d := range []uint64{1, 2, 1 << 16, 1 << 32, field.Modulus - 1, field.Modulus - 1<<32} {
				words := slices.Clone(c.good)
				words[i] = uint64(field.Add(field.Element(words[i]), field.Element(d)))
				if got, ok := executes(t, lie(p.Bytecode, 0, words), args, nil); ok {
					t.Errorf("%s: word %d + %d gives %v", c.name, i, d, got)
				}
			}
		}
	}
}

// TestModularCarries gives a sum that is right modulo 2^256 but not as a number, and an inverse that is not below the modulus.
func TestModularCarries(t *testing.T) {
	power := new(big.Int).Lsh(big.NewInt(1), 256)
	for _, c := range []struct {
		body  string
		m, a  *big.Int // the entry's argument
		forge func(m, a *big.Int) []uint64
	}{
		{"u256::sum_mod(a, a, M)", new(big.Int).Sub(power, big.NewInt(189)), new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(77)), func(m, a *big.Int) []uint64 {
			return append(words256(new(big.Int).Sub(new(big.Int).Add(a, a), power)), 0)
		}},
		{"u256::reciprocal_mod(a, M)", big.NewInt(1000003), big.NewInt(77), func(m, a *big.Int) []uint64 {
			return words256(new(big.Int).Add(new(big.Int).ModInverse(a, m), m))
		}},
	} {
		constant := strings.ReplaceAll(strings.Trim(fmt.Sprint(words256(c.m)), "[]"), " ", ", ")
		p := compile(t, `import "std/u256" (U256); const M: U256 = U256 { words: [`+constant+`] }; pub fn f(a: U256) -> U256 { `+c.body+` }`)
		var args []field.Element
		for _, w := range words256(c.a) {
			args = append(args, field.Element(w))
		}
		if _, ok := executes(t, p.Bytecode, args, nil); !ok {
			t.Errorf("%s fails", c.body)
		}
		if got, ok := executes(t, lie(p.Bytecode, 0, c.forge(c.m, c.a)), args, nil); ok {
			t.Errorf("%s: the forgery gives %v", c.body, got)
		}
	}
}
