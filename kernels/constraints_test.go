//go:build emulated || cuda

package kernels_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/kernels/program"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/systems/fibonacci"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
	"github.com/ixprove/ixprove/verifier/merkle"
	"github.com/ixprove/ixprove/verifier/security"
)

// everything is a system of one circuit with every kind of node, and lookups of several shapes.
func everything() *air.System {
	s := air.NewSystem("everything")
	two, none := s.Channel("two", 2), s.Channel("none", 0)
	s.Entry("entry", two, []formats.Value{{Name: "a", Type: formats.TypeField}}, []formats.Value{{Name: "b", Type: formats.TypeField}})
	c := s.Circuit("everything")
	x := c.ColumnVector("x", 5)
	p, q := c.PeriodicColumn(1, 2, 3, 4), c.PeriodicColumn(9)
	c.Assert("first", c.First().Mul(x[0].Minus(7)))
	c.Assert("last", c.Last().Mul(x[1].Sub(x[2])))
	c.Assert("transition", c.Transition().Mul(x[0].Next().Sub(x[1]).Sub(p)))
	c.Assert("cubic", x[0].Mul(x[1]).Mul(x[2]).Sub(p.Next().Mul(x[3])).Plus(5))
	c.Assert("same again", x[4].Mul(x[4]).Sub(q))
	c.Push(two, x[0], 1, x[1], x[2].Next())
	c.Pull(two, c.Const(1), x[1].Mul(x[3]), p)
	c.Pull(none, x[4])
	c.Push(two, x[0].Mul(x[1]), 3, x[0], x[0])
	return s
}

// fixed is a system with fixed columns.
func fixed() *air.System {
	s := air.NewSystem("fixed")
	ch := s.Channel("c", 1)
	s.Entry("entry", ch, []formats.Value{{Name: "a", Type: formats.TypeField}}, nil)
	c := s.Circuit("fixed")
	x := c.Column("x")
	values := make([]field.Element, 16)
	for i := range values {
		values[i] = field.Element(i * i)
	}
	f := c.FixedColumn(values)
	c.Assert("next", x.Mul(f.Next()).Sub(f))
	c.Pull(ch, x, f)
	return s
}

type columnsWriter [][]field.Element

func (w columnsWriter) WriteRows(columns [][]field.Element, first, last int) error {
	for c := range columns {
		copy(columns[c][first:last], w[c][first:last])
	}
	return nil
}

// commit extends matrices of one height on the device and returns the root.
func commit(t *testing.T, d *kernels.Device, in kernels.Array[field.Element], width, logHeight, logBlowup int, coefficients bool) (kernels.Array[field.Element], formats.Digest) {
	t.Helper()
	log := logHeight + logBlowup
	out := alloc[field.Element](t, d, width<<log)
	if coefficients {
		check(t, d.ExtendCoefficients(out, in, width, logHeight, logBlowup))
	} else {
		check(t, d.Extend(out, in, width, logHeight, logBlowup))
	}
	list, err := kernels.Columns(nil).Add(out, width, 1<<log)
	check(t, err)
	tree := merkle.NewTree(suite, []merkle.Matrix{{LogRows: log, Width: width}})
	nodes := alloc[formats.Digest](t, d, 2<<log)
	leaves, err := nodes.Slice(1<<log, 2<<log)
	check(t, err)
	check(t, d.Leaves(leaves, from(t, d, []uint64(list)), 1<<log, 1, tree.Levels[0].Shape()))
	check(t, d.Tree(nodes, log, nil))
	root, err := d.GatherDigests(nodes, []uint64{1})
	check(t, err)
	return out, root[0]
}

// Traces that satisfy nothing, with registers in device and in shared memory: the auxiliary traces and quotients are those of the CPU backend all the same.
func TestCommitmentsLookupsAndQuotientsEqualTheCPUs(t *testing.T) {
	for _, s := range []*air.System{everything(), fixed(), fibonacci.System(), blake3.System()} {
		for _, profileName := range []string{"dev", "fast", "compact"} {
			profile, _ := security.ProfileByName(profileName)
			key, err := s.Compile("blake3", verifier.RawProfile(profile), profile.MinLogHeight)
			check(t, err)
			for i := range key.Circuits {
				c, err := air.CheckCircuit(&key.Circuits[i], key.Channels, profile.LogBlowup, profile.MinLogHeight)
				check(t, err)
				height := max(int(c.MinLogHeight), 5)
				if c.Circuit.Columns < 10 {
					height = 10
				}
				if c.FixedColumns() > 0 {
					height = int(c.Circuit.Fixed[0].LogHeight)
				}
				if height > 12 {
					continue
				}
				for _, shared := range []int{0, 72 << 10} {
					t.Run(fmt.Sprintf("%s/%s/%s/%d", s.Name, c.Name, profileName, shared), func(t *testing.T) {
						defer kernels.SetSharedRegisters(shared)()
						compareTable(t, &verifier.Table{Circuit: c, LogHeight: height}, profile.LogBlowup)
					})
				}
			}
		}
	}
}

