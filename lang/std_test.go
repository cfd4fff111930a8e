package lang_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/blake3"

	"github.com/ixprove/ixprove/lang"
	"github.com/ixprove/ixprove/lang/std"
	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/lang/types"
)

// TestStandardLibrary checks that every module compiles on its own and is in standard form.
func TestStandardLibrary(t *testing.T) {
	for _, m := range std.Modules() {
		name := strings.TrimPrefix(m, "std/") + ".ix"
		text, err := fs.ReadFile(std.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		parsed, errs := syntax.Parse(syntax.NewFile(name, string(text)))
		if err := errs.Err(); err != nil {
			t.Error(explain(err))
			continue
		}
		if got := syntax.Format(parsed); got != string(text) {
			t.Errorf("%s is not formatted; it should be\n%s", name, got)
		}
		if _, errs := lang.Check(files(`import "`+m+`";`), "main.ix", types.Options{Library: true}); len(errs) > 0 {
			t.Error(explain(errs.Err()))
		}
	}
}

// equals demands that a call of an expression gives a value.
func equals(t *testing.T, p *lang.Program, call, witness, want string) {
	t.Helper()
	if got, err := run(t, p, call, witness); err != nil || got != want {
		t.Errorf("%s with %.60s = %s, %v; want %s", call, witness, got, err, want)
	}
}

func TestHashes(t *testing.T) {
	p := compile(t, `import "std/bytes" (Bytes); import "std/digest" (Digest); import "std/blake3"; import "std/sha256";
		pub fn b3(private b: Bytes) -> Digest { blake3::hash(b) } pub fn sha(private b: Bytes) -> Digest { sha256::hash(b) } pub fn both(private b: Bytes) -> u32 { bytes::check(b); b.length }
		pub fn keyed(key: Digest, private b: Bytes) -> Digest { blake3::keyed_hash(key, b) }`)
	for _, n := range []int{0, 1, 3, 4, 31, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1023, 1024, 1025, 2048, 2049, 3072, 5000, 8192} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i*7 + 1)
		}
		witness := fmt.Sprintf(`{"b": {"hex": "%x"}}`, b)
		sum := blake3.Sum256(b)
		equals(t, p, "b3()", witness, hex.EncodeToString(sum[:]))
		sha := sha256.Sum256(b)
		equals(t, p, "sha()", witness, hex.EncodeToString(sha[:]))
		equals(t, p, "both()", witness, fmt.Sprint(n))
	}
	// Blocks that are no padded byte string are refused, so that a digest is that of one string only.
	word := func(v int) string { return strings.TrimSuffix(strings.Repeat(fmt.Sprint(v, ","), 16), ",") }
	for _, bad := range []string{
		`{"b": {"length": 5, "blocks": [[` + word(1) + `]]}}`, `{"b": {"length": 64, "blocks": []}}`, `{"b": {"length": 64, "blocks": [[` + word(0) + `], [` + word(0) + `]]}}`,
		`{"b": {"length": 0, "blocks": [[` + word(0) + `]]}}`, `{"b": {"length": 65, "blocks": [[` + word(1) + `]]}}`,
	} {
		for _, call := range []string{"b3()", "sha()", "both()"} {
			if got, err := run(t, p, call, bad); err == nil {
				t.Errorf("%s with %s = %s", call, bad, got)
			}
		}
	}
}

