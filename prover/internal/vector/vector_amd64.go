//go:build !purego

package vector

import (
	"math/bits"
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/ixprove/ixprove/verifier/field"
)

// level is an instruction set that there are kernels for.
type level int

const (
	portable level = iota
	avx2
	avx512
)

// use is the best that this processor has; tests set it to less.
var use = detect()

func detect() level {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512IFMA && cpu.X86.HasAVX2:
		return avx512
	case cpu.X86.HasAVX2:
		return avx2
	}
	return portable
}

// Kernels names the instructions in use.
func Kernels() string { return [...]string{"portable", "AVX2", "AVX-512"}[use] }

// lanes is the number of elements of a register.
func (l level) lanes() int { return [...]int{1 << 62, 4, 8}[l] }

// whole is the part of n elements that fills registers.
func (l level) whole(n int) int { return n &^ (l.lanes() - 1) }

func word(x []field.Element) *uint64 { return (*uint64)(unsafe.SliceData(x)) }

func add(dst, a, b []field.Element) {
	n := use.whole(len(dst))
	if n > 0 {
		if use == avx512 {
			addAVX512(word(dst), word(a), word(b), n)
		} else {
			addAVX2(word(dst), word(a), word(b), n)
		}
	}
	addGeneric(dst[n:], a[n:], b[n:])
}

func sub(dst, a, b []field.Element) {
	n := use.whole(len(dst))
	if n > 0 {
		if use == avx512 {
			subAVX512(word(dst), word(a), word(b), n)
		} else {
			subAVX2(word(dst), word(a), word(b), n)
		}
	}
	subGeneric(dst[n:], a[n:], b[n:])
}

func mul(dst, a, b []field.Element) {
	n := use.whole(len(dst))
	if n > 0 {
		if use == avx512 {
			mulAVX512(word(dst), word(a), word(b), n)
		} else {
			mulAVX2(word(dst), word(a), word(b), n)
		}
	}
	mulGeneric(dst[n:], a[n:], b[n:])
}

func scale(dst, a []field.Element, k field.Element) {
	n := use.whole(len(dst))
	if n > 0 {
		if use == avx512 {
			scaleAVX512(word(dst), word(a), uint64(k), n)
		} else {
			scaleAVX2(word(dst), word(a), uint64(k), n)
		}
	}
	scaleGeneric(dst[n:], a[n:], k)
}

func mulExt(dst, a, b *Ext, n int) {
	whole := use.whole(n)
	if whole > 0 {
		if use == avx512 {
			mulExtAVX512(word(dst[0][:]), word(a[0][:]), word(b[0][:]), Block, whole)
		} else {
			mulExtBase(dst, a, b, whole)
		}
	}
	mulExtGeneric(dst, a, b, whole, n)
}

// mulExtBase multiplies the first n elements with six products in F (Karatsuba).
func mulExtBase(dst, a, b *Ext, n int) {
	var squares, cross Ext // a_i·b_i; a_i·b_j + a_j·b_i for (i, j) = (0, 1), (0, 2), (1, 2)
	for c := range squares {
		mul(squares[c][:n], a[c][:n], b[c][:n])
	}
	var s, t [Block]field.Element
	for k, pair := range [...][2]int{{0, 1}, {0, 2}, {1, 2}} {
		i, j := pair[0], pair[1]
		x := cross[k][:n]
		add(s[:n], a[i][:n], a[j][:n])
		add(t[:n], b[i][:n], b[j][:n])
		mul(x, s[:n], t[:n])
		sub(x, x, squares[i][:n])
		sub(x, x, squares[j][:n])
	}
	double := func(x []field.Element) []field.Element {
		add(x, x, x)
		return x
	}
	add(dst[2][:n], cross[1][:n], squares[1][:n])
	add(dst[0][:n], squares[0][:n], double(cross[2][:n]))
	add(dst[1][:n], cross[0][:n], double(squares[2][:n]))
}

func combine(out [3][]field.Element, k *Coefficients, columns [][]field.Element, first int) {
	n := use.whole(len(out[0]))
	if n > 0 && len(columns) > 0 {
		headers := (**uint64)(unsafe.Pointer(&columns[0]))
		if use == avx512 {
			combineAVX512(word(out[0]), word(out[1]), word(out[2]), headers, len(columns), &k.table[0], 8*first, n)
		} else {
			combineAVX2(word(out[0]), word(out[1]), word(out[2]), headers, len(columns), &k.table[0], 8*first, n)
		}
	}
	if n < len(out[0]) {
		combineGeneric(out, k, columns, first, n)
	}
}

func dot(w *Weights, column []field.Element) (sum field.Ext) {
	n := use.whole(len(column))
	if n > 0 {
		for c := range sum {
			// With at most 512 rows, each lane and their sum stay below 2^63.
			var acc [2 * limbs * 8]uint64
			p := &w.planes[c]
			if use == avx512 {
				dotAVX512(&acc[0], word(column), &p[0][0], &p[1][0], &p[2][0], n)
			} else {
				dotAVX2(&acc[0], word(column), &p[0][0], &p[1][0], &p[2][0], n)
			}
			lanes := use.lanes()
			var halves [2]field.Element
			for h := range halves {
				var hi, lo uint64
				for l := limbs - 1; l >= 0; l-- {
					hi, lo = hi<<limbBits|lo>>(64-limbBits), lo<<limbBits
					var carry uint64
					for _, v := range acc[(h*limbs+l)*lanes : (h*limbs+l+1)*lanes] {
						lo, carry = bits.Add64(lo, v, 0)
						hi += carry
					}
				}
				halves[h] = field.Reduce160(0, hi, lo)
			}
			sum[c] = field.Add(halves[0], field.Mul(halves[1], 1<<32))
		}
	}
	if n < len(column) {
		sum = field.AddExt(sum, dotGeneric(w, column, n))
	}
	return sum
}
