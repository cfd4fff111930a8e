package ptx

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"unsafe"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
)

// chunk writes the kernel of some items.
func (w *writer) chunk(items []item, first, last bool) Chunk {
	w.begin()
	for _, i := range items {
		w.extend(i)
	}
	w.f, w.constants = &function{}, nil
	w.values, w.forms, w.columns = map[uint32]word{}, map[uint32]form{}, map[origin]wide{}
	w.pitch, w.bytes = half{}, HeaderBytes+periodicBytes*len(w.periodic)
	w.forget()
	w.locate()
	name := "fractions"
	if w.quotient {
		name = "quotient"
		w.fold(items, first, last)
	} else {
		for _, i := range items {
			w.fraction(i.group)
			w.forget()
		}
	}
	f := w.f
	text := fmt.Sprintf("(.param .align 8 .b8 p[%d])\n.maxntid %d\n.minnctapersm %d\n{\n.reg .b32 %%r<%d>;\n.reg .b64 %%d<%d>;\n.reg .pred %%p<%d>;\n%sEND:\nret;\n}\n",
		w.bytes, Threads, blocksProcessor, f.halves+1, f.wides+1, f.truths+1, f.text)
	digest := sha256.Sum256([]byte(text))
	name += "_" + hex.EncodeToString(digest[:16])
	return Chunk{
		Kernel: name, Text: ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry " + name + text,
		Operations: w.operations, Items: len(items), Periodic: w.periodic, Constants: w.constants, ArgBytes: w.bytes,
	}
}

// forget has the next item read its leaves again.
func (w *writer) forget() {
	w.leaves, w.challenges = map[uint32]word{}, map[Constant]ext{}
}

// locate finds the thread's point and its rows.
func (w *writer) locate() {
	f := w.f
	w.position = f.do("mad.lo.u32", f.do("mov.u32", "%ctaid.x"), immediate(Threads), f.do("mov.u32", "%tid.x"))
	outside := f.truth()
	f.line("setp.ge.u32", outside, w.position, f.parameter(unsafe.Offsetof(header.Count)))
	f.text = append(f.text, "@%p"+strconv.Itoa(int(outside))+" bra END;\n"...)
	log := f.parameter(unsafe.Offsetof(header.LogHeight))
	w.last = f.do("sub.u32", f.do("shl.b32", immediate(1), log), immediate(1))
	if !w.quotient {
		w.index = f.do("add.u32", w.position, f.parameter(unsafe.Offsetof(header.FirstRow)))
		w.next = f.do("and.b32", f.do("add.u32", w.index, immediate(1)), w.last)
		return
	}
	// Slabs are in bit-reversed order.
	w.index = w.position
	shift := f.do("sub.u32", immediate(32), log)
	row := f.do("shr.u32", f.do("brev.b32", f.do("and.b32", w.index, w.last)), shift)
	row = f.do("and.b32", f.do("add.u32", row, immediate(1)), w.last)
	row = f.do("shr.u32", f.do("brev.b32", row), shift)
	w.next = f.do("add.u32", row, f.do("sub.u32", w.index, f.do("and.b32", w.index, w.last)))
}

// origin is the place of this row or the next in the first column of a matrix whose address is at an offset of the parameters.
type origin struct {
	base uintptr
	next bool
}

// column reads an element of a column of a matrix whose address is at an offset of the parameters.
func (w *writer) column(base uintptr, column int, next bool) word {
	f := w.f
	if w.pitch == (half{}) {
		w.pitch = f.parameter(unsafe.Offsetof(header.Pitch))
	}
	row := w.index
	if next {
		row = w.next
	}
	at, ok := w.columns[origin{base, next}]
	if !ok {
		at = f.doWide("mad.wide.u32", row, 8, f.address(base))
		w.columns[origin{base, next}] = at
	}
	return f.load("ld.global.nc.v2.u32", f.doWide("mad.wide.u32", w.pitch, column, at))
}

