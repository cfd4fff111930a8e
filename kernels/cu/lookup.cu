// Auxiliary traces: the fractions of lookup groups and their running sums (docs/protocol.md section 2).
#include "program.cuh"

struct FractionsParams {
	ProgramParams program;
	Tables tables;
	u64 *out; // three columns a group
	u64 log_height;
	u64 *failed; // set when a denominator is zero
};

// A row of a trace.
struct TraceRow {
	const FractionsParams &p;
	u64 exponent, slab;

	INLINE_MEMBER u64 position(bool next) const { return (exponent + next) & (((u64)1 << p.log_height) - 1); }

	INLINE_MEMBER u64 selector(u32 op) const {
		if (op == OP_FIRST) return exponent == 0;
		if (op == OP_LAST) return exponent + 1 == (u64)1 << p.log_height;
		u32 shift = 32 - (u32)p.log_height;
		// ω^row - ω^-1; a table of one row has ω = 1.
		u32 e = p.log_height ? (u32)exponent << shift : 0, back = p.log_height ? -(1u << shift) : 0;
		return sub(canonical(root(p.tables, e)), canonical(root(p.tables, back)));
	}

	INLINE_MEMBER Ext group(u64 g, const Ext &numerator, const Ext &denominator) const {
		if (is_zero(denominator)) *p.failed = 1;
		Ext v = mul(numerator, inverse(denominator));
		u64 *out = p.out + (3 * g << p.log_height) + exponent, n = (u64)1 << p.log_height;
		out[0] = v.c0, out[n] = v.c1, out[2 * n] = v.c2;
		return Ext{0, 0, 0};
	}
};

KERNEL(lookup_fractions, FractionsParams, 128, 4) {
	Registers r = registers(p.program);
	for (u64 i = thread_index(); i >> p.log_height == 0; i += (u64)gridDim.x * blockDim.x) {
		TraceRow row = {p, i, 0};
		interpret(p.program, r, row);
	}
}

struct AccumulateParams {
	u64 *columns; // three a group: fractions, which accumulators replace
	Ext *totals;  // of each block's rows; then of the rows before them
	Ext *sum;     // of everything
	u64 groups, rows, blocks;
	Ext per_row; // taken off after each row
};

#define ACCUMULATE_THREADS 256

INLINE Ext load(const AccumulateParams &p, u64 group, u64 row) {
	const u64 *c = p.columns + 3 * group * p.rows + row;
	return {c[0], c[p.rows], c[2 * p.rows]};
}

INLINE Ext row_sum(const AccumulateParams &p, u64 row) {
	Ext s = {0, 0, 0};
	if (row < p.rows)
		for (u64 g = 0; g < p.groups; g++) s = add(s, load(p, g, row));
	return s;
}

// The sum of the block's values before this thread's, and of all in *total (Hillis and Steele, Communications of the ACM 29(12), 1986).
INLINE Ext exclusive_scan(Ext v, Ext *total) {
	Ext *sm = (Ext *)shared_memory();
	u32 t = threadIdx.x;
	Ext own = v;
	for (u32 step = 1; step < ACCUMULATE_THREADS; step *= 2) {
		sm[t] = v;
		block_barrier();
		if (t >= step) v = add(v, sm[t - step]);
		block_barrier();
	}
	sm[t] = v;
	block_barrier();
	*total = sm[ACCUMULATE_THREADS - 1];
	return sub(v, own);
}

KERNEL(lookup_totals, AccumulateParams, ACCUMULATE_THREADS, 2) {
	Ext total;
	exclusive_scan(row_sum(p, thread_index()), &total);
	if (threadIdx.x == 0) p.totals[blockIdx.x] = total;
}

// One block: each thread adds up a run of totals, and then replaces them by the sums before them.
KERNEL(lookup_scan, AccumulateParams, ACCUMULATE_THREADS, 1) {
	u64 run = (p.blocks + ACCUMULATE_THREADS - 1) / ACCUMULATE_THREADS, first = threadIdx.x * run;
	Ext s = {0, 0, 0}, total;
	for (u64 i = first; i < first + run && i < p.blocks; i++) s = add(s, p.totals[i]);
	s = exclusive_scan(s, &total);
	for (u64 i = first; i < first + run && i < p.blocks; i++) {
		Ext v = p.totals[i];
		p.totals[i] = s;
		s = add(s, v);
	}
	if (threadIdx.x == 0) *p.sum = total;
}

KERNEL(lookup_accumulate, AccumulateParams, ACCUMULATE_THREADS, 2) {
	u64 row = thread_index();
	Ext total, acc = exclusive_scan(row_sum(p, row), &total);
	if (row >= p.rows) return;
	acc = sub(add(acc, p.totals[blockIdx.x]), scale(p.per_row, row));
	for (u64 g = 0; g < p.groups; g++) {
		Ext v = load(p, g, row);
		u64 *c = p.columns + 3 * g * p.rows + row;
		c[0] = acc.c0, c[p.rows] = acc.c1, c[2 * p.rows] = acc.c2;
		acc = add(acc, v);
	}
}