func compareTable(t *testing.T, table *verifier.Table, logBlowup int) {
	r := rand.New(rand.NewPCG(27, uint64(table.LogHeight)))
	d := open(t)
	n, log := 1<<table.LogHeight, table.LogHeight+logBlowup
	session, err := cpu.Backend{}.Open(context.Background(), suite, logBlowup)
	check(t, err)
	defer session.Close()
	tree := func(width int) *merkle.Tree {
		return merkle.NewTree(suite, []merkle.Matrix{{LogRows: log, Width: width}})
	}

	width := table.Columns(verifier.Main)
	flat := elements(r, width*n)
	host := make(columnsWriter, width)
	for c := range host {
		host[c] = flat[c*n : (c+1)*n]
	}
	trace, err := session.Trace(table, host)
	check(t, err)
	main, err := session.Commit(tree(width), []prover.Matrix{trace})
	check(t, err)
	onDevice := from(t, d, flat)
	extended, root := commit(t, d, onDevice, width, table.LogHeight, logBlowup, false)
	if root != main.Root() {
		t.Fatal("main roots differ")
	}

	var fixedTrace prover.Matrix
	fixedColumns := prover.Columns{}
	var fixedOn, fixedExtended kernels.Array[field.Element]
	if k := table.FixedColumns(); k > 0 {
		values := elements(r, k*n)
		columns := make([][]field.Element, k)
		for c := range columns {
			columns[c] = values[c*n : (c+1)*n]
		}
		fixedTrace, err = session.Fixed(columns)
		check(t, err)
		fixedColumns.In, err = session.Commit(tree(k), []prover.Matrix{fixedTrace})
		check(t, err)
		fixedOn = from(t, d, values)
		fixedExtended, _ = commit(t, d, fixedOn, k, table.LogHeight, logBlowup, false)
	}

	ch := logup.NewChallenges(ext(r), ext(r), table.MessageElements())
	var sum field.Ext
	auxColumns := prover.Columns{}
	var auxExtended kernels.Array[field.Element]
	if table.HasLookups() {
		aux, want, err := session.Lookups(table, fixedTrace, trace, ch)
		check(t, err)
		auxColumns.In, err = session.Commit(tree(table.AuxColumns()), []prover.Matrix{aux})
		check(t, err)
		out := alloc[field.Element](t, d, table.AuxColumns()*n)
		sum, err = d.Lookups(out, table.Circuit, table.LogHeight, onDevice, fixedOn, ch)
		check(t, err)
		if sum != want {
			t.Fatalf("the sum of lookups is %v, want %v", sum, want)
		}
		auxExtended, root = commit(t, d, out, table.AuxColumns(), table.LogHeight, logBlowup, false)
		if root != auxColumns.In.Root() {
			t.Fatal("auxiliary roots differ")
		}
	}

	delta := ext(r)
	slices, err := session.Quotient(table, fixedColumns, prover.Columns{In: main}, auxColumns, ch, sum, delta)
	check(t, err)
	want, err := session.CommitSlices(tree(table.QuotientColumns()), []prover.Matrix{slices})
	check(t, err)
	out := alloc[field.Element](t, d, table.QuotientColumns()*n)
	check(t, d.Quotient(out, table.Circuit, table.LogHeight, logBlowup, extended, fixedExtended, auxExtended, ch, sum, delta))
	if _, root = commit(t, d, out, table.QuotientColumns(), table.LogHeight, logBlowup, true); root != want.Root() {
		t.Fatal("quotient roots differ")
	}
	p := program.Constraints(table.Circuit)
	if got, want := foldedByProgram(p, table, host, ch, delta), foldedByGraph(table, host, ch, delta); table.FixedColumns() == 0 && got != want {
		t.Fatalf("the program gives %v on row 3, the graph %v", got, want)
	}
	t.Logf("height 2^%d, %d columns, %d instructions, %d registers", table.LogHeight, width, p.Len(), p.Registers)
}

