// Number-theoretic transforms of many columns, in passes over memory (Bailey's four-step method; the notes in kernels/ntt.go say which passes make up which transform).
//
// A pass transforms 2^K values in two rounds of 2^K1 and 2^K2, held in the registers of 2^K2 threads and exchanged through shared memory in between. Because
// ω_64 = 8, the roots inside a round are powers of two: rounds have no multiplications, only shifts. A block of 256 threads works on W = 2^(8-K2) transforms at a time:
// neighbouring columns of the stride for a column pass, so that memory is read and written in segments of 8 W bytes, or W rows for a row pass.
//
// Memory between passes holds any representatives, what leaves the last pass is canonical.
#pragma once
#include "field.cuh"

struct PassParams {
	const u64 *in;
	u64 *out;
	const u64 *weights; // 2^K values a coset that the input is multiplied by, or none
	Tables tables;
	u64 columns;
	u64 in_column, out_column; // from one column to the next
	u64 in_coset, out_coset;   // column passes: from one coset (blockIdx.y) to the next
	u64 in_row, rows;          // row passes: from one input row to the next, 0 for the same; rows a column
	u64 log_stride;            // column passes: of the stride between the values of a transform
	u64 log_total;             // of the whole transform
	u64 first_coset, log_blowup;
	u64 log_low, log_mid; // last pass of a natural inverse: row index is low·2^log_mid + mid
	u64 log_parent;       // of the number of parent rows that a pass of an inverse from reversed order multiplies for
	u64 last;             // whether the pass ends an inverse from reversed order
	u64 scale;            // factor of that last pass, canonical
};

// One level of decimation in time: pairs of transforms of half become ones of 2 half. a is any, and so are the results; the shifted operand is canonical.
template <int K, int L, bool INVERSE> struct Level {
	static INLINE_MEMBER void run(u64 *x) {
		if constexpr (L > 1) Level<K, L - 1, INVERSE>::run(x);
		constexpr int half = 1 << (L - 1);
		UNROLL
		for (int i = 0; i < 1 << (K - 1); i++) {
			int j = i & (half - 1), at = (i >> (L - 1) << L) + j, e = j * (192 >> L);
			u64 a = x[at];
			// 2^-e = -2^(96-e)
			u64 t = shift_left(x[at + half], INVERSE && e ? 96 - e : e);
			u64 sum = add_lazy(a, t), difference = sub_lazy(a, t);
			x[at] = INVERSE && e ? difference : sum;
			x[at + half] = INVERSE && e ? sum : difference;
		}
	}
};

// The k low bits of i reversed, for indices known when compiling.
INLINE constexpr int reversed(int i, int k) {
	int r = 0;
	for (int b = 0; b < k; b++) r |= (i >> b & 1) << (k - 1 - b);
	return r;
}

enum Form {
	COLUMN_FORWARD,          // natural rows to reversed ones, weights, times ω^(row·column)
	ROW_FORWARD,             // natural to reversed, weights; the last pass
	COLUMN_INVERSE,          // natural rows to natural ones, times ω^-(row·column)
	ROW_INVERSE,             // natural to natural, stored transposed; the last pass, no factor
	ROW_INVERSE_REVERSED,    // reversed to natural, times powers
	COLUMN_INVERSE_REVERSED, // reversed rows to natural ones, times powers
};

