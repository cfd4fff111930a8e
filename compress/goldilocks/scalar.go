package goldilocks

import (
	"math/big"

	"github.com/consensys/gnark/frontend"
)

// PrimeDigits are the three lowest digits to the base p of the integer 0 <= x < r that a variable is: canonical elements of F, nearly uniform if x is. They have no witness for
// the highest 2^-61 of all x, those whose fourth digit is that of r: without them no other digits can stand for x modulo r.
func (c *Chip) PrimeDigits(x frontend.Variable) (digits [3]Element) {
	order := c.api.Compiler().Field()
	rest, power := x, one
	for i, v := range hinted(c.api, "digits of p", 3, x) {
		c.ranges.check(v, c.ranges.round(64))
		e := Element{v, zero, new(big.Int).Sub(modulus, one)}
		c.AssertCanonical(e)
		digits[i] = e
		rest = c.api.Sub(rest, c.api.Mul(v, power))
		power = new(big.Int).Mul(power, modulus)
	}
	fourth := c.api.Mul(rest, new(big.Int).ModInverse(power, order))
	most := new(big.Int).Div(order, power)
	most.Sub(most, one)
	bits := c.ranges.round(most.BitLen())
	c.ranges.check(fourth, bits)
	c.ranges.check(c.api.Sub(most, fourth), bits)
	return digits
}

// Words are the four 64-bit words, lowest first, of the integer 0 <= x < r that a variable is.
func (c *Chip) Words(x frontend.Variable) (words [4]Element) {
	order := c.api.Compiler().Field()
	last := new(big.Int).Sub(order, one)
	digits := cut(c.api, x, 64, 4)
	for i, v := range digits {
		words[i] = c.Number(v, min(64, last.BitLen()-64*i))
	}
	// x <= r - 1 by halves of 128 bits, with a borrow.
	join := func(i int) frontend.Variable {
		return c.api.Add(digits[i], c.api.Mul(digits[i+1], powerOfTwo(64)))
	}
	low := new(big.Int).And(last, new(big.Int).Sub(powerOfTwo(128), one))
	high := new(big.Int).Rsh(last, 128)
	borrow := hinted(c.api, "borrow", 1, low, join(0))[0]
	c.api.AssertIsBoolean(borrow)
	c.ranges.check(c.api.Add(c.api.Sub(low, join(0)), c.api.Mul(borrow, powerOfTwo(128))), 128)
	c.ranges.check(c.api.Sub(high, join(2), borrow), high.BitLen())
	return words
}
