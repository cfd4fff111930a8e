// What a kernel may use of its target: a CUDA device compiled by clang without a toolkit, by nvcc, or the emulated device of kernels/emulated, which compiles the
// same sources as C++ and runs the threads of a block as fibers.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;
static_assert(sizeof(u64) == 8, "u64 is 64 bits");

#if defined(__CUDACC__) || defined(__CUDA__)

#if defined(__clang__)
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#include <__clang_cuda_builtin_vars.h>
#define INLINE_MEMBER __device__ inline __attribute__((always_inline))
#define INLINE static INLINE_MEMBER
#else
#define INLINE_MEMBER __device__ __forceinline__
#define INLINE static INLINE_MEMBER
#endif

#define CONSTANT static __constant__ const
// Constants that compilers do not see.
#define OPAQUE_CONSTANT __constant__
#define UNROLL _Pragma("unroll")
// threads is the most that a block may have, blocks how many of them a multiprocessor should hold: together they bound the registers of a thread.
#define KERNEL(name, Params, threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks) name(const Params p)

INLINE void block_barrier() { asm volatile("bar.sync 0;" ::: "memory"); }
INLINE void warp_barrier() { asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }

INLINE u64 *shared_memory() {
	extern __shared__ u64 dynamic_shared[];
	return dynamic_shared;
}

// The value of the thread of the warp whose lane differs by the bits of mask. All 32 lanes must take part.
INLINE u64 shuffle_xor(u64 v, u32 mask) {
	u32 lo = (u32)v, hi = (u32)(v >> 32);
	asm volatile("shfl.sync.bfly.b32 %0, %0, %1, 0x1f, 0xffffffff;" : "+r"(lo) : "r"(mask));
	asm volatile("shfl.sync.bfly.b32 %0, %0, %1, 0x1f, 0xffffffff;" : "+r"(hi) : "r"(mask));
	return (u64)hi << 32 | lo;
}

INLINE void atomic_min(u64 *at, u64 v) { asm volatile("red.global.min.u64 [%0], %1;" ::"l"(at), "l"(v) : "memory"); }
INLINE void atomic_add(u64 *at, u64 v) { asm volatile("red.global.add.u64 [%0], %1;" ::"l"(at), "l"(v) : "memory"); }

// Brings the line of 128 bytes nearer, to the second-level cache.
INLINE void prefetch_line(const u64 *at) { asm volatile("prefetch.global.L2 [%0];" ::"l"(at)); }

// Two values at a multiple of 16 bytes that no one writes while the kernel runs.
INLINE void load_pair(const u64 *at, u64 &a, u64 &b) { asm("ld.global.nc.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(at)); }

INLINE u32 rotate_right(u32 v, int n) {
	u32 r;
	asm("shf.r.wrap.b32 %0, %1, %1, %2;" : "=r"(r) : "r"(v), "r"(n));
	return r;
}

INLINE u32 reverse32(u32 v) {
	u32 r;
	asm("brev.b32 %0, %1;" : "=r"(r) : "r"(v));
	return r;
}

#else

#define INLINE_MEMBER inline
#define INLINE static INLINE_MEMBER
#define CONSTANT static const
#define OPAQUE_CONSTANT static const
#define UNROLL

#include "emulator.hpp"

INLINE void prefetch_line(const u64 *) {}

INLINE void load_pair(const u64 *at, u64 &a, u64 &b) { a = at[0], b = at[1]; }

INLINE u32 rotate_right(u32 v, int n) { return v >> n | v << (32 - n); }

INLINE u32 reverse32(u32 v) {
	v = (v & 0x55555555) << 1 | (v >> 1 & 0x55555555);
	v = (v & 0x33333333) << 2 | (v >> 2 & 0x33333333);
	v = (v & 0x0f0f0f0f) << 4 | (v >> 4 & 0x0f0f0f0f);
	return __builtin_bswap32(v);
}

#endif

// The low k bits of v in reverse order; the others must be zero, and k is at most 32.
INLINE u64 reverse_bits(u64 v, u32 k) { return k == 0 ? 0 : reverse32((u32)v) >> (32 - k); }

INLINE u64 thread_index() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }

