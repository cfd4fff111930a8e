//go:build emulated || cuda

package cuda_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/prover/cuda"
	"github.com/ixprove/ixprove/systems/fibonacci"
	"github.com/ixprove/ixprove/verifier/field"
)

// long runs the tests of this file for every call of a proof and 200 proofs; without it, for some.
var long = flag.Bool("long", false, "try a fault and a cancellation at every call of a proof, and prove 200 times")

// shim is a driver that fails or does something at one of its calls, and knows what is allocated.
type shim struct {
	kernels.Driver
	mu     sync.Mutex
	calls  int
	at     int // the call that fails, from 1; 0 for none
	do     func()
	lost   bool // frees fail, as on a device whose context is lost
	waits  int  // calls for which the host waits until the device has done everything before
	bytes  map[kernels.Address]int64
	events map[kernels.Event]bool
}

var errInjected = errors.New("injected")

func newShim(t testing.TB) *shim {
	t.Helper()
	d, err := newDriver()
	if err != nil {
		t.Fatal(err)
	}
	return &shim{Driver: d, bytes: map[kernels.Address]int64{}, events: map[kernels.Event]bool{}}
}

// arm makes the n-th call from now fail, or do something instead.
func (s *shim) arm(n int, do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls, s.at, s.do = 0, n, do
}

func (s *shim) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// live is the number of allocations and events.
func (s *shim) live() (allocations, events int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bytes), len(s.events)
}

func (s *shim) call(place string) error {
	s.mu.Lock()
	s.calls++
	hit, do := s.calls == s.at, s.do
	s.mu.Unlock()
	switch {
	case hit && do != nil:
		do()
	case hit:
		return &kernels.Error{Kind: kernels.Failed, Place: place, What: "a fault", Err: errInjected}
	}
	return nil
}

func (s *shim) Alloc(n int64) (a kernels.Address, err error) {
	if err = s.call("allocation"); err == nil {
		if a, err = s.Driver.Alloc(n); err == nil {
			s.mu.Lock()
			s.bytes[a] = n
			s.mu.Unlock()
		}
	}
	return a, err
}

func (s *shim) Free(a kernels.Address) error {
	if s.lost {
		return &kernels.Error{Kind: kernels.Failed, Place: "free", What: "a fault", Err: errInjected}
	}
	err := s.Driver.Free(a)
	if err == nil {
		s.mu.Lock()
		delete(s.bytes, a)
		s.mu.Unlock()
	}
	return err
}

func (s *shim) AllocHost(n int64) (b []byte, err error) {
	if err = s.call("page-locked allocation"); err == nil {
		b, err = s.Driver.AllocHost(n)
	}
	return b, err
}

func (s *shim) Fill(st kernels.Stream, to kernels.Address, v byte, n int64) error {
	if err := s.call("fill"); err != nil {
		return err
	}
	return s.Driver.Fill(st, to, v, n)
}

func (s *shim) Upload(st kernels.Stream, to kernels.Address, from unsafe.Pointer, n int64) error {
	if err := s.call("upload"); err != nil {
		return err
	}
	return s.Driver.Upload(st, to, from, n)
}

func (s *shim) UploadRows(st kernels.Stream, to kernels.Address, pitch int64, from unsafe.Pointer, n, count int64) error {
	if err := s.call("upload"); err != nil {
		return err
	}
	return s.Driver.UploadRows(st, to, pitch, from, n, count)
}

func (s *shim) Download(st kernels.Stream, to unsafe.Pointer, from kernels.Address, n int64) error {
	if err := s.call("download"); err != nil {
		return err
	}
	s.mu.Lock()
	s.waits++
	s.mu.Unlock()
	return s.Driver.Download(st, to, from, n)
}

func (s *shim) Copy(st kernels.Stream, to, from kernels.Address, n int64) error {
	if err := s.call("copy"); err != nil {
		return err
	}
	return s.Driver.Copy(st, to, from, n)
}

func (s *shim) Launch(l *kernels.Launch) error {
	if err := s.call("launch of " + l.Kernel); err != nil {
		return err
	}
	return s.Driver.Launch(l)
}

func (s *shim) Compile(ctx context.Context, sources []kernels.Source, compile bool) (kernels.Compilation, error) {
	if err := s.call("compilation"); err != nil {
		return kernels.Compilation{}, err
	}
	return s.Driver.Compile(ctx, sources, compile)
}

func (s *shim) NewEvent() (e kernels.Event, err error) {
	if err = s.call("event"); err == nil {
		if e, err = s.Driver.NewEvent(); err == nil {
			s.mu.Lock()
			s.events[e] = true
			s.mu.Unlock()
		}
	}
	return e, err
}

