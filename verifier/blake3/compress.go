package blake3

import "math/bits"

// Domain-separation flags of the compression function (BLAKE3 specification, table 3).
const (
	ChunkStart        uint32 = 1 << iota // first block of a chunk
	ChunkEnd                             // last block of a chunk
	Parent                               // the block is two child chaining values
	Root                                 // the output is the digest rather than a chaining value
	KeyedHash                            // every compression of the keyed mode
	DeriveKeyContext                     // key derivation, context pass; unused by this package
	DeriveKeyMaterial                    // key derivation, material pass; unused by this package
)

// The initial value: the first 32 bits of the fractional parts of the square roots of the first eight
// primes (BLAKE3 specification, table 1; the same words as SHA-256, FIPS 180-4, section 5.3.3).
const (
	iv0 uint32 = 0x6a09e667
	iv1 uint32 = 0xbb67ae85
	iv2 uint32 = 0x3c6ef372
	iv3 uint32 = 0xa54ff53a
	iv4 uint32 = 0x510e527f
	iv5 uint32 = 0x9b05688c
	iv6 uint32 = 0x1f83d9ab
	iv7 uint32 = 0x5be0cd19
)

// IV is the initial value: the key words of the default hash mode, whose first four words also fill the
// third row of every compression state (BLAKE3 specification, table 1). It is here for code that restates
// the compression, such as a circuit; this package never reads it.
var IV = [8]uint32{iv0, iv1, iv2, iv3, iv4, iv5, iv6, iv7}

// MsgPermutation reorders the message words between rounds: word i of the next round is word
// MsgPermutation[i] of this one (BLAKE3 specification, table 2). Like IV, it is never read by this package.
var MsgPermutation = [16]int{2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8}

// Compress is the BLAKE3 compression function with its output truncated to the eight words of a chaining
// value (BLAKE3 specification, section 2.2). cv is the input chaining value or key words; block is the
// message as little-endian words, zero after blockLen bytes (0 to BlockSize); counter is the index of the
// chunk, and 0 for a parent; flags is a sum of the constants above. Any argument values are accepted.
// Serialised little-endian, the output under Root is the 32-byte digest.
func Compress(cv *[8]uint32, block *[16]uint32, counter uint64, blockLen, flags uint32) (out [8]uint32) {
	compress(&out, cv, block, counter, blockLen, flags)
	return out
}

// g is the quarter-round on one column or diagonal (BLAKE3 specification, section 2.2). It has to stay
// within the compiler's inlining budget: a call costs more than the arithmetic on wasm.
func g(a, b, c, d, x, y uint32) (uint32, uint32, uint32, uint32) {
	a += b + x
	d = bits.RotateLeft32(d^a, -16)
	c += d
	b = bits.RotateLeft32(b^c, -12)
	a += b + y
	d = bits.RotateLeft32(d^a, -8)
	c += d
	b = bits.RotateLeft32(b^c, -7)
	return a, b, c, d
}

