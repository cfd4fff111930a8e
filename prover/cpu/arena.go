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
	live map[*byte]allocation
	now  int64 // bytes given out
	peak int64
}

// allocation is a buffer that is in use; mapped is nil for one on the heap.
type allocation struct {
	size   int
	mapped []byte
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
	if n == 0 {
		return nil, nil
	}
	size := n * int(unsafe.Sizeof(v))
	var out []T
	var mapped []byte
	if size < small {
		out = make([]T, n)
	} else {
		var err error
		if mapped, err = mapMemory(size); err != nil {
			return nil, errors.Join(errMemory, err)
		}
		out = unsafe.Slice((*T)(unsafe.Pointer(&mapped[0])), n)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.live == nil {
		a.live = map[*byte]allocation{}
	}
	a.live[(*byte)(unsafe.Pointer(&out[0]))] = allocation{size, mapped}
	a.now += int64(size)
	a.peak = max(a.peak, a.now)
	return out, nil
}

// release gives back a buffer that buffer returned; other slices and nil are left alone.
func release[T any](a *arena, s []T) {
	if cap(s) == 0 {
		return
	}
	p := (*byte)(unsafe.Pointer(unsafe.SliceData(s)))
	a.mu.Lock()
	defer a.mu.Unlock()
	if b, ok := a.live[p]; ok {
		a.drop(p, b)
	}
}

// close gives back everything.
func (a *arena) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for p, b := range a.live {
		a.drop(p, b)
	}
}

func (a *arena) drop(p *byte, b allocation) {
	delete(a.live, p)
	a.now -= int64(b.size)
	if b.mapped != nil {
		unmapMemory(b.mapped)
	}
}
