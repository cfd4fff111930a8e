package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Sums of products are kept without carries: one factor is cut into limbs of 22 bits, the other into halves, so that a product is below 2^54.

// sliceHeader is the size of a slice header in bytes.
const sliceHeader = 24

// limbs is the number of limbs of a factor.
const limbs = 3

// assemble reduces a0 + a1·2^22 + a2·2^44 for any 64-bit values, lazily.
func (v *isa) assemble(a [limbs]reg.Register) reg.Register {
	hi := v.wrapAdd(v.right(a[1], 42), v.right(a[2], 20))
	one := v.constant(1)
	lo := a[0]
	for i, shift := range []uint64{22, 44} {
		b := v.left(a[i+1], shift)
		lo = v.wrapAdd(lo, b)
		if v.wide() {
			k := K()
			VPCMPUQ(Imm(lessThan), b, lo, k)
			VPADDQ(one, hi, k, hi)
		} else {
			VPADDQ(v.right(v.less(lo, b), 31), hi, hi)
		}
	}
	return v.reduce(hi, lo)
}

// combine adds a linear combination of columns, with coefficients in E, to three vectors. For each column the table has, for each of the three coordinates, the limbs of the coefficient
// and those of 2^32 times it. The sums of 512 columns stay below 2^64.
func (v *isa) combine() {
	v.begin("combine", "out0, out1, out2 *uint64, columns **uint64, width int, table *uint64, offset, n int",
		"adds Σ coefficient·column to three vectors. columns points to slice headers, whose slices are read from byte offset; n is a multiple of the lanes, width at most 512.")
	var out [3]reg.GPVirtual
	for c, name := range []string{"out0", "out1", "out2"} {
		out[c] = pointer(name)
	}
	columns, width, table, offset, n := pointer("columns"), pointer("width"), pointer("table"), pointer("offset"), pointer("n")
	v.loop(n, "rows", func(i reg.GPVirtual) {
		var sums [3][limbs]reg.Register
		for c := range sums {
			for l := range sums[c] {
				sums[c][l] = v.zero()
			}
		}
		column, t, left := GP64(), GP64(), GP64()
		MOVQ(columns, column)
		MOVQ(table, t)
		MOVQ(width, left)
		Label("columns")
		p := GP64()
		MOVQ(Mem{Base: column}, p)
		ADDQ(offset, p)
		x := v.load(at(p, i))
		PREFETCHT0(at(p, i).Offset(512)) // the next block of 64 rows: there are more columns than the processor follows
		for half := range 2 {
			if half == 1 {
				x = v.upper(x)
			}
			for c := range sums {
				for l := range sums[c] {
					VPADDQ(v.mul32Broadcast(x, Mem{Base: t, Disp: 8 * ((2*c+half)*limbs + l)}), sums[c][l], sums[c][l])
				}
			}
		}
		ADDQ(Imm(sliceHeader), column)
		ADDQ(Imm(8*3*2*limbs), t)
		DECQ(left)
		JNZ(LabelRef("columns"))
		for c := range sums {
			sum := v.canonical(v.assemble(sums[c]))
			v.move(v.canonical(v.addLazy(sum, v.load(at(out[c], i)))), at(out[c], i))
		}
	})
	v.end()
}

