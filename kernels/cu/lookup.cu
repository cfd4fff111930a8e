// Auxiliary traces: the fractions of lookups on every row, and their running sums (docs/protocol.md section 2).
#include "air.cuh"

struct FractionsParams {
	Program program;
	u64 *numerators;   // three columns a group, of all rows
	u64 *denominators; // the same, of the rows from first to first + count - 1
	u64 first, count;
};

template <bool SHARED> INLINE void fractions(const FractionsParams &p) {
	u64 n = (u64)1 << p.program.log_height;
	Registers<SHARED> registers(p.program);
	for (u64 i = thread_index(); i < p.count; i += (u64)gridDim.x * AIR_THREADS) {
		u64 row = p.first + i;
		if (p.program.first != NO_REGISTER) registers.set(p.program.first, row == 0);
		if (p.program.last != NO_REGISTER) registers.set(p.program.last, row == n - 1);
		if (p.program.transition != NO_REGISTER) {
			u32 shift = 32 - (u32)p.program.log_height;
			u64 x = root(p.program.tables, (u32)(row << shift)), back = root(p.program.tables, (u32)((n - 1) << shift));
			registers.set(p.program.transition, sub(canonical(x), canonical(back)));
		}
		interpret<SHARED>(p.program, registers, row, (row + 1) & (n - 1), [&](u64 b, const Ext &numerator, const Ext &denominator, Ext &) {
			u64 g = 3 * (b & 0xffffffff);
			u64 *to = p.numerators + g * n + row;
			to[0] = numerator.c0, to[n] = numerator.c1, to[2 * n] = numerator.c2;
			to = p.denominators + g * p.count + i;
			to[0] = denominator.c0, to[p.count] = denominator.c1, to[2 * p.count] = denominator.c2;
		});
	}
}

KERNEL(lookup_fractions_shared, FractionsParams, AIR_THREADS, 4) { fractions<true>(p); }
KERNEL(lookup_fractions_scratch, FractionsParams, AIR_THREADS, 4) { fractions<false>(p); }

#define LOOKUP_TILE 1024 // rows of a block of the kernels below

// Adds up a value over a block of at most 1,024 threads, whole warps; all threads get the sum. warps is shared memory for 32 values, free again after the next barrier.
INLINE Ext block_sum(Ext v, Ext *warps) {
	for (u32 mask = 16; mask; mask >>= 1) {
		Ext other = {shuffle_xor(v.c0, mask), shuffle_xor(v.c1, mask), shuffle_xor(v.c2, mask)};
		v = add(v, other);
	}
	if ((threadIdx.x & 31) == 0) warps[threadIdx.x / 32] = v;
	block_barrier();
	v = warps[0];
	for (u32 w = 1; w < blockDim.x / 32; w++) v = add(v, warps[w]);
	return v;
}

struct DivideParams {
	u64 *values;             // numerators, replaced by the fractions
	const u64 *denominators; // as of FractionsParams
	Ext *totals;             // the sum of each tile's fractions
	u64 rows, first, count, groups;
	u64 *failed; // set when a denominator is zero
};

#define DIVIDE_THREADS 128
#define DIVIDE_BATCH 8

// Divides. A thread inverts the product of DIVIDE_BATCH denominators at a time (Montgomery's trick), its prefixes in shared memory.
KERNEL(lookup_divide, DivideParams, DIVIDE_THREADS, 4) {
	Ext *prefixes = (Ext *)shared_memory() + threadIdx.x;
	u64 start = (u64)blockIdx.x * LOOKUP_TILE + threadIdx.x;
	u64 mine = start < p.count ? (min_of(p.count - start, LOOKUP_TILE) + DIVIDE_THREADS - 1) / DIVIDE_THREADS : 0; // rows of this thread
	u64 elements = mine * p.groups;
	Ext total = {0, 0, 0};
	auto denominator = [&](u64 row, u64 g) -> Ext {
		const u64 *from = p.denominators + 3 * g * p.count + row;
		return {from[0], from[p.count], from[2 * p.count]};
	};
	// Element e is group e / mine of row e mod mine.
	u64 g = 0, j = 0;
	for (u64 e = 0; e < elements; e += DIVIDE_BATCH) {
		int size = (int)min_of(elements - e, DIVIDE_BATCH);
		Ext product = {1, 0, 0};
		for (int k = 0; k < size; k++) {
			prefixes[k * DIVIDE_THREADS] = product;
			Ext d = denominator(start + j * DIVIDE_THREADS, g);
			product = k == 0 ? d : mul(product, d);
			if (++j == mine) j = 0, g++;
		}
		if (is_zero(product)) *p.failed = 1;
		product = inverse(product);
		u64 back_g = g, back_j = j;
		for (int k = size - 1; k >= 0; k--) {
			if (back_j-- == 0) back_j = mine - 1, back_g--;
			u64 row = start + back_j * DIVIDE_THREADS;
			u64 *at = p.values + 3 * back_g * p.rows + p.first + row;
			Ext v = {at[0], at[p.rows], at[2 * p.rows]};
			v = mul(v, mul(product, prefixes[k * DIVIDE_THREADS]));
			product = mul(product, denominator(row, back_g));
			at[0] = v.c0, at[p.rows] = v.c1, at[2 * p.rows] = v.c2;
			total = add(total, v);
		}
	}
	block_barrier();
	total = block_sum(total, (Ext *)shared_memory());
	if (threadIdx.x == 0) p.totals[p.first / LOOKUP_TILE + blockIdx.x] = total;
}

