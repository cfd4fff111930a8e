package cpu

import (
	"sync"

	"github.com/ixprove/ixprove/verifier/field"
)

// transforms holds the roots of unity of one size: forward[i] = ω^i and inverse[i] = ω^-i for i < n/2.
type transforms struct{ forward, inverse []field.Element }

var (
	transformMu    sync.Mutex
	transformTable [field.TwoAdicity + 1]*transforms
)

// roots returns the table of size 2^log, made once a process.
func roots(log int) *transforms {
	transformMu.Lock()
	defer transformMu.Unlock()
	if t := transformTable[log]; t != nil {
		return t
	}
	half := max(1, 1<<log/2)
	w, _ := field.RootOfUnity(log)
	inverse, _ := field.Inverse(w)
	t := &transforms{forward: powers(w, half), inverse: powers(inverse, half)}
	transformTable[log] = t
	return t
}

func powers(w field.Element, n int) []field.Element {
	out := make([]field.Element, n)
	p := field.Element(1)
	for i := range out {
		out[i] = p
		p = field.Mul(p, w)
	}
	return out
}

// block is the size below which a transform runs level by level: 2^12 elements fit the first-level cache. Larger ones recurse, so that each part is
// finished while it is cached.
const block = 1 << 12

// forward transforms coefficients in natural order to values in bit-reversed order, in place (decimation in frequency). stride is the ratio of the table's size to
// len(x).
func forward(x []field.Element, w []field.Element, stride int) {
	n := len(x)
	if n <= block {
		for ; n > 1; n, stride = n/2, stride*2 {
			for start := 0; start < len(x); start += n {
				forwardLevel(x[start:start+n/2], x[start+n/2:start+n], w, stride)
			}
		}
		return
	}
	forwardLevel2(x, w, stride)
	for q := range 4 {
		forward(x[q*n/4:(q+1)*n/4], w, stride*4)
	}
}

func forwardLevel(lo, hi, w []field.Element, stride int) {
	hi = hi[:len(lo)]
	if len(lo) == 1 {
		a, b := lo[0], hi[0]
		lo[0], hi[0] = field.Add(a, b), field.Sub(a, b)
		return
	}
	k := 0
	for i := range lo {
		a, b := lo[i], hi[i]
		lo[i] = field.Add(a, b)
		hi[i] = field.MulLazy(field.Lazy(field.Sub(a, b)), field.Lazy(w[k])).Canonical()
		k += stride
	}
}

// forwardLevel2 is two levels at once: half the memory traffic.
func forwardLevel2(x, w []field.Element, stride int) {
	n := len(x) / 4
	x0, x1, x2, x3 := x[:n], x[n:2*n], x[2*n:3*n], x[3*n:4*n]
	quarter := w[len(w)/2] // ω^(n/4) is the same fourth root in every table
	k := 0
	for i := range x0 {
		a, b, c, d := x0[i], x1[i], x2[i], x3[i]
		w1 := w[k]
		w2 := w[2*k]
		s, t := field.Add(a, c), field.Add(b, d)
		u := field.Mul(field.Sub(a, c), w1)
		v := field.Mul(field.Mul(field.Sub(b, d), w1), quarter)
		x0[i] = field.Add(s, t)
		x1[i] = field.Mul(field.Sub(s, t), w2)
		x2[i] = field.Add(u, v)
		x3[i] = field.Mul(field.Sub(u, v), w2)
		k += stride
	}
}

// inverse transforms values in bit-reversed order to coefficients in natural order times n, in place (decimation in time).
func inverse(x []field.Element, w []field.Element, stride int) {
	n := len(x)
	if n > block {
		inverse(x[:n/2], w, stride*2)
		inverse(x[n/2:], w, stride*2)
		inverseLevel(x[:n/2], x[n/2:], w, stride)
		return
	}
	for m := 2; m <= n; m *= 2 {
		step := stride * (n / m)
		for start := 0; start < n; start += m {
			inverseLevel(x[start:start+m/2], x[start+m/2:start+m], w, step)
		}
	}
}

func inverseLevel(lo, hi, w []field.Element, stride int) {
	hi = hi[:len(lo)]
	k := 0
	for i := range lo {
		a, b := lo[i], field.Mul(hi[i], w[k])
		lo[i], hi[i] = field.Add(a, b), field.Sub(a, b)
		k += stride
	}
}

// bitReverse copies src, of length 2^log, to dst in bit-reversed order.
func bitReverse(dst, src []field.Element, log int) {
	for i := range dst {
		dst[i] = src[field.ReverseBits(uint64(i), log)]
	}
}

// cosets holds, for the extension of columns of 2^logHeight coefficients by 2^logBlowup, the factors of every slab: scale[s*n+i] = (g·ω^rev(s))^i.
type cosets struct {
	logHeight, logBlowup int
	scale                []field.Element
	table                *transforms
}

func newCosets(a *arena, logHeight, logBlowup int) (*cosets, error) {
	n := 1 << logHeight
	scale, err := a.elements(n << logBlowup)
	if err != nil {
		return nil, err
	}
	w, _ := field.RootOfUnity(logHeight + logBlowup)
	for s := range 1 << logBlowup {
		shift := field.Mul(field.Shift, field.Pow(w, field.ReverseBits(uint64(s), logBlowup)))
		p := field.Element(1)
		for i := range n {
			scale[s*n+i] = p
			p = field.Mul(p, shift)
		}
	}
	return &cosets{logHeight, logBlowup, scale, roots(logHeight)}, nil
}

// extend writes the extension of the polynomial with these coefficients into out.
func (c *cosets) extend(out, coeff []field.Element) {
	n := len(coeff)
	for s := range 1 << c.logBlowup {
		slab, scale := out[s*n:(s+1)*n], c.scale[s*n:(s+1)*n]
		for i, v := range coeff {
			slab[i] = field.MulLazy(field.Lazy(v), field.Lazy(scale[i])).Canonical()
		}
		forward(slab, c.table.forward, 1)
	}
}

// extendTrace writes the extension of a trace column into out. scratch has the column's length.
func (c *cosets) extendTrace(out, trace, scratch []field.Element) {
	bitReverse(scratch, trace, c.logHeight)
	inverse(scratch, c.table.inverse, 1)
	factor := field.InverseOfTwoPower(c.logHeight)
	for i, v := range scratch {
		scratch[i] = field.Mul(v, factor)
	}
	c.extend(out, scratch)
}
