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

// any * any -> limbs in (-2^24, 2^24), by 2^96 = -1.
INLINE Limbs multiply_split(u64 a, u64 b) {
	Product v = multiply_full(a, b);
	return {{(v.r0 & LIMB_MASK) - (v.r3 & LIMB_MASK), ((v.r1 << 8 | v.r0 >> 24) & LIMB_MASK) - (v.r3 >> 24), (v.r2 << 16 | v.r1 >> 16) & LIMB_MASK, v.r2 >> 8}};
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

// c + a b of signed a and b (see multiply_add).
INLINE u64 multiply_add_signed(u32 a, u32 b, u64 c) {
#ifdef __CUDA_ARCH__
	u64 r;
	asm("{\n\t.reg .u32 lo, hi;\n\tmov.b64 {lo, hi}, %3; mad.lo.cc.s32 lo, %1, %2, lo; madc.hi.s32 hi, %1, %2, hi; mov.b64 %0, {lo, hi};\n\t}" : "=l"(r) : "r"(a), "r"(b), "l"(c));
	return r;
#else
	return c + (u64)((long long)(int)a * (int)b);
#endif
}

// Not for compilers to see: a multiplication by a known power of two would become shifts and additions.
OPAQUE_CONSTANT u32 MULTIPLIERS[6] = {0xffffffff, 1, 1 << 8, 1 << 16, 1 << 24, 0xffffff00};

// s0 + 2^32 s1 -> any, for signed s0 and s1 with biases. With s1 = 2^32 h + l that is t + 2^32 l for t = s0 + (2^32 - 1) h. The biases, besides being worth 2^32 - 1 together, make h and t
// non-negative; what they are worth too much is taken away unless there was a carry, which is worth as much.
INLINE u64 fold(u64 s0, u64 s1) {
	u64 t = multiply_add((u32)(s1 >> 32), MULTIPLIERS[0], s0);
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

// Limbs of at most 2^29 in size -> any. By 2^72 = 2^40 - 2^8, s0 = l0 + 2^24 l1 - 2^8 l3 is below 2^54 in size and s1 = 2^16 l2 + 2^8 l3 below 2^46. The biases: 2^46 in s1 for -2^14 (2^32 - 1)
// in s0, 2^55 in s0 for -2^23 in s1.
INLINE u64 join(const Limbs &v) {
	const u64 b0 = (1ULL << 55) - ((1ULL << 14) - 1) * EPSILON, b1 = (1ULL << 46) - (1ULL << 23);
	u64 s0 = multiply_add_signed(v.l[3], MULTIPLIERS[5], multiply_add_signed(v.l[1], MULTIPLIERS[4], multiply_add_signed(v.l[0], MULTIPLIERS[1], b0)));
	return fold(s0, multiply_add_signed(v.l[3], MULTIPLIERS[2], multiply_add_signed(v.l[2], MULTIPLIERS[3], b1)));
}

// A factor w: w 2^(24 i) for i < 4, each as lo mod 2^32 + 2^32 hi for signed halves, of value lo + 2^32 hi.
struct Factor {
	u64 half[4];
};

// Factor i of row k of a table that no one writes while the kernel runs: of each row of `width` factors the table has the first two words of all, then the others (kernels/tables.go).
INLINE Factor load_factor(const u64 *table, int width, int k, int i) {
	const u64 *at = table + 2 * (2 * k * width + i);
	Factor f;
	load_pair(at, f.half[0], f.half[1]);
	load_pair(at + 2 * width, f.half[2], f.half[3]);
	return f;
}

// Limbs of at most 2^29 - 2^5 in size, those of sums of 32 values, times a factor -> any. s0 and s1 are at most 4 (2^29 - 2^5) 2^31 = 2^62 - 2^38 in size, so that h is at most 2^30 - 2^6 + 1
// and t 2^63 - 2^39 + 2^32. The biases: 2^62 in s1 for -2^30 (2^32 - 1) in s0, 2^63 in s0 for -2^31 in s1; one more 2^32 in s1 keeps h from being negative for the latter.
INLINE u64 multiply_join(const Limbs &v, const Factor &f) {
	u64 s0 = (1ULL << 63) - (1ULL << 30) * EPSILON, s1 = (1ULL << 62) + (1ULL << 32) - (1ULL << 31);
	UNROLL
	for (int i = 0; i < 4; i++) {
		s0 = multiply_add_signed(v.l[i], (u32)f.half[i], s0);
		s1 = multiply_add_signed(v.l[i], (u32)(f.half[i] >> 32), s1);
	}
	return fold(s0, s1);
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
