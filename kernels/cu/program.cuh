// The interpreter of lowered constraint programs (kernels/program).
#pragma once
#include "field.cuh"

// Operations, numbered as in formats.Op and kernels/program.
enum : u32 { OP_CONST, OP_MAIN, OP_FIXED, OP_PERIODIC, OP_FIRST, OP_LAST, OP_TRANSITION, OP_ADD, OP_SUB, OP_MUL, OP_FOLD, OP_MESSAGE, OP_ARG, OP_BEGIN, OP_JOIN, OP_GROUP };

struct ProgramParams {
	const u64 *code; // two words an instruction
	u64 instructions;
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

// Runs a program on a row. Row has position(next), exponent(next), slab, selector(op) and group(g, numerator, denominator). The result is Σ delta·constraint.
template <class Row> INLINE Ext interpret(const ProgramParams &p, const Registers &r, Row &row) {
	Ext folded = {0, 0, 0}, message = folded, numerator = folded, denominator = folded;
	const u64 here = row.position(false), next = row.position(true);
	for (u64 i = 0; i < p.instructions; i++) {
		u64 w = p.code[2 * i], b = p.code[2 * i + 1], v;
		u32 op = (u32)w & 255, a = (u32)(w >> 32);
		switch (op) {
		case OP_CONST: v = b; break;
		case OP_MAIN: v = p.main[a * p.main_column + (b ? next : here)]; break;
		case OP_FIXED: v = p.fixed[a * p.fixed_column + (b ? next : here)]; break;
		case OP_PERIODIC: v = p.periodic[row.slab * p.periodic_slab + p.periodic_places[2 * a] + ((row.exponent + b) & (p.periodic_places[2 * a + 1] - 1))]; break;
		case OP_FIRST:
		case OP_LAST:
		case OP_TRANSITION: v = row.selector(op); break;
		case OP_ADD: v = add(r.at[a * r.stride], r.at[b * r.stride]); break;
		case OP_SUB: v = sub(r.at[a * r.stride], r.at[b * r.stride]); break;
		case OP_MUL: v = mul(r.at[a * r.stride], r.at[b * r.stride]); break;
		case OP_FOLD: folded = add(folded, scale(p.deltas[b], r.at[a * r.stride])); continue;
		case OP_MESSAGE: message = p.bases[b]; continue;
		case OP_ARG: message = add(message, scale(p.powers[b], r.at[a * r.stride])); continue;
		case OP_BEGIN:
			numerator = signed_sum(Ext{0, 0, 0}, Ext{r.at[a * r.stride], 0, 0}, b);
			denominator = message;
			continue;
		case OP_JOIN:
			numerator = signed_sum(mul(numerator, message), scale(denominator, r.at[a * r.stride]), b);
			denominator = mul(denominator, message);
			continue;
		default: folded = add(folded, row.group(b, numerator, denominator)); continue;
		}
		r.at[((u32)w >> 8) * r.stride] = v;
	}
	return folded;
}
