package cpu_test

import (
	"context"
	"runtime"
	"strconv"
	"testing"

	"github.com/ixprove/ixprove/compress/poseidon2"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// BenchmarkProve proves the BLAKE3 digest of a file of 1 MiB under the profile standard, and reports each stage.
func BenchmarkProve(b *testing.B) {
	p, _ := security.ProfileByName("standard")
	pk, err := prover.Keygen(context.Background(), blake3.System(), hash.Blake3{}, p, cpu.Backend{})
	if err != nil {
		b.Fatal(err)
	}
	w, err := blake3.Witness([][]byte{make([]byte, 1<<20)}, nil, p.MinLogHeight)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r, err := prover.Prove(context.Background(), pk, w, prover.Options{Backend: cpu.Backend{}})
		if err != nil {
			b.Fatal(err)
		}
		for _, s := range r.Stages {
			b.ReportMetric(s.Time.Seconds(), string(s.Stage)+"-s")
		}
		b.ReportMetric(float64(r.PeakBytes)/float64(prover.MiB), "buffers-MiB")
	}
	b.ReportMetric(float64(runtime.GOMAXPROCS(0)), "cores")
}

// powers is a table whose columns square the one before, from a first one on, down all rows.
type powers struct{}

func (powers) WriteRows(columns [][]field.Element, first int) error {
	for r := range columns[1] {
		columns[1][r] = field.Element(first + r)
		for c := 2; c < len(columns); c++ {
			columns[c][r] = field.Mul(columns[c-1][r], columns[c-1][r])
		}
	}
	if first == 0 {
		columns[0][5] = 1 // row 5 answers
	}
	return nil
}

// BenchmarkProveRoot proves a root of 2^16 rows of 50 columns, the size that is still hashed in a minute or two.
func BenchmarkProveRoot(b *testing.B) {
	const width, log = 50, 16
	s := air.NewSystem("squares")
	answers := s.Channel("answers", 2)
	s.Entry("power", answers, []formats.Value{{Name: "x", Type: formats.TypeField}}, []formats.Value{{Name: "power", Type: formats.TypeField}})
	c := s.Circuit("squares")
	columns := []air.Expr{c.Column("uses")}
	for i := 1; i < width; i++ {
		columns = append(columns, c.Column(strconv.Itoa(i)))
		if i > 1 {
			c.Assert("square "+strconv.Itoa(i), columns[i].Sub(columns[i-1].Mul(columns[i-1])))
		}
	}
	c.Pull(answers, columns[0], columns[1], columns[width-1])
	p, _ := security.ProfileByName("root")
	pk, err := prover.Keygen(context.Background(), s, poseidon2.Suite{}, p, cpu.Backend{})
	if err != nil {
		b.Fatal(err)
	}
	result := field.Element(5)
	for range width - 2 {
		result = field.Mul(result, result)
	}
	w := &prover.Witness{
		Claims: []formats.Claim{{Args: formats.Elements(nil).Append(5), Results: formats.Elements(nil).Append(uint64(result))}},
		Shards: []prover.Shard{{Tables: []prover.Table{{LogHeight: log, Trace: powers{}}}}},
	}
	shapes, err := prover.Shapes(pk.Key, w)
	if err != nil {
		b.Fatal(err)
	}
	work := poseidon2.Hashing(pk.Key, shapes)
	b.Logf("%+v, estimated at %s", work, work.Time(poseidon2.MeasureRates(), runtime.GOMAXPROCS(0)))
	for b.Loop() {
		r, err := prover.Prove(context.Background(), pk, w, prover.Options{Backend: cpu.Backend{}})
		if err != nil {
			b.Fatal(err)
		}
		for _, s := range r.Stages {
			b.ReportMetric(s.Time.Seconds(), string(s.Stage)+"-s")
		}
		b.ReportMetric(float64(len(r.Proof)), "proof-B")
	}
	b.ReportMetric(float64(runtime.GOMAXPROCS(0)), "cores")
}
