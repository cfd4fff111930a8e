package goldilocks

import (
	"math/big"

	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/verifier/field"
)

// Ext is an element c0 + c1 X + c2 X^2 of E.
type Ext [3]Element

// ConstantExt is the element x.
func (c *Chip) ConstantExt(x field.Ext) Ext {
	return Ext{c.Constant(x[0]), c.Constant(x[1]), c.Constant(x[2])}
}

// FromBase embeds a in E.
func (c *Chip) FromBase(a Element) Ext { return Ext{a, c.Constant(0), c.Constant(0)} }

func (a Ext) each(f func(Element) Element) Ext { return Ext{f(a[0]), f(a[1]), f(a[2])} }

// AddExt is a + b.
func (c *Chip) AddExt(a, b Ext) Ext { return c.SumExt(a, b) }

// SubExt is a - b.
func (c *Chip) SubExt(a, b Ext) Ext { return c.SumExt(a, c.NegExt(b)) }

// NegExt is -a.
func (c *Chip) NegExt(a Ext) Ext { return a.each(c.Neg) }

// SumExt is the sum of elements, at least one.
func (c *Chip) SumExt(xs ...Ext) (out Ext) {
	terms := make([]Element, len(xs))
	for i := range out {
		for k, x := range xs {
			terms[k] = x[i]
		}
		out[i] = c.Sum(terms...)
	}
	return out
}

// ScaleConstantExt is k a for k in F.
func (c *Chip) ScaleConstantExt(a Ext, k field.Element) Ext {
	return a.each(func(x Element) Element { return c.ScaleConstant(x, k) })
}

// MulBase is a s for s in F.
func (c *Chip) MulBase(a Ext, s Element) Ext {
	return a.each(func(x Element) Element { return c.Mul(x, s) })
}

// MulX is a X.
func (c *Chip) MulX(a Ext) Ext { return Ext{c.Scale(a[2], big.NewInt(2)), a[0], a[1]} }

// MulExt is a b.
func (c *Chip) MulExt(a, b Ext) Ext { return c.DotExt([]Ext{a}, []Ext{b}) }

// karatsuba is, for each coefficient of a product x y, how often it has x_0 y_0, x_1 y_1, x_2 y_2, (x_0 + x_1)(y_0 + y_1), (x_0 + x_2)(y_0 + y_2) and (x_1 + x_2)(y_1 + y_2).
var karatsuba = [3][6]int64{{1, -2, -2, 0, 0, 2}, {-1, -1, 2, 1, 0, 0}, {-1, 1, -1, 0, 1, 0}}

// DotExt is Σ a_i b_i for slices of one length, at least one. Additions cost nothing in a rank-1 system, so there it takes six products each, after Karatsuba, and otherwise nine.
// Factors are reduced first if the sum might be too large.
func (c *Chip) DotExt(a, b []Ext) (out Ext) {
	a, b = c.dotFactors(a, b)
	terms := [3][]Element{{c.Constant(0)}, {c.Constant(0)}, {c.Constant(0)}}
	add := func(k int, x Element, times int64) {
		if times != 0 {
			terms[k] = append(terms[k], c.Scale(x, big.NewInt(times)))
		}
	}
	for i := range a {
		x, y := a[i], b[i]
		if c.gates || x.isBase() || y.isBase() {
			for j := range x {
				for k := range y {
					if !isZero(x[j]) && !isZero(y[k]) {
						add((j+k)%3, c.Mul(x[j], y[k]), int64(1+(j+k)/3))
					}
				}
			}
			continue
		}
		cross := func(j, k int) Element { return c.Mul(c.Add(x[j], x[k]), c.Add(y[j], y[k])) }
		for p, product := range []Element{c.Mul(x[0], y[0]), c.Mul(x[1], y[1]), c.Mul(x[2], y[2]), cross(0, 1), cross(0, 2), cross(1, 2)} {
			for k := range terms {
				add(k, product, karatsuba[k][p])
			}
		}
	}
	for k := range out {
		out[k] = c.Sum(terms[k]...)
	}
	return out
}

// DotBase is Σ a_i s_i for s_i in F, for slices of one length, at least one.
func (c *Chip) DotBase(a []Ext, s []Element) (out Ext) {
	column := make([]Element, len(a))
	for k := range out {
		for i := range a {
			column[i] = a[i][k]
		}
		out[k] = c.Dot(column, s)
	}
	return out
}

func isZero(a Element) bool {
	x, ok := a.constant()
	return ok && x.Sign() == 0
}

func (a Ext) isBase() bool { return isZero(a[1]) && isZero(a[2]) }

func (a Ext) width() int { return max(a[0].width(), a[1].width(), a[2].width()) }

// dotFactors are the factors of a dot product, reduced where that is needed: the wider one of each pair, or both.
func (c *Chip) dotFactors(a, b []Ext) (ra, rb []Ext) {
	ra, rb = append([]Ext(nil), a...), append([]Ext(nil), b...)
	for round := 0; round < 2 && !dotFits(ra, rb); round++ {
		for i := range ra {
			if ra[i].width() >= rb[i].width() {
				ra[i] = c.ReduceExt(ra[i])
			} else {
				rb[i] = c.ReduceExt(rb[i])
			}
		}
	}
	return ra, rb
}

// dotFits reports whether no sum of the dot product, in either form, can be too large: each coefficient is a sum of at most 16 |a| |b|.
func dotFits(a, b []Ext) bool {
	total := new(big.Int)
	for i := range a {
		total.Add(total, powerOfTwo(a[i].width()+b[i].width()+4))
	}
	return total.Cmp(reach) < 0
}

// ReduceExt reduces each coefficient.
func (c *Chip) ReduceExt(a Ext) Ext { return a.each(c.Reduce) }

// AssertZeroExt demands a = 0.
func (c *Chip) AssertZeroExt(a Ext) {
	for _, x := range a {
		c.AssertZero(x)
	}
}

// AssertEqualExt demands a = b.
func (c *Chip) AssertEqualExt(a, b Ext) { c.AssertZeroExt(c.SubExt(a, b)) }

// SelectExt is a if the bit is 1 and b if it is 0.
func (c *Chip) SelectExt(bit frontend.Variable, a, b Ext) (out Ext) {
	for i := range out {
		out[i] = c.Select(bit, a[i], b[i])
	}
	return out
}

// Quotient is a/b, for b that other constraints keep from being zero: else nothing would hold it if a is zero too.
func (c *Chip) Quotient(a, b Ext) (q Ext) {
	bits := c.ranges.round(64)
	for i, v := range hinted(c.api, "quotient in E", 3, a[0].v, a[1].v, a[2].v, b[0].v, b[1].v, b[2].v) {
		q[i] = c.Number(v, bits)
	}
	c.AssertZeroExt(c.SubExt(c.MulExt(q, b), a))
	return q
}

// InverseExt is 1/a. It has no witness if a is zero.
func (c *Chip) InverseExt(a Ext) Ext { return c.Quotient(c.ConstantExt(field.Ext{1}), a) }

// Inverse is 1/a for a in F. It has no witness if a is zero.
func (c *Chip) Inverse(a Element) Element {
	inverse := c.Number(hinted(c.api, "inverse", 1, a.v)[0], c.ranges.round(64))
	c.AssertZero(c.Sub(c.Mul(inverse, a), c.Constant(1)))
	return inverse
}

// AssertOutsideBase demands that a canonical element of E is not in F.
func (c *Chip) AssertOutsideBase(a Ext) {
	c.api.AssertIsDifferent(c.api.Add(a[1].v, c.api.Mul(a[2].v, powerOfTwo(64))), 0)
}
