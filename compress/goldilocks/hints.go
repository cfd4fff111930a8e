package goldilocks

import (
	"errors"
	"math/big"

	"github.com/consensys/gnark/constraint/solver"

	"github.com/ixprove/ixprove/verifier/field"
)

// hints is every hint of the compressing circuits, by what it computes. Constraints hold each of them to its value; the tests replace each by wrong ones.
var hints = map[string]solver.Hint{
	"digits of a power of two": digitsHint,
	"remainder":                remainderHint,
	"multiplicities":           multiplicitiesHint,
	"quotient in E":            quotientHint,
	"inverse":                  inverseHint,
	"digits of p":              primeDigitsHint,
	"borrow":                   borrowHint,
}

func init() {
	for _, h := range hints {
		solver.RegisterHint(h)
	}
}

// Hints lists the hints of this package by name, for tests that tamper with them.
func Hints() map[string]solver.Hint {
	out := make(map[string]solver.Hint, len(hints))
	for name, h := range hints {
		out[name] = h
	}
	return out
}

// digitsHint: width, v -> the lowest digits of v to the base 2^width.
func digitsHint(_ *big.Int, in, out []*big.Int) error {
	width := uint(in[0].Uint64())
	mask := new(big.Int).Sub(powerOfTwo(int(width)), one)
	rest := new(big.Int).Set(in[1])
	for _, d := range out {
		d.And(rest, mask)
		rest.Rsh(rest, width)
	}
	return nil
}

// remainderHint: x -> x mod p.
func remainderHint(_ *big.Int, in, out []*big.Int) error {
	out[0].Mod(in[0], modulus)
	return nil
}

// multiplicitiesHint: limbs -> how often 0, 1, … occur among them.
func multiplicitiesHint(_ *big.Int, in, out []*big.Int) error {
	counts := make([]int64, len(out))
	for _, v := range in {
		if v.IsUint64() && v.Uint64() < uint64(len(counts)) { // others have no place in the table, and the argument fails
			counts[v.Uint64()]++
		}
	}
	for i, n := range counts {
		out[i].SetInt64(n)
	}
	return nil
}

// quotientHint: two elements of E, as integers modulo r between -r/2 and r/2, -> the canonical coefficients of the first over the second.
func quotientHint(order *big.Int, in, out []*big.Int) error {
	var a, b field.Ext
	for i := range 3 {
		a[i], b[i] = signedMod(order, in[i]), signedMod(order, in[3+i])
	}
	inverse, ok := field.InverseExt(b)
	if !ok {
		return errors.New("ixprove: division by zero")
	}
	for i, v := range field.MulExt(a, inverse) {
		out[i].SetUint64(uint64(v))
	}
	return nil
}

// inverseHint: an element of F as an integer modulo r between -r/2 and r/2 -> its canonical inverse.
func inverseHint(order *big.Int, in, out []*big.Int) error {
	inverse, ok := field.Inverse(signedMod(order, in[0]))
	if !ok {
		return errors.New("ixprove: division by zero")
	}
	out[0].SetUint64(uint64(inverse))
	return nil
}

// signedMod is the class modulo p of an integer that the scalar field holds as one of -r/2 … r/2.
func signedMod(order, x *big.Int) field.Element {
	v := x
	if v.Cmp(new(big.Int).Rsh(order, 1)) > 0 {
		v = new(big.Int).Sub(v, order)
	}
	return field.Element(new(big.Int).Mod(v, modulus).Uint64())
}

// primeDigitsHint: x -> the three lowest digits of x to the base p.
func primeDigitsHint(_ *big.Int, in, out []*big.Int) error {
	rest := new(big.Int).Set(in[0])
	for _, d := range out {
		rest.DivMod(rest, modulus, d)
	}
	return nil
}

// borrowHint: a, b -> 1 if a < b, else 0.
func borrowHint(_ *big.Int, in, out []*big.Int) error {
	out[0].SetInt64(0)
	if in[0].Cmp(in[1]) < 0 {
		out[0].SetInt64(1)
	}
	return nil
}
