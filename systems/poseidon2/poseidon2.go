// Package poseidon2 is the permutation Poseidon2 over the field of 2^64 - 2^32 + 1, of width 12, and a circuit of its calls.
//
// docs/systems/poseidon2.md says what the circuit proves and why. The permutation is that of "Poseidon2: A Faster Version of the Poseidon Hash Function" (eprint 2023/323), with the instance that its designers published.
package poseidon2

import (
	"sync"

	"github.com/ixprove/ixprove/verifier/field"
)

// Width is the number of elements that are permuted.
const Width = 12

// Power 7, four full rounds, 22 partial ones, four full ones (eprint 2023/323, section 6 and table 1).
const (
	fullRounds    = 8
	partialRounds = 22
	rounds        = fullRounds + partialRounds
	boxes         = fullRounds*Width + partialRounds
)

// partial reports whether round r has one S-box.
func partial(r int) bool { return r >= fullRounds/2 && r < fullRounds/2+partialRounds }

// diagonal is the diagonal of the internal matrix less one: of the instance that the designers published for this field and width.
var diagonal = [Width]field.Element{
	0xc3b6c08e23ba9300, 0xd84b5de94a324fb6, 0x0d0c371c5b35b84f, 0x7964f570e7188037, 0x5daf18bbd996604b, 0x6743bc47b9595257,
	0x5528b9362c59bb70, 0xac45e25b7127b68b, 0xa2077d7dfbb606b5, 0xf3faac6faee378ae, 0x0c6388b51545e883, 0xd27dbb6944917b60,
}

// external is M, of which the external matrix is made: circ(2M, M, M).
var external = [4][4]field.Element{{5, 7, 1, 3}, {4, 6, 1, 1}, {1, 3, 5, 7}, {1, 1, 4, 6}}

// constants are the round constants; a partial round has only the first.
var constants = sync.OnceValue(func() (c [rounds][Width]field.Element) {
	next := grain()
	for r := range c {
		n := Width
		if partial(r) {
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
	}{{1, 2}, {0, 4}, {64, 12}, {Width, 12}, {fullRounds, 10}, {partialRounds, 10}, {1<<30 - 1, 30}} {
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

// box is what an S-box makes of an element: its cube and its seventh power.
type box struct{ cube, power field.Element }

func power(x field.Element) box {
	cube := field.Mul(field.Mul(x, x), x)
	return box{cube, field.Mul(field.Mul(cube, cube), x)}
}

// multiplyExternal multiplies by the external matrix.
func multiplyExternal(s *[Width]field.Element) {
	var out [Width]field.Element
	var sums [4]field.Element
	for i := range s {
		for k := range 4 {
			out[i] = field.Add(out[i], field.Mul(external[i&3][k], s[i&^3+k]))
		}
		sums[i&3] = field.Add(sums[i&3], out[i])
	}
	for i := range s {
		s[i] = field.Add(out[i], sums[i&3])
	}
}

// multiplyInternal multiplies by the internal matrix: all ones, and the diagonal added.
func multiplyInternal(s *[Width]field.Element) {
	sum := field.Element(0)
	for _, v := range s {
		sum = field.Add(sum, v)
	}
	for i := range s {
		s[i] = field.Add(sum, field.Mul(s[i], diagonal[i]))
	}
}

// Permute applies the permutation.
func Permute(s *[Width]field.Element) { permute(s, new([boxes]box)) }

// permute also says what the S-boxes hold, in order.
func permute(s *[Width]field.Element, b *[boxes]box) {
	c, at := constants(), 0
	multiplyExternal(s)
	for r := range c {
		n := Width
		if partial(r) {
			n = 1
		}
		for i := range n {
			b[at] = power(field.Add(s[i], c[r][i]))
			s[i] = b[at].power
			at++
		}
		if partial(r) {
			multiplyInternal(s)
		} else {
			multiplyExternal(s)
		}
	}
}
