package poseidon2

import (
	"math/big"
	"math/bits"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	library "github.com/consensys/gnark-crypto/ecc/bn254/fr/poseidon2"

	"github.com/ixprove/ixprove/verifier/field"
)

// Rounds are the rounds of the permutation of a width: 2, 4 or 8 lanes. Eight full rounds and 56 or 57 partial ones are those of the Poseidon2 paper's 128 bits with
// its security margin (eprint 2023/323); the library's default for two lanes, 6 and 50, is without.
func Rounds(width int) (full, partial int) {
	if width == 8 {
		return 8, 57
	}
	return 8, 56
}

// permutations are the library's, by width.
var permutations = sync.OnceValue(func() (p [9]*library.Permutation) {
	for _, width := range []int{2, 4, 8} {
		full, partial := Rounds(width)
		p[width] = library.NewPermutation(width, full, partial)
	}
	return p
})

// permute applies the permutation of the block's width: 2, 4 or 8.
func permute(block []fr.Element) {
	if err := permutations()[len(block)].Permutation(block); err != nil {
		panic("poseidon2: " + err.Error()) // no input reaches this: the widths are constants
	}
}

// compress is f_t: the first lane of the permuted block and of the block, added. It overwrites the block.
func compress(block []fr.Element) fr.Element {
	h := block[0]
	permute(block)
	return *h.Add(&h, &block[0])
}

// toMontgomery has R² for limbs: multiplied by it, limbs become their element. fromMontgomery is the way back.
var (
	toMontgomery   = func() (e fr.Element) { return *e.SetBigInt(new(big.Int).Lsh(big.NewInt(1), 256)) }()
	fromMontgomery = fr.Element{1}
)

// modulus is r in limbs, the lowest first.
var modulus = [4]uint64{0x43e1f593f0000001, 0x2833e84879b97091, 0xb85045b68181585d, 0x30644e72e131a029}

// below reports whether an integer is below r.
func below(w *[4]uint64) bool {
	var borrow uint64
	for i := range w {
		_, borrow = bits.Sub64(w[i], modulus[i], borrow)
	}
	return borrow == 1
}

func subtractModulus(w *[4]uint64) {
	var borrow uint64
	for i := range w {
		w[i], borrow = bits.Sub64(w[i], modulus[i], borrow)
	}
}

// digits are the three low digits of x to the base p.
func digits(x [4]uint64) (d [3]uint64) {
	for i := range d {
		// Long division by p, from the top limb.
		var rest uint64
		for k := 3; k >= 0; k-- {
			x[k], rest = bits.Div64(rest, x[k], field.Modulus)
		}
		d[i] = rest
	}
	return d
}