func (w *writer) leaf(n formats.Node) word {
	f := w.f
	switch n.Op {
	case formats.OpConst:
		return constant(field.Element(n.A))
	case formats.OpMain:
		return w.column(unsafe.Offsetof(header.Main), int(n.A), n.B == 1)
	case formats.OpFixed:
		return w.column(unsafe.Offsetof(header.Fixed), int(n.A), n.B == 1)
	case formats.OpPeriodic:
		return w.periodicValue(int(n.A), n.B == 1)
	case formats.OpTransition:
		return w.transition()
	}
	row := w.index
	if w.quotient {
		if n.Op == formats.OpLast { // the selector of the first row in the next
			row = w.next
		}
		return f.load("ld.global.nc.v2.u32", f.doWide("mad.wide.u32", row, 8, f.address(unsafe.Offsetof(header.First))))
	}
	here, selected := f.truth(), half{}
	if n.Op == formats.OpLast {
		selected = w.last
	}
	f.line("setp.eq.u32", here, row, selected)
	return word{f.do("selp.u32", immediate(1), immediate(0), here), half{}, true}
}

func (w *writer) periodicValue(column int, next bool) word {
	f, row, offset := w.f, w.index, uintptr(HeaderBytes)
	for _, p := range w.periodic {
		if p == column {
			break
		}
		offset += periodicBytes
	}
	if next {
		row = w.next
	}
	at := f.do("and.b32", f.do("shr.u32", row, f.parameter(offset+8)), f.parameter(offset+12))
	return f.load("ld.global.nc.v2.u32", f.doWide("mad.wide.u32", at, 8, f.address(offset)))
}

// transition is x - 1/w, which is zero on the last row only. The tables of roots are in windows of the exponent (kernels/tables.go).
func (w *writer) transition() word {
	f := w.f
	e := f.do("brev.b32", w.index)
	if !w.quotient {
		e = f.do("shl.b32", w.index, f.do("sub.u32", immediate(32), f.parameter(unsafe.Offsetof(header.LogHeight))))
	}
	roots := f.address(unsafe.Offsetof(header.Roots))
	root := func(first, shift, bits uint32) word {
		at := f.do("and.b32", f.do("shr.u32", e, immediate(shift)), immediate(1<<bits-1))
		return f.load("ld.global.nc.v2.u32", f.doWide("mad.wide.u32", f.do("add.u32", at, immediate(first)), 8, roots))
	}
	x := f.mul(f.mul(root(3072, 21, 11), root(1024, 10, 11)), root(0, 0, 10))
	if w.quotient {
		x = f.multiple(x, uint32(field.Shift))
	}
	return f.sub(x, f.wordAt(unsafe.Offsetof(header.Back)))
}

// challenge is a constant of the extension.
func (w *writer) challenge(what What, index int) ext {
	return w.constant(Constant{What: what, Index: index}).ext
}

func (w *writer) constant(k Constant) (d doubled) {
	if e, ok := w.challenges[k]; ok {
		return doubled{ext: e}
	}
	placed := k
	placed.Offset = w.bytes
	for _, other := range w.constants {
		if other.What == k.What && other.Index == k.Index && other.Twice == k.Twice {
			placed = other
		}
	}
	if placed.Offset == w.bytes {
		w.constants = append(w.constants, placed)
		w.bytes += extBytes
		if k.Twice {
			w.bytes += twiceBytes - extBytes
		}
	}
	for i := range d.ext {
		d.ext[i] = w.f.wordAt(uintptr(placed.Offset + 8*i))
	}
	if !k.Twice {
		w.challenges[k] = d.ext
		return d
	}
	for i := 1; i < 3; i++ {
		d.twice[i] = w.f.wordAt(uintptr(placed.Offset + extBytes + 8*(i-1)))
	}
	return d
}

// evaluate is the value of a node.
func (w *writer) evaluate(id uint32) word {
	n := w.c.Nodes[id]
	if n.Op < formats.OpAdd {
		v, ok := w.leaves[id]
		if !ok {
			v = w.leaf(n)
			w.leaves[id] = v
		}
		return v
	}
	v, ok := w.values[id]
	if !ok {
		if fm := w.form(id); fm.terms[0].node != id {
			v = w.linear(fm)
		} else {
			a, b := uint32(n.A), n.B
			if w.need[b] > w.need[a] {
				a, b = b, a
			}
			x := w.evaluate(a)
			v = w.f.mul(x, w.evaluate(b))
		}
		w.values[id] = v
	}
	return v
}

// form is a node as a sum of multiples of others, and a constant. Coefficients are the signed representatives of least size.
type form struct {
	constant field.Element
	terms    []term
}

type term struct {
	node        uint32
	coefficient int64
}

