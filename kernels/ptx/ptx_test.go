package ptx_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels/ptx"
	"github.com/ixprove/ixprove/systems"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
	"github.com/ixprove/ixprove/verifier/security"
)

// edges are representatives at which carries, borrows and canonical forms change.
var edges = []field.Element{0, 1, 2, 1<<32 - 2, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1 << 63, field.Modulus - 1<<32, field.Modulus - 2, field.Modulus - 1}

func element(r *rand.Rand) field.Element {
	if r.IntN(2) == 0 {
		return edges[r.IntN(len(edges))]
	}
	return field.New(r.Uint64())
}

func elements(r *rand.Rand, n int) []field.Element {
	out := make([]field.Element, n)
	for i := range out {
		out[i] = element(r)
	}
	return out
}

func ext(r *rand.Rand) field.Ext { return field.Ext{element(r), element(r), element(r)} }

// place is a table's values, arbitrary ones, and what the kernels of a circuit make of them.
type place struct {
	t                  *testing.T
	c                  *air.Circuit
	quotient           bool
	logHeight, logSize int
	count, firstRow    int
	main, fixed, aux   [][]field.Element
	periodic           [][]field.Element
	shift              uint32 // of positions in periodic columns
	selector, inverses []field.Element
	delta              field.Ext
	ch                 *logup.Challenges
	perRow             field.Ext
}

func newPlace(t *testing.T, r *rand.Rand, c *air.Circuit, quotient bool) *place {
	p := &place{t: t, c: c, quotient: quotient, logHeight: c.LogPeriod + r.IntN(3), delta: ext(r), perRow: ext(r)}
	p.logSize = p.logHeight
	p.count = 1 << p.logHeight
	if quotient {
		p.logSize += 2
		p.count *= 1 + r.IntN(4)
	} else {
		p.firstRow = r.IntN(p.count)
		p.count -= p.firstRow
	}
	p.ch = logup.NewChallenges(ext(r), ext(r), formats.MaxLookupArgs)
	columns := func(n int) (out [][]field.Element) {
		for range n {
			out = append(out, elements(r, 1<<p.logSize))
		}
		return out
	}
	p.main, p.fixed, p.aux = columns(int(c.Circuit.Columns)), columns(c.FixedColumns()), columns(c.AuxColumns())
	p.shift = uint32(r.IntN(2))
	for i := range c.Periodic {
		p.periodic = append(p.periodic, elements(r, c.Periodic[i].Len()))
	}
	p.selector, p.inverses = elements(r, 1<<p.logSize), elements(r, 4)
	return p
}

// rows are the places of a point's row and of the next in columns.
func (p *place) rows(point int) (row, next int) {
	n := 1 << p.logHeight
	if !p.quotient {
		row = p.firstRow + point
		return row, (row + 1) % n
	}
	at := field.ReverseBits(uint64(point%n), p.logHeight)
	return point, point/n*n + int(field.ReverseBits((at+1)%uint64(n), p.logHeight))
}

// nodes evaluates the graph.
func (p *place) nodes(point int) []field.Ext {
	row, next := p.rows(point)
	values := func(columns [][]field.Element, at int) (out []field.Ext) {
		for _, c := range columns {
			out = append(out, field.FromBase(c[at]))
		}
		return out
	}
	cyclic := func(at int) (out []field.Ext) {
		for _, c := range p.periodic {
			out = append(out, field.FromBase(c[at>>p.shift%len(c)]))
		}
		return out
	}
	w, _ := field.RootOfUnity(p.logHeight)
	back, _ := field.Inverse(w)
	x := field.Pow(w, uint64(row))
	at := &air.Point{
		Main: values(p.main, row), NextMain: values(p.main, next), Fixed: values(p.fixed, row), NextFixed: values(p.fixed, next), Periodic: cyclic(row), NextPeriodic: cyclic(next),
	}
	if p.quotient {
		at.First, at.Last = field.FromBase(p.selector[row]), field.FromBase(p.selector[next])
		root, _ := field.RootOfUnity(p.logSize)
		x = field.Mul(field.Shift, field.Pow(root, field.ReverseBits(uint64(point), p.logSize)))
	} else {
		if row == 0 {
			at.First[0] = 1
		}
		if row == 1<<p.logHeight-1 {
			at.Last[0] = 1
		}
	}
	at.Transition = field.FromBase(field.Sub(x, back))
	return p.c.Evaluate(at)
}

