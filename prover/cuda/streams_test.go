//go:build emulated && !cuda

package cuda_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/kernels/emulated"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cuda"
	"github.com/ixprove/ixprove/systems/blake3"
)

// queues is a device that does nothing before it must: calls join their stream's queue, and what runs when is up to an order that may do anything which streams and events allow. A copy or a
// kernel that lacks an event to wait for then finds memory as it was, or as it will be.
type queues struct {
	kernels.Driver
	order func(q *queues) // called after each call

	mu       sync.Mutex
	queued   map[kernels.Stream][]entry
	recorded map[kernels.Event]*mark
	longest  int
	failed   error
}

// entry is one of three.
type entry struct {
	run    func() error
	record *mark
	wait   *mark
}

type mark struct {
	stream kernels.Stream
	done   bool
}

func newQueues(order func(*queues)) *queues {
	return &queues{Driver: emulated.NewDriver(), order: order, queued: map[kernels.Stream][]entry{}, recorded: map[kernels.Event]*mark{}}
}

// step runs the next entry of a stream, unless that waits for another stream, or the queue is empty.
func (q *queues) step(s kernels.Stream) bool {
	list := q.queued[s]
	if len(list) == 0 || list[0].wait != nil && !list[0].wait.done {
		return false
	}
	q.queued[s] = list[1:]
	switch e := list[0]; {
	case e.record != nil:
		e.record.done = true
	case e.run != nil:
		if err := e.run(); q.failed == nil {
			q.failed = err
		}
	}
	return true
}

// drain runs a stream until a mark is passed, or to its end, and what it waits for.
func (q *queues) drain(s kernels.Stream, until *mark) {
	for len(q.queued[s]) > 0 && (until == nil || !until.done) {
		if w := q.queued[s][0].wait; w != nil {
			q.drain(w.stream, w)
		}
		q.step(s)
	}
}

func (q *queues) drainAll() {
	for s := range q.queued {
		q.drain(s, nil)
	}
}

// add queues entries; finish says what the host waits for.
func (q *queues) add(s kernels.Stream, finish bool, entries ...entry) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.queued[s] = append(q.queued[s], entries...)
	q.longest = max(q.longest, len(q.queued[s]))
	if finish {
		q.drain(s, nil)
	} else {
		q.order(q)
	}
	return q.failed
}

func (q *queues) mark(e kernels.Event, s kernels.Stream) entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	m := &mark{stream: s}
	q.recorded[e] = m
	return entry{record: m}
}

func (q *queues) finish(events ...kernels.Event) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range events {
		if m := q.recorded[e]; m != nil {
			q.drain(m.stream, m)
		}
	}
	return q.failed
}

func (q *queues) Fill(s kernels.Stream, to kernels.Address, v byte, n int64) error {
	return q.add(s, false, entry{run: func() error { return q.Driver.Fill(s, to, v, n) }})
}

func (q *queues) Upload(s kernels.Stream, to kernels.Address, from unsafe.Pointer, n int64) error {
	kept := slices.Clone(unsafe.Slice((*byte)(from), n)) // the host's memory can be used again
	return q.add(s, false, entry{run: func() error { return q.Driver.Upload(s, to, unsafe.Pointer(unsafe.SliceData(kept)), n) }})
}

func (q *queues) UploadRows(s kernels.Stream, to kernels.Address, pitch int64, from unsafe.Pointer, n, count int64) error {
	return q.add(s, false, entry{run: func() error { return q.Driver.UploadRows(s, to, pitch, from, n, count) }})
}

func (q *queues) Download(s kernels.Stream, to unsafe.Pointer, from kernels.Address, n int64) error {
	return q.add(s, true, entry{run: func() error { return q.Driver.Download(s, to, from, n) }})
}

func (q *queues) Copy(s kernels.Stream, to, from kernels.Address, n int64) error {
	return q.add(s, false, entry{run: func() error { return q.Driver.Copy(s, to, from, n) }})
}

