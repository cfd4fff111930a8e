package circuits

import (
	"maps"
	"slices"
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/accel"
	bc "github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// limbBits are the bits that one lookup bounds.
const limbBits = 16

// heavy is the weight of one push in each row of a circuit with calls whose rank may be lower by up to 2^32. The push's multiplicity is at most 1; the weight makes verifiers refuse a proof of 2^32 such rows or more
// (P-16), which the argument that calls are well-founded needs.
const heavy = 1 << 32

// column is a main column.
type column struct {
	air.Expr
	index int
}

// slot is a place for a lookup in every row. Exclusive branches share it: each is a user, with its selector and its arguments.
type slot struct {
	channel channel
	users   []user
	columns []column // of limbs, in slots that branches share: then an argument is the same column for all
	weight  uint64
}

type user struct {
	selector air.Expr
	args     []air.Expr
}

// slotKey names a slot of a circuit.
type slotKey struct{ group, channel, index int }

// cursor is how many auxiliary columns, and slots of each channel, the way to a place takes.
type cursor struct {
	aux   int
	slots map[int]int
}

func (c cursor) clone() cursor { return cursor{c.aux, maps.Clone(c.slots)} }

// join makes c cover d as well.
func (c *cursor) join(d cursor) {
	c.aux = max(c.aux, d.aux)
	for k, n := range d.slots {
		c.slots[k] = max(c.slots[k], n)
	}
}

// layout builds the circuit of a group of functions, and their plans. It walks each function once: columns, constraints, lookups and plan come from the same walk. All is walked twice, the first time on trial:
// whether branches share a slot decides how its arguments are best given, and is known only at the end.
type layout struct {
	*assembler
	b     *air.Builder
	group int

	inputs, aux []column
	slots       map[int][]*slot // by channel
	order       []*slot         // as they were first used
	cursor      cursor
	uses, rank  column
	supply      *slot // what the group's functions answer
	real        air.Expr
	weighted    bool // some slot is heavy

	limbs, bytes, choices int // columns of these names

	plan   *Plan // of the function that is walked, as are the following
	claims *slot // what its entry answers, nil without one
	temps  int
}

// buildGroup builds a group's circuit and returns the plans of its functions.
func (a *assembler) buildGroup(g int) []*Plan {
	grp := &a.groups[g]
	l := &layout{assembler: a, b: a.air.Circuit(grp.Name), group: g, slots: map[int][]*slot{}, cursor: cursor{slots: map[int]int{}}}
	params := 0
	for _, f := range grp.Functions {
		params = max(params, a.module.Program.Functions[f].Params)
	}
	for i := range params {
		l.inputs = append(l.inputs, l.column("in["+strconv.Itoa(i)+"]"))
	}
	l.uses = l.column("uses")
	if grp.Recursive {
		l.rank = l.column("rank")
	}
	l.real = l.b.Const(0)
	l.supply = &slot{channel: a.calls[g]}
	var plans []*Plan
	start := l.cursor
	for _, f := range grp.Functions {
		l.cursor = start.clone()
		plans = append(plans, l.function(f))
	}
	l.b.AssertBoolean("a row is one call or none", l.real)
	l.b.Assert("padding supplies nothing", l.uses.Mul(l.real.Not()))
	l.pull(l.supply, l.uses.Expr)
	for _, s := range l.order {
		l.push(s)
	}
	return plans
}

func (l *layout) column(name string) column {
	return column{l.b.Column(name), int(l.b.Columns) - 1}
}

// alloc takes the next auxiliary column.
func (l *layout) alloc() column {
	if l.cursor.aux == len(l.aux) {
		l.aux = append(l.aux, l.column("aux["+strconv.Itoa(len(l.aux))+"]"))
	}
	l.cursor.aux++
	return l.aux[l.cursor.aux-1]
}

// slot takes the next slot of a channel. shared says whether another branch takes it too.
func (l *layout) slot(ch channel) (s *slot, shared bool) {
	n := l.cursor.slots[ch.number]
	l.cursor.slots[ch.number]++
	key := slotKey{l.group, ch.number, n}
	if n == len(l.slots[ch.number]) {
		s = &slot{channel: ch, weight: 1}
		l.slots[ch.number] = append(l.slots[ch.number], s)
		l.order = append(l.order, s)
	}
	l.users[key]++
	return l.slots[ch.number][n], l.trial != nil && l.trial[key] > 1
}

// push emits a slot's lookup.
func (l *layout) push(s *slot) {
	mult, args := l.superpose(s)
	l.b.Push(s.channel.Channel, mult, s.weight, args...)
}

// pull emits a lookup that answers mult times.
func (l *layout) pull(s *slot, mult air.Expr) {
	if len(s.users) > 0 { // else nothing is ever answered
		_, args := l.superpose(s)
		l.b.Pull(s.channel.Channel, mult, args...)
	}
}

// superpose joins a slot's users, of whom at most one is selected in a row: the sum of their selectors, and for each argument the sum of selector times argument. An argument that is the same for all, or of the only user,
// stands as it is: where no user is selected the multiplicity is 0 and it does not matter.
func (l *layout) superpose(s *slot) (mult air.Expr, args []air.Expr) {
	mult = l.b.Const(0)
	for _, u := range s.users {
		mult = mult.Add(u.selector)
	}
	if len(s.users) == 0 {
		return mult, nil
	}
	for k := range s.users[0].args {
		same := true
		sum := l.b.Const(0)
		for _, u := range s.users {
			same = same && u.args[k] == s.users[0].args[k]
			sum = sum.Add(u.selector.Mul(u.args[k]))
		}
		if same {
			sum = s.users[0].args[k]
		}
		args = append(args, sum)
	}
	return mult, args
}

// function walks a function.
func (l *layout) function(f int) *Plan {
	fn := &l.module.Program.Functions[f]
	l.plan = &Plan{Function: f, Uses: l.uses.index, Claims: none, Rank: none}
	if l.groups[l.group].Recursive {
		l.plan.Rank = l.rank.index
	}
	l.temps, l.claims = l.module.Registers(f), nil
	entry := l.entryOf[f]
	if entry >= 0 {
		l.claims = &slot{channel: l.entries[entry]}
	}
	var values []air.Expr
	for i := range fn.Params {
		l.plan.Params = append(l.plan.Params, l.inputs[i].index)
		values = append(values, l.inputs[i].Expr)
	}
	var selectors []column
	for i := range leaves(&fn.Body) {
		selectors = append(selectors, l.column(formats.Quote(fn.Name)+" leaf "+strconv.Itoa(i)))
	}
	s := l.scope(expressions(selectors), values)
	s.leafColumns = selectors
	if len(l.groups[l.group].Functions) > 1 && len(selectors) > 0 {
		// No match chooses between functions, so that their sum alone could be one call made of several multiples.
		l.b.AssertBoolean("a row is a call of one function", s.selector)
	}
	l.plan.Body = s.block(&fn.Body)
	l.real = l.real.Add(s.selector)
	if entry >= 0 {
		claims := l.column("claims of " + formats.Quote(l.module.Program.Entries[entry].Name))
		l.plan.Claims = claims.index
		l.b.Assert("only calls are claimed", claims.Mul(s.selector.Not()))
		l.pull(l.claims, claims.Expr)
	}
	l.plan.Registers = l.temps
	return l.plan
}

func expressions(columns []column) []air.Expr {
	out := make([]air.Expr, len(columns))
	for i, c := range columns {
		out[i] = c.Expr
	}
	return out
}

// leaves counts the ends of a block and of its tail matches, failures not counted: one selector each.
func leaves(b *bc.Block) (n int) {
	switch b.End.Kind {
	case bc.EndReturn, bc.EndYield:
		return 1
	case bc.EndMatch:
		b.End.Match.Blocks(func(b *bc.Block) { n += leaves(b) })
	}
	return n
}

// temp is a register for a number of the plan's own.
func (l *layout) temp() int {
	l.temps++
	return l.temps - 1
}

func degree(x air.Expr) int { return x.Degree().Rows }

// scope is the walk within one block.
type scope struct {
	*layout
	leaf        []air.Expr // selectors of the block's leaves, in order
	leafColumns []column   // theirs; the last may have none, of an operation Match
	selector    air.Expr   // their sum: 1 in the rows that go through the block
	values      []air.Expr // bytecode values, of degree 2 at most; register r of the plan holds value r
	outer       []air.Expr // those of the block around it, which come first and stand in the same place
	replaced    []replaced // of outer, while the block is walked
	writes      *[]write   // of the place at hand
	half        *half
	yields      *[]yield // of the operation Match whose block this is
	elsewhere   int      // calls within the component that a way through the block may take outside it, at most
}

// half is a pair slot whose second byte is free.
type half struct {
	slot *slot
	user int
	write
}

// yield is what a leaf yields.
type yield struct {
	selector air.Expr
	values   []air.Expr
}

func (l *layout) scope(leaf []air.Expr, values []air.Expr) *scope {
	return &scope{layout: l, leaf: leaf, selector: l.b.Sum(leaf...), values: values, outer: values}
}

// replaced is a value's expression in the block around.
type replaced struct {
	value bc.Value
	air.Expr
}

// replace gives value v another expression, which holds in this block alone.
func (s *scope) replace(v bc.Value, x air.Expr) {
	if int(v) < len(s.outer) {
		s.replaced = append(s.replaced, replaced{v, s.values[v]})
	}
	s.values[v] = x
}

// leave gives the block around it its values back.
func (s *scope) leave() {
	for _, r := range slices.Backward(s.replaced) {
		s.outer[r.value] = r.Expr
	}
}

// assert demands x = 0 in the rows of the block. x has degree 2 at most.
func (s *scope) assert(name string, x air.Expr) { s.b.Assert(name, s.selector.Mul(x)) }

func (s *scope) write(w write) { *s.writes = append(*s.writes, w) }

// hold gives an expression a column that holds register r.
func (s *scope) hold(x air.Expr, r int) air.Expr {
	c := s.alloc()
	s.assert("a value has its column", c.Sub(x))
	s.write(write{Kind: writeValue, Column: c.index, R: r})
	return c.Expr
}

// fresh is a new column that holds register r: nothing is known of it.
func (s *scope) fresh(r int) air.Expr {
	c := s.alloc()
	s.write(write{Kind: writeValue, Column: c.index, R: r})
	return c.Expr
}

// linear is value v with degree 1 at most: it is given a column if need be.
func (s *scope) linear(v bc.Value) air.Expr {
	if degree(s.values[v]) > 1 {
		s.replace(v, s.hold(s.values[v], int(v)))
	}
	return s.values[v]
}

func (s *scope) linears(args []bc.Value) []air.Expr {
	out := make([]air.Expr, len(args))
	for i, a := range args {
		out[i] = s.linear(a)
	}
	return out
}

// result appends a value.
func (s *scope) result(x air.Expr) { s.values = append(s.values, x) }

// use adds a user of the next slot of a channel.
func (s *scope) use(ch channel, args ...air.Expr) *slot {
	at, _ := s.slot(ch)
	at.users = append(at.users, user{s.selector, args})
	return at
}

func power(k int) field.Element { return field.Pow(2, uint64(k)) }

func (s *scope) shifted(x air.Expr, right int) air.Expr {
	return x.Times(field.InverseOfTwoPower(right))
}

// limb demands that x·2^scale is below 2^16; x is of degree 1 at most, and is the 16 bits of register r from shift on. Without x, it is a new column.
func (s *scope) limb(x *air.Expr, r, shift, scale int) air.Expr {
	at, shared := s.slot(s.fact(factRange))
	w := write{Kind: writeLimb, Column: none, R: r, Shift: uint8(shift), Scale: uint8(scale)}
	var arg air.Expr
	switch {
	case shared && at.columns == nil:
		at.columns = []column{s.column("limb[" + strconv.Itoa(s.limbs) + "]")}
		s.limbs++
		fallthrough
	case shared:
		arg, w.Column = at.columns[0].Expr, at.columns[0].index
	case x == nil:
		c := s.alloc()
		arg, w.Column = c.Expr, c.index
	default:
		arg = x.Times(power(scale))
	}
	if x != nil && w.Column != none {
		s.assert("a limb", arg.Sub(x.Times(power(scale))))
	}
	at.users = append(at.users, user{s.selector, []air.Expr{arg}})
	s.write(w)
	return arg
}

// octet demands that x is a byte, the 8 bits of register r from shift on. Without x, it is a new column. Two bytes of a block share a slot.
func (s *scope) octet(x *air.Expr, r, shift int) air.Expr {
	h, second := s.half, 0
	s.half = nil
	if h == nil {
		at, shared := s.slot(s.fact(factPair))
		if shared && at.columns == nil {
			at.columns = []column{s.column("byte[" + strconv.Itoa(s.bytes) + "]"), s.column("byte[" + strconv.Itoa(s.bytes+1) + "]")}
			s.bytes += 2
		}
		at.users = append(at.users, user{s.selector, []air.Expr{s.b.Const(0), s.b.Const(0)}})
		h = &half{slot: at, user: len(at.users) - 1, write: write{Kind: writePair, Column: none, Second: none, R: r, R2: none, Shift: uint8(shift)}}
		if at.columns != nil {
			at.users[h.user].args[1] = at.columns[1].Expr
		}
		s.half = h
	} else {
		second, h.R2, h.Shift2 = 1, r, uint8(shift)
	}
	var arg air.Expr
	index := none
	switch {
	case h.slot.columns != nil:
		arg, index = h.slot.columns[second].Expr, h.slot.columns[second].index
	case x == nil || degree(*x) > 1:
		c := s.alloc()
		arg, index = c.Expr, c.index
	default:
		arg = *x
	}
	if x != nil && index != none {
		s.assert("a byte", arg.Sub(*x))
	}
	h.slot.users[h.user].args[second] = arg
	if second == 0 {
		h.Column = index
	} else {
		h.Second = index
		s.write(h.write)
	}
	return arg
}

// flush writes a pair whose second byte nobody took.
func (s *scope) flush() {
	if s.half != nil {
		s.write(s.half.write)
		s.half = nil
	}
}

// bounded demands that x is below 2^bits, bits <= 16: the bits of register r from shift on. Without x, it is a new column.
func (s *scope) bounded(x *air.Expr, bits, r, shift int) air.Expr {
	switch bits {
	case limbBits:
		return s.limb(x, r, shift, 0)
	case 8:
		return s.octet(x, r, shift)
	}
	if bits > 1 {
		y := s.limb(x, r, shift, 0)
		s.limb(&y, r, shift, limbBits-bits)
		return y
	}
	if x == nil {
		c := s.alloc()
		s.write(write{Kind: writeBit, Column: c.index, R: r, Shift: uint8(shift)})
		x = &c.Expr
	}
	s.assert("a bit is 0 or 1", x.Mul(x.Minus(1)))
	return *x
}

// below demands that x is below 2^bits; it is register r from shift on.
func (s *scope) below(x air.Expr, bits, r, shift int) {
	for ; bits > limbBits; bits, shift = bits-limbBits, shift+limbBits {
		low := s.limb(nil, r, shift, 0)
		x = s.shifted(x.Sub(low), limbBits)
	}
	s.bounded(&x, bits, r, shift)
}

// new is a new number below 2^bits, in register r.
func (s *scope) new(bits, r int) air.Expr {
	sum := s.b.Const(0)
	for shift := 0; shift < bits; shift += limbBits {
		sum = sum.Add(s.bounded(nil, min(limbBits, bits-shift), r, shift).Times(power(shift)))
	}
	return sum
}

// block walks the block.
func (s *scope) block(b *bc.Block) blockPlan {
	p := blockPlan{Block: b, First: len(s.values), Dead: len(s.leaf) == 0}
	if p.Dead {
		return p // no row goes through: whatever it says is not asked
	}
	defer s.leave()
	outside, within := s.elsewhere, 0
	for i := range b.Ops {
		within += s.callsWithin(&b.Ops[i])
	}
	tail := s.callsOf(b.End.Match)
	for i := range b.Ops {
		p.Ops = append(p.Ops, opPlan{Ranked: none, Known: none})
		o := &p.Ops[len(p.Ops)-1]
		s.writes = &o.Writes
		s.elsewhere = outside + within + tail - s.callsWithin(&b.Ops[i])
		s.op(&b.Ops[i], o)
	}
	s.elsewhere = outside + within
	s.writes = &p.End
	switch b.End.Kind {
	case bc.EndReturn:
		payload := append(expressions(s.inputs[:len(s.plan.Params)]), s.linears(b.End.Values)...)
		s.supply.users = append(s.supply.users, user{s.selector, s.message(s.b, s.plan.Function, s.rank.Expr, payload)})
		if s.claims != nil {
			s.claims.users = append(s.claims.users, user{s.selector, payload})
		}
	case bc.EndYield:
		y := yield{selector: s.selector}
		for _, v := range b.End.Values {
			y.values = append(y.values, s.values[v])
		}
		*s.yields = append(*s.yields, y)
	}
	if b.End.Kind != bc.EndMatch {
		if c := s.leafColumns[0]; c.index != none {
			s.write(write{Kind: writeOne, Column: c.index})
		}
	}
	s.flush()
	if b.End.Kind == bc.EndMatch {
		p.Match = s.match(b.End.Match, s.leaf, s.leafColumns, s.yields)
	}
	return p
}

// match walks the blocks of a match, whose leaves have these selectors.
func (s *scope) match(m *bc.Match, leaf []air.Expr, columns []column, yields *[]yield) *matchPlan {
	p := &matchPlan{Match: m}
	s.linear(m.Value)
	var all []uint64
	start, end := s.cursor.clone(), s.cursor.clone()
	walk := func(b *bc.Block, enter func(inner *scope)) {
		n := leaves(b)
		s.cursor = start.clone()
		inner := s.layout.scope(leaf[:n], s.values)
		inner.leafColumns, inner.yields, inner.elsewhere = columns[:n], yields, s.elsewhere
		leaf, columns = leaf[n:], columns[n:]
		p.Before = append(p.Before, nil)
		inner.writes = &p.Before[len(p.Before)-1]
		if n > 0 {
			enter(inner)
		}
		p.Blocks = append(p.Blocks, inner.block(b))
		end.join(s.cursor)
	}
	for i := range m.Cases {
		c := &m.Cases[i]
		all = append(all, c.Values...)
		walk(&c.Block, func(inner *scope) { inner.isOneOf(m.Value, c.Values) })
	}
	if m.Default != nil {
		walk(m.Default, func(inner *scope) { inner.isNoneOf(m.Value, all) })
	}
	s.cursor = end
	return p
}

// product multiplies v - x over the values x. All partial products but the last, and with all also that, have columns of their own.
func (s *scope) product(v bc.Value, values []uint64, all bool) air.Expr {
	product := s.b.Const(1)
	for i, x := range values {
		product = product.Mul(s.values[v].Minus(field.Element(x)))
		w := write{Kind: writeFactor, Column: none, R: int(v), Constant: x, Begin: i == 0}
		if i > 0 && (all || i < len(values)-1) {
			c := s.alloc()
			s.assert("a product over cases", c.Sub(product))
			w.Column, product = c.index, c.Expr
		}
		s.write(w)
	}
	return product
}

// isOneOf demands that value v is one of some.
func (s *scope) isOneOf(v bc.Value, values []uint64) {
	s.assert("the case has the value", s.product(v, values, false))
}

// isNoneOf demands that value v is none of some: the product of the differences has an inverse.
func (s *scope) isNoneOf(v bc.Value, values []uint64) {
	if len(values) == 0 {
		return
	}
	product, c := s.product(v, values, true), s.alloc()
	s.assert("no case has the value", product.Mul(c.Expr).Minus(1))
	s.write(write{Kind: writeInverseProduct, Column: c.index})
}

// op walks an operation.
func (s *scope) op(o *bc.Op, p *opPlan) {
	first := len(s.values) // register of the first result
	arg := func(i int) air.Expr { return s.values[o.Args[i]] }
	register := func(i int) int { return int(o.Args[i]) }
	_, results := s.module.Program.Arity(o)
	switch o.Code {
	case bc.OpConst:
		s.result(s.b.Const(field.Element(o.A)))
	case bc.OpAdd:
		s.result(arg(0).Add(arg(1)))
	case bc.OpSub:
		s.result(arg(0).Sub(arg(1)))
	case bc.OpMul:
		x, y := arg(0), arg(1)
		if degree(x)+degree(y) > 2 {
			x, y = s.linear(o.Args[0]), s.linear(o.Args[1])
		}
		s.result(x.Mul(y))
	case bc.OpIsZero:
		x := s.linear(o.Args[0])
		inverse := s.alloc()
		s.write(write{Kind: writeInverse, Column: inverse.index, R: register(0)})
		is := s.fresh(first)
		s.assert("1 unless the value has an inverse", x.Mul(inverse.Expr).Add(is).Minus(1))
		s.assert("0 unless the value is 0", x.Mul(is))
		s.result(is)
	case bc.OpAssertZero:
		s.assert("an assertion", arg(0))
	case bc.OpRange:
		if degree(arg(0)) <= 1 {
			s.below(arg(0), int(o.A), register(0), 0)
			break
		}
		sum := s.new(int(o.A), register(0)) // has the value, and a lower degree
		s.assert("a number in range", arg(0).Sub(sum))
		s.replace(o.Args[0], sum)
	case bc.OpSplit:
		x := arg(0)
		low := s.new(int(o.A), first)
		high := s.shifted(x.Sub(low), int(o.A))
		if degree(high) > 1 {
			high = s.hold(high, first+1)
		}
		s.below(high, int(o.B), first+1, 0)
		if o.A+o.B == 64 {
			q := s.alloc()
			s.write(write{Kind: writeQuotient, Column: q.index, R: first, R2: first + 1})
			s.assert("a canonical pair", low.Sub(q.Mul(s.b.Const(1<<32-1).Sub(high))))
		}
		s.result(low)
		s.result(high)
	case bc.OpBytes:
		x := arg(0)
		for k := range int(o.A) - 1 {
			b := s.octet(nil, first+k, 0)
			x = s.shifted(x.Sub(b), 8)
			s.result(b)
		}
		s.result(s.octet(&x, first+int(o.A)-1, 0))
	case bc.OpXor:
		x, y := s.linear(o.Args[0]), s.linear(o.Args[1])
		z := s.fresh(first)
		s.use(s.fact(factXor), x, y, z)
		s.write(write{Kind: writeXor, Column: none, R: register(0), R2: register(1)})
		s.result(z)
	case bc.OpStore:
		args := s.linears(o.Args)
		pointer := s.fresh(first)
		s.use(s.memory(int(o.A)), append([]air.Expr{pointer}, args...)...)
		s.result(pointer)
	case bc.OpLoad:
		args := []air.Expr{s.linear(o.Args[0])}
		for k := range results {
			x := s.fresh(first + k)
			args = append(args, x)
			s.result(x)
		}
		s.use(s.memory(int(o.A)), args...)
	case bc.OpCall:
		if o.Unconstrained() {
			s.hints(first, results)
			return
		}
		s.call(o, p, first, results)
	case bc.OpMatch:
		s.choose(o, p, results)
	case bc.OpInput, bc.OpInputLength, bc.OpHintInverse, bc.OpHintLimbs, bc.OpHintDivMod, bc.OpHintModInverse:
		s.hints(first, results)
	default:
		kind, _ := accel.ByCode(o.Code)
		args := s.linears(o.Args)
		for k := range results {
			x := s.fresh(first + k)
			args = append(args, x)
			s.result(x)
		}
		s.use(s.accelerator(kind), args...)
	}
}

// hints are results of which nothing is known.
func (s *scope) hints(first, results int) {
	for k := range results {
		s.result(s.fresh(first + k))
	}
}

// isWithin reports whether an operation is a constrained call within the function's component.
func (s *scope) isWithin(o *bc.Op) bool {
	f := s.plan.Function
	return o.Code == bc.OpCall && !o.Unconstrained() && s.module.Recursive[f] && s.module.Order[o.A] == s.module.Order[f]
}

// callsWithin is how many calls within the component an operation makes at most.
func (s *scope) callsWithin(o *bc.Op) int {
	if s.isWithin(o) {
		return 1
	}
	return s.callsOf(o.Match)
}

// callsOf is callsWithin of a match, nil for none.
func (s *scope) callsOf(m *bc.Match) (most int) {
	if m == nil {
		return 0
	}
	m.Blocks(func(b *bc.Block) {
		n := s.callsOf(b.End.Match)
		for i := range b.Ops {
			n += s.callsWithin(&b.Ops[i])
		}
		most = max(most, n)
	})
	return most
}

// call walks a constrained call. A call within a component goes to a lower rank: to the next one if the row makes no other, since a rank is one more than the highest that is called.
func (s *scope) call(o *bc.Op, p *opPlan, first, results int) {
	callee := int(o.A)
	payload := s.linears(o.Args)
	for k := range results {
		x := s.fresh(first + k)
		payload = append(payload, x)
		s.result(x)
	}
	var rank air.Expr
	gap := false
	switch {
	case !s.module.Recursive[callee]:
	case !s.isWithin(o):
		p.Known = s.temp()
		rank = s.fresh(p.Known)
	case s.elsewhere == 0:
		rank = s.rank.Minus(1)
	default:
		gap = true
		p.Ranked, p.Gap = s.temp(), s.temp()
		rank = s.fresh(p.Ranked)
		s.below(s.rank.Sub(rank).Minus(1), 32, p.Gap, 0)
	}
	at := s.use(s.calls[s.groupOf[callee]], s.message(s.b, callee, rank, payload)...)
	if gap && !s.weighted {
		s.weighted, at.weight = true, heavy
	}
}

// choose walks an operation Match.
func (s *scope) choose(o *bc.Op, p *opPlan, results int) {
	n := 0
	o.Match.Blocks(func(b *bc.Block) { n += leaves(b) })
	var columns []column
	var leaf []air.Expr
	rest := s.selector
	for k := range n {
		c := column{rest, none} // the last is what the others leave
		if k < n-1 {
			c = s.column("choice[" + strconv.Itoa(s.choices) + "]")
			s.choices++
			rest = rest.Sub(c.Expr)
		}
		columns, leaf = append(columns, c), append(leaf, c.Expr)
	}
	if n == 0 {
		s.b.Assert("a match that always fails is not met", s.selector)
	}
	var yields []yield
	p.Match = s.match(o.Match, leaf, columns, &yields)
	for k := range results {
		r := len(s.values)
		s.result(s.merge(yields, k, r))
	}
}

// merge is result k of an operation Match, in register r: the sum of selector times value, or a column where that would be too high a degree.
func (s *scope) merge(yields []yield, k, r int) air.Expr {
	sum, same := s.b.Const(0), true
	for _, y := range yields {
		sum = sum.Add(y.selector.Mul(y.values[k]))
		same = same && y.values[k] == yields[0].values[k]
	}
	switch {
	case same && len(yields) > 0:
		return yields[0].values[k]
	case degree(sum) <= 2:
		return sum
	}
	c := s.alloc()
	for _, y := range yields {
		s.b.Assert("a match's result", y.selector.Mul(c.Sub(y.values[k])))
	}
	s.write(write{Kind: writeValue, Column: c.index, R: r})
	return c.Expr
}