func TestMerkle(t *testing.T) {
	p := compile(t, `import "std/merkle" (Step); import "std/digest" (Digest); import "std/list" (List);
		pub fn root(leaf: Digest, private path: List<Step>) -> (Digest, u64) { (merkle::root(leaf, path), merkle::index(path)) }
		pub fn key() -> [u8; 32] { digest::bytes(merkle::KEY) }`)
	key := []byte("ixprove std/merkle node, 2026-11")
	equals(t, p, "key()", "{}", fmt.Sprintf("0x%x", key))
	node := func(l, r []byte) []byte {
		h, err := blake3.NewKeyed(key)
		if err != nil {
			t.Fatal(err)
		}
		h.Write(l)
		h.Write(r)
		return h.Sum(nil)
	}
	leaf, a, b := make([]byte, 32), slices.Repeat([]byte{1}, 32), slices.Repeat([]byte{2}, 32)
	want := node(b, node(leaf, a))
	equals(t, p, "root(Digest { words: [0; 8] })", fmt.Sprintf(`{"path": [{"Right": "%x"}, {"Left": "%x"}]}`, a, b), fmt.Sprintf("(%x, 2)", want))
}

func TestNumbers(t *testing.T) {
	p := compile(t, `import "std/u32"; import "std/u64"; import "std/array";
		pub fn w32(a: u32, b: u32) -> [u32; 8] { [u32::wrapping_add(a, b), u32::wrapping_sub(a, b), u32::wrapping_mul(a, b), u32::rotate_right(a, 7), u32::rotate_left(a, 7), u32::shift_left(a, 4), u32::swap_bytes(a), u32::not(a)] }
		pub fn w64(a: u64, b: u64) -> [u64; 7] { let (l, h) = u64::wide_mul(a, b); [u64::wrapping_add(a, b), u64::wrapping_sub(a, b), u64::wrapping_mul(a, b), l, h, u64::rotate_right(a, 13), u64::rotate_right(a, 45)] }
		pub fn bytes(a: u64) -> ([u8; 8], u64) { let b = u64::bytes(a); (b, u64::from_bytes(array::reverse(array::set(b, 0, 7)))) }
		pub fn set(a: [u8; 3], i: u32) -> [u8; 3] { array::set(a, i, 9) }`)
	for _, c := range [][2]uint32{{0, 0}, {1, 2}, {0xffffffff, 0xffffffff}, {0x12345678, 0x9abcdef0}, {0x80000000, 3}} {
		a, b := c[0], c[1]
		want := []uint32{a + b, a - b, a * b, a>>7 | a<<25, a<<7 | a>>25, a << 4, a>>24 | a>>8&0xff00 | a<<8&0xff0000 | a<<24, ^a}
		equals(t, p, fmt.Sprintf("w32(%d, %d)", a, b), "{}", strings.ReplaceAll(fmt.Sprint(want), " ", ", "))
	}
	for _, c := range [][2]uint64{{0, 0}, {1, 2}, {1<<64 - 1, 1<<64 - 1}, {0x123456789abcdef0, 0xfedcba9876543210}, {1 << 63, 1 << 32}, {1<<32 - 1, 1<<64 - 1}} {
		a, b := c[0], c[1]
		hi, lo := bits.Mul64(a, b)
		want := []uint64{a + b, a - b, a * b, lo, hi, a>>13 | a<<51, a>>45 | a<<19}
		equals(t, p, fmt.Sprintf("w64(%d, %d)", a, b), "{}", strings.ReplaceAll(fmt.Sprint(want), " ", ", "))
	}
	equals(t, p, "bytes(0x0102030405060708)", "{}", fmt.Sprintf("(0x0807060504030201, %d)", uint64(0x0707060504030201)))
	equals(t, p, "set([1, 2, 3], 1)", "{}", "[1, 9, 3]")
	if _, err := run(t, p, "set([1, 2, 3], 3)", "{}"); err == nil {
		t.Error("an index outside of the array is accepted")
	}
}

