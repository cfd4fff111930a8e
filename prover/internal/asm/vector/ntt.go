package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// value is a register in a transform that knows whether it is canonical.
type value struct {
	r         reg.Register
	canonical bool
}

// reduced makes a value canonical.
func (v *isa) reduced(x *value) reg.Register {
	if !x.canonical {
		*x = value{v.canonical(x.r), true}
	}
	return x.r
}

// butterfly replaces (a, b) by (a + b, (a - b)·twiddle); twiddle computes the product.
func (v *isa) butterfly(a, b *value, twiddle func(reg.Register) reg.Register) {
	y := v.reduced(b)
	sum, difference := v.addLazy(a.r, y), v.subLazy(a.r, y)
	*a = value{sum, false}
	*b = value{twiddle(difference), false}
}

// dif is `levels` levels of decimation in frequency on one block of n elements, m = n/2^levels of them at a time. The twiddles of the level with blocks of size n are w[n/2] to w[n-1].
func (v *isa) dif(levels int, scaled bool) {
	count := 1 << levels
	signature, doc := "x, w *uint64, n int", "transforms one block of n elements in place by %d levels of decimation in frequency. n/%d is a multiple of the lanes."
	name := fmt.Sprintf("dif%d", levels)
	if scaled {
		name += "Scaled"
		signature, doc = "x, src, scale, w *uint64, n int", "is dif%[1]d from src·scale to x. n/%[2]d is a multiple of the lanes."
	}
	v.begin(name, signature, fmt.Sprintf(doc, levels, count))
	x, w, n := pointer("x"), pointer("w"), pointer("n")
	var src, scale reg.GPVirtual
	if scaled {
		src, scale = pointer("src"), pointer("scale")
	}
	m := GP64()
	MOVQ(n, m)
	SHRQ(Imm(uint64(levels)), m)
	step := GP64() // m in bytes
	MOVQ(m, step)
	SHLQ(Imm(3), step)
	// The twiddles of level k start at w + (n/2^(k+1)), in elements.
	tables := make([]reg.GPVirtual, levels)
	size := GP64()
	MOVQ(n, size)
	SHLQ(Imm(2), size) // n/2 in bytes
	for k := range tables {
		tables[k] = GP64()
		LEAQ(Mem{Base: w, Index: size, Scale: 1}, tables[k])
		if k+1 < levels {
			SHRQ(Imm(1), size)
		}
	}
	// part is the address of part k of a vector, for k < 8: base + k·step.
	step3 := GP64()
	if levels > 1 {
		LEAQ(Mem{Base: step, Index: step, Scale: 2}, step3)
	}
	parts := func(base reg.GPVirtual, count int, i reg.GPVirtual) []Mem {
		out := make([]Mem, count)
		p := GP64()
		LEAQ(at(base, i), p)
		for k := range out {
			if k == 4 {
				q := GP64()
				LEAQ(Mem{Base: p, Index: step, Scale: 4}, q)
				p = q
			}
			out[k] = Mem{Base: p}
			switch k & 3 {
			case 1, 2:
				out[k].Index, out[k].Scale = step, uint8(k&3)
			case 3:
				out[k].Index, out[k].Scale = step3, 1
			}
		}
		return out
	}
	v.loop(m, "loop", func(i reg.GPVirtual) {
		values := make([]value, count)
		if scaled {
			from, factor := parts(src, count, i), parts(scale, count, i)
			for k := range values {
				values[k] = value{v.mul(v.load(from[k]), v.load(factor[k])), false}
			}
		} else {
			for k, m := range parts(x, count, i) {
				values[k] = value{v.load(m), true}
			}
		}
		for level := range levels {
			half := count >> (level + 1)
			twiddles := parts(tables[level], half, i)
			for j := range half {
				t := v.load(twiddles[j])
				for start := 0; start < count; start += 2 * half {
					v.butterfly(&values[start+j], &values[start+j+half], func(d reg.Register) reg.Register { return v.mul(d, t) })
				}
			}
		}
		for k, m := range parts(x, count, i) {
			v.move(v.reduced(&values[k]), m)
		}
	})
	v.end()
}

