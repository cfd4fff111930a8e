// Random combinations of columns, their values outside of the domain, and what goes into an opening (docs/protocol.md sections 5 and 7).
#include "field.cuh"

// Σ coefficient·column at a row.
INLINE Ext combination(const u64 *columns, const Ext *coefficients, u64 count, u64 row) {
	ExtSum s = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
	for (u64 i = 0; i < count; i++) accumulate(s, coefficients[i], ((const u64 *)columns[i])[row]);
	return reduce(s);
}

struct CombineParams {
	const u64 *columns; // the address of each
	const Ext *coefficients;
	u64 *out; // three columns
	u64 count, rows;
};

KERNEL(open_combine, CombineParams, 128, 4) {
	u64 row = thread_index();
	if (row >= p.rows) return;
	Ext v = combination(p.columns, p.coefficients, p.count, row);
	p.out[row] = v.c0, p.out[p.rows + row] = v.c1, p.out[2 * p.rows + row] = v.c2;
}

struct DeepParams {
	const u64 *columns;
	const Ext *coefficients;
	Ext *word;
	Tables tables;
	u64 count, log_size;
	u64 accumulate; // whether to add to the word or to begin it
	Ext z, claimed;
	u64 *failed; // set when z is a point of the domain
};

// Adds (Σ coefficient·f(x) - claimed)/(x - z) at the points x of the extension.
KERNEL(open_deep, DeepParams, 128, 4) {
	u64 i = thread_index();
	if (i >> p.log_size) return;
	Ext v = sub(combination(p.columns, p.coefficients, p.count, i), p.claimed);
	u64 x = mul(root(p.tables, (u32)(reverse_bits(i, (u32)p.log_size) << (32 - p.log_size))), 7);
	Ext d = sub(Ext{x, 0, 0}, p.z);
	if (is_zero(d)) *p.failed = 1;
	v = mul(v, inverse(d));
	p.word[i] = p.accumulate ? add(p.word[i], v) : v;
}

struct WeightsParams {
	Ext *out;
	Tables tables;
	u64 log_size;
	u64 shifted; // whether the domain is g·H in reversed order rather than H in natural order
	Ext z, factor;
	u64 *failed;
};

// factor·x/(z - x) at the points x of a domain: the weights of the barycentric formula (Berrut and Trefethen, SIAM Review 46(3), 2004) where the factor is
// (z^n - s^n)/(n s^n).
KERNEL(open_weights, WeightsParams, 128, 4) {
	u64 i = thread_index();
	if (i >> p.log_size) return;
	u64 e = p.shifted ? reverse_bits(i, (u32)p.log_size) : i;
	u64 x = root(p.tables, (u32)(e << (32 - p.log_size)));
	x = p.shifted ? mul(x, 7) : canonical(x);
	Ext d = sub(p.z, Ext{x, 0, 0});
	if (is_zero(d)) *p.failed = 1;
	p.out[i] = mul(scale(inverse(d), x), p.factor);
}

struct SumsParams {
	const u64 *columns;
	const Ext *weights;
	Ext *out; // a partial sum for each of the grid's parts and each column
	u64 count, rows;
};

#define SUMS_COLUMNS 4
#define SUMS_THREADS 256

// Σ weight·value of some columns over a part of the rows. A block takes SUMS_COLUMNS columns, so that weights are read once for all of them.
KERNEL(open_sums, SumsParams, SUMS_THREADS, 2) {
	ExtSum s[SUMS_COLUMNS];
	const u64 *columns[SUMS_COLUMNS];
	UNROLL
	for (int c = 0; c < SUMS_COLUMNS; c++) {
		u64 at = (u64)blockIdx.x * SUMS_COLUMNS + c;
		columns[c] = (const u64 *)p.columns[at < p.count ? at : p.count - 1];
		s[c] = ExtSum{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
	}
	u64 step = (u64)gridDim.y * SUMS_THREADS;
	for (u64 row = (u64)blockIdx.y * SUMS_THREADS + threadIdx.x; row < p.rows; row += step) {
		Ext w = p.weights[row];
		UNROLL
		for (int c = 0; c < SUMS_COLUMNS; c++) accumulate(s[c], w, columns[c][row]);
	}
	Ext *warps = (Ext *)shared_memory();
	UNROLL
	for (int c = 0; c < SUMS_COLUMNS; c++) {
		Ext v = reduce(s[c]);
		for (u32 mask = 16; mask; mask >>= 1) {
			Ext other = {shuffle_xor(v.c0, mask), shuffle_xor(v.c1, mask), shuffle_xor(v.c2, mask)};
			v = add(v, other);
		}
		if ((threadIdx.x & 31) == 0) warps[c * (SUMS_THREADS / 32) + threadIdx.x / 32] = v;
	}
	block_barrier();
	if (threadIdx.x < SUMS_COLUMNS && (u64)blockIdx.x * SUMS_COLUMNS + threadIdx.x < p.count) {
		Ext v = {0, 0, 0};
		for (int i = 0; i < SUMS_THREADS / 32; i++) v = add(v, warps[threadIdx.x * (SUMS_THREADS / 32) + i]);
		p.out[blockIdx.y * p.count + (u64)blockIdx.x * SUMS_COLUMNS + threadIdx.x] = v;
	}
}

struct PartsParams {
	const Ext *parts;
	Ext *out; // and the flag
	const u64 *flag;
	u64 count, parts_count;
};

KERNEL(open_parts, PartsParams, 128, 1) {
	u64 i = thread_index();
	if (i == p.count) p.out[i] = {*p.flag, 0, 0};
	if (i >= p.count) return;
	Ext v = {0, 0, 0};
	for (u64 k = 0; k < p.parts_count; k++) v = add(v, p.parts[k * p.count + i]);
	p.out[i] = v;
}

struct GatherParams {
	const u64 *columns;
	const u64 *rows;
	u64 *out; // row by row
	u64 count, width, row_stride;
};

KERNEL(open_gather, GatherParams, 128, 1) {
	u64 i = thread_index();
	if (i >= p.count * p.width) return;
	u64 row = i / p.width;
	p.out[i] = ((const u64 *)p.columns[i - row * p.width])[p.rows[row] * p.row_stride];
}

struct GatherDigestsParams {
	const u64 *nodes; // four words each
	const u64 *places;
	u64 *out;
	u64 count;
};

KERNEL(open_gather_digests, GatherDigestsParams, 128, 1) {
	u64 i = thread_index();
	if (i < 4 * p.count) p.out[i] = p.nodes[4 * p.places[i / 4] + i % 4];
}
