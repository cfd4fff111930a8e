package poseidon2

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	library "github.com/consensys/gnark-crypto/ecc/bn254/fr/poseidon2"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
)

// The methods of this file are the suite's for many inputs at a time, as cpu.Batch asks for them. Multiplications go through fr.Vector, which has kernels for AVX-512
// with the 52-bit multiply-add and portable code elsewhere; additions are fused into few passes over the lanes. All forms give the same digests.

// many is the number of inputs in flight: a block of eight lanes of 128 elements, with a temporary, is 36 KiB.
const many = 128

// scratch is the state of many permutations: element k of s[i] is lane i of input k.
type scratch struct {
	s         [8][many]fr.Element
	tmp, kept [many]fr.Element
}

var pool = sync.Pool{New: func() any { return new(scratch) }}

// schedule has the constants of a permutation in the order of its rounds.
type schedule struct {
	full, partial int
	keys          [][]fr.Element
	diagonal      []fr.Element // of the internal matrix, minus one; nil for two lanes
}

var schedules = sync.OnceValue(func() *[9]schedule {
	var s [9]schedule
	for _, width := range []int{2, 4, 8} {
		full, partial := Rounds(width)
		p := library.NewParameters(width, full, partial)
		s[width] = schedule{full, partial, slices.Clone(p.RoundKeys), p.DiagM1}
		for i := full / 2; i < full/2+partial; i++ {
			s[width].keys[i] = p.RoundKeys[i][:1] // the rest, where it is given, is zero
		}
	}
	return &s
})

// permute applies the permutation of a width to the first n inputs.
func (x *scratch) permute(width, n int) {
	p := &schedules()[width]
	half := p.full / 2
	x.external(width, n, p.keys[0])
	for round := range p.full + p.partial {
		var next []fr.Element // keys of the next round, which the matrix adds
		if round+1 < len(p.keys) {
			next = p.keys[round+1]
		}
		if round < half || round >= half+p.partial {
			for i := range width {
				x.sbox(i, n)
			}
			x.external(width, n, next)
			continue
		}
		x.sbox(0, n)
		if width == 2 {
			x.internalTwo(n, next)
		} else {
			x.internal(width, n, p.diagonal, next)
		}
	}
}

// sbox raises a lane to the fifth power.
func (x *scratch) sbox(lane, n int) {
	v, t := fr.Vector(x.s[lane][:n]), fr.Vector(x.tmp[:n])
	t.Mul(v, v)
	t.Mul(t, t)
	v.Mul(v, t)
}

// external multiplies by the matrix of full rounds and adds keys: one a lane, one for lane 0, or none.
func (x *scratch) external(width, n int, keys []fr.Element) {
	var k [8]fr.Element
	copy(k[:], keys)
	switch width {
	case 2:
		a, b := x.s[0][:n], x.s[1][:n]
		for i := range a {
			sum := add(&a[i], &b[i])
			u, v := add(&a[i], &sum), add(&b[i], &sum)
			a[i], b[i] = add(&u, &k[0]), add(&v, &k[1])
		}
	case 4:
		a, b, c, d := x.s[0][:n], x.s[1][:n], x.s[2][:n], x.s[3][:n]
		for i := range a {
			u := four(&a[i], &b[i], &c[i], &d[i])
			a[i], b[i], c[i], d[i] = add(&u[0], &k[0]), add(&u[1], &k[1]), add(&u[2], &k[2]), add(&u[3], &k[3])
		}
	case 8:
		for i := range n {
			u := four(&x.s[0][i], &x.s[1][i], &x.s[2][i], &x.s[3][i])
			v := four(&x.s[4][i], &x.s[5][i], &x.s[6][i], &x.s[7][i])
			for l := range u {
				sum := add(&u[l], &v[l])
				p, q := add(&u[l], &sum), add(&v[l], &sum)
				x.s[l][i], x.s[4+l][i] = add(&p, &k[l]), add(&q, &k[4+l])
			}
		}
	}
}

// four multiplies by the matrix M4 of the Poseidon2 paper, section 5.1: rows (5 7 1 3), (4 6 1 1), (1 3 5 7), (1 1 4 6).
func four(a, b, c, d *fr.Element) (out [4]fr.Element) {
	t0, t1 := add(a, b), add(c, d)
	t2, t3 := add(b, b), add(d, d)
	t2, t3 = add(&t2, &t1), add(&t3, &t0)
	t4, t5 := add(&t1, &t1), add(&t0, &t0)
	t4, t5 = add(&t4, &t4), add(&t5, &t5)
	t4, t5 = add(&t4, &t3), add(&t5, &t2)
	return [4]fr.Element{add(&t3, &t5), t5, add(&t2, &t4), t4}
}

// internalTwo multiplies two lanes by ((2, 1), (1, 3)) and adds keys.
func (x *scratch) internalTwo(n int, keys []fr.Element) {
	var k [2]fr.Element
	copy(k[:], keys)
	last := len(keys) > 1 // the first full round after the partial ones has a key a lane
	a, b := x.s[0][:n], x.s[1][:n]
	for i := range a {
		sum := add(&a[i], &b[i])
		u, v := add(&a[i], &sum), add(&b[i], &b[i])
		a[i], b[i] = add(&u, &k[0]), add(&v, &sum)
		if last {
			b[i] = add(&b[i], &k[1])
		}
	}
}

// internal multiplies by the matrix of ones plus a diagonal and adds keys.
func (x *scratch) internal(width, n int, diagonal, keys []fr.Element) {
	sum := x.tmp[:n]
	for i := range sum {
		t := add(&x.s[0][i], &x.s[1][i])
		for l := 2; l < width; l++ {
			t = add(&t, &x.s[l][i])
		}
		sum[i] = t
	}
	for l := range width {
		v := fr.Vector(x.s[l][:n])
		v.ScalarMul(v, &diagonal[l])
		if l < len(keys) {
			for i := range v {
				t := add(&v[i], &sum[i])
				v[i] = add(&t, &keys[l])
			}
		} else {
			for i := range v {
				v[i] = add(&v[i], &sum[i])
			}
		}
	}
}

// add is x + y mod r without a branch, whose outcome would be random.
func add(x, y *fr.Element) fr.Element {
	var z, w fr.Element
	var c, b uint64
	z[0], c = bits.Add64(x[0], y[0], 0)
	z[1], c = bits.Add64(x[1], y[1], c)
	z[2], c = bits.Add64(x[2], y[2], c)
	z[3], _ = bits.Add64(x[3], y[3], c)
	w[0], b = bits.Sub64(z[0], modulus[0], 0)
	w[1], b = bits.Sub64(z[1], modulus[1], b)
	w[2], b = bits.Sub64(z[2], modulus[2], b)
	w[3], b = bits.Sub64(z[3], modulus[3], b)
	m := -b // all ones when the sum is below r
	return fr.Element{w[0] ^ (w[0]^z[0])&m, w[1] ^ (w[1]^z[1])&m, w[2] ^ (w[2]^z[2])&m, w[3] ^ (w[3]^z[3])&m}
}

// compress permutes blocks and adds, in one lane, the block to the result.
func (x *scratch) compress(width, n, lane int) {
	v, kept := x.s[lane][:n], x.kept[:n]
	copy(kept, v)
	x.permute(width, n)
	for i := range v {
		v[i] = add(&v[i], &kept[i])
	}
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