// compress is Compress writing to out, which may be cv. The state lives in sixteen local variables and
// the message schedule is spelled out: a state array with a schedule loop is 1.7 times slower on amd64
// and about 5 times slower on wasm.
func compress(out, cv *[8]uint32, m *[16]uint32, counter uint64, blockLen, flags uint32) {
	v0, v1, v2, v3 := cv[0], cv[1], cv[2], cv[3]
	v4, v5, v6, v7 := cv[4], cv[5], cv[6], cv[7]
	v8, v9, v10, v11 := iv0, iv1, iv2, iv3
	v12, v13, v14, v15 := uint32(counter), uint32(counter>>32), blockLen, flags

	// Round 1.
	v0, v4, v8, v12 = g(v0, v4, v8, v12, m[0], m[1])
	v1, v5, v9, v13 = g(v1, v5, v9, v13, m[2], m[3])
	v2, v6, v10, v14 = g(v2, v6, v10, v14, m[4], m[5])
	v3, v7, v11, v15 = g(v3, v7, v11, v15, m[6], m[7])
	v0, v5, v10, v15 = g(v0, v5, v10, v15, m[8], m[9])
	v1, v6, v11, v12 = g(v1, v6, v11, v12, m[10], m[11])
	v2, v7, v8, v13 = g(v2, v7, v8, v13, m[12], m[13])
	v3, v4, v9, v14 = g(v3, v4, v9, v14, m[14], m[15])

	// Round 2.
	v0, v4, v8, v12 = g(v0, v4, v8, v12, m[2], m[6])
	v1, v5, v9, v13 = g(v1, v5, v9, v13, m[3], m[10])
	v2, v6, v10, v14 = g(v2, v6, v10, v14, m[7], m[0])
	v3, v7, v11, v15 = g(v3, v7, v11, v15, m[4], m[13])
	v0, v5, v10, v15 = g(v0, v5, v10, v15, m[1], m[11])
	v1, v6, v11, v12 = g(v1, v6, v11, v12, m[12], m[5])
	v2, v7, v8, v13 = g(v2, v7, v8, v13, m[9], m[14])
	v3, v4, v9, v14 = g(v3, v4, v9, v14, m[15], m[8])

	// Round 3.
	v0, v4, v8, v12 = g(v0, v4, v8, v12, m[3], m[4])
	v1, v5, v9, v13 = g(v1, v5, v9, v13, m[10], m[12])
	v2, v6, v10, v14 = g(v2, v6, v10, v14, m[13], m[2])
	v3, v7, v11, v15 = g(v3, v7, v11, v15, m[7], m[14])
	v0, v5, v10, v15 = g(v0, v5, v10, v15, m[6], m[5])
	v1, v6, v11, v12 = g(v1, v6, v11, v12, m[9], m[0])
	v2, v7, v8, v13 = g(v2, v7, v8, v13, m[11], m[15])
	v3, v4, v9, v14 = g(v3, v4, v9, v14, m[8], m[1])

	// Round 4.
	v0, v4, v8, v12 = g(v0, v4, v8, v12, m[10], m[7])
	v1, v5, v9, v13 = g(v1, v5, v9, v13, m[12], m[9])
	v2, v6, v10, v14 = g(v2, v6, v10, v14, m[14], m[3])
	v3, v7, v11, v15 = g(v3, v7, v11, v15, m[13], m[15])
	v0, v5, v10, v15 = g(v0, v5, v10, v15, m[4], m[0])
	v1, v6, v11, v12 = g(v1, v6, v11, v12, m[11], m[2])
	v2, v7, v8, v13 = g(v2, v7, v8, v13, m[5], m[8])
	v3, v4, v9, v14 = g(v3, v4, v9, v14, m[1], m[6])

	// Round 5.
	v0, v4, v8, v12 = g(v0, v4, v8, v12, m[12], m[13])
	v1, v5, v9, v13 = g(v1, v5, v9, v13, m[9], m[11])
	v2, v6, v10, v14 = g(v2, v6, v10, v14, m[15], m[10])
	v3, v7, v11, v15 = g(v3, v7, v11, v15, m[14], m[8])
	v0, v5, v10, v15 = g(v0, v5, v10, v15, m[7], m[2])
	v1, v6, v11, v12 = g(v1, v6, v11, v12, m[5], m[3])
	v2, v7, v8, v13 = g(v2, v7, v8, v13, m[0], m[1])
	v3, v4, v9, v14 = g(v3, v4, v9, v14, m[6], m[4])

	// Round 6.
	v0, v4, v8, v12 = g(v0, v4, v8, v12, m[9], m[14])
	v1, v5, v9, v13 = g(v1, v5, v9, v13, m[11], m[5])
	v2, v6, v10, v14 = g(v2, v6, v10, v14, m[8], m[12])
	v3, v7, v11, v15 = g(v3, v7, v11, v15, m[15], m[1])
	v0, v5, v10, v15 = g(v0, v5, v10, v15, m[13], m[3])
	v1, v6, v11, v12 = g(v1, v6, v11, v12, m[0], m[10])
	v2, v7, v8, v13 = g(v2, v7, v8, v13, m[2], m[6])
	v3, v4, v9, v14 = g(v3, v4, v9, v14, m[4], m[7])

	// Round 7.
	v0, v4, v8, v12 = g(v0, v4, v8, v12, m[11], m[15])
	v1, v5, v9, v13 = g(v1, v5, v9, v13, m[5], m[0])
	v2, v6, v10, v14 = g(v2, v6, v10, v14, m[1], m[9])
	v3, v7, v11, v15 = g(v3, v7, v11, v15, m[8], m[6])
	v0, v5, v10, v15 = g(v0, v5, v10, v15, m[14], m[10])
	v1, v6, v11, v12 = g(v1, v6, v11, v12, m[2], m[12])
	v2, v7, v8, v13 = g(v2, v7, v8, v13, m[3], m[4])
	v3, v4, v9, v14 = g(v3, v4, v9, v14, m[7], m[13])

	out[0], out[1], out[2], out[3] = v0^v8, v1^v9, v2^v10, v3^v11
	out[4], out[5], out[6], out[7] = v4^v12, v5^v13, v6^v14, v7^v15
}
