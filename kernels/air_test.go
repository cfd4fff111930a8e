//go:build emulated || cuda

package kernels_test

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/systems/fibonacci"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/logup"
	"github.com/ixprove/ixprove/verifier/merkle"
	"github.com/ixprove/ixprove/verifier/security"
)

// instance is a table with its columns.
type instance struct {
	verifier.Table
	main, fixed [][]field.Element
}

// WriteRows implements prover.TraceWriter.
func (x *instance) WriteRows(columns [][]field.Element, first int) error {
	for c := range columns {
		copy(columns[c], x.main[c][first:])
	}
	return nil
}

// randomInstance draws a circuit of the given degree and a trace that satisfies it: each constraint says that a column holds what an expression of the others is. All kinds of
// leaves occur, and periods from 1 to the height.
func randomInstance(t *testing.T, r *rand.Rand, logHeight, degree, lookups int) *instance {
	t.Helper()
	n := 1 << logHeight
	x := &instance{}
	s := air.NewSystem("random")
	var channels []air.Channel
	for arity := range 5 {
		channels = append(channels, s.Channel(fmt.Sprint(arity), arity))
	}
	b := s.Circuit("random")
	leaves := []air.Expr{b.First(), b.Last(), b.Const(field.Modulus - 1), b.Const(field.New(edgy(r)))}
	column := func(e air.Expr) { leaves = append(leaves, e, e.Next()) }
	for range 3 {
		column(b.Column("input"))
		x.main = append(x.main, elements(r, n))
	}
	for range r.IntN(3) {
		x.fixed = append(x.fixed, elements(r, n))
		column(b.FixedColumn(x.fixed[len(x.fixed)-1]))
	}
	var periodic [][]field.Element
	for log := range logHeight + 1 {
		if r.IntN(2) == 0 {
			periodic = append(periodic, elements(r, 1<<log))
			column(b.PeriodicColumn(periodic[len(periodic)-1]...))
		}
	}
	leaf := func() air.Expr { return leaves[r.IntN(len(leaves))] }
	product := func(degree int) air.Expr {
		e := leaf()
		for range degree - 1 {
			e = e.Mul(leaf())
		}
		return e
	}
	polynomial := func(degree int) air.Expr {
		e := product(degree)
		for range r.IntN(4) {
			f := product(1 + r.IntN(degree))
			e = []air.Expr{e.Add(f), f.Sub(e), e.Sub(f.Times(field.New(edgy(r))))}[r.IntN(3)]
		}
		return e
	}
	for range 1 + r.IntN(5) {
		b.Assert("output", b.Column("output").Sub(polynomial(degree)).Sub(b.Transition().Mul(product(degree-1))))
		x.main = append(x.main, make([]field.Element, n))
	}
	for i := range lookups {
		args := make([]air.Expr, i%len(channels))
		for k := range args {
			args[k] = polynomial(1)
		}
		if mult := []air.Expr{b.Const(1), leaf(), polynomial(1)}[r.IntN(3)]; r.IntN(2) == 0 {
			b.Push(channels[len(args)], mult, 1, args...)
		} else {
			b.Pull(channels[len(args)], mult, args...)
		}
	}
	logBlowup := 1
	for 1<<logBlowup < degree-1 {
		logBlowup++
	}
	key, err := s.Compile("blake3", formats.Profile{LogBlowup: uint8(logBlowup)}, 0)
	check(t, err)
	key.Circuits[0].Degree = uint8(degree) // rather than the cheapest
	x.Circuit, err = air.CheckCircuit(&key.Circuits[0], key.Channels, logBlowup, 0)
	check(t, err)
	x.LogHeight = logHeight

	w, _ := field.RootOfUnity(logHeight)
	back, _ := field.Inverse(w)
	row := func(columns [][]field.Element, i int) (out []field.Ext) {
		for _, c := range columns {
			out = append(out, field.FromBase(c[i%len(c)]))
		}
		return out
	}
	for i := range n {
		p := &air.Point{
			Main: row(x.main, i), NextMain: row(x.main, (i+1)%n), Fixed: row(x.fixed, i), NextFixed: row(x.fixed, (i+1)%n),
			Periodic: row(periodic, i), NextPeriodic: row(periodic, i+1), Transition: field.FromBase(field.Sub(field.Pow(w, uint64(i)), back)),
		}
		if i == 0 {
			p.First[0] = 1
		}
		if i == n-1 {
			p.Last[0] = 1
		}
		nodes := x.Evaluate(p)
		for k, id := range x.Constraints {
			x.main[3+k][i] = field.Neg(nodes[id][0]) // so far the column is zero
		}
	}
	return x
}

