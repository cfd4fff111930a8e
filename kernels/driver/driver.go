//go:build cuda

// Package driver is an NVIDIA card, through the CUDA driver (gorgonia.org/cu, and library.go for what that lacks).
//
// The driver's library is loaded when it is first needed, so that a binary with CUDA support starts anywhere. Calls are made on the caller's thread, which holds the device's
// primary context for as long: handing them to a thread of the device's own cost more than most of them take.
package driver

import (
	"fmt"
	"io/fs"
	"regexp"
	"runtime"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/ixprove/ixprove/kernels"
	sources "github.com/ixprove/ixprove/kernels/cu"
)

// Built says whether this build has CUDA support.
const Built = true

// Devices lists the devices that the driver shows.
func Devices() ([]kernels.Info, error) {
	if err := load(); err != nil {
		return nil, err
	}
	n, err := cu.NumDevices()
	if err != nil {
		return nil, failed("list of devices", err)
	}
	infos := make([]kernels.Info, n)
	for i := range infos {
		if infos[i], err = describeDevice(i); err != nil {
			return nil, err
		}
	}
	return infos, nil
}

// sharedBytesOptIn is CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN.
const sharedBytesOptIn cu.DeviceAttribute = 97

func describeDevice(index int) (kernels.Info, error) {
	place := "device " + strconv.Itoa(index)
	info := kernels.Info{Index: index, DriverVersion: cu.Version()}
	d, err := cu.GetDevice(index)
	if err != nil {
		return info, failed(place, err)
	}
	if info.Name, err = d.Name(); err != nil {
		return info, failed(place, err)
	}
	uuid, err := d.UUID()
	if err != nil {
		return info, failed(place, err)
	}
	info.UUID = "GPU-" + uuid.String()
	if info.MemoryBytes, err = d.TotalMem(); err != nil {
		return info, failed(place, err)
	}
	var cache int
	for _, a := range []struct {
		to   *int
		what cu.DeviceAttribute
	}{
		{&info.Major, cu.ComputeCapabilityMajor}, {&info.Minor, cu.ComputeCapabilityMinor}, {&info.Processors, cu.MultiprocessorCount}, {&cache, cu.L2CacheSize},
		{&info.SharedBytes, sharedBytesOptIn},
	} {
		if *a.to, err = d.Attribute(a.what); err != nil {
			return info, failed(place, err)
		}
	}
	info.CacheBytes = int64(cache)
	return info, nil
}

// Open opens the device with an index among those that the driver shows.
func Open(index int) (*kernels.Device, error) {
	d, err := NewDriver(index)
	if err != nil {
		return nil, err
	}
	return kernels.New(d), nil
}

// NewDriver is the driver of Open, for callers that wrap it.
func NewDriver(index int) (kernels.Driver, error) {
	infos, err := Devices()
	if err != nil {
		return nil, err
	}
	if index < 0 || index >= len(infos) {
		return nil, &kernels.Error{
			Kind: kernels.NoDevice, Place: "device " + strconv.Itoa(index), What: fmt.Sprintf("the driver shows %d devices", len(infos)),
			Next: "ixprove devices lists them; CUDA_VISIBLE_DEVICES hides and renumbers them",
		}
	}
	d := &driver{
		info: infos[index], modules: map[string]unsafe.Pointer{}, functions: map[string]*loaded{},
		streams: map[kernels.Stream]cu.Stream{0: {}}, events: map[kernels.Event]cu.Event{0: {}},
	}
	if d.kernels, err = indexOf(sources.PTX); err != nil {
		return nil, err
	}
	if d.device, err = cu.GetDevice(index); err != nil {
		return nil, failed("device", err)
	}
	if d.context, err = d.device.RetainPrimaryCtx(); err != nil {
		return nil, failed("primary context", err)
	}
	return d, nil
}

// Check has a device's driver compile all kernels, as far as it does not have them from before.
func Check(index int) (err error) {
	opened, err := NewDriver(index)
	if err != nil {
		return err
	}
	d := opened.(*driver)
	defer func() {
		if closed := d.Close(); err == nil {
			err = closed
		}
	}()
	return d.do(func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		for name, e := range d.kernels {
			if _, err := d.load("kernel "+name, &kernels.Launch{Kernel: name, ArgBytes: e.argBytes}); err != nil {
				return err
			}
		}
		return nil
	})
}

