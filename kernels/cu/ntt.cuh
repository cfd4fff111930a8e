// Number-theoretic transforms of many columns, in passes over memory (Bailey's four-step method; kernels/ntt.go says which passes make up which transform).
//
// A pass transforms 2^K values in two rounds of 2^K1 and 2^K2, held as limbs in the registers of 2^K2 threads and exchanged through shared memory in between. A round multiplies its input by
// factors on the way from values to limbs (limbs.cuh); apart from that it only shifts. Rounds of equal size are the same code: a multiprocessor runs code that its cache holds about twice as
// fast. A block of 2^LOG_T threads works on W = 2^(LOG_T-K2) transforms at a time: neighbouring columns of the stride for a column pass, so that memory is read and written in segments of 8 W
// bytes, or W rows for a row pass. It does the same transforms of several matrix columns, one after the other, whose factors are the same and stay in shared memory.
//
// Memory between passes holds any representatives, what leaves the last pass is canonical.
#pragma once
#include "limbs.cuh"

struct PassParams {
	u64 *in, *out; // the same, or apart
	const u64 *between; // factors of the second round: ω_(2^K)^(ka b) at 2^K1 b + ka, or the inverses
	const u64 *ones;    // 2^(K+K1-K2) of them
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

// Not for compilers to see: they would write both rounds out.
OPAQUE_CONSTANT u32 LAST_ROUND[1] = {1};

template <int K1, int K2, int LOG_T, Form FORM> struct Pass {
	static constexpr int K = K1 + K2, LOG_W = LOG_T - K2, T = 1 << LOG_T, W = 1 << LOG_W, N1 = 1 << K1, N2 = 1 << K2, PITCH = N2 + 1;
	static constexpr bool COLUMN = FORM == COLUMN_FORWARD || FORM == COLUMN_INVERSE || FORM == COLUMN_INVERSE_REVERSED;
	static constexpr bool INVERSE = FORM != COLUMN_FORWARD && FORM != ROW_FORWARD;
	static constexpr bool REVERSED_IN = FORM == ROW_INVERSE_REVERSED || FORM == COLUMN_INVERSE_REVERSED;
	static constexpr int EACH = K2 > 0 ? 1 << (K1 - K2) : 1; // transforms of the second round a thread
	static constexpr int COUNT = N1 / EACH;                  // of so many values
	static constexpr int TURNED = N1 * N2 * (W + 1), STRAIGHT = N1 * PITCH * W;
	static constexpr int EXCHANGE = K2 == 0 ? 0 : FORM == ROW_INVERSE && TURNED > STRAIGHT ? TURNED : STRAIGHT; // values in shared memory before the factors
	static constexpr int APART = N1 * N2 + (W < 16 ? 16 / W : 1); // from the factors of a transform to those of the next: threads that read together read different banks

	// Threads of a row are in one warp.
	static INLINE_MEMBER void barrier() {
		if constexpr (COLUMN || FORM == ROW_INVERSE)
			block_barrier();
		else
			warp_barrier();
	}

	// Where shared memory keeps value `at` = hi·2^K2 + lo of transform w.
	static INLINE_MEMBER int place(int w, int hi, int lo) { return COLUMN ? (hi * PITCH + lo) * W + w : w * (N1 * PITCH) + hi * PITCH + lo; }

	// factors[i N2] = f g^i for i < count, in two chains.
	static INLINE_MEMBER void geometric(u64 *factors, int count, u64 f, u64 g) {
		u64 f1 = mul_lazy(f, g), g2 = mul_lazy(g, g);
		for (int i = 0; i < count; i += 2) {
			factors[i * N2] = f, f = mul_lazy(f, g2);
			if (i + 1 < count) factors[(i + 1) * N2] = f1, f1 = mul_lazy(f1, g2);
		}
	}

	// The thread's factors: of its values a·2^K2 + b before a pass, or of its values b + m 2^K2 + 2^K1 kb after one. c is the column of the stride, row the transform of 2^(K+log_stride) values.
	INLINE_MEMBER void make_factors(u32 c, u64 row, u64 coset) {
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
			geometric(factors + m * COUNT * N2, REVERSED_IN ? COUNT : N1, f, g);
		}
	}

	// base + i step bytes.
	template <typename U> static INLINE_MEMBER U *at(U *base, u32 step, u32 i) { return (U *)((char *)base + multiply_wide(step, i)); }

	// A transform of 2^R values times f[0], f[step], …; any -> any.
	template <int R> static INLINE_MEMBER void round(u64 *v, const u64 *f, int step) {
		Limbs x[1 << R];
		UNROLL
		for (int i = 0; i < 1 << R; i++) x[i] = multiply_split(v[i], f[i * step]);
		transform<R, INVERSE>(x);
		UNROLL
		for (int k = 0; k < 1 << R; k++) v[k] = join(x[output<R>(k)]);
	}

	const PassParams &p;
	u64 *sm = shared_memory(), *factors;
	int w, b;           // this thread's transform of the block's, and its part in it
	u64 *in, *out;      // where the transform's values are in a column
	u64 stride = 1;     // between them
	bool active = true; // whether the thread has a column

	// v[a] is value a·2^K2 + b.
	INLINE_MEMBER void load(u64 *v) {
		constexpr bool REVERSED = FORM == COLUMN_INVERSE_REVERSED || (REVERSED_IN && K2 == 0); // or the one whose index has these bits reversed
		u64 *base = in + (REVERSED ? reverse_bits(b, K2) << K1 : b) * stride;
		u32 step = (REVERSED ? 8u : 8u << K2) * (u32)stride;
		UNROLL
		for (int a = 0; a < N1; a++) v[a] = active ? *at(base, step, REVERSED ? reversed(a, K1) : a) : 0;
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
	}

