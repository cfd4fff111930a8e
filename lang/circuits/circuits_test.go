package circuits

import (
	"context"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/internal/tracecheck"
	bc "github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/lang/internal/assembly"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

func build(t testing.TB, p *assembly.Program) *System {
	t.Helper()
	m, err := exec.Load(&p.Program)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Build(m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *System) execute(t testing.TB, inputs [][]field.Element, args ...[]field.Element) *exec.Record {
	t.Helper()
	var calls []exec.Call
	for _, a := range args {
		calls = append(calls, exec.Call{Entry: 0, Args: a})
	}
	r, err := s.Module.Execute(context.Background(), calls, inputs, exec.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sample is a program with calls of its first entry.
type sample struct {
	program *assembly.Program
	inputs  [][]field.Element
	calls   [][]field.Element
}

func samples() []sample {
	return []sample{
		{assembly.Fib(), nil, [][]field.Element{{0}, {1}, {90}, {200}}},
		{assembly.Squares(), nil, [][]field.Element{{0}, {10}, {100}}},
		{assembly.Loop(), nil, [][]field.Element{{0}, {300}}},
		{assembly.Hash(bc.OpBlake3), nil, [][]field.Element{{0}, {1}, {1 << 31}}},
		{assembly.Hash(bc.OpSha256), nil, [][]field.Element{{0}, {1}, {1 << 31}}},
		{assembly.Hash(bc.OpPoseidon2), nil, [][]field.Element{{0}, {1}, {field.Modulus - 5}}},
		{assembly.Many(3), nil, [][]field.Element{{5}, {70}}},
		{assembly.Many(mostHot + 5), nil, [][]field.Element{{9}}},
		{assembly.Kitchen(), [][]field.Element{{5, 6}}, [][]field.Element{{4000000000, 500000000}, {0x1234, 0x1234}, {0x1235, 0x1235}, {0, 0}, {1<<32 - 1, 1<<32 - 2}, {1<<32 - 1, 1}}},
	}
}

// TestTraces checks honest traces of all samples: every constraint on every row, every message balanced, for two blowups and over shards.
func TestTraces(t *testing.T) {
	for _, x := range samples() {
		s := build(t, x.program)
		r := s.execute(t, x.inputs, x.calls...)
		for _, logBlowup := range []int{1, 2} {
			c, err := tracecheck.New(s.Air, logBlowup, 3)
			if err != nil {
				t.Fatalf("%s, blowup 2^%d: %v", x.program.Name, logBlowup, err)
			}
			for _, shards := range []int{1, 3}[logBlowup-1:] {
				w, err := s.Witness(r, shards, 3)
				if err != nil {
					t.Fatal(err)
				}
				traces, err := c.Write(w)
				if err != nil {
					t.Fatal(err)
				}
				failures, err := c.Check(w, traces)
				if err != nil {
					t.Fatal(err)
				}
				for i, f := range failures {
					if i < 10 {
						t.Errorf("%s, blowup 2^%d, %d shards: %s", x.program.Name, logBlowup, shards, f)
					}
				}
			}
		}
	}
}

// TestGroups checks which functions share a circuit.
func TestGroups(t *testing.T) {
	for _, c := range []struct{ recursive, groups int }{{3, 4}, {mostHot, mostHot + 1}} {
		if got := len(build(t, assembly.Many(c.recursive)).groups); got != c.groups {
			t.Errorf("%d recursive functions and cold ones are %d groups, want %d", c.recursive, got, c.groups)
		}
	}
	if got := len(build(t, assembly.Many(mostHot+1)).groups); got > mostHot {
		t.Errorf("%d groups", got)
	}
}

// TestNames makes keys of programs whose names are as long as may be, occur twice, or are those of other circuits.
func TestNames(t *testing.T) {
	p := assembly.New("names")
	long := strings.Repeat("f", formats.MaxNameBytes)
	for _, name := range []string{long, long, "words", "anchor", "memory 2", "blake3", "words #2", "x"} {
		f := p.Declare(name, 1, 1)
		p.Define(f, func(b *assembly.Block, x []bc.Value) { // recursive, so that it has a circuit of its own
			b.Match(x[0], assembly.Case(func(b *assembly.Block) { b.Return(b.Load(2, b.Store(x[0], x[0]))[1]) }, 0), assembly.Default(func(b *assembly.Block) { b.Return(b.Call(f, x[0])[0]) }))
		})
		if f > 0 {
			p.Entry(f, assembly.Fields(1), assembly.Fields(1))
		}
	}
	profile, _ := security.ProfileByName("dev")
	key, err := prover.Keygen(context.Background(), build(t, p).Air, hash.Blake3{}, profile, cpu.Backend{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := verifier.ParseKey(key.Encoded, hash.Blake3{}); err != nil {
		t.Fatal(err)
	}
}

// TestProofs proves and verifies the samples.
func TestProofs(t *testing.T) {
	profile, _ := security.ProfileByName("dev")
	for _, x := range samples() {
		s := build(t, x.program)
		key, err := prover.Keygen(context.Background(), s.Air, hash.Blake3{}, profile, cpu.Backend{})
		if err != nil {
			t.Fatal(err)
		}
		w, err := s.Witness(s.execute(t, x.inputs, x.calls...), 2, profile.MinLogHeight)
		if err != nil {
			t.Fatal(err)
		}
		result, err := prover.Prove(context.Background(), key, w, prover.Options{Backend: cpu.Backend{}})
		if err != nil {
			t.Fatalf("%s: %v", x.program.Name, err)
		}
		if _, err := verifier.Verify(key.Key, result.Proof, verifier.Policy{Insecure: true}); err != nil {
			t.Errorf("%s: %v", x.program.Name, err)
		}
	}
}

// BenchmarkFib proves fib(100000) under the profile standard.
func BenchmarkFib(b *testing.B) {
	profile, _ := security.ProfileByName("standard")
	s := build(b, assembly.Fib())
	key, err := prover.Keygen(context.Background(), s.Air, hash.Blake3{}, profile, cpu.Backend{})
	if err != nil {
		b.Fatal(err)
	}
	for i, c := range key.Circuits {
		b.Logf("%d %s: main %d, aux %d, quotient %d", i, c.Name, c.Columns, c.AuxColumns(), c.QuotientColumns())
	}
	for b.Loop() {
		w, err := s.Witness(s.execute(b, nil, []field.Element{100000}), 1, profile.MinLogHeight)
		if err != nil {
			b.Fatal(err)
		}
		result, err := prover.Prove(context.Background(), key, w, prover.Options{Backend: cpu.Backend{}})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(result.PeakBytes)/(1<<30), "GiB")
		b.ReportMetric(float64(len(result.Proof)), "proof-bytes")
	}
}

// BenchmarkBuild makes the circuits of a function of five thousand choices, each with everything before it in scope.
func BenchmarkBuild(b *testing.B) {
	p := assembly.New("choices")
	f := p.Function("f", 2, 1, func(b *assembly.Block, x []bc.Value) {
		sum := x[0]
		for k := range uint64(5000) {
			z := b.Mul(sum, x[1])
			sum = b.Choose(1, x[1], assembly.Case(func(b *assembly.Block) { b.Yield(b.Mul(z, z)) }, k), assembly.Default(func(b *assembly.Block) { b.Yield(z) }))[0]
		}
		b.Return(sum)
	})
	p.Entry(f, assembly.Fields(2), assembly.Fields(1))
	for b.Loop() {
		build(b, p)
	}
}
