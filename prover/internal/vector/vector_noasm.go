//go:build !amd64 || purego

package vector

import "github.com/ixprove/ixprove/verifier/field"

func add(dst, a, b []field.Element)                    { addGeneric(dst, a, b) }
func sub(dst, a, b []field.Element)                    { subGeneric(dst, a, b) }
func mul(dst, a, b []field.Element)                    { mulGeneric(dst, a, b) }
func scale(dst, a []field.Element, k field.Element)    { scaleGeneric(dst, a, k) }
func mulExt(dst, a, b *Ext, n int)                     { mulExtGeneric(dst, a, b, 0, n) }
func dot(w *Weights, column []field.Element) field.Ext { return dotGeneric(w, column, 0) }
func forward(x, src, factors, w []field.Element)       { forwardGeneric(x, src, factors, w) }

func combine(out [3][]field.Element, k *Coefficients, columns [][]field.Element, first int) {
	combineGeneric(out, k, columns, first, 0)
}

// Kernels names the instructions in use.
func Kernels() string { return "portable" }
