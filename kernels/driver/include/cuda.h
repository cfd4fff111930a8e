// Comes before the real cuda.h on the include path: gives gorgonia.org/cu, written for CUDA 12 and before, the entry points whose names CUDA 13 gave to functions with
// other parameters. The driver still exports them.
#include_next <cuda.h>
#if CUDA_VERSION >= 13000 && !defined(IXPROVE_CUDA_H)
#define IXPROVE_CUDA_H
#undef cuCtxCreate
#define cuCtxCreate cuCtxCreate_v2
#undef cuMemAdvise
#undef cuMemPrefetchAsync
#undef cuGraphAddDependencies
#undef cuGraphGetEdges
#ifdef __cplusplus
extern "C" {
#endif
CUresult CUDAAPI cuCtxCreate_v2(CUcontext *, unsigned, CUdevice);
CUresult CUDAAPI cuMemAdvise(CUdeviceptr, size_t, CUmem_advise, CUdevice);
CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr, size_t, CUdevice, CUstream);
CUresult CUDAAPI cuGraphAddDependencies(CUgraph, const CUgraphNode *, const CUgraphNode *, size_t);
CUresult CUDAAPI cuGraphGetEdges(CUgraph, CUgraphNode *, CUgraphNode *, size_t *);
#ifdef __cplusplus
}
#endif
#endif
