// Package kernels runs the prover's CUDA kernels: the device interface with its accounting, and one checked Go function for each kernel of kernels/cu.
//
// Two drivers implement the interface. Package driver is an NVIDIA card (build tag cuda); package emulated runs the same sources, compiled as C++, on the processor
// (build tag emulated), so that every kernel is tested where there is no card. Without tags both say what they are missing.
//
// Matrices are column-major: element (row, column) of a matrix of height n is at column*n + row. Extended matrices hold each column as blowup slabs of n values, each in
// bit-reversed order (docs/protocol.md section 1). Words over the extension field are field.Ext values one after the other. All stored field elements are canonical.
package kernels

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
)

// Address is a place in device memory; 0 is none.
type Address uint64

// Stream is a queue of work that a device does in order; 0 is the device's own.
type Stream uint64

// Event is a mark in a stream; 0 is none.
type Event uint64

// Info says what a device is.
type Info struct {
	Index         int    // the driver's number, as CUDA_VISIBLE_DEVICES leaves it
	Name          string // the product's
	UUID          string // 8-4-4-4-12 hexadecimal digits after "GPU-"
	MemoryBytes   int64  // all of the card's
	Major, Minor  int    // compute capability
	Processors    int    // streaming multiprocessors
	CacheBytes    int64  // second-level cache
	SharedBytes   int    // shared memory that a block may ask for
	DriverVersion int    // of the CUDA interface, 1000*major + 10*minor
}

// Launch is one start of a kernel.
type Launch struct {
	Kernel        string
	Grid, Block   [3]uint32 // blocks, and threads in a block
	SharedBytes   int       // dynamic shared memory of a block
	Args          unsafe.Pointer
	ArgBytes      int // the kernel's one parameter, a structure
	Stream        Stream
	Before, After Event // recorded around the launch where they are not 0
}

// Source is a kernel that is written at run time, for one device or any.
type Source struct {
	Kernel   string // its name, a digest of its text
	Text     string // PTX
	ArgBytes int    // of its parameter block
}

// Compilation is what came of sources.
type Compilation struct {
	Ready    bool          // all kernels can be launched; a driver without a compiler never says so
	Compiled int           // kernels that were compiled
	Cached   int           // kernels that were found on disk
	Elapsed  time.Duration // of both
	Note     string        // why compiled kernels are not on disk now, or were not taken from there
}

// Driver is what a machine has to offer. Calls on a stream are done in order; Upload and Download return when the host's memory can be used again, Synchronize, Finish and Elapsed
// when the device has come so far, the others may return at once. Errors are *Error. A Driver is safe for concurrent use.
type Driver interface {
	Info() Info
	Alloc(bytes int64) (Address, error)
	Free(a Address) error
	AllocHost(bytes int64) ([]byte, error) // page-locked where that makes copies faster
	FreeHost(b []byte) error
	Fill(s Stream, to Address, v byte, bytes int64) error
	Upload(s Stream, to Address, from unsafe.Pointer, bytes int64) error
	// UploadRows copies `count` runs of `bytes` bytes, one after the other in the host's memory, to places that are pitch bytes apart. The host's memory must stay as it is until the
	// stream has come so far.
	UploadRows(s Stream, to Address, pitch int64, from unsafe.Pointer, bytes, count int64) error
	Download(s Stream, to unsafe.Pointer, from Address, bytes int64) error
	Copy(s Stream, to, from Address, bytes int64) error
	Launch(l *Launch) error
	// Compile makes kernels that Launch then knows. Unless compile is set it takes only what costs no compilation, because it is on disk or was made before. The context ends it after
	// the kernels that are being compiled.
	Compile(ctx context.Context, sources []Source, compile bool) (Compilation, error)
	NewStream() (Stream, error)
	FreeStream(s Stream) error
	Synchronize(s Stream) error
	NewEvent() (Event, error)
	FreeEvent(e Event) error
	Record(e Event, s Stream) error
	Wait(s Stream, e Event) error
	Finish(e Event) error                          // waits for what was done before e was recorded
	Elapsed(from, to Event) (time.Duration, error) // waits for both
	Close() error
}

// Kind is a class of device errors.
type Kind int

// The kinds.
const (
	Unsupported Kind = iota + 1 // this build or this machine cannot do it
	NoDevice                    // there is no such device
	NoMemory                    // the device refused an allocation
	BadRange                    // a caller's shape is outside of what a kernel or a buffer takes
	Failed                      // a copy, launch or event failed
)

