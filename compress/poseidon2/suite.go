// Package poseidon2 is the hash suite "poseidon2-bn254" (docs/protocol.md section 3): Poseidon2 over the scalar field of BN254, so that a circuit of gnark over that
// field checks a Merkle step for some 218 constraints. Proofs under it are roots, made to be compressed.
//
// The suite is here in three forms that tests hold to each other: one input at a time over the library's permutation, many at a time in lanes (lanes.go), and the
// constants and layouts below, from which a circuit builds the same functions. Not audited by an outside party.
package poseidon2

import (
	"encoding/binary"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/hash"
)

// Name is the suite's name in keys.
const Name = "poseidon2-bn254"

// Suite implements hash.Suite. Digests are elements of Fr, 32 bytes little-endian, below r; the functions take other 32 bytes for their residue, but a verifier
// refuses those before (P-37, K-12).
type Suite struct{}

var _ hash.Suite = Suite{}

// The layout of lanes (docs/protocol.md section 3).
const (
	PackedWords = 3       // 64-bit words of a lane
	TagBits     = 61      // bits of a lane above its words; a lane with them is below 2^253 < r
	ShapeBits   = 60      // bits of a shape in each of the first ShapeLanes lanes of a leaf, below LeafTag
	ShapeLanes  = 4       // lanes of a leaf that carry its shape
	LeafTag     = 1 << 60 // marks the first block of a leaf
)

// Domain says what a chain is for; it is part of the chain's tag.
type Domain uint64

// The domains.
const (
	DomainAbsorb Domain = iota + 1
	DomainSqueeze
	DomainFork
	DomainGrind
	DomainShape
)

// Tag is what the first lane of a chain over n < 2^32 words carries above its words: domain and length, below LeafTag.
func (d Domain) Tag(n int) uint64 { return uint64(d)<<32 | uint64(uint32(n)) }

// ShapeTags are what the first lanes of a leaf carry above their words.
func ShapeTags(shape *hash.Digest) (tags [ShapeLanes]uint64) {
	w := limbs(shape)
	const mask = 1<<ShapeBits - 1
	for i := range tags {
		at := i * ShapeBits
		v := w[at/64]>>(at%64) | w[at/64+1]<<(64-at%64) // at/64 is at most 2
		tags[i] = LeafTag | v&mask
	}
	return tags
}

// Name returns "poseidon2-bn254".
func (Suite) Name() string { return Name }

// Shape implements hash.Suite.
func (Suite) Shape(logRows int, widths []int) hash.Digest {
	words := make([]uint64, 0, 2+len(widths))
	words = append(words, uint64(logRows), uint64(len(widths)))
	for _, w := range widths {
		words = append(words, uint64(w))
	}
	return digest(chain(DomainShape, fr.Element{}, words))
}

// Leaf implements hash.Suite.
func (Suite) Leaf(shape *hash.Digest, row []byte) hash.Digest {
	r := formats.Elements(row)
	words := make([]uint64, r.Len())
	for i := range words {
		words[i] = r.At(i)
	}
	tags := ShapeTags(shape)
	var block [8]fr.Element
	width := 4
	if len(words) > 4*PackedWords {
		width = 8
	}
	for i := range width {
		tag := uint64(0)
		if i < len(tags) {
			tag = tags[i]
		}
		block[i], words = lane(words, tag)
	}
	return digest(extend(compress(block[:width]), words, 0))
}

// Node implements hash.Suite.
func (Suite) Node(left, right *hash.Digest) hash.Digest {
	r := element(right)
	block := [2]fr.Element{element(left), r}
	permute(block[:])
	return digest(*r.Add(&r, &block[1]))
}

// Inject implements hash.Suite.
func (Suite) Inject(left, right, row *hash.Digest) hash.Digest {
	block := [4]fr.Element{element(left), element(right), element(row), injectLane}
	return digest(compress(block[:]))
}

// injectLane is -1, which is no lane of words: it tells a block of Inject from all others.
var injectLane = func() (e fr.Element) { return *e.SetInt64(-1) }()

// Absorb implements hash.Suite.
func (Suite) Absorb(state *hash.Digest, words []uint64) hash.Digest {
	return digest(chain(DomainAbsorb, element(state), words))
}

// Squeeze implements hash.Suite. A block is three words, all below p: an element of E.
func (Suite) Squeeze(state *hash.Digest, block uint64) (words [4]uint64, n int) {
	d := digits(canonical(chain(DomainSqueeze, element(state), []uint64{block})))
	return [4]uint64{d[0], d[1], d[2]}, 3
}

// Fork implements hash.Suite.
func (Suite) Fork(state *hash.Digest, i uint64) hash.Digest {
	return digest(chain(DomainFork, element(state), []uint64{i}))
}

// Grind implements hash.Suite.
func (Suite) Grind(state *hash.Digest, nonce uint64) uint64 {
	return digits(canonical(chain(DomainGrind, element(state), []uint64{nonce})))[0]
}

// Canonical implements hash.Suite: digests are integers below r.
func (Suite) Canonical(digests []byte) bool {
	for ; len(digests) >= formats.DigestBytes; digests = digests[formats.DigestBytes:] {
		if w := limbs((*hash.Digest)(digests)); !below(&w) {
			return false
		}
	}
	return true
}

// chain hashes words under a domain, from a state on.
func chain(d Domain, state fr.Element, words []uint64) fr.Element {
	return extend(state, words, d.Tag(len(words)))
}

// extend continues a hash with the lanes of words, at least one if there is a tag for the first.
func extend(h fr.Element, words []uint64, tag uint64) fr.Element {
	for len(words) > 0 || tag != 0 {
		block := [8]fr.Element{h}
		width := 4
		if len(words) > 3*PackedWords {
			width = 8
		}
		for i := 1; i < width; i++ {
			block[i], words = lane(words, tag)
			tag = 0
		}
		h = compress(block[:width])
	}
	return h
}

// lane packs the next words under a tag below 2^61 and returns the rest.
func lane(words []uint64, tag uint64) (fr.Element, []uint64) {
	e := fr.Element{0, 0, 0, tag}
	n := copy(e[:PackedWords], words)
	return *e.Mul(&e, &toMontgomery), words[n:]
}

// limbs are a digest's words, the lowest first.
func limbs(d *hash.Digest) (w [4]uint64) {
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(d[8*i:])
	}
	return w
}

func element(d *hash.Digest) fr.Element {
	e := fr.Element(limbs(d))
	for !below((*[4]uint64)(&e)) {
		subtractModulus((*[4]uint64)(&e))
	}
	return *e.Mul(&e, &toMontgomery)
}

// canonical is the integer below r, in limbs.
func canonical(e fr.Element) [4]uint64 { return e.Bits() }

func digest(e fr.Element) (d hash.Digest) {
	for i, w := range canonical(e) {
		binary.LittleEndian.PutUint64(d[8*i:], w)
	}
	return d
}
