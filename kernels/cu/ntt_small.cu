// Transforms too small for two rounds: a thread each.
#include "ntt.cuh"

NTT_ROW_PASSES(1, 1, 0, 0, 8, 2)
NTT_ROW_PASSES(2, 2, 0, 0, 8, 2)
NTT_ROW_PASSES(3, 3, 0, 0, 8, 2)
NTT_ROW_PASSES(4, 4, 0, 0, 8, 2)

struct RepeatParams {
	const u64 *in;
	u64 *out;
	u64 columns, log_blowup;
};

// The extension of columns of one value.
KERNEL(ntt_repeat, RepeatParams, 256, 1) {
	u64 i = thread_index();
	if (i < p.columns << p.log_blowup) p.out[i] = p.in[i >> p.log_blowup];
}
