package vector

import (
	"math/bits"

	"github.com/ixprove/ixprove/verifier/field"
)

func addGeneric(dst, a, b []field.Element) {
	for i := range dst {
		dst[i] = field.Add(a[i], b[i])
	}
}

func subGeneric(dst, a, b []field.Element) {
	for i := range dst {
		dst[i] = field.Sub(a[i], b[i])
	}
}

func mulGeneric(dst, a, b []field.Element) {
	for i := range dst {
		dst[i] = field.MulLazy(field.Lazy(a[i]), field.Lazy(b[i])).Canonical()
	}
}

func scaleGeneric(dst, a []field.Element, k field.Element) {
	for i := range dst {
		dst[i] = field.MulLazy(field.Lazy(a[i]), field.Lazy(k)).Canonical()
	}
}

// mulExtGeneric multiplies elements first to n-1.
func mulExtGeneric(dst, a, b *Ext, first, n int) {
	for i := first; i < n; i++ {
		dst.Set(i, field.MulExt(a.At(i), b.At(i)))
	}
}

// combineGeneric combines the rows from out[0][start] on.
func combineGeneric(out [3][]field.Element, k *Coefficients, columns [][]field.Element, first, start int) {
	n := len(out[0])
	for j, f := range k.values {
		column := columns[j][first+start : first+n]
		for c, to := range out {
			to, factor := to[start:n], field.Lazy(f[c])
			for r, v := range column {
				to[r] = field.Add(to[r], field.MulLazy(factor, field.Lazy(v)).Canonical())
			}
		}
	}
}

// dotGeneric is the sum from row start on, with one reduction for a run of products.
func dotGeneric(w *Weights, column []field.Element, start int) (sum field.Ext) {
	for c := range sum {
		var hi, lo, top uint64
		for i, v := range column[start:] {
			h, l := bits.Mul64(uint64(v), uint64(w.blocks[(start+i)/Block][c][(start+i)%Block]))
			var carry uint64
			lo, carry = bits.Add64(lo, l, 0)
			hi, carry = bits.Add64(hi, h, carry)
			top += carry
		}
		sum[c] = field.Reduce160(top, hi, lo)
	}
	return sum
}
