package vector

import (
	"math/bits"

	"github.com/ixprove/ixprove/verifier/field"
)

// Twiddles returns the roots of unity that transforms of up to 2^log elements use: for each size m = 2, 4, …, 2^log, entries m/2 to m-1 are ω_m^0 to ω_m^(m/2-1). A longer table serves
// shorter transforms too.
func Twiddles(log int) []field.Element {
	n := 1 << log
	w := make([]field.Element, max(n, 2))
	w[1] = 1
	if log == 0 {
		return w
	}
	root, _ := field.RootOfUnity(log)
	half := w[n/2:]
	half[0] = 1
	for k := 1; k < len(half); k *= 2 {
		Scale(half[k:2*k], half[:k], field.Pow(root, uint64(k)))
	}
	for k := n/2 - 1; k > 0; k-- {
		w[k] = w[2*k]
	}
	return w
}

// Forward transforms coefficients in natural order to the values at ω^0, ω^1, … in bit-reversed order, in place. The length is a power of two.
func Forward(x, w []field.Element) { forward(x, nil, nil, w[:max(len(x), 2)]) }

// ForwardScaled transforms the coefficients src[i]·factors[i] into x, which overlaps neither.
func ForwardScaled(x, src, factors, w []field.Element) {
	forward(x, src[:len(x)], factors[:len(x)], w[:max(len(x), 2)])
}

// Negate copies src to dst with negated index: dst[i] = src[-i mod n]. The transform of the copy is n times the inverse transform of src. They do not overlap.
func Negate(dst, src []field.Element) {
	n := len(dst)
	src = src[:n]
	for i := 1; i < n; i++ {
		dst[i] = src[n-i]
	}
	if n > 0 {
		dst[0] = src[0]
	}
}

// tileLog is log2 of the side of the squares that Reverse moves, so that both sides are read and written in whole cache lines.
const tileLog = 4

// Reverse copies src to dst in bit-reversed order. The length is a power of two. They do not overlap.
func Reverse(dst, src []field.Element) {
	n := len(src)
	dst = dst[:n]
	log := bits.Len(uint(n)) - 1
	if log < 2*tileLog {
		for i, v := range src {
			dst[field.ReverseBits(uint64(i), log)] = v
		}
		return
	}
	const side = 1 << tileLog
	middle := log - 2*tileLog
	for m := range 1 << middle {
		// Index (a, m, b) goes to (rev b, rev m, rev a).
		var tile [side][side]field.Element
		for a := range side {
			line := (*[side]field.Element)(src[a<<(log-tileLog)|m<<tileLog:])
			to := field.ReverseBits(uint64(a), tileLog)
			for b, v := range line {
				tile[b][to&(side-1)] = v
			}
		}
		to := int(field.ReverseBits(uint64(m), middle)) << tileLog
		for b := range side {
			*(*[side]field.Element)(dst[int(field.ReverseBits(uint64(b), tileLog))<<(log-tileLog)|to:]) = tile[b]
		}
	}
}
