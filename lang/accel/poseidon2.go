package accel

import (
	"sync"

	"github.com/ixprove/ixprove/verifier/field"
)

// Poseidon2 over this field (eprint 2023/323): width 12, power 7, four full rounds, 22 partial ones, four full ones.
const (
	Poseidon2Width = 12

	poseidonFull    = 8
	poseidonPartial = 22
	poseidonRounds  = poseidonFull + poseidonPartial
)

// poseidonDiagonal is the diagonal of the internal matrix less one: of the instance that the designers published for this field and width.
var poseidonDiagonal = [Poseidon2Width]field.Element{
	0xc3b6c08e23ba9300, 0xd84b5de94a324fb6, 0x0d0c371c5b35b84f, 0x7964f570e7188037, 0x5daf18bbd996604b, 0x6743bc47b9595257,
	0x5528b9362c59bb70, 0xac45e25b7127b68b, 0xa2077d7dfbb606b5, 0xf3faac6faee378ae, 0x0c6388b51545e883, 0xd27dbb6944917b60,
}

// poseidonConstants are the round constants; a partial round has only the first.
var poseidonConstants = sync.OnceValue(func() (c [poseidonRounds][Poseidon2Width]field.Element) {
	next := grain()
	for r := range c {
		n := Poseidon2Width
		if r >= poseidonFull/2 && r < poseidonFull/2+poseidonPartial {
			n = 1
		}
		for i := range n {
			c[r][i] = next()
		}
	}
	return c
})

// grain draws elements from the Grain generator, seeded with the parameters as for Poseidon (eprint 2019/458, appendix E): an 80-bit shift register whose output bits come in pairs, of which the
// second counts if the first is set.
func grain() func() field.Element {
	var state [80]byte
	at := 0
	put := func(v uint64, n int) {
		for n--; n >= 0; n-- {
			state[at] = byte(v >> n & 1)
			at++
		}
	}
	for _, f := range []struct {
		v uint64
		n int
	}{{1, 2}, {0, 4}, {64, 12}, {Poseidon2Width, 12}, {poseidonFull, 10}, {poseidonPartial, 10}, {1<<30 - 1, 30}} {
		put(f.v, f.n)
	}
	shift := func() byte {
		b := state[62] ^ state[51] ^ state[38] ^ state[23] ^ state[13] ^ state[0]
		copy(state[:], state[1:])
		state[79] = b
		return b
	}
	for range 160 {
		shift()
	}
	return func() field.Element {
		for {
			v := uint64(0)
			for n := 0; n < 64; {
				if keep, b := shift(), shift(); keep == 1 {
					v, n = v<<1|uint64(b), n+1
				}
			}
			if v < field.Modulus {
				return field.Element(v)
			}
		}
	}
}

func poseidonPower(x field.Element) field.Element {
	x2 := field.Mul(x, x)
	x3 := field.Mul(x2, x)
	return field.Mul(field.Mul(x3, x3), x)
}

// poseidonBlock is M, of which the external matrix is made: circ(2M, M, M).
var poseidonBlock = [4][4]field.Element{{5, 7, 1, 3}, {4, 6, 1, 1}, {1, 3, 5, 7}, {1, 1, 4, 6}}

// poseidonExternal multiplies by the external matrix.
func poseidonExternal(s *[Poseidon2Width]field.Element) {
	var out [Poseidon2Width]field.Element
	var sums [4]field.Element
	for i := range s {
		for k := range 4 {
			out[i] = field.Add(out[i], field.Mul(poseidonBlock[i&3][k], s[i&^3+k]))
		}
		sums[i&3] = field.Add(sums[i&3], out[i])
	}
	for i := range s {
		s[i] = field.Add(out[i], sums[i&3])
	}
}

func poseidonInternal(s *[Poseidon2Width]field.Element) {
	sum := field.Element(0)
	for _, v := range s {
		sum = field.Add(sum, v)
	}
	for i := range s {
		s[i] = field.Add(sum, field.Mul(s[i], poseidonDiagonal[i]))
	}
}

func computePoseidon2(args, results []field.Element) {
	constants := poseidonConstants()
	s := [Poseidon2Width]field.Element(args)
	poseidonExternal(&s)
	for r := range constants {
		if r >= poseidonFull/2 && r < poseidonFull/2+poseidonPartial {
			s[0] = poseidonPower(field.Add(s[0], constants[r][0]))
			poseidonInternal(&s)
			continue
		}
		for i := range s {
			s[i] = poseidonPower(field.Add(s[i], constants[r][i]))
		}
		poseidonExternal(&s)
	}
	copy(results, s[:])
}
