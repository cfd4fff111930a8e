package circuits

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/internal/tracecheck"
	bc "github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/lang/internal/assembly"
	"github.com/ixprove/ixprove/verifier/field"
)

// sound builds the circuits of a program, executes calls, and checks that what executes has a trace that satisfies everything.
func sound(t *testing.T, p *bc.Program, calls []exec.Call, inputs [][]field.Element, logBlowup int) (executed bool) {
	t.Helper()
	m, err := exec.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Execute(context.Background(), calls, inputs, exec.Limits{Memory: 64 << 20, Steps: 200000})
	if err != nil {
		return false
	}
	s, err := Build(m)
	if err != nil {
		return false // too large for a key
	}
	c, err := tracecheck.New(s.Air, logBlowup, 3)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Witness(r, 1, 3)
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
	if len(failures) > 0 {
		t.Fatal(failures[0])
	}
	return true
}

// TestRandomPrograms checks the traces of random programs, which use every operation but accelerators in every kind of block.
func TestRandomPrograms(t *testing.T) {
	for seed := range uint64(120) {
		p := assembly.Random(rand.New(rand.NewPCG(seed, 1)))
		if !sound(t, &p.Program, []exec.Call{{Entry: 0, Args: []field.Element{field.Element(seed), 77}}}, [][]field.Element{{11, 12}}, 1+int(seed%2)) {
			m, err := exec.Load(&p.Program)
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.Execute(context.Background(), []exec.Call{{Entry: 0, Args: []field.Element{field.Element(seed), 77}}}, [][]field.Element{{11, 12}}, exec.Limits{})
			t.Errorf("seed %d is not executed: %v", seed, err)
		}
	}
}

// FuzzPrograms executes whatever decodes: nothing panics, and what executes has a trace.
func FuzzPrograms(f *testing.F) {
	for _, x := range samples()[:3] {
		data, err := bc.Encode(&x.program.Program)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint64(3))
	}
	for seed := range uint64(10) {
		data, err := bc.Encode(&assembly.Random(rand.New(rand.NewPCG(seed, 2))).Program)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, seed)
	}
	f.Fuzz(func(t *testing.T, data []byte, arg uint64) {
		p, err := bc.Decode(data)
		if err != nil {
			return
		}
		args := make([]field.Element, p.Functions[p.Entries[0].Function].Params)
		for i := range args {
			args[i] = field.New(arg)
		}
		sound(t, p, []exec.Call{{Entry: 0, Args: args}}, nil, 2)
	})
}
