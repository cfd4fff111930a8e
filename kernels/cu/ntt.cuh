// Number-theoretic transforms of many columns, in passes over memory (Bailey's four-step method; kernels/ntt.go says which passes make up which transform).
//
// A pass transforms 2^K values in rounds of 2^R1, 2^R2 and, where R3 is not 0, 2^R3 = 2^R2. The threads of a transform hold 2^R1 values each, as limbs in registers, and exchange them through
// shared memory between the rounds. Rounds only shift and add (limbs.cuh); the factors of a pass multiply values on their way to limbs, those between rounds limbs on their way to values.
// Rounds are small so that the code of a pass stays in a multiprocessor's cache. A block of 2^LOG_T threads works on W transforms at a time: neighbouring columns of the stride for a column
// pass, so that memory is read and written in segments of 8 W bytes, or W rows for a row pass. It does the same transforms of several matrix columns, one after the other, whose factors are
// the same and stay in shared memory.
//
// A value's index is n1 2^(R2+R3) + n2 2^R3 + n3 before, and k1 + 2^R1 k2 + 2^(R1+R2) k3 after a pass.
//
// Memory between passes holds any representatives, what leaves the last pass is canonical.
#pragma once
#include "limbs.cuh"

struct PassParams {
	const u64 *in;
	u64 *out;            // the same, or apart
	const u64 *first;    // factors between rounds 1 and 2: rows k1 of ω_(2^K)^(k1 i) for i < 2^(R2+R3), or of the inverses
	const u64 *second;   // factors between rounds 2 and 3: rows k2 of ω_(2^(R2+R3))^(k2 n3) for n3 < 2^R3
	Tables tables;
	u64 columns, each;         // of the matrix; blockIdx.y takes so many
	u64 in_column, out_column; // from one column to the next
	u64 cosets;                // for each of which blockIdx.x has the transforms of a column
	u64 out_coset;             // from one coset's output to the next; all have the same input
	u64 log_rows;              // row passes: of the rows of a column
	u64 log_stride;            // column passes: of the stride between the values of a transform
	u64 log_mid, log_low;      // last pass of a natural inverse: row low·2^log_mid + mid becomes mid·2^log_low + low
	u64 log_parent;            // of the number of transforms that this pass's 2^(K+log_stride) values are one of, in whose order their factors are; 0 for no such factors
	u64 shifted;               // whether the factors are powers of the coset's shift, or at the end of an inverse of 1/g
	u64 first_coset, log_blowup;
	u64 scale; // of shifted factors, canonical
};

// The k low bits of i reversed, for indices known when compiling.
INLINE constexpr int reversed(int i, int k) {
	int r = 0;
	for (int b = 0; b < k; b++) r |= (i >> b & 1) << (k - 1 - b);
	return r;
}

enum Form {
	COLUMN_FORWARD,          // natural rows to reversed ones
	ROW_FORWARD,             // natural to reversed; the last pass
	COLUMN_INVERSE,          // natural rows to natural ones
	ROW_INVERSE,             // natural to natural, stored transposed; the last pass, no factor 1/n
	ROW_INVERSE_REVERSED,    // reversed to natural, factors at the end
	COLUMN_INVERSE_REVERSED, // reversed rows to natural ones, factors at the end
};

