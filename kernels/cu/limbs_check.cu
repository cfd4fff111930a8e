// The operations of limbs.cuh on given operands, for tests (kernels/limbs_test.go).
#include "limbs.cuh"

struct LimbsCheckParams {
	const u64 *limbs;   // two words each, for l0 + 2^32 l1 and l2 + 2^32 l3
	const u64 *factors; // a row of n
	u64 *out;           // 196 words each
	u64 n;
};

KERNEL(limbs_check, LimbsCheckParams, 64, 1) {
	u64 i = thread_index();
	if (i >= p.n) return;
	u64 a = p.limbs[2 * i], b = p.limbs[2 * i + 1], *out = p.out + 196 * i;
	Limbs v = {{(u32)a, (u32)(a >> 32), (u32)b, (u32)(b >> 32)}};
	UNROLL
	for (int e = 0; e < 192; e++) out[e] = canonical(join(shift(v, e)));
	out[192] = canonical(join(v));
	out[193] = canonical(multiply_join(v, load_factor(p.factors, (int)p.n, 0, (int)i)));
	out[194] = canonical(join(split(a)));
	out[195] = canonical(join(multiply_split(a, b)));
}

struct LimbsTransformParams {
	const u64 *in; // 2^5 values each, any
	u64 *out;      // transforms of the 32 values, of the first 16, 8, 4 and 2, and then the inverse ones: 124 words each
	u64 n;
};

template <int K, bool INVERSE> INLINE u64 *transform_check(const u64 *in, u64 *out) {
	Limbs x[1 << K];
	UNROLL
	for (int i = 0; i < 1 << K; i++) x[i] = split(in[i]);
	transform<K, INVERSE>(x);
	UNROLL
	for (int k = 0; k < 1 << K; k++) out[k] = canonical(join(x[output<K>(k)]));
	return out + (1 << K);
}

KERNEL(limbs_transform, LimbsTransformParams, 64, 1) {
	u64 i = thread_index();
	if (i >= p.n) return;
	const u64 *in = p.in + 32 * i;
	u64 *out = p.out + 124 * i;
	out = transform_check<5, false>(in, out);
	out = transform_check<4, false>(in, out);
	out = transform_check<3, false>(in, out);
	out = transform_check<2, false>(in, out);
	out = transform_check<1, false>(in, out);
	out = transform_check<5, true>(in, out);
	out = transform_check<4, true>(in, out);
	out = transform_check<3, true>(in, out);
	out = transform_check<2, true>(in, out);
	out = transform_check<1, true>(in, out);
}
