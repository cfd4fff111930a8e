package cuda

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
)

// Trace implements prover.Session: kernels write the rows from seeds, or the host does. Either way the host fills page-locked memory while the device does what was begun before.
func (s *session) Trace(t *verifier.Table, w prover.TraceWriter) (_ prover.Matrix, err error) {
	defer s.explain(&err, "trace of %s, 2^%d rows of %d columns", t.Name, t.LogHeight, t.Columns(verifier.Main))
	m, err := s.newMatrix(passing, t.Columns(verifier.Main), t.LogHeight)
	if err != nil {
		return nil, err
	}
	d, onDevice := w.(prover.DeviceTrace)
	sent := int64(0)
	if onDevice {
		for _, k := range d.RowKernels() {
			if err = s.runRows(m, &k); err != nil {
				break
			}
			sent += 8 * int64(k.Items) * int64(k.Words)
		}
	} else {
		err = s.sendRows(m, w)
		sent = m.values.Bytes()
	}
	if err != nil {
		m.Free()
		return nil, err
	}
	at := slices.IndexFunc(s.rows, func(r prover.RowWork) bool { return r.Circuit == t.Name && r.OnDevice == onDevice })
	if at < 0 {
		at = len(s.rows)
		s.rows = append(s.rows, prover.RowWork{Circuit: t.Name, OnDevice: onDevice})
	}
	s.rows[at].Tables++
	s.rows[at].BytesUp += sent
	return m, nil
}

// Rows implements prover.Meter.
func (s *session) Rows() []prover.RowWork { return s.rows }

// runRows sends a row kernel's seeds and runs it.
func (s *session) runRows(m *matrix, k *prover.RowKernel) error {
	seeds, err := take[uint64](s, passing, k.Items*k.Words)
	if err != nil {
		return err
	}
	defer give(s, &seeds)
	if err := s.staging.begin(s.arena); err != nil {
		return err
	}
	each := max(1, slotBytes/(8*k.Words))
	for first := 0; first < k.Items; first += each {
		n := min(each, k.Items-first)
		err := send(s, n*k.Words, func(words []uint64) error {
			return share(s.ctx, n, 1, func(from, to int) error {
				k.Seeds(words[from*k.Words:to*k.Words], first+from)
				return nil
			})
		}, func(words []uint64) error {
			return seeds.UploadTile(s.staging.stream, words, len(words), first*k.Words, seeds.Len())
		})
		if err != nil {
			return err
		}
	}
	if err := s.staging.end(s.arena); err != nil {
		return err
	}
	return s.device.Rows(k.Name, m.values, 1<<m.logHeight, seeds, k.Items, k.Threads)
}

// sendRows has the host write a table's rows.
func (s *session) sendRows(m *matrix, w prover.TraceWriter) error {
	if err := s.staging.begin(s.arena); err != nil {
		return err
	}
	height := 1 << m.logHeight
	each := max(prover.RowAlign, slotBytes/formats.ElementBytes/m.columns/prover.RowAlign*prover.RowAlign)
	for first := 0; first < height; first += each {
		n := min(each, height-first)
		err := send(s, n*m.columns, func(tile []field.Element) error { return writeTile(s.ctx, w, tile, n, first) },
			func(tile []field.Element) error { return m.values.UploadTile(s.staging.stream, tile, n, first, height) })
		if err != nil {
			return err
		}
	}
	return s.staging.end(s.arena)
}

// writeTile fills a tile, column-major, with the rows from first on, on all processors.
func writeTile(ctx context.Context, w prover.TraceWriter, tile []field.Element, rows, first int) error {
	return share(ctx, rows, prover.RowAlign, func(from, to int) error {
		part := make([][]field.Element, len(tile)/rows)
		for c := range part {
			part[c] = tile[c*rows+from : c*rows+to : c*rows+to]
			clear(part[c])
		}
		if err := w.WriteRows(part, first+from); err != nil {
			return err
		}
		for c := range part {
			for r, v := range part[c] {
				if v >= field.Modulus {
					return fmt.Errorf("the trace writer wrote a value that is no field element: column %d, row %d, value %#x", c, first+from+r, uint64(v))
				}
			}
		}
		return nil
	})
}