// folded is the quotient at a point, as docs/protocol.md section 6 has it.
func (p *place) folded(point int) (v field.Ext) {
	nodes := p.nodes(point)
	row, next := p.rows(point)
	var values, accumulators []field.Ext
	for _, id := range p.c.Constraints {
		values = append(values, nodes[id])
	}
	at := func(g, row int) field.Ext { return field.Ext{p.aux[3*g][row], p.aux[3*g+1][row], p.aux[3*g+2][row]} }
	for g := range p.c.Groups {
		accumulators = append(accumulators, at(g, row))
	}
	if p.c.HasLookups() {
		values = logup.Constraints(values, p.c, p.ch, nodes, accumulators, at(0, next), p.perRow)
	}
	for _, c := range values {
		v = field.AddExt(field.MulExt(v, p.delta), c)
	}
	return field.ScaleExt(v, p.inverses[point>>p.logHeight])
}

// fraction is that of a group of lookups at a point.
func (p *place) fraction(nodes []field.Ext, g air.Group) (numerator, denominator field.Ext) {
	denominator[0] = 1
	for i := g.First; i < g.End; i++ {
		l := &p.c.Lookups[i]
		message := p.ch.Message(l.Channel, len(l.Args), func(k int) field.Element { return nodes[l.Args[k]][0] })
		term := field.MulExt(denominator, nodes[l.Multiplicity])
		if numerator = field.MulExt(numerator, message); l.Push {
			numerator = field.AddExt(numerator, term)
		} else {
			numerator = field.SubExt(numerator, term)
		}
		denominator = field.MulExt(denominator, message)
	}
	return numerator, denominator
}

// Segments of the machine's memory.
const (
	atMain = iota + 1
	atFixed
	atAux
	atOut
	atDenominators
	atFirst
	atInverses
	atRoots
	atPeriodic
)

func words(columns ...[]field.Element) (out []uint64) {
	for _, c := range columns {
		for _, v := range c {
			out = append(out, uint64(v))
		}
	}
	return out
}

// windows are the tables of powers of the root of unity of order 2^32 (kernels/tables.go).
func windows() (out []uint64) {
	root, _ := field.RootOfUnity(32)
	for _, w := range [][2]int{{0, 10}, {10, 11}, {21, 11}} {
		for i := range uint64(1) << w[1] {
			out = append(out, uint64(field.Pow(root, i<<w[0])))
		}
	}
	return out
}

var roots = windows()

// run runs a program's kernels, and returns the memory.
func (p *place) run(program *ptx.Program) memory {
	p.t.Helper()
	n := 1 << p.logHeight
	m := memory{
		atMain: words(p.main...), atFixed: words(p.fixed...), atAux: words(p.aux...), atFirst: words(p.selector), atInverses: words(p.inverses), atRoots: roots,
		atOut: make([]uint64, 3*p.count), atPeriodic: words(p.periodic...),
	}
	w, _ := field.RootOfUnity(p.logHeight)
	back, _ := field.Inverse(w)
	header := ptx.Parameters{
		Main: atMain * segment, Fixed: atFixed * segment, Aux: atAux * segment, Out: atOut * segment, Denominators: atDenominators * segment, First: atFirst * segment,
		Inverses: atInverses * segment, Roots: atRoots * segment, Back: uint64(back), PerRow: p.perRow, Count: uint32(p.count), FirstRow: uint32(p.firstRow),
		LogHeight: uint32(p.logHeight), Pitch: 8 << p.logSize, OutPitch: uint32(8 * p.count),
	}
	if !p.quotient {
		m[atOut], m[atDenominators] = make([]uint64, 3*len(p.c.Groups)*n), make([]uint64, 3*len(p.c.Groups)*p.count)
		header.OutPitch, header.DenominatorPitch = uint32(8*n), uint32(8*p.count)
	}
	table := func(column int) ptx.Table {
		at := 0
		for _, c := range p.periodic[:column] {
			at += len(c)
		}
		return ptx.Table{At: atPeriodic*segment + uint64(8*at), Shift: p.shift, Mask: uint32(len(p.periodic[column]) - 1)}
	}
	for i := range program.Chunks {
		k := &program.Chunks[i]
		machine, err := assemble(k.Text)
		if err == nil {
			err = machine.run((p.count+ptx.Threads-1)/ptx.Threads, k.Arguments(&header, table, p.delta, p.ch), m)
		}
		if err != nil {
			p.t.Fatalf("kernel %d of %d: %v", i, len(program.Chunks), err)
		}
	}
	return m
}

