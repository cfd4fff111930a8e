package poseidon2

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	library "github.com/consensys/gnark-crypto/ecc/bn254/fr/poseidon2"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
)

// The methods of this file are the suite's for many inputs at a time, as cpu.Batch asks for them. Multiplications go through fr.Vector, which has kernels for AVX-512
// with the 52-bit multiply-add and portable code elsewhere. All forms give the same digests.

// many is the number of inputs in flight: a lane is 4 KiB, so that a block and its temporaries stay in the first- and second-level caches.
const many = 128

// scratch is the state of many permutations: element k of s[i] is lane i of input k.
type scratch struct {
	s    [8][many]fr.Element
	tmp  [6][many]fr.Element
	kept [many]fr.Element
}

var pool = sync.Pool{New: func() any { return new(scratch) }}

// schedule has the constants of a permutation. Keys are repeated over a lane: additions of vectors are several times faster than a loop over their elements.
type schedule struct {
	full, partial int
	keys          [][]fr.Vector // by round; one for lane 0 in partial rounds
	diagonal      []fr.Element  // of the internal matrix, minus one; nil for two lanes
}

var schedules = sync.OnceValue(func() *[9]schedule {
	var s [9]schedule
	for _, width := range []int{2, 4, 8} {
		full, partial := Rounds(width)
		p := library.NewParameters(width, full, partial)
		keys := make([][]fr.Vector, full+partial)
		for round := range keys {
			n := width
			if round >= full/2 && round < full/2+partial {
				n = 1 // other keys, where they are given, are zero
			}
			for lane := range n {
				keys[round] = append(keys[round], slices.Repeat(fr.Vector{p.RoundKeys[round][lane]}, many))
			}
		}
		s[width] = schedule{full, partial, keys, p.DiagM1}
	}
	return &s
})

// permute applies the permutation of a width to the first n inputs.
func (x *scratch) permute(width, n int) {
	p := &schedules()[width]
	half := p.full / 2
	x.external(width, n)
	for round, keys := range p.keys {
		for i, k := range keys {
			sum(x.s[i][:n], x.s[i][:n], k[:n])
		}
		if round < half || round >= half+p.partial {
			for i := range width {
				x.sbox(i, n)
			}
			x.external(width, n)
		} else {
			x.sbox(0, n)
			x.internal(width, n, p.diagonal)
		}
	}
}

// sum sets out to a + b.
func sum(out, a, b fr.Vector) { out.Add(a, b) }

// sbox raises a lane to the fifth power.
func (x *scratch) sbox(lane, n int) {
	v, t := fr.Vector(x.s[lane][:n]), fr.Vector(x.tmp[0][:n])
	t.Mul(v, v)
	t.Mul(t, t)
	v.Mul(v, t)
}

// external multiplies by the matrix of full rounds: ((2, 1), (1, 2)), M4, or ((2 M4, M4), (M4, 2 M4)).
func (x *scratch) external(width, n int) {
	t := x.tmp[0][:n]
	if width == 2 {
		a, b := x.s[0][:n], x.s[1][:n]
		sum(t, a, b)
		sum(a, a, t)
		sum(b, b, t)
		return
	}
	x.four(0, n)
	if width == 4 {
		return
	}
	x.four(4, n)
	for l := range 4 {
		a, b := x.s[l][:n], x.s[4+l][:n]
		sum(t, a, b)
		sum(a, a, t)
		sum(b, b, t)
	}
}

// four multiplies the lanes from first on by the matrix M4 of the Poseidon2 paper, section 5.1: rows (5 7 1 3), (4 6 1 1), (1 3 5 7), (1 1 4 6).
func (x *scratch) four(first, n int) {
	a, b, c, d := x.s[first][:n], x.s[first+1][:n], x.s[first+2][:n], x.s[first+3][:n]
	t0, t1, t2, t3, t4, t5 := x.tmp[0][:n], x.tmp[1][:n], x.tmp[2][:n], x.tmp[3][:n], x.tmp[4][:n], x.tmp[5][:n]
	sum(t0, a, b)
	sum(t1, c, d)
	sum(t2, b, b)
	sum(t2, t2, t1) // 2b + c + d
	sum(t3, d, d)
	sum(t3, t3, t0) // a + b + 2d
	sum(t4, t1, t1)
	sum(t4, t4, t4)
	sum(d, t4, t3) // a + b + 4c + 6d
	sum(t5, t0, t0)
	sum(t5, t5, t5)
	sum(b, t5, t2) // 4a + 6b + c + d
	sum(a, t3, b)
	sum(c, t2, d)
}

// internal multiplies by the matrix of partial rounds: ((2, 1), (1, 3)), or ones plus a diagonal.
func (x *scratch) internal(width, n int, diagonal []fr.Element) {
	t := x.tmp[0][:n]
	sum(t, x.s[0][:n], x.s[1][:n])
	if width == 2 {
		a, b := x.s[0][:n], x.s[1][:n]
		sum(a, a, t)
		sum(b, b, b)
		sum(b, b, t)
		return
	}
	for l := 2; l < width; l++ {
		sum(t, t, x.s[l][:n])
	}
	for l := range width {
		v := fr.Vector(x.s[l][:n])
		v.ScalarMul(v, &diagonal[l])
		sum(v, v, t)
	}
}

// compress permutes blocks and adds, in one lane, the block to the result.
func (x *scratch) compress(width, n, lane int) {
	v, kept := x.s[lane][:n], x.kept[:n]
	copy(kept, v)
	x.permute(width, n)
	sum(v, v, kept)
}