// entry is a kernel of a PTX file.
type entry struct {
	file     string
	argBytes int
}

var entryPattern = regexp.MustCompile(`\.entry (\w+)\(\s*\.param \.align 8 \.b8 \w+\[(\d+)\]`)

// indexOf lists the kernels of the PTX files.
func indexOf(files fs.FS) (map[string]entry, error) {
	names, err := fs.Glob(files, "*.ptx")
	if err != nil {
		return nil, err
	}
	entries := map[string]entry{}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		for _, m := range entryPattern.FindAllSubmatch(text, -1) {
			size, err := strconv.Atoi(string(m[2]))
			if err != nil {
				return nil, err
			}
			entries[string(m[1])] = entry{name, size}
		}
	}
	return entries, nil
}

// loaded is a kernel in the device's context.
type loaded struct {
	function    unsafe.Pointer
	sharedBytes int // allowed so far
}

type driver struct {
	info    kernels.Info
	device  cu.Device
	context cu.CUContext

	open   sync.RWMutex // held for reading by calls, so that none is under way when the context is given back
	closed bool

	compiling sync.Mutex // held while kernels are made that were written at run time

	mu        sync.Mutex // of what follows
	kernels   map[string]entry
	modules   map[string]unsafe.Pointer
	functions map[string]*loaded
	streams   map[kernels.Stream]cu.Stream
	events    map[kernels.Event]cu.Event
	next      uint64
	staging   []byte // page-locked, for small copies
	staged    int    // bytes of it that copies which may be under way use
}

// do makes a call of the CUDA driver.
func (d *driver) do(f func() error) error {
	d.open.RLock()
	defer d.open.RUnlock()
	if d.closed {
		return &kernels.Error{Kind: kernels.BadRange, Place: "device " + strconv.Itoa(d.info.Index), What: "it is closed"}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cu.SetCurrentContext(d.context); err != nil {
		return failed("primary context", err)
	}
	return f()
}

const (
	stagingBytes = 4 << 20
	smallBytes   = 256 << 10
)

// stage returns page-locked memory for a copy of at most smallBytes. It waits for the copies before when all of it was given out. d.mu is held.
func (d *driver) stage(bytes int64) (b []byte, err error) {
	if d.staging == nil {
		if d.staging, err = allocHost(stagingBytes); err != nil {
			return nil, err
		}
	}
	if d.staged+int(bytes) > stagingBytes {
		if err := cu.Synchronize(); err != nil {
			return nil, failed("wait for the device", err)
		}
		d.staged = 0
	}
	b = d.staging[d.staged : d.staged+int(bytes)]
	d.staged += (int(bytes) + 255) &^ 255
	return b, nil
}

// Info implements kernels.Driver.
func (d *driver) Info() kernels.Info { return d.info }

// Alloc implements kernels.Driver.
func (d *driver) Alloc(bytes int64) (a kernels.Address, err error) {
	err = d.do(func() error {
		p, err := cu.MemAlloc(bytes)
		a = kernels.Address(p)
		if err != nil {
			free, total, _ := cu.MemInfo()
			return failed(fmt.Sprintf("allocation of %d bytes (%d of %d free)", bytes, free, total), err)
		}
		return nil
	})
	return a, err
}

// Free implements kernels.Driver.
func (d *driver) Free(a kernels.Address) error {
	return d.do(func() error { return failed("free", cu.MemFree(cu.DevicePtr(a))) })
}

// AllocHost implements kernels.Driver.
func (d *driver) AllocHost(bytes int64) (b []byte, err error) {
	err = d.do(func() error { b, err = allocHost(bytes); return err })
	return b, err
}

// FreeHost implements kernels.Driver.
func (d *driver) FreeHost(b []byte) error {
	return d.do(func() error {
		return failed("free of page-locked memory", cu.MemFreeHost(unsafe.Pointer(unsafe.SliceData(b))))
	})
}

// on runs a call with a stream.
func (d *driver) on(place string, s kernels.Stream, f func(cu.Stream) error) error {
	return d.do(func() error {
		d.mu.Lock()
		stream, ok := d.streams[s]
		d.mu.Unlock()
		if !ok {
			return &kernels.Error{Kind: kernels.BadRange, Place: place, What: fmt.Sprintf("%d is no stream", s)}
		}
		return failed(place, f(stream))
	})
}

// Fill implements kernels.Driver.
func (d *driver) Fill(s kernels.Stream, to kernels.Address, v byte, bytes int64) error {
	return d.on("fill", s, func(stream cu.Stream) error { return cu.MemsetD8Async(cu.DevicePtr(to), v, bytes, stream) })
}

// Upload implements kernels.Driver. A small copy is made from page-locked memory, and not waited for.
func (d *driver) Upload(s kernels.Stream, to kernels.Address, from unsafe.Pointer, bytes int64) error {
	return d.on(fmt.Sprintf("upload of %d bytes", bytes), s, func(stream cu.Stream) error {
		if bytes <= smallBytes {
			d.mu.Lock()
			defer d.mu.Unlock()
			staged, err := d.stage(bytes)
			if err != nil {
				return err
			}
			copy(staged, unsafe.Slice((*byte)(from), bytes))
			return cu.MemcpyHtoDAsync(cu.DevicePtr(to), unsafe.Pointer(unsafe.SliceData(staged)), bytes, stream)
		}
		if err := cu.MemcpyHtoDAsync(cu.DevicePtr(to), from, bytes, stream); err != nil {
			return err
		}
		return stream.Synchronize()
	})
}

// UploadRows implements kernels.Driver.
func (d *driver) UploadRows(s kernels.Stream, to kernels.Address, pitch int64, from unsafe.Pointer, bytes, count int64) error {
	return d.on(fmt.Sprintf("upload of %d runs of %d bytes", count, bytes), s, func(stream cu.Stream) error {
		return uploadRows(handle(stream), to, pitch, from, bytes, count)
	})
}

// Download implements kernels.Driver.
func (d *driver) Download(s kernels.Stream, to unsafe.Pointer, from kernels.Address, bytes int64) error {
	return d.on(fmt.Sprintf("download of %d bytes", bytes), s, func(stream cu.Stream) error {
		if err := cu.MemcpyDtoHAsync(to, cu.DevicePtr(from), bytes, stream); err != nil {
			return err
		}
		return stream.Synchronize()
	})
}

// Copy implements kernels.Driver.
func (d *driver) Copy(s kernels.Stream, to, from kernels.Address, bytes int64) error {
	return d.on(fmt.Sprintf("copy of %d bytes", bytes), s, func(stream cu.Stream) error {
		return cu.MemcpyDtoDAsync(cu.DevicePtr(to), cu.DevicePtr(from), bytes, stream)
	})
}

// handle is the C handle in one of gorgonia.org/cu's types, each of which is a structure of just that.
func handle[T cu.Stream | cu.Event](v T) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&v))
}

