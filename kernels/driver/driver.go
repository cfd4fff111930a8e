//go:build cuda

// Package driver is an NVIDIA card, through the CUDA driver (gorgonia.org/cu, and library.go for what that lacks).
//
// The driver's library is loaded when it is first needed, so that a binary with CUDA support starts anywhere. Each device has one operating-system thread, which holds
// the device's primary context; all calls are made there.
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
		info: infos[index], calls: make(chan func()), closed: make(chan struct{}), modules: map[string]unsafe.Pointer{}, functions: map[string]*loaded{},
		streams: map[kernels.Stream]cu.Stream{0: {}}, events: map[kernels.Event]cu.Event{0: {}},
	}
	if d.kernels, err = indexOf(sources.PTX); err != nil {
		return nil, err
	}
	go d.work()
	err = d.do(func() error {
		device, err := cu.GetDevice(index)
		if err != nil {
			return failed("device", err)
		}
		context, err := device.RetainPrimaryCtx()
		if err != nil {
			return failed("primary context", err)
		}
		d.device = device
		return failed("primary context", cu.SetCurrentContext(context))
	})
	if err != nil {
		close(d.closed)
		return nil, err
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
	calls   chan func()
	closed  chan struct{}
	closing sync.Once
	kernels map[string]entry

	// What follows belongs to the device's thread.
	device    cu.Device
	modules   map[string]unsafe.Pointer
	functions map[string]*loaded
	streams   map[kernels.Stream]cu.Stream
	events    map[kernels.Event]cu.Event
	next      uint64
}

// work runs the calls of a device on one thread. The thread ends with it.
func (d *driver) work() {
	runtime.LockOSThread()
	for {
		select {
		case f := <-d.calls:
			f()
		case <-d.closed:
			return
		}
	}
}

func (d *driver) do(f func() error) error {
	done := make(chan error, 1)
	select {
	case d.calls <- func() { done <- f() }:
		return <-done
	case <-d.closed:
		return &kernels.Error{Kind: kernels.BadRange, Place: "device " + strconv.Itoa(d.info.Index), What: "it is closed"}
	}
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
		stream, ok := d.streams[s]
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

// Upload implements kernels.Driver.
func (d *driver) Upload(s kernels.Stream, to kernels.Address, from unsafe.Pointer, bytes int64) error {
	return d.on(fmt.Sprintf("upload of %d bytes", bytes), s, func(stream cu.Stream) error {
		if err := cu.MemcpyHtoDAsync(cu.DevicePtr(to), from, bytes, stream); err != nil {
			return err
		}
		return stream.Synchronize()
	})
}

// UploadRows implements kernels.Driver.
func (d *driver) UploadRows(s kernels.Stream, to kernels.Address, pitch int64, from unsafe.Pointer, bytes, count int64) error {
	return d.on(fmt.Sprintf("upload of %d runs of %d bytes", count, bytes), s, func(stream cu.Stream) error {
		if err := uploadRows(handle(stream), to, pitch, from, bytes, count); err != nil {
			return err
		}
		return stream.Synchronize()
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

// load finds a kernel, compiling its file when that is first needed.
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
			if m, err = module("compilation of "+e.file, string(text)); err != nil {
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
		delete(d.streams, s)
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
		event, ok := d.events[e]
		if !ok || e == 0 {
			return &kernels.Error{Kind: kernels.BadRange, Place: "event", What: fmt.Sprintf("%d is no event", e)}
		}
		return f(event)
	})
}

// FreeEvent implements kernels.Driver.
func (d *driver) FreeEvent(e kernels.Event) error {
	return d.event(e, func(event cu.Event) error {
		delete(d.events, e)
		return failed("event", cu.DestroyEvent(&event))
	})
}

// Record implements kernels.Driver.
func (d *driver) Record(e kernels.Event, s kernels.Stream) error {
	return d.event(e, func(event cu.Event) error { return failed("event", event.Record(d.streams[s])) })
}

// Wait implements kernels.Driver.
func (d *driver) Wait(s kernels.Stream, e kernels.Event) error {
	return d.event(e, func(event cu.Event) error { return failed("event", d.streams[s].Wait(event, 0)) })
}

// Elapsed implements kernels.Driver.
func (d *driver) Elapsed(from, to kernels.Event) (t time.Duration, err error) {
	err = d.event(to, func(end cu.Event) error {
		if err := end.Synchronize(); err != nil {
			return failed("wait for the device", err)
		}
		ms, err := d.events[from].Elapsed(end)
		t = time.Duration(ms * float64(time.Millisecond))
		return failed("event", err)
	})
	return t, err
}

// Close implements kernels.Driver. It gives the primary context back.
func (d *driver) Close() (err error) {
	d.closing.Do(func() {
		err = d.do(func() error { return failed("primary context", d.device.ReleasePrimaryCtx()) })
		close(d.closed)
	})
	return err
}