// scale multiplies the first n inputs of a lane by c: to or from Montgomery form.
func scale(lane []fr.Element, c *fr.Element) {
	v := fr.Vector(lane)
	v.ScalarMul(v, c)
}

// load reads digests, stride apart, into a lane.
func (x *scratch) load(lane int, digests []hash.Digest, stride, n int) {
	v := x.s[lane][:n]
	for i := range v {
		v[i] = fr.Element(limbs(&digests[i*stride]))
	}
	scale(v, &toMontgomery)
}

// store writes a lane as digests; the lane is lost.
func (x *scratch) store(out []hash.Digest, lane int) {
	v := x.s[lane][:len(out)]
	scale(v, &fromMontgomery)
	for i := range v {
		for k, w := range v[i] {
			binary.LittleEndian.PutUint64(out[i][8*k:], w)
		}
	}
}

// Nodes sets out[i] to the parent of below[2i] and below[2i+1].
func (Suite) Nodes(out, below []hash.Digest) {
	x := pool.Get().(*scratch)
	defer pool.Put(x)
	for ; len(out) > 0; out, below = out[min(many, len(out)):], below[min(2*many, len(below)):] {
		n := min(many, len(out))
		x.load(0, below, 2, n)
		x.load(1, below[1:], 2, n)
		x.compress(2, n, 1)
		x.store(out[:n], 1)
	}
}

// Injections sets out[i] to the parent of below[2i] and below[2i+1] where rows[i] enters.
func (Suite) Injections(out, below, rows []hash.Digest) {
	x := pool.Get().(*scratch)
	defer pool.Put(x)
	for start := 0; start < len(out); start += many {
		n := min(many, len(out)-start)
		x.load(0, below[2*start:], 2, n)
		x.load(1, below[2*start+1:], 2, n)
		x.load(2, rows[start:], 1, n)
		for i := range n {
			x.s[3][i] = injectLane
		}
		x.compress(4, n, 0)
		x.store(out[start:start+n], 0)
	}
}

// Leaves sets out[i] to the leaf of row first + i of columns.
func (Suite) Leaves(out []hash.Digest, shape *hash.Digest, columns [][]field.Element, first int) {
	leaves(out, shape, len(columns), func(word, k, row int, lane []fr.Element) {
		for i, v := range columns[word][first+row : first+row+len(lane)] {
			lane[i][k] = uint64(v)
		}
	})
}

// Rows sets out[i] to the leaf of row i of data, rows of size bytes.
func (Suite) Rows(out []hash.Digest, shape *hash.Digest, data []byte, size int) {
	leaves(out, shape, size/formats.ElementBytes, func(word, k, row int, lane []fr.Element) {
		at := row*size + word*formats.ElementBytes
		for i := range lane {
			lane[i][k] = binary.LittleEndian.Uint64(data[at+i*size:])
		}
	})
}

// leaves hashes rows of so many words. fill sets limb k of each element of a lane to a word of the rows from row on.
func leaves(out []hash.Digest, shape *hash.Digest, words int, fill func(word, k, row int, lane []fr.Element)) {
	x := pool.Get().(*scratch)
	defer pool.Put(x)
	tags := ShapeTags(shape)
	for start := 0; start < len(out); start += many {
		n := min(many, len(out)-start)
		at := 0
		next := func(lane int, tag uint64) {
			v := x.s[lane][:n]
			for i := range v {
				v[i] = fr.Element{0, 0, 0, tag}
			}
			for k := 0; k < PackedWords && at < words; k++ {
				fill(at, k, start, v)
				at++
			}
			scale(v, &toMontgomery)
		}
		width := 4
		if words > 4*PackedWords {
			width = 8
		}
		for lane := range width {
			tag := uint64(0)
			if lane < len(tags) {
				tag = tags[lane]
			}
			next(lane, tag)
		}
		x.compress(width, n, 0)
		for at < words {
			width := 4
			if words-at > 3*PackedWords {
				width = 8
			}
			for lane := 1; lane < width; lane++ {
				next(lane, 0)
			}
			x.compress(width, n, 0)
		}
		x.store(out[start:start+n], 0)
	}
}

// FindNonce returns the first of n nonces from first on whose Grind with state has its low bits zero, 1 to 64 of them, and n for none.
func (Suite) FindNonce(state *hash.Digest, first uint64, n, bits int) int {
	x := pool.Get().(*scratch)
	defer pool.Put(x)
	h, tag := element(state), DomainGrind.Tag(1)
	for start := 0; start < n; start += many {
		size := min(many, n-start)
		for i := range size {
			x.s[0][i] = h
			x.s[1][i] = fr.Element{first + uint64(start+i), 0, 0, tag}
			x.s[2][i], x.s[3][i] = fr.Element{}, fr.Element{}
		}
		scale(x.s[1][:size], &toMontgomery)
		x.compress(4, size, 0)
		scale(x.s[0][:size], &fromMontgomery)
		for i := range size {
			if lowDigit(x.s[0][i])<<(64-bits) == 0 {
				return start + i
			}
		}
	}
	return n
}

// lowDigit is x mod p. With 2^64 = 2^32 - 1 and 2^96 = -1 modulo p, 2^128 = -2^32 and 2^192 = 1.
func lowDigit(x [4]uint64) uint64 {
	low := field.Add(field.New(x[0]), field.New(x[3]))
	return uint64(field.Sub(field.Add(low, field.Mul(1<<32-1, field.New(x[1]))), field.Mul(1<<32, field.New(x[2]))))
}
