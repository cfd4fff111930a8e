// Package vector does the CPU prover's arithmetic on vectors of Goldilocks elements: element-wise operations, sums of products, products in the cubic extension, and
// number-theoretic transforms. On amd64 with AVX2 or AVX-512 (F, BW, DQ, VL, IFMA) it uses kernels that the module internal/asm generates; elsewhere, and under the build tag purego, the portable twins
// in *_generic.go, which the tests compare with every kernel.
//
// Unless said otherwise, elements are canonical, and a destination may be one of the operands but must not overlap one otherwise. Lengths are any; kernels do whole registers and the twins
// the rest. Wrong lengths panic like an index out of range: they are the caller's bug. Not audited; nothing here runs in constant time.
package vector

import "github.com/ixprove/ixprove/verifier/field"

// Add sets dst[i] = a[i] + b[i] for the length of dst.
func Add(dst, a, b []field.Element) { add(dst, a[:len(dst)], b[:len(dst)]) }

// Sub sets dst[i] = a[i] - b[i] for the length of dst.
func Sub(dst, a, b []field.Element) { sub(dst, a[:len(dst)], b[:len(dst)]) }

// Mul sets dst[i] = a[i]·b[i] for the length of dst. The operands may be any representatives.
func Mul(dst, a, b []field.Element) { mul(dst, a[:len(dst)], b[:len(dst)]) }

// Scale sets dst[i] = k·a[i] for the length of dst. The operands may be any representatives.
func Scale(dst, a []field.Element, k field.Element) { scale(dst, a[:len(dst)], k) }

// Block is the rows that Ext holds.
const Block = 64

// Ext is up to Block elements of E, one coordinate after the other.
type Ext [3][Block]field.Element

// MulExt sets dst[i] = a[i]·b[i] in E for i < n <= Block.
func MulExt(dst, a, b *Ext, n int) { mulExt(dst, a, b, n) }

// AddExt sets dst[i] = a[i] + b[i] in E for i < n.
func AddExt(dst, a, b *Ext, n int) {
	for c := range dst {
		Add(dst[c][:n], a[c][:], b[c][:])
	}
}

// SubExt sets dst[i] = a[i] - b[i] in E for i < n.
func SubExt(dst, a, b *Ext, n int) {
	for c := range dst {
		Sub(dst[c][:n], a[c][:], b[c][:])
	}
}

// ScaleExt sets dst[i] = a[i]·s[i] for s in F and i < n.
func ScaleExt(dst, a *Ext, s []field.Element, n int) {
	for c := range dst {
		Mul(dst[c][:n], a[c][:], s)
	}
}

// Fill sets the first n elements to v.
func (x *Ext) Fill(v field.Ext, n int) {
	for c := range x {
		row := x[c][:n]
		for i := range row {
			row[i] = v[c]
		}
	}
}

// Planes are the first n elements, by coordinate.
func (x *Ext) Planes(n int) [3][]field.Element {
	return [3][]field.Element{x[0][:n], x[1][:n], x[2][:n]}
}

// Sum is the sum of the first n elements.
func (x *Ext) Sum(n int) (sum field.Ext) {
	for c := range x {
		for _, v := range x[c][:n] {
			sum[c] = field.Add(sum[c], v)
		}
	}
	return sum
}

// At is element i.
func (x *Ext) At(i int) field.Ext { return field.Ext{x[0][i], x[1][i], x[2][i]} }

// Set makes v element i.
func (x *Ext) Set(i int, v field.Ext) { x[0][i], x[1][i], x[2][i] = v[0], v[1], v[2] }

