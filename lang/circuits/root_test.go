package circuits

import (
	"slices"
	"testing"

	"github.com/ixprove/ixprove/internal/tracecheck"
	bc "github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/lang/internal/assembly"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/field"
)

// TestRootTraces checks traces of roots, whose circuits have a table each with or without rows.
func TestRootTraces(t *testing.T) {
	for _, x := range samples() {
		s := build(t, x.program)
		c, err := tracecheck.New(s.Air, 2, 3)
		if err != nil {
			t.Fatalf("%s: %v", x.program.Name, err)
		}
		w, err := s.RootWitness(s.execute(t, x.inputs, x.calls[0]))
		if err != nil {
			t.Fatal(err)
		}
		checkRootShape(t, s, w, 8)
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
				t.Errorf("%s: %s", x.program.Name, f)
			}
		}
	}
}

// TestRootShapes finds shapes that depend on the order of magnitude of an execution alone.
func TestRootShapes(t *testing.T) {
	for _, c := range []struct {
		program *assembly.Program
		n       field.Element
		log     int
	}{
		{assembly.Fib(), 0, 8}, {assembly.Fib(), 255, 8}, {assembly.Fib(), 256, 12}, {assembly.Fib(), 4095, 12}, {assembly.Fib(), 4096, 16},
		{assembly.Loop(), 0, 8}, {assembly.Loop(), 300, 12},
		{assembly.Squares(), 0, 8}, {assembly.Squares(), 100, 8}, {assembly.Squares(), 1000, 12},
	} {
		s := build(t, c.program)
		w, err := s.RootWitness(s.execute(t, nil, []field.Element{c.n}))
		if err != nil {
			t.Fatal(err)
		}
		checkRootShape(t, s, w, c.log)
	}
	// A table of SHA-256 has 15 calls in 256 rows.
	s := build(t, assembly.Hash(bc.OpSha256))
	for calls, log := range map[int]int{15: 8, 16: 12, 240: 12, 241: 16} {
		var args [][]field.Element
		for x := range field.Element(calls) {
			args = append(args, []field.Element{x})
		}
		w, err := s.RootWitness(s.execute(t, nil, args...))
		if err != nil {
			t.Fatal(err)
		}
		checkRootShape(t, s, w, log)
	}
}

func checkRootShape(t *testing.T, s *System, w *prover.Witness, log int) {
	t.Helper()
	if len(w.Shards) != 1 {
		t.Fatalf("%s: %d shards", s.Module.Program.Name, len(w.Shards))
	}
	var circuits []int
	for _, table := range w.Shards[0].Tables {
		circuits = append(circuits, table.Circuit)
		want := log
		if len(s.Air.Circuits[table.Circuit].FixedValues) > 0 {
			want = wordsLog
		}
		if table.LogHeight != want {
			t.Errorf("%s: circuit %d is 2^%d rows high, want 2^%d", s.Module.Program.Name, table.Circuit, table.LogHeight, want)
		}
	}
	slices.Sort(circuits)
	for i := range s.Air.Circuits {
		if len(circuits) != len(s.Air.Circuits) || circuits[i] != i {
			t.Fatalf("%s: tables of the circuits %v of %d", s.Module.Program.Name, circuits, len(s.Air.Circuits))
		}
	}
}
