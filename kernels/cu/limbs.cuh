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
	u64 low = (u64)a0 * b0;
	u64 cross = (u64)a0 * b1 + (low >> 32);
	u64 other = (u64)a1 * b0 + (u32)cross;
	u64 high = (u64)a1 * b1 + (cross >> 32) + (other >> 32);
	u32 r0 = (u32)low, r1 = (u32)other, r2 = (u32)high, r3 = (u32)(high >> 32);
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

// join: s0 + 2^32 s1 -> any, for signed s0 and s1 of at most 2^62 in size, both as their sum with a bias of the same value altogether. With s1 = 2^32 h + l that is
// t + 2^32 l where t = s0 + (2^32 - 1) h is below 2^63 in size; the bias makes t + 2^63 and h + 2^30 + 1 non-negative, and -2^31 in s1 takes the 2^63 away. After a
// carry at most 2^64 - 2^32 - 1 is left, to which 2^32 - 1 can be added.
OPAQUE_CONSTANT u32 MULTIPLIERS[6] = {0xffffffff, 1, 1 << 8, 1 << 16, 1 << 24, 0xffffff00};
#define BIAS_HIGH ((1ULL << 62) + (1ULL << 32) - (1ULL << 31))
#define BIAS_LOW ((1ULL << 63) - ((1ULL << 30) + 1) * EPSILON)

INLINE u64 join(u64 s0, u64 s1) {
	u64 t = fma_unsigned((u32)(s1 >> 32), MULTIPLIERS[0], s0);
	UNPACK(lo, hi, t);
#ifdef __CUDA_ARCH__
	u32 carry;
	asm("add.cc.u32 %1, %1, %3; addc.u32 %2, 0, 0;\n\t"
		"sub.cc.u32 %0, %0, %2; subc.u32 %1, %1, 0; add.u32 %1, %1, %2;"
		: "+&r"(lo), "+&r"(hi), "=&r"(carry)
		: "r"((u32)s1));
	return PACK(lo, hi);
#else
	u64 r = t + (s1 << 32);
	return r < t ? r + EPSILON : r;
#endif
}

// Limbs of at most 2^29 in size -> any.
INLINE u64 join(const Limbs &v) {
	u64 s0 = fma_signed(v.l[3], (int)MULTIPLIERS[5], fma_signed(v.l[1], (int)MULTIPLIERS[4], fma_signed(v.l[0], (int)MULTIPLIERS[1], BIAS_LOW)));
	u64 s1 = fma_signed(v.l[3], (int)MULTIPLIERS[2], fma_signed(v.l[2], (int)MULTIPLIERS[3], BIAS_HIGH));
	return join(s0, s1);
}

// w 2^(24 i) for i < 4, each as a low and a high signed half: 2^32 hi + lo (kernels/tables.go).
struct alignas(16) Factor {
	u64 half[4];
};

// A factor that no one writes while the kernel runs.
INLINE Factor load_factor(const Factor *at) {
	Factor f;
	load_pair(at->half, f.half[0], f.half[1]);
	load_pair(at->half + 2, f.half[2], f.half[3]);
	return f;
}

// Limbs of at most 2^29 in size, times a factor -> any.
INLINE u64 multiply_join(const Limbs &v, const Factor &f) {
	u64 s0 = BIAS_LOW, s1 = BIAS_HIGH;
	UNROLL
	for (int i = 0; i < 4; i++) {
		s0 = fma_signed(v.l[i], (int)(u32)f.half[i], s0);
		s1 = fma_signed(v.l[i], (int)(u32)(f.half[i] >> 32), s1);
	}
	return join(s0, s1);
}

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
				y[0].l[i] = sum + b + d;
				y[S].l[i] = difference + bi - di;
				y[2 * S].l[i] = sum - b - d;
				y[3 * S].l[i] = difference - bi + di;
			}
		}
	}
}