// InverseExt replaces the first n elements of each block by their inverses (Montgomery's trick across the blocks, then across the elements of one). scratch
// is at least as long as x. It reports false, leaving x unspecified, when an element is zero.
func InverseExt(x, scratch []Ext, n int) bool {
	if len(x) == 0 || n == 0 {
		return true
	}
	// scratch[k] is the product of blocks 0 to k.
	scratch[0] = x[0]
	for k := 1; k < len(x); k++ {
		MulExt(&scratch[k], &scratch[k-1], &x[k], n)
	}
	var flat, prefixes [Block]field.Ext
	last := &scratch[len(x)-1]
	for i := range n {
		flat[i] = last.At(i)
	}
	if !field.BatchInverseExt(flat[:n], prefixes[:]) {
		return false
	}
	var inverse Ext
	for i := range n {
		inverse.Set(i, flat[i])
	}
	for k := len(x) - 1; k > 0; k-- {
		MulExt(&scratch[k], &inverse, &scratch[k-1], n)
		MulExt(&inverse, &inverse, &x[k], n)
		for c := range x[k] {
			copy(x[k][c][:n], scratch[k][c][:])
		}
	}
	x[0] = inverse
	return true
}

// limbs is the number of 22-bit limbs that a factor of a sum of products is cut into: products with 32-bit halves then add up without carries.
const (
	limbs    = 3
	limbBits = 22
	limbMask = 1<<limbBits - 1
)

// coefficientWords is the number of words of a coefficient's limbs: three coordinates, each for the lower and the upper half of the other factor.
const coefficientWords = 3 * 2 * limbs

// maxTerms is the number of columns whose sum cannot overflow.
const maxTerms = 512

// Coefficients are factors in E, prepared for Combine.
type Coefficients struct {
	values []field.Ext
	table  []uint64
}

// NewCoefficients prepares factors.
func NewCoefficients(values []field.Ext) *Coefficients {
	k := &Coefficients{values: values, table: make([]uint64, 0, coefficientWords*len(values))}
	for _, v := range values {
		for _, c := range v {
			for _, half := range [...]field.Element{c, field.Mul(c, 1<<32)} {
				h := uint64(half)
				k.table = append(k.table, h&limbMask, h>>limbBits&limbMask, h>>(2*limbBits))
			}
		}
	}
	return k
}

// Len is the number of factors.
func (k *Coefficients) Len() int { return len(k.values) }

// Slice is factors from to to-1.
func (k *Coefficients) Slice(from, to int) *Coefficients {
	return &Coefficients{k.values[from:to], k.table[from*coefficientWords : to*coefficientWords]}
}

// Combine adds Σ k_j·columns[j][first + i] to out[0..2][i], for i below the length of out. There are as many columns as factors, which may be any representatives. out overlaps no
// column.
func Combine(out [3][]field.Element, k *Coefficients, columns [][]field.Element, first int) {
	n := len(out[0])
	out[1], out[2] = out[1][:n], out[2][:n]
	columns = columns[:k.Len()]
	if n == 0 {
		return
	}
	for _, c := range columns {
		_ = c[first : first+n]
	}
	for from := 0; from < len(columns); from += maxTerms {
		to := min(from+maxTerms, len(columns))
		combine(out, k.Slice(from, to), columns[from:to], first)
	}
}

// WeightRows is the most rows that Weights hold.
const WeightRows = 512

// Weights are factors in E, one a row, prepared for Dot.
type Weights struct {
	blocks []Ext
	n      int
	planes [3][limbs][WeightRows]uint64
}

// Set prepares the first n <= WeightRows factors of blocks of Block, which it keeps.
func (w *Weights) Set(blocks []Ext, n int) {
	w.blocks, w.n = blocks, n
	for c := range w.planes {
		p := &w.planes[c]
		for first := 0; first < n; first += Block {
			for i, x := range blocks[first/Block][c][:min(Block, n-first)] {
				p[0][first+i], p[1][first+i], p[2][first+i] = uint64(x)&limbMask, uint64(x)>>limbBits&limbMask, uint64(x)>>(2*limbBits)
			}
		}
	}
}

// Dot returns Σ weights[i]·column[i]. The column is as long as the weights and may be any representatives.
func (w *Weights) Dot(column []field.Element) field.Ext { return dot(w, column[:w.n]) }
