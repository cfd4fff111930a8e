// The interpreter of lowered constraint programs (kernels/program).
#pragma once
#include "field.cuh"

// Operations and kinds of operands, numbered as in kernels/program.
enum : u32 { OP_FIRST, OP_LAST, OP_TRANSITION, OP_ADD, OP_SUB, OP_MUL, OP_FOLD, OP_MESSAGE, OP_ARG, OP_BEGIN, OP_JOIN, OP_GROUP };
enum : u32 { REGISTER, CONSTANT_VALUE, MAIN, FIXED, PERIODIC };

struct ProgramParams {
	const u64 *code; // two words an instruction
	u64 instructions;
	const u64 *constants;
	u64 *scratch; // registers of all threads, or none: then they are in shared memory
	const Ext *deltas, *bases, *powers;
	const u64 *main, *fixed;       // columns
	u64 main_column, fixed_column; // from one column to the next
	const u64 *periodic;           // values of all periodic columns, slab after slab
	const u64 *periodic_places;    // for each: where its values begin within a slab's, and its period
	u64 periodic_slab;             // values a slab
};

// Registers are interleaved by threads, so that a warp's accesses lie together.
struct Registers {
	u64 *at;
	u64 stride;
};

INLINE Registers registers(const ProgramParams &p) {
	if (p.scratch) return {p.scratch + thread_index(), (u64)gridDim.x * blockDim.x};
	return {shared_memory() + threadIdx.x, blockDim.x};
}

INLINE Ext signed_sum(const Ext &sum, const Ext &term, u64 push) { return push ? add(sum, term) : sub(sum, term); }

// The value of an operand: kind in bits 28 to 30, bit 31 for the next row.
template <class Row> INLINE u64 value(const ProgramParams &p, const Registers &r, const Row &row, u32 o, u64 here, u64 next) {
	u64 index = o & 0x0fffffff;
	bool ahead = o >> 31;
	switch (o >> 28 & 7) {
	case REGISTER: return r.at[index * r.stride];
	case CONSTANT_VALUE: return p.constants[index];
	case MAIN: return p.main[index * p.main_column + (ahead ? next : here)];
	case FIXED: return p.fixed[index * p.fixed_column + (ahead ? next : here)];
	default: {
		const u64 *place = p.periodic_places + 2 * index;
		return p.periodic[row.slab * p.periodic_slab + place[0] + ((row.exponent + ahead) & (place[1] - 1))];
	}
	}
}

// Runs a program on a row. Row has position(next), exponent, slab, selector(op) and group(g, numerator, denominator), which gives what a group adds to the result. The
// result is Σ delta·constraint.
template <class Row> INLINE Ext interpret(const ProgramParams &p, const Registers &r, const Row &row) {
	Ext folded = {0, 0, 0}, message = folded, numerator = folded, denominator = folded;
	const u64 here = row.position(false), next = row.position(true);
	// The next instruction is read while this one runs.
	u64 next_w = p.code[0], next_b = p.code[1];
	for (u64 i = 0; i < p.instructions; i++) {
		u64 w = next_w, b = next_b, v = 0, second = 0;
		u64 ahead = i + 1 < p.instructions ? i + 1 : i;
		next_w = p.code[2 * ahead], next_b = p.code[2 * ahead + 1];
		u32 op = (u32)w & 255;
		if (op != OP_MESSAGE && op != OP_GROUP && op > OP_TRANSITION) v = value(p, r, row, (u32)(w >> 32), here, next);
		if (op >= OP_ADD && op <= OP_MUL) second = value(p, r, row, (u32)b, here, next);
		switch (op) {
		case OP_FIRST:
		case OP_LAST:
		case OP_TRANSITION: v = row.selector(op); break;
		case OP_ADD: v = add(v, second); break;
		case OP_SUB: v = sub(v, second); break;
		case OP_MUL: v = mul(v, second); break;
		case OP_FOLD: folded = add(folded, scale(p.deltas[b], v)); continue;
		case OP_MESSAGE: message = p.bases[b]; continue;
		case OP_ARG: message = add(message, scale(p.powers[b], v)); continue;
		case OP_BEGIN:
			numerator = signed_sum(Ext{0, 0, 0}, Ext{v, 0, 0}, b);
			denominator = message;
			continue;
		case OP_JOIN:
			numerator = signed_sum(mul(numerator, message), scale(denominator, v), b);
			denominator = mul(denominator, message);
			continue;
		default: folded = add(folded, row.group(b, numerator, denominator)); continue;
		}
		r.at[((u32)w >> 8) * r.stride] = v;
	}
	return folded;
}
