package field

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

var bigP = new(big.Int).SetUint64(Modulus)

// extremes are the values at which carries and borrows change, canonical or not.
var extremes = []uint64{0, 1, 2, epsilon - 1, epsilon, epsilon + 1, epsilon << 32, 1 << 63, Modulus - 2, Modulus - 1, Modulus, Modulus + 1, 1<<64 - 2, 1<<64 - 1}

func samples(n int) []uint64 {
	r := rand.New(rand.NewPCG(1, 2))
	s := append([]uint64(nil), extremes...)
	for range n {
		v := r.Uint64()
		switch r.IntN(4) {
		case 0:
			v |= epsilon << 32
		case 1:
			v &= epsilon
		}
		s = append(s, v)
	}
	return s
}

func bigMod(f func(z, x, y *big.Int) *big.Int, a, b uint64) Element {
	z := f(new(big.Int), new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
	return Element(z.Mod(z, bigP).Uint64())
}

func TestBaseArithmeticAgainstBig(t *testing.T) {
	s := samples(300)
	for _, a := range s {
		for _, b := range s {
			if got, want := MulLazy(Lazy(a), Lazy(b)).Canonical(), bigMod((*big.Int).Mul, a, b); got != want {
				t.Fatalf("lazy %#x * %#x = %#x, want %#x", a, b, got, want)
			}
			ca, cb := New(a), New(b)
			for name, c := range map[string]struct{ got, want Element }{
				"add":     {Add(ca, cb), bigMod((*big.Int).Add, a, b)},
				"sub":     {Sub(ca, cb), bigMod((*big.Int).Sub, a, b)},
				"mul":     {Mul(ca, cb), bigMod((*big.Int).Mul, a, b)},
				"addLazy": {AddLazy(Lazy(a), cb).Canonical(), bigMod((*big.Int).Add, a, b)},
				"subLazy": {SubLazy(Lazy(a), cb).Canonical(), bigMod((*big.Int).Sub, a, b)},
			} {
				if c.got != c.want {
					t.Fatalf("%s %#x, %#x = %#x, want %#x", name, a, b, c.got, c.want)
				}
			}
		}
	}
}

func TestReduce160(t *testing.T) {
	for _, top := range []uint64{0, 1, 2, epsilon} {
		for _, hi := range samples(100) {
			for _, lo := range samples(20) {
				z := new(big.Int).SetUint64(top)
				z.Lsh(z, 64).Add(z, new(big.Int).SetUint64(hi))
				z.Lsh(z, 64).Add(z, new(big.Int).SetUint64(lo))
				if got, want := Reduce160(top, hi, lo), Element(z.Mod(z, bigP).Uint64()); got != want {
					t.Fatalf("Reduce160(%#x, %#x, %#x) = %#x, want %#x", top, hi, lo, got, want)
				}
			}
		}
	}
}

func TestExtension(t *testing.T) {
	s := samples(60)
	r := rand.New(rand.NewPCG(3, 4))
	pick := func() Ext {
		return Ext{New(s[r.IntN(len(s))]), New(s[r.IntN(len(s))]), New(s[r.IntN(len(s))])}
	}
	for range 20000 {
		a, b := pick(), pick()
		var want Ext
		for i := range 3 {
			for j := range 3 {
				v := Mul(a[i], b[j])
				if i+j >= 3 {
					v = Add(v, v)
				}
				want[(i+j)%3] = Add(want[(i+j)%3], v)
			}
		}
		if got := MulExt(a, b); got != want {
			t.Fatalf("%v * %v = %v, want %v", a, b, got, want)
		}
		if MulX(a) != MulExt(a, Ext{0, 1}) {
			t.Fatalf("MulX(%v) is wrong", a)
		}
		inv, ok := InverseExt(a)
		if ok == a.IsZero() || ok && MulExt(inv, a) != (Ext{1}) {
			t.Fatalf("inverse of %v: %v, %v", a, inv, ok)
		}
	}
	if PowExt(Ext{0, 1}, 3) != FromBase(2) {
		t.Fatal("X^3 is not 2")
	}
	if Pow(2, (Modulus-1)/3) == 1 {
		t.Fatal("2 is a cube")
	}
}

// A sum of products in 160 bits is that of the reduced products, also of a million of the largest.
func TestDot(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, n := range []int{0, 1, 2, 7, 1 << 20} {
		coefficients, values := make([]Ext, n), make([]Element, n)
		var want Ext
		for i := range values {
			coefficients[i], values[i] = Ext{Modulus - 1, Modulus - 1, Modulus - 1}, Modulus-1
			if n < 1<<20 {
				coefficients[i], values[i] = Ext{New(r.Uint64()), New(r.Uint64()), New(r.Uint64())}, New(r.Uint64())
			}
			want = AddExt(want, ScaleExt(coefficients[i], values[i]))
		}
		if got := Dot(coefficients, values); got != want {
			t.Errorf("%d terms: %v, want %v", n, got, want)
		}
	}
}

func TestInverses(t *testing.T) {
	for _, v := range samples(100) {
		a := New(v)
		inv, ok := Inverse(a)
		if ok == (a == 0) || ok && Mul(a, inv) != 1 {
			t.Fatalf("inverse of %#x: %#x, %v", a, inv, ok)
		}
	}
	xs, exts := make([]Element, 9), make([]Ext, 9)
	for i := range xs {
		xs[i], exts[i] = Element(i+1), Ext{Element(i), 5, Element(i * i)}
	}
	was, wasExt := append([]Element(nil), xs...), append([]Ext(nil), exts...)
	if !BatchInverse(xs, make([]Element, 9)) || !BatchInverseExt(exts, make([]Ext, 9)) {
		t.Fatal("batch inversion failed")
	}
	for i := range xs {
		if Mul(xs[i], was[i]) != 1 || MulExt(exts[i], wasExt[i]) != (Ext{1}) {
			t.Fatalf("batch inverse %d is wrong", i)
		}
	}
	xs[4], exts[4] = 0, Ext{}
	if BatchInverse(xs, make([]Element, 9)) || BatchInverseExt(exts, make([]Ext, 9)) {
		t.Fatal("zero was inverted")
	}
	for k := range 65 {
		if Mul(InverseOfTwoPower(k), Pow(2, uint64(k))) != 1 {
			t.Fatalf("1/2^%d is wrong", k)
		}
	}
}

func TestRootsOfUnity(t *testing.T) {
	if rootOfUnity != Pow(Pow(Shift, (Modulus-1)>>TwoAdicity), 5) {
		t.Fatal("the root of unity is not 7^(5(p-1)/2^32)")
	}
	if w, _ := RootOfUnity(6); w != 8 {
		t.Fatalf("64th root of unity is %d, want 8", w)
	}
	for k := 1; k <= TwoAdicity; k++ {
		w, ok := RootOfUnity(k)
		if !ok || Pow(w, 1<<(k-1)) != Modulus-1 {
			t.Fatalf("root of unity of order 2^%d is not primitive", k)
		}
	}
	// The prime factors of p-1 (besides 2): 7 generates F* when no quotient power is 1.
	for _, q := range []uint64{2, 3, 5, 17, 257, 65537} {
		if Pow(Shift, (Modulus-1)/q) == 1 {
			t.Fatalf("7 does not generate F*: order divides (p-1)/%d", q)
		}
	}
	for _, k := range []int{-1, 33, 64, 255} {
		if _, ok := RootOfUnity(k); ok {
			t.Fatalf("a root of unity of order 2^%d", k)
		}
	}
}

func BenchmarkMul(b *testing.B) {
	x := Element(0x123456789abcdef)
	for b.Loop() {
		x = Mul(x, x)
	}
	sink = x
}

func BenchmarkMulExt(b *testing.B) {
	x := Ext{0x123456789abcdef, 7, 11}
	for b.Loop() {
		x = MulExt(x, x)
	}
	sink = x[0]
}

var sink Element
