package cpu

import (
	"sync"

	"github.com/ixprove/ixprove/prover/internal/vector"
	"github.com/ixprove/ixprove/verifier/field"
)

var (
	twiddleMu    sync.Mutex
	twiddleTable []field.Element
)

// twiddles returns roots of unity for transforms of up to 2^log elements: one table a process, as long as the longest transform so far.
func twiddles(log int) []field.Element {
	twiddleMu.Lock()
	defer twiddleMu.Unlock()
	if len(twiddleTable) < max(2, 1<<log) {
		twiddleTable = vector.Twiddles(log)
	}
	return twiddleTable
}

// coefficients turns values in bit-reversed order into coefficients in natural order, in place.
func coefficients(x []field.Element) {
	log := log2(len(x))
	reverse := func() {
		for i := range x {
			if k := int(field.ReverseBits(uint64(i), log)); i < k {
				x[i], x[k] = x[k], x[i]
			}
		}
	}
	reverse()
	// The transform of the values with negated index is the inverse transform.
	for i, k := 1, len(x)-1; i < k; i, k = i+1, k-1 {
		x[i], x[k] = x[k], x[i]
	}
	vector.Forward(x, twiddles(log))
	vector.Scale(x, x, field.InverseOfTwoPower(log))
	reverse()
}

// cosets holds, for the extension of columns of n = 2^logHeight coefficients by 2^logBlowup, the factors of every slab: scale[s*n+i] = (g·ω^rev(s))^i.
type cosets struct {
	logHeight, logBlowup int
	scale                []field.Element
	twiddles             []field.Element
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
		powers(scale[s*n:(s+1)*n], 1, shift)
	}
	return &cosets{logHeight, logBlowup, scale, twiddles(logHeight)}, nil
}

// powers sets x[i] = first·ratio^i, doubling what is there.
func powers(x []field.Element, first, ratio field.Element) {
	x[0] = first
	for k := 1; k < len(x); k *= 2 {
		vector.Scale(x[k:min(2*k, len(x))], x[:k], ratio)
		ratio = field.Mul(ratio, ratio)
	}
}

// extend writes into out the extension of the polynomial with these coefficients.
func (c *cosets) extend(out, coeff []field.Element) {
	n := len(coeff)
	for s := range 1 << c.logBlowup {
		vector.ForwardScaled(out[s*n:(s+1)*n], coeff, c.scale[s*n:(s+1)*n], c.twiddles)
	}
}

// extendTrace writes the extension of a trace column into out. scratch has the column's length.
func (c *cosets) extendTrace(out, trace, scratch []field.Element) {
	x := out[:len(trace)]
	vector.Negate(x, trace)
	vector.Forward(x, c.twiddles)
	vector.Reverse(scratch, x)
	vector.Scale(scratch, scratch, field.InverseOfTwoPower(c.logHeight))
	c.extend(out, scratch)
}
