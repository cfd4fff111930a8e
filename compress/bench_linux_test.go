package compress_test

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ixprove/ixprove/compress"
	"github.com/ixprove/ixprove/compress/poseidon2"
	"github.com/ixprove/ixprove/compress/snark"
	"github.com/ixprove/ixprove/compress/srs"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/internal/fullsize"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/verifier/security"
)

// fullSizeRoot is a root of full size.
var fullSizeRoot = sync.OnceValues(func() (*prover.ProvingKey, []byte) {
	p, _ := security.ProfileByName("root")
	pk, err := prover.Keygen(ctx, fullsize.System(), poseidon2.Suite{}, p, cpu.Backend{})
	if err != nil {
		panic(err)
	}
	r, err := prover.Prove(ctx, pk, fullsize.Witness(), prover.Options{Backend: cpu.Backend{}})
	if err != nil {
		panic(err)
	}
	return pk, r.Proof
})

// BenchmarkCompress compresses a root of 2^16 rows of 50 columns under development keys, which take minutes to be made, and gigabytes. The aims are 240 s, 9 GB, 900 bytes for Plonk; 40 s,
// 5 GB for Groth16, with 260 bytes where it has no commitments; 5 ms to verify. The heap grows by a quarter, as in compress-root.
func BenchmarkCompress(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	pk, proof := fullSizeRoot()
	for _, c := range []struct {
		name, backend string
		commitments   bool
		seconds, gb   float64
	}{
		{"plonk", formats.BackendPlonk, true, 240, 9},
		{"groth16", formats.BackendGroth16, false, 40, 5},
		{"groth16-committed", formats.BackendGroth16, true, 40, 5},
	} {
		b.Run(c.name, func(b *testing.B) {
			program, _, err := compress.Decode(pk.Key, proof)
			if err != nil {
				b.Fatal(err)
			}
			system, err := program.Compile(ctx, c.backend, c.commitments)
			if err != nil {
				b.Fatal(err)
			}
			start := time.Now()
			p, err := devProver(system)
			if err != nil {
				b.Fatal(err)
			}
			setup := time.Since(start)
			debug.FreeOSMemory()
			forgetPeak()
			var data []byte
			before := processorTime()
			for b.Loop() {
				if data, err = p.Compress(ctx, pk.Key, proof); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(setup.Seconds(), "setup-s")
			b.ReportMetric((processorTime()-before).Seconds()/float64(b.N), "processor-s") // what other work on the machine does not change
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/c.seconds, "of-aim")
			b.ReportMetric(float64(peakBytes())/1e9, "peak-GB")
			b.ReportMetric(float64(peakBytes())/1e9/c.gb, "of-aim-GB")
			start = time.Now()
			root, err := snark.Verify(p.Key, data, snark.Policy{AllowInsecureSetup: true})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(time.Since(start).Microseconds())/1e3, "verify-ms")
			b.ReportMetric(float64(len(root.Proof)), "proof-B")
			b.ReportMetric(float64(system.Constraints), "constraints")
			b.ReportMetric(float64(runtime.GOMAXPROCS(0)), "cores")
		})
	}
}

func devProver(s *compress.System) (*compress.Prover, error) {
	if s.Backend == formats.BackendGroth16 {
		return s.SetupGroth16Dev(ctx)
	}
	powers, err := srs.Dev(ctx, s.LogDomain)
	if err != nil {
		return nil, err
	}
	return s.SetupPlonk(ctx, powers)
}

// processorTime is the processor time of this process so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// forgetPeak makes Linux measure the peak of resident memory from here on.
func forgetPeak() {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		panic(err)
	}
}

// peakBytes is the peak of resident memory.
func peakBytes() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.ParseInt(strings.TrimSpace(strings.SplitN(after, "kB", 2)[0]), 10, 64)
	if err != nil {
		panic(err)
	}
	return kib << 10
}