// host is the CPU backend, from which all words are to be the same.
type host struct {
	t *testing.T
	prover.Session
	logBlowup int
}

func newHost(t *testing.T, logBlowup int) *host {
	s, err := cpu.Backend{}.Open(context.Background(), prover.Job{Suite: hash.Blake3{}, LogBlowup: logBlowup})
	check(t, err)
	t.Cleanup(s.Close)
	return &host{t, s, logBlowup}
}

// commit extends a matrix, of values or of coefficients, and returns its extension's rows too.
func (h *host) commit(m prover.Matrix, logHeight, width int, f func(*merkle.Tree, []prover.Matrix) (prover.Commitment, error)) (prover.Columns, formats.Elements) {
	h.t.Helper()
	log := logHeight + h.logBlowup
	c, err := f(merkle.NewTree(hash.Blake3{}, []merkle.Matrix{{LogRows: log, Width: width}}), []prover.Matrix{m})
	check(h.t, err)
	all := make([]uint32, 1<<log)
	for i := range all {
		all[i] = uint32(i)
	}
	o, err := c.Open(all)
	check(h.t, err)
	return prover.Columns{In: c}, o.Rows
}

// same compares rows with columns.
func same(t *testing.T, what string, rows formats.Elements, columns []field.Element, width int) {
	t.Helper()
	height := len(columns) / width
	if rows.Len() != len(columns) {
		t.Fatalf("%s: %d values, want %d", what, len(columns), rows.Len())
	}
	for c := range width {
		for i := range height {
			if got, want := uint64(columns[c*height+i]), rows.At(i*width+c); got != want {
				t.Fatalf("%s: column %d at %d is %#x, want %#x", what, c, i, got, want)
			}
		}
	}
}

// compareTable runs a table's lookups and quotient on the device and on the CPU.
func compareTable(t *testing.T, d *kernels.Device, r *rand.Rand, x *instance, logBlowup int) {
	t.Helper()
	h, n, log := newHost(t, logBlowup), 1<<x.LogHeight, x.LogHeight
	ch := logup.NewChallenges(ext(r), ext(r), formats.MaxLookupArgs)
	delta := ext(r)
	flat := func(columns [][]field.Element) kernels.Array[field.Element] {
		var v []field.Element
		for _, c := range columns {
			v = append(v, c...)
		}
		a := from(t, d, v)
		return a
	}
	extend := func(a kernels.Array[field.Element], coefficients bool) kernels.Array[field.Element] {
		out := alloc[field.Element](t, d, a.Len()<<logBlowup)
		f := d.Extend
		if coefficients {
			f = d.ExtendCoefficients
		}
		if a.Len() > 0 {
			check(t, f(out, a, a.Len()/n, log, logBlowup))
		}
		return out
	}
	main, err := h.Trace(&x.Table, x)
	check(t, err)
	mainColumns, _ := h.commit(main, log, len(x.main), h.Commit)
	deviceMain := flat(x.main)
	var fixed prover.Matrix
	var fixedColumns, auxColumns prover.Columns
	deviceFixed := flat(x.fixed)
	if len(x.fixed) > 0 {
		fixed, err = h.Fixed(x.fixed)
		check(t, err)
		fixedColumns, _ = h.commit(fixed, log, len(x.fixed), h.Commit)
	}
	var sum field.Ext
	deviceAux := alloc[field.Element](t, d, x.AuxColumns()*n)
	if x.HasLookups() {
		aux, total, err := h.Lookups(&x.Table, fixed, main, ch)
		check(t, err)
		sum, err = d.Lookups(deviceAux, x.Circuit, log, deviceMain, deviceFixed, ch)
		check(t, err)
		if sum != total {
			t.Fatalf("the sum of lookups is %v, want %v", sum, total)
		}
		var rows formats.Elements
		auxColumns, rows = h.commit(aux, log, x.AuxColumns(), h.Commit)
		same(t, "accumulators", rows, download(t, extend(deviceAux, false)), x.AuxColumns())
	}
	slices, err := h.Quotient(&x.Table, fixedColumns, mainColumns, auxColumns, ch, sum, delta)
	check(t, err)
	_, rows := h.commit(slices, log, x.QuotientColumns(), h.CommitSlices)
	extended := [3]kernels.Array[field.Element]{extend(deviceMain, false), extend(deviceFixed, false), extend(deviceAux, false)}
	deviceSlices := alloc[field.Element](t, d, x.QuotientColumns()*n)
	check(t, d.Quotient(deviceSlices, x.Circuit, log, logBlowup, extended[0], extended[1], extended[2], ch, sum, delta))
	same(t, "quotient", rows, download(t, extend(deviceSlices, true)), x.QuotientColumns())
	for _, a := range append(extended[:], deviceSlices, deviceAux, deviceMain, deviceFixed) {
		check(t, a.Free())
	}
}

