package circuit

import (
	"encoding/binary"

	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/compress/goldilocks"
	"github.com/ixprove/ixprove/compress/poseidon2"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/transcript"
)

// challenger is transcript.Transcript in the circuit (docs/protocol.md section 5). Words are constants or variables below 2^64.
type challenger struct {
	hasher
	chip   *goldilocks.Chip
	state  frontend.Variable
	buffer []frontend.Variable
}

func newChallenger(api frontend.API, chip *goldilocks.Chip) *challenger {
	c := &challenger{hasher: hasher{api}, chip: chip, state: 0}
	name := []byte("ixprove batch v1")
	c.state = c.chain(poseidon2.DomainAbsorb, c.state, []frontend.Variable{binary.LittleEndian.Uint64(name), binary.LittleEndian.Uint64(name[8:])})
	return c
}

// absorb appends a message.
func (c *challenger) absorb(tag transcript.Tag, words ...frontend.Variable) {
	c.buffer = append(c.buffer, uint64(tag), len(words))
	c.buffer = append(c.buffer, words...)
}

// absorbExt appends a message of elements of E whose coefficients are words.
func (c *challenger) absorbExt(tag transcript.Tag, es []goldilocks.Ext) {
	var message []frontend.Variable
	for _, e := range es {
		message = append(message, words(e[:]...)...)
	}
	c.absorb(tag, message...)
}

// digestWords are the words of a digest.
func (c *challenger) digestWords(d frontend.Variable) []frontend.Variable {
	w := c.chip.Words(d)
	return words(w[:]...)
}

// constantWords are the words of a digest that is known when the circuit is generated.
func constantWords(d formats.Digest) (out []frontend.Variable) {
	for _, w := range transcript.AppendDigest(nil, d) {
		out = append(out, w)
	}
	return out
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

// challenge absorbs a step's tag; what it yields is block after block of squeeze.
func (c *challenger) challenge(tag transcript.Tag) {
	c.absorb(tag)
	c.flush()
}

// squeeze is a block of the transcript's output: three canonical elements of F, or one of E.
func (c *challenger) squeeze(block uint64) goldilocks.Ext {
	return c.chip.PrimeDigits(c.chain(poseidon2.DomainSqueeze, c.state, []frontend.Variable{block}))
}

// grind is the word whose low bits a nonce must make zero.
func (c *challenger) grind(nonce frontend.Variable) goldilocks.Element {
	return c.chip.PrimeDigits(c.chain(poseidon2.DomainGrind, c.state, []frontend.Variable{nonce}))[0]
}
