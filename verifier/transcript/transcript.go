// Package transcript turns the messages of the protocol into its challenges (Fiat-Shamir; docs/protocol.md section 5).
package transcript

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
)

// Tag numbers a transcript step, T-1 to T-18.
type Tag uint64

// The steps of docs/protocol.md section 5.
const (
	TagKey Tag = iota + 1
	TagClaims
	TagHeaders
	TagPinPoint
	TagPins
	TagLookup
	TagAux
	TagFold
	TagQuotient
	TagZeta
	TagOpenings
	TagBatch
	TagLayer
	TagBeta
	TagFinal
	TagGrind
	TagNonce
	TagQueries
)

// Transcript is a hash chain over tagged messages. It is not safe for concurrent use; Fork gives independent branches.
type Transcript struct {
	suite  hash.Suite
	state  hash.Digest
	buffer []uint64
}

// New starts a transcript of the batch protocol.
func New(suite hash.Suite) *Transcript {
	t := &Transcript{suite: suite}
	var name [16]byte
	copy(name[:], "ixprove batch v1")
	t.state = suite.Absorb(&t.state, []uint64{hash.Word(name[:8]), hash.Word(name[8:])})
	return t
}

// Absorb appends a message.
func (t *Transcript) Absorb(tag Tag, words []uint64) {
	t.buffer = append(t.buffer, uint64(tag), uint64(len(words)))
	t.buffer = append(t.buffer, words...)
}

// AbsorbDigest appends a digest as a message of four words.
func (t *Transcript) AbsorbDigest(tag Tag, d hash.Digest) { t.Absorb(tag, AppendDigest(nil, d)) }

// AbsorbElements appends packed elements, a word each.
func (t *Transcript) AbsorbElements(tag Tag, e formats.Elements) {
	t.Absorb(tag, AppendElements(make([]uint64, 0, e.Len()), e))
}

// AppendDigest appends the four words of a digest.
func AppendDigest(words []uint64, d hash.Digest) []uint64 {
	for i := 0; i < len(d); i += 8 {
		words = append(words, hash.Word(d[i:]))
	}
	return words
}

// AppendElements appends packed elements, a word each.
func AppendElements(words []uint64, e formats.Elements) []uint64 {
	for i := range e.Len() {
		words = append(words, e.At(i))
	}
	return words
}

// Clone returns a transcript of the same past.
func (t *Transcript) Clone() *Transcript {
	return &Transcript{suite: t.suite, state: t.state, buffer: append([]uint64(nil), t.buffer...)}
}

// State is the state of the hash chain, and whether all messages are in it: the last step was a challenge, or a fork.
func (t *Transcript) State() (hash.Digest, bool) { return t.state, len(t.buffer) == 0 }

// Fork returns branch i: a transcript that depends on all absorbed so far and on i.
func (t *Transcript) Fork(i uint64) *Transcript {
	t.flush()
	return &Transcript{suite: t.suite, state: t.suite.Fork(&t.state, i)}
}

func (t *Transcript) flush() {
	if len(t.buffer) > 0 {
		t.state = t.suite.Absorb(&t.state, t.buffer)
		t.buffer = t.buffer[:0]
	}
}

// Challenge is the output of one challenge step, read from its start.
type Challenge struct {
	suite hash.Suite
	state hash.Digest
	block uint64
	words [4]uint64
	next  int // of the first n words
	n     int
}

// Challenge absorbs the step's tag and returns its output.
func (t *Transcript) Challenge(tag Tag) *Challenge {
	t.Absorb(tag, nil)
	t.flush()
	return &Challenge{suite: t.suite, state: t.state}
}

// Word is the next 64 bits.
func (c *Challenge) Word() uint64 {
	if c.next == c.n {
		c.words, c.n = c.suite.Squeeze(&c.state, c.block)
		c.block++
		c.next = 0
	}
	c.next++
	return c.words[c.next-1]
}

// Ext is the next element of E: three words below p, others being skipped.
func (c *Challenge) Ext() (e field.Ext) {
	for i := range e {
		w := c.Word()
		for w >= field.Modulus {
			w = c.Word()
		}
		e[i] = field.Element(w)
	}
	return e
}

// GrindState absorbs step T-16 and returns the state that a nonce is ground against.
func (t *Transcript) GrindState() hash.Digest {
	t.Absorb(TagGrind, nil)
	t.flush()
	return t.state
}
