//go:build emulated

// The emulated device: blocks one after the other, the threads of a block as fibers that switch at barriers.
//
// It detects accesses outside of allocations (each ends at a page that may not be touched, and begins after one), barriers that not all threads reach, and reads of
// values never written (fresh memory, global and shared, holds a pattern that a download refuses; see POISON).

#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

#include "field_check.cu"
#include "fri.cu"
#include "hash.cu"
#include "limbs_check.cu"
#include "lookup.cu"
#include "ntt_10.cu"
#include "ntt_10_wide.cu"
#include "ntt_5.cu"
#include "ntt_6.cu"
#include "ntt_7.cu"
#include "ntt_8.cu"
#include "ntt_9.cu"
#include "ntt_small.cu"
#include "open.cu"
#include "quotient.cu"
#include "rows.cu"
#include "rows_blake3.cu"

#include "emulator.h"
#include "faulty_kernels.hpp"

Dim3 threadIdx, blockIdx, blockDim, gridDim;

static const u64 POISON = EMULATOR_POISON;
static const size_t STACK_BYTES = 256 << 10;
static const size_t SHARED_BYTES = 227 << 10; // of compute capability 9.0

static KernelEntry *entries;

KernelEntry::KernelEntry(const char *name, u64 param_bytes, u64 max_threads, KernelBody body)
	: name(name), param_bytes(param_bytes), max_threads(max_threads), body(body), next(entries) {
	entries = this;
}

namespace {

enum State { READY, AT_WARP_BARRIER, AT_BLOCK_BARRIER, DONE };

struct Fiber {
	jmp_buf at;
	ucontext_t start;
	bool started = false;
	State state = DONE;
	Dim3 index = {0, 0, 0};
	u64 exchanged = 0;
};

std::mutex running;
std::vector<Fiber *> fibers;
std::map<uintptr_t, size_t> allocations; // usable bytes by address
std::mutex allocations_mutex;

Fiber *current;
jmp_buf scheduler;
sigjmp_buf fault;
uintptr_t fault_address;
struct sigaction previous_action;
thread_local volatile bool in_kernel;

KernelBody body;
const void *parameters;
u64 *shared;
size_t shared_bytes;

void fiber_main() {
	for (;;) {
		body(parameters);
		current->state = DONE;
		if (!_setjmp(current->at)) _longjmp(scheduler, 1);
	}
}

void resume(Fiber *f) {
	current = f;
	threadIdx = f->index;
	if (_setjmp(scheduler)) return;
	if (f->started) _longjmp(f->at, 1);
	f->started = true;
	setcontext(&f->start);
}

void pause_at(State s) {
	Fiber *f = current;
	f->state = s;
	if (!_setjmp(f->at)) _longjmp(scheduler, 1);
}

// A fiber that a fault left in the middle of a kernel starts anew.
void restart(Fiber *f) {
	f->started = false;
	f->state = DONE;
	makecontext(&f->start, fiber_main, 0);
}

bool need_fibers(size_t n) {
	while (fibers.size() < n) {
		Fiber *f = new Fiber;
		void *stack = mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (stack == MAP_FAILED || getcontext(&f->start) != 0) {
			delete f;
			return false;
		}
		f->start.uc_stack.ss_sp = stack;
		f->start.uc_stack.ss_size = STACK_BYTES;
		f->start.uc_link = nullptr;
		restart(f);
		fibers.push_back(f);
	}
	return true;
}

void on_fault(int number, siginfo_t *info, void *context) {
	if (in_kernel) {
		fault_address = (uintptr_t)info->si_addr;
		siglongjmp(fault, 1);
	}
	if (previous_action.sa_flags & SA_SIGINFO)
		previous_action.sa_sigaction(number, info, context);
	else if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN)
		previous_action.sa_handler(number);
	else
		abort();
}

