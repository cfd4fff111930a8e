package field

import "math/bits"

// Ext is an element c0 + c1 X + c2 X^2 of E = F[X]/(X^3 - 2). 2 is no cube in F: its order is 192, and (p-1)/3 is no multiple of 3.
type Ext [3]Element

// FromBase embeds a in E.
func FromBase(a Element) Ext { return Ext{a} }

// InBase reports whether a lies in F.
func (a Ext) InBase() bool { return a[1]|a[2] == 0 }

// IsZero reports whether a is zero.
func (a Ext) IsZero() bool { return a[0]|a[1]|a[2] == 0 }

// AddExt returns a + b.
func AddExt(a, b Ext) Ext { return Ext{Add(a[0], b[0]), Add(a[1], b[1]), Add(a[2], b[2])} }

// SubExt returns a - b.
func SubExt(a, b Ext) Ext { return Ext{Sub(a[0], b[0]), Sub(a[1], b[1]), Sub(a[2], b[2])} }

// ScaleExt returns a*s for s in F.
func ScaleExt(a Ext, s Element) Ext { return Ext{Mul(a[0], s), Mul(a[1], s), Mul(a[2], s)} }

// MulX returns a*X.
func MulX(a Ext) Ext { return Ext{Add(a[2], a[2]), a[0], a[1]} }

// MulExt returns a*b: nine products, three reductions of 130-bit sums.
func MulExt(a, b Ext) Ext {
	b1, b2 := uint64(Add(b[1], b[1])), uint64(Add(b[2], b[2]))
	a0, a1, a2 := uint64(a[0]), uint64(a[1]), uint64(a[2])
	return Ext{
		dot3(a0, uint64(b[0]), a1, b2, a2, b1),
		dot3(a0, uint64(b[1]), a1, uint64(b[0]), a2, b2),
		dot3(a0, uint64(b[2]), a1, uint64(b[1]), a2, uint64(b[0])),
	}
}

// dot3 returns a*b + c*d + e*f mod p.
func dot3(a, b, c, d, e, f uint64) Element {
	hi, lo := bits.Mul64(a, b)
	h, l := bits.Mul64(c, d)
	var k, top uint64
	lo, k = bits.Add64(lo, l, 0)
	hi, k = bits.Add64(hi, h, k)
	top = k
	h, l = bits.Mul64(e, f)
	lo, k = bits.Add64(lo, l, 0)
	hi, k = bits.Add64(hi, h, k)
	return Reduce160(top+k, hi, lo)
}

// Dot returns Σ coefficients[i]·values[i], fewer than 2^32 terms: products are summed in 160 bits and reduced once. values is at least as long as coefficients.
func Dot(coefficients []Ext, values []Element) Ext {
	var lo, hi, top [3]uint64
	for i := range coefficients {
		c, v := &coefficients[i], uint64(values[i])
		for k := range c {
			h, l := bits.Mul64(uint64(c[k]), v)
			var carry uint64
			lo[k], carry = bits.Add64(lo[k], l, 0)
			hi[k], carry = bits.Add64(hi[k], h, carry)
			top[k] += carry
		}
	}
	return Ext{Reduce160(top[0], hi[0], lo[0]), Reduce160(top[1], hi[1], lo[1]), Reduce160(top[2], hi[2], lo[2])}
}

// SquareExt returns a*a.
func SquareExt(a Ext) Ext { return MulExt(a, a) }

// InverseExt returns 1/a, and false for a = 0.
func InverseExt(a Ext) (Ext, bool) {
	// The product of the two conjugates, over the norm.
	d2 := Add(a[2], a[2])
	t := Ext{
		Sub(Mul(a[0], a[0]), Mul(a[1], d2)),
		Sub(Mul(a[2], d2), Mul(a[0], a[1])),
		Sub(Mul(a[1], a[1]), Mul(a[0], a[2])),
	}
	norm := dot3(uint64(a[0]), uint64(t[0]), uint64(d2), uint64(t[1]), uint64(Add(a[1], a[1])), uint64(t[2]))
	inv, ok := Inverse(norm)
	return ScaleExt(t, inv), ok
}

// PowExt returns a^e.
func PowExt(a Ext, e uint64) Ext {
	r := Ext{1}
	for i := bits.Len64(e) - 1; i >= 0; i-- {
		r = MulExt(r, r)
		if e>>i&1 == 1 {
			r = MulExt(r, a)
		}
	}
	return r
}

// SquareExtTimes returns a^(2^k).
func SquareExtTimes(a Ext, k int) Ext {
	for range k {
		a = MulExt(a, a)
	}
	return a
}

// BatchInverseExt replaces each element by its inverse with one inversion and three multiplications an element (Montgomery's trick). scratch must be at
// least as long as xs. It reports false, leaving xs unspecified, when an element is zero.
func BatchInverseExt(xs, scratch []Ext) bool {
	acc := Ext{1}
	for i, x := range xs {
		scratch[i] = acc
		acc = MulExt(acc, x)
	}
	inv, ok := InverseExt(acc)
	if !ok {
		return false
	}
	for i := len(xs) - 1; i >= 0; i-- {
		x := xs[i]
		xs[i] = MulExt(inv, scratch[i])
		inv = MulExt(inv, x)
	}
	return true
}

// BatchInverse is BatchInverseExt over F.
func BatchInverse(xs, scratch []Element) bool {
	acc := Element(1)
	for i, x := range xs {
		scratch[i] = acc
		acc = Mul(acc, x)
	}
	inv, ok := Inverse(acc)
	if !ok {
		return false
	}
	for i := len(xs) - 1; i >= 0; i-- {
		x := xs[i]
		xs[i] = Mul(inv, scratch[i])
		inv = Mul(inv, x)
	}
	return true
}