template <int K1, int K2, Form FORM> struct Pass {
	static constexpr int K = K1 + K2, LOG_W = 8 - K2, W = 1 << LOG_W, N1 = 1 << K1, N2 = 1 << K2, PITCH = N2 + 1;
	static constexpr bool COLUMN = FORM == COLUMN_FORWARD || FORM == COLUMN_INVERSE || FORM == COLUMN_INVERSE_REVERSED;
	static constexpr bool INVERSE = FORM != COLUMN_FORWARD && FORM != ROW_FORWARD;
	static constexpr bool REVERSED_IN = FORM == ROW_INVERSE_REVERSED || FORM == COLUMN_INVERSE_REVERSED;
	static constexpr bool REVERSED_OUT = FORM == COLUMN_FORWARD || FORM == ROW_FORWARD;
	static constexpr int EACH = 1 << (K1 - K2); // transforms of the second round a thread

	// Threads of a row are in one warp.
	static INLINE_MEMBER void barrier() {
		if constexpr (COLUMN)
			block_barrier();
		else
			warp_barrier();
	}

	// Where shared memory keeps value `at` = hi·2^K2 + lo of transform w.
	static INLINE_MEMBER int place(int w, int hi, int lo) { return COLUMN ? (hi * PITCH + lo) * W + w : w * (N1 * PITCH) + hi * PITCH + lo; }

	static INLINE_MEMBER void run(const PassParams &p) {
		u64 *sm = shared_memory();
		int t = threadIdx.x;
		int w = COLUMN ? t & (W - 1) : t >> K2, b = COLUMN ? t >> LOG_W : t & (N2 - 1);

		// Where the transform's values are, and what its factors depend on.
		const u64 *in = p.in;
		u64 *out = p.out;
		u64 stride = 1, c = 0, row = 0, coset = p.first_coset;
		bool active = true;
		if constexpr (COLUMN) {
			stride = (u64)1 << p.log_stride;
			u64 index = (u64)blockIdx.x * W + w;
			c = index & (stride - 1);
			row = index >> p.log_stride; // of the parent
			u64 offset = (row << (K + p.log_stride)) + c;
			coset += blockIdx.y;
			in += blockIdx.z * p.in_column + blockIdx.y * p.in_coset + offset;
			out += blockIdx.z * p.out_column + blockIdx.y * p.out_coset + offset;
		} else {
			u64 index = (u64)blockIdx.x * W + w, column = index / p.rows;
			active = column < p.columns;
			row = index - column * p.rows;
			u64 from = row;
			if constexpr (FORM == ROW_INVERSE) {
				u64 low = row & (((u64)1 << p.log_low) - 1), mid = row >> p.log_low;
				from = (low << p.log_mid) + mid;
			}
			coset += row;
			in += column * p.in_column + from * p.in_row;
			if constexpr (FORM == ROW_INVERSE)
				out += column * p.out_column + row;
			else
				out += column * p.out_column + (row << K);
		}

		u64 x[N1];
		if constexpr (FORM == ROW_INVERSE_REVERSED && K2 > 0) {
			UNROLL
			for (int a = 0; a < N1; a++) sm[place(w, a, b)] = active ? in[a * N2 + b] : 0;
			barrier();
			UNROLL
			for (int a = 0; a < N1; a++) {
				int at = ((int)reverse_bits(b, K2) << K1) + reversed(a, K1);
				x[reversed(a, K1)] = sm[place(w, at >> K2, at & (N2 - 1))];
			}
			barrier();
		} else {
			UNROLL
			for (int a = 0; a < N1; a++) {
				u64 r = a * N2 + b;
				if constexpr (REVERSED_IN) r = reverse_bits(r, K);
				u64 v = active ? in[r * stride] : 0;
				if constexpr (FORM == COLUMN_FORWARD || FORM == ROW_FORWARD)
					if (p.weights && active) v = mul_lazy(v, p.weights[(coset << K) + r]);
				x[reversed(a, K1)] = v;
			}
		}
		Level<K1, K1, INVERSE>::run(x);

		// Exchange: this thread had value b of every part and gets all values of part ka = b + 2^K2 m.
		u64 y[N1];
		if constexpr (K2 > 0) {
			UNROLL
			for (int ka = 0; ka < N1; ka++) {
				u32 e = (u32)(b * ka) << (11 - K);
				if constexpr (INVERSE) e = -e & 2047;
				u64 v = ka == 0 ? x[0] : mul_lazy(x[ka], p.tables.roots[3072 + e]);
				sm[place(w, ka, b)] = v;
			}
			barrier();
			UNROLL
			for (int m = 0; m < EACH; m++) {
				UNROLL
				for (int i = 0; i < N2; i++) y[m * N2 + reversed(i, K2)] = sm[place(w, b + m * N2, i)];
				Level<K2, K2, INVERSE>::run(y + m * N2);
			}
			if constexpr (FORM == ROW_FORWARD || FORM == ROW_INVERSE) {
				if constexpr (FORM == ROW_INVERSE)
					block_barrier();
				else
					warp_barrier();
			}
		} else {
			UNROLL
			for (int i = 0; i < N1; i++) y[i] = x[i];
		}

		// y[m·2^K2 + kb] is output k = ka + 2^K1 kb, ka = b + 2^K2 m; without a second round, y[k].
		UNROLL
		for (int m = 0; m < (K2 > 0 ? EACH : 1); m++) {
			constexpr int COUNT = K2 > 0 ? N2 : N1, LOG_STEP = K2 > 0 ? K1 : 0;
			u32 ka = K2 > 0 ? b + m * N2 : 0;
			if constexpr (FORM == COLUMN_FORWARD || FORM == COLUMN_INVERSE) {
				u32 shift = 32 - K - (u32)p.log_stride;
				u32 start = (u32)c * ka << shift, step = (u32)c << LOG_STEP << shift;
				if constexpr (INVERSE) start = -start, step = -step;
				u64 f = root(p.tables, start);
				if constexpr (!INVERSE)
					if (p.weights) {
						u32 e = (u32)(reverse_bits(coset, p.log_blowup) << (32 - p.log_total - p.log_blowup));
						f = mul_lazy(mul_lazy(f, windowed(p.tables.shifts, (u32)c)), root(p.tables, e * (u32)c));
					}
				geometric<COUNT>(y + m * N2, f, root(p.tables, step));
			}
			if constexpr (REVERSED_IN) {
				u32 index = COLUMN ? ka * (u32)stride + (u32)c : ka, step = (u32)stride << LOG_STEP;
				u64 f, g;
				if (p.last) {
					f = mul_lazy(windowed(p.tables.inverse_shifts, index), p.scale);
					g = windowed(p.tables.inverse_shifts, step);
				} else {
					u32 parent = (u32)reverse_bits(row & (((u64)1 << p.log_parent) - 1), p.log_parent);
					u32 shift = 32 - (K + (COLUMN ? (u32)p.log_stride : 0) + p.log_parent);
					f = root(p.tables, -(parent * index) << shift);
					g = root(p.tables, -(parent * step) << shift);
				}
				geometric<COUNT>(y + m * N2, f, g);
			}
			UNROLL
			for (int kb = 0; kb < COUNT; kb++) {
				u64 v = y[m * N2 + kb], k = ka + ((u64)kb << LOG_STEP);
				if constexpr (FORM == ROW_FORWARD && K2 > 0)
					sm[place(w, reverse_bits(ka, K1), reversed(kb, K2))] = v;
				else if constexpr (FORM == ROW_INVERSE && K2 > 0)
					sm[k * (W + 1) + w] = v;
				else if constexpr (FORM == ROW_FORWARD || FORM == ROW_INVERSE) {
					if (active) out[FORM == ROW_INVERSE ? k * p.rows : reverse_bits(k, K)] = canonical(v);
				} else {
					u64 at = REVERSED_OUT ? reverse_bits(k, K) : k;
					if constexpr (REVERSED_IN)
						if (p.last) v = canonical(v);
					if (active) out[at * stride] = v;
				}
			}
		}

		// Row passes store what lies together together.
		if constexpr (FORM == ROW_FORWARD && K2 > 0) {
			warp_barrier();
			UNROLL
			for (int a = 0; a < N1; a++)
				if (active) out[a * N2 + b] = canonical(sm[place(w, a, b)]);
		}
		if constexpr (FORM == ROW_INVERSE && K2 > 0) {
			block_barrier();
			bool turned = p.rows >= W; // then the W rows are of one column
			int v = turned ? t & (W - 1) : w;
			u64 *to = turned ? out - w + v : out;
			UNROLL
			for (int a = 0; a < N1; a++) {
				u64 k = a * N2 + (turned ? t >> LOG_W : b);
				if (active) to[k * p.rows] = canonical(sm[k * (W + 1) + v]);
			}
		}
	}

	// y[i] *= f g^i, in two chains.
	template <int COUNT> static INLINE_MEMBER void geometric(u64 *y, u64 f, u64 g) {
		if constexpr (COUNT == 1) {
			y[0] = mul_lazy(y[0], f);
		} else {
			u64 f1 = mul_lazy(f, g), g2 = mul_lazy(g, g);
			UNROLL
			for (int i = 0; i < COUNT; i += 2) {
				y[i] = mul_lazy(y[i], f);
				y[i + 1] = mul_lazy(y[i + 1], f1);
				if (i + 2 < COUNT) f = mul_lazy(f, g2), f1 = mul_lazy(f1, g2);
			}
		}
	}
};

#define NTT_COLUMN_PASSES(K, K1, K2, blocks)                                                                                  \
	KERNEL(ntt_column_forward_##K, PassParams, 256, blocks) { Pass<K1, K2, COLUMN_FORWARD>::run(p); }                        \
	KERNEL(ntt_column_inverse_##K, PassParams, 256, blocks) { Pass<K1, K2, COLUMN_INVERSE>::run(p); }                        \
	KERNEL(ntt_column_inverse_reversed_##K, PassParams, 256, blocks) { Pass<K1, K2, COLUMN_INVERSE_REVERSED>::run(p); }

#define NTT_ROW_PASSES(K, K1, K2, blocks)                                                                                     \
	KERNEL(ntt_row_forward_##K, PassParams, 256, blocks) { Pass<K1, K2, ROW_FORWARD>::run(p); }                              \
	KERNEL(ntt_row_inverse_##K, PassParams, 256, blocks) { Pass<K1, K2, ROW_INVERSE>::run(p); }                              \
	KERNEL(ntt_row_inverse_reversed_##K, PassParams, 256, blocks) { Pass<K1, K2, ROW_INVERSE_REVERSED>::run(p); }
