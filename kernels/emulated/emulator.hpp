// The emulated device, as the kernels see it: the names of CUDA that target.cuh leaves to it.
#pragma once

struct Dim3 {
	unsigned x, y, z;
};

extern Dim3 threadIdx, blockIdx, blockDim, gridDim;

void block_barrier();
void warp_barrier();
u64 *shared_memory();
u64 shuffle_xor(u64 v, u32 mask);

static inline void atomic_min(u64 *at, u64 v) {
	if (v < *at) *at = v;
}

static inline void atomic_add(u64 *at, u64 v) { *at += v; }

typedef void (*KernelBody)(const void *params);

struct KernelEntry {
	const char *name;
	u64 param_bytes;
	u64 max_threads;
	KernelBody body;
	KernelEntry *next;
	KernelEntry(const char *name, u64 param_bytes, u64 max_threads, KernelBody body);
};

#define KERNEL(name, Params, threads, blocks)                                                     \
	static void name(const Params &p);                                                            \
	static KernelEntry name##_entry(                                                              \
		#name, sizeof(Params), threads, [](const void *p) { name(*(const Params *)p); });         \
	static void name(const Params &p)
