// Every operation of field.cuh on given operands, for tests: 32 results a pair, in the order of kernels/field_test.go.
#include "field.cuh"

struct FieldCheckParams {
	const u64 *a, *b; // any
	u64 *out;         // 32 words a pair
	u64 n;
};

KERNEL(field_check, FieldCheckParams, 128, 1) {
	u64 i = thread_index();
	if (i >= p.n) return;
	u64 a = p.a[i], b = p.b[i], *out = p.out + 32 * i;
	u64 ca = canonical(a), cb = canonical(b);
	out[0] = ca;
	out[1] = canonical(add_lazy(a, cb));
	out[2] = canonical(sub_lazy(a, cb));
	out[3] = canonical(add_lazy(a, P));
	out[4] = canonical(sub_lazy(a, P));
	out[5] = add(ca, cb);
	out[6] = sub(ca, cb);
	out[7] = neg(ca);
	out[8] = canonical(mul_lazy(a, b));
	out[9] = inverse(a);
	Sum s = {a, b, (u32)a};
	out[10] = reduce(s);
	accumulate(s, a, b);
	s.top &= EPSILON;
	out[11] = reduce(s);
	Ext x = {ca, cb, add(ca, cb)}, y = {cb, sub(cb, ca), ca};
	Ext z = mul(x, y);
	out[12] = z.c0, out[13] = z.c1, out[14] = z.c2;
	z = inverse(x);
	out[15] = z.c0, out[16] = z.c1, out[17] = z.c2;
	out[18] = shift_left(a, 0);
	out[19] = shift_left(a, 6);
	out[20] = shift_left(a, 12);
	out[21] = shift_left(a, 24);
	out[22] = shift_left(a, 30);
	out[23] = shift_left(a, 31);
	out[24] = shift_left(a, 32);
	out[25] = shift_left(a, 36);
	out[26] = shift_left(a, 48);
	out[27] = shift_left(a, 63);
	out[28] = shift_left(a, 64);
	out[29] = shift_left(a, 66);
	out[30] = shift_left(a, 90);
	out[31] = shift_left(a, 95);
}
