package cuda

import (
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
	list := prover.RowKernels(w)
	onDevice, sent := len(list) > 0, int64(0)
	if onDevice {
		for _, k := range list {
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

// runRows sends a row kernel's seeds and runs it, piece by piece. Of several pieces the first item waits for the last, after which it comes.
func (s *session) runRows(m *matrix, k *prover.RowKernel) error {
	seeds, err := take[uint64](s, passing, k.Items*k.Words)
	if err != nil {
		return err
	}
	defer give(s, &seeds)
	run := func(first, end int) error {
		if first == end {
			return nil
		}
		if err := s.staging.end(s.arena); err != nil {
			return err
		}
		return s.device.Rows(k.Name, m.values, 1<<m.logHeight, seeds, k.Items, first, end, k.Threads)
	}
	each := max(1, slotBytes/(8*k.Words))
	early := 0 // items that come last
	if each < k.Items {
		early = 1
	}
	err = stream(s, k.Items, each, k.Words, func(words []uint64, first, _ int) error {
		k.Seeds(words, first)
		return nil
	}, func(words []uint64, first, n int) error {
		if err := seeds.UploadTile(s.staging.stream, words, len(words), first*k.Words, seeds.Len()); err != nil {
			return err
		}
		return run(max(first, early), first+n)
	})
	if err != nil {
		return err
	}
	return run(0, early)
}

// sendRows has the host write a table's rows.
func (s *session) sendRows(m *matrix, w prover.TraceWriter) error {
	height := 1 << m.logHeight
	each := max(prover.RowAlign, slotBytes/formats.ElementBytes/m.columns/prover.RowAlign*prover.RowAlign)
	err := stream(s, height, each, m.columns, func(tile []field.Element, first, n int) error { return writeTile(w, tile, n, first) },
		func(tile []field.Element, first, n int) error {
			return m.values.UploadTile(s.staging.stream, tile, n, first, height)
		})
	if err != nil {
		return err
	}
	return s.staging.end(s.arena)
}

// fixed is the trace writer of columns that are there.
type fixed [][]field.Element

// WriteRows implements prover.TraceWriter.
func (f fixed) WriteRows(columns [][]field.Element, first int) error {
	for c := range columns {
		copy(columns[c], f[c][first:])
	}
	return nil
}

// writeTile fills a tile, column-major, with the rows from first on.
func writeTile(w prover.TraceWriter, tile []field.Element, rows, first int) error {
	clear(tile)
	part := make([][]field.Element, len(tile)/rows)
	for c := range part {
		part[c] = tile[c*rows : (c+1)*rows : (c+1)*rows]
	}
	if err := w.WriteRows(part, first); err != nil {
		return err
	}
	for c := range part {
		for r, v := range part[c] {
			if v >= field.Modulus {
				return fmt.Errorf("the trace writer wrote a value that is no field element: column %d, row %d, value %#x", c, first+r, uint64(v))
			}
		}
	}
	return nil
}

// slotBytes is the size of a slot of staging memory: its copy takes 40 µs at 55 GB/s, and a processor fills it in about a millisecond. A table of which prover.RowAlign rows are larger takes
// several slots for them. Only tests change it.
var slotBytes = 2 << 20

// stagingSlots is enough for sixteen processors.
const stagingSlots = 16

// staging is how a session uses the backend's slots, one after the other. Copies have a stream of their own, so that they run beside kernels.
type staging struct {
	next   int
	stream kernels.Stream
	sent   [stagingSlots]kernels.Event // recorded after the last copy from a slot
	turn   kernels.Event               // of one stream, for which the other waits
}

// begin has copies wait for what the kernels do now: memory that is copied to may be in use until then.
func (g *staging) begin(d kernels.Driver) (err error) {
	if g.stream == 0 {
		if g.stream, err = d.NewStream(); err != nil {
			return err
		}
	}
	for _, e := range append(g.events(), &g.turn) {
		if *e == 0 {
			if *e, err = d.NewEvent(); err != nil {
				return err
			}
		}
	}
	return g.after(d, 0, g.stream)
}

func (g *staging) events() (all []*kernels.Event) {
	for i := range g.sent {
		all = append(all, &g.sent[i])
	}
	return all
}

// end has the kernels that are started from now on wait for the copies.
func (g *staging) end(d kernels.Driver) error { return g.after(d, g.stream, 0) }

func (g *staging) after(d kernels.Driver, first, second kernels.Stream) error {
	if err := d.Record(g.turn, first); err != nil {
		return err
	}
	return d.Wait(second, g.turn)
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
	for _, e := range append(g.events(), &g.turn) {
		if *e != 0 {
			keep(d.FreeEvent(*e))
		}
	}
	return first
}

// turns has the pieces of a stream take turns.
type turns struct {
	mu     sync.Mutex
	moved  *sync.Cond
	sent   int // pieces
	failed error
}

// wait returns when so many pieces are sent, or false when one failed.
func (t *turns) wait(pieces int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.failed == nil && t.sent < pieces {
		t.moved.Wait()
	}
	return t.failed == nil
}

// end ends a piece's turn.
func (t *turns) end(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sent++; t.failed == nil {
		t.failed = err
	}
	t.moved.Broadcast()
}

// stream sends n items of `words` values, at most `each` in a piece: fill writes a piece's values to staging memory, concurrently for different pieces on all processors, and send begins
// their copy and what follows, piece after piece in order. Both are given the first item and the number of items.
func stream[T uint64 | field.Element](s *session, n, each, words int, fill, send func(values []T, first, n int) error) error {
	if err := s.ready(); err != nil {
		return err
	}
	g := &s.staging
	if err := g.begin(s.arena); err != nil {
		return err
	}
	memory, err := s.backend.staging()
	if err != nil {
		return err
	}
	size := (8*words*min(n, each) + slotBytes - 1) / slotBytes // of a piece, in slots
	if size > stagingSlots {
		return &kernels.Error{Kind: kernels.BadRange, Place: "staging memory", What: fmt.Sprintf("%d slots for a piece, there are %d", size, stagingSlots)}
	}
	pieces, places, base := (n+each-1)/each, stagingSlots/size, g.next
	t := turns{}
	t.moved = sync.NewCond(&t.mu)
	piece := func(i int) (ok bool) {
		first, count, slot := i*each, min(each, n-i*each), (base+i)%places*size
		if !t.wait(i - places + 1) { // for the piece before in these slots
			return false
		}
		err := s.ctx.Err()
		for k := slot; k < slot+size && err == nil; k++ {
			err = s.arena.Finish(g.sent[k])
		}
		values := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory[slot*slotBytes:]))), words*count)
		if err == nil {
			err = fill(values, first, count)
		}
		if !t.wait(i) {
			return false
		}
		if err == nil {
			err = send(values, first, count)
		}
		for k := slot; k < slot+size && err == nil; k++ {
			err = s.arena.Record(g.sent[k], g.stream)
		}
		t.end(err)
		return err == nil
	}
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < pieces && piece(i); i = int(next.Add(1)) - 1 {
		}
	}
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), pieces) - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
	g.next = (base + pieces) % stagingSlots
	return t.failed
}
