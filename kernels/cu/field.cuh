// The Goldilocks field, p = 2^64 - 2^32 + 1, and its cubic extension by X^3 = 2: the device's twin of verifier/field.
//
// Ranges are part of each name. "any" is any 64-bit representative, "canonical" is below p. The one trap is adding two representatives that are both p or more: the sum
// can carry out a second time. So lazy addition and subtraction take one operand that is at most p, and everything that produces such an operand says so.
#pragma once
#include "target.cuh"

#define P 0xffffffff00000001ULL
#define EPSILON 0xffffffffULL // 2^64 mod p

// lo + 2^32 hi as registers.
#define UNPACK(lo, hi, v) u32 lo = (u32)(v), hi = (u32)((v) >> 32)
#define PACK(lo, hi) ((u64)(hi) << 32 | (lo))

// any -> canonical. Where a is p or more, a + 2^32 - 1 carries out, hi is 2^32 - 1 and lo at least 1, so that a - p is (lo - 1, hi + 1) without a borrow between them.
INLINE u64 canonical(u64 a) {
#ifdef __CUDA_ARCH__
	UNPACK(lo, hi, a);
	u32 over;
	asm("{\n\t.reg .u32 t;\n\tadd.cc.u32 t, %0, 0xffffffff; addc.cc.u32 t, %1, 0; addc.u32 %2, 0, 0;\n\tsub.u32 %0, %0, %2; add.u32 %1, %1, %2;\n\t}"
		: "+&r"(lo), "+&r"(hi), "=&r"(over));
	return PACK(lo, hi);
#else
	return a >= P ? a - P : a;
#endif
}

// a b, and a b + c where that is below 2^64. As C the product becomes a 64-bit one, whose upper halves not every compiler knows to be zero. The sum is one instruction of the card; the pair of
// halves with a carry is made into it by its assembler, while it would take a wide multiply-add apart, to add several of them up with fewer steps and more instructions.
INLINE u64 multiply_wide(u32 a, u32 b) {
#ifdef __CUDA_ARCH__
	u64 r;
	asm("mul.wide.u32 %0, %1, %2;" : "=l"(r) : "r"(a), "r"(b));
	return r;
#else
	return (u64)a * b;
#endif
}

INLINE u64 multiply_add(u32 a, u32 b, u64 c) {
#ifdef __CUDA_ARCH__
	u64 r;
	asm("{\n\t.reg .u32 lo, hi;\n\tmov.b64 {lo, hi}, %3; mad.lo.cc.u32 lo, %1, %2, lo; madc.hi.u32 hi, %1, %2, hi; mov.b64 %0, {lo, hi};\n\t}" : "=l"(r) : "r"(a), "r"(b), "l"(c));
	return r;
#else
	return c + (u64)a * b;
#endif
}

// v (2^32 - 1) -> canonical. Written as a product: the card multiplies and adds in different pipes, and transforms mostly add.
INLINE u64 times_epsilon(u32 v) {
#ifdef __CUDA_ARCH__
	return multiply_wide(v, 0xffffffff);
#else
	return ((u64)v << 32) - v;
#endif
}

// any + at most p -> any. A carry is worth 2^64 = 2^32 - 1. The corrected sum does not carry again: with a carry the sum is at most 2^64 - 1 + p - 2^64 = p - 1,
// and p - 1 + 2^32 - 1 < 2^64.
INLINE u64 add_lazy(u64 a, u64 b) {
#ifdef __CUDA_ARCH__
	UNPACK(a0, a1, a);
	UNPACK(b0, b1, b);
	u32 carry;
	asm("add.cc.u32 %0, %0, %3; addc.cc.u32 %1, %1, %4; addc.u32 %2, 0, 0;\n\t"
		"sub.cc.u32 %0, %0, %2; subc.u32 %1, %1, 0; add.u32 %1, %1, %2;"
		: "+&r"(a0), "+&r"(a1), "=&r"(carry)
		: "r"(b0), "r"(b1));
	return PACK(a0, a1);
#else
	u64 s = a + b;
	return s < b ? s + EPSILON : s;
#endif
}

// any - at most p -> any. With a borrow the difference is at least 2^64 - p = 2^32 - 1, from which 2^32 - 1 can be taken. canonical - canonical -> canonical.
INLINE u64 sub_lazy(u64 a, u64 b) {
#ifdef __CUDA_ARCH__
	UNPACK(a0, a1, a);
	UNPACK(b0, b1, b);
	u32 mask; // 2^32 - 1 after a borrow
	asm("sub.cc.u32 %0, %0, %3; subc.cc.u32 %1, %1, %4; subc.u32 %2, 0, 0;\n\t"
		"sub.cc.u32 %0, %0, %2; subc.u32 %1, %1, 0;"
		: "+&r"(a0), "+&r"(a1), "=&r"(mask)
		: "r"(b0), "r"(b1));
	return PACK(a0, a1);
#else
	return a < b ? a - b - EPSILON : a - b;
#endif
}

