// Values as four signed limbs, Σ l[i] 2^(24 i) modulo 2^96 + 1, which is a multiple of p. The roots of unity of small order are powers of two: ω_8 = 2^24, so those of order 8 move limbs
// about and cost nothing, and ω_64 = 8. Sums have no carries: limbs of 24 bits have room for those of 32 values and more, and a card adds them in either of its pipes.
//
// A bound on limbs is part of each contract; limbs are added and multiplied as 32-bit words, whose sign bit is only looked at by the functions below.
#pragma once
#include "field.cuh"

struct Limbs {
	u32 l[4];
};

#define LIMB_BITS 24
#define LIMB_MASK 0xffffffu

// any -> limbs in [0, 2^24).
INLINE Limbs split(u64 v) { return {{(u32)v & LIMB_MASK, (u32)(v >> 24) & LIMB_MASK, (u32)(v >> 48), 0}}; }

// any * any -> limbs in (-2^24, 2^24): the product of 128 bits, of which 2^96 = -1.
INLINE Limbs multiply_split(u64 a, u64 b) {
	UNPACK(a0, a1, a);
	UNPACK(b0, b1, b);
	u64 low = (u64)a0 * b0, cross = (u64)a0 * b1, other = (u64)a1 * b0, high = (u64)a1 * b1;
	UNPACK(r0, r1, low);
	UNPACK(r2, r3, high);
#ifdef __CUDA_ARCH__
	asm("add.cc.u32 %0, %0, %3; addc.cc.u32 %1, %1, %4; addc.u32 %2, %2, 0;\n\t"
		"add.cc.u32 %0, %0, %5; addc.cc.u32 %1, %1, %6; addc.u32 %2, %2, 0;"
		: "+&r"(r1), "+&r"(r2), "+&r"(r3)
		: "r"((u32)cross), "r"((u32)(cross >> 32)), "r"((u32)other), "r"((u32)(other >> 32)));
#else
	unsigned __int128 v = (unsigned __int128)a * b;
	r0 = (u32)v, r1 = (u32)(v >> 32), r2 = (u32)(v >> 64), r3 = (u32)(v >> 96);
#endif
	return {{(r0 & LIMB_MASK) - (r3 & LIMB_MASK), ((r1 << 8 | r0 >> 24) & LIMB_MASK) - (r3 >> 24), (r2 << 16 | r1 >> 16) & LIMB_MASK, r2 >> 8}};
}

// Limb i of b 2^(24 r), 0 <= r < 8: moved up by r places, with another sign each time that it passes the top.
INLINE u32 limb(const Limbs &b, int i, int r) {
	int from = i - r + 8;
	u32 v = b.l[from & 3];
	return (from >> 2 & 1) ? (u32)-v : v;
}

// b 2^e, 0 <= e < 192, for limbs below 2^30: within 24 bits a limb's upper part goes to the next, the results are below 2^24 + 2^(e mod 24 + 6) in size. e is meant to be known when compiling.
INLINE Limbs shift(const Limbs &b, int e) {
	int r = e / LIMB_BITS, s = e % LIMB_BITS;
	Limbs t = b;
	if (s) {
		u32 top[4];
		UNROLL
		for (int i = 0; i < 4; i++) top[i] = (u32)((int)b.l[i] >> (LIMB_BITS - s));
		UNROLL
		for (int i = 0; i < 4; i++) t.l[i] = (b.l[i] << s) - (top[i] << LIMB_BITS) + (i ? top[i - 1] : (u32)-top[3]);
	}
	return {{limb(t, 0, r), limb(t, 1, r), limb(t, 2, r), limb(t, 3, r)}};
}

// c + a b of signed a and b; of unsigned ones. Multiplication and addition are one instruction, in another pipe than most of the others.
INLINE u64 fma_signed(u32 a, int b, u64 c) {
#ifdef __CUDA_ARCH__
	u64 r;
	asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(r) : "r"(a), "r"(b), "l"(c));
	return r;
#else
	return c + (u64)((long long)(int)a * b);
#endif
}

INLINE u64 fma_unsigned(u32 a, u32 b, u64 c) {
#ifdef __CUDA_ARCH__
	u64 r;
	asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(r) : "r"(a), "r"(b), "l"(c));
	return r;
#else
	return c + (u64)a * b;
#endif
}

INLINE u64 multiply_wide(u32 a, u32 b) {
#ifdef __CUDA_ARCH__
	u64 r;
	asm("mul.wide.u32 %0, %1, %2;" : "=l"(r) : "r"(a), "r"(b));
	return r;
#else
	return (u64)a * b;
#endif
}

// Not for compilers to see: a multiplication by a known power of two would become shifts and additions.
OPAQUE_CONSTANT u32 MULTIPLIERS[6] = {0xffffffff, 1, 1 << 8, 1 << 16, 1 << 24, 0xffffff00};