	// v[ka] was value b of part ka of 2^K2; v[m 2^K2 + i] becomes value i of part b + m 2^K2.
	INLINE_MEMBER void send(const u64 *v) {
		UNROLL
		for (int ka = 0; ka < N1; ka++) sm[place(w, ka, b)] = v[ka];
		barrier();
	}
	INLINE_MEMBER void receive(u64 *v) {
		UNROLL
		for (int i = 0; i < N1; i++) v[i] = sm[place(w, b + i / N2 * N2, i % N2)];
		end_branch();
	}

	// v[m·2^K2 + kb] is output ka + 2^K1 kb with ka = b + 2^K2 m; without a second round, v[k] output k.
	INLINE_MEMBER void store(u64 *v) {
		if constexpr (REVERSED_IN) {
			UNROLL
			for (int i = 0; i < N1; i++) v[i] = mul_lazy(v[i], factors[i * N2]);
		}
		if (REVERSED_IN ? p.shifted != 0 : !COLUMN) {
			UNROLL
			for (int i = 0; i < N1; i++) v[i] = canonical(v[i]);
		}
		if constexpr (K2 > 0 && (FORM == ROW_FORWARD || FORM == ROW_INVERSE)) {
			// What lies together is stored together.
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
				int t = threadIdx.x, of = turned ? t & (W - 1) : w, k = turned ? t >> LOG_W : b;
				u64 *base = out - w + of + ((u64)k << p.log_rows);
				UNROLL
				for (int a = 0; a < N1; a++)
					if (active) *at(base, 8u << K2 << p.log_rows, a) = sm[(a * N2 + k) * (W + 1) + of];
			}
		} else {
			constexpr bool REVERSED = !INVERSE; // to the place whose index has the output's bits reversed
			u64 unit = FORM == ROW_INVERSE ? (u64)1 << p.log_rows : stride;
			u64 *base = out + (REVERSED ? reverse_bits(b, K2) << K1 : b) * unit;
			UNROLL
			for (int i = 0; i < N1; i++) {
				int m = i / COUNT, kb = i % COUNT;
				u32 k = K2 == 0 ? (REVERSED ? reversed(i, K1) : i) : REVERSED ? (reversed(m, K1 - K2) << K2) + reversed(kb, K2) : m * N2 + (kb << K1);
				if (active) *at(base, 8 * (u32)unit, k) = v[i];
			}
		}
		if constexpr (K2 > 0) barrier();
	}

	INLINE_MEMBER void run() {
		int t = threadIdx.x;
		w = COLUMN ? t & (W - 1) : t >> K2, b = COLUMN ? t >> LOG_W : t & (N2 - 1);
		factors = sm + EXCHANGE + w * APART + b;
		u32 tile = blockIdx.x, coset = 0;
		if (p.cosets > 1) tile = blockIdx.x / (u32)p.cosets, coset = blockIdx.x - tile * (u32)p.cosets;
		in = p.in + coset * p.in_coset, out = p.out + coset * p.out_coset;
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
		make_factors((u32)c, row, p.first_coset + coset);
		const u64 *first = REVERSED_IN ? p.ones : factors;

		u64 column = blockIdx.y * p.each, end = column + p.each < p.columns ? column + p.each : p.columns;
		in += (column + side) * p.in_column, out += (column + side) * p.out_column;
		u64 v[N1];
		if constexpr (K1 == K2) {
			ROLLED
			for (u32 second = 0; column < end; second = LAST_ROUND[0] - second) {
				active = COLUMN || column + side < end;
				if (second)
					receive(v);
				else
					load(v);
				round<K1>(v, second ? p.between + b : first, N1);
				if (!second) {
					send(v);
					continue;
				}
				store(v);
				in += p.in_column << log_sides, out += p.out_column << log_sides, column += (u64)1 << log_sides;
			}
		} else {
			for (; column < end; column += (u64)1 << log_sides) {
				active = COLUMN || column + side < end;
				load(v);
				round<K1>(v, first, N2);
				if constexpr (K2 > 0) {
					send(v);
					receive(v);
					UNROLL
					for (int m = 0; m < EACH; m++) round<K2>(v + m * N2, p.between + b + m * N2, N1);
				}
				store(v);
				in += p.in_column << log_sides, out += p.out_column << log_sides;
			}
		}
	}
};

#define NTT_COLUMN_PASSES(K, K1, K2, LOG_T, blocks)                                                                                  \
	KERNEL(ntt_column_forward_##K, PassParams, 1 << LOG_T, blocks) { Pass<K1, K2, LOG_T, COLUMN_FORWARD>{p}.run(); }                  \
	KERNEL(ntt_column_inverse_##K, PassParams, 1 << LOG_T, blocks) { Pass<K1, K2, LOG_T, COLUMN_INVERSE>{p}.run(); }                  \
	KERNEL(ntt_column_inverse_reversed_##K, PassParams, 1 << LOG_T, blocks) { Pass<K1, K2, LOG_T, COLUMN_INVERSE_REVERSED>{p}.run(); }

#define NTT_ROW_PASSES(K, K1, K2, LOG_T, blocks)                                                                                     \
	KERNEL(ntt_row_forward_##K, PassParams, 1 << LOG_T, blocks) { Pass<K1, K2, LOG_T, ROW_FORWARD>{p}.run(); }                        \
	KERNEL(ntt_row_inverse_##K, PassParams, 1 << LOG_T, blocks) { Pass<K1, K2, LOG_T, ROW_INVERSE>{p}.run(); }                        \
	KERNEL(ntt_row_inverse_reversed_##K, PassParams, 1 << LOG_T, blocks) { Pass<K1, K2, LOG_T, ROW_INVERSE_REVERSED>{p}.run(); }
