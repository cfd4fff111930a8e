// Package goldilocks is arithmetic of the field F of p = 2^64 - 2^32 + 1 elements and of its extension E = F[X]/(X^3 - 2) inside gnark circuits over BN254.
//
// An Element is an integer whose bounds are known when the circuit is generated. Sums and products are those of integers: they are taken in the scalar field and cannot wrap around
// its order r, which is above 2^253, because bounds are kept below 2^251. Only where bounds grow too large, or a small number is asked for, is a value reduced: x = q p + s with s hinted, q computed
// from x and s, and both checked to be so small that q p + s is below r, so that the equation holds for integers. Values are not canonical: s is any number of 64 bits, or of a few
// more, in the class of x.
//
// Nothing rests on hints. The library's emulated arithmetic is not used.
package goldilocks

import (
	"math/big"

	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/verifier/field"
)

// Options says how the chip checks ranges.
type Options struct {
	// LimbBits, if not 0, is the width of the limbs that numbers are cut into, each of which is looked up in a table of 2^LimbBits entries by logarithmic derivatives (eprint
	// 2022/1530). The challenge is a commitment of the backend's; the builder must be a frontend.Committer. With 0, numbers are cut into bits and nothing is committed to.
	LimbBits int
}

// Chip makes constraints for arithmetic in F and E. There is one for a circuit; its range checks are completed when the builder calls deferred functions.
type Chip struct {
	api    frontend.API
	ranges ranger
	gates  bool // the builder counts additions: Plonk
}

// New is a chip that adds its constraints to api.
func New(api frontend.API, o Options) *Chip {
	c := &Chip{api: api}
	_, c.gates = api.(frontend.PlonkAPI)
	if o.LimbBits == 0 {
		c.ranges = bitRanges{api}
	} else {
		l := &limbRanges{api: api, width: o.LimbBits}
		api.Compiler().Defer(l.close)
		c.ranges = l
	}
	return c
}

// Element is an integer between two bounds, a representative of its class modulo p. The zero value is not valid.
type Element struct {
	v      frontend.Variable
	lo, hi *big.Int
}

// Variable is the integer modulo r.
func (a Element) Variable() frontend.Variable { return a.v }

// Bounds are the least and the largest integer that the element can be.
func (a Element) Bounds() (lo, hi *big.Int) { return a.lo, a.hi }

var (
	modulus = new(big.Int).SetUint64(field.Modulus)
	zero    = new(big.Int)
	one     = big.NewInt(1)
	// reach bounds the absolute value of every element: x = q p + s then stays below 2^253.
	reach = powerOfTwo(251)
)

func powerOfTwo(k int) *big.Int { return new(big.Int).Lsh(one, uint(k)) }

// Constant is the element x.
func (c *Chip) Constant(x field.Element) Element {
	v := new(big.Int).SetUint64(uint64(x))
	return Element{v, v, v}
}

// Trusted is a variable that other constraints keep below 2^bits.
func (c *Chip) Trusted(v frontend.Variable, bits int) Element {
	return Element{v, zero, new(big.Int).Sub(powerOfTwo(bits), one)}
}

// Word is a variable, checked to be below 2^64.
func (c *Chip) Word(v frontend.Variable) Element { return c.Number(v, 64) }

// Number is a variable, checked to be below 2^bits, with bits at most 250.
func (c *Chip) Number(v frontend.Variable, bits int) Element {
	c.ranges.check(v, bits)
	return c.Trusted(v, bits)
}

// AssertCanonical demands that an element that is at least 0 is below p.
func (c *Chip) AssertCanonical(a Element) {
	c.ranges.check(c.api.Sub(new(big.Int).Sub(modulus, one), a.v), c.ranges.round(64))
}

// Bits cuts a variable, which must be below 2^n, into n bits, lowest first.
func (c *Chip) Bits(v frontend.Variable, n int) []frontend.Variable {
	return bits(c.api, v, n)
}

// LowBits are the n lowest bits of a word, the lowest first.
func (c *Chip) LowBits(a Element, n int) []frontend.Variable {
	if n == 0 {
		return nil
	}
	low := hinted(c.api, "digits of a power of two", n, 1, a.v)
	rest := a.v
	for i, b := range low {
		c.api.AssertIsBoolean(b)
		rest = c.api.Sub(rest, c.api.Mul(b, powerOfTwo(i)))
	}
	// The rest is a multiple of 2^n, and so small that no other bits can do.
	high := c.api.Mul(rest, new(big.Int).ModInverse(powerOfTwo(n), c.api.Compiler().Field()))
	c.ranges.check(high, c.ranges.round(max(64-n, 1)))
	return low
}

// AssertLowBitsZero demands that the n lowest bits of a word are zero.
func (c *Chip) AssertLowBitsZero(a Element, n int) {
	c.ranges.check(c.api.Mul(a.v, new(big.Int).ModInverse(powerOfTwo(n), c.api.Compiler().Field())), c.ranges.round(max(64-n, 1)))
}

// constant returns the value of an element that is known when the circuit is generated.
func (a Element) constant() (*big.Int, bool) { return a.lo, a.lo.Cmp(a.hi) == 0 }

func (a Element) fits() bool { return a.lo.CmpAbs(reach) < 0 && a.hi.CmpAbs(reach) < 0 }