// compare runs both programs of a circuit on arbitrary values.
func compare(t *testing.T, r *rand.Rand, c *air.Circuit) {
	t.Helper()
	p := newPlace(t, r, c, true)
	m := p.run(ptx.Quotient(c))
	for i := range p.count {
		if got, want := (field.Ext{field.Element(m[atOut][i]), field.Element(m[atOut][p.count+i]), field.Element(m[atOut][2*p.count+i])}), p.folded(i); got != want {
			t.Fatalf("quotient at %d of %d is %#x, want %#x", i, p.count, got, want)
		}
	}
	p = newPlace(t, r, c, false)
	m = p.run(ptx.Fractions(c))
	n := 1 << p.logHeight
	for i := range p.count {
		nodes := p.nodes(i)
		for g, group := range c.Groups {
			numerator, denominator := p.fraction(nodes, group)
			for k := range 3 {
				if got, want := m[atOut][(3*g+k)*n+p.firstRow+i], uint64(numerator[k]); got != want {
					t.Fatalf("coefficient %d of the numerator of group %d at %d is %#x, want %#x", k, g, i, got, want)
				}
				if got, want := m[atDenominators][(3*g+k)*p.count+i], uint64(denominator[k]); got != want {
					t.Fatalf("coefficient %d of the denominator of group %d at %d is %#x, want %#x", k, g, i, got, want)
				}
			}
		}
	}
}

// builtIn calls f for the circuits of all systems in all profiles.
func builtIn(t *testing.T, f func(t *testing.T, c *air.Circuit)) {
	for _, s := range systems.All() {
		for _, profile := range security.Profiles() {
			key, err := s.Build().Compile("blake3", verifier.RawProfile(profile), profile.MinLogHeight)
			if err != nil {
				t.Fatal(err)
			}
			for i := range key.Circuits {
				c, err := air.CheckCircuit(&key.Circuits[i], key.Channels, profile.LogBlowup, profile.MinLogHeight)
				if err != nil {
					t.Fatal(err)
				}
				t.Run(fmt.Sprint(s.Name, " ", profile.Name, " ", c.Name), func(t *testing.T) { f(t, c) })
			}
		}
	}
}

func TestBuiltInCircuits(t *testing.T) {
	r := rand.New(rand.NewPCG(81, 82))
	builtIn(t, func(t *testing.T, c *air.Circuit) { compare(t, r, c) })
}

