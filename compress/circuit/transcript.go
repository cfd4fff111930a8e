package circuit

import (
	"encoding/binary"

	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/compress/goldilocks"
	"github.com/ixprove/ixprove/compress/poseidon2"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/security"
	"github.com/ixprove/ixprove/verifier/transcript"
)

// challenger is the transcript in the circuit (docs/protocol.md section 5), a verifier.Drawer. Words are constants or variables below 2^64.
type challenger struct {
	hasher
	chip    *goldilocks.Chip
	profile security.Profile
	logTop  int // of the domain that queries are drawn from
	state   frontend.Variable
	buffer  []frontend.Variable
	queries [][]frontend.Variable // the bits of each index, lowest first
}

var _ verifier.Drawer[frontend.Variable, goldilocks.Ext] = (*challenger)(nil)

func newChallenger(api frontend.API, chip *goldilocks.Chip, p security.Profile, logTop int) *challenger {
	c := &challenger{hasher: hasher{api}, chip: chip, profile: p, logTop: logTop, state: 0}
	name := []byte("ixprove batch v1")
	c.state = c.chain(poseidon2.DomainAbsorb, c.state, []frontend.Variable{binary.LittleEndian.Uint64(name), binary.LittleEndian.Uint64(name[8:])})
	return c
}

// Number implements verifier.Drawer.
func (c *challenger) Number(x uint64) frontend.Variable { return x }

// Absorb implements verifier.Drawer.
func (c *challenger) Absorb(tag transcript.Tag, words []frontend.Variable) {
	c.buffer = append(c.buffer, uint64(tag), len(words))
	c.buffer = append(c.buffer, words...)
}

func (c *challenger) flush() {
	if len(c.buffer) > 0 {
		c.state = c.chain(poseidon2.DomainAbsorb, c.state, c.buffer)
		c.buffer = nil
	}
}

// fork goes on as branch i.
func (c *challenger) fork(i uint64) {
	c.flush()
	c.state = c.chain(poseidon2.DomainFork, c.state, []frontend.Variable{i})
}

// squeeze is a block of the output of a challenge step: three canonical elements of F, or one of E.
func (c *challenger) squeeze(block int) goldilocks.Ext {
	return c.chip.PrimeDigits(c.chain(poseidon2.DomainSqueeze, c.state, []frontend.Variable{block}))
}

// Elements implements verifier.Drawer. An element is a block.
func (c *challenger) Elements(tag transcript.Tag, n int) []goldilocks.Ext {
	c.Absorb(tag, nil)
	c.flush()
	out := make([]goldilocks.Ext, n)
	for i := range out {
		out[i] = c.squeeze(i)
	}
	return out
}

// Grind implements verifier.Drawer: it demands that the nonce, a word, passes (P-28).
func (c *challenger) Grind(nonce frontend.Variable) {
	c.Absorb(transcript.TagGrind, nil)
	c.flush()
	if c.profile.GrindingBits == 0 {
		c.api.AssertIsEqual(nonce, 0)
		return
	}
	word := c.chip.PrimeDigits(c.chain(poseidon2.DomainGrind, c.state, []frontend.Variable{nonce}))[0]
	c.chip.AssertLowBitsZero(word, c.profile.GrindingBits)
}

// Queries implements verifier.Drawer: the lowest bits of each word of the output.
func (c *challenger) Queries() {
	c.Absorb(transcript.TagQueries, nil)
	c.flush()
	var block goldilocks.Ext
	for q := range c.profile.Queries {
		if q%len(block) == 0 {
			block = c.squeeze(q / len(block))
		}
		c.queries = append(c.queries, c.chip.LowBits(block[q%len(block)], c.logTop))
	}
}

// digestWords are the words of a digest.
func digestWords(chip *goldilocks.Chip, d frontend.Variable) []frontend.Variable {
	w := chip.Words(d)
	return words(w[:]...)
}

// extWords are the words of elements of E whose coefficients are words.
func extWords(es []goldilocks.Ext) (out []frontend.Variable) {
	for _, e := range es {
		out = append(out, words(e[:]...)...)
	}
	return out
}

// constantWords are the words of a digest that is known when the circuit is generated.
func constantWords(d formats.Digest) (out []frontend.Variable) {
	for _, w := range transcript.AppendDigest(nil, d) {
		out = append(out, w)
	}
	return out
}