const (
	maxCoefficients = 1 << 29 // bounds the sum of a form's coefficients' sizes, so that sums of multiples of halves stay below 2^61
	sharedTerms     = 4       // a node that is used twice is computed once unless it has at most so many terms
	maxTerms        = 64
	heldLeaves      = 12 // leaves that a lookup leaves to the next of its group
)

// signed is the representative of least size, if it is small.
func signed(v field.Element) (int64, bool) {
	switch {
	case v < maxCoefficients:
		return int64(v), true
	case v > field.Modulus-maxCoefficients:
		return -int64(field.Modulus - v), true
	}
	return 0, false
}

// form finds a node's form. A node that is no sum, or only a large one, is its own only term.
func (w *writer) form(id uint32) form {
	if fm, ok := w.forms[id]; ok {
		return fm
	}
	n, fm := w.c.Nodes[id], form{}
	size, ok := int64(0), true
	add := func(child uint32, factor int64) {
		part := form{terms: []term{{child, 1}}}
		if w.c.Nodes[child].Op == formats.OpConst {
			part = form{constant: field.Element(w.c.Nodes[child].A)}
		} else if _, computed := w.values[child]; !computed && w.c.Nodes[child].Op >= formats.OpAdd {
			if inner := w.form(child); w.uses[child] == 1 || len(inner.terms) <= sharedTerms {
				part = inner
			}
		}
		fm.constant = field.Add(fm.constant, field.Mul(part.constant, element(factor)))
		for _, t := range part.terms {
			fm.terms, size = append(fm.terms, term{t.node, t.coefficient * factor}), size+max(t.coefficient*factor, -t.coefficient*factor)
			ok = ok && size <= maxCoefficients
		}
	}
	a, b := uint32(n.A), n.B
	switch n.Op {
	case formats.OpAdd, formats.OpSub:
		add(a, 1)
		if n.Op == formats.OpAdd {
			add(b, 1)
		} else {
			add(b, -1)
		}
	case formats.OpMul:
		if w.c.Nodes[a].Op == formats.OpConst {
			a, b = b, a
		}
		factor, small := int64(0), false
		if w.c.Nodes[b].Op == formats.OpConst {
			factor, small = signed(field.Element(w.c.Nodes[b].A))
		}
		if ok = small; ok {
			add(a, factor)
		}
	default:
		ok = false
	}
	fm.merge()
	if !ok || len(fm.terms) > maxTerms {
		fm = form{terms: []term{{id, 1}}}
		if n.Op == formats.OpAdd || n.Op == formats.OpSub { // in one piece too large: of its operands as they are
			fm.terms = []term{{a, 1}, {b, 1}}
			if n.Op == formats.OpSub {
				fm.terms[1].coefficient = -1
			}
			fm.merge()
		}
	}
	if len(fm.terms) == 0 { // a constant: as a multiple of something
		fm.terms = []term{{a, 0}}
	}
	w.forms[id] = fm
	return fm
}

func element(v int64) field.Element {
	if v < 0 {
		return field.Modulus - field.Element(-v)
	}
	return field.Element(v)
}

// merge adds up the terms of each node, in the order in which they first come.
func (fm *form) merge() {
	at := map[uint32]int{}
	terms := fm.terms[:0:0]
	for _, t := range fm.terms {
		if i, ok := at[t.node]; ok {
			terms[i].coefficient += t.coefficient
			continue
		}
		at[t.node] = len(terms)
		terms = append(terms, t)
	}
	fm.terms = terms
}