// Runs the threads of a block until all are done. The result says what went wrong, nullptr for nothing. Odd blocks run their threads backwards, so that a missing
// barrier does not go unseen because threads happen to run in the order that it would have made.
const char *run_block(size_t threads, bool backwards) {
	for (size_t t = 0; t < threads; t++) {
		Fiber *f = fibers[t];
		f->state = READY;
		f->index = {unsigned(t % blockDim.x), unsigned(t / blockDim.x % blockDim.y), unsigned(t / blockDim.x / blockDim.y)};
	}
	size_t warps = (threads + 31) / 32;
	for (;;) {
		size_t done = 0, waiting = 0;
		for (size_t w = 0; w < warps; w++) {
			size_t first = 32 * (backwards ? warps - 1 - w : w), n = threads - first < 32 ? threads - first : 32;
			for (;;) {
				size_t at_warp = 0;
				for (size_t l = 0; l < n; l++) {
					Fiber *f = fibers[first + (backwards ? n - 1 - l : l)];
					if (f->state == READY) resume(f);
				}
				for (size_t l = 0; l < n; l++) at_warp += fibers[first + l]->state == AT_WARP_BARRIER;
				if (at_warp == 0) break;
				if (at_warp != n) return "a barrier or shuffle of a warp that not all of its threads reach";
				for (size_t l = 0; l < n; l++) fibers[first + l]->state = READY;
			}
			for (size_t l = 0; l < n; l++) {
				done += fibers[first + l]->state == DONE;
				waiting += fibers[first + l]->state == AT_BLOCK_BARRIER;
			}
		}
		if (done == threads) return nullptr;
		if (waiting != threads) return "a barrier of a block that not all of its threads reach";
		for (size_t t = 0; t < threads; t++) fibers[t]->state = READY;
	}
}

void poison(void *at, size_t bytes) {
	u64 *p = (u64 *)at;
	for (size_t i = 0; i < bytes / 8; i++) p[i] = POISON;
	memset((char *)at + bytes / 8 * 8, (int)(POISON & 0xff), bytes % 8);
}

void describe_fault(char *text, size_t size, const char *kernel) {
	const std::lock_guard<std::mutex> guard(allocations_mutex);
	int n = snprintf(text, size, "kernel %s, block (%u, %u, %u), thread (%u, %u, %u): access outside of every allocation", kernel, blockIdx.x, blockIdx.y, blockIdx.z,
		threadIdx.x, threadIdx.y, threadIdx.z);
	for (auto &a : allocations) {
		if (fault_address >= a.first + a.second && fault_address - (a.first + a.second) < 1 << 16)
			snprintf(text + n, size - n, ": %zu bytes after the end of one of %zu bytes", size_t(fault_address - (a.first + a.second)), a.second);
		else if (fault_address < a.first && a.first - fault_address < 1 << 16)
			snprintf(text + n, size - n, ": %zu bytes before one of %zu bytes", size_t(a.first - fault_address), a.second);
	}
}

size_t page() { return (size_t)sysconf(_SC_PAGESIZE); }

// An allocation's usable bytes end where its last page ends, but for what alignment to 16 bytes needs.
size_t span(size_t bytes) { return (bytes + page() - 1) / page() * page(); }

} // namespace

void block_barrier() { pause_at(AT_BLOCK_BARRIER); }

void warp_barrier() { pause_at(AT_WARP_BARRIER); }

u64 *shared_memory() { return shared; }

u64 shuffle_xor(u64 v, u32 mask) {
	current->exchanged = v;
	warp_barrier();
	size_t self = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
	u64 r = fibers[self / 32 * 32 + (self % 32 ^ mask)]->exchanged;
	warp_barrier();
	return r;
}

extern "C" void *emulator_alloc(uint64_t bytes) {
	size_t inner = span(bytes);
	char *base = (char *)mmap(nullptr, inner + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED) return nullptr;
	if (mprotect(base + page(), inner, PROT_READ | PROT_WRITE) != 0) {
		munmap(base, inner + 2 * page());
		return nullptr;
	}
	char *at = base + page() + (inner - (bytes + 15) / 16 * 16);
	poison(base + page(), inner);
	const std::lock_guard<std::mutex> guard(allocations_mutex);
	allocations[(uintptr_t)at] = bytes;
	return at;
}

