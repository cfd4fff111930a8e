//go:build cuda

package driver

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include <string.h>
// #include <cuda.h>
// int ixprove_load_cuda(const char **missing);
//
// static CUresult launch(void *f, const unsigned grid[3], const unsigned block[3], unsigned shared_bytes, void *stream, void *params, void *before, void *after) {
//   CUresult r = before ? cuEventRecord((CUevent)before, (CUstream)stream) : CUDA_SUCCESS;
//   if (r != CUDA_SUCCESS) return r;
//   void *list[1] = {params};
//   r = cuLaunchKernel((CUfunction)f, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared_bytes, (CUstream)stream, list, NULL);
//   if (r != CUDA_SUCCESS || !after) return r;
//   return cuEventRecord((CUevent)after, (CUstream)stream);
// }
//
// static CUresult allow_shared(void *f, int bytes) { return cuFuncSetAttribute((CUfunction)f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes); }
//
// static CUresult load_module(void **module, const char *image, char *log, size_t log_bytes) {
//   CUjit_option options[2] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
//   void *values[2] = {log, (void *)log_bytes};
//   return cuModuleLoadDataEx((CUmodule *)module, image, 2, options, values);
// }
//
// // The linker writes to the values of options, and owns the image, until it is destroyed. The image is copied.
// static CUresult compile(const char *text, size_t bytes, const char *name, unsigned level, void **image, size_t *image_bytes, char *log, size_t log_bytes) {
//   CUjit_option options[3] = {CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
//   void *values[3] = {(void *)(size_t)level, log, (void *)log_bytes};
//   CUlinkState state;
//   CUresult r = cuLinkCreate(3, options, values, &state);
//   if (r != CUDA_SUCCESS) return r;
//   void *made;
//   r = cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)text, bytes, name, 0, NULL, NULL);
//   if (r == CUDA_SUCCESS) r = cuLinkComplete(state, &made, image_bytes);
//   if (r == CUDA_SUCCESS) {
//     *image = malloc(*image_bytes);
//     if (*image) memcpy(*image, made, *image_bytes);
//     else r = CUDA_ERROR_OUT_OF_MEMORY;
//   }
//   CUresult destroyed = cuLinkDestroy(state);
//   return r != CUDA_SUCCESS ? r : destroyed;
// }
//
// static CUresult upload_rows(CUdeviceptr to, size_t pitch, const void *from, size_t bytes, size_t count, void *stream) {
//   CUDA_MEMCPY2D copy = {0};
//   copy.srcMemoryType = CU_MEMORYTYPE_HOST;
//   copy.srcHost = from;
//   copy.srcPitch = bytes;
//   copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
//   copy.dstDevice = to;
//   copy.dstPitch = pitch;
//   copy.WidthInBytes = bytes;
//   copy.Height = count;
//   return cuMemcpy2DAsync(&copy, (CUstream)stream);
// }
//
// static const char *error_name(CUresult r) {
//   const char *s = NULL;
//   return cuGetErrorName(r, &s) == CUDA_SUCCESS && s ? s : "an unknown CUDA error";
// }
import "C"

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/ixprove/ixprove/kernels"
)

// load loads libcuda.so.1 and starts it, once.
var load = sync.OnceValue(func() error {
	var missing *C.char
	switch r := C.ixprove_load_cuda(&missing); r {
	case C.CUDA_SUCCESS:
		return nil
	case -1:
		return &kernels.Error{Kind: kernels.NoDevice, Place: "CUDA", What: "there is no CUDA driver: " + C.GoString(missing), Next: "install NVIDIA's driver, or run in a container that passes it on"}
	case -2:
		return &kernels.Error{Kind: kernels.Unsupported, Place: "CUDA", What: "the driver lacks " + C.GoString(missing), Next: "update the driver to one of CUDA 12 or later"}
	case C.CUDA_ERROR_NO_DEVICE:
		return &kernels.Error{Kind: kernels.NoDevice, Place: "CUDA", What: "the driver sees no device", Next: "check CUDA_VISIBLE_DEVICES and nvidia-smi"}
	default:
		return failure("cuInit", r)
	}
})

// failure describes a failed call of this file.
func failure(place string, r C.int) error {
	return describe(place, uint32(r), fmt.Errorf("%s (%d)", C.GoString(C.error_name(C.CUresult(r))), int(r)))
}

// failed describes a failed call of gorgonia.org/cu. What is described already stays as it is.
func failed(place string, err error) error {
	var described *kernels.Error
	if err == nil || errors.As(err, &described) {
		return err
	}
	code := uint32(0)
	if v := reflect.ValueOf(err); v.Kind() == reflect.Int { // the driver's number, of a type that is not exported
		code = uint32(v.Int())
	}
	return describe(place, code, err)
}