// defaultSharedBytes is what a kernel may use without asking.
const defaultSharedBytes = 48 << 10

// Launch implements kernels.Driver.
func (d *driver) Launch(l *kernels.Launch) error {
	place := "launch of " + l.Kernel
	return d.do(func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		f, err := d.load(place, l)
		if err != nil {
			return err
		}
		stream, ok := d.streams[l.Stream]
		before, ok1 := d.events[l.Before]
		after, ok2 := d.events[l.After]
		if !ok || !ok1 || !ok2 {
			return &kernels.Error{Kind: kernels.BadRange, Place: place, What: fmt.Sprintf("stream %d, events %d and %d are not all there", l.Stream, l.Before, l.After)}
		}
		return start(place, f, l, handle(stream), handle(before), handle(after))
	})
}

// load finds a kernel, compiling its file when that is first needed. d.mu is held.
func (d *driver) load(place string, l *kernels.Launch) (unsafe.Pointer, error) {
	e, ok := d.kernels[l.Kernel]
	if !ok || e.argBytes != l.ArgBytes {
		return nil, &kernels.Error{Kind: kernels.Failed, Place: place, What: fmt.Sprintf("no such kernel, or one of %d bytes of parameters instead of %d", e.argBytes, l.ArgBytes)}
	}
	f := d.functions[l.Kernel]
	if f == nil {
		m, ok := d.modules[e.file]
		if !ok {
			text, err := sources.PTX.ReadFile(e.file)
			if err != nil {
				return nil, err
			}
			if m, err = module("compilation of "+e.file, append(text, 0)); err != nil {
				return nil, err
			}
			d.modules[e.file] = m
		}
		p, err := function(place, m, l.Kernel)
		if err != nil {
			return nil, err
		}
		f = &loaded{p, defaultSharedBytes}
		d.functions[l.Kernel] = f
	}
	if l.SharedBytes > f.sharedBytes {
		if err := allowShared(place, f.function, l.SharedBytes); err != nil {
			return nil, err
		}
		f.sharedBytes = l.SharedBytes
	}
	return f.function, nil
}

