// Package blake3 computes 32-byte BLAKE3 digests in the default and keyed modes, in portable Go.
//
// It exists for the verifier, which depends on nothing and runs as WebAssembly: no assembly, no unsafe,
// no goroutines, no initialisation and no allocation. It is tuned for Merkle nodes and trace rows, from
// one block to a few chunks; natively, a library with vector instructions hashes long inputs faster.
// Extendable output and key derivation are left out.
//
// The specification is "BLAKE3: one function, fast everywhere" (O'Connor, Aumasson, Neves,
// Wilcox-O'Hearn; version 20211102) and section, figure and table numbers refer to it. The package has
// not been audited.
package blake3

import "math/bits"

// Sizes in bytes (sections 2.1 and 2.6).
const (
	Size      = 32   // a digest, and a key
	BlockSize = 64   // what one compression takes
	ChunkSize = 1024 // a leaf of the hash tree, except perhaps the last
)

// Sum256 returns the digest of data, of any length, in the default hash mode.
func Sum256(data []byte) (digest [32]byte) {
	sum(&digest, &[8]uint32{iv0, iv1, iv2, iv3, iv4, iv5, iv6, iv7}, data, 0)
	return digest
}

// KeyedSum256 returns the digest of data, of any length, in the keyed mode under key. Digests under
// distinct keys are independent, and independent of Sum256.
func KeyedSum256(key *[32]byte, data []byte) (digest [32]byte) {
	words := KeyWords(key)
	sum(&digest, &words, data, KeyedHash)
	return digest
}

// KeyWords returns key as the eight little-endian words that Compress takes as cv in the keyed mode.
func KeyWords(key *[32]byte) (words [8]uint32) {
	for i := range words {
		words[i] = word(key[4*i : 4*i+4])
	}
	return words
}

// sum hashes data under the key words and mode flags and serialises the root output. It writes through a
// pointer and ranges by index because a wide copy of words just written waits for the stores to retire.
func sum(digest *[32]byte, key *[8]uint32, data []byte, mode uint32) {
	var out [8]uint32
	subtree(&out, key, data, 0, mode, Root)
	for i := range out {
		putWord(digest[4*i:4*i+4], out[i])
	}
}

// subtree sets out to the chaining value of the tree over data, whose first chunk has the given index;
// root is Root for the whole tree and 0 below it. The left child takes the largest power of two of chunks
// that leaves at least one byte to the right (section 2.1), so that the recursion is at most 54 deep.
func subtree(out, key *[8]uint32, data []byte, index uint64, mode, root uint32) {
	if len(data) <= ChunkSize {
		chunk(out, key, data, index, mode, root)
		return
	}
	leftChunks := 1 << (bits.Len(uint(len(data)-1)/ChunkSize) - 1)
	split := leftChunks * ChunkSize
	var children [16]uint32
	subtree((*[8]uint32)(children[:8]), key, data[:split], index, mode, 0)
	subtree((*[8]uint32)(children[8:]), key, data[split:], index+uint64(leftChunks), mode, 0)
	compress(out, key, &children, 0, BlockSize, mode|Parent|root)
}

// chunk sets out to the chaining value of the chunk with the given index (section 2.4). data has at most
// ChunkSize bytes, and may be empty only if it is the whole input.
func chunk(out, key *[8]uint32, data []byte, index uint64, mode, root uint32) {
	var m [16]uint32
	cv, start := key, ChunkStart
	for len(data) > BlockSize {
		load(&m, (*[BlockSize]byte)(data))
		compress(out, cv, &m, index, BlockSize, mode|start)
		cv, start, data = out, 0, data[BlockSize:]
	}
	if len(data) == BlockSize {
		load(&m, (*[BlockSize]byte)(data))
	} else {
		var padded [BlockSize]byte
		copy(padded[:], data)
		load(&m, &padded)
	}
	compress(out, cv, &m, index, uint32(len(data)), mode|start|ChunkEnd|root)
}

// load sets m to the sixteen little-endian words of block. Unrolled, it has no bounds checks.
func load(m *[16]uint32, block *[BlockSize]byte) {
	m[0], m[1], m[2], m[3] = word(block[0:4]), word(block[4:8]), word(block[8:12]), word(block[12:16])
	m[4], m[5], m[6], m[7] = word(block[16:20]), word(block[20:24]), word(block[24:28]), word(block[28:32])
	m[8], m[9], m[10], m[11] = word(block[32:36]), word(block[36:40]), word(block[40:44]), word(block[44:48])
	m[12], m[13], m[14], m[15] = word(block[48:52]), word(block[52:56]), word(block[56:60]), word(block[60:64])
}

// word reads a little-endian word. encoding/binary would bring reflect into the Wasm module.
func word(b []byte) uint32 {
	_ = b[3]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// putWord writes w little-endian.
func putWord(b []byte, w uint32) {
	_ = b[3]
	b[0], b[1], b[2], b[3] = byte(w), byte(w>>8), byte(w>>16), byte(w>>24)
}