func TestLists(t *testing.T) {
	p := compile(t, `import "std/list" (List); import "std/sort"; import "std/bytes" (Bytes); import "std/option" (Option);
		fn at3(l: List<u64>) -> Option<u64> { if list::length(l) > 3 { Option::Some(list::at(l, 3)) } else { Option::None } }
		pub fn f(private l: List<u64>) -> (u64, bool, bool, Option<u64>, u64) {
			let s = sort::sort(l);
			(list::at(s, 0), sort::is_sorted(l), sort::is_sorted(s), at3(s), list::sum(list::append(list::take(s, 2), list::drop(s, 2)))) }
		pub fn text(private b: Bytes) -> (u32, u8, u8) { let l = bytes::to_list(b); (list::length(l), list::at(l, 2), bytes::at(b, 70)) }`)
	equals(t, p, "f()", `{"l": [5, 3, 9, 1, 3, "18446744073709551000"]}`, "(1, false, true, Option::Some(5), 18446744073709551021)")
	equals(t, p, "f()", `{"l": [7]}`, "(7, true, true, Option::None, 7)")
	equals(t, p, "text()", `{"b": {"text": "0123456789012345678901234567890123456789012345678901234567890123456789abcdef"}}`, "(76, 50, 97)")
}

// word256 writes a number as a U256.
func word256(x *big.Int) string {
	var words []string
	for i := range 8 {
		words = append(words, fmt.Sprint(new(big.Int).Rsh(x, uint(32*i)).Uint64()&0xffffffff))
	}
	return "U256 { words: [" + strings.Join(words, ", ") + "] }"
}

func TestU256(t *testing.T) {
	p := compile(t, `import "std/u256" (U256);
		pub fn mul(a: U256, b: U256, m: U256) -> U256 { u256::mul_mod(a, b, m) } pub fn add(a: U256, b: U256, m: U256) -> U256 { u256::add_mod(a, b, m) } pub fn sub(a: U256, b: U256, m: U256) -> U256 { u256::sub_mod(a, b, m) }
		pub fn inv(a: U256, m: U256) -> U256 { u256::inverse_mod(a, m) } pub fn less(a: U256, b: U256) -> bool { u256::less(a, b) } pub fn bytes(a: U256) -> ([u8; 32], bool) { let b = u256::bytes(a); (b, u256::from_bytes(b) == a) }`)
	r := rand.New(rand.NewPCG(5, 6))
	random := func() *big.Int {
		x := new(big.Int)
		for range 8 {
			x.Lsh(x, 32).Or(x, big.NewInt(int64([]uint32{0, 1, 0xffffffff, r.Uint32(), r.Uint32()}[r.IntN(5)])))
		}
		return x
	}
	prime, _ := new(big.Int).SetString("fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f", 16)
	for i := range 12 {
		m := prime
		if i%2 == 1 {
			m = new(big.Int).Add(random(), big.NewInt(3))
			m.Mod(m, new(big.Int).Lsh(big.NewInt(1), 256))
			if m.BitLen() < 3 {
				continue
			}
		}
		a, b := new(big.Int).Mod(random(), m), new(big.Int).Mod(random(), m)
		call := func(f string, args ...*big.Int) string {
			var list []string
			for _, x := range args {
				list = append(list, word256(x))
			}
			return f + "(" + strings.Join(list, ", ") + ")"
		}
		mod := func(x *big.Int) string { return word256(new(big.Int).Mod(x, m)) }
		equals(t, p, call("mul", a, b, m), "{}", mod(new(big.Int).Mul(a, b)))
		equals(t, p, call("add", a, b, m), "{}", mod(new(big.Int).Add(a, b)))
		equals(t, p, call("sub", a, b, m), "{}", mod(new(big.Int).Sub(a, b)))
		equals(t, p, call("less", a, b), "{}", fmt.Sprint(a.Cmp(b) < 0))
		equals(t, p, call("less", a, a), "{}", "false")
		equals(t, p, call("bytes", a), "{}", fmt.Sprintf("(0x%064x, true)", a))
		if inverse := new(big.Int).ModInverse(a, m); inverse != nil {
			equals(t, p, call("inv", a, m), "{}", word256(inverse))
		}
	}
	if got, err := run(t, p, "inv("+word256(big.NewInt(6))+", "+word256(big.NewInt(9))+")", "{}"); err == nil {
		t.Errorf("6 has the inverse %s modulo 9", got)
	}
}
