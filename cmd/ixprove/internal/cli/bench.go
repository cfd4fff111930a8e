package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

type benchResult struct {
	Schema   string         `json:"schema"`
	Hardware hardware       `json:"hardware"`
	Program  *versionResult `json:"program"`
	Devices  []deviceObject `json:"devices,omitempty"`
	Runs     int            `json:"runs"`
	Rows     []benchRow     `json:"measurements"`
}

type hardware struct {
	CPU     string `json:"cpu"`
	Cores   int    `json:"cores"`
	Threads int    `json:"threads"`
	Kernels string `json:"kernels"` // instructions of the cpu backend
}

// benchRow is a measurement: the median time of Work units of Unit.
type benchRow struct {
	Name     string        `json:"name"`
	Shape    string        `json:"shape"`
	Status   benchStatus   `json:"status"`
	Reason   string        `json:"reason,omitempty"` // why it was skipped
	MedianNs time.Duration `json:"median_ns,omitempty"`
	Work     float64       `json:"work,omitempty"`
	Unit     string        `json:"unit,omitempty"`
	Rate     float64       `json:"rate_per_second,omitempty"`
	FloorNs  time.Duration `json:"floor_ns,omitempty"`  // what the device's copies or arithmetic take at least
	Ratio    float64       `json:"ratio,omitempty"`     // of the median to the floor
	TargetNs time.Duration `json:"target_ns,omitempty"` // what this device is expected to reach
	BusyNs   time.Duration `json:"busy_ns,omitempty"`   // of the device, in a whole proof
	Timeline []stageObject `json:"timeline,omitempty"`  // of the run with the median time
}

// benchStatus says what became of a measurement.
type benchStatus string

const (
	statusMeasured benchStatus = "measured" // there is no target for it on this machine
	statusReached  benchStatus = "reached"  // the target
	statusMissed   benchStatus = "missed"   // the target
	statusReduced  benchStatus = "reduced"  // measured on fewer rows than asked for: the device is too small
	statusSkipped  benchStatus = "skipped"  // not measured: Reason says why
)

