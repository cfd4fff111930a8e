package air

import (
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
)

// System is a system under construction: channels, circuits and entries. Its methods never fail; the first mistake is kept and returned by Err and by
// key generation, with the place where it was made.
type System struct {
	Name     string
	Channels []formats.Channel
	Circuits []*Builder
	Entries  []formats.Entry
	err      *formats.Error
}

// NewSystem starts a system. The name is part of its key.
func NewSystem(name string) *System { return &System{Name: name} }

// Err is the first mistake made while building, nil if there is none.
func (s *System) Err() error {
	if s.err != nil {
		return s.err
	}
	return nil
}

func (s *System) fail(place, what string) {
	if s.err == nil {
		s.err = invalid("", place, what)
	}
}

// Channel is a lookup channel of a system.
type Channel struct {
	system *System
	index  uint32
	arity  int
}

// Channel declares a channel whose messages have the given number of elements.
func (s *System) Channel(name string, arity int) Channel {
	if arity < 0 || arity > formats.MaxLookupArgs {
		s.fail("channel "+formats.Quote(name), "the arity is not within 0 to "+strconv.Itoa(formats.MaxLookupArgs))
		arity = 0
	}
	s.Channels = append(s.Channels, formats.Channel{Name: name, Arity: uint16(arity)})
	return Channel{s, uint32(len(s.Channels) - 1), arity}
}

// Entry declares a statement that can be claimed: the verifier pushes args ‖ results on the channel once for each claim, and some circuit must pull
// it. The channel must serve no other entry.
func (s *System) Entry(name string, ch Channel, args, results []formats.Value) {
	if ch.system != s {
		s.fail("entry "+formats.Quote(name), "the channel belongs to another system")
		return
	}
	s.Entries = append(s.Entries, formats.Entry{Name: name, Channel: ch.index, Args: args, Results: results})
}

// Circuit adds a circuit.
func (s *System) Circuit(name string) *Builder {
	b := &Builder{system: s, Circuit: formats.Circuit{Name: name}, nodes: map[formats.Node]uint32{}, next: map[uint32]Expr{}}
	s.Circuits = append(s.Circuits, b)
	return b
}

// Builder defines one circuit: declare columns, combine them with ordinary arithmetic, assert that expressions are zero on every row, push and pull messages.
type Builder struct {
	formats.Circuit
	FixedValues [][]field.Element // column-major, 2^LogHeight values each
	ColumnNames []string          // of the main columns
	Asserted    []string          // names of the constraints

	system  *System
	nodes   map[formats.Node]uint32
	degrees []Degree        // of the nodes
	next    map[uint32]Expr // of the nodes that were read in the next row
}

// Expr is a polynomial in the columns of a row and of the next row. The zero value belongs to no circuit and is refused wherever it is used.
type Expr struct {
	b  *Builder
	id uint32
}

func (b *Builder) fail(what string) Expr {
	b.system.fail("circuit "+formats.Quote(b.Name), what)
	return b.Const(0)
}

// node returns the one node equal to n.
func (b *Builder) node(n formats.Node) Expr {
	id, ok := b.nodes[n]
	if !ok {
		id = uint32(len(b.Nodes))
		b.nodes[n] = id
		b.Nodes = append(b.Nodes, n)
		b.degrees = append(b.degrees, degreeOf(n, b.degrees))
	}
	return Expr{b, id}
}

// Degree is the expression's degree, as key generation judges it.
func (x Expr) Degree() Degree {
	if x.b == nil {
		return Degree{}
	}
	return x.b.degrees[x.id]
}

// Const is a constant.
func (b *Builder) Const(v field.Element) Expr {
	return b.node(formats.Node{Op: formats.OpConst, A: uint64(v)})
}

// Column adds a main column.
func (b *Builder) Column(name string) Expr {
	b.ColumnNames = append(b.ColumnNames, name)
	b.Columns++
	return b.node(formats.Node{Op: formats.OpMain, A: uint64(b.Columns - 1)})
}