template <int R1, int R2, int R3, int LOG_T, Form FORM> struct Pass {
	static_assert(R3 == 0 || R3 == R2, "threads change places in squares");
	static constexpr int K = R1 + R2 + R3, LOG_TEAM = R2 + R3, LOG_W = LOG_T - LOG_TEAM;
	static constexpr int T = 1 << LOG_T, TEAM = 1 << LOG_TEAM, W = 1 << LOG_W; // threads of a block and of a transform, transforms of a block
	static constexpr int N = 1 << K, N1 = 1 << R1, N2 = 1 << R2, N3 = 1 << R3;
	static constexpr bool COLUMN = FORM == COLUMN_FORWARD || FORM == COLUMN_INVERSE || FORM == COLUMN_INVERSE_REVERSED;
	static constexpr bool INVERSE = FORM != COLUMN_FORWARD && FORM != ROW_FORWARD;
	static constexpr bool REVERSED_IN = FORM == ROW_INVERSE_REVERSED || FORM == COLUMN_INVERSE_REVERSED;
	static constexpr int RL = LOG_TEAM == 0 ? R1 : R3 ? R3 : R2, NL = 1 << RL, EACH = N1 / NL; // the last round: its size, and how many transforms a thread does
	static constexpr int PITCH = R3 ? N3 + 1 : 1, APART = R3 ? N2 * PITCH : N2 + 1;            // where shared memory keeps n3, n2 and n1, so that few threads of a warp meet in a bank
	static constexpr int STRAIGHT = N1 * APART * W, TURNED = (N + N / N1) * (W + 1);
	static constexpr int EXCHANGE = LOG_TEAM == 0 ? 0 : FORM == ROW_INVERSE && TURNED > STRAIGHT ? TURNED : STRAIGHT; // values in shared memory before the factors
	static constexpr int FACTORS = N + (W < 16 ? 16 / W : 1);                                                        // from the factors of a transform to those of the next

	// Meets the block, or only the warp when that has whole transforms.
	static INLINE_MEMBER void barrier() {
		if constexpr (!COLUMN && FORM != ROW_INVERSE && TEAM <= 32)
			warp_barrier();
		else
			block_barrier();
	}

	// Meets the threads of equal n2.
	static INLINE_MEMBER void inner_barrier() {
		if constexpr (!COLUMN || W * N3 <= 32)
			warp_barrier();
		else
			block_barrier();
	}

	// Where shared memory keeps value n1, n2, n3 of transform w.
	static INLINE_MEMBER int place(int w, int n1, int n2, int n3) {
		int at = n1 * APART + n2 * PITCH + n3;
		return COLUMN ? at * W + w : w * (N1 * APART) + at;
	}
	static INLINE_MEMBER int place(int w, int n1, int rest) { return place(w, n1, rest >> R3, rest & (N3 - 1)); }

	// factors[i TEAM] = f g^i for i < count, in two chains.
	static INLINE_MEMBER void geometric(u64 *factors, int count, u64 f, u64 g) {
		u64 f1 = mul_lazy(f, g), g2 = mul_lazy(g, g);
		for (int i = 0; i < count; i += 2) {
			factors[i * TEAM] = f, f = mul_lazy(f, g2);
			if (i + 1 < count) factors[(i + 1) * TEAM] = f1, f1 = mul_lazy(f1, g2);
		}
	}

	// base + i step bytes.
	template <typename U> static INLINE_MEMBER U *at(U *base, u32 step, u32 i) { return (U *)((char *)base + multiply_wide(step, i)); }

	const PassParams &p;
	u64 *sm = shared_memory(), *factors;
	int w, b, high, low; // this thread's transform of the block's, and its place in the team: 2^R3 high + low
	const u64 *in;       // where the transform's values are in the first column
	u64 *out;            // and in the present one
	u64 stride = 1;      // between them
	bool active;         // whether the thread has a column

	// The thread's factors: of its values a TEAM + b before a pass, or of its outputs after one. c is the column of the stride, row the transform of 2^(K+log_stride) values.
	INLINE_MEMBER void make_factors(u32 c, u64 row, u64 coset) {
		u32 log = K + (COLUMN ? (u32)p.log_stride : 0), unit = 0; // of the exponent of ω, for the factor of value 1
		if (p.log_parent) {
			u64 parent = row & (((u64)1 << p.log_parent) - 1);
			if constexpr (FORM != COLUMN_INVERSE && FORM != ROW_INVERSE) parent = reverse_bits(parent, (u32)p.log_parent);
			unit = (u32)parent << (32 - log - (u32)p.log_parent);
		}
		if (!INVERSE && p.shifted) unit = (u32)(reverse_bits(coset, (u32)p.log_blowup) << (32 - log - p.log_blowup));
		if constexpr (INVERSE) unit = -unit;
		const u64 *shifts = INVERSE ? p.tables.inverse_shifts : p.tables.shifts;
		u32 step = (REVERSED_IN ? N >> RL : TEAM) * (u32)stride;
		u64 g = root(p.tables, unit * step);
		if (p.shifted) g = mul_lazy(g, windowed(shifts, step));
		for (int m = 0; m < (REVERSED_IN ? EACH : 1); m++) {
			u32 first = (u32)(REVERSED_IN ? output_start(m) : b) * (u32)stride + c;
			u64 f = root(p.tables, unit * first);
			if (p.shifted) f = mul_lazy(mul_lazy(f, windowed(shifts, first)), p.scale);
			geometric(factors + m * NL * TEAM, REVERSED_IN ? NL : N1, f, g);
		}
	}

	// The thread's outputs are output_start(m) + 2^(K-RL) i for i < NL; with the bits of the index reversed, reversed_start + reversed_offset(m, i).
	INLINE_MEMBER int output_start(int m) { return high + (R3 ? N1 * low : 0) + N2 * m; }
	INLINE_MEMBER int reversed_start() { return LOG_TEAM == 0 ? 0 : (int)(reverse_bits(high, R2) << (K - R2)) + (R3 ? (int)reverse_bits(low, R2) << R3 : 0); }
	static INLINE_MEMBER int reversed_offset(int m, int i) { return LOG_TEAM == 0 ? reversed(i, R1) : (reversed(m, R1 - R2) << (K - R1)) + reversed(i, RL); }

	// Has what the block reads next brought nearer: a line of each segment, or the lines of the transform's row.
	INLINE_MEMBER void prefetch(const u64 *in) {
		if constexpr (COLUMN) {
			for (u32 r = threadIdx.x; r < N; r += T) prefetch_line(in - w + r * stride);
		} else {
			for (u32 i = 16 * b; i < N; i += 16 * TEAM) prefetch_line(in + i);
		}
	}

	// v[a] becomes value a TEAM + b of the column at in.
	INLINE_MEMBER void load(u64 *v, const u64 *in) {
		constexpr bool REVERSED = FORM == COLUMN_INVERSE_REVERSED || (REVERSED_IN && LOG_TEAM == 0); // or the one whose index has these bits reversed
		const u64 *base = in + (REVERSED ? reverse_bits(b, LOG_TEAM) << R1 : b) * stride;
		u32 step = (REVERSED ? 8u : 8u << LOG_TEAM) * (u32)stride;
		UNROLL
		for (int a = 0; a < N1; a++) v[a] = *at(base, step, REVERSED ? reversed(a, R1) : a);
		if constexpr (FORM == ROW_INVERSE_REVERSED && LOG_TEAM > 0) {
			UNROLL
			for (int a = 0; a < N1; a++) sm[place(w, a, b)] = v[a];
			barrier();
			UNROLL
			for (int a = 0; a < N1; a++) {
				int from = ((int)reverse_bits(b, LOG_TEAM) << R1) + reversed(a, R1);
				v[a] = sm[place(w, from >> LOG_TEAM, from & (TEAM - 1))];
			}
			barrier();
		}
	}

	// A later round of 2^R over the second or last part of the index, of what the threads sent.
	template <int R> INLINE_MEMBER void receive(Limbs *x, int m, bool last) {
		UNROLL
		for (int i = 0; i < 1 << R; i++) x[i] = split(sm[last && R3 ? place(w, high + N2 * m, low, i) : place(w, high + N2 * m, i, low)]);
		transform<R, INVERSE>(x);
	}

	// v[m NL + i] is output output_start(m) + 2^(K-RL) i.
	INLINE_MEMBER void store(u64 *v) {
		if constexpr (REVERSED_IN) {
			UNROLL
			for (int i = 0; i < N1; i++) v[i] = mul_lazy(v[i], factors[i * TEAM]);
		}
		if (REVERSED_IN ? p.shifted != 0 : !COLUMN) {
			UNROLL
			for (int i = 0; i < N1; i++) v[i] = canonical(v[i]);
		}
		if constexpr (LOG_TEAM > 0 && (FORM == ROW_FORWARD || FORM == ROW_INVERSE)) {
			// What lies together is stored together.
			barrier();
			if constexpr (FORM == ROW_FORWARD) {
				int start = reversed_start();
				UNROLL
				for (int i = 0; i < N1; i++) {
					int to = start + reversed_offset(i / NL, i % NL);
					sm[place(w, to >> LOG_TEAM, to & (TEAM - 1))] = v[i];
				}
				barrier();
				UNROLL
				for (int a = 0; a < N1; a++)
					if (active) out[a * TEAM + b] = sm[place(w, a, b)];
			} else {
				UNROLL
				for (int i = 0; i < N1; i++) {
					int k = output_start(i / NL) + ((i % NL) << (K - RL));
					sm[(k + (k >> R1)) * (W + 1) + w] = v[i];
				}
				barrier();
				bool turned = p.log_rows >= LOG_W; // then the W rows are of one column
				int t = threadIdx.x, of = turned ? t & (W - 1) : w, k = turned ? t >> LOG_W : b;
				u64 *base = out - w + of + ((u64)k << p.log_rows);
				UNROLL
				for (int a = 0; a < N1; a++) {
					int from = a * TEAM + k;
					if (active) *at(base, 8u << LOG_TEAM << p.log_rows, a) = sm[(from + (from >> R1)) * (W + 1) + of];
				}
			}
		} else {
			u64 unit = FORM == ROW_INVERSE ? (u64)1 << p.log_rows : stride;
			u64 *base = out + (INVERSE ? output_start(0) : reversed_start()) * unit;
			UNROLL
			for (int i = 0; i < N1; i++) {
				int m = i / NL, offset = INVERSE ? N2 * m + ((i % NL) << (K - RL)) : reversed_offset(m, i % NL);
				if (active) *at(base, 8 * (u32)unit, offset) = v[i];
			}
		}
		if constexpr (LOG_TEAM > 0) barrier();
	}

	// Transforms the column at from; next is the next one, or null.
	INLINE_MEMBER void transform_column(const u64 *from, const u64 *next) {
		u64 v[N1];
		load(v, from);
		if (next) prefetch(next);
		Limbs x[N1];
		if (!REVERSED_IN && (FORM != COLUMN_INVERSE || p.log_parent)) {
			UNROLL
			for (int a = 0; a < N1; a++) x[a] = multiply_split(v[a], factors[a * TEAM]);
		} else {
			UNROLL
			for (int a = 0; a < N1; a++) x[a] = split(v[a]);
		}
		transform<R1, INVERSE>(x);
		if constexpr (LOG_TEAM == 0) {
			UNROLL
			for (int k = 0; k < N1; k++) v[k] = join(x[output<R1>(k)]);
		} else {
			UNROLL
			for (int k = 0; k < N1; k++) sm[place(w, k, high, low)] = k == 0 ? join(x[0]) : multiply_join(x[output<R1>(k)], load_factor(p.first, TEAM, k, b));
			barrier();
			if constexpr (R3 > 0) {
				UNROLL
				for (int m = 0; m < N1 / N2; m++) {
					receive<R2>(x, m, false);
					UNROLL
					for (int k = 0; k < N2; k++) sm[place(w, high + N2 * m, k, low)] = k == 0 ? join(x[0]) : multiply_join(x[output<R2>(k)], load_factor(p.second, N3, k, low));
				}
				inner_barrier();
			}
			UNROLL
			for (int m = 0; m < EACH; m++) {
				receive<RL>(x, m, true);
				UNROLL
				for (int i = 0; i < NL; i++) v[m * NL + i] = join(x[output<RL>(i)]);
			}
		}
		store(v);
	}

	INLINE_MEMBER void run() {
		int t = threadIdx.x;
		w = COLUMN ? t & (W - 1) : t >> LOG_TEAM, b = COLUMN ? t >> LOG_W : t & (TEAM - 1);
		high = b >> R3, low = b & (N3 - 1);
		factors = sm + EXCHANGE + w * FACTORS + b;
		u32 tile = blockIdx.x, coset = 0;
		if (p.cosets > 1) tile = blockIdx.x / (u32)p.cosets, coset = blockIdx.x - tile * (u32)p.cosets;
		in = p.in, out = p.out + coset * p.out_coset;
		u64 row = (u64)tile * W + w, c = 0;
		u32 side = 0, log_sides = 0; // a block without enough rows for its threads takes several columns side by side
		if constexpr (COLUMN) {
			stride = (u64)1 << p.log_stride;
			c = row & (stride - 1);
			row >>= p.log_stride;
			u64 offset = (row << (K + p.log_stride)) + c;
			in += offset, out += offset;
		} else {
			if (p.log_rows < LOG_W) {
				log_sides = LOG_W - (u32)p.log_rows;
				side = (u32)row >> p.log_rows;
				row &= ((u64)1 << p.log_rows) - 1;
			}
			out += FORM == ROW_INVERSE ? row : row << K;
			if constexpr (FORM == ROW_INVERSE) row = ((row & (((u64)1 << p.log_low) - 1)) << p.log_mid) + (row >> p.log_low);
			in += row << K;
		}
		u64 column = blockIdx.y * p.each + side, end = blockIdx.y * p.each + p.each < p.columns ? blockIdx.y * p.each + p.each : p.columns;
		const u64 *from = in + (column < end ? column : end - 1) * p.in_column; // without a column of its own a thread goes along with the last
		out += column * p.out_column;
		prefetch(from);
		make_factors((u32)c, row, p.first_coset + coset);
		for (; column - side < end; column += (u64)1 << log_sides) {
			active = column < end;
			const u64 *next = column + ((u64)1 << log_sides) < end ? from + (p.in_column << log_sides) : nullptr;
			transform_column(from, next);
			if (next) from = next;
			out += p.out_column << log_sides;
		}
	}
};

