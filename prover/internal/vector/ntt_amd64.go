//go:build !purego

package vector

import (
	"math/bits"

	"github.com/ixprove/ixprove/verifier/field"
)

// tailLog is log2 of the blocks that the last kernel transforms at once.
func (l level) tailLog() int { return [...]int{64, 4, 6}[l] }

// passLevels is the number of levels of the next pass over blocks of 2^log elements: as many as the registers hold, with what does not divide first, and never one where two and
// two do.
func (l level) passLevels(log int) int {
	most := [...]int{0, 2, 3}[l]
	rest := log - l.tailLog()
	switch {
	case rest <= most:
		return rest
	case rest%most == 0:
		return most
	case rest%most == 1 && most > 2:
		return 2
	}
	return rest % most
}

func forward(x, src, factors, w []field.Element) {
	log := bits.Len(uint(len(x))) - 1
	if log < use.tailLog() {
		forwardGeneric(x, src, factors, w)
		return
	}
	n := len(x)
	if src != nil {
		if log == use.tailLog() {
			mul(x, src, factors)
		} else {
			levels := use.passLevels(log)
			passScaled(levels, word(x), word(src), word(factors), word(w), n)
			log -= levels
			n >>= levels
		}
	}
	for start := 0; start < len(x); start += max(n, block) {
		transform(x[start:min(start+max(n, block), len(x))], w, log)
	}
}

// transform transforms each block of 2^log elements of x, which is one block if it is longer than `block`.
func transform(x, w []field.Element, log int) {
	for log > use.tailLog() {
		levels := use.passLevels(log)
		n := 1 << log
		for start := 0; start < len(x); start += n {
			pass(levels, word(x[start:]), word(w), n)
		}
		log -= levels
		if len(x) > block {
			for part := max(1<<log, block); len(x) > 0; x = x[part:] {
				transform(x[:part], w, log)
			}
			return
		}
	}
	if use == avx512 {
		tailAVX512(word(x), word(w), len(x))
	} else {
		tailAVX2(word(x), word(w), len(x))
	}
}

func pass(levels int, x, w *uint64, n int) {
	switch {
	case use == avx2 && levels == 1:
		dif1AVX2(x, w, n)
	case use == avx2:
		dif2AVX2(x, w, n)
	case levels == 1:
		dif1AVX512(x, w, n)
	case levels == 2:
		dif2AVX512(x, w, n)
	default:
		dif3AVX512(x, w, n)
	}
}

func passScaled(levels int, x, src, factors, w *uint64, n int) {
	switch {
	case use == avx2 && levels == 1:
		dif1ScaledAVX2(x, src, factors, w, n)
	case use == avx2:
		dif2ScaledAVX2(x, src, factors, w, n)
	case levels == 1:
		dif1ScaledAVX512(x, src, factors, w, n)
	case levels == 2:
		dif2ScaledAVX512(x, src, factors, w, n)
	default:
		dif3ScaledAVX512(x, src, factors, w, n)
	}
}