// ColumnVector adds n main columns, named name[0] and so on.
func (b *Builder) ColumnVector(name string, n int) []Expr {
	out := make([]Expr, n)
	for i := range out {
		out[i] = b.Column(name + "[" + strconv.Itoa(i) + "]")
	}
	return out
}

// FixedColumn adds a column whose values are committed in the key. All fixed columns of a circuit have the same length, a power of two, and any table of the
// circuit has exactly that height.
func (b *Builder) FixedColumn(values []field.Element) Expr {
	log := 0
	for 1<<log < len(values) {
		log++
	}
	if len(values) != 1<<log || log > formats.MaxLogHeight {
		return b.fail("a fixed column's length is not a power of two within the limit")
	}
	if len(b.Fixed) == 0 {
		b.Fixed = []formats.Fixed{{LogHeight: uint8(log)}}
	}
	if int(b.Fixed[0].LogHeight) != log {
		return b.fail("fixed columns have different lengths")
	}
	b.Fixed[0].Columns++
	b.FixedValues = append(b.FixedValues, values)
	return b.node(formats.Node{Op: formats.OpFixed, A: uint64(b.Fixed[0].Columns - 1)})
}

// PeriodicColumn adds a column that repeats the values, a power of two many, down the table. It costs nothing to commit, and tables are at least one period high.
func (b *Builder) PeriodicColumn(values ...field.Element) Expr {
	var e formats.Elements
	for _, v := range values {
		e = e.Append(uint64(v))
	}
	b.Periodic = append(b.Periodic, e)
	return b.node(formats.Node{Op: formats.OpPeriodic, A: uint64(len(b.Periodic) - 1)})
}

// First is 1 on the first row and 0 elsewhere.
func (b *Builder) First() Expr { return b.node(formats.Node{Op: formats.OpFirst}) }

// Last is 1 on the last row and 0 elsewhere.
func (b *Builder) Last() Expr { return b.node(formats.Node{Op: formats.OpLast}) }

// Transition is 0 on the last row and not 0 elsewhere. It adds nothing to a degree if it occurs once in a product.
func (b *Builder) Transition() Expr { return b.node(formats.Node{Op: formats.OpTransition}) }

// Next is the expression read one row further down; after the last row comes the first. Selectors have no next row.
func (x Expr) Next() Expr {
	if x.b == nil {
		return x
	}
	y, ok := x.b.next[x.id] // a shared node is moved once, however many paths lead to it
	if !ok {
		y = x.moved()
		x.b.next[x.id] = y
	}
	return y
}

// moved is Next of a node that was not moved before.
func (x Expr) moved() Expr {
	n := x.b.Nodes[x.id]
	switch n.Op {
	case formats.OpConst:
		return x
	case formats.OpMain, formats.OpFixed, formats.OpPeriodic:
		if n.B != 0 {
			return x.b.fail("an expression reads further than the next row")
		}
		n.B = 1
		return x.b.node(n)
	case formats.OpAdd:
		return Expr{x.b, uint32(n.A)}.Next().Add(Expr{x.b, n.B}.Next())
	case formats.OpSub:
		return Expr{x.b, uint32(n.A)}.Next().Sub(Expr{x.b, n.B}.Next())
	case formats.OpMul:
		return Expr{x.b, uint32(n.A)}.Next().Mul(Expr{x.b, n.B}.Next())
	}
	return x.b.fail("a selector was read in the next row")
}

// constant returns the value of a constant expression.
func (x Expr) constant() (field.Element, bool) {
	n := x.b.Nodes[x.id]
	return field.Element(n.A), n.Op == formats.OpConst
}