func (s *shim) Synchronize(st kernels.Stream) error {
	s.mu.Lock()
	s.waits++
	s.mu.Unlock()
	return s.Driver.Synchronize(st)
}

func (s *shim) NewStream() (kernels.Stream, error) {
	if err := s.call("stream"); err != nil {
		return 0, err
	}
	return s.Driver.NewStream()
}

func (s *shim) Wait(st kernels.Stream, e kernels.Event) error {
	if err := s.call("event"); err != nil {
		return err
	}
	return s.Driver.Wait(st, e)
}

func (s *shim) Record(e kernels.Event, st kernels.Stream) error {
	if err := s.call("event"); err != nil {
		return err
	}
	return s.Driver.Record(e, st)
}

func (s *shim) Finish(e kernels.Event) error {
	if err := s.call("event"); err != nil {
		return err
	}
	return s.Driver.Finish(e)
}

func (s *shim) FreeEvent(e kernels.Event) error {
	err := s.Driver.FreeEvent(e)
	if err == nil {
		s.mu.Lock()
		delete(s.events, e)
		s.mu.Unlock()
	}
	return err
}

func (s *shim) Elapsed(from, to kernels.Event) (time.Duration, error) {
	if err := s.call("event"); err != nil {
		return 0, err
	}
	return s.Driver.Elapsed(from, to)
}

// small is a small proof, made anew on a shim's device, and what it must be.
type small struct {
	shim    *shim
	backend *cuda.Backend
	key     *prover.ProvingKey
	witness *prover.Witness
	want    []byte
}

func newSmall(t testing.TB) *small {
	t.Helper()
	p := &small{shim: newShim(t), key: keygen(t, fibonacci.System(), "dev")}
	p.backend = cuda.New(p.shim)
	p.backend.Code = policies[len(policies)-1]
	t.Cleanup(func() {
		if err := p.backend.Close(); err != nil {
			t.Error(err)
		}
	})
	var err error
	if p.witness, err = fibonacci.Witness([]uint32{0, 5, 6}, 2, p.key.Profile.MinLogHeight); err != nil {
		t.Fatal(err)
	}
	// The host writes the rows of the first shard, a kernel those of the second.
	table := &p.witness.Shards[1].Tables[0]
	table.Trace = newCells(t, table.Trace, int(p.key.Circuits[0].Circuit.Columns), 1<<table.LogHeight)
	r, err := prover.Prove(context.Background(), p.key, p.witness, prover.Options{Backend: cpu.Backend{}})
	if err != nil {
		t.Fatal(err)
	}
	p.want = r.Proof
	return p
}

// cells is a trace whose seeds are its values, column after column.
type cells struct {
	prover.TraceWriter
	values []field.Element
}

func newCells(t testing.TB, w prover.TraceWriter, columns, height int) cells {
	t.Helper()
	c := cells{w, make([]field.Element, columns*height)}
	var to [][]field.Element
	for i := range columns {
		to = append(to, c.values[i*height:(i+1)*height])
	}
	if err := w.WriteRows(to, 0); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c cells) RowKernels() []prover.RowKernel {
	return []prover.RowKernel{{Name: "rows_words", Items: len(c.values), Words: 1, Threads: 1, Seeds: func(words []uint64, first int) {
		for i := range words {
			words[i] = uint64(c.values[first+i])
		}
	}}}
}

func (p *small) prove(ctx context.Context) ([]byte, error) {
	r, err := prover.Prove(ctx, p.key, p.witness, prover.Options{Backend: p.backend})
	if err != nil {
		return nil, err
	}
	return r.Proof, nil
}

// left is the number of allocations and events that are left, besides the block that the backend keeps.
func (p *small) left() (allocations, events int) {
	a, e := p.shim.live()
	return a - p.backend.Kept(), e
}

// healthy checks that nothing is left on the device, and that a proof is made there.
func (p *small) healthy(t *testing.T, after string) {
	t.Helper()
	if a, e := p.left(); a+e > 0 {
		t.Fatalf("%s: %d allocations and %d events are left", after, a, e)
	}
	p.shim.arm(0, nil)
	got, err := p.prove(context.Background())
	if err != nil {
		t.Fatalf("%s: the next proof: %v", after, err)
	}
	if !bytes.Equal(got, p.want) {
		t.Fatalf("%s: the next proof is another", after)
	}
}