// TestRandomCircuits covers every degree from low heights, with as many slabs as the degree needs and with more, and registers in both kinds of memory.
func TestRandomCircuits(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(51, 52))
	for degree := 2; degree <= 9; degree++ {
		for _, log := range []int{1, 2, 3, 6} {
			for _, lookups := range []int{0, 1, 9} {
				t.Run(fmt.Sprintf("degree %d, 2^%d rows, %d lookups", degree, log, lookups), func(t *testing.T) {
					restore := kernels.SetSharedRegisters([]int{0, 48}[r.IntN(2)])
					defer restore()
					x, logBlowup := randomInstance(t, r, log, degree, lookups), max(1, bits.Len(uint(degree-2)))+r.IntN(2)
					for _, p := range policies {
						d.SetCode(p, nil)
						compareTable(t, d, r, x, logBlowup)
					}
				})
			}
		}
	}
}

// TestTallTables has several tiles of rows, and denominators held for one of them, or for all.
func TestTallTables(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(53, 54))
	for _, log := range []int{10, 12} {
		for _, words := range []int{1, 1 << 20} {
			restore := kernels.SetDenominatorWords(words)
			compareTable(t, d, r, randomInstance(t, r, log, 3, 1+r.IntN(9)), 1)
			restore()
		}
	}
}

// TestBuiltInCircuits takes tables as they are proven.
func TestBuiltInCircuits(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(55, 56))
	profile, ok := security.ProfileByName("dev")
	if !ok {
		t.Fatal("there is no profile dev")
	}
	fibonacciWitness, err := fibonacci.Witness([]uint32{0, 1, 2, 90}, 1, profile.MinLogHeight)
	check(t, err)
	blake3Witness, err := blake3.Witness([][]byte{make([]byte, 1), make([]byte, 1500)}, nil, profile.MinLogHeight)
	check(t, err)
	for _, c := range []struct {
		system  *air.System
		witness *prover.Witness
	}{{fibonacci.System(), fibonacciWitness}, {blake3.System(), blake3Witness}} {
		pk, err := prover.Keygen(context.Background(), c.system, hash.Blake3{}, profile, cpu.Backend{})
		check(t, err)
		for _, table := range c.witness.Shards[0].Tables {
			x := &instance{Table: verifier.Table{Circuit: pk.Circuits[table.Circuit], Index: table.Circuit, LogHeight: table.LogHeight}, fixed: pk.Fixed[table.Circuit]}
			for range x.Circuit.Columns {
				x.main = append(x.main, make([]field.Element, 1<<x.LogHeight))
			}
			check(t, table.Trace.WriteRows(x.main, 0))
			t.Run(c.system.Name+" "+x.Name, func(t *testing.T) {
				for _, p := range policies {
					d.SetCode(p, nil)
					compareTable(t, d, r, x, profile.LogBlowup)
				}
			})
		}
	}
}

