package goldilocks

import (
	"math/big"

	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/verifier/field"
)

// Add is a + b.
func (c *Chip) Add(a, b Element) Element { return c.Sum(a, b) }

// Sub is a - b.
func (c *Chip) Sub(a, b Element) Element { return c.Sum(a, c.Neg(b)) }

// Neg is -a.
func (c *Chip) Neg(a Element) Element {
	return Element{c.api.Neg(a.v), new(big.Int).Neg(a.hi), new(big.Int).Neg(a.lo)}
}

// Sum is the sum of elements, at least one.
func (c *Chip) Sum(xs ...Element) Element {
	lo, hi := new(big.Int), new(big.Int)
	for _, x := range xs {
		lo.Add(lo, x.lo)
		hi.Add(hi, x.hi)
	}
	if !(Element{lo: lo, hi: hi}).fits() {
		small := make([]Element, len(xs))
		for i, x := range xs {
			small[i] = c.Reduce(x)
		}
		return c.Sum(small...)
	}
	vs := make([]frontend.Variable, len(xs))
	for i, x := range xs {
		vs[i] = x.v
	}
	if len(vs) == 1 {
		return xs[0]
	}
	return Element{c.api.Add(vs[0], vs[1], vs[2:]...), lo, hi}
}

// Scale is k a for an integer k.
func (c *Chip) Scale(a Element, k *big.Int) Element {
	lo, hi := new(big.Int).Mul(a.lo, k), new(big.Int).Mul(a.hi, k)
	if k.Sign() < 0 {
		lo, hi = hi, lo
	}
	out := Element{lo: lo, hi: hi}
	if !out.fits() {
		return c.Scale(c.Reduce(a), k)
	}
	out.v = c.api.Mul(a.v, k)
	return out
}

// ScaleConstant is k a for k in F, by that of k and k - p which is smaller.
func (c *Chip) ScaleConstant(a Element, k field.Element) Element { return c.Scale(a, Centred(k)) }

// Centred is the representative of k of the least absolute value.
func Centred(k field.Element) *big.Int {
	v := new(big.Int).SetUint64(uint64(k))
	if uint64(k) > field.Modulus/2 {
		v.Sub(v, modulus)
	}
	return v
}

// Mul is a b. A factor is reduced first if the product might be too large.
func (c *Chip) Mul(a, b Element) Element {
	for {
		p := product(a, b)
		if p.fits() {
			p.v = c.api.Mul(a.v, b.v)
			return p
		}
		if a.width() < b.width() {
			a, b = b, a
		}
		a = c.Reduce(a)
	}
}

func (a Element) width() int { return max(a.lo.BitLen(), a.hi.BitLen()) }

// product is the bounds of a product.
func product(a, b Element) Element {
	var lo, hi *big.Int
	for _, x := range []*big.Int{a.lo, a.hi} {
		for _, y := range []*big.Int{b.lo, b.hi} {
			p := new(big.Int).Mul(x, y)
			if lo == nil || p.Cmp(lo) < 0 {
				lo = p
			}
			if hi == nil || p.Cmp(hi) > 0 {
				hi = p
			}
		}
	}
	return Element{lo: lo, hi: hi}
}

// Dot is Σ a_i b_i for slices of one length, at least one.
func (c *Chip) Dot(a, b []Element) Element {
	terms := make([]Element, len(a))
	for i := range a {
		terms[i] = c.Mul(a[i], b[i])
	}
	return c.Sum(terms...)
}

// Select is a if the bit is 1 and b if it is 0.
func (c *Chip) Select(bit frontend.Variable, a, b Element) Element {
	out := Element{lo: a.lo, hi: a.hi}
	if b.lo.Cmp(out.lo) < 0 {
		out.lo = b.lo
	}
	if b.hi.Cmp(out.hi) > 0 {
		out.hi = b.hi
	}
	out.v = c.api.Select(bit, a.v, b.v)
	return out
}

