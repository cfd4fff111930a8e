package cpu

import (
	"errors"
	"sync"
	"unsafe"

	"github.com/ixprove/ixprove/verifier/field"
)

// arena gives out the large buffers of a proof outside the garbage-collected heap, so that memory returns to the system the moment a buffer is freed and
// the process stays within the model of prover.Memory.
type arena struct {
	mu   sync.Mutex
	live map[*byte][]byte
	now  int64 // bytes given out
	peak int64
}

var errMemory = errors.New("the system refused the memory")

// small is the size below which a buffer comes from the heap.
const small = 1 << 16

// elements returns n zero elements.
func (a *arena) elements(n int) ([]field.Element, error) {
	return buffer[field.Element](a, n)
}

// buffer returns n zero values of a type without pointers.
func buffer[T any](a *arena, n int) ([]T, error) {
	var v T
	size := n * int(unsafe.Sizeof(v))
	if size < small {
		return make([]T, n), nil
	}
	raw, err := mapMemory(size)
	if err != nil {
		return nil, errors.Join(errMemory, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.live == nil {
		a.live = map[*byte][]byte{}
	}
	a.live[&raw[0]] = raw
	a.now += int64(size)
	a.peak = max(a.peak, a.now)
	return unsafe.Slice((*T)(unsafe.Pointer(&raw[0])), n), nil
}

// release gives back a buffer that buffer returned; other slices and nil are left alone.
func release[T any](a *arena, s []T) {
	if cap(s) == 0 {
		return
	}
	p := (*byte)(unsafe.Pointer(unsafe.SliceData(s)))
	a.mu.Lock()
	defer a.mu.Unlock()
	if raw, ok := a.live[p]; ok {
		delete(a.live, p)
		a.now -= int64(len(raw))
		unmapMemory(raw)
	}
}

// close gives back everything.
func (a *arena) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for p, raw := range a.live {
		delete(a.live, p)
		unmapMemory(raw)
	}
	a.now = 0
}