func TestLookupsFindZeroDenominators(t *testing.T) {
	d := open(t)
	profile, _ := security.ProfileByName("dev")
	s := fibonacci.System()
	key, err := s.Compile("blake3", verifier.RawProfile(profile), 1)
	check(t, err)
	c, err := air.CheckCircuit(&key.Circuits[0], key.Channels, profile.LogBlowup, 1)
	check(t, err)
	main := alloc[field.Element](t, d, 4*8)
	check(t, main.Clear())
	// The message of a row of zeros is alpha + 1.
	ch := logup.NewChallenges(field.Ext{field.Modulus - 1}, field.Ext{3, 1, 4}, c.MessageElements())
	if _, err := d.Lookups(alloc[field.Element](t, d, c.AuxColumns()*8), c, 3, main, kernels.Array[field.Element]{}, ch); err == nil {
		t.Fatal("a zero denominator passed")
	}
}

// rowInputs is what a circuit without fixed columns reads on row 3 of a trace.
func rowInputs(table *verifier.Table, host columnsWriter) (column func(kind program.Kind, index int, next bool) field.Element, selector func(op program.Op) field.Element) {
	const row = 3
	return func(kind program.Kind, index int, next bool) field.Element {
			at := row
			if next {
				at++
			}
			if kind == program.Periodic {
				return field.Element(table.Periodic[index].At(at % table.Periodic[index].Len()))
			}
			if kind == program.Main {
				return host[index][at]
			}
			return 0
		}, func(op program.Op) field.Element {
			return field.Element(5 + op) // as good as any
		}
}

func foldedByProgram(p *program.Program, table *verifier.Table, host columnsWriter, ch *logup.Challenges, delta field.Ext) field.Ext {
	in := &program.Inputs{Deltas: deltaPowers(len(table.Constraints), delta), Powers: ch.Powers}
	in.Column, in.Selector = rowInputs(table, host)
	for i := range table.Lookups {
		for len(in.Bases) <= int(table.Lookups[i].Channel) {
			in.Bases = append(in.Bases, ch.Base(uint32(len(in.Bases))))
		}
	}
	var fractions field.Ext
	in.Group = func(g int, numerator, denominator field.Ext) {
		inverse, _ := field.InverseExt(denominator)
		fractions = field.AddExt(fractions, field.MulExt(numerator, inverse))
	}
	return field.AddExt(p.Run(in, make([]field.Element, p.Registers)), fractions)
}

func foldedByGraph(table *verifier.Table, host columnsWriter, ch *logup.Challenges, delta field.Ext) (sum field.Ext) {
	column, selector := rowInputs(table, host)
	values := make([]field.Element, len(table.Nodes))
	for i, n := range table.Nodes {
		switch n.Op {
		case formats.OpConst:
			values[i] = field.Element(n.A)
		case formats.OpMain:
			values[i] = column(program.Main, int(n.A), n.B == 1)
		case formats.OpPeriodic:
			values[i] = column(program.Periodic, int(n.A), n.B == 1)
		case formats.OpFirst, formats.OpLast, formats.OpTransition:
			values[i] = selector(program.Op(n.Op - formats.OpFirst))
		case formats.OpAdd:
			values[i] = field.Add(values[n.A], values[n.B])
		case formats.OpSub:
			values[i] = field.Sub(values[n.A], values[n.B])
		case formats.OpMul:
			values[i] = field.Mul(values[n.A], values[n.B])
		}
	}
	for k, d := range deltaPowers(len(table.Constraints), delta) {
		sum = field.AddExt(sum, field.ScaleExt(d, values[table.Constraints[k]]))
	}
	for i := range table.Lookups {
		l := &table.Lookups[i]
		inverse, _ := field.InverseExt(ch.Message(l.Channel, len(l.Args), func(k int) field.Element { return values[l.Args[k]] }))
		sum = logup.Signed(sum, field.ScaleExt(inverse, values[l.Multiplicity]), l)
	}
	return sum
}

func deltaPowers(n int, delta field.Ext) []field.Ext {
	out, p := make([]field.Ext, n), field.Ext{1}
	for i := range out {
		out[i] = p
		p = field.MulExt(p, delta)
	}
	return out
}
