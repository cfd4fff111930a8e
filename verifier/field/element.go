// Package field implements the Goldilocks field F, p = 2^64 - 2^32 + 1, and its cubic extension E = F[X]/(X^3 - 2).
//
// Canonical and lazily reduced values are different types. Element is always below p; Lazy is any 64-bit representative. Only Element can be
// compared, hashed or encoded; the fast forms that need one canonical operand say so in their signatures. Reduction uses
// 2^64 = 2^32 - 1 and 2^96 = -1 (mod p), as in Plonky2 (Polygon Zero, 2022, section 2.3).
package field

import "math/bits"

// Modulus is p.
const Modulus = 0xffffffff00000001

// epsilon is 2^64 mod p.
const epsilon = 0xffffffff

// TwoAdicity is the largest k for which F has a 2^k-th root of unity.
const TwoAdicity = 32

// Shift generates F* and is the shift of every evaluation coset.
const Shift Element = 7

// rootOfUnity has order 2^32. It is 7^(5(p-1)/2^32): the fifth power makes the 64th root of unity 8, so that small transforms have
// powers of two as twiddles.
const rootOfUnity Element = 16334397945464290598

// Element is an element of F in canonical form: always below p.
type Element uint64

// Lazy is a 64-bit representative of an element of F, not necessarily below p.
type Lazy uint64

// New returns v mod p.
func New(v uint64) Element {
	u := v - Modulus
	if v >= Modulus {
		v = u
	}
	return Element(v)
}

// Canonical returns x reduced below p.
func (x Lazy) Canonical() Element { return New(uint64(x)) }

// Add returns a + b, as a - (p - b). Corrections are selected, not branched to: their conditions are random.
func Add(a, b Element) Element { return Sub(a, Modulus-b) }

// Sub returns a - b; b may also be p.
func Sub(a, b Element) Element {
	d := a - b
	e := d - epsilon
	if a < b {
		d = e
	}
	return d
}

// Neg returns -a.
func Neg(a Element) Element { return Sub(0, a) }

// Mul returns a*b.
func Mul(a, b Element) Element { return MulLazy(Lazy(a), Lazy(b)).Canonical() }

// MulLazy returns a representative of a*b. It is right for all 2^128 pairs: the first correction cannot borrow again, because lo - hh + 2^64 is at least
// 2^64 - 2^32 + 1 when it wraps, nor can the second carry again, because hl*(2^32-1) is at most 2^64 - 2^33 + 1.
func MulLazy(a, b Lazy) Lazy {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	hh, hl := hi>>32, hi&epsilon
	t := lo - hh
	u := t - epsilon
	if lo < hh {
		t = u
	}
	s := hl<<32 - hl
	r := t + s
	v := r + epsilon
	if r < s {
		r = v
	}
	return Lazy(r)
}

// AddLazy returns a representative of a + b. One operand must be canonical: two arbitrary representatives can carry twice.
func AddLazy(a Lazy, b Element) Lazy {
	s := uint64(a) + uint64(b)
	t := s + epsilon
	if s < uint64(b) {
		s = t
	}
	return Lazy(s)
}

// SubLazy returns a representative of a - b. The subtrahend must be canonical, for the same reason.
func SubLazy(a Lazy, b Element) Lazy {
	d := uint64(a) - uint64(b)
	e := d - epsilon
	if uint64(a) < uint64(b) {
		d = e
	}
	return Lazy(d)
}

// Reduce160 returns (top*2^128 + hi*2^64 + lo) mod p for top < 2^32: the end of a sum of products that was kept in 160 bits.
func Reduce160(top, hi, lo uint64) Element {
	hh, hl := hi>>32, hi&epsilon
	t, borrow := bits.Sub64(lo, hh, 0)
	if borrow != 0 {
		t -= epsilon
	}
	r, carry := bits.Add64(t, hl<<32-hl, 0)
	if carry != 0 {
		r += epsilon
	}
	// 2^128 = -2^32, and top*2^32 is canonical.
	return Sub(New(r), Element(top<<32))
}

// Pow returns a^e.
func Pow(a Element, e uint64) Element {
	r := Element(1)
	for i := bits.Len64(e) - 1; i >= 0; i-- {
		r = Mul(r, r)
		if e>>i&1 == 1 {
			r = Mul(r, a)
		}
	}
	return r
}

// Inverse returns 1/a, and false for a = 0.
func Inverse(a Element) (Element, bool) {
	// p - 2 = 2^64 - 2^32 - 1 = (2^31 - 1)*2^33 + 2^32 - 1: a run of 31 ones, a zero, a run of 32 ones.
	square := func(x Element, n int) Element {
		for range n {
			x = Mul(x, x)
		}
		return x
	}
	x1 := a
	x2 := Mul(square(x1, 1), x1)
	x3 := Mul(square(x2, 1), x1)
	x6 := Mul(square(x3, 3), x3)
	x12 := Mul(square(x6, 6), x6)
	x24 := Mul(square(x12, 12), x12)
	x30 := Mul(square(x24, 6), x6)
	x31 := Mul(square(x30, 1), x1)
	x32 := Mul(square(x31, 1), x1)
	return Mul(square(x31, 33), x32), a != 0
}

// InverseOfTwoPower returns 1/2^k for k <= 64.
func InverseOfTwoPower(k int) Element {
	// 2^96 = -1, so 2^192 = 1.
	return Pow(2, uint64(192-k))
}

// RootOfUnity returns the primitive 2^k-th root of unity used everywhere, and false for k outside 0..32.
func RootOfUnity(k int) (Element, bool) {
	if k < 0 || k > TwoAdicity {
		return 0, false
	}
	r := rootOfUnity
	for range TwoAdicity - k {
		r = Mul(r, r)
	}
	return r, true
}

// ReverseBits returns the low k bits of i in reverse order; k is at most 64 and the other bits of i must be zero.
func ReverseBits(i uint64, k int) uint64 { return bits.Reverse64(i) >> (64 - uint(k)) }
