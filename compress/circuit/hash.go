package circuit

import (
	"math/big"

	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/compress/goldilocks"
	"github.com/ixprove/ixprove/compress/poseidon2"
	"github.com/ixprove/ixprove/formats"
)

// The functions of the suite poseidon2-bn254 (docs/protocol.md section 3). A digest is a variable, its element of Fr; a word is a variable that other constraints keep below 2^64, or a
// constant.

// compress is f_t for t = 4, 8: the first lane of the permuted block and of the block, added.
func (h hasher) compress(block []frontend.Variable) frontend.Variable {
	return h.api.Add(h.permute(block)[0], block[0])
}

// node is the parent of two nodes.
func (h hasher) node(left, right frontend.Variable) frontend.Variable {
	return h.api.Add(h.permute([]frontend.Variable{left, right})[1], right)
}

// inject is the parent of two nodes where shorter matrices enter.
func (h hasher) inject(left, right, row frontend.Variable) frontend.Variable {
	return h.compress([]frontend.Variable{left, right, row, -1})
}

// leaf hashes a row under the shape of its level.
func (h hasher) leaf(shape *formats.Digest, row []frontend.Variable) frontend.Variable {
	tags := poseidon2.ShapeTags(shape)
	width := 4
	if len(row) > 4*poseidon2.PackedWords {
		width = 8
	}
	block := make([]frontend.Variable, width)
	for i := range block {
		tag := uint64(0)
		if i < len(tags) {
			tag = tags[i]
		}
		block[i], row = h.lane(row, tag)
	}
	return h.extend(h.compress(block), row, 0)
}

// chain hashes words under a domain, from a state on.
func (h hasher) chain(d poseidon2.Domain, state frontend.Variable, words []frontend.Variable) frontend.Variable {
	return h.extend(state, words, d.Tag(len(words)))
}

// extend continues a hash with the lanes of words, at least one if there is a tag for the first.
func (h hasher) extend(state frontend.Variable, words []frontend.Variable, tag uint64) frontend.Variable {
	for len(words) > 0 || tag != 0 {
		width := 4
		if len(words) > 3*poseidon2.PackedWords {
			width = 8
		}
		block := make([]frontend.Variable, width)
		block[0] = state
		for i := 1; i < width; i++ {
			block[i], words = h.lane(words, tag)
			tag = 0
		}
		state = h.compress(block)
	}
	return state
}

// lane packs the next words under a tag and returns the rest.
func (h hasher) lane(words []frontend.Variable, tag uint64) (lane frontend.Variable, rest []frontend.Variable) {
	n := min(len(words), poseidon2.PackedWords)
	terms := []frontend.Variable{0} // a sum has at least two terms
	for i, w := range words[:n] {
		terms = append(terms, h.api.Mul(w, shifted(1, 64*i)))
	}
	return h.api.Add(shifted(tag, 64*poseidon2.PackedWords), terms[0], terms[1:]...), words[n:]
}

func shifted(x uint64, bits int) *big.Int {
	return new(big.Int).Lsh(new(big.Int).SetUint64(x), uint(bits))
}

// words are the variables of elements that are words.
func words(es ...goldilocks.Element) []frontend.Variable {
	out := make([]frontend.Variable, len(es))
	for i, e := range es {
		out[i] = e.Variable()
	}
	return out
}
