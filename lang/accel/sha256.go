package accel

import (
	"math/bits"

	"github.com/ixprove/ixprove/verifier/field"
)

// sha256K are the first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
var sha256K = cubeRoots()

// cubeRoots computes them: the integer cube root of prime·2^96 is the root with 32 bits behind the point.
func cubeRoots() (k [64]uint32) {
	n := 0
	for c := uint64(2); n < len(k); c++ {
		prime := true
		for d := uint64(2); d*d <= c; d++ {
			prime = prime && c%d != 0
		}
		if !prime {
			continue
		}
		root := uint64(0)
		for bit := 35; bit >= 0; bit-- { // the roots are below 2^3
			if next := root | 1<<bit; cubeAtMost(next, c) {
				root = next
			}
		}
		k[n] = uint32(root)
		n++
	}
	return k
}

// cubeAtMost reports whether r^3 <= c·2^96, for r below 2^36.
func cubeAtMost(r, c uint64) bool {
	hi, lo := bits.Mul64(r, r)  // below 2^72
	h1, l1 := bits.Mul64(lo, r) // low part
	h2, l2 := bits.Mul64(hi, r) // times 2^64
	mid, carry := bits.Add64(h1, l2, 0)
	top := h2 + carry
	wantMid, wantTop := c<<32, c>>32
	return top < wantTop || top == wantTop && (mid < wantMid || mid == wantMid && l1 == 0)
}

func sigma(x uint32, a, b, c int) uint32 {
	return bits.RotateLeft32(x, -a) ^ bits.RotateLeft32(x, -b) ^ bits.RotateLeft32(x, -c)
}

func smallSigma(x uint32, a, b, shift int) uint32 {
	return bits.RotateLeft32(x, -a) ^ bits.RotateLeft32(x, -b) ^ x>>shift
}

// computeSha256 is the compression of one block (FIPS 180-4, 6.2.2).
func computeSha256(args, results []field.Element) {
	var state, v [8]uint32
	var w [64]uint32
	words(state[:], args)
	words(w[:16], args[8:])
	for t := 16; t < 64; t++ {
		w[t] = smallSigma(w[t-2], 17, 19, 10) + w[t-7] + smallSigma(w[t-15], 7, 18, 3) + w[t-16]
	}
	v = state
	for t := range 64 {
		a, e := v[0], v[4]
		t1 := v[7] + sigma(e, 6, 11, 25) + (e&v[5] ^ ^e&v[6]) + sha256K[t] + w[t]
		t2 := sigma(a, 2, 13, 22) + (a&v[1] ^ a&v[2] ^ v[1]&v[2])
		copy(v[1:], v[:7])
		v[4] += t1
		v[0] = t1 + t2
	}
	for i := range results {
		results[i] = field.Element(state[i] + v[i])
	}
}
