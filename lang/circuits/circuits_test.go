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

// TestDegenerate proves what has next to nothing in it: functions without arguments and results, matches that never end or have no choice, functions that always fail where nothing gets to.
func TestDegenerate(t *testing.T) {
	type block = assembly.Block
	nothing := func(b *block, _ []bc.Value) { b.Return() }
	// counting is a recursive entry, so that all it calls is hot and has circuits of its own.
	counting := func(define func(p *assembly.Program) func(b *block, n bc.Value)) *assembly.Program {
		p := assembly.New("degenerate")
		turn := define(p)
		f := p.Declare("count", 1, 1)
		p.Define(f, func(b *block, n []bc.Value) {
			turn(b, n[0])
			b.Match(n[0],
				assembly.Case(func(b *block) { b.Return(b.Const(7)) }, 0),
				assembly.Default(func(b *block) { b.Return(b.Call(f, b.Sub(n[0], b.Const(1)))[0]) }))
		})
		p.Entry(f, assembly.Fields(1), assembly.Fields(1))
		return p
	}
	for name, define := range map[string]func(p *assembly.Program) func(b *block, n bc.Value){
		"a call of nothing": func(p *assembly.Program) func(b *block, n bc.Value) {
			f := p.Function("f", 0, 0, nothing)
			return func(b *block, _ bc.Value) { b.Call(f); b.Call(f) }
		},
		"a recursion of nothing": func(p *assembly.Program) func(b *block, n bc.Value) {
			bit := p.Function("bit", 0, 1, func(b *block, _ []bc.Value) { b.Return(b.Const(0)) })
			f, g := p.Declare("f", 0, 0), p.Declare("g", 0, 0)
			p.Define(f, func(b *block, _ []bc.Value) {
				b.Match(b.Hint(bit)[0], assembly.Case(func(b *block) { b.Return() }, 0), assembly.Case(func(b *block) { b.Call(g); b.Call(g); b.Return() }, 1))
			})
			p.Define(g, func(b *block, _ []bc.Value) { b.Call(f); b.Return() })
			return func(b *block, _ bc.Value) { b.Call(f); b.Call(g) }
		},
		"an unconstrained call of nothing": func(p *assembly.Program) func(b *block, n bc.Value) {
			f := p.Function("f", 0, 0, nothing)
			return func(b *block, _ bc.Value) { b.Hint(f); b.Call(f) }
		},
		"a match of nothing": func(p *assembly.Program) func(b *block, n bc.Value) {
			return func(b *block, n bc.Value) {
				b.Choose(0, n, assembly.Default(func(b *block) { b.Yield() }))
				b.Choose(0, n, assembly.Case(func(b *block) { b.Yield() }, 0, 1), assembly.Default(func(b *block) { b.Store(n); b.Yield() }))
			}
		},
		"a failure that is not met": func(p *assembly.Program) func(b *block, n bc.Value) {
			f := p.Function("f", 0, 1, func(b *block, _ []bc.Value) { b.Fail() })
			return func(b *block, n bc.Value) {
				b.Choose(1, n,
					assembly.Case(func(b *block) { b.Yield(b.Call(f)[0]) }, 9),
					assembly.Case(func(b *block) {
						b.Choose(0, n, assembly.Case(func(b *block) { b.Fail() }, 3))
						b.Yield(n)
					}, 8),
					assembly.Case(func(b *block) { b.Fail() }, 7),
					assembly.Default(func(b *block) { b.Yield(b.Mul(n, n)) }))
			}
		},
	} {
		p := counting(define)
		for logBlowup := 1; logBlowup <= 2; logBlowup++ {
			if !t.Run(name, func(t *testing.T) {
				if !sound(t, &p.Program, []exec.Call{{Entry: 0, Args: []field.Element{3}}}, nil, logBlowup) {
					t.Error("it is not executed")
				}
			}) {
				break
			}
		}
	}
}

// TestNothingAnswersNothing takes the answer of a function without arguments and results away: its rows are what says that it ends.
func TestNothingAnswersNothing(t *testing.T) {
	p := assembly.New("nothing")
	check := p.Declare("check", 0, 0)
	p.Define(check, func(b *assembly.Block, _ []bc.Value) { b.Return() })
	f := p.Declare("count", 1, 1)
	p.Define(f, func(b *assembly.Block, n []bc.Value) {
		b.Call(check)
		b.Match(n[0],
			assembly.Case(func(b *assembly.Block) { b.Return(n[0]) }, 0),
			assembly.Default(func(b *assembly.Block) { b.Return(b.Call(f, b.Sub(n[0], b.Const(1)))[0]) }))
	})
	p.Entry(f, assembly.Fields(1), assembly.Fields(1))
	t.Run("no row", func(t *testing.T) {
		fg := forge(t, p, nil, []field.Element{2})
		fg.set("check", "uses", 0, 0)
		fg.refused("call check")
	})
	t.Run("padding", func(t *testing.T) {
		fg := forge(t, p, nil, []field.Element{2})
		fg.set("check", "uses", 0, 0)
		fg.set("check", "uses", 1, 3)
		fg.refused("padding supplies nothing")
	})
}
