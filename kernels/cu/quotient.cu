// Quotients: all constraints folded and divided by Z on the first slabs of the extensions (docs/protocol.md section 6).
#include "air.cuh"

// The point x at position i of an extension of 2^log points, canonical.
INLINE u64 point(const Tables &t, u64 i, u64 log) { return mul(root(t, (u32)(reverse_bits(i, (u32)log) << (32 - log))), 7); }

struct FirstParams {
	u64 *out;
	const u64 *factors; // Z/n on each slab
	Tables tables;
	u64 count, log_height, log_size;
};

#define FIRST_BATCH 8

// The selector of the first row, Z/(n(x - 1)). That of the last row is the same in the next row. The coset has no root of unity, so nothing is zero.
KERNEL(quotient_first, FirstParams, AIR_THREADS, 4) {
	u64 start = (u64)blockIdx.x * (AIR_THREADS * FIRST_BATCH) + threadIdx.x, d[FIRST_BATCH], prefix[FIRST_BATCH], product = 1;
	UNROLL
	for (int k = 0; k < FIRST_BATCH; k++) {
		u64 i = start + k * AIR_THREADS;
		d[k] = i < p.count ? sub(point(p.tables, i, p.log_size), 1) : 1;
		prefix[k] = product;
		product = mul_lazy(product, d[k]);
	}
	product = inverse(product);
	UNROLL
	for (int k = FIRST_BATCH - 1; k >= 0; k--) {
		u64 i = start + k * AIR_THREADS;
		if (i < p.count) p.out[i] = mul(mul_lazy(product, prefix[k]), p.factors[i >> p.log_height]);
		product = mul_lazy(product, d[k]);
	}
}

struct QuotientParams {
	Program program;
	const u64 *aux; // accumulators' extensions
	u64 *out;       // three columns of count values
	const u64 *inverses; // 1/Z on each slab
	u64 count, log_size, groups;
	Ext per_row;
};

template <bool SHARED> INLINE void quotient(const QuotientParams &p) {
	u32 log_height = (u32)p.program.log_height;
	u64 n = (u64)1 << log_height, size = (u64)1 << p.log_size;
	Registers<SHARED> registers(p.program);
	for (u64 i = thread_index(); i < p.count; i += (u64)gridDim.x * AIR_THREADS) {
		u64 next = (i & ~(n - 1)) + reverse_bits((reverse_bits(i & (n - 1), log_height) + 1) & (n - 1), log_height);
		if (p.program.transition != NO_REGISTER) {
			u64 back = root(p.program.tables, (u32)((n - 1) << (32 - log_height)));
			registers.set(p.program.transition, sub(point(p.program.tables, i, p.log_size), canonical(back)));
		}
		auto accumulator = [&](u64 g, u64 at) -> Ext {
			const u64 *from = p.aux + 3 * g * size + at;
			return {from[0], from[size], from[2 * size]};
		};
		Ext v = interpret<SHARED>(p.program, registers, i, next, [&](u64 b, const Ext &numerator, const Ext &denominator, Ext &folded) {
			u64 g = b & 0xffffffff;
			Ext to = g + 1 < p.groups ? accumulator(g + 1, i) : add(accumulator(0, next), p.per_row);
			Ext c = sub(mul(denominator, sub(to, accumulator(g, i))), numerator);
			folded = add(folded, mul(p.program.table[b >> 32], c));
		});
		v = scale(v, p.inverses[i >> log_height]);
		p.out[i] = v.c0, p.out[p.count + i] = v.c1, p.out[2 * p.count + i] = v.c2;
	}
}

KERNEL(quotient_shared, QuotientParams, AIR_THREADS, 4) { quotient<true>(p); }
KERNEL(quotient_scratch, QuotientParams, AIR_THREADS, 4) { quotient<false>(p); }