// NewStream implements kernels.Driver.
func (d *driver) NewStream() (s kernels.Stream, err error) {
	err = d.do(func() error {
		stream, err := cu.MakeStream(cu.NonBlocking)
		if err != nil {
			return failed("stream", err)
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.next++
		s = kernels.Stream(d.next)
		d.streams[s] = stream
		return nil
	})
	return s, err
}

// FreeStream implements kernels.Driver.
func (d *driver) FreeStream(s kernels.Stream) error {
	return d.on("stream", s, func(stream cu.Stream) error {
		if s == 0 {
			return nil
		}
		d.mu.Lock()
		delete(d.streams, s)
		d.mu.Unlock()
		return stream.Destroy()
	})
}

// Synchronize implements kernels.Driver.
func (d *driver) Synchronize(s kernels.Stream) error {
	return d.on("wait for the device", s, func(stream cu.Stream) error { return stream.Synchronize() })
}

// NewEvent implements kernels.Driver.
func (d *driver) NewEvent() (e kernels.Event, err error) {
	err = d.do(func() error {
		event, err := cu.MakeEvent(cu.DefaultEvent)
		if err != nil {
			return failed("event", err)
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.next++
		e = kernels.Event(d.next)
		d.events[e] = event
		return nil
	})
	return e, err
}

// event runs a call with an event.
func (d *driver) event(e kernels.Event, f func(cu.Event) error) error {
	return d.do(func() error {
		event, err := d.eventOf(e)
		if err != nil {
			return err
		}
		return f(event)
	})
}

func (d *driver) eventOf(e kernels.Event) (cu.Event, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	event, ok := d.events[e]
	if !ok || e == 0 {
		return event, &kernels.Error{Kind: kernels.BadRange, Place: "event", What: fmt.Sprintf("%d is no event", e)}
	}
	return event, nil
}

// FreeEvent implements kernels.Driver.
func (d *driver) FreeEvent(e kernels.Event) error {
	return d.event(e, func(event cu.Event) error {
		d.mu.Lock()
		delete(d.events, e)
		d.mu.Unlock()
		return failed("event", cu.DestroyEvent(&event))
	})
}

// Record implements kernels.Driver.
func (d *driver) Record(e kernels.Event, s kernels.Stream) error {
	return d.on("event", s, func(stream cu.Stream) error {
		event, err := d.eventOf(e)
		if err != nil {
			return err
		}
		return event.Record(stream)
	})
}

// Wait implements kernels.Driver.
func (d *driver) Wait(s kernels.Stream, e kernels.Event) error {
	return d.on("event", s, func(stream cu.Stream) error {
		event, err := d.eventOf(e)
		if err != nil {
			return err
		}
		return stream.Wait(event, 0)
	})
}

// Finish implements kernels.Driver.
func (d *driver) Finish(e kernels.Event) error {
	return d.event(e, func(event cu.Event) error { return failed("wait for the device", event.Synchronize()) })
}

// Elapsed implements kernels.Driver.
func (d *driver) Elapsed(from, to kernels.Event) (t time.Duration, err error) {
	err = d.event(to, func(end cu.Event) error {
		begin, err := d.eventOf(from)
		if err != nil {
			return err
		}
		if err := end.Synchronize(); err != nil {
			return failed("wait for the device", err)
		}
		ms, err := begin.Elapsed(end)
		t = time.Duration(ms * float64(time.Millisecond))
		return failed("event", err)
	})
	return t, err
}

// Close implements kernels.Driver. It gives the primary context back.
func (d *driver) Close() error {
	free := d.do(func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.staging == nil {
			return nil
		}
		at := unsafe.Pointer(unsafe.SliceData(d.staging))
		d.staging = nil
		return failed("free of page-locked memory", cu.MemFreeHost(at))
	})
	d.open.Lock()
	defer d.open.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	if err := d.device.ReleasePrimaryCtx(); err != nil {
		return failed("primary context", err)
	}
	return free
}