// linear is the value of a form. Short ones are sums; of the others, multiples of low and of high halves are added up in 64 bits each.
func (w *writer) linear(fm form) word {
	f := w.f
	var terms []term
	negative, plain := false, 0
	for _, t := range fm.terms {
		if t.coefficient == 0 {
			continue
		}
		terms = append(terms, t)
		negative = negative || t.coefficient < 0
		if t.coefficient == 1 || t.coefficient == -1 {
			plain++
		}
	}
	if plain == len(terms) && plain <= 2 {
		v := constant(fm.constant)
		if plain == 2 && terms[0].coefficient < 0 {
			terms[0], terms[1] = terms[1], terms[0]
		}
		for _, t := range terms {
			if x := w.evaluate(t.node); t.coefficient > 0 {
				v = f.add(x, v)
			} else {
				v = f.sub(v, x)
			}
		}
		return v
	}
	// Negative terms are added up apart. What the positive ones start from, a multiple of p, keeps the differences from being negative.
	start := [2]uint64{uint64(uint32(fm.constant)), uint64(fm.constant) >> 32}
	if negative {
		start[0] += 1<<30 + 1<<62
		start[1] += 1<<62 - 1<<31
	}
	var sums [2][2][2]half // by sign and half
	for k, v := range start {
		sums[0][k] = [2]half{immediate(uint32(v)), immediate(uint32(v >> 32))}
	}
	for _, t := range terms {
		x, c, sign := w.evaluate(t.node), immediate(uint32(max(t.coefficient, -t.coefficient))), 0
		if t.coefficient < 0 {
			sign = 1
		}
		for k, h := range [2]half{x.lo, x.hi} {
			s := &sums[sign][k]
			switch first := *s == [2]half{}; {
			case first && c == immediate(1):
				s[0] = h
			case first:
				s[0], s[1] = f.product(h, c)
			case c == immediate(1):
				s[0] = f.do("add.cc.u32", s[0], h)
				s[1] = f.do("addc.u32", s[1], half{})
			default:
				s[0], s[1] = f.multiplyAdd(h, c, s[0], s[1])
			}
		}
	}
	p := sums[0]
	if negative {
		for k, n := range sums[1] {
			p[k][0] = f.do("sub.cc.u32", p[k][0], n[0])
			p[k][1] = f.do("subc.u32", p[k][1], n[1])
		}
	}
	mid := f.do("add.cc.u32", p[0][1], p[1][0])
	return f.fold(p[0][0], mid, f.do("addc.u32", p[1][1], half{}))
}

// message is the fingerprint of a lookup.
func (w *writer) message(l *formats.Lookup) ext {
	var s extSum
	w.f.includeExt(&s, w.challenge(Base, int(l.Channel)))
	for k, id := range l.Args {
		w.f.accumulateScaled(&s, w.challenge(Gamma, k+1), w.evaluate(id))
	}
	if len(w.leaves) > heldLeaves {
		w.forget()
	}
	return w.f.reduceExt(&s)
}

// fractionOf is a fraction: numerator over denominator. The numerator of a single lookup is of the base field.
type fractionOf struct {
	base        word
	numerator   ext
	single      bool
	denominator ext
}

// addTimes adds the fraction's numerator times v.
func (w *writer) addTimes(s *extSum, a *fractionOf, v ext) {
	f := w.f
	value, known := a.base.value()
	switch {
	case !a.single:
		d := f.double(v)
		f.accumulateExt(s, a.numerator, &d)
	case known && value == 1:
		f.includeExt(s, v)
	case known && value == field.Modulus-1:
		f.includeExt(s, f.negate(v))
	default:
		f.accumulateScaled(s, v, a.base)
	}
}

// addNumerator adds the fraction's numerator.
func (w *writer) addNumerator(s *extSum, a *fractionOf) {
	if a.single {
		w.f.include(&s[0], a.base)
	} else {
		w.f.includeExt(s, a.numerator)
	}
}

// sum adds up the fractions of lookups.
func (w *writer) sum(g air.Group) (a fractionOf) {
	if g.End == g.First+1 {
		l := &w.c.Lookups[g.First]
		if a.single, a.base = true, w.evaluate(l.Multiplicity); !l.Push {
			a.base = w.f.sub(constant(0), a.base)
		}
		a.denominator = w.message(l)
		return a
	}
	left, right := w.halves(g)
	var numerator, denominator extSum
	w.addTimes(&numerator, &left, right.denominator)
	w.addTimes(&numerator, &right, left.denominator)
	d := w.f.double(right.denominator)
	w.f.accumulateExt(&denominator, left.denominator, &d)
	return fractionOf{numerator: w.f.reduceExt(&numerator), denominator: w.f.reduceExt(&denominator)}
}

// halves are the two parts of a group of several lookups.
func (w *writer) halves(g air.Group) (left, right fractionOf) {
	mid := g.First + (g.End-g.First)/2
	left = w.sum(air.Group{First: g.First, End: mid})
	return left, w.sum(air.Group{First: mid, End: g.End})
}

