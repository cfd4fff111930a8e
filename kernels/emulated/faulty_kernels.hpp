// Kernels with the mistakes that the emulated device must find.
#pragma once

struct FaultyParams {
	u64 *at;
	u64 n;
};

// Writes one value after the end.
KERNEL(faulty_overrun, FaultyParams, 64, 1) {
	u64 i = thread_index();
	if (i <= p.n) p.at[i] = i;
}

// Reads through a null pointer.
KERNEL(faulty_null, FaultyParams, 64, 1) {
	const u64 *none = (const u64 *)(p.n & 0);
	p.at[thread_index()] = none[threadIdx.x];
}

// Leaves the last value unwritten.
KERNEL(faulty_gap, FaultyParams, 64, 1) {
	u64 i = thread_index();
	if (i + 1 < p.n) p.at[i] = i;
}

// Reads shared memory that no thread wrote.
KERNEL(faulty_shared, FaultyParams, 64, 1) {
	u64 *sm = shared_memory();
	if (threadIdx.x) sm[threadIdx.x] = 1;
	block_barrier();
	p.at[threadIdx.x] = sm[threadIdx.x];
}

// Half of the threads leave before a barrier.
KERNEL(faulty_block_barrier, FaultyParams, 64, 1) {
	if (threadIdx.x & 1) return;
	block_barrier();
}

KERNEL(faulty_warp_barrier, FaultyParams, 64, 1) {
	if (threadIdx.x & 1) return;
	warp_barrier();
}

// Lacks a barrier: every thread reads what its neighbour wrote.
KERNEL(faulty_race, FaultyParams, 64, 1) {
	u64 *sm = shared_memory();
	sm[threadIdx.x] = threadIdx.x;
	p.at[thread_index()] = sm[threadIdx.x ^ 63];
}