// moments lists the calls of a proof to try: all, or about `some`.
func (p *small) moments(t *testing.T, some int) (out []int) {
	t.Helper()
	p.healthy(t, "at first") // staging memory stays from now on
	p.healthy(t, "once more")
	n := p.shim.count()
	step := max(1, n/some)
	if *long {
		step = 1
	}
	for i := 1; i <= n; i += step {
		out = append(out, i)
	}
	t.Logf("%d calls of the driver, of which %d are tried", n, len(out))
	return out
}

// Every allocation, copy, launch or event that fails ends the proof with a typed error that says where, and leaves the device as it was.
func TestFaults(t *testing.T) {
	p := newSmall(t)
	for i, n := range p.moments(t, 60) {
		p.shim.arm(n, nil)
		_, err := p.prove(context.Background())
		var typed *cuda.Error
		if !errors.As(err, &typed) || !errors.Is(err, errInjected) {
			t.Fatalf("call %d failed: %v", n, err)
		}
		if i%8 == 0 || *long {
			p.healthy(t, typed.Error())
		} else if a, e := p.shim.live(); a+e > 0 { // not even the block
			t.Fatalf("%v: %d allocations and %d events are left", err, a, e)
		}
	}
	p.healthy(t, "at last")
}

// The staging memory is taken once, by the first proof.
func TestFaultsOfStaging(t *testing.T) {
	for n := 1; n <= 6; n++ {
		p := newSmall(t)
		p.shim.arm(n, nil)
		if _, err := p.prove(context.Background()); !errors.Is(err, errInjected) {
			t.Fatalf("call %d failed: %v", n, err)
		}
		p.healthy(t, "at first")
	}
}

// On a device that does not even take memory back no further proof begins.
func TestLostDevice(t *testing.T) {
	p := newSmall(t)
	p.healthy(t, "at first")
	p.shim.lost = true
	p.shim.arm(10, nil)
	if _, err := p.prove(context.Background()); !errors.Is(err, errInjected) {
		t.Fatal(err)
	}
	p.shim.lost = false
	var typed *cuda.Error
	if _, err := p.prove(context.Background()); !errors.As(err, &typed) || !errors.Is(err, errInjected) {
		t.Fatal(err)
	}
}

// A proof that waits for another to end can be cancelled.
func TestTurns(t *testing.T) {
	p := newSmall(t)
	s, err := p.backend.Open(context.Background(), prover.Job{Suite: p.key.Suite, LogBlowup: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.prove(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s.Close()
	s.Close()
	p.healthy(t, "its turn")
}

// A proof that is cancelled ends with the context's error and leaves the device as it was.
func TestCancelling(t *testing.T) {
	p := newSmall(t)
	for i, n := range p.moments(t, 30) {
		ctx, cancel := context.WithCancel(context.Background())
		p.shim.arm(n, cancel)
		if _, err := p.prove(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled at call %d: %v", n, err)
		}
		cancel()
		if i%8 == 0 || *long {
			p.healthy(t, "cancelled")
		} else if a, e := p.left(); a+e > 0 {
			t.Fatalf("cancelled at call %d: %d allocations and %d events are left", n, a, e)
		}
	}
	p.healthy(t, "at last")
}

// patient is a driver whose compiler takes until it is told to end.
type patient struct {
	*shim
	compiles chan struct{} // given a value when it begins
}

func (p *patient) Compile(ctx context.Context, _ []kernels.Source, _ bool) (kernels.Compilation, error) {
	select {
	case p.compiles <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return kernels.Compilation{}, ctx.Err()
}

// A proof that waits for compiled kernels can be cancelled, and one that fails does not wait for them.
func TestEndOfCompilation(t *testing.T) {
	p := newSmall(t)
	d := &patient{p.shim, make(chan struct{}, 1)}
	b := cuda.New(d)
	b.Code = kernels.CodeCompile
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-d.compiles
		time.Sleep(100 * time.Millisecond) // it is waited for then, or soon
		cancel()
	}()
	if _, err := prover.Prove(ctx, p.key, p.witness, prover.Options{Backend: b}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	p.shim.arm(1, nil)
	if _, err := prover.Prove(context.Background(), p.key, p.witness, prover.Options{Backend: b}); !errors.Is(err, errInjected) {
		t.Fatal(err)
	}
	p.shim.arm(40, nil)
	if _, err := prover.Prove(context.Background(), p.key, p.witness, prover.Options{Backend: b}); !errors.Is(err, errInjected) {
		t.Fatal(err)
	}
	p.healthy(t, "compilations")
}

// Proofs one after the other are the same and take the same memory.
func TestRepeated(t *testing.T) {
	p := newSmall(t)
	proofs := 10
	if *long {
		proofs = 200
	}
	for range proofs {
		p.healthy(t, "in between")
	}
}