// share calls f for ranges of n items, on all processors. Ranges begin at multiples of align. It returns the error of some range, or the context's.
func share(ctx context.Context, n, align int, f func(from, to int) error) error {
	workers := runtime.GOMAXPROCS(0)
	grain := max(align, min(1<<12, n/(4*workers)/align*align))
	var (
		next   atomic.Int64
		wait   sync.WaitGroup
		once   sync.Once
		failed error
	)
	for range min(workers, (n+grain-1)/grain) {
		wait.Go(func() {
			for {
				from := int(next.Add(int64(grain))) - grain
				if from >= n {
					return
				}
				err := f(from, min(from+grain, n))
				if err == nil {
					err = ctx.Err()
				}
				if err != nil {
					once.Do(func() { failed = err })
					next.Store(int64(n))
					return
				}
			}
		})
	}
	wait.Wait()
	return failed
}

// slotBytes is the size of a slot of staging memory: its copy takes a third of a millisecond at 55 GB/s, so that neither the copy engine nor the processors wait for the other's start.
// A table of which prover.RowAlign rows are larger has larger slots. Only tests change it.
var slotBytes = 16 << 20

// stagingSlots is enough for some to be filled while others are on their way behind other work of the device.
const stagingSlots = 4

// staging is how a session uses the backend's slots, one after the other. Copies have a stream of their own, so that they run beside kernels.
type staging struct {
	next   int
	stream kernels.Stream
	sent   [stagingSlots]kernels.Event // recorded when the copy from a slot was begun; 0 before
	turn   kernels.Event               // of one stream, for which the other waits
}

// begin has copies wait for what the kernels do now: memory that is copied to may be in use until then.
func (g *staging) begin(d kernels.Driver) (err error) {
	if g.stream == 0 {
		if g.stream, err = d.NewStream(); err != nil {
			return err
		}
	}
	if g.turn == 0 {
		if g.turn, err = d.NewEvent(); err != nil {
			return err
		}
	}
	return g.after(d, 0, g.stream)
}

// end has the kernels that are started from now on wait for the copies.
func (g *staging) end(d kernels.Driver) error { return g.after(d, g.stream, 0) }

func (g *staging) after(d kernels.Driver, first, second kernels.Stream) error {
	if err := d.Record(g.turn, first); err != nil {
		return err
	}
	return d.Wait(second, g.turn)
}

// slot waits until the next slot's memory can be written again.
func (g *staging) slot(s *session, bytes int) (i int, memory []byte, err error) {
	i = g.next
	g.next = (i + 1) % stagingSlots
	if g.sent[i] != 0 {
		if err := s.arena.Finish(g.sent[i]); err != nil {
			return 0, nil, err
		}
	} else if g.sent[i], err = s.arena.NewEvent(); err != nil {
		return 0, nil, err
	}
	memory, err = s.backend.slot(i, max(bytes, slotBytes))
	return i, memory, err
}

// close waits for the copies and gives the events back.
func (g *staging) close(d kernels.Driver) error {
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	if g.stream != 0 {
		keep(d.Synchronize(g.stream))
		keep(d.FreeStream(g.stream))
	}
	for _, e := range append(g.sent[:], g.turn) {
		if e != 0 {
			keep(d.FreeEvent(e))
		}
	}
	return first
}

// send fills n values of staging memory and begins their upload.
func send[T uint64 | field.Element](s *session, n int, fill, upload func([]T) error) error {
	if err := s.ready(); err != nil {
		return err
	}
	i, memory, err := s.staging.slot(s, 8*n)
	if err != nil {
		return err
	}
	values := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory))), n)
	if err := fill(values); err != nil {
		return err
	}
	if err := upload(values); err != nil {
		return err
	}
	return s.arena.Record(s.staging.sent[i], s.staging.stream)
}
