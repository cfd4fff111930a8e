// The interpreter of lowered circuits (kernels/program.go encodes them): a thread evaluates a point. All threads run the same instruction at a time, so fetching and
// branching on it costs a warp no divergence, and neighbouring threads read neighbouring values of a column.
#pragma once
#include "field.cuh"

#define AIR_THREADS 128

// Operands are an address, or a register's number times 8, with one of these in the low three bits.
enum Place {
	IN_REGISTER,
	IN_ROW,      // at this row of the column with this address
	IN_NEXT_ROW, // at the next
	IN_CONSTANT,
	IN_RESULT, // what the last instruction with a result computed
};

enum Operation {
	OP_ADD,
	OP_SUB,
	OP_MUL,
	OP_PERIODIC, // the value at (row >> b & 63) & (b >> 8) of the table a, or of the next row
	OP_TERM,     // sum += table[b]·a
	OP_FOLD,     // folded += sum
	OP_MESSAGE,  // sum = table[b]
	OP_FRACTION, // a fraction joins its group: numerator ±a over sum; bit 0 of b: it is the first, bit 1: it is added
	OP_GROUP,    // the group of number b mod 2^32 is complete; the rest of b is for whom it concerns
	OP_END,
};

#define NO_REGISTER 0xffffffffULL

INLINE u64 min_of(u64 a, u64 b) { return a < b ? a : b; }

struct Instruction {
	u64 op; // and 256 times the register of the result
	u64 a, b;
};

struct Program {
	const Instruction *code; // ends with OP_END twice: one instruction is fetched ahead
	const Ext *table;
	u64 *scratch; // a register's values for all threads of the grid, one register after the other; unused where registers are in shared memory
	Tables tables;
	u64 log_height;
	u64 first, last, transition; // registers of the selectors, or NO_REGISTER
};

// A thread's registers. Those of neighbouring threads are next to each other.
template <bool SHARED> struct Registers {
	u64 *at;
	u64 pitch;
	INLINE_MEMBER Registers(const Program &p) {
		if constexpr (!SHARED) {
			at = p.scratch + thread_index();
			pitch = (u64)gridDim.x * AIR_THREADS;
		}
	}
	INLINE_MEMBER u64 get(u64 r) const {
		if constexpr (SHARED)
			return ((volatile u64 *)shared_memory())[r * AIR_THREADS + threadIdx.x]; // volatile keeps the compiler from sharing one generic load with columns
		else
			return at[r * pitch];
	}
	INLINE_MEMBER void set(u64 r, u64 v) {
		if constexpr (SHARED)
			shared_memory()[r * AIR_THREADS + threadIdx.x] = v;
		else
			at[r * pitch] = v;
	}
};

// Runs the program at a point. group(b, numerator, denominator, folded) is called for each group of lookups and may add to folded, the result.
template <bool SHARED, class GROUP> INLINE Ext interpret(const Program &p, Registers<SHARED> &registers, u64 row, u64 next_row, const GROUP &group) {
	u64 result = 0;
	ExtSum sum = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
	Ext folded = {0, 0, 0}, numerator = {0, 0, 0}, denominator = {0, 0, 0};
	auto operand = [&](u64 w) -> u64 {
		u32 place = (u32)w & 7;
		if (place == IN_RESULT) return result;
		if (place == IN_REGISTER) return registers.get(w >> 3);
		return ((const u64 *)(w & ~(u64)7))[place == IN_ROW ? row : place == IN_NEXT_ROW ? next_row : 0];
	};
	const Instruction *code = p.code;
	for (Instruction ins = *code;;) {
		Instruction ahead = *++code;
		u32 op = (u32)ins.op & 255;
		if (op == OP_END) return folded;
		if (op <= OP_PERIODIC) {
			if (op == OP_PERIODIC) {
				u64 at = ((u32)ins.a & 7) == IN_ROW ? row : next_row;
				result = ((const u64 *)(ins.a & ~(u64)7))[(at >> (ins.b & 63)) & (ins.b >> 8)];
			} else {
				u64 a = operand(ins.a), b = operand(ins.b);
				result = op == OP_MUL ? mul(a, b) : op == OP_ADD ? add(a, b) : sub(a, b);
			}
			u64 to = ins.op >> 8;
			if (to != NO_REGISTER) registers.set(to, result);
		} else if (op == OP_TERM) {
			accumulate(sum, p.table[ins.b], operand(ins.a));
		} else if (op == OP_FOLD) {
			folded = add(folded, reduce(sum));
		} else if (op == OP_MESSAGE) {
			Ext base = p.table[ins.b];
			sum = ExtSum{{base.c0, 0, 0}, {base.c1, 0, 0}, {base.c2, 0, 0}};
		} else if (op == OP_FRACTION) {
			Ext message = reduce(sum), term = {operand(ins.a), 0, 0}, rest = {0, 0, 0};
			if (ins.b & 1) {
				denominator = message;
			} else {
				term = scale(denominator, term.c0);
				rest = mul(numerator, message);
				denominator = mul(denominator, message);
			}
			numerator = ins.b & 2 ? add(rest, term) : sub(rest, term);
		} else {
			group(ins.b, numerator, denominator, folded);
		}
		ins = ahead;
	}
}
