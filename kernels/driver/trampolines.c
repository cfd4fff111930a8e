//go:build cuda

// The functions of libcuda.so.1, so that a binary with CUDA support starts on machines that have no driver: each is a jump through a variable that ixprove_load_cuda
// fills. Before that, and where a driver lacks a function, a call returns an error.

#include <dlfcn.h>
#include <stddef.h>

typedef int (*function)(void);

static int absent(void) { return 801; } // CUDA_ERROR_NOT_SUPPORTED

#if defined(__x86_64__)
#define JUMP(name) "jmp *ixprove_" #name "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(name) "adrp x16, ixprove_" #name "\nldr x16, [x16, :lo12:ixprove_" #name "]\nbr x16\n"
#else
#error "no jump is written for this processor"
#endif

#define CALL(name)                                                                                                                  \
	__attribute__((visibility("hidden"))) function ixprove_##name = absent;                                                          \
	__asm__(".pushsection .text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" JUMP(name) ".size " #name ", . - " #name "\n.popsection\n");
#include "symbols.h"
#undef CALL

// gorgonia.org/cu calls this when the process starts and ends the process when it fails. The driver is started by ixprove_load_cuda instead, when it is needed.
int cuInit(unsigned flags) {
	(void)flags;
	return 0;
}

// Loads the driver and starts it: 0, the driver's error, -1 without a driver, -2 when it lacks a function that every driver since CUDA 12 has. what then says which.
int ixprove_load_cuda(const char **what) {
	*what = "";
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	if (!library) {
		*what = dlerror();
		return -1;
	}
	void *p;
#define CALL(name) \
	if ((p = dlsym(library, #name))) ixprove_##name = (function)p;
#include "symbols.h"
#undef CALL
	static const char *const needed[] = {"cuInit", "cuLaunchKernel", "cuMemAlloc_v2", "cuModuleLoadDataEx", "cuDevicePrimaryCtxRetain", "cuFuncSetAttribute"};
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!dlsym(library, needed[i])) {
			*what = needed[i];
			return -2;
		}
	return ((int (*)(unsigned))dlsym(library, "cuInit"))(0);
}