// Table is the entry of a table of 2^len(bits) integers, of absolute value below 2^64, that bits choose, lowest first: a polynomial in the bits.
func (c *Chip) Table(bits []frontend.Variable, entries []*big.Int) Element {
	// Subtracting each entry from those with one bit more, bit after bit, gives the coefficients of the products of bits.
	coefficients := make([]*big.Int, len(entries))
	out := Element{lo: entries[0], hi: entries[0]}
	for i, e := range entries {
		coefficients[i] = new(big.Int).Set(e)
		if e.Cmp(out.lo) < 0 {
			out.lo = e
		}
		if e.Cmp(out.hi) > 0 {
			out.hi = e
		}
	}
	monomials := []frontend.Variable{1}
	for b, bit := range bits {
		for i := range coefficients {
			if i>>b&1 == 1 {
				coefficients[i].Sub(coefficients[i], coefficients[i^1<<b])
			}
		}
		for _, m := range monomials[:1<<b] {
			monomials = append(monomials, c.api.Mul(m, bit))
		}
	}
	terms := []frontend.Variable{0}
	for i, m := range monomials {
		if coefficients[i].Sign() != 0 {
			terms = append(terms, c.api.Mul(m, coefficients[i]))
		}
	}
	out.v = c.api.Add(0, terms[0], terms[1:]...)
	return out
}

// Reduce is a number of 64 bits, or as many more as cost nothing, in the class of a: a itself if it is one.
func (c *Chip) Reduce(a Element) Element {
	bits := c.ranges.round(64)
	if x, ok := a.constant(); ok {
		return c.Constant(field.Element(new(big.Int).Mod(x, modulus).Uint64()))
	}
	if a.lo.Sign() >= 0 && a.hi.BitLen() <= bits {
		return a
	}
	x, top := c.shifted(a)
	s := hinted(c.api, "remainder", 1, x)[0]
	c.ranges.check(s, bits)
	c.checkQuotient(c.api.Sub(x, s), top, bits)
	return c.Trusted(s, bits)
}

// AssertZero demands that p divides a.
func (c *Chip) AssertZero(a Element) {
	x, top := c.shifted(a)
	c.checkQuotient(x, top, 0)
}

// AssertEqual demands that a and b are of one class.
func (c *Chip) AssertEqual(a, b Element) { c.AssertZero(c.Sub(a, b)) }

// shifted is a plus a multiple of p that makes it at least 0, and its upper bound.
func (c *Chip) shifted(a Element) (x frontend.Variable, top *big.Int) {
	if a.lo.Sign() >= 0 {
		return a.v, a.hi
	}
	k := new(big.Int).Neg(a.lo)
	k.Add(k, modulus)
	k.Sub(k, one)
	k.Div(k, modulus)
	k.Mul(k, modulus)
	return c.api.Add(a.v, k), new(big.Int).Add(a.hi, k)
}

// checkQuotient demands that x/p, taken in the scalar field, is an integer so small that it is the quotient of integers: x is at most top, and known to be so, less a number of
// spare bits at most. A quotient q below 2^n with q p + 2^spare < r satisfies q p = x - s in integers if it does modulo r.
func (c *Chip) checkQuotient(x frontend.Variable, top *big.Int, spare int) {
	order := c.api.Compiler().Field()
	n := max(new(big.Int).Div(top, modulus).BitLen(), 1)
	safe := func(n int) bool {
		most := new(big.Int).Mul(powerOfTwo(n), modulus)
		return most.Add(most, powerOfTwo(spare)).Cmp(order) < 0
	}
	if wide := c.ranges.round(n); safe(wide) {
		n = wide
	}
	if !safe(n) {
		panic("goldilocks: an element is out of reach") // bounds are below 2^251, so quotients are below 2^189
	}
	c.ranges.check(c.api.Mul(x, new(big.Int).ModInverse(modulus, order)), n)
}