// tail is the last levels, on blocks of lanes² elements: those between registers, then, after a transposition, those within, whose twiddles are powers of two.
func (v *isa) tail() {
	v.begin("tail", "x, w *uint64, n int",
		fmt.Sprintf("transforms each block of %d elements of x by decimation in frequency, in bit-reversed order. n is a multiple of that.", v.lanes*v.lanes))
	x, w, n := pointer("x"), pointer("w"), pointer("n")
	end := GP64()
	LEAQ(at(x, n), end)
	Label("loop")
	values := make([]value, v.lanes)
	address := func(k int) Mem { return Mem{Base: x, Disp: 8 * v.lanes * k} }
	for k := range values {
		values[k] = value{v.load(address(k)), true}
	}
	for half := v.lanes / 2; half > 0; half /= 2 {
		size := 2 * half * v.lanes
		for j := range half {
			t := v.load(Mem{Base: w, Disp: 8 * (size/2 + j*v.lanes)})
			for start := 0; start < v.lanes; start += 2 * half {
				v.butterfly(&values[start+j], &values[start+j+half], func(d reg.Register) reg.Register { return v.mul(d, t) })
			}
		}
	}
	v.transpose(values)
	for half := v.lanes / 2; half > 0; half /= 2 {
		for j := range half {
			for start := 0; start < v.lanes; start += 2 * half {
				// The root of order 2·half is 2^(96/half).
				v.butterfly(&values[start+j], &values[start+j+half], func(d reg.Register) reg.Register {
					if j == 0 {
						return d
					}
					return v.shift(d, uint64(96/half*j))
				})
			}
		}
	}
	for k := range values {
		v.reduced(&values[k])
	}
	v.transpose(values)
	for k := range values {
		v.move(values[k].r, address(k))
	}
	ADDQ(U32(8*v.lanes*v.lanes), x)
	CMPQ(x, end)
	JB(LabelRef("loop"))
	v.end()
}

// transpose transposes the square of registers.
func (v *isa) transpose(x []value) {
	canonical := true
	for _, y := range x {
		canonical = canonical && y.canonical
	}
	type pair = [2]reg.Register
	// Pairs of neighbours exchange single lanes; then runs of two; then, with eight lanes, of four.
	unpack := func(a, b reg.Register) pair {
		lo, hi := v.new(), v.new()
		VPUNPCKLQDQ(b, a, lo)
		VPUNPCKHQDQ(b, a, hi)
		return pair{lo, hi}
	}
	t := make([]reg.Register, len(x))
	for k := 0; k < len(x); k += 2 {
		p := unpack(x[k].r, x[k+1].r)
		t[k], t[k+1] = p[0], p[1]
	}
	set := func(k int, r reg.Register) { x[k] = value{r, canonical} }
	if !v.wide() {
		for k := range 2 {
			lo, hi := v.new(), v.new()
			VPERM2I128(Imm(0x20), t[k+2], t[k], lo)
			VPERM2I128(Imm(0x31), t[k+2], t[k], hi)
			set(k, lo)
			set(k+2, hi)
		}
		return
	}
	shuffle := func(sel uint64, a, b reg.Register) reg.Register {
		r := v.new()
		VSHUFI64X2(Imm(sel), b, a, r)
		return r
	}
	// t[k] holds 128-bit pieces: column (k&1)+2i of rows k&^1 and its neighbour in piece i.
	for odd := range 2 {
		even := [4]reg.Register{t[odd], t[2+odd], t[4+odd], t[6+odd]}
		a, b := shuffle(0x88, even[0], even[1]), shuffle(0x88, even[2], even[3]) // pieces 0, 2 of each
		c, d := shuffle(0xdd, even[0], even[1]), shuffle(0xdd, even[2], even[3]) // pieces 1, 3 of each
		set(odd, shuffle(0x88, a, b))
		set(4+odd, shuffle(0xdd, a, b))
		set(2+odd, shuffle(0x88, c, d))
		set(6+odd, shuffle(0xdd, c, d))
	}
}
