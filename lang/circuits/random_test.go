package circuits

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/internal/tracecheck"
	bc "github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/lang/internal/assembly"
	"github.com/ixprove/ixprove/prover"
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

// hintColumns are the columns that hold hints in some branch of a function, and its rank: in the row of an entry nothing binds it.
func (p *Plan) hintColumns() map[int]bool {
	out := map[int]bool{p.Rank: true}
	var block func(b *blockPlan)
	match := func(m *matchPlan) {
		if m != nil {
			for i := range m.Blocks {
				block(&m.Blocks[i])
			}
		}
	}
	block = func(b *blockPlan) {
		for i := range b.Ops {
			if b.Block.Ops[i].IsHint() {
				for _, w := range b.Ops[i].Writes {
					out[w.Column] = true
				}
			}
			match(b.Ops[i].Match)
		}
		match(b.Match)
	}
	block(&p.Body)
	return out
}

// TestNoCellIsFree changes single cells of honest rows of random programs, hints and ranks excepted: something always fails.
func TestNoCellIsFree(t *testing.T) {
	changed := 0
	for seed := range uint64(40) {
		f := forge(t, assembly.Random(rand.New(rand.NewPCG(seed, 1))), [][]field.Element{{11, 12}}, []field.Element{field.Element(seed), 77})
		r := rand.New(rand.NewPCG(seed, 3))
		for range 12 {
			k := r.IntN(len(f.traces))
			rows, ok := f.witness.Shards[0].Tables[k].Trace.(callTable)
			if !ok {
				continue
			}
			row := r.IntN(rows.end - rows.from)
			// A row writes a column if it does so whatever was there.
			const before = 0xdeadbeef
			one := make([][]field.Element, len(f.traces[k]))
			for c := range one {
				one[c] = []field.Element{before}
			}
			hints := map[int]bool{}
			w := &writer{record: rows.record, columns: one}
			err := rows.each(rows.from+row, rows.from+row+1, func(p *Plan, e exec.Entry, claims uint64) error {
				hints = p.hintColumns()
				return w.row(p, e, claims)
			})
			if err != nil {
				t.Fatal(err)
			}
			w.flush()
			c := r.IntN(len(one))
			if one[c][0] == before || hints[c] {
				continue
			}
			cell := &f.traces[k][c][row]
			*cell = field.Add(*cell, 1)
			if len(f.check()) == 0 {
				t.Errorf("seed %d, circuit %s, row %d, column %s: any value does", seed, rows.group.Name, row, f.system.Air.Circuits[f.witness.Shards[0].Tables[k].Circuit].ColumnNames[c])
			}
			*cell = field.Sub(*cell, 1)
			changed++
		}
	}
	if changed < 100 {
		t.Errorf("only %d cells were changed", changed)
	}
}

// TestSelectorsExcludeEachOther moves a part of one selector to another, in rows of calls and in padding: some constraint always fails, whatever messages say.
func TestSelectorsExcludeEachOther(t *testing.T) {
	programs := []*assembly.Program{assembly.Fib(), assembly.Squares(), assembly.Many(45)}
	for seed := range uint64(40) {
		programs = append(programs, assembly.Random(rand.New(rand.NewPCG(seed, 1))))
	}
	moved := 0
	for _, p := range programs {
		f := forge(t, p, [][]field.Element{{11, 12}}[:len(p.Inputs)], []field.Element{3, 77}[:p.Functions[p.Entries[0].Function].Params])
		traces := f.traces
		for k, table := range f.witness.Shards[0].Tables {
			rows, ok := table.Trace.(callTable)
			if !ok {
				continue
			}
			var selectors []int
			for c, name := range f.system.Air.Circuits[table.Circuit].ColumnNames {
				if strings.Contains(name, " leaf ") || strings.HasPrefix(name, "choice[") {
					selectors = append(selectors, c)
				}
			}
			// Alone in its table: a row of zeros, and the first and last call.
			f.witness.Shards[0].Tables = []prover.Table{{Circuit: table.Circuit, LogHeight: 3}}
			x := make(tracecheck.Trace, len(traces[k]))
			for c := range x {
				x[c] = make([]field.Element, 8)
				x[c][1], x[c][2] = traces[k][c][0], traces[k][c][rows.end-rows.from-1]
			}
			f.traces = []tracecheck.Trace{x}
			for i, a := range selectors {
				for _, b := range selectors[:i] {
					for r := range 3 {
						x[a][r], x[b][r] = field.Add(x[a][r], 5), field.Sub(x[b][r], 5)
						if !slices.ContainsFunc(f.check(), func(x tracecheck.Failure) bool { return x.Constraint != "" }) {
							names := f.system.Air.Circuits[table.Circuit].ColumnNames
							t.Errorf("%s, circuit %s, row %d: %s and %s are selected", p.Name, rows.group.Name, r, names[a], names[b])
						}
						x[a][r], x[b][r] = field.Sub(x[a][r], 5), field.Add(x[b][r], 5)
						moved++
					}
				}
			}
		}
	}
	if moved < 1000 {
		t.Errorf("only %d selectors were moved", moved)
	}
	t.Logf("%d moved", moved)
}

