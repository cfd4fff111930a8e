// Package hash defines the hash suite that a proof is made under, and the suite "blake3" (docs/protocol.md section 3).
//
// A suite is passed explicitly; nothing registers itself, so that a verifier links only the suites it is given.
package hash

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/blake3"
)

// Digest is a 32-byte digest.
type Digest = formats.Digest

// Word is the first eight bytes of b, little-endian. encoding/binary would bring reflect into the Wasm module.
func Word(b []byte) uint64 { return formats.Elements(b).At(0) }

// AppendWord appends the eight bytes of w, little-endian.
func AppendWord(b []byte, w uint64) []byte { return formats.Elements(b).Append(w) }

// Suite is a set of domain-separated hash functions. Rows are packed canonical elements (formats.Elements). Implementations are stateless and safe for concurrent
// use.
type Suite interface {
	// Name is the suite's name in keys.
	Name() string
	// Shape binds a tree level: 2^logRows rows of the given widths, in elements. It keys the leaves of that level.
	Shape(logRows int, widths []int) Digest
	// Leaf hashes one row, or several rows of equal height concatenated.
	Leaf(shape *Digest, row []byte) Digest
	// Node is the parent of two nodes.
	Node(left, right *Digest) Digest
	// Inject is the parent of two nodes at a level where shorter matrices enter with the hash of their row.
	Inject(left, right, row *Digest) Digest
	// Absorb is the transcript state after words.
	Absorb(state *Digest, words []uint64) Digest
	// Squeeze is a block of the transcript's output: the first n words, n at least 1. A challenge in F is a word below p, and a query index the low bits of a word.
	Squeeze(state *Digest, block uint64) (words [4]uint64, n int)
	// Fork is the state of branch i.
	Fork(state *Digest, i uint64) Digest
	// Grind is the word whose low bits a nonce must make zero.
	Grind(state *Digest, nonce uint64) uint64
	// Canonical reports whether each 32 bytes are a digest of the suite. Others must not reach the functions above from outside, lest a proof have two encodings.
	Canonical(digests []byte) bool
}

// Named returns the suite of that name among suites, and false if there is none.
func Named(name string, suites []Suite) (Suite, bool) {
	for _, s := range suites {
		if s.Name() == name {
			return s, true
		}
	}
	return nil, false
}

// The keys of BLAKE3's keyed mode, one a purpose: ASCII, zero-padded.
var (
	keyShape   = label("ixprove/1 leaf shape")
	keyNode    = label("ixprove/1 merkle node")
	keyInject  = label("ixprove/1 merkle inject")
	keyAbsorb  = label("ixprove/1 absorb")
	keySqueeze = label("ixprove/1 squeeze")
	keyFork    = label("ixprove/1 fork")
	keyGrind   = label("ixprove/1 grind")
	keyKey     = label("ixprove/1 verifying key")
)

func label(s string) (k [32]byte) {
	copy(k[:], s)
	return k
}

// KeyDigest names a verifying key, given in its one encoding. It is BLAKE3 whatever suite the key asks for.
func KeyDigest(encoded []byte) Digest { return blake3.KeyedSum256(&keyKey, encoded) }

// Blake3 is the suite "blake3".
type Blake3 struct{}

// Name returns "blake3".
func (Blake3) Name() string { return "blake3" }

// Shape implements Suite.
func (Blake3) Shape(logRows int, widths []int) Digest {
	b := make([]byte, 0, 8*(2+len(widths)))
	b = AppendWord(b, uint64(logRows))
	b = AppendWord(b, uint64(len(widths)))
	for _, w := range widths {
		b = AppendWord(b, uint64(w))
	}
	return blake3.KeyedSum256(&keyShape, b)
}

// Leaf implements Suite.
func (Blake3) Leaf(shape *Digest, row []byte) Digest {
	return blake3.KeyedSum256((*[32]byte)(shape), row)
}

// Node implements Suite.
func (Blake3) Node(left, right *Digest) Digest {
	var b [64]byte
	copy(b[:32], left[:])
	copy(b[32:], right[:])
	return blake3.KeyedSum256(&keyNode, b[:])
}

// Inject implements Suite.
func (Blake3) Inject(left, right, row *Digest) Digest {
	var b [96]byte
	copy(b[:32], left[:])
	copy(b[32:64], right[:])
	copy(b[64:], row[:])
	return blake3.KeyedSum256(&keyInject, b[:])
}

// Absorb implements Suite.
func (Blake3) Absorb(state *Digest, words []uint64) Digest {
	b := make([]byte, 32, 32+8*len(words))
	copy(b, state[:])
	for _, w := range words {
		b = AppendWord(b, w)
	}
	return blake3.KeyedSum256(&keyAbsorb, b)
}

// Squeeze implements Suite.
func (Blake3) Squeeze(state *Digest, block uint64) (words [4]uint64, n int) {
	d := withNumber(&keySqueeze, state, block)
	for i := range words {
		words[i] = Word(d[8*i:])
	}
	return words, len(words)
}

// Fork implements Suite.
func (Blake3) Fork(state *Digest, i uint64) Digest { return withNumber(&keyFork, state, i) }

// Grind implements Suite.
func (Blake3) Grind(state *Digest, nonce uint64) uint64 {
	d := withNumber(&keyGrind, state, nonce)
	return Word(d[:])
}

// Canonical implements Suite: any 32 bytes are a digest.
func (Blake3) Canonical([]byte) bool { return true }

func withNumber(key *[32]byte, state *Digest, n uint64) Digest {
	var b [40]byte
	copy(b[:], state[:])
	AppendWord(b[:32], n)
	return blake3.KeyedSum256(key, b[:])
}
