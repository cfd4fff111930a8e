package cuda_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
	"unsafe"

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
	"github.com/ixprove/ixprove/verifier/logup"
	"github.com/ixprove/ixprove/verifier/security"
)

// idle is a device with as much memory as is asked for, that does nothing: what comes back is zero.
type idle struct{ next kernels.Address }

func (*idle) Info() kernels.Info {
	return kernels.Info{Name: "idle", MemoryBytes: 1 << 50, Processors: 132, SharedBytes: 227 << 10}
}

func (d *idle) Alloc(bytes int64) (kernels.Address, error) {
	d.next += 1 << 50
	return d.next, nil
}

func (*idle) Free(kernels.Address) error                                 { return nil }
func (*idle) AllocHost(bytes int64) ([]byte, error)                      { return make([]byte, bytes), nil }
func (*idle) FreeHost([]byte) error                                      { return nil }
func (*idle) Fill(kernels.Stream, kernels.Address, byte, int64) error    { return nil }
func (*idle) Copy(_ kernels.Stream, _, _ kernels.Address, _ int64) error { return nil }
func (*idle) Launch(*kernels.Launch) error                               { return nil }
func (*idle) NewStream() (kernels.Stream, error)                         { return 1, nil }
func (*idle) FreeStream(kernels.Stream) error                            { return nil }
func (*idle) Synchronize(kernels.Stream) error                           { return nil }
func (*idle) NewEvent() (kernels.Event, error)                           { return 1, nil }
func (*idle) FreeEvent(kernels.Event) error                              { return nil }
func (*idle) Record(kernels.Event, kernels.Stream) error                 { return nil }
func (*idle) Wait(kernels.Stream, kernels.Event) error                   { return nil }
func (*idle) Finish(kernels.Event) error                                 { return nil }
func (*idle) Elapsed(_, _ kernels.Event) (time.Duration, error)          { return 0, nil }
func (*idle) Close() error                                               { return nil }

func (*idle) Upload(kernels.Stream, kernels.Address, unsafe.Pointer, int64) error { return nil }

func (*idle) UploadRows(kernels.Stream, kernels.Address, int64, unsafe.Pointer, int64, int64) error {
	return nil
}

func (*idle) Download(_ kernels.Stream, to unsafe.Pointer, _ kernels.Address, bytes int64) error {
	clear(unsafe.Slice((*byte)(to), bytes))
	return nil
}

func (*idle) Compile(context.Context, []kernels.Source, bool) (kernels.Compilation, error) {
	return kernels.Compilation{}, nil
}

// balanced is a backend whose sessions end a proof's lookups with a sum that balances claims and the sums before.
type balanced struct {
	*cuda.Backend
	key    *verifier.Key
	claims []formats.Claim
	left   int // tables with lookups
	peak   int64
}

type balancedSession struct {
	prover.Session
	of    *balanced
	total *field.Ext
}

func (b *balanced) Open(ctx context.Context, j prover.Job) (prover.Session, error) {
	s, err := b.Backend.Open(ctx, j)
	return &balancedSession{s, b, nil}, err
}

func (s *balancedSession) Lookups(t *verifier.Table, fixed, main prover.Matrix, ch *logup.Challenges) (prover.Matrix, field.Ext, error) {
	m, sum, err := s.Session.Lookups(t, fixed, main, ch)
	if s.total == nil {
		all, _ := verifier.ClaimSum(s.of.key, s.of.claims, ch)
		s.total = &all
	}
	if s.of.left--; s.of.left == 0 {
		sum = field.SubExt(field.Ext{}, *s.total)
	}
	*s.total = field.AddExt(*s.total, sum)
	return m, sum, err
}

func (s *balancedSession) Close() {
	s.of.peak = s.PeakBytes()
	s.Session.Close()
}

// seeds is a trace that a device writes from so many seeds.
type seeds []int

func (seeds) WriteRows([][]field.Element, int) error { return errors.New("not the host") }

func (s seeds) RowKernels() (out []prover.RowKernel) {
	for _, n := range s {
		out = append(out, prover.RowKernel{Name: "rows_words", Items: n, Words: 18, Threads: 1, Seeds: func([]uint64, int) {}})
	}
	return out
}

// TestModelOfTallTables compares the model with the buffers of proofs of all shapes, tall ones too, on a device that does nothing.
func TestModelOfTallTables(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("sizes of such tables are no int here")
	}
	r := rand.New(rand.NewPCG(71, 72))
	proofs := 0
	for _, profile := range []string{"dev", "fast", "standard", "compact"} {
		p, _ := security.ProfileByName(profile)
		for _, system := range []*air.System{fibonacci.System(), blake3.System()} {
			pk, err := prover.Keygen(context.Background(), system, hash.Blake3{}, p, cpu.Backend{})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range pk.Circuits {
				if len(c.Fixed) > 0 {
					c.Fixed[0].Root = formats.Digest{} // as an idle device makes it
				}
			}
			entry := &pk.Entries[0]
			args, results := verifier.EntryElements(entry)
			claims := []formats.Claim{{Args: make(formats.Elements, 8*args), Results: make(formats.Elements, 8*results)}}
			for range 30 {
				w := &prover.Witness{Claims: claims, Shards: make([]prover.Shard, 1+r.IntN(3))}
				for i := range w.Shards {
					for k, c := range pk.Circuits {
						heights := []int{}
						if len(c.Fixed) > 0 {
							heights = append(heights, int(c.Fixed[0].LogHeight))
						} else {
							for h := formats.MaxLogHeight - r.IntN(formats.MaxLogHeight); h >= pk.Profile.MinLogHeight && h >= c.LogPeriod && len(heights) < 3; h -= r.IntN(9) {
								heights = append(heights, h)
							}
						}
						for _, h := range heights {
							s := seeds{1 + r.IntN(1<<h)/8}
							for range r.IntN(2) {
								s = append(s, 1+r.IntN(1<<20))
							}
							w.Shards[i].Tables = append(w.Shards[i].Tables, prover.Table{Circuit: k, LogHeight: h, Trace: s})
						}
					}
				}
				shapes, err := prover.Shapes(pk.Key, w)
				if err != nil {
					continue // too large in some way
				}
				regenerate := r.IntN(2) == 0
				b := &balanced{Backend: cuda.New(new(idle)), key: pk.Key, claims: claims}
				b.Code = kernels.CodeInterpret
				for _, s := range shapes {
					for i := range s.Tables {
						if s.Tables[i].HasLookups() {
							b.left++
						}
					}
				}
				_, err = prover.Prove(context.Background(), pk, w, prover.Options{Backend: b, Regenerate: regenerate})
				var e *formats.Error
				if !errors.As(err, &e) || b.left != 0 || e.Check != "P-27" && e.Place != "finished proof" { // it was made, and is refused in the end
					t.Fatalf("%s, %v: %v", pk.Name, shapesText(shapes), err)
				}
				model := prover.DeviceMemory(prover.NewJob(pk.Key, shapes, w, regenerate), 132)
				if b.peak > int64(model.Peak) || float64(b.peak) < 0.97*float64(model.Peak) {
					t.Errorf("%s, %v: the proof took %d bytes, the model says %d", pk.Name, shapesText(shapes), b.peak, model.Peak)
				}
				proofs++
			}
		}
	}
	if proofs < 100 {
		t.Errorf("only %d proofs were admitted", proofs)
	}
}

func shapesText(shapes []*verifier.Shape) (out [][]int) {
	for _, s := range shapes {
		var heights []int
		for i := range s.Tables {
			heights = append(heights, s.Tables[i].LogHeight)
		}
		out = append(out, heights)
	}
	return out
}