// String names the kind.
func (k Kind) String() string {
	return [...]string{"", "unsupported", "no device", "no memory", "bad range", "failed"}[k]
}

// Error is a failure of a device.
type Error struct {
	Kind  Kind
	Place string // the operation, and the kernel where there is one
	What  string // what happened, with the numbers that matter
	Next  string // what to do about it; may be empty
	Err   error  // the cause, where another package gave one
}

// Error implements error.
func (e *Error) Error() string {
	s := "ixprove: device: " + e.Place + ": " + e.Kind.String() + ": " + e.What
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Next != "" {
		s += " (" + e.Next + ")"
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func outOfRange(place, what string, args ...any) error {
	return &Error{Kind: BadRange, Place: place, What: fmt.Sprintf(what, args...)}
}

// Counters is what a device did since it was opened.
type Counters struct {
	BytesUp, BytesDown int64
	Launches           int64
	Now, Peak          int64 // bytes allocated
	Stages             []Stage
}

// Stage is the share of one stage label, in the order in which stages were first entered.
type Stage struct {
	Label              string
	BytesUp, BytesDown int64
	Launches           int64
	Busy               time.Duration // between the start and the end of its kernels, by the device's clock
	Code               CodeCounters
}

// Device is an open device: a driver with range checks, accounting and timing. It is safe for concurrent use; stage labels are the device's, not a goroutine's.
type Device struct {
	driver  Driver
	mu      sync.Mutex
	live    map[Address]int64
	total   Counters
	stage   int // of total.Stages
	pending []timing
	spare   []Event
	tables  tables
	code    CodePolicy
	written *Library

	preparing   map[libraryKey]*preparation
	compiling   context.Context // of compilations
	interrupted context.CancelFunc
}

// timing is a launch whose time is not yet known.
type timing struct {
	stage         int
	before, after Event
}

// New wraps a driver. The device owns it.
func New(d Driver) *Device {
	ctx, cancel := context.WithCancel(context.Background())
	return &Device{
		driver: d, live: map[Address]int64{}, written: NewLibrary(), preparing: map[libraryKey]*preparation{}, compiling: ctx, interrupted: cancel,
		total: Counters{Stages: []Stage{{Label: "start"}}},
	}
}

// Interrupt ends compilations, now and later, with an error: a circuit's may take a minute where there are few processors.
func (d *Device) Interrupt() { d.interrupted() }

// Info says what the device is.
func (d *Device) Info() Info { return d.driver.Info() }

// Enter charges what follows to a stage.
func (d *Device) Enter(label string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.total.Stages {
		if d.total.Stages[i].Label == label {
			d.stage = i
			return
		}
	}
	d.stage = len(d.total.Stages)
	d.total.Stages = append(d.total.Stages, Stage{Label: label})
}

// Counters waits for the kernels that were launched and returns what the device did.
func (d *Device) Counters() (Counters, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.settle(0); err != nil {
		return Counters{}, err
	}
	c := d.total
	c.Stages = append([]Stage(nil), c.Stages...)
	return c, nil
}

// settle adds up the pending times but for the last few.
func (d *Device) settle(few int) error {
	for len(d.pending) > few {
		t := d.pending[0]
		busy, err := d.driver.Elapsed(t.before, t.after)
		if err != nil {
			return err
		}
		d.total.Stages[t.stage].Busy += busy
		d.spare = append(d.spare, t.before, t.after)
		d.pending = d.pending[1:]
	}
	return nil
}

// maxPending bounds the events that wait to be read.
const maxPending = 1 << 7

// event takes a spare event or makes one.
func (d *Device) event() (Event, error) {
	if n := len(d.spare); n > 0 {
		e := d.spare[n-1]
		d.spare = d.spare[:n-1]
		return e, nil
	}
	return d.driver.NewEvent()
}

// Start launches a kernel. params is a structure of 8-byte fields, laid out as the kernel's.
func Start[P any](d *Device, kernel string, grid, block [3]uint32, sharedBytes int, params *P) error {
	return d.start(kernel, grid, block, sharedBytes, unsafe.Pointer(params), int(unsafe.Sizeof(*params)))
}

func (d *Device) start(kernel string, grid, block [3]uint32, sharedBytes int, args unsafe.Pointer, argBytes int) error {
	for i, limit := range [3]uint32{math.MaxInt32, 65535, 65535} {
		if grid[i] == 0 || grid[i] > limit || block[i] == 0 || block[i] > 1024 {
			return outOfRange("launch of "+kernel, "grid %v, block %v", grid, block)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.pending) == maxPending {
		if err := d.settle(maxPending / 2); err != nil { // launches of long ago, so that the device goes on
			return err
		}
	}
	before, err := d.event()
	if err != nil {
		return err
	}
	after, err := d.event()
	if err != nil {
		d.spare = append(d.spare, before)
		return err
	}
	err = d.driver.Launch(&Launch{
		Kernel: kernel, Grid: grid, Block: block, SharedBytes: sharedBytes,
		Args: args, ArgBytes: argBytes, Before: before, After: after,
	})
	if err != nil {
		d.spare = append(d.spare, before, after)
		return err
	}
	d.pending = append(d.pending, timing{d.stage, before, after})
	d.total.Launches++
	d.total.Stages[d.stage].Launches++
	return nil
}

// linear is a one-dimensional grid of threads over n items, n > 0. One of too many blocks is none that starts.
func linear(n uint64, threads uint32) (grid, block [3]uint32) {
	return [3]uint32{uint32(min((n-1)/uint64(threads)+1, math.MaxUint32)), 1, 1}, [3]uint32{threads, 1, 1}
}

// Synchronize waits until the device has done everything.
func (d *Device) Synchronize() error { return d.driver.Synchronize(0) }

// AllocHost takes host memory from which uploads are fast.
func (d *Device) AllocHost(bytes int64) ([]byte, error) { return d.driver.AllocHost(bytes) }

// FreeHost gives back memory of AllocHost.
func (d *Device) FreeHost(b []byte) error { return d.driver.FreeHost(b) }

// Close frees everything that is still allocated, and the driver.
func (d *Device) Close() error {
	d.Interrupt()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.preparing {
		<-p.done
	}
	first := d.driver.Synchronize(0)
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	for _, t := range d.pending {
		d.spare = append(d.spare, t.before, t.after)
	}
	for _, e := range d.spare {
		keep(d.driver.FreeEvent(e))
	}
	for a := range d.live {
		keep(d.driver.Free(a))
	}
	d.pending, d.spare, d.live, d.tables = nil, nil, map[Address]int64{}, tables{}
	d.total.Now = 0
	keep(d.driver.Close())
	return first
}

// Value is what device memory can hold.
type Value interface {
	uint8 | uint32 | uint64 | field.Element | field.Ext | formats.Digest
}

// Array is n values in device memory, or part of such an array. The zero Array is empty.
type Array[T Value] struct {
	device *Device
	at     Address
	n      int
}

// Alloc takes device memory for n values; the values are undefined. n = 0 takes none.
func Alloc[T Value](d *Device, n int) (Array[T], error) {
	var v T
	size := int64(unsafe.Sizeof(v))
	if n < 0 || int64(n) > math.MaxInt64/size {
		return Array[T]{}, outOfRange("allocation", "%d values of %d bytes", n, size)
	}
	if n == 0 {
		return Array[T]{device: d}, nil
	}
	bytes := int64(n) * size
	a, err := d.driver.Alloc(bytes)
	if err != nil {
		return Array[T]{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.live[a] = bytes
	d.total.Now += bytes
	d.total.Peak = max(d.total.Peak, d.total.Now)
	return Array[T]{d, a, n}, nil
}

// From takes device memory and fills it with values.
func From[T Value](d *Device, values []T) (Array[T], error) {
	a, err := Alloc[T](d, len(values))
	if err != nil {
		return a, err
	}
	if err := a.Upload(values); err != nil {
		a.Free()
		return Array[T]{}, err
	}
	return a, nil
}

// Len is the number of values.
func (a Array[T]) Len() int { return a.n }

// Bytes is the size.
func (a Array[T]) Bytes() int64 {
	var v T
	return int64(a.n) * int64(unsafe.Sizeof(v))
}

// Address is where the first value is.
func (a Array[T]) Address() Address { return a.at }

// Slice is the part from i to j-1. It must not outlive the array, and only whole arrays are freed.
func (a Array[T]) Slice(i, j int) (Array[T], error) {
	if i < 0 || j < i || j > a.n {
		return Array[T]{}, outOfRange("slice", "%d to %d of %d values", i, j, a.n)
	}
	var v T
	return Array[T]{a.device, a.at + Address(i)*Address(unsafe.Sizeof(v)), j - i}, nil
}

// Free gives an array back once the work that was launched before is done. Freeing an empty array does nothing; freeing twice, or a part, is an error.
func (a Array[T]) Free() error {
	if a.n == 0 {
		return nil
	}
	a.device.mu.Lock()
	defer a.device.mu.Unlock()
	bytes, ok := a.device.live[a.at]
	if !ok || bytes != a.Bytes() {
		return outOfRange("free", "%d values at %#x are no array", a.n, uint64(a.at))
	}
	if err := a.device.driver.Free(a.at); err != nil {
		return err
	}
	delete(a.device.live, a.at)
	a.device.total.Now -= bytes
	return nil
}

// Upload copies values to the start of the array.
func (a Array[T]) Upload(values []T) error {
	if len(values) > a.n {
		return outOfRange("upload", "%d values to an array of %d", len(values), a.n)
	}
	if len(values) == 0 {
		return nil
	}
	bytes := int64(len(values)) * int64(unsafe.Sizeof(values[0]))
	if err := a.device.driver.Upload(0, a.at, unsafe.Pointer(unsafe.SliceData(values)), bytes); err != nil {
		return err
	}
	a.device.mu.Lock()
	defer a.device.mu.Unlock()
	a.device.total.BytesUp += bytes
	a.device.total.Stages[a.device.stage].BytesUp += bytes
	return nil
}

// UploadTile begins to copy some rows of a matrix of `height` values a column, those from `first` on: values holds `rows` values of each column, one column after the other, and must
// stay as it is until the stream has come so far.
func (a Array[T]) UploadTile(s Stream, values []T, rows, first, height int) error {
	const place = "upload of a tile"
	if rows < 1 || first < 0 || height < 1 || rows > height || first > height-rows || len(values)%rows != 0 || len(values)/rows > a.n/height {
		return outOfRange(place, "%d values, rows %d to %d of %d, of a matrix of %d", len(values), first, first+rows, height, a.n)
	}
	if len(values) == 0 {
		return nil
	}
	var v T
	size := int64(unsafe.Sizeof(v))
	err := a.device.driver.UploadRows(s, a.at+Address(int64(first)*size), int64(height)*size, unsafe.Pointer(unsafe.SliceData(values)), int64(rows)*size, int64(len(values)/rows))
	if err != nil {
		return err
	}
	a.device.mu.Lock()
	defer a.device.mu.Unlock()
	bytes := int64(len(values)) * size
	a.device.total.BytesUp += bytes
	a.device.total.Stages[a.device.stage].BytesUp += bytes
	return nil
}

// Download copies the start of the array to values, after the work that was launched before.
func (a Array[T]) Download(values []T) error {
	if len(values) > a.n {
		return outOfRange("download", "%d values of an array of %d", len(values), a.n)
	}
	if len(values) == 0 {
		return nil
	}
	bytes := int64(len(values)) * int64(unsafe.Sizeof(values[0]))
	if err := a.device.driver.Download(0, unsafe.Pointer(unsafe.SliceData(values)), a.at, bytes); err != nil {
		return err
	}
	a.device.mu.Lock()
	defer a.device.mu.Unlock()
	a.device.total.BytesDown += bytes
	a.device.total.Stages[a.device.stage].BytesDown += bytes
	return nil
}

// Copy copies from another array of at most this length, on the device.
func (a Array[T]) Copy(from Array[T]) error {
	if from.n > a.n {
		return outOfRange("copy", "%d values to an array of %d", from.n, a.n)
	}
	if from.n == 0 {
		return nil
	}
	return a.device.driver.Copy(0, a.at, from.at, from.Bytes())
}

// Clear makes all bytes zero.
func (a Array[T]) Clear() error {
	if a.n == 0 {
		return nil
	}
	return a.device.driver.Fill(0, a.at, 0, a.Bytes())
}

// need checks that an array has at least n values.
func need[T Value](place, name string, a Array[T], n uint64) error {
	if uint64(a.n) < n {
		return outOfRange(place, "%s has %s values, needs %d", name, strconv.Itoa(a.n), n)
	}
	return nil
}