// TestZeroDenominator has a message whose fingerprint is zero on one row.
func TestZeroDenominator(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(57, 58))
	s := air.NewSystem("zero")
	channel := s.Channel("zero", 1)
	b := s.Circuit("zero")
	v := b.Column("v")
	b.Pull(channel, v, v)
	key, err := s.Compile("blake3", formats.Profile{LogBlowup: 1}, 0)
	check(t, err)
	c, err := air.CheckCircuit(&key.Circuits[0], key.Channels, 1, 0)
	check(t, err)
	main := elements(r, 32)
	main[17] = field.New(edgy(r))
	gamma := ext(r)
	alpha := field.SubExt(field.Ext{}, field.AddExt(field.ScaleExt(gamma, main[17]), field.Ext{1})) // channels count from 1
	out := alloc[field.Element](t, d, 3*32)
	_, err = d.Lookups(out, c, 5, from(t, d, main), kernels.Array[field.Element]{}, logup.NewChallenges(alpha, gamma, 1))
	var e *kernels.Error
	if !errors.As(err, &e) || e.Kind != kernels.Failed {
		t.Fatalf("a denominator of zero: %v", err)
	}
}

// TestCircuitRanges has arrays that are one value too short, and challenges and heights that do not fit.
func TestCircuitRanges(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(59, 60))
	var x *instance
	for x == nil || len(x.fixed) == 0 {
		x = randomInstance(t, r, 3, 3, 5)
	}
	ch := logup.NewChallenges(ext(r), ext(r), 4)
	array := func(n int) kernels.Array[field.Element] { return alloc[field.Element](t, d, n) }
	aux, fixed, main := x.AuxColumns()*8, len(x.fixed)*8, len(x.main)*8
	lookups := func(log, out, main, fixed int, ch *logup.Challenges) error {
		_, err := d.Lookups(array(out), x.Circuit, log, array(main), array(fixed), ch)
		return err
	}
	quotient := func(out, main, fixed, aux, logBlowup int, ch *logup.Challenges) error {
		return d.Quotient(array(out), x.Circuit, 3, logBlowup, array(main), array(fixed), array(aux), ch, ext(r), ext(r))
	}
	none := kernels.Array[field.Element]{}
	for name, err := range map[string]error{
		"accumulators":       lookups(3, aux-1, main, fixed, ch),
		"main":               lookups(3, aux, main-1, fixed, ch),
		"fixed":              lookups(3, aux, main, fixed-1, ch),
		"no challenges":      lookups(3, aux, main, fixed, nil),
		"few challenges":     lookups(3, aux, main, fixed, logup.NewChallenges(ext(r), ext(r), 3)),
		"height":             lookups(2, aux, main, fixed, ch),
		"negative height":    lookups(-1, aux, main, fixed, ch),
		"quotient":           quotient(6*8-1, 2*main, 2*fixed, 2*aux, 1, ch),
		"extended main":      quotient(6*8, 2*main-1, 2*fixed, 2*aux, 1, ch),
		"extended fixed":     quotient(6*8, 2*main, 2*fixed-1, 2*aux, 1, ch),
		"extended auxiliary": quotient(6*8, 2*main, 2*fixed, 2*aux-1, 1, ch),
		"blowup":             quotient(6*8, 2*main, 2*fixed, 2*aux, 0, ch),
		"no circuit":         d.Quotient(none, nil, 3, 1, none, none, none, ch, field.Ext{}, field.Ext{}),
	} {
		var e *kernels.Error
		if !errors.As(err, &e) || e.Kind != kernels.BadRange {
			t.Errorf("%s: %v", name, err)
		}
	}
}
