// The generator of the kernels of package vector, whose go generate runs it. Every kernel exists for AVX-512 (F, BW, DQ, VL) and for AVX2 from one description; isa.go holds
// what differs.
//
// Arithmetic is that of package field: 64-bit representatives, 2^64 = 2^32 - 1 and 2^96 = -1 mod p. A value is lazy when it may be p or more; corrections that need one
// canonical operand are marked.
package main

import (
	. "github.com/mmcloughlin/avo/build"
)

func main() {
	ConstraintExpr("!purego")
	for _, v := range []*isa{avx512, avx2} {
		v.binary("add", "adds vectors: dst = a + b. n is a multiple of the lanes.", (*isa).add)
		v.binary("sub", "subtracts vectors: dst = a - b. n is a multiple of the lanes.", (*isa).sub)
		v.binary("mul", "multiplies vectors element by element: dst = a·b. n is a multiple of the lanes.", (*isa).mulCanonical)
		v.scale()
		v.combine()
		v.dot()
		for levels := 1; levels <= v.maxLevels; levels++ {
			v.dif(levels, false)
			v.dif(levels, true)
		}
		v.tail()
	}
	avx512.mulExt()
	Generate()
}
