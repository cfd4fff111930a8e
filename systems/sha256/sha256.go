// Package sha256 is the compression function of SHA-256 (FIPS 180-4, section 6.2.2), and a circuit of its calls.
//
// docs/systems/sha256.md says what the circuit proves and why.
package sha256

import "math/bits"

// rounds of a compression; as many words are scheduled.
const rounds = 64

// constants are the first 32 bits of the fractional parts of the cube roots of the first 64 primes (section 4.2.2).
var constants = cubeRoots()

// cubeRoots computes them: the integer cube root of prime·2^96 is the root with 32 bits behind the point.
func cubeRoots() (k [rounds]uint32) {
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

// rotation is one of the functions of section 4.1.2: the sum, in bits, of x rotated right by three amounts, of which the last may be a shift.
type rotation struct {
	by    [3]int
	shift bool
}

var (
	bigSigma0   = rotation{by: [3]int{2, 13, 22}}
	bigSigma1   = rotation{by: [3]int{6, 11, 25}}
	smallSigma0 = rotation{by: [3]int{7, 18, 3}, shift: true}
	smallSigma1 = rotation{by: [3]int{17, 19, 10}, shift: true}
)

func (r *rotation) of(x uint32) uint32 {
	last := bits.RotateLeft32(x, -r.by[2])
	if r.shift {
		last = x >> r.by[2]
	}
	return bits.RotateLeft32(x, -r.by[0]) ^ bits.RotateLeft32(x, -r.by[1]) ^ last
}

func choose(x, y, z uint32) uint32 { return x&y ^ ^x&z }

func majority(x, y, z uint32) uint32 { return x&y ^ x&z ^ y&z }

// schedule is the message schedule of a block.
func schedule(block *[16]uint32) (w [rounds]uint32) {
	copy(w[:], block[:])
	for t := len(block); t < rounds; t++ {
		w[t] = smallSigma1.of(w[t-2]) + w[t-7] + smallSigma0.of(w[t-15]) + w[t-16]
	}
	return w
}

// Compress is the state after a block of big-endian words.
func Compress(state *[8]uint32, block *[16]uint32) [8]uint32 {
	w, v := schedule(block), *state
	for t := range rounds {
		a, e := v[0], v[4]
		t1 := v[7] + bigSigma1.of(e) + choose(e, v[5], v[6]) + constants[t] + w[t]
		t2 := bigSigma0.of(a) + majority(a, v[1], v[2])
		copy(v[1:], v[:7])
		v[4] += t1
		v[0] = t1 + t2
	}
	for i := range v {
		v[i] += state[i]
	}
	return v
}
