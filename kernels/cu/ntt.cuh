// Number-theoretic transforms of many columns, in passes over memory (Bailey's four-step method; kernels/ntt.go says which passes make up which transform).
//
// A pass transforms 2^K values in two rounds of 2^K1 and 2^K2, held as limbs in the registers of 2^K2 threads and exchanged through shared memory in between. Rounds have no multiplications,
// only shifts (limbs.cuh). The factors between the rounds multiply while limbs are joined to values, those of a pass while values are split into limbs. A block of 2^LOG_T threads works on
// W = 2^(LOG_T-K2) transforms at a time: neighbouring columns of the stride for a column pass, so that memory is read and written in segments of 8 W bytes, or W rows for a row pass. It does
// the same transforms of several matrix columns, one after the other, whose factors are the same: each thread keeps its own in shared memory.
//
// Memory between passes holds any representatives, what leaves the last pass is canonical.
#pragma once
#include "limbs.cuh"

struct PassParams {
	const u64 *in;
	u64 *out;
	const Factor *between; // ω_(2^K)^(ka b) at 2^K2 ka + b, or the inverses
	Tables tables;
	u64 columns, each;         // of the matrix; blockIdx.y takes so many
	u64 in_column, out_column; // from one column to the next
	u64 cosets;                // for each of which blockIdx.x has the transforms of a column
	u64 in_coset, out_coset;   // from one coset to the next
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

template <int K1, int K2, int LOG_T, Form FORM> struct Pass {
	static constexpr int K = K1 + K2, LOG_W = LOG_T - K2, T = 1 << LOG_T, W = 1 << LOG_W, N1 = 1 << K1, N2 = 1 << K2, PITCH = N2 + 1;
	static constexpr bool COLUMN = FORM == COLUMN_FORWARD || FORM == COLUMN_INVERSE || FORM == COLUMN_INVERSE_REVERSED;
	static constexpr bool INVERSE = FORM != COLUMN_FORWARD && FORM != ROW_FORWARD;
	static constexpr bool REVERSED_IN = FORM == ROW_INVERSE_REVERSED || FORM == COLUMN_INVERSE_REVERSED;
	static constexpr int EACH = K2 > 0 ? 1 << (K1 - K2) : 1; // transforms of the second round a thread
	static constexpr int COUNT = N1 / EACH;                  // of so many values
	static constexpr int TURNED = N1 * N2 * (W + 1), STRAIGHT = N1 * PITCH * W;
	static constexpr int EXCHANGE = K2 == 0 ? 0 : FORM == ROW_INVERSE && TURNED > STRAIGHT ? TURNED : STRAIGHT; // values in shared memory before the factors

	// Threads of a row are in one warp.
	static INLINE_MEMBER void barrier() {
		if constexpr (COLUMN || FORM == ROW_INVERSE)
			block_barrier();
		else
			warp_barrier();
	}

	// Where shared memory keeps value `at` = hi·2^K2 + lo of transform w.
	static INLINE_MEMBER int place(int w, int hi, int lo) { return COLUMN ? (hi * PITCH + lo) * W + w : w * (N1 * PITCH) + hi * PITCH + lo; }

	// factors[i T] = f g^i for i < count, in two chains.
	static INLINE_MEMBER void geometric(u64 *factors, int count, u64 f, u64 g) {
		u64 f1 = mul_lazy(f, g), g2 = mul_lazy(g, g);
		for (int i = 0; i < count; i += 2) {
			factors[i * T] = f, f = mul_lazy(f, g2);
			if (i + 1 < count) factors[(i + 1) * T] = f1, f1 = mul_lazy(f1, g2);
		}
	}

	// The thread's factors: of its values a·2^K2 + b before a pass, or of its values b + m 2^K2 + 2^K1 kb after one. c is the column of the stride, row the transform of 2^(K+log_stride) values.
	static INLINE_MEMBER void make_factors(const PassParams &p, u64 *factors, int b, u32 c, u64 row, u64 coset) {
		u32 log = K + (COLUMN ? (u32)p.log_stride : 0), stride = COLUMN ? 1u << p.log_stride : 1, unit = 0; // of the exponent of ω, for the factor of value 1
		if (p.log_parent) {
			u64 parent = row & (((u64)1 << p.log_parent) - 1);
			if constexpr (FORM != COLUMN_INVERSE && FORM != ROW_INVERSE) parent = reverse_bits(parent, (u32)p.log_parent);
			unit = (u32)parent << (32 - log - (u32)p.log_parent);
		}
		if (!INVERSE && p.shifted) unit = (u32)(reverse_bits(coset, (u32)p.log_blowup) << (32 - log - p.log_blowup));
		if constexpr (INVERSE) unit = -unit;
		const u64 *shifts = INVERSE ? p.tables.inverse_shifts : p.tables.shifts;
		u32 step = (REVERSED_IN ? (K2 > 0 ? N1 : 1) : N2) * stride;
		u64 g = root(p.tables, unit * step);
		if (p.shifted) g = mul_lazy(g, windowed(shifts, step));
		for (int m = 0; m < (REVERSED_IN ? EACH : 1); m++) {
			u32 first = (u32)(K2 > 0 ? b + m * N2 : 0) * stride + c;
			u64 f = root(p.tables, unit * first);
			if (p.shifted) f = mul_lazy(mul_lazy(f, windowed(shifts, first)), p.scale);
			geometric(factors + m * COUNT * T, REVERSED_IN ? COUNT : N1, f, g);
		}
	}

	// base + i step bytes.
	template <typename U> static INLINE_MEMBER U *at(U *base, u32 step, u32 i) { return (U *)((char *)base + multiply_wide(step, i)); }

	static INLINE_MEMBER void run(const PassParams &p) {
		u64 *sm = shared_memory();
		int t = threadIdx.x;
		int w = COLUMN ? t & (W - 1) : t >> K2, b = COLUMN ? t >> LOG_W : t & (N2 - 1);
		u64 *factors = sm + EXCHANGE + t;

		// Where the transform's values are in a column.
		u32 tile = blockIdx.x, coset = 0;
		if (p.cosets > 1) tile = blockIdx.x / (u32)p.cosets, coset = blockIdx.x - tile * (u32)p.cosets;
		const u64 *in = p.in + coset * p.in_coset;
		u64 *out = p.out + coset * p.out_coset;
		u64 row, stride = 1, c = 0;
		u32 side = 0, log_sides = 0; // a block without enough rows for its threads takes several columns side by side
		if constexpr (COLUMN) {
			stride = (u64)1 << p.log_stride;
			u64 index = (u64)tile * W + w;
			c = index & (stride - 1);
			row = index >> p.log_stride;
			u64 offset = (row << (K + p.log_stride)) + c;
			in += offset, out += offset;
		} else {
			row = (u64)tile * W + w;
			if (p.log_rows < LOG_W) {
				log_sides = LOG_W - (u32)p.log_rows;
				side = (u32)row >> p.log_rows;
				row &= ((u64)1 << p.log_rows) - 1;
			}
			out += FORM == ROW_INVERSE ? row : row << K;
			if constexpr (FORM == ROW_INVERSE) row = ((row & (((u64)1 << p.log_low) - 1)) << p.log_mid) + (row >> p.log_low);
			in += row << K;
		}
		bool factored = FORM != COLUMN_INVERSE || p.log_parent;
		if (factored) make_factors(p, factors, b, (u32)c, row, p.first_coset + coset);

		u64 first = blockIdx.y * p.each, end = first + p.each < p.columns ? first + p.each : p.columns;
		in += (first + side) * p.in_column, out += (first + side) * p.out_column;
		for (u64 column = first; column < end; column += (u64)1 << log_sides) {
			bool active = COLUMN || column + side < end;
			u64 v[N1];
			{
				// Value a·2^K2 + b, or the one whose index has these bits reversed.
				constexpr bool REVERSED = FORM == COLUMN_INVERSE_REVERSED || (REVERSED_IN && K2 == 0);
				u64 *base = (u64 *)in + (REVERSED ? reverse_bits(b, K2) << K1 : b) * stride;
				u32 step = (REVERSED ? 8u : 8u << K2) * (u32)stride;
				UNROLL
				for (int a = 0; a < N1; a++) v[a] = active ? *at(base, step, REVERSED ? reversed(a, K1) : a) : 0;
			}
			if constexpr (FORM == ROW_INVERSE_REVERSED && K2 > 0) {
				UNROLL
				for (int a = 0; a < N1; a++) sm[place(w, a, b)] = v[a];
				warp_barrier();
				UNROLL
				for (int a = 0; a < N1; a++) {
					int from = ((int)reverse_bits(b, K2) << K1) + reversed(a, K1);
					v[a] = sm[place(w, from >> K2, from & (N2 - 1))];
				}
				warp_barrier();
			}

			Limbs x[N1];
			if (!REVERSED_IN && factored) {
				UNROLL
				for (int a = 0; a < N1; a++) x[a] = multiply_split(v[a], factors[a * T]);
			} else {
				UNROLL
				for (int a = 0; a < N1; a++) x[a] = split(v[a]);
			}
			transform<K1, INVERSE>(x);

			// Exchange: this thread had value b of every part and gets all values of parts b + 2^K2 m. Then v[m·2^K2 + kb] is output k = b + 2^K2 m + 2^K1 kb; without a second round, v[k].
			if constexpr (K2 > 0) {
				UNROLL
				for (int ka = 0; ka < N1; ka++) {
					const Limbs &l = x[output<K1>(ka)];
					sm[place(w, ka, b)] = ka == 0 ? join(l) : multiply_join(l, load_factor(p.between + ka * N2 + b));
				}
				barrier();
				UNROLL
				for (int m = 0; m < EACH; m++) {
					Limbs y[N2];
					UNROLL
					for (int i = 0; i < N2; i++) y[i] = split(sm[place(w, b + m * N2, i)]);
					transform<K2, INVERSE>(y);
					UNROLL
					for (int kb = 0; kb < N2; kb++) v[m * N2 + kb] = join(y[output<K2>(kb)]);
				}
			} else {
				UNROLL
				for (int k = 0; k < N1; k++) v[k] = join(x[output<K1>(k)]);
			}
			if constexpr (REVERSED_IN) {
				UNROLL
				for (int i = 0; i < N1; i++) v[i] = mul_lazy(v[i], factors[i * T]);
			}
			if (REVERSED_IN ? p.shifted != 0 : !COLUMN) {
				UNROLL
				for (int i = 0; i < N1; i++) v[i] = canonical(v[i]);
			}

			// Row passes store what lies together together.
			if constexpr (K2 > 0 && (FORM == ROW_FORWARD || FORM == ROW_INVERSE)) {
				barrier();
				UNROLL
				for (int i = 0; i < N1; i++) {
					int ka = b + i / N2 * N2, kb = i % N2;
					if constexpr (FORM == ROW_FORWARD)
						sm[place(w, (int)reverse_bits(ka, K1), reversed(kb, K2))] = v[i];
					else
						sm[(ka + (kb << K1)) * (W + 1) + w] = v[i];
				}
				barrier();
				if constexpr (FORM == ROW_FORWARD) {
					UNROLL
					for (int a = 0; a < N1; a++)
						if (active) out[a * N2 + b] = sm[place(w, a, b)];
				} else {
					bool turned = p.log_rows >= LOG_W; // then the W rows are of one column
					int of = turned ? t & (W - 1) : w, k = turned ? t >> LOG_W : b;
					u64 *base = out - w + of + ((u64)k << p.log_rows);
					UNROLL
					for (int a = 0; a < N1; a++)
						if (active) *at(base, 8u << K2 << p.log_rows, a) = sm[(a * N2 + k) * (W + 1) + of];
				}
			} else {
				// Output ka + 2^K1 kb with ka = b + 2^K2 m, or the place whose index has these bits reversed.
				constexpr bool REVERSED = !INVERSE;
				u64 unit = FORM == ROW_INVERSE ? (u64)1 << p.log_rows : stride;
				u64 *base = out + (REVERSED ? reverse_bits(b, K2) << K1 : b) * unit;
				UNROLL
				for (int i = 0; i < N1; i++) {
					int m = i / COUNT, kb = i % COUNT;
					u32 k = K2 == 0 ? (REVERSED ? reversed(i, K1) : i) : REVERSED ? (reversed(m, K1 - K2) << K2) + reversed(kb, K2) : m * N2 + (kb << K1);
					if (active) *at(base, 8 * (u32)unit, k) = v[i];
				}
			}
			in += p.in_column << log_sides, out += p.out_column << log_sides;
			if constexpr (K2 > 0) barrier();
		}
	}
};

#define NTT_COLUMN_PASSES(K, K1, K2, LOG_T, blocks)                                                                                  \
	KERNEL(ntt_column_forward_##K, PassParams, 1 << LOG_T, blocks) { Pass<K1, K2, LOG_T, COLUMN_FORWARD>::run(p); }                  \
	KERNEL(ntt_column_inverse_##K, PassParams, 1 << LOG_T, blocks) { Pass<K1, K2, LOG_T, COLUMN_INVERSE>::run(p); }                  \
	KERNEL(ntt_column_inverse_reversed_##K, PassParams, 1 << LOG_T, blocks) { Pass<K1, K2, LOG_T, COLUMN_INVERSE_REVERSED>::run(p); }

#define NTT_ROW_PASSES(K, K1, K2, LOG_T, blocks)                                                                                     \
	KERNEL(ntt_row_forward_##K, PassParams, 1 << LOG_T, blocks) { Pass<K1, K2, LOG_T, ROW_FORWARD>::run(p); }                        \
	KERNEL(ntt_row_inverse_##K, PassParams, 1 << LOG_T, blocks) { Pass<K1, K2, LOG_T, ROW_INVERSE>::run(p); }                        \
	KERNEL(ntt_row_inverse_reversed_##K, PassParams, 1 << LOG_T, blocks) { Pass<K1, K2, LOG_T, ROW_INVERSE_REVERSED>::run(p); }
