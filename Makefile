# Builds that need more than Go. See docs/building.md.

CLANG ?= clang-19
NVCC ?= nvcc
NVCC_ARCH ?= sm_90
# The folder of a cuda.h of CUDA 12 or 13; without a toolkit, `make cuda-headers` first.
CUDA_INCLUDE ?= $(firstword $(wildcard /usr/local/cuda/include) $(CURDIR)/.whl/include/nvidia/cuda_runtime/include)
CUDA_ENV = CGO_ENABLED=1 CGO_CFLAGS="-I$(CURDIR)/kernels/driver/include -I$(CUDA_INCLUDE)" CGO_LDFLAGS="-L$(CURDIR)/bin/lib"
KERNEL_SOURCES = $(wildcard kernels/cu/*.cu)

.PHONY: cuda cuda-headers cuda-tests cuda-vet kernels kernels-check kernels-nvcc

# The command with CUDA support. It needs a C compiler and cuda.h, no other part of CUDA, and starts where there is no driver.
cuda: bin/lib/libcuda.a
	$(CUDA_ENV) go build -tags cuda -trimpath -o bin/ixprove ./cmd/ixprove

# The tests of the kernels and of whole proofs as programs, to be run on a machine with a card by scripts/card.sh.
cuda-tests: bin/lib/libcuda.a
	$(CUDA_ENV) go test -c -tags cuda -o bin/kernels.test ./kernels
	$(CUDA_ENV) go test -c -tags cuda -o bin/cuda.test ./prover/cuda

# What can be checked of these builds without a card.
cuda-vet: bin/lib/libcuda.a
	$(CUDA_ENV) go vet -tags cuda ./kernels/... ./prover/cuda ./cmd/...
	$(CUDA_ENV) go test -tags cuda ./kernels/driver

# An empty library answers -lcuda of gorgonia.org/cu: kernels/driver has the functions.
bin/lib/libcuda.a:
	mkdir -p bin/lib
	rm -f $@
	ar crs $@

# cuda.h from NVIDIA's wheel, into a folder that git ignores.
cuda-headers:
	python3 -m pip download --quiet --no-deps --only-binary=:all: -d .whl nvidia-cuda-runtime-cu12==12.9.79
	python3 -m zipfile -e .whl/nvidia_cuda_runtime_cu12-12.9.79-*.whl .whl/include

# The committed PTX again.
kernels:
	go generate ./kernels

# Fails when the committed PTX is not what the sources give.
kernels-check: kernels
	git diff --exit-code --stat -- kernels/cu

# The same sources by NVIDIA's compiler, with line numbers for its profilers and a report of registers and spills.
kernels-nvcc:
	mkdir -p bin/nvcc
	for f in $(KERNEL_SOURCES); do $(NVCC) -arch=$(NVCC_ARCH) -O3 -std=c++17 -lineinfo -Xptxas -v -cubin -o bin/nvcc/$$(basename $$f .cu).cubin $$f || exit 1; done