#define NTT_COLUMN_PASSES(K, R1, R2, R3, LOG_T, blocks)                                                                                  \
	KERNEL(ntt_column_forward_##K, PassParams, 1 << LOG_T, blocks) { Pass<R1, R2, R3, LOG_T, COLUMN_FORWARD>{p}.run(); }                  \
	KERNEL(ntt_column_inverse_##K, PassParams, 1 << LOG_T, blocks) { Pass<R1, R2, R3, LOG_T, COLUMN_INVERSE>{p}.run(); }                  \
	KERNEL(ntt_column_inverse_reversed_##K, PassParams, 1 << LOG_T, blocks) { Pass<R1, R2, R3, LOG_T, COLUMN_INVERSE_REVERSED>{p}.run(); }

#define NTT_ROW_PASSES(K, R1, R2, R3, LOG_T, blocks)                                                                                     \
	KERNEL(ntt_row_forward_##K, PassParams, 1 << LOG_T, blocks) { Pass<R1, R2, R3, LOG_T, ROW_FORWARD>{p}.run(); }                        \
	KERNEL(ntt_row_inverse_##K, PassParams, 1 << LOG_T, blocks) { Pass<R1, R2, R3, LOG_T, ROW_INVERSE>{p}.run(); }                        \
	KERNEL(ntt_row_inverse_reversed_##K, PassParams, 1 << LOG_T, blocks) { Pass<R1, R2, R3, LOG_T, ROW_INVERSE_REVERSED>{p}.run(); }