// Four 32-bit limbs of a product, lowest first.
struct Product {
	u32 r0, r1, r2, r3;
};

INLINE Product multiply_full(u64 a, u64 b) {
#ifdef __CUDA_ARCH__
	UNPACK(a0, a1, a);
	UNPACK(b0, b1, b);
	u64 low = multiply_wide(a0, b0), high = multiply_wide(a1, b1);
	UNPACK(r0, r1, low);
	UNPACK(r2, r3, high);
	asm("mad.lo.cc.u32 %0, %3, %6, %0; madc.hi.cc.u32 %1, %3, %6, %1; addc.u32 %2, %2, 0;\n\t"
		"mad.lo.cc.u32 %0, %4, %5, %0; madc.hi.cc.u32 %1, %4, %5, %1; addc.u32 %2, %2, 0;"
		: "+&r"(r1), "+&r"(r2), "+&r"(r3)
		: "r"(a0), "r"(a1), "r"(b0), "r"(b1));
	return {r0, r1, r2, r3};
#else
	unsigned __int128 v = (unsigned __int128)a * b;
	return {(u32)v, (u32)(v >> 32), (u32)(v >> 64), (u32)(v >> 96)};
#endif
}

// canonical, canonical -> canonical.
INLINE u64 sub(u64 a, u64 b) { return sub_lazy(a, b); }
INLINE u64 add(u64 a, u64 b) { return sub_lazy(a, P - b); }
INLINE u64 neg(u64 a) { return sub_lazy(0, a); }

// Four 32-bit limbs, lowest first, of any 128-bit value -> any. The value is r1:r0 + 2^64 r2 + 2^96 r3 = r1:r0 + (2^32 - 1) r2 - r3, between -2^32 and 2^65:
// one correction by 2^64 in either direction. After a carry at most 2^64 - 2^33 is left, to which 2^32 - 1 can be added; after a borrow at least 2^64 - 2^32 + 1,
// from which it can be taken.
INLINE u64 reduce_limbs(u32 r0, u32 r1, u32 r2, u32 r3) {
#ifdef __CUDA_ARCH__
	u32 over, sign;
	asm("add.cc.u32 %1, %1, %4; addc.u32 %2, 0, 0;\n\t"
		"sub.cc.u32 %0, %0, %4; subc.cc.u32 %1, %1, 0; subc.u32 %2, %2, 0;\n\t"
		"sub.cc.u32 %0, %0, %5; subc.cc.u32 %1, %1, 0; subc.u32 %2, %2, 0;\n\t"
		"shr.s32 %3, %2, 31; sub.cc.u32 %0, %0, %2; subc.u32 %1, %1, %3; add.u32 %1, %1, %2;"
		: "+&r"(r0), "+&r"(r1), "=&r"(over), "=&r"(sign)
		: "r"(r2), "r"(r3));
	return PACK(r0, r1);
#else
	u64 lo = PACK(r0, r1), t = lo - r3;
	if (lo < r3) t -= EPSILON;
	u64 s = ((u64)r2 << 32) - r2, r = t + s;
	return r < s ? r + EPSILON : r;
#endif
}

// any * any -> any.
INLINE u64 mul_lazy(u64 a, u64 b) {
	Product v = multiply_full(a, b);
	return reduce_limbs(v.r0, v.r1, v.r2, v.r3);
}

// any * any -> canonical.
INLINE u64 mul(u64 a, u64 b) { return canonical(mul_lazy(a, b)); }

// any * 2^k -> canonical, for 0 <= k < 96; k is meant to be known when compiling. By 2^64 = 2^32 - 1 and 2^96 = -1.
INLINE u64 shift_left(u64 x, int k) {
	if (k == 0) return canonical(x);
	if (k < 32) {
		u64 hi = x >> (64 - k);
		return canonical(add_lazy(x << k, times_epsilon((u32)hi)));
	}
	if (k < 64) {
		// The low part is a multiple of 2^32, so it is below p.
		u64 hi = x >> (64 - k);
		return add(sub(x << k, hi >> 32), times_epsilon((u32)hi));
	}
	u64 lo = x << (k - 64);
	u64 r = sub(times_epsilon((u32)lo), lo >> 32);
	return k == 64 ? r : sub(r, x >> (128 - k) << 32);
}

// A sum of products, below 2^160.
struct Sum {
	u64 lo, hi, top;
};

INLINE void accumulate(Sum &s, u64 a, u64 b) {
	unsigned __int128 v = (unsigned __int128)a * b;
	u64 lo = (u64)v, hi = (u64)(v >> 64);
#ifdef __CUDA_ARCH__
	asm("add.cc.u64 %0, %0, %3; addc.cc.u64 %1, %1, %4; addc.u64 %2, %2, 0;" : "+&l"(s.lo), "+&l"(s.hi), "+&l"(s.top) : "l"(lo), "l"(hi));
#else
	s.lo += lo;
	u64 carry = s.lo < lo;
	s.hi += hi;
	u64 over = s.hi < hi;
	s.hi += carry;
	s.top += over + (s.hi < carry);
#endif
}

