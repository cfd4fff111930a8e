package circuit

import (
	"math/big"
	"sync"

	library "github.com/consensys/gnark-crypto/ecc/bn254/fr/poseidon2"
	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/compress/poseidon2"
)

// permutation is the constants of Poseidon2 over the scalar field for one width.
type permutation struct {
	full, partial int
	keys          [][]*big.Int // by round; one in partial rounds
	diagonal      []*big.Int   // of the internal matrix, minus one; nil for two lanes
}

var permutations = sync.OnceValue(func() *[9]permutation {
	all := new([9]permutation)
	for _, width := range []int{2, 4, 8} {
		p := &all[width]
		p.full, p.partial = poseidon2.Rounds(width)
		constants := library.NewParameters(width, p.full, p.partial)
		for round := range p.full + p.partial {
			n := width
			if round >= p.full/2 && round < p.full/2+p.partial {
				n = 1
			}
			keys := make([]*big.Int, n)
			for i := range keys {
				keys[i] = constants.RoundKeys[round][i].BigInt(new(big.Int))
			}
			p.keys = append(p.keys, keys)
		}
		for i := range constants.DiagM1 {
			p.diagonal = append(p.diagonal, constants.DiagM1[i].BigInt(new(big.Int)))
		}
	}
	return all
})

// hasher makes constraints for the suite poseidon2-bn254.
type hasher struct{ api frontend.API }

// permute is P_t for t = len(s), 2, 4 or 8. Each linear layer adds the keys of the round after it, for a gate of Plonk adds a constant for nothing.
func (h hasher) permute(s []frontend.Variable) []frontend.Variable {
	p := &permutations()[len(s)]
	s = append([]frontend.Variable(nil), s...)
	key := func(round, i int) frontend.Variable {
		if round < len(p.keys) && i < len(p.keys[round]) {
			return p.keys[round][i]
		}
		return 0
	}
	h.external(s, func(i int) frontend.Variable { return key(0, i) })
	for round, keys := range p.keys {
		for i := range keys {
			s[i] = h.fifthPower(s[i])
		}
		next := func(i int) frontend.Variable { return key(round+1, i) }
		if len(keys) == len(s) {
			h.external(s, next)
		} else {
			h.internal(s, p.diagonal, next)
		}
	}
	return s
}

func (h hasher) fifthPower(x frontend.Variable) frontend.Variable {
	y := h.api.Mul(x, x)
	return h.api.Mul(h.api.Mul(y, y), x)
}

// external multiplies by the matrix of full rounds, ((2, 1), (1, 2)), M4 or ((2 M4, M4), (M4, 2 M4)), and adds keys.
func (h hasher) external(s []frontend.Variable, key func(int) frontend.Variable) {
	add, double := h.api.Add, func(x frontend.Variable) frontend.Variable { return h.api.Mul(x, 2) }
	switch len(s) {
	case 2:
		s[0], s[1] = add(double(s[0]), s[1], key(0)), add(s[0], double(s[1]), key(1))
	case 4:
		h.four(s, key)
	default:
		for i := range 4 {
			s[i], s[4+i] = add(double(s[i]), s[4+i]), add(s[i], double(s[4+i]))
		}
		h.four(s[:4], key)
		h.four(s[4:], func(i int) frontend.Variable { return key(4 + i) })
	}
}

// four multiplies four lanes by the matrix M4 of the Poseidon2 paper, section 5.1: rows (5 7 1 3), (4 6 1 1), (1 3 5 7), (1 1 4 6), and adds keys.
func (h hasher) four(s []frontend.Variable, key func(int) frontend.Variable) {
	add, mul := h.api.Add, h.api.Mul
	t0, t1 := add(s[0], s[1]), add(s[2], s[3])
	t2, t3 := add(mul(s[1], 2), t1), add(mul(s[3], 2), t0)
	// The second and fourth rows enter the first and third, whose keys make up for theirs.
	s[3], s[1] = add(mul(t1, 4), t3, key(3)), add(mul(t0, 4), t2, key(1))
	s[0], s[2] = add(t3, s[1], h.api.Sub(key(0), key(1))), add(t2, s[3], h.api.Sub(key(2), key(3)))
}

// internal multiplies by the matrix of partial rounds, ((2, 1), (1, 3)) or ones plus a diagonal, and adds keys.
func (h hasher) internal(s []frontend.Variable, diagonal []*big.Int, key func(int) frontend.Variable) {
	add, mul := h.api.Add, h.api.Mul
	if len(s) == 2 {
		s[0], s[1] = add(mul(s[0], 2), s[1], key(0)), add(s[0], mul(s[1], 3), key(1))
		return
	}
	sum := add(s[0], s[1], s[2:]...)
	for i := range s {
		s[i] = add(mul(s[i], diagonal[i]), sum, key(i))
	}
}