extern "C" int emulator_free(void *at) {
	const std::lock_guard<std::mutex> guard(allocations_mutex);
	auto a = allocations.find((uintptr_t)at);
	if (a == allocations.end()) return 0;
	size_t inner = span(a->second);
	munmap((char *)((uintptr_t)at / page() * page()) - page(), inner + 2 * page());
	allocations.erase(a);
	return 1;
}

// Whether some allocation contains the bytes.
extern "C" int emulator_contains(void *at, uint64_t bytes) {
	const std::lock_guard<std::mutex> guard(allocations_mutex);
	auto a = allocations.upper_bound((uintptr_t)at);
	if (a == allocations.begin()) return 0;
	--a;
	uintptr_t offset = (uintptr_t)at - a->first;
	return offset <= a->second && bytes <= a->second - offset;
}

extern "C" int emulator_launch(const char *kernel, const uint32_t grid[3], const uint32_t block[3], uint64_t dynamic_shared_bytes, const void *params,
	uint64_t param_bytes, char *text, uint64_t text_bytes) {
	const std::lock_guard<std::mutex> guard(running);
	KernelEntry *e = entries;
	while (e && strcmp(e->name, kernel) != 0) e = e->next;
	u64 threads = (u64)block[0] * block[1] * block[2];
	if (!e) return snprintf(text, text_bytes, "there is no kernel %s", kernel), 0;
	if (e->param_bytes != param_bytes)
		return snprintf(text, text_bytes, "kernel %s takes %llu bytes of parameters, got %llu", kernel, e->param_bytes, (u64)param_bytes), 0;
	if (threads > e->max_threads) return snprintf(text, text_bytes, "kernel %s runs at most %llu threads a block, got %llu", kernel, e->max_threads, threads), 0;
	if (dynamic_shared_bytes > SHARED_BYTES) return snprintf(text, text_bytes, "kernel %s asks for %llu bytes of shared memory", kernel, (u64)dynamic_shared_bytes), 0;
	if (!need_fibers(threads)) return snprintf(text, text_bytes, "the system refused stacks for %llu threads", threads), 0;
	u64 *memory = dynamic_shared_bytes ? (u64 *)emulator_alloc(dynamic_shared_bytes) : nullptr;
	if (dynamic_shared_bytes && !memory) return snprintf(text, text_bytes, "the system refused shared memory"), 0;
	body = e->body;
	parameters = params;
	shared = memory;
	shared_bytes = dynamic_shared_bytes;
	blockDim = {block[0], block[1], block[2]};
	gridDim = {grid[0], grid[1], grid[2]};

	struct sigaction action;
	memset(&action, 0, sizeof action);
	action.sa_sigaction = on_fault;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
	struct sigaction previous_bus;
	sigaction(SIGSEGV, &action, &previous_action);
	sigaction(SIGBUS, &action, &previous_bus);
	const char *wrong = nullptr;
	bool ok = true;
	if (sigsetjmp(fault, 1) == 0) {
		in_kernel = true;
		for (blockIdx.z = 0; blockIdx.z < grid[2] && !wrong; blockIdx.z++)
			for (blockIdx.y = 0; blockIdx.y < grid[1] && !wrong; blockIdx.y++)
				for (blockIdx.x = 0; blockIdx.x < grid[0] && !wrong; blockIdx.x++) {
					if (memory) poison(memory, dynamic_shared_bytes);
					wrong = run_block(threads, (blockIdx.x + blockIdx.y + blockIdx.z) & 1);
				}
		in_kernel = false;
		if (wrong) {
			snprintf(text, text_bytes, "kernel %s: %s", kernel, wrong);
			ok = false;
		}
	} else {
		in_kernel = false;
		describe_fault(text, text_bytes, kernel);
		ok = false;
	}
	sigaction(SIGSEGV, &previous_action, nullptr);
	sigaction(SIGBUS, &previous_bus, nullptr);
	if (!ok)
		for (Fiber *f : fibers) restart(f);
	if (memory) emulator_free(memory);
	return ok;
}