struct StartsParams {
	Ext *totals; // of tiles, replaced by the accumulator at their first rows; then the sum of all and the sum a row
	u64 count, inverse_rows;
};

#define STARTS_THREADS 256

// Scans the tiles, in one block.
KERNEL(lookup_starts, StartsParams, STARTS_THREADS, 1) {
	Ext *parts = (Ext *)shared_memory();
	u64 each = (p.count + STARTS_THREADS - 1) / STARTS_THREADS, from = threadIdx.x * each, to = min_of(from + each, p.count);
	Ext sum = {0, 0, 0};
	for (u64 i = from; i < to; i++) sum = add(sum, p.totals[i]);
	parts[threadIdx.x] = sum;
	block_barrier();
	Ext before = {0, 0, 0};
	sum = before;
	for (u32 t = 0; t < STARTS_THREADS; t++) {
		if (t == threadIdx.x) before = sum;
		sum = add(sum, parts[t]);
	}
	Ext per_row = scale(sum, p.inverse_rows);
	for (u64 i = from; i < to; i++) {
		Ext total = p.totals[i];
		p.totals[i] = sub(before, scale(per_row, i * LOOKUP_TILE));
		before = add(before, total);
	}
	if (threadIdx.x == 0) p.totals[p.count] = sum, p.totals[p.count + 1] = per_row;
}

struct AccumulateParams {
	u64 *values; // fractions, replaced by accumulators
	const Ext *starts;
	const Ext *per_row;
	u64 rows, groups;
};

#define ACCUMULATE_THREADS 256

KERNEL(lookup_accumulate, AccumulateParams, ACCUMULATE_THREADS, 2) {
	Ext *warps = (Ext *)shared_memory();
	Ext start = p.starts[blockIdx.x], per_row = *p.per_row;
	u64 base = (u64)blockIdx.x * LOOKUP_TILE;
	for (u32 part = 0; part < LOOKUP_TILE && base + part < p.rows; part += ACCUMULATE_THREADS) {
		u64 row = base + part + threadIdx.x;
		bool active = row < p.rows;
		Ext total = {0, 0, 0}, before = total;
		if (active) {
			for (u64 g = 0; g < p.groups; g++) {
				const u64 *at = p.values + 3 * g * p.rows + row;
				total = add(total, Ext{at[0], at[p.rows], at[2 * p.rows]});
			}
			total = sub(total, per_row);
		}
		// The sum of what the lanes below have: at each step a lane learns the sum of the other half of its part of the warp.
		for (u32 half = 1; half < 32; half <<= 1) {
			Ext other = {shuffle_xor(total.c0, half), shuffle_xor(total.c1, half), shuffle_xor(total.c2, half)};
			if (threadIdx.x & half) before = add(before, other);
			total = add(total, other);
		}
		if ((threadIdx.x & 31) == 0) warps[threadIdx.x / 32] = total;
		block_barrier();
		before = add(before, start);
		for (u32 w = 0; w < ACCUMULATE_THREADS / 32; w++) {
			Ext sum = warps[w];
			if (w < threadIdx.x / 32) before = add(before, sum);
			start = add(start, sum);
		}
		block_barrier();
		if (!active) continue;
		for (u64 g = 0; g < p.groups; g++) {
			u64 *at = p.values + 3 * g * p.rows + row;
			Ext v = {at[0], at[p.rows], at[2 * p.rows]};
			at[0] = before.c0, at[p.rows] = before.c1, at[2 * p.rows] = before.c2;
			before = add(before, v);
		}
	}
}
