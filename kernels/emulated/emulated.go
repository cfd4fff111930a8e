//go:build emulated

// Package emulated is a device that runs the CUDA sources, compiled as C++, on the processor.
package emulated

// #cgo CXXFLAGS: -std=c++17 -O2 -U_FORTIFY_SOURCE -fno-strict-aliasing -Wno-unknown-pragmas -I${SRCDIR}/../cu -I${SRCDIR}
// #cgo LDFLAGS: -lstdc++
// #include <stdlib.h>
// #include "emulator.h"
import "C"

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/kernels/cu"
)

// The sources are compiled into this package: it has to be built again when they change.
var _ = cu.Sources

// Open opens an emulated device. It does everything at once and in order, whatever the stream.
func Open() (*kernels.Device, error) { return kernels.New(NewDriver()), nil }

// NewDriver is the driver of Open, for callers that wrap it.
func NewDriver() kernels.Driver { return &driver{events: map[kernels.Event]time.Time{}} }

type driver struct {
	mu     sync.Mutex
	next   uint64
	events map[kernels.Event]time.Time
}

func fail(kind kernels.Kind, place, what string, args ...any) error {
	return &kernels.Error{Kind: kind, Place: "emulated " + place, What: fmt.Sprintf(what, args...)}
}

// Info implements kernels.Driver.
func (*driver) Info() kernels.Info {
	return kernels.Info{Name: "emulated", UUID: "GPU-00000000-0000-0000-0000-000000000000", MemoryBytes: 1 << 32, Major: 8, Processors: 1, CacheBytes: 1 << 20, SharedBytes: 227 << 10}
}

// Alloc implements kernels.Driver.
func (*driver) Alloc(bytes int64) (kernels.Address, error) {
	p := C.emulator_alloc(C.uint64_t(bytes))
	if p == nil {
		return 0, fail(kernels.NoMemory, "allocation", "the system refused %d bytes", bytes)
	}
	return kernels.Address(uintptr(p)), nil
}

func pointer(a kernels.Address) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&a)) // no Go memory: see Alloc
}

// Free implements kernels.Driver.
func (*driver) Free(a kernels.Address) error {
	if C.emulator_free(pointer(a)) == 0 {
		return fail(kernels.BadRange, "free", "%#x is no allocation", uint64(a))
	}
	return nil
}

// AllocHost implements kernels.Driver.
func (*driver) AllocHost(bytes int64) ([]byte, error) { return make([]byte, bytes), nil }

// FreeHost implements kernels.Driver.
func (*driver) FreeHost([]byte) error { return nil }

func (*driver) bytes(place string, a kernels.Address, n int64) ([]byte, error) {
	if n < 0 || C.emulator_contains(pointer(a), C.uint64_t(n)) == 0 {
		return nil, fail(kernels.BadRange, place, "%d bytes at %#x are in no allocation", n, uint64(a))
	}
	return unsafe.Slice((*byte)(pointer(a)), n), nil
}

// Fill implements kernels.Driver.
func (d *driver) Fill(_ kernels.Stream, to kernels.Address, v byte, bytes int64) error {
	b, err := d.bytes("fill", to, bytes)
	for i := range b {
		b[i] = v
	}
	return err
}

// Upload implements kernels.Driver.
func (d *driver) Upload(_ kernels.Stream, to kernels.Address, from unsafe.Pointer, bytes int64) error {
	b, err := d.bytes("upload", to, bytes)
	copy(b, unsafe.Slice((*byte)(from), bytes))
	return err
}

// UploadRows implements kernels.Driver.
func (d *driver) UploadRows(s kernels.Stream, to kernels.Address, pitch int64, from unsafe.Pointer, bytes, count int64) error {
	for i := range count {
		if err := d.Upload(s, to+kernels.Address(i*pitch), unsafe.Add(from, i*bytes), bytes); err != nil {
			return err
		}
	}
	return nil
}