// Limbs of at most 2^29 in size -> any. By 2^72 = 2^40 - 2^8 the value is s0 + 2^32 s1, where s0 = l0 + 2^24 l1 - 2^8 l3 is below 2^54 in size and s1 = 2^16 l2 + 2^8 l3 below 2^46. With
// s1 = 2^32 h + l that is t + 2^32 l for t = s0 + (2^32 - 1) h. Biases, whose sum is worth nothing, make h and t non-negative: 2^46 in s1 and -2^14 (2^32 - 1) in s0, for 2^78; 2^55 in s0 and
// -2^23 in s1. t is 2^32 - 1 too large as well, which is taken away unless there was a carry: that is worth as much.
#define BIAS_LOW ((1ULL << 55) - (1ULL << 14) * EPSILON + EPSILON)
#define BIAS_HIGH ((1ULL << 46) - (1ULL << 23))

INLINE u64 join(const Limbs &v) {
	u64 s0 = fma_signed(v.l[3], (int)MULTIPLIERS[5], fma_signed(v.l[1], (int)MULTIPLIERS[4], fma_signed(v.l[0], (int)MULTIPLIERS[1], BIAS_LOW)));
	u64 s1 = fma_signed(v.l[3], (int)MULTIPLIERS[2], fma_signed(v.l[2], (int)MULTIPLIERS[3], BIAS_HIGH));
	u64 t = fma_unsigned((u32)(s1 >> 32), MULTIPLIERS[0], s0);
#ifdef __CUDA_ARCH__
	UNPACK(lo, hi, t);
	u32 mask; // 2^32 - 1 without a carry
	asm("add.cc.u32 %1, %1, %3; addc.u32 %2, 0xffffffff, 0;\n\t"
		"sub.cc.u32 %0, %0, %2; subc.u32 %1, %1, 0;"
		: "+&r"(lo), "+&r"(hi), "=&r"(mask)
		: "r"((u32)s1));
	return PACK(lo, hi);
#else
	u64 r = t + (s1 << 32);
	return r < t ? r : r - EPSILON;
#endif
}

// Sums of three, one instruction on a card; compilers would rather make two instructions of all the sums that share a part.
#ifdef __CUDA_ARCH__
INLINE u32 add_add(u32 a, u32 b, u32 c) {
	asm("{\n\t.reg .u32 t;\n\tadd.u32 t, %0, %1; add.u32 %0, t, %2;\n\t}" : "+r"(a) : "r"(b), "r"(c));
	return a;
}
INLINE u32 add_sub(u32 a, u32 b, u32 c) {
	asm("{\n\t.reg .u32 t;\n\tadd.u32 t, %0, %1; sub.u32 %0, t, %2;\n\t}" : "+r"(a) : "r"(b), "r"(c));
	return a;
}
INLINE u32 sub_sub(u32 a, u32 b, u32 c) {
	asm("{\n\t.reg .u32 t;\n\tsub.u32 t, %0, %1; sub.u32 %0, t, %2;\n\t}" : "+r"(a) : "r"(b), "r"(c));
	return a;
}
#else
INLINE u32 add_add(u32 a, u32 b, u32 c) { return a + b + c; }
INLINE u32 add_sub(u32 a, u32 b, u32 c) { return a + b - c; }
INLINE u32 sub_sub(u32 a, u32 b, u32 c) { return a - b - c; }
#endif

// Discrete Fourier transform of 2^K values x[0], x[S], …: as four of a quarter each over every fourth value, and then ones of four. Output k is at x[S output<K>(k)]. Limbs grow 2^K-fold at most;
// those that are shifted in between are below 2^24 again.
template <int K> INLINE constexpr int output(int k) {
	if constexpr (K < 2)
		return k;
	else
		return 4 * output<K - 2>(k & ((1 << (K - 2)) - 1)) + (k >> (K - 2));
}

template <int K, bool INVERSE, int S = 1> INLINE void transform(Limbs *x) {
	if constexpr (K == 1) {
		UNROLL
		for (int i = 0; i < 4; i++) {
			u32 a = x[0].l[i], b = x[S].l[i];
			x[0].l[i] = a + b, x[S].l[i] = a - b;
		}
	} else if constexpr (K >= 2) {
		UNROLL
		for (int n = 0; n < 4; n++) transform<K - 2, INVERSE, 4 * S>(x + n * S);
		UNROLL
		for (int k = 0; k < 1 << (K - 2); k++) {
			Limbs *y = x + 4 * S * output<K - 2>(k);
			Limbs t[4];
			UNROLL
			for (int n = 0; n < 4; n++) {
				int e = n * k * (192 >> K);
				t[n] = shift(y[n * S], INVERSE && e ? 192 - e : e);
			}
			UNROLL
			for (int i = 0; i < 4; i++) {
				// ω_4 = 2^48: two places.
				u32 a = t[0].l[i], b = t[1].l[i], c = t[2].l[i], d = t[3].l[i], bi = limb(t[1], i, INVERSE ? 6 : 2), di = limb(t[3], i, INVERSE ? 6 : 2);
				u32 sum = a + c, difference = a - c;
				y[0].l[i] = add_add(sum, b, d);
				y[S].l[i] = add_sub(difference, bi, di);
				y[2 * S].l[i] = sub_sub(sum, b, d);
				y[3 * S].l[i] = add_sub(difference, di, bi);
			}
		}
	}
}