// dot multiplies a column with weights that are cut into planes of limbs, and adds the sums of each lane to acc: first those of the column's lower halves, then of the upper.
func (v *isa) dot() {
	v.begin("dot", "acc, column, limb0, limb1, limb2 *uint64, n int",
		"adds Σ half·limb, for both halves of the column and the three limbs of the weights, to six vectors of one register each. n is a multiple of the lanes.")
	acc, column, n := pointer("acc"), pointer("column"), pointer("n")
	var planes [limbs]reg.GPVirtual
	for l, name := range []string{"limb0", "limb1", "limb2"} {
		planes[l] = pointer(name)
	}
	var sums [2 * limbs]reg.Register
	for k := range sums {
		sums[k] = v.load(Mem{Base: acc, Disp: 8 * v.lanes * k})
	}
	v.loop(n, "loop", func(i reg.GPVirtual) {
		x := v.load(at(column, i))
		h := v.upper(x)
		for l, plane := range planes {
			w := v.load(at(plane, i))
			VPADDQ(v.mul32(x, w), sums[l], sums[l])
			VPADDQ(v.mul32(h, w), sums[limbs+l], sums[limbs+l])
		}
	})
	for k := range sums {
		v.move(sums[k], Mem{Base: acc, Disp: 8 * v.lanes * k})
	}
	v.end()
}

// mulExt multiplies in E = F[X]/(X^3 - 2) with 52-bit multiply-add instructions: a factor is lo + hi·2^52, and a sum of products has columns at 2^0, 2^52 and 2^104.
func (v *isa) mulExt() {
	v.begin("mulExt", "dst, a, b *uint64, stride, n int",
		"multiplies elements of E: coordinate c of element i is at c·stride + i. n is a multiple of the lanes. It needs AVX512_IFMA.")
	dst, a, b, stride, n := pointer("dst"), pointer("a"), pointer("b"), pointer("stride"), pointer("n")
	SHLQ(Imm(3), stride)
	v.loop(n, "loop", func(i reg.GPVirtual) {
		coordinates := func(base reg.GPVirtual) (m [3]Mem) {
			p := GP64()
			LEAQ(at(base, i), p)
			for c := range m {
				m[c] = Mem{Base: p}
				if c > 0 {
					m[c].Index, m[c].Scale = stride, uint8(c)
				}
			}
			return m
		}
		var x, xh, y, yh [3]reg.Register
		for c, m := range coordinates(a) {
			x[c] = v.load(m)
			xh[c] = v.right(x[c], 52)
		}
		for c, m := range coordinates(b) {
			y[c] = v.load(m)
			yh[c] = v.right(y[c], 52)
		}
		product := func(sum *[3]reg.Register, i, j int) {
			VPMADD52LUQ(x[i], y[j], sum[0])
			VPMADD52HUQ(x[i], y[j], sum[1])
			VPMADD52LUQ(x[i], yh[j], sum[1])
			VPMADD52LUQ(xh[i], y[j], sum[1])
			VPMADD52HUQ(x[i], yh[j], sum[2])
			VPMADD52HUQ(xh[i], y[j], sum[2])
			VPMADD52LUQ(xh[i], yh[j], sum[2])
		}
		to := coordinates(dst)
		for c := range 3 {
			// X^3 = 2 doubles the products of degree 3 and 4.
			sum := [3]reg.Register{v.zero(), v.zero(), v.zero()}
			for i := c + 1; i < 3; i++ {
				product(&sum, i, c+3-i)
			}
			if c < 2 {
				for k := range sum {
					VPADDQ(sum[k], sum[k], sum[k])
				}
			}
			for i := 0; i <= c; i++ {
				product(&sum, i, c-i)
			}
			v.move(v.canonical(v.assemble52(sum)), to[c])
		}
	})
	v.end()
}

// assemble52 reduces s0 + s1·2^52 + s2·2^104 for sums of up to five products (s0 and s1 below 2^56, s2 below 2^28), lazily.
func (v *isa) assemble52(s [3]reg.Register) reg.Register {
	// 2^104 = -2^8. Of s1, bits 44 and up are worth -1; bits 12 to 43 are worth 2^64; bits below are in place.
	minus := v.wrapAdd(v.left(s[2], 8), v.right(s[1], 44))
	r := v.carry(v.wrapAdd(v.left(s[1], 52), s[0]), s[0])
	h := v.mul32(v.right(s[1], 12), v.epsilon)
	r = v.carry(v.wrapAdd(r, h), h)
	return v.borrow(v.wrapSub(r, minus), r, minus)
}
