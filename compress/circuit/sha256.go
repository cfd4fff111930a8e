package circuit

import (
	"math/big"

	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/compress/goldilocks"
)

// SHA-256 (FIPS 180-4) bit by bit: a word is 32 bits, the lowest first. It needs no tables, so both forms of the circuit have it.

type word32 [32]frontend.Variable

var sha256Start = [8]uint32{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}

// sha256Rounds are the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
var sha256Rounds = func() (k [64]uint32) {
	n := 0
	for p := int64(2); n < len(k); p++ {
		if !big.NewInt(p).ProbablyPrime(0) { // exact below 2^64
			continue
		}
		// ⌊2^32 p^(1/3)⌋ by bisection.
		cube := new(big.Int).Lsh(big.NewInt(p), 96)
		low, high := new(big.Int), new(big.Int).Lsh(big.NewInt(1), 36)
		for new(big.Int).Sub(high, low).Cmp(big.NewInt(1)) > 0 {
			middle := new(big.Int).Add(low, high)
			middle.Rsh(middle, 1)
			if new(big.Int).Exp(middle, big.NewInt(3), nil).Cmp(cube) > 0 {
				high = middle
			} else {
				low = middle
			}
		}
		k[n] = uint32(low.Uint64())
		n++
	}
	return k
}()

// sha2 makes constraints for the hash.
type sha2 struct {
	api  frontend.API
	chip *goldilocks.Chip
}

// sum is the digest of a message of 64-bit words, each as 8 bytes big-endian, given by their bits.
func (s sha2) sum(message [][]frontend.Variable) [8]word32 {
	var words []word32
	for _, bits := range message {
		words = append(words, word32(bits[32:]), word32(bits[:32]))
	}
	length := uint64(32 * len(words))
	words = append(words, constantWord(1<<31))
	for len(words)%16 != 14 {
		words = append(words, constantWord(0))
	}
	words = append(words, constantWord(uint32(length>>32)), constantWord(uint32(length)))
	var state [8]word32
	for i, x := range sha256Start {
		state[i] = constantWord(x)
	}
	for ; len(words) > 0; words = words[16:] {
		state = s.compress(state, [16]word32(words))
	}
	return state
}

func constantWord(x uint32) (w word32) {
	for i := range w {
		w[i] = x >> i & 1
	}
	return w
}

// compress is the compression function, section 6.2.2.
func (s sha2) compress(state [8]word32, block [16]word32) [8]word32 {
	w := append(make([]word32, 0, 64), block[:]...)
	for t := 16; t < 64; t++ {
		small1 := s.xor(rotate(w[t-2], 17), rotate(w[t-2], 19), shift(w[t-2], 10))
		small0 := s.xor(rotate(w[t-15], 7), rotate(w[t-15], 18), shift(w[t-15], 3))
		w = append(w, s.add(s.number(small1), s.number(w[t-7]), s.number(small0), s.number(w[t-16])))
	}
	a, b, c, d, e, f, g, h := state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]
	bc := s.xor(b, c)
	for t := range w {
		large1 := s.xor(rotate(e, 6), rotate(e, 11), rotate(e, 25))
		t1 := s.api.Add(s.number(h), s.number(large1), s.number(s.choose(e, f, g)), sha256Rounds[t], s.number(w[t]))
		large0 := s.xor(rotate(a, 2), rotate(a, 13), rotate(a, 22))
		// The majority is a where b and c differ.
		ab := s.xor(a, b)
		majority := s.choose(bc, a, b)
		h, g, f, e = g, f, e, s.add(s.number(d), t1)
		d, c, b, a = c, b, a, s.add(t1, s.number(large0), s.number(majority))
		bc = ab
	}
	var out [8]word32
	for i, x := range [8]word32{a, b, c, d, e, f, g, h} {
		out[i] = s.add(s.number(state[i]), s.number(x))
	}
	return out
}

func rotate(w word32, n int) (out word32) {
	for i := range out {
		out[i] = w[(i+n)%32]
	}
	return out
}

func shift(w word32, n int) (out word32) {
	for i := range out {
		out[i] = 0
		if i+n < 32 {
			out[i] = w[i+n]
		}
	}
	return out
}

func (s sha2) xor(words ...word32) word32 {
	out := words[0]
	for _, w := range words[1:] {
		for i := range out {
			out[i] = s.api.Xor(out[i], w[i])
		}
	}
	return out
}

// choose is x where the bits of c are 1, y where they are 0.
func (s sha2) choose(c, x, y word32) (out word32) {
	for i := range out {
		out[i] = s.api.Select(c[i], x[i], y[i])
	}
	return out
}

// number is the integer with the bits of a word.
func (s sha2) number(w word32) frontend.Variable {
	terms := make([]frontend.Variable, len(w))
	for i, b := range w {
		terms[i] = s.api.Mul(b, uint64(1)<<i)
	}
	return s.api.Add(terms[0], terms[1], terms[2:]...)
}

// add is the sum modulo 2^32 of numbers that stand for at most eight words.
func (s sha2) add(numbers ...frontend.Variable) word32 {
	var sum frontend.Variable = 0
	for _, n := range numbers {
		sum = s.api.Add(sum, n)
	}
	if x, ok := s.api.Compiler().ConstantValue(sum); ok {
		return constantWord(uint32(x.Uint64()))
	}
	return word32(s.chip.Bits(sum, 35)[:32])
}

// bindClaims demands that the public claim digest is that of the words of T-2, 8 bytes big-endian each.
func (v *checker) bindClaims(digest [2]frontend.Variable, statement []frontend.Variable) {
	message := make([][]frontend.Variable, len(statement))
	for i, w := range statement {
		if x, ok := v.api.Compiler().ConstantValue(w); ok {
			for k := range 64 {
				message[i] = append(message[i], x.Bit(k))
			}
			continue
		}
		message[i] = v.chip.Bits(w, 64)
	}
	hash := sha2{v.api, v.chip}
	words := hash.sum(message)
	for i := range digest {
		var half frontend.Variable = 0
		for _, w := range words[4*i : 4*i+4] {
			half = v.api.Add(v.api.Mul(half, uint64(1)<<32), hash.number(w))
		}
		v.api.AssertIsEqual(digest[i], half)
	}
}