// Download implements kernels.Driver. Memory that nothing wrote is refused.
func (d *driver) Download(_ kernels.Stream, to unsafe.Pointer, from kernels.Address, bytes int64) error {
	b, err := d.bytes("download", from, bytes)
	if err != nil {
		return err
	}
	if uint64(from)%8 == 0 {
		for i, v := range unsafe.Slice((*uint64)(pointer(from)), bytes/8) {
			if v == C.EMULATOR_POISON {
				return fail(kernels.Failed, "download", "word %d of %d was never written", i, bytes/8)
			}
		}
	}
	copy(unsafe.Slice((*byte)(to), bytes), b)
	return nil
}

// Copy implements kernels.Driver.
func (d *driver) Copy(_ kernels.Stream, to, from kernels.Address, bytes int64) error {
	dst, err := d.bytes("copy", to, bytes)
	if err != nil {
		return err
	}
	src, err := d.bytes("copy", from, bytes)
	copy(dst, src)
	return err
}

// Launch implements kernels.Driver.
func (d *driver) Launch(l *kernels.Launch) error {
	if l.Before != 0 {
		if err := d.Record(l.Before, l.Stream); err != nil {
			return err
		}
	}
	name := C.CString(l.Kernel)
	defer C.free(unsafe.Pointer(name))
	var grid, block [3]C.uint32_t
	for i := range grid {
		grid[i], block[i] = C.uint32_t(l.Grid[i]), C.uint32_t(l.Block[i])
	}
	var text [512]C.char
	ok := C.emulator_launch(name, &grid[0], &block[0], C.uint64_t(l.SharedBytes), l.Args, C.uint64_t(l.ArgBytes), &text[0], C.uint64_t(len(text)))
	runtime.KeepAlive(l.Args)
	if ok == 0 {
		return fail(kernels.Failed, "launch", "%s", C.GoString(&text[0]))
	}
	if l.After != 0 {
		return d.Record(l.After, l.Stream)
	}
	return nil
}

// Compile implements kernels.Driver: there is no compiler for PTX here.
func (*driver) Compile(context.Context, []kernels.Source, bool) (kernels.Compilation, error) {
	return kernels.Compilation{}, nil
}

func (d *driver) number() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next++
	return d.next
}

// NewStream implements kernels.Driver.
func (d *driver) NewStream() (kernels.Stream, error) { return kernels.Stream(d.number()), nil }

// FreeStream implements kernels.Driver.
func (*driver) FreeStream(kernels.Stream) error { return nil }

// Synchronize implements kernels.Driver.
func (*driver) Synchronize(kernels.Stream) error { return nil }

// NewEvent implements kernels.Driver.
func (d *driver) NewEvent() (kernels.Event, error) {
	e := kernels.Event(d.number())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events[e] = time.Time{}
	return e, nil
}

// FreeEvent implements kernels.Driver.
func (d *driver) FreeEvent(e kernels.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.events[e]; !ok {
		return fail(kernels.BadRange, "event", "%d is no event", e)
	}
	delete(d.events, e)
	return nil
}

// Record implements kernels.Driver.
func (d *driver) Record(e kernels.Event, _ kernels.Stream) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.events[e]; !ok {
		return fail(kernels.BadRange, "event", "%d is no event", e)
	}
	d.events[e] = time.Now()
	return nil
}

// Wait implements kernels.Driver.
func (*driver) Wait(kernels.Stream, kernels.Event) error { return nil }

// Finish implements kernels.Driver.
func (*driver) Finish(kernels.Event) error { return nil }

// Elapsed implements kernels.Driver.
func (d *driver) Elapsed(from, to kernels.Event) (time.Duration, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, b := d.events[from], d.events[to]
	if a.IsZero() || b.IsZero() {
		return 0, fail(kernels.BadRange, "event", "events %d and %d are not both recorded", from, to)
	}
	return b.Sub(a), nil
}

// Close implements kernels.Driver.
func (*driver) Close() error { return nil }