func (r *benchResult) text(w io.Writer) {
	for _, d := range r.Devices {
		fmt.Fprintf(w, "%s, %s, CUDA %s, capability %s\n", d.Name, d.UUID, d.Driver, d.Capability)
	}
	fmt.Fprintf(w, "%s, %d cores, %d threads, %s\nixprove %s, commit %s, %s %s\nmedians of %d runs\n\n", r.Hardware.CPU, r.Hardware.Cores, r.Hardware.Threads, r.Hardware.Kernels,
		r.Program.Version, r.Program.Commit, r.Program.Go, r.Program.Platform, r.Runs)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	heading := "what\tshape\tmedian\trate"
	if r.Devices != nil {
		heading += "\tfloor\tratio\ttarget\tstatus"
	}
	fmt.Fprintln(t, heading)
	for _, m := range r.Rows {
		if m.Status == statusSkipped {
			fmt.Fprintf(t, "%s\t%s\tskipped: %s\n", m.Name, m.Shape, m.Reason)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.4g %s/s", m.Name, m.Shape, timeText(m.MedianNs), m.Rate, m.Unit)
		if m.FloorNs > 0 {
			target := ""
			if m.TargetNs > 0 {
				target = timeText(m.TargetNs)
			}
			fmt.Fprintf(t, "\t%s\t%.2f\t%s\t%s", timeText(m.FloorNs), m.Ratio, target, m.Status)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	for _, m := range r.Rows {
		if m.Timeline == nil {
			continue
		}
		fmt.Fprintf(w, "\n%s\ndevice busy for %s of %s, %.1f%%\n", m.Shape, timeText(m.BusyNs), timeText(m.MedianNs), 100*m.BusyNs.Seconds()/m.MedianNs.Seconds())
		fmt.Fprint(t, "stage\ttime\tbusy\tkernels\tup\tdown\n")
		for _, s := range m.Timeline {
			d := cmp.Or(s.Device, new(workObject))
			fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\n", s.Stage, timeText(s.Ns), timeText(d.BusyNs), d.Kernels, bytesText(prover.Bytes(d.BytesUp)), bytesText(prover.Bytes(d.BytesDown)))
		}
		t.Flush()
	}
}

// bench is a run of measurements.
type bench struct {
	t       *tool
	out     *benchResult
	cards   string // --gpu
	vram    prover.Bytes
	profile security.Profile
	sizes   []int
}

var (
	hostSizes   = []int{1 << 10, 64 << 10}
	deviceSizes = []int{4 << 20, 16 << 20}
)

var benchmarks = []struct {
	name  string
	run   func(*bench) error
	sizes []int // of files, if none are given
}{
	{"field", (*bench).field, nil}, {"hash", (*bench).hash, nil}, {"cpu", (*bench).cpu, hostSizes}, {"prove", (*bench).prove, hostSizes}, {"verify", (*bench).verify, hostSizes},
	{"gpu", (*bench).gpu, deviceSizes},
}

func prepareBench(f *pflag.FlagSet) action {
	runs := f.Int("runs", 5, "measure this often and take the median")
	profile := f.String("profile", defaultProfile, "security profile: "+profileNames())
	gpu := f.String("gpu", "0", "CUDA `DEVICE` of bench gpu, as in prove; several are measured one after the other")
	sizes := f.StringSlice("size", nil, "sizes of the files whose BLAKE3 digests are proven; 1KiB,64KiB if not given, and 4MiB,16MiB on a device")
	var vram size
	f.Var(&vram, "vram", "most device memory to take in the proofs of bench gpu, as in prove")
	return func(t *tool) (result, error) {
		if *runs < 1 {
			return nil, usageError("--runs", "the number is out of range", "at least 1", fmt.Sprint(*runs), "")
		}
		b := &bench{t: t, out: &benchResult{Schema: "ixprove/bench/1", Hardware: hardware{cpuModel(), runtime.NumCPU(), runtime.GOMAXPROCS(0), cpu.Instructions()}, Program: newVersion(), Runs: *runs}, cards: *gpu, vram: prover.Bytes(vram)}
		var err error
		if b.profile, err = profileFlag(*profile); err != nil {
			return nil, err
		}
		for _, text := range *sizes {
			var s size
			if err := s.Set(text); err != nil || s > blake3.MaxBytes {
				return nil, usageError("--size", "this is no size of a file to prove", "such as 64KiB, at most "+bytesText(blake3.MaxBytes), text, "")
			}
			b.sizes = append(b.sizes, int(s))
		}
		what, known := cmp.Or(t.operand, "all"), false
		var names []string
		for _, m := range benchmarks {
			names = append(names, m.name)
			if what != m.name && (what != "all" || m.name == "gpu" && !f.Changed("gpu")) {
				continue
			}
			known = true
			if !f.Changed("size") {
				b.sizes = m.sizes
			}
			if err := m.run(b); err != nil {
				return nil, err
			}
		}
		if !known {
			return nil, usageError("command line", "there is no such measurement", "all, "+strings.Join(names, ", "), what, nearest(what, names))
		}
		return b.out, nil
	}
}

// measure times f and adds a row.
func (b *bench) measure(name, shape string, work float64, unit string, f func() error) error {
	times := make([]time.Duration, b.out.Runs)
	for i := range times {
		if err := b.t.ctx.Err(); err != nil {
			return err
		}
		start := time.Now()
		if err := f(); err != nil {
			return err
		}
		times[i] = time.Since(start)
	}
	b.row(name, shape, work, unit, times)
	return nil
}

// row adds the median of some times.
func (b *bench) row(name, shape string, work float64, unit string, times []time.Duration) *benchRow {
	slices.Sort(times)
	median := max(1, (times[(len(times)-1)/2]+times[len(times)/2])/2)
	b.out.Rows = append(b.out.Rows, benchRow{Name: name, Shape: shape, Status: statusMeasured, MedianNs: median, Work: work, Unit: unit, Rate: work / median.Seconds()})
	return &b.out.Rows[len(b.out.Rows)-1]
}

func (b *bench) field() error {
	const n = 1 << 20
	err := b.measure("base multiplication", fmt.Sprintf("chain of %d, 1 thread", n), n, "mul", func() error {
		x := field.Element(7)
		for range n {
			x = field.Mul(x, x+1)
		}
		runtime.KeepAlive(x)
		return nil
	})
	if err != nil {
		return err
	}
	return b.measure("extension multiplication", fmt.Sprintf("chain of %d, 1 thread", n), n, "mul", func() error {
		x := field.Ext{3, 5, 7}
		for range n {
			x = field.MulExt(x, x)
		}
		runtime.KeepAlive(x)
		return nil
	})
}

func (b *bench) hash() error {
	const nodes, rows, width = 1 << 16, 1 << 14, 128
	suite := hash.Blake3{}
	err := b.measure("tree node", fmt.Sprintf("chain of %d, 1 thread", nodes), nodes, "node", func() error {
		var d formats.Digest
		for range nodes {
			d = suite.Node(&d, &d)
		}
		runtime.KeepAlive(d)
		return nil
	})
	if err != nil {
		return err
	}
	row := make([]byte, width*formats.ElementBytes)
	shape := suite.Shape(10, []int{width})
	return b.measure("tree leaf", fmt.Sprintf("%d rows of %d elements, 1 thread", rows, width), rows*width*formats.ElementBytes/1e6, "MB", func() error {
		for i := range rows {
			row[0] = byte(i)
			d := suite.Leaf(&shape, row)
			runtime.KeepAlive(d)
		}
		return nil
	})
}

// file is n bytes that are no pattern to a prover.
func benchFile(n int) []byte {
	out := make([]byte, n)
	x := uint64(1)
	for i := range out {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		out[i] = byte(x)
	}
	return out
}

// each calls f with a key and a witness for each file size.
func (b *bench) each(f func(n int, key *prover.ProvingKey, w *prover.Witness, shape string) error) error {
	key, err := prover.Keygen(b.t.ctx, blake3.System(), suiteOf(b.profile), b.profile, cpu.Backend{})
	if err != nil {
		return err
	}
	for _, n := range b.sizes {
		w, err := blake3.Witness([][]byte{benchFile(n)}, nil, b.profile.MinLogHeight)
		if err != nil {
			return err
		}
		shapes, err := prover.Shapes(key.Key, w)
		if err != nil {
			return err
		}
		if err := f(n, key, w, fmt.Sprintf("%s, %s: %s", bytesText(prover.Bytes(n)), b.profile.Name, shapeText(shapeObjects(shapes)))); err != nil {
			return err
		}
	}
	return nil
}

// cpu measures the kernels of the cpu backend, and the stages of proofs.
func (b *bench) cpu() error {
	kernels, err := cpu.Kernels(b.t.ctx)
	if err != nil {
		return err
	}
	for _, k := range kernels {
		if err := b.measure(k.Name, k.Shape, k.Work, k.Unit, k.Run); err != nil {
			return err
		}
	}
	return b.each(func(n int, key *prover.ProvingKey, w *prover.Witness, shape string) error {
		var stages []prover.Stage
		times := map[prover.Stage][]time.Duration{}
		for range b.out.Runs {
			r, err := prover.Prove(b.t.ctx, key, w, prover.Options{Backend: cpu.Backend{}})
			if err != nil {
				return err
			}
			for _, s := range r.Stages {
				if times[s.Stage] == nil {
					stages = append(stages, s.Stage)
				}
				times[s.Stage] = append(times[s.Stage], s.Time)
			}
		}
		for _, s := range stages {
			b.row("stage "+string(s), shape, float64(n), "byte", times[s])
		}
		return nil
	})
}

func (b *bench) prove() error {
	return b.each(func(n int, key *prover.ProvingKey, w *prover.Witness, shape string) error {
		return b.measure("prove blake3", shape, float64(n), "byte", func() error {
			_, err := prover.Prove(b.t.ctx, key, w, prover.Options{Backend: cpu.Backend{}})
			return err
		})
	})
}

func (b *bench) verify() error {
	return b.each(func(n int, key *prover.ProvingKey, w *prover.Witness, shape string) error {
		r, err := prover.Prove(b.t.ctx, key, w, prover.Options{Backend: cpu.Backend{}})
		if err != nil {
			return err
		}
		return b.measure("verify blake3", fmt.Sprintf("%s; proof of %d bytes", shape, len(r.Proof)), 1, "proof", func() error {
			_, err := verifier.Verify(key.Key, r.Proof, verifier.Policy{Insecure: true})
			return err
		})
	})
}

// cpuModel is the processor's name where the system tells it.
func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown " + runtime.GOARCH
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown " + runtime.GOARCH
}