// randomCircuit draws a circuit with all kinds of leaves and operations, whose nodes are used once or often: sums too long for one form, multiples of small and large constants, of both signs.
func randomCircuit(t *testing.T, r *rand.Rand, degree, lookups int) *air.Circuit {
	t.Helper()
	s := air.NewSystem("random")
	var channels []air.Channel
	for arity := range 5 {
		channels = append(channels, s.Channel(fmt.Sprint(arity), arity))
	}
	b := s.Circuit("random")
	var leaves []air.Expr
	for range 4 {
		c := b.Column("main")
		leaves = append(leaves, c, c.Next())
	}
	for range r.IntN(3) {
		c := b.FixedColumn(make([]field.Element, 1<<3))
		leaves = append(leaves, c, c.Next())
	}
	for log := range 4 {
		if r.IntN(2) == 0 {
			c := b.PeriodicColumn(elements(r, 1<<log)...)
			leaves = append(leaves, c, c.Next())
		}
	}
	linear := append([]air.Expr(nil), leaves...) // of degree 1, sums of sums
	sum := func() air.Expr {
		e := linear[r.IntN(len(linear))]
		for range r.IntN(6) {
			f := linear[r.IntN(len(linear))]
			switch r.IntN(6) {
			case 0:
				e = e.Add(f)
			case 1:
				e = e.Sub(f)
			case 2:
				e = f.Sub(e.Times(1 << r.IntN(20)))
			case 3:
				e = e.Add(f.Times(field.Modulus - 1<<r.IntN(20)))
			case 4:
				e = e.Add(f.Times(element(r)))
			default:
				e = e.Plus(element(r))
			}
		}
		linear = append(linear, e)
		return e
	}
	if r.IntN(2) == 0 {
		e := b.Const(0)
		for range 100 {
			e = e.Add(leaves[r.IntN(len(leaves))].Times(field.Element(r.IntN(9))))
		}
		linear = append(linear, e, e.Sub(e))
	}
	product := func(degree int) air.Expr {
		e := sum()
		for range degree - 1 {
			e = e.Mul(sum())
		}
		return e
	}
	for i := range 1 + r.IntN(6) {
		e := product(degree).Add(product(1 + r.IntN(degree)))
		e = []air.Expr{e, b.Transition().Mul(product(degree - 1)).Sub(e), b.First().Mul(product(degree - 1)), e.Sub(b.Last().Mul(b.Last().Plus(5)))}[r.IntN(4)]
		b.Assert(fmt.Sprint(i), e)
	}
	for i := range lookups {
		args := make([]air.Expr, i%len(channels))
		for k := range args {
			args[k] = []air.Expr{sum(), b.Const(element(r)), b.Const(0)}[r.IntN(3)]
		}
		multiplicity := []air.Expr{b.Const(1), b.Const(field.Modulus - 1), b.Const(0), b.Const(element(r)), sum()}[r.IntN(5)]
		if r.IntN(2) == 0 {
			b.Push(channels[len(args)], multiplicity, 1, args...)
		} else {
			b.Pull(channels[len(args)], multiplicity, args...)
		}
	}
	logBlowup := 1
	for 1<<logBlowup < degree-1 {
		logBlowup++
	}
	key, err := s.Compile("blake3", formats.Profile{LogBlowup: uint8(logBlowup)}, 0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := air.CheckCircuit(&key.Circuits[0], key.Channels, logBlowup, 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRandomCircuits(t *testing.T) {
	r := rand.New(rand.NewPCG(83, 84))
	for degree := 2; degree <= 9; degree++ {
		for _, lookups := range []int{0, 1, 2, 3, 5, 13} {
			for range 2 {
				restore := ptx.SetChunkOperations(1 + r.IntN(400))
				compare(t, r, randomCircuit(t, r, degree, lookups))
				restore()
			}
		}
	}
}

// TestStructure holds kernels to their limits: a chunk of several items to its operations, every chunk to what a thread's registers and a block of parameters hold; and holds that a circuit's
// kernels are the same each time, and named by their text.
func TestStructure(t *testing.T) {
	builtIn(t, func(t *testing.T, c *air.Circuit) {
		for _, write := range []func(*air.Circuit) *ptx.Program{ptx.Quotient, ptx.Fractions} {
			p, again := write(c), write(c)
			texts := map[string]string{}
			for i := range p.Chunks {
				k := &p.Chunks[i]
				m, err := assemble(k.Text)
				if err != nil {
					t.Fatal(err)
				}
				if k.Operations > ptx.ChunkOperations && k.Items > 1 {
					t.Errorf("kernel %d has %d operations in %d items", i, k.Operations, k.Items)
				}
				if n := m.live(); n > 120 {
					t.Errorf("%d registers of kernel %d are live at a time", n, i)
				}
				if k.ArgBytes > 4096 || k.ArgBytes != m.params {
					t.Errorf("kernel %d has %d bytes of parameters, its text %d", i, k.ArgBytes, m.params)
				}
				if k.Kernel != again.Chunks[i].Kernel || k.Text != again.Chunks[i].Text {
					t.Errorf("kernel %d is another the second time", i)
				}
				if text, ok := texts[k.Kernel]; ok && text != k.Text {
					t.Errorf("%s is the name of two kernels", k.Kernel)
				}
				texts[k.Kernel] = k.Text
			}
		}
	})
}

// TestLargeItems has a constraint that is too large for a kernel, and messages with more constants than a kernel's block of parameters holds.
func TestLargeItems(t *testing.T) {
	for name, build := range map[string]func(s *air.System, b *air.Builder, x air.Expr){
		"constraint": func(_ *air.System, b *air.Builder, x air.Expr) {
			e := x
			for i := range 9000 {
				e = e.Times(3).Plus(field.Element(i))
			}
			b.Assert("long", e)
		},
		"message": func(s *air.System, b *air.Builder, x air.Expr) {
			args := make([]air.Expr, 200)
			for i := range args {
				args[i] = x
			}
			b.Push(s.Channel("wide", len(args)), b.Const(1), 1, args...)
		},
	} {
		s := air.NewSystem(name)
		b := s.Circuit(name)
		build(s, b, b.Column("x"))
		key, err := s.Compile("blake3", formats.Profile{LogBlowup: 1}, 0)
		if err != nil {
			t.Fatal(err)
		}
		c, err := air.CheckCircuit(&key.Circuits[0], key.Channels, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if ptx.Quotient(c) != nil {
			t.Errorf("%s: a kernel was written", name)
		}
	}
}

// TestOperations counts a small circuit's by hand: one constraint of two operations, and two lookups of one group.
func TestOperations(t *testing.T) {
	s := air.NewSystem("small")
	b := s.Circuit("small")
	x, y := b.Column("x"), b.Column("y")
	b.Assert("product", x.Mul(y).Sub(y))
	one := s.Channel("one", 1)
	b.Push(one, b.Const(1), 1, x)
	b.Pull(one, b.Const(1), y)
	key, err := s.Compile("blake3", formats.Profile{LogBlowup: 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	key.Circuits[0].Degree = 3
	c, err := air.CheckCircuit(&key.Circuits[0], key.Channels, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Groups) != 1 {
		t.Fatalf("%d groups", len(c.Groups))
	}
	messages, fraction := 2*6, 2*15+3+3
	if got, want := ptx.Operations(c, false), messages+fraction; got != want {
		t.Errorf("%d operations of fractions, want %d", got, want)
	}
	if got, want := ptx.Operations(c, true), 2+6+messages+fraction+3+15+3+15+3; got != want {
		t.Errorf("%d operations of the quotient, want %d", got, want)
	}
}
