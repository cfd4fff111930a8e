package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is an instruction set: how many 64-bit lanes a register has, and the operations whose instructions differ.
type isa struct {
	suffix    string
	lanes     int
	logLanes  int
	maxLevels int // butterfly levels whose operands fit the registers

	// Constants in registers, per function.
	epsilon reg.Register // 2^32 - 1
	sign    reg.Register // AVX2: 2^63, which turns unsigned comparisons into signed ones
	top     reg.Register // AVX2: (p - 1) xor 2^63
	odd     reg.Register // AVX-512: mask of the upper halves
}

var (
	avx512 = &isa{suffix: "AVX512", lanes: 8, logLanes: 3, maxLevels: 3}
	avx2   = &isa{suffix: "AVX2", lanes: 4, logLanes: 2, maxLevels: 2}
)

func (v *isa) wide() bool { return v == avx512 }

// begin starts a function and loads the constants.
func (v *isa) begin(name, signature, doc string) {
	TEXT(name+v.suffix, NOSPLIT, "func("+signature+")")
	Pragma("noescape")
	Doc(name + v.suffix + " " + doc)
	v.epsilon = v.constant(0xffffffff)
	if v.wide() {
		m := GP32()
		MOVL(U32(0xaaaa), m)
		k := K()
		KMOVW(m, k)
		v.odd = k
		return
	}
	v.sign = v.constant(1 << 63)
	v.top = v.constant(0xffffffff00000000 ^ 1<<63)
}

func (v *isa) end() {
	VZEROUPPER()
	RET()
}

// constant broadcasts a number.
func (v *isa) constant(x uint64) reg.Register {
	g := GP64()
	MOVQ(U64(x), g)
	if v.wide() {
		z := ZMM()
		VPBROADCASTQ(g, z)
		return z
	}
	y := YMM()
	MOVQ(g, y.AsX())
	VPBROADCASTQ(y.AsX(), y)
	return y
}

func (v *isa) new() reg.Register {
	if v.wide() {
		return ZMM()
	}
	return YMM()
}

func (v *isa) load(m Mem) reg.Register {
	r := v.new()
	v.move(m, r)
	return r
}

// move loads, stores or copies.
func (v *isa) move(from, to Op) {
	if v.wide() {
		VMOVDQU64(from, to)
	} else {
		VMOVDQU(from, to)
	}
}

func (v *isa) broadcast(m Mem) reg.Register {
	r := v.new()
	VPBROADCASTQ(m, r)
	return r
}

func (v *isa) zero() reg.Register {
	r := v.new()
	if v.wide() {
		VPXORQ(r, r, r)
	} else {
		VPXOR(r, r, r)
	}
	return r
}

func (v *isa) op2(f func(...Op), a, b Op) reg.Register {
	r := v.new()
	f(b, a, r)
	return r
}

// The AVX2-only instructions, with the signature of the others.
func vpand(o ...Op) { VPAND(o[0], o[1], o[2]) }
func vpxor(o ...Op) { VPXOR(o[0], o[1], o[2]) }

// Wrapping arithmetic on 64-bit lanes. mul32 multiplies the lower halves.
func (v *isa) wrapAdd(a, b Op) reg.Register { return v.op2(VPADDQ, a, b) }
func (v *isa) wrapSub(a, b Op) reg.Register { return v.op2(VPSUBQ, a, b) }
func (v *isa) mul32(a, b Op) reg.Register   { return v.op2(VPMULUDQ, a, b) }

// mul32Broadcast multiplies the lower halves by a number in memory.
func (v *isa) mul32Broadcast(a Op, m Mem) reg.Register {
	if v.wide() {
		return v.op2(VPMULUDQ_BCST, a, m)
	}
	return v.mul32(a, v.broadcast(m))
}

func (v *isa) right(a Op, n uint64) reg.Register {
	r := v.new()
	VPSRLQ(Imm(n), a, r)
	return r
}

func (v *isa) left(a Op, n uint64) reg.Register {
	r := v.new()
	VPSLLQ(Imm(n), a, r)
	return r
}

// low is the lower halves.
func (v *isa) low(a Op) reg.Register {
	if v.wide() {
		return v.op2(VPANDQ, a, v.epsilon)
	}
	return v.op2(vpand, a, v.epsilon)
}

// upper copies the upper halves to the lower ones.
func (v *isa) upper(a Op) reg.Register {
	r := v.new()
	VMOVSHDUP(a, r)
	return r
}