// operations lists the operations of a block and of those in it, and the matches.
func operations(b *bc.Block) (ops []*bc.Op, matches []*bc.Match) {
	inner := func(m *bc.Match) {
		if m != nil {
			matches = append(matches, m)
			m.Blocks(func(b *bc.Block) {
				o, m := operations(b)
				ops, matches = append(ops, o...), append(matches, m...)
			})
		}
	}
	for i := range b.Ops {
		ops = append(ops, &b.Ops[i])
		inner(b.Ops[i].Match)
	}
	inner(b.End.Match)
	return ops, matches
}

// mutate changes a program in some places, and takes back what makes it invalid. It returns how many changes stay.
func mutate(r *rand.Rand, p *bc.Program) (changed int) {
	var ops []*bc.Op
	var matches []*bc.Match
	for i := range p.Functions {
		o, m := operations(&p.Functions[i].Body)
		ops, matches = append(ops, o...), append(matches, m...)
	}
	for range 12 {
		if len(ops) == 0 {
			break
		}
		o := ops[r.IntN(len(ops))]
		var back func()
		switch kind := r.IntN(6); {
		case kind < 2 && len(o.Args) > 0:
			k := r.IntN(len(o.Args))
			before := o.Args[k]
			back, o.Args[k] = func() { o.Args[k] = before }, bc.Value(r.IntN(20))
		case kind == 2:
			before := o.A
			back, o.A = func() { o.A = before }, uint64(r.IntN(70))
		case kind == 3:
			before := *o
			back = func() { *o = before }
			o.Code, o.B = bc.Code(r.IntN(int(bc.NumCodes))), o.B*uint64(r.IntN(2))
		case kind == 4 && len(matches) > 0:
			m := matches[r.IntN(len(matches))]
			before := m.Default
			back, m.Default = func() { m.Default = before }, nil
		case len(matches) > 0:
			m := matches[r.IntN(len(matches))]
			if len(m.Cases) == 0 {
				continue
			}
			values := m.Cases[r.IntN(len(m.Cases))].Values
			before := values[0]
			back, values[0] = func() { values[0] = before }, uint64(r.IntN(4))
		default:
			continue
		}
		if p.Validate() != nil {
			back()
			continue
		}
		changed++
	}
	return changed
}

// TestMutatedBytecode executes random programs with changes that leave them valid: nothing panics, and what executes has a trace.
func TestMutatedBytecode(t *testing.T) {
	changed, executed := 0, 0
	for seed := range uint64(600) {
		p := assembly.Random(rand.New(rand.NewPCG(seed, 1)))
		n := mutate(rand.New(rand.NewPCG(seed, 5)), &p.Program)
		if sound(t, &p.Program, []exec.Call{{Entry: 0, Args: []field.Element{field.Element(seed % 9), 77}}}, [][]field.Element{{11, 12}}, 1+int(seed%2)) {
			executed++
			changed += n
		}
	}
	if executed < 100 || changed < 300 {
		t.Errorf("%d programs were executed, with %d changes", executed, changed)
	}
	t.Logf("%d programs were executed, with %d changes", executed, changed)
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