func describe(place string, code uint32, err error) error {
	e := &kernels.Error{Kind: kernels.Failed, Place: place, What: "the driver refused", Err: err}
	switch code {
	case C.CUDA_ERROR_OUT_OF_MEMORY:
		e.Kind, e.What, e.Next = kernels.NoMemory, "out of device memory", "give the proof a smaller --vram, or free the card"
	case C.CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
		e.Kind, e.What, e.Next = kernels.Unsupported, "the driver is older than the kernels", "update the driver to one of CUDA 12 or later"
	case C.CUDA_ERROR_NO_BINARY_FOR_GPU:
		e.Kind, e.What, e.Next = kernels.Unsupported, "the card is too old", "use one of compute capability 8.0 or later"
	case C.CUDA_ERROR_ILLEGAL_ADDRESS, C.CUDA_ERROR_LAUNCH_FAILED, C.CUDA_ERROR_MISALIGNED_ADDRESS:
		e.What, e.Next = "a kernel failed on the device", "the device's context is lost: start the process again, and report the shape that was proven"
	}
	return e
}

// compileLevel is the optimisation level of kernels that are written at run time: below it they are a tenth slower, above it no faster (docs/performance.md).
const compileLevel = 2

// compile makes a binary of PTX for the current context's device. Any thread with a context may.
func compile(s *kernels.Source) ([]byte, error) {
	place := "compilation of " + s.Kernel
	text, name := C.CString(s.Text), C.CString(s.Kernel)
	defer C.free(unsafe.Pointer(text))
	defer C.free(unsafe.Pointer(name))
	const logBytes = 1 << 12
	log := (*C.char)(C.calloc(1, logBytes))
	defer C.free(unsafe.Pointer(log))
	var out unsafe.Pointer
	defer func() { C.free(out) }()
	var size C.size_t
	if r := C.compile(text, C.size_t(len(s.Text)+1), name, compileLevel, &out, &size, log, logBytes); r != C.CUDA_SUCCESS {
		return nil, explained(place, C.int(r), log)
	}
	return C.GoBytes(out, C.int(size)), nil
}

// explained is failure with what the driver's compiler says.
func explained(place string, r C.int, log *C.char) error {
	err := failure(place, r).(*kernels.Error)
	if s := C.GoString(log); s != "" {
		err.What += ": " + s
	}
	return err
}

// module compiles PTX, or loads a binary, for the current context. Text has to end with a zero byte.
func module(place string, image []byte) (unsafe.Pointer, error) {
	text := C.CBytes(image)
	defer C.free(text)
	const logBytes = 1 << 12
	log := (*C.char)(C.calloc(1, logBytes))
	defer C.free(unsafe.Pointer(log))
	var m unsafe.Pointer
	if r := C.load_module(&m, (*C.char)(text), log, logBytes); r != C.CUDA_SUCCESS {
		return nil, explained(place, C.int(r), log)
	}
	return m, nil
}

func function(place string, module unsafe.Pointer, name string) (unsafe.Pointer, error) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	var f C.CUfunction
	if r := C.cuModuleGetFunction(&f, C.CUmodule(module), text); r != C.CUDA_SUCCESS {
		return nil, failure(place, C.int(r))
	}
	return unsafe.Pointer(f), nil
}

func allowShared(place string, f unsafe.Pointer, bytes int) error {
	if r := C.allow_shared(f, C.int(bytes)); r != C.CUDA_SUCCESS {
		return failure(place, C.int(r))
	}
	return nil
}

func start(place string, f unsafe.Pointer, l *kernels.Launch, stream, before, after unsafe.Pointer) error {
	var grid, block [3]C.uint
	for i := range grid {
		grid[i], block[i] = C.uint(l.Grid[i]), C.uint(l.Block[i])
	}
	if r := C.launch(f, &grid[0], &block[0], C.uint(l.SharedBytes), stream, l.Args, before, after); r != C.CUDA_SUCCESS {
		return failure(place, C.int(r))
	}
	return nil
}

func uploadRows(stream unsafe.Pointer, to kernels.Address, pitch int64, from unsafe.Pointer, bytes, count int64) error {
	if r := C.upload_rows(C.CUdeviceptr(to), C.size_t(pitch), from, C.size_t(bytes), C.size_t(count), stream); r != C.CUDA_SUCCESS {
		return failure("upload", C.int(r))
	}
	return nil
}

func allocHost(bytes int64) ([]byte, error) {
	var p unsafe.Pointer
	if r := C.cuMemHostAlloc(&p, C.size_t(bytes), C.CU_MEMHOSTALLOC_PORTABLE); r != C.CUDA_SUCCESS {
		return nil, failure(fmt.Sprintf("page-locked allocation of %d bytes", bytes), C.int(r))
	}
	return unsafe.Slice((*byte)(p), bytes), nil
}