func (q *queues) Launch(l *kernels.Launch) error {
	kept, args := *l, make([]uint64, (l.ArgBytes+7)/8)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(args))), l.ArgBytes), unsafe.Slice((*byte)(l.Args), l.ArgBytes))
	kept.Args = unsafe.Pointer(unsafe.SliceData(args))
	return q.add(l.Stream, false, q.mark(l.Before, l.Stream), entry{run: func() error { return q.Driver.Launch(&kept) }}, q.mark(l.After, l.Stream))
}

func (q *queues) Record(e kernels.Event, s kernels.Stream) error {
	return q.add(s, false, q.mark(e, s))
}

func (q *queues) Wait(s kernels.Stream, e kernels.Event) error {
	q.mu.Lock()
	m := q.recorded[e]
	q.mu.Unlock()
	if m == nil {
		return nil
	}
	return q.add(s, false, entry{wait: m})
}

func (q *queues) Synchronize(s kernels.Stream) error { return q.add(s, true) }

// FreeStream leaves the stream's work to be done.
func (q *queues) FreeStream(s kernels.Stream) error { return q.Driver.FreeStream(s) }

func (q *queues) Finish(e kernels.Event) error { return q.finish(e) }

func (q *queues) Elapsed(from, to kernels.Event) (time.Duration, error) {
	if err := q.finish(from, to); err != nil {
		return 0, err
	}
	return q.Driver.Elapsed(from, to)
}

func (q *queues) FreeEvent(e kernels.Event) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.recorded, e)
	return q.Driver.FreeEvent(e)
}

// Free waits for the device, as a card's driver does.
func (q *queues) Free(a kernels.Address) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drainAll()
	return q.Driver.Free(a)
}

// orders are the extremes, and one by chance.
func orders() map[string]func(*queues) {
	run := func(which func(kernels.Stream) bool) func(*queues) {
		return func(q *queues) {
			for s := range q.queued {
				for which(s) && q.step(s) {
				}
			}
		}
	}
	all := map[string]func(*queues){
		"as late as possible": func(*queues) {},
		"kernels first":       run(func(s kernels.Stream) bool { return s == 0 }),
		"copies first":        run(func(s kernels.Stream) bool { return s != 0 }),
	}
	r := rand.New(rand.NewPCG(61, 62))
	all["by chance"] = func(q *queues) {
		streams := slices.Sorted(maps.Keys(q.queued))
		for r.IntN(3) > 0 {
			for n, s := r.IntN(8), streams[r.IntN(len(streams))]; n > 0 && q.step(s); n-- {
			}
		}
	}
	return all
}

// TestOrders proves in orders that streams and events allow, with seeds and rows in many pieces and traces that are made again where those before were: each gives the same proof.
func TestOrders(t *testing.T) {
	defer cuda.SetSlotBytes(8 * 18 * 40)()
	const width, log = 3, 10
	files := [][]byte{bytes.Repeat([]byte("ixprove"), 300)}
	hashed := keygen(t, blake3.System(), "dev")
	written := keygen(t, wide(width), "dev")
	for name, order := range orders() {
		t.Run(name, func(t *testing.T) {
			q := newQueues(order)
			b := cuda.New(q)
			defer func() {
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			}()
			w, err := blake3.WitnessOver(files, 2, hashed.Profile.MinLogHeight)
			if err != nil {
				t.Fatal(err)
			}
			same(t, b, hashed, w, true)
			for _, regenerate := range []bool{false, true} {
				tables := []prover.Table{{LogHeight: log, Trace: wideTrace(width)}, {LogHeight: log - 1, Trace: wideTrace(width)}}
				same(t, b, written, &prover.Witness{
					Claims: []formats.Claim{{Args: formats.Elements(nil).Append(5)}},
					Shards: []prover.Shard{{Tables: append(slices.Clone(tables), prover.Table{Circuit: 1, LogHeight: log, Trace: answer{}})}, {Tables: tables}},
				}, regenerate)
			}
			if q.longest < 4 {
				t.Errorf("at most %d calls were queued", q.longest)
			}
		})
	}
}