// fraction stores the fraction of a group.
func (w *writer) fraction(g int) {
	a := w.sum(w.c.Groups[g])
	if a.single {
		a.numerator = ext{a.base, constant(0), constant(0)}
	}
	for _, to := range []struct {
		base, pitch uintptr
		row         half
		v           ext
	}{
		{unsafe.Offsetof(header.Out), unsafe.Offsetof(header.OutPitch), w.index, a.numerator},
		{unsafe.Offsetof(header.Denominators), unsafe.Offsetof(header.DenominatorPitch), w.position, a.denominator},
	} {
		at := w.f.doWide("mad.wide.u32", to.row, 8, w.f.address(to.base))
		for k, v := range to.v {
			w.f.store(w.f.doWide("mad.wide.u32", w.f.parameter(to.pitch), 3*g+k, at), w.f.canonical(v))
		}
	}
}

// accumulator reads an accumulator.
func (w *writer) accumulator(g int, next bool) (e ext) {
	for k := range e {
		e[k] = w.column(unsafe.Offsetof(header.Aux), 3*g+k, next)
	}
	return e
}

// negatedConstraint adds to a sum the constraint of a group of lookups, negated: the numerator less the denominator times the step of the accumulators, without multiplying the denominators out.
func (w *writer) negatedConstraint(s *extSum, number int) {
	f, g := w.f, w.c.Groups[number]
	step := func() doubled { // negated
		from := w.accumulator(number, false)
		last := number+1 == len(w.c.Groups)
		to := w.accumulator((number+1)%len(w.c.Groups), last)
		for k := range from {
			from[k] = f.sub(from[k], to[k])
			if last {
				from[k] = f.sub(from[k], f.wordAt(unsafe.Offsetof(header.PerRow)+uintptr(8*k)))
			}
		}
		return f.double(from)
	}
	if g.End == g.First+1 {
		a := w.sum(g)
		d := step()
		f.accumulateExt(s, a.denominator, &d)
		w.addNumerator(s, &a)
		return
	}
	left, right := w.halves(g)
	var inner extSum
	w.addNumerator(&inner, &right)
	d := step()
	f.accumulateExt(&inner, right.denominator, &d)
	d = f.double(f.reduceExt(&inner))
	f.accumulateExt(s, left.denominator, &d)
	w.addTimes(s, &left, right.denominator)
}

// fold adds what the items contribute to the output: constraints by powers of delta, groups of lookups by Horner's rule with what comes of it multiplied by a power of delta.
func (w *writer) fold(items []item, first, last bool) {
	f, m := w.f, w.c.FoldedConstraints()
	out := make([]wide, 3)
	at := f.doWide("mad.wide.u32", w.position, 8, f.address(unsafe.Offsetof(header.Out)))
	for k := range out {
		out[k] = f.doWide("mad.wide.u32", f.parameter(unsafe.Offsetof(header.OutPitch)), k, at)
	}
	var total extSum
	if !first {
		for k := range out {
			v := f.load("ld.global.v2.u32", out[k])
			v.canonical = false
			f.include(&total[k], v)
		}
	}
	for _, i := range items {
		if i.group < 0 {
			f.accumulateScaled(&total, w.challenge(Delta, m-1-i.constraint), w.evaluate(w.c.Constraints[i.constraint]))
			w.forget()
		}
	}
	sum := f.reduceExt(&total)
	var groups ext // negated
	group := -1
	for _, i := range items {
		if i.group < 0 {
			continue
		}
		var s extSum
		if group >= 0 {
			delta := w.constant(Constant{What: Delta, Index: 1, Twice: true})
			f.accumulateExt(&s, groups, &delta)
		}
		w.negatedConstraint(&s, i.group)
		groups, group = f.reduceExt(&s), i.group
		w.forget()
	}
	if group >= 0 {
		var s extSum
		f.includeExt(&s, sum)
		power := w.constant(Constant{What: NegDelta, Index: len(w.c.Groups) - 1 - group, Twice: true})
		f.accumulateExt(&s, groups, &power)
		sum = f.reduceExt(&s)
	}
	if last {
		slab := f.do("shr.u32", w.index, f.parameter(unsafe.Offsetof(header.LogHeight)))
		inverse := f.load("ld.global.nc.v2.u32", f.doWide("mad.wide.u32", slab, 8, f.address(unsafe.Offsetof(header.Inverses))))
		for k := range sum {
			sum[k] = f.canonical(f.mul(sum[k], inverse))
		}
	}
	for k, v := range sum {
		f.store(out[k], v)
	}
}