// join returns the lower halves of high, shifted up, over the lower halves of low. It may overwrite low.
func (v *isa) join(high, low reg.Register) reg.Register {
	if v.wide() {
		VMOVSLDUP(high, v.odd, low)
		return low
	}
	up, r := v.new(), v.new()
	VMOVSLDUP(high, up)
	VPBLENDD(Imm(0xaa), up, low, r)
	return r
}

// less returns, on AVX2, 2^32 - 1 where a < b.
func (v *isa) less(a, b Op) reg.Register {
	return v.right(v.op2(VPCMPGTQ, v.op2(vpxor, b, v.sign), v.op2(vpxor, a, v.sign)), 32)
}

const lessThan = 1 // the predicate of VPCMPUQ

// carry adds 2^32 - 1 to x where x < b, in place: the correction of x = a + b.
func (v *isa) carry(x, b reg.Register) reg.Register {
	if v.wide() {
		k := K()
		VPCMPUQ(Imm(lessThan), b, x, k)
		VPADDQ(v.epsilon, x, k, x)
		return x
	}
	VPADDQ(v.less(x, b), x, x)
	return x
}

// borrow subtracts 2^32 - 1 from x where a < b, in place: the correction of x = a - b.
func (v *isa) borrow(x, a, b reg.Register) reg.Register {
	if v.wide() {
		k := K()
		VPCMPUQ(Imm(lessThan), b, a, k)
		VPSUBQ(v.epsilon, x, k, x)
		return x
	}
	VPSUBQ(v.less(a, b), x, x)
	return x
}

// canonical reduces x below p.
func (v *isa) canonical(x reg.Register) reg.Register {
	if v.wide() {
		// x - p = x + 2^32 - 1, which wraps to something larger unless x >= p.
		return v.op2(VPMINUQ, x, v.wrapAdd(x, v.epsilon))
	}
	over := v.right(v.op2(VPCMPGTQ, v.op2(vpxor, x, v.sign), v.top), 32)
	return v.wrapAdd(x, over)
}

// addLazy is a + b for canonical b.
func (v *isa) addLazy(a, b reg.Register) reg.Register { return v.carry(v.wrapAdd(a, b), b) }

// subLazy is a - b for canonical b.
func (v *isa) subLazy(a, b reg.Register) reg.Register { return v.borrow(v.wrapSub(a, b), a, b) }

// add is a + b for canonical operands.
func (v *isa) add(a, b reg.Register) reg.Register { return v.canonical(v.addLazy(a, b)) }

// sub is a - b for canonical operands, canonical without more.
func (v *isa) sub(a, b reg.Register) reg.Register { return v.subLazy(a, b) }

// mul is a·b, lazy, for any operands.
func (v *isa) mul(a, b reg.Register) reg.Register {
	ah, bh := v.upper(a), v.upper(b)
	ll := v.mul32(a, b)
	// Columns of 2^32: none of the sums overflows, because (2^32-1)^2 + 2(2^32-1) < 2^64.
	t0 := v.wrapAdd(v.mul32(ah, b), v.right(ll, 32))
	t1 := v.wrapAdd(v.mul32(a, bh), v.low(t0))
	hi := v.wrapAdd(v.wrapAdd(v.mul32(ah, bh), v.right(t0, 32)), v.right(t1, 32))
	return v.reduce(hi, v.join(t1, ll))
}

// reduce is hi·2^64 + lo, lazy.
func (v *isa) reduce(hi, lo reg.Register) reg.Register {
	hh := v.right(hi, 32)
	t := v.borrow(v.wrapSub(lo, hh), lo, hh)
	s := v.mul32(hi, v.epsilon)
	return v.carry(v.wrapAdd(t, s), s)
}

func (v *isa) mulCanonical(a, b reg.Register) reg.Register { return v.canonical(v.mul(a, b)) }

// shift is x·2^s for s = 24, 48 or 72: the powers of the 8th root of unity 2^24.
func (v *isa) shift(x reg.Register, s uint64) reg.Register {
	switch s {
	case 24: // x·2^24 = x<<24 + (x>>40)·2^64
		h := v.mul32(v.right(x, 40), v.epsilon)
		return v.carry(v.wrapAdd(v.left(x, 24), h), h)
	case 48: // x<<48 + (bits 16 to 47)·2^64 - x>>48
		h := v.mul32(v.right(x, 16), v.epsilon)
		sum := v.carry(v.wrapAdd(v.left(x, 48), h), h)
		top := v.right(x, 48)
		return v.borrow(v.wrapSub(sum, top), sum, top)
	case 72: // (bits 0 to 23)·2^72 - x>>24
		h := v.mul32(v.left(x, 8), v.epsilon)
		top := v.right(x, 24)
		return v.borrow(v.wrapSub(h, top), h, top)
	}
	panic("no such shift")
}
