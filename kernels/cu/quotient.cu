// Constraints on the quotient domain, folded and divided by Z (docs/protocol.md section 6).
#include "program.cuh"

struct Slab {
	u64 shift;     // the first point
	u64 inverse_z; // 1/Z, which is constant on a slab
	u64 z_over_n;
};

struct QuotientParams {
	ProgramParams program;
	Tables tables;
	const u64 *aux;
	u64 aux_column;
	const Slab *slabs;
	u64 *out; // three columns
	u64 log_height, log_slabs, constraints, groups;
	Ext per_row; // the table's sum over its height
};

// A point of a slab.
struct SlabPoint {
	const QuotientParams &p;
	u64 index, slab, exponent;

	INLINE_MEMBER u64 position(bool next) const {
		if (!next) return index;
		u64 n = (u64)1 << p.log_height;
		return (slab << p.log_height) + reverse_bits((exponent + 1) & (n - 1), (u32)p.log_height);
	}

	// ω^e for the table's ω.
	INLINE_MEMBER u64 omega(u32 e) const { return p.log_height ? root(p.tables, e << (32 - p.log_height)) : 1; }

	INLINE_MEMBER u64 selector(u32 op) const {
		const Slab &s = p.slabs[slab];
		u64 x = mul(s.shift, omega((u32)exponent));
		if (op == OP_TRANSITION) return sub(x, canonical(omega((u32)-1)));
		if (op == OP_LAST) x = mul(x, omega(1));
		return mul(inverse(sub(x, 1)), s.z_over_n); // the coset avoids the trace domain
	}

	INLINE_MEMBER Ext accumulator(u64 g, u64 at) const {
		const u64 *c = p.aux + 3 * g * p.aux_column + at;
		return {c[0], c[p.aux_column], c[2 * p.aux_column]};
	}

	INLINE_MEMBER Ext group(u64 g, const Ext &numerator, const Ext &denominator) const {
		Ext to = g + 1 < p.groups ? accumulator(g + 1, index) : add(accumulator(0, position(true)), p.per_row);
		Ext step = sub(to, accumulator(g, index));
		return mul(p.program.deltas[p.constraints + g], sub(mul(denominator, step), numerator));
	}
};

KERNEL(quotient_evaluate, QuotientParams, 128, 3) {
	Registers r = registers(p.program);
	u64 log = p.log_height + p.log_slabs;
	for (u64 i = thread_index(); i >> log == 0; i += (u64)gridDim.x * blockDim.x) {
		u64 slab = i >> p.log_height, within = i & (((u64)1 << p.log_height) - 1);
		SlabPoint point = {p, i, slab, reverse_bits(within, (u32)p.log_height)};
		Ext v = scale(interpret(p.program, r, point), p.slabs[slab].inverse_z);
		p.out[i] = v.c0, p.out[((u64)1 << log) + i] = v.c1, p.out[((u64)2 << log) + i] = v.c2;
	}
}