// A sum of fewer than 2^32 products -> canonical. 2^128 = -2^32, and top 2^32 is below p.
INLINE u64 reduce(const Sum &s) {
	u64 r = canonical(reduce_limbs((u32)s.lo, (u32)(s.lo >> 32), (u32)s.hi, (u32)(s.hi >> 32)));
	return sub(r, s.top << 32);
}

INLINE u64 square_times(u64 a, int n) {
	for (; n > 0; n--) a = mul_lazy(a, a);
	return a;
}

INLINE u64 power(u64 a, u64 e) {
	u64 r = 1;
	for (; e; e >>= 1, a = mul_lazy(a, a))
		if (e & 1) r = mul_lazy(r, a);
	return canonical(r);
}

// 1/a, canonical, and 0 for 0: a^(p-2), where p - 2 = (2^31 - 1) 2^33 + 2^32 - 1.
INLINE u64 inverse(u64 a) {
	u64 x2 = mul_lazy(square_times(a, 1), a), x3 = mul_lazy(square_times(x2, 1), a), x6 = mul_lazy(square_times(x3, 3), x3);
	u64 x12 = mul_lazy(square_times(x6, 6), x6), x24 = mul_lazy(square_times(x12, 12), x12), x30 = mul_lazy(square_times(x24, 6), x6);
	u64 x31 = mul_lazy(square_times(x30, 1), a), x32 = mul_lazy(square_times(x31, 1), a);
	return mul(square_times(x31, 33), x32);
}

// c0 + c1 X + c2 X^2, canonical.
struct Ext {
	u64 c0, c1, c2;
};

INLINE Ext add(const Ext &a, const Ext &b) { return {add(a.c0, b.c0), add(a.c1, b.c1), add(a.c2, b.c2)}; }
INLINE Ext sub(const Ext &a, const Ext &b) { return {sub(a.c0, b.c0), sub(a.c1, b.c1), sub(a.c2, b.c2)}; }
INLINE Ext scale(const Ext &a, u64 s) { return {mul(a.c0, s), mul(a.c1, s), mul(a.c2, s)}; }
INLINE bool is_zero(const Ext &a) { return (a.c0 | a.c1 | a.c2) == 0; }

INLINE u64 dot3(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
	Sum s = {0, 0, 0};
	accumulate(s, a, b);
	accumulate(s, c, d);
	accumulate(s, e, f);
	return reduce(s);
}

INLINE Ext mul(const Ext &a, const Ext &b) {
	u64 b1 = add(b.c1, b.c1), b2 = add(b.c2, b.c2);
	return {dot3(a.c0, b.c0, a.c1, b2, a.c2, b1), dot3(a.c0, b.c1, a.c1, b.c0, a.c2, b2), dot3(a.c0, b.c2, a.c1, b.c1, a.c2, b.c0)};
}

// 1/a, and 0 for 0: the product of the two conjugates over the norm.
INLINE Ext inverse(const Ext &a) {
	u64 d2 = add(a.c2, a.c2);
	Ext t = {sub(mul(a.c0, a.c0), mul(a.c1, d2)), sub(mul(a.c2, d2), mul(a.c0, a.c1)), sub(mul(a.c1, a.c1), mul(a.c0, a.c2))};
	u64 norm = dot3(a.c0, t.c0, d2, t.c1, add(a.c1, a.c1), t.c2);
	return scale(t, inverse(norm));
}

// What is added up column by column is kept as three sums.
struct ExtSum {
	Sum c0, c1, c2;
};

INLINE void accumulate(ExtSum &s, const Ext &a, u64 v) {
	accumulate(s.c0, a.c0, v);
	accumulate(s.c1, a.c1, v);
	accumulate(s.c2, a.c2, v);
}

INLINE Ext reduce(const ExtSum &s) { return {reduce(s.c0), reduce(s.c1), reduce(s.c2)}; }

// Powers of ω, of order 2^32, and of the coset shift g = 7 and its inverse, in windows of the exponent (kernels/tables.go).
struct Tables {
	const u64 *roots;          // ω^i for i < 2^10, ω^(2^10 i) and ω^(2^21 i) for i < 2^11
	const u64 *shifts;         // g^(2^(10 w) i) for i < 2^10, w < 3
	const u64 *inverse_shifts; // the same for 1/g
};

// ω^e, any.
INLINE u64 root(const Tables &t, u32 e) {
	u64 r = t.roots[3072 + (e >> 21)];
	if (e << 11) r = mul_lazy(r, t.roots[1024 + (e >> 10 & 2047)]);
	if (e << 22) r = mul_lazy(r, t.roots[e & 1023]);
	return r;
}

// The power e < 2^30 by a table of shifts, any.
INLINE u64 windowed(const u64 *shifts, u32 e) {
	u64 r = shifts[e & 1023];
	if (e >> 10) r = mul_lazy(r, shifts[1024 + (e >> 10 & 1023)]);
	if (e >> 20) r = mul_lazy(r, shifts[2048 + (e >> 20)]);
	return r;
}
