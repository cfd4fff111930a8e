//go:build emulated || cuda

package cuda_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/compress/poseidon2"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/prover/cuda"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/systems/fibonacci"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
	"github.com/ixprove/ixprove/verifier/transcript"
)

func open(t testing.TB) *cuda.Backend {
	t.Helper()
	d, err := newDriver()
	if err != nil {
		t.Fatal(err)
	}
	b := cuda.New(d)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func keygen(t testing.TB, s *air.System, profile string) *prover.ProvingKey {
	t.Helper()
	p, _ := security.ProfileByName(profile)
	pk, err := prover.Keygen(context.Background(), s, hash.Blake3{}, p, cpu.Backend{})
	if err != nil {
		t.Fatal(err)
	}
	return pk
}

// same proves on the device and on the CPU, and compares bytes, peak and model.
func same(t *testing.T, b *cuda.Backend, pk *prover.ProvingKey, w *prover.Witness, regenerate bool) *prover.Result {
	t.Helper()
	want, err := prover.Prove(context.Background(), pk, w, prover.Options{Backend: cpu.Backend{}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := prover.Prove(context.Background(), pk, w, prover.Options{Backend: b, Regenerate: regenerate})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Proof, want.Proof) {
		t.Fatal("the proof differs from the CPU's")
	}
	shapes, err := prover.Shapes(pk.Key, w)
	if err != nil {
		t.Fatal(err)
	}
	model := prover.DeviceMemory(prover.NewJob(pk.Key, shapes, w, regenerate), b.Info().Processors)
	if got.PeakBytes > int64(model.Peak) || float64(got.PeakBytes) < 0.97*float64(model.Peak) {
		t.Errorf("the proof took %d bytes, the model says %d", got.PeakBytes, model.Peak)
	}
	t.Logf("%d shards: peak %d of %d", len(shapes), got.PeakBytes, model.Peak)
	return got
}

// TestSystems proves with every built-in system, every profile, and one shard or three. Without -long, blake3 only under dev and without its larger files.
func TestSystems(t *testing.T) {
	for _, policy := range policies {
		b := open(t)
		b.Code = policy
		t.Run(fmt.Sprint("code ", policy), func(t *testing.T) { systems(t, b) })
	}
}

func systems(t *testing.T, b *cuda.Backend) {
	for _, p := range security.Profiles() {
		if p.Suite != security.SuiteBlake3 {
			continue // TestOtherSuites
		}
		for _, shards := range []int{1, 3} {
			t.Run(fmt.Sprintf("fibonacci/%s/%d", p.Name, shards), func(t *testing.T) {
				w, err := fibonacci.Witness([]uint32{0, 1, 2, 90, 300, 5}, shards, p.MinLogHeight)
				if err != nil {
					t.Fatal(err)
				}
				same(t, b, keygen(t, fibonacci.System(), p.Name), w, shards > 1)
			})
			files := [][]byte{make([]byte, 1500)}
			switch {
			case *long:
				files = append(files, bytes.Repeat([]byte("ixprove"), 20000))
			case p.Name != "dev":
				continue
			}
			t.Run(fmt.Sprintf("blake3/%s/%d", p.Name, shards), func(t *testing.T) {
				w, err := blake3.WitnessOver(files, shards, p.MinLogHeight)
				if err != nil {
					t.Fatal(err)
				}
				same(t, b, keygen(t, blake3.System(), p.Name), w, shards > 1)
			})
		}
	}
}

// Every stage of a proof runs on the device: its kernels start there, seeds or rows go up once, and nothing as large as one column comes down.
func TestCounters(t *testing.T) {
	b := open(t)
	pk := keygen(t, blake3.System(), "dev")
	w, err := blake3.Witness([][]byte{make([]byte, 1500)}, nil, pk.Profile.MinLogHeight)
	if err != nil {
		t.Fatal(err)
	}
	r := same(t, b, pk, w, false)
	work := map[prover.Stage]prover.StageWork{}
	for _, s := range r.Work {
		work[s.Stage] = s
		t.Logf("%-8s %9d up %9d down %5d kernels, busy %v", s.Stage, s.BytesUp, s.BytesDown, s.Launches, s.Busy)
	}
	for _, stage := range []prover.Stage{prover.StageTrace, prover.StageCommit, prover.StagePin, prover.StageLookup, prover.StageQuotient, prover.StageOpen, prover.StageDeep, prover.StageFRI,
		prover.StageGrind, prover.StageQuery} {
		if s := work[stage]; s.Launches == 0 || s.Busy == 0 {
			t.Errorf("stage %s: %d kernels, busy for %v", stage, s.Launches, s.Busy)
		}
	}
	shapes, err := prover.Shapes(pk.Key, w)
	if err != nil {
		t.Fatal(err)
	}
	var traces, fixed, column int64
	rows := map[string]bool{}
	for i := range shapes[0].Tables {
		table := &shapes[0].Tables[i]
		d, onDevice := w.Shards[0].Tables[i].Trace.(prover.DeviceTrace)
		rows[table.Name] = onDevice
		if onDevice {
			for _, k := range d.RowKernels() {
				traces += 8 * int64(k.Items*k.Words)
			}
		} else {
			traces += int64(table.Columns(verifier.Main)) * 8 << table.LogHeight
		}
		fixed += int64(table.FixedColumns()) * 8 << table.LogHeight
		column = max(column, 8<<table.LogHeight)
	}
	if got := work[prover.StageTrace].BytesUp; got != traces {
		t.Errorf("%d bytes of traces went up, they are %d", got, traces)
	}
	if want := map[string]bool{"compress": true, "split": false, "tail": false, "bytes": true}; !maps.Equal(rows, want) {
		t.Errorf("on the device: %v", rows)
	}
	for _, r := range r.Rows {
		if r.OnDevice != rows[r.Circuit] || r.Tables != 1 {
			t.Errorf("reported: %+v", r)
		}
		traces -= r.BytesUp
	}
	if traces != 0 || len(r.Rows) != len(rows) {
		t.Errorf("%d bytes of traces are not reported: %+v", traces, r.Rows)
	}
	var up, down int64
	for _, s := range r.Work {
		if s.Stage != prover.StageTrace {
			up += s.BytesUp
		}
		if s.Stage != prover.StageQuery && s.BytesDown >= column {
			t.Errorf("%d bytes came down in stage %s, a column is %d", s.BytesDown, s.Stage, column)
		}
		down += s.BytesDown
	}
	if lists := up - fixed; lists < 0 || lists > 1<<20 {
		t.Errorf("%d bytes went up besides traces, of which %d are fixed columns", up, fixed)
	}
	if down > 2*int64(len(r.Proof)) {
		t.Errorf("%d bytes came down for a proof of %d", down, len(r.Proof))
	}
}

// With separate buffers the proof is the same. Here the emulated device, or a sanitizer, sees each buffer's end and what was never written.
func TestSeparateBuffers(t *testing.T) {
	b := open(t)
	b.Separate = true
	for _, shards := range []int{1, 2} {
		pk := keygen(t, fibonacci.System(), "dev")
		w, err := fibonacci.Witness([]uint32{0, 1, 300}, shards, pk.Profile.MinLogHeight)
		if err != nil {
			t.Fatal(err)
		}
		same(t, b, pk, w, shards > 1)
	}
	pk := keygen(t, blake3.System(), "dev")
	w, err := blake3.Witness([][]byte{make([]byte, 70)}, nil, pk.Profile.MinLogHeight)
	if err != nil {
		t.Fatal(err)
	}
	same(t, b, pk, w, false)
}

// Keys are made on the device as on the CPU.
func TestKeygen(t *testing.T) {
	b := open(t)
	p, _ := security.ProfileByName("dev")
	pk, err := prover.Keygen(context.Background(), blake3.System(), hash.Blake3{}, p, b)
	if err != nil {
		t.Fatal(err)
	}
	if pk.Digest() != keygen(t, blake3.System(), "dev").Digest() {
		t.Fatal("the key differs")
	}
}

// A proof over the budget is refused before anything is allocated.
func TestBudget(t *testing.T) {
	p := newSmall(t)
	p.backend.Budget = prover.KiB
	_, err := p.prove(context.Background())
	var e *prover.MemoryError
	if !errors.As(err, &e) || len(e.Worst.Terms) == 0 || p.shim.count() != 0 {
		t.Fatalf("%d calls of the driver, %v", p.shim.count(), err)
	}
	p.backend.Budget = 0
	p.healthy(t, "refused")
}

// wide is a system with a circuit whose first column is 0, 1 or 2 and whose others are multiples of its square, and one that answers claims.
func wide(columns int) *air.System {
	s := air.NewSystem("wide")
	c := s.Circuit("wide")
	first := c.Column("0")
	c.Assert("small", first.Mul(first.Sub(c.Const(1))).Mul(first.Sub(c.Const(2))))
	for i := 1; i < columns; i++ {
		x := c.Column(strconv.Itoa(i))
		c.Assert("column "+strconv.Itoa(i), x.Sub(first.Mul(first).Times(field.Element(i))))
	}
	answers := s.Channel("answers", 1)
	s.Entry("answer", answers, []formats.Value{{Name: "x", Type: formats.TypeField}}, nil)
	c = s.Circuit("answer")
	c.Pull(answers, c.Column("uses"), c.Column("x"))
	return s
}

// answer is the trace that answers for one claim of 5.
type answer struct{}

func (answer) WriteRows(columns [][]field.Element, first int) error {
	if first == 0 {
		columns[0][0], columns[1][0] = 1, 5
	}
	return nil
}

type wideTrace int

func (n wideTrace) WriteRows(columns [][]field.Element, first int) error {
	for r := range columns[0] {
		x := field.Element(uint64(first+r) * 0x9e3779b97f4a7c15 >> 32 % 3)
		columns[0][r] = x
		for i := 1; i < int(n); i++ {
			columns[i][r] = field.Mul(field.Mul(x, x), field.Element(i))
		}
	}
	return nil
}

// TestShapes proves tables of many widths and heights, also several of them in one shard.
func TestShapes(t *testing.T) {
	shapes := []struct {
		width   int
		heights []int
	}{{1, []int{3}}, {2, []int{10, 7, 7, 4}}, {17, []int{6, 5}}, {130, []int{5}}, {1500, []int{3}}}
	if *long {
		for log := 1; log <= maxLongHeight; log++ {
			shapes = append(shapes, struct {
				width   int
				heights []int
			}{3, []int{log}})
		}
	}
	b := open(t)
	for _, s := range shapes {
		pk := keygen(t, wide(s.width), "dev")
		tables := make([]prover.Table, len(s.heights))
		for i, h := range s.heights {
			tables[i] = prover.Table{LogHeight: max(h, pk.Profile.MinLogHeight), Trace: wideTrace(s.width)}
		}
		for _, shards := range []int{1, 2} {
			w := &prover.Witness{Claims: []formats.Claim{{Args: formats.Elements(nil).Append(5)}}}
			for range shards {
				w.Shards = append(w.Shards, prover.Shard{Tables: tables})
			}
			w.Shards[0].Tables = append(slices.Clone(tables), prover.Table{Circuit: 1, LogHeight: pk.Profile.MinLogHeight, Trace: answer{}})
			t.Logf("%d columns, heights %v", s.width, s.heights)
			same(t, b, pk, w, shards > 1)
		}
	}
}

// TestTiles sends traces in many tiles, the last of them smaller.
func TestTiles(t *testing.T) {
	const width, log = 3, 9
	defer cuda.SetSlotBytes(width * 8 * 3 * prover.RowAlign)()
	b := open(t)
	pk := keygen(t, wide(width), "dev")
	same(t, b, pk, &prover.Witness{
		Claims: []formats.Claim{{Args: formats.Elements(nil).Append(5)}},
		Shards: []prover.Shard{{Tables: []prover.Table{
			{LogHeight: log, Trace: wideTrace(width)}, {LogHeight: log - 1, Trace: wideTrace(width)}, {Circuit: 1, LogHeight: log, Trace: answer{}},
		}}},
	}, false)
}

// TestPieces sends seeds in many pieces, the last of them smaller.
func TestPieces(t *testing.T) {
	defer cuda.SetSlotBytes(8 * 18 * 100)()
	b := open(t)
	pk := keygen(t, blake3.System(), "dev")
	w, err := blake3.WitnessOver([][]byte{bytes.Repeat([]byte("ixprove"), 2500)}, 2, pk.Profile.MinLogHeight)
	if err != nil {
		t.Fatal(err)
	}
	same(t, b, pk, w, true)
}

// The host writes the next shard's rows while the device extends and hashes: neither Trace nor Commit waits for it, and a root that was not asked for outlives its tree.
func TestCommitDoesNotWait(t *testing.T) {
	p := newSmall(t)
	shapes, err := prover.Shapes(p.key.Key, p.witness)
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.backend.Open(context.Background(), prover.NewJob(p.key.Key, shapes, p.witness, true))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	commit := func(shard int) prover.Commitment {
		t.Helper()
		m, err := s.Trace(&shapes[shard].Tables[0], p.witness.Shards[shard].Tables[0].Trace)
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Commit(shapes[shard].Tree(verifier.Main, 0).Tree, []prover.Matrix{m})
		if err != nil {
			t.Fatal(err)
		}
		m.Free()
		return c
	}
	root := func(c prover.Commitment) formats.Digest {
		t.Helper()
		r, err := c.Root()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	before := p.shim.waits
	var forgotten []prover.Commitment
	for shard := range shapes {
		c := commit(shard)
		c.Free()
		forgotten = append(forgotten, c)
	}
	if p.shim.waits != before {
		t.Errorf("the host waited %d times", p.shim.waits-before)
	}
	for shard, c := range forgotten {
		if got, want := root(c), root(commit(shard)); got != want {
			t.Errorf("shard %d: the root is %x, was %x", shard, want, got)
		}
	}
}

// failing is a trace writer that fails in one of its rows, or writes what is no field element.
type failing struct {
	row int
	err error
}

func (f failing) WriteRows(columns [][]field.Element, first int) error {
	if first <= f.row && f.row < first+len(columns[0]) {
		columns[0][f.row-first] = field.Modulus
		return f.err
	}
	return nil
}

// A trace writer's error ends the proof, whatever tile it happens in.
func TestFailingWriters(t *testing.T) {
	const width, log = 1, 9
	defer cuda.SetSlotBytes(width * 8 * prover.RowAlign)()
	p := newSmall(t)
	pk := keygen(t, wide(width), "dev")
	for _, row := range []int{0, 100, 1<<log - 1} {
		for _, cause := range []error{errInjected, nil} {
			w := &prover.Witness{
				Claims: []formats.Claim{{Args: formats.Elements(nil).Append(5)}},
				Shards: []prover.Shard{{Tables: []prover.Table{{LogHeight: log, Trace: failing{row, cause}}}}},
			}
			_, err := prover.Prove(context.Background(), pk, w, prover.Options{Backend: p.backend})
			if err == nil || cause != nil && !errors.Is(err, cause) || cause == nil && !strings.Contains(err.Error(), "no field element: column 0, row "+strconv.Itoa(row)) {
				t.Errorf("row %d: %v", row, err)
			}
		}
	}
	p.healthy(t, "failing writers")
}

// unable is a trace whose rows a device could write at other times.
type unable struct{ prover.TraceWriter }

func (unable) RowKernels() []prover.RowKernel { return nil }

// Where there are no kernels for it the host writes a table, whatever its writer is.
func TestNoRowKernels(t *testing.T) {
	p := newSmall(t)
	for i := range p.witness.Shards {
		for k := range p.witness.Shards[i].Tables {
			table := &p.witness.Shards[i].Tables[k]
			table.Trace = unable{table.Trace}
		}
	}
	for _, r := range same(t, p.backend, p.key, p.witness, false).Rows {
		if r.OnDevice {
			t.Errorf("on the device: %+v", r)
		}
	}
}

// A suite without kernels is refused, with what to do instead.
func TestOtherSuites(t *testing.T) {
	_, err := open(t).Open(context.Background(), prover.Job{Suite: poseidon2.Suite{}, LogBlowup: 5})
	var e *kernels.Error
	if !errors.As(err, &e) || e.Kind != kernels.Unsupported || !strings.Contains(e.What, poseidon2.Name) || e.Next == "" {
		t.Errorf("%v", err)
	}
}

// A transcript with messages that nothing was drawn from cannot go on elsewhere: its next challenge depends on them.
func TestSpongeRefusesPendingMessages(t *testing.T) {
	s, err := open(t).Open(context.Background(), prover.Job{Suite: hash.Blake3{}, LogBlowup: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tr := transcript.New(hash.Blake3{})
	tr.Absorb(transcript.TagKey, []uint64{1})
	if _, err := s.Sponge(tr, 1); err == nil {
		t.Error("messages were lost")
	}
	tr.Challenge(transcript.TagZeta)
	sponge, err := s.Sponge(tr, 1)
	if err != nil {
		t.Fatal(err)
	}
	sponge.Free()
}