func (x Expr) combine(op formats.Op, y Expr) Expr {
	if x.b == nil || y.b != x.b {
		if x.b == nil {
			x.b = y.b
		}
		if x.b == nil {
			return x
		}
		return x.b.fail("expressions of two circuits were combined")
	}
	a, aConst := x.constant()
	b, bConst := y.constant()
	switch {
	case aConst && bConst:
		switch op {
		case formats.OpAdd:
			return x.b.Const(field.Add(a, b))
		case formats.OpSub:
			return x.b.Const(field.Sub(a, b))
		}
		return x.b.Const(field.Mul(a, b))
	case op == formats.OpMul && (aConst && a == 0 || bConst && b == 1), op != formats.OpMul && bConst && b == 0:
		return x
	case op == formats.OpMul && (bConst && b == 0 || aConst && a == 1), op == formats.OpAdd && aConst && a == 0:
		return y
	case op != formats.OpSub && x.id > y.id: // sums and products commute: one node for both orders
		x, y = y, x
	}
	return x.b.node(formats.Node{Op: op, A: uint64(x.id), B: y.id})
}

// Add is x + y.
func (x Expr) Add(y Expr) Expr { return x.combine(formats.OpAdd, y) }

// Sub is x - y.
func (x Expr) Sub(y Expr) Expr { return x.combine(formats.OpSub, y) }

// Mul is x * y.
func (x Expr) Mul(y Expr) Expr { return x.combine(formats.OpMul, y) }

// Plus is x + v.
func (x Expr) Plus(v field.Element) Expr { return x.with(x.Add, v) }

// Minus is x - v.
func (x Expr) Minus(v field.Element) Expr { return x.with(x.Sub, v) }

// Times is x * v.
func (x Expr) Times(v field.Element) Expr { return x.with(x.Mul, v) }

func (x Expr) with(f func(Expr) Expr, v field.Element) Expr {
	if x.b == nil {
		return x
	}
	return f(x.b.Const(v))
}

// Not is 1 - x, the complement of a boolean.
func (x Expr) Not() Expr {
	if x.b == nil {
		return x
	}
	return x.b.Const(1).Sub(x)
}

// Sum is the sum of expressions of the circuit.
func (b *Builder) Sum(xs ...Expr) Expr {
	s := b.Const(0)
	for _, x := range xs {
		s = s.Add(x)
	}
	return s
}

// Assert demands x = 0 on every row. The name appears in errors.
func (b *Builder) Assert(name string, x Expr) {
	if x.b != b {
		b.fail("constraint " + formats.Quote(name) + " is no expression of the circuit")
		return
	}
	b.Constraints = append(b.Constraints, x.id)
	b.Asserted = append(b.Asserted, name)
}

// AssertBoolean demands that x is 0 or 1.
func (b *Builder) AssertBoolean(name string, x Expr) { b.Assert(name, x.Mul(x.Minus(1))) }

// Push sends a message mult times. The circuit's own constraints must keep mult, as an integer, within 0 to weight.
func (b *Builder) Push(ch Channel, mult Expr, weight uint64, args ...Expr) {
	b.lookup(true, ch, mult, weight, args)
}

// Pull receives a message mult times. The message must be true whatever mult is.
func (b *Builder) Pull(ch Channel, mult Expr, args ...Expr) { b.lookup(false, ch, mult, 0, args) }

func (b *Builder) lookup(push bool, ch Channel, mult Expr, weight uint64, args []Expr) {
	if ch.system != b.system {
		b.fail("a lookup's channel belongs to another system")
		return
	}
	l := formats.Lookup{Push: push, Channel: ch.index, Multiplicity: mult.id, Weight: weight}
	for _, a := range append([]Expr{mult}, args...) {
		if a.b != b {
			b.fail("a lookup on channel " + formats.Quote(b.system.Channels[ch.index].Name) + " has an expression of another circuit")
			return
		}
	}
	for _, a := range args {
		l.Args = append(l.Args, a.id)
	}
	b.Lookups = append(b.Lookups, l)
}
