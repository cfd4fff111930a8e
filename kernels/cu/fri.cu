// Folding of codewords (docs/protocol.md section 8).
#include "field.cuh"

struct FoldParams {
	const Ext *word;
	const Ext *entering; // a codeword that is added, times beta^(2^step), or none
	Ext *out;
	Tables tables;
	u64 log_out;
	const Ext *beta;
};

// One halving: pairs lie at ±y·ω_2^(k-1 bits reversed), where s is β/y.
template <int LOG> INLINE void halve(Ext *v, Ext s) {
	if constexpr (LOG > 0) {
		UNROLL
		for (int i = 0; i < 1 << (LOG - 1); i++) {
			// ω_2^LOG = 2^(192/2^LOG), and 2^-(e+1) = -2^(95-e).
			int j = 0;
			for (int b = 0; b < LOG - 1; b++) j |= (i >> b & 1) << (LOG - 2 - b);
			u64 r = neg(shift_left(1, 95 - j * (192 >> LOG)));
			Ext odd = mul(sub(v[2 * i], v[2 * i + 1]), scale(s, r));
			v[i] = add(scale(add(v[2 * i], v[2 * i + 1]), (P + 1) / 2), odd);
		}
		halve<LOG - 1>(v, mul(s, s));
	}
}

template <int LOG> INLINE void fold(const FoldParams &p) {
	u64 i = thread_index();
	if (i >> p.log_out) return;
	Ext v[1 << LOG];
	UNROLL
	for (int k = 0; k < 1 << LOG; k++) v[k] = p.word[(i << LOG) + k];
	// y = ω^-rev(i), of order 2^(log_out + LOG).
	u64 y = root(p.tables, -(u32)(reverse_bits(i, (u32)p.log_out) << (32 - LOG - p.log_out)));
	Ext beta = *p.beta;
	halve<LOG>(v, scale(beta, y));
	if (p.entering) {
		for (int k = 0; k < LOG; k++) beta = mul(beta, beta);
		v[0] = add(v[0], mul(beta, p.entering[i]));
	}
	p.out[i] = v[0];
}

KERNEL(fri_fold_1, FoldParams, 128, 4) { fold<1>(p); }
KERNEL(fri_fold_2, FoldParams, 128, 4) { fold<2>(p); }
KERNEL(fri_fold_3, FoldParams, 128, 4) { fold<3>(p); }

struct SplitParams {
	const Ext *word;
	u64 *out; // three columns
	u64 n;
};

KERNEL(fri_split, SplitParams, 128, 1) {
	u64 i = thread_index();
	if (i >= p.n) return;
	Ext v = p.word[i];
	p.out[i] = v.c0, p.out[p.n + i] = v.c1, p.out[2 * p.n + i] = v.c2;
}
