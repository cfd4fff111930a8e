package lower

import (
	"strconv"

	"github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/lang/types"
)

// two32 is 2^32.
const two32 = 1 << 32

// halfInverse is 1/2.
const halfInverse = (types.Modulus + 1) / 2

// wide is a constant of 64 bits as two halves.
func wide(v uint64) []word { return []word{known(v & (two32 - 1)), known(v >> 32)} }

// literal is a value of a type without parts.
func literal(t types.Type, v uint64) []word {
	if t == types.Type(types.U64) {
		return wide(v)
	}
	return []word{known(v)}
}

// constantOf is the value of words of a type without parts, if all are known.
func constantOf(t types.Type, x []word) (uint64, bool) {
	for _, w := range x {
		if !w.known {
			return 0, false
		}
	}
	if t == types.Type(types.U64) {
		return x[0].v | x[1].v<<32, true
	}
	return x[0].v, true
}

// notes say what happened when an operator fails.
var notes = map[syntax.Kind]string{
	syntax.Plus: "the sum overflows ", syntax.Minus: "the difference is below zero in ", syntax.Star: "the product overflows ", syntax.Slash: "division by zero in ",
	syntax.Percent: "division by zero in ", syntax.ShiftLeft: "the shift overflows ", syntax.ShiftRight: "the shift is by all bits or more in ",
}

// arithmetic applies a binary operator, but for && and ||, to values of a type without parts. Integers that overflow fail.
//
// A sum of products of numbers below 2^32 stays below p where it is used: (2^32-1)^2 + 2^32 - 1 = p - 1.
func (b *builder) arithmetic(op syntax.Kind, t types.Type, x, y []word, at syntax.Span) []word {
	prim, _ := t.(types.Prim)
	site := func() uint32 { return b.site(at, notes[op]+t.String()) }
	amount := t
	if op == syntax.ShiftLeft || op == syntax.ShiftRight {
		amount = types.U32
	}
	if l, ok := constantOf(t, x); ok {
		if r, ok := constantOf(amount, y); ok {
			v, problem := types.Arithmetic(op, t, l, r)
			if problem != "" {
				b.fail(b.site(at, problem))
			}
			switch op {
			case syntax.Equal, syntax.NotEqual, syntax.Less, syntax.LessEqual, syntax.Greater, syntax.GreaterEqual:
				return []word{known(v)}
			}
			return literal(t, v)
		}
	}
	switch op {
	case syntax.Less:
		return []word{b.less(prim, x, y)}
	case syntax.Greater:
		return []word{b.less(prim, y, x)}
	case syntax.LessEqual:
		return []word{b.sub(one, b.less(prim, y, x))}
	case syntax.GreaterEqual:
		return []word{b.sub(one, b.less(prim, x, y))}
	case syntax.ShiftLeft, syntax.ShiftRight:
		return b.shift(op, prim, x, y[0], site())
	}
	if prim == types.Field {
		switch op {
		case syntax.Plus:
			return []word{b.add(x[0], y[0])}
		case syntax.Minus:
			return []word{b.sub(x[0], y[0])}
		case syntax.Star:
			return []word{b.mul(x[0], y[0])}
		default:
			return []word{b.mul(x[0], b.inverse(y[0], site()))}
		}
	}
	if prim == types.U64 {
		return b.arithmetic64(op, x, y, site)
	}
	switch op {
	case syntax.Plus, syntax.Minus, syntax.Star:
		var r word
		switch op {
		case syntax.Plus:
			r = b.add(x[0], y[0])
		case syntax.Minus:
			r = b.sub(x[0], y[0])
		default:
			r = b.mul(x[0], y[0])
		}
		b.below(r, prim.Bits(), site())
		return []word{r}
	case syntax.Slash, syntax.Percent:
		q, r := b.divide(prim.Bits(), x[0], y[0], site())
		if op == syntax.Slash {
			return []word{q}
		}
		return []word{r}
	}
	return []word{b.bitwise(op, prim.Bits()/8, x[0], y[0])}
}

// inverse is 1/x; it fails for 0.
func (b *builder) inverse(x word, site uint32) word {
	inv := b.emit(bytecode.Op{Code: bytecode.OpHintInverse, Site: site}, []word{x}, 1)[0]
	b.assertZero(b.sub(b.mul(x, inv), one), site)
	return inv
}

// divide gives x = y·q + r with r < y, for numbers below 2^bits; it fails for y = 0.
func (b *builder) divide(bits int, x, y word, site uint32) (q, r word) {
	out := b.emit(bytecode.Op{Code: bytecode.OpHintDivMod, A: 1, B: 1, Site: site}, []word{x, y}, 2)
	q, r = out[0], out[1]
	b.below(q, bits, site)
	b.below(r, bits, site)
	b.assertZero(b.sub(b.add(b.mul(y, q), r), x), site)
	b.below(b.sub(b.sub(y, r), one), bits, site)
	return q, r
}

// bitwise applies &, | or ^ to numbers of n bytes. The bytes of the result are known, so that taking them costs nothing.
func (b *builder) bitwise(op syntax.Kind, n int, x, y word) word {
	xs, ys := []word{x}, []word{y}
	if n > 1 {
		xs, ys = b.bytes(x, n, 0), b.bytes(y, n, 0)
	}
	parts := make([]word, n)
	for i := range parts {
		xor := b.xor(xs[i], ys[i])
		switch op {
		case syntax.And: // x + y = (x ^ y) + 2(x & y)
			parts[i] = b.mul(b.sub(b.add(xs[i], ys[i]), xor), known(halfInverse))
		case syntax.Or: // x | y = (x & y) + (x ^ y)
			parts[i] = b.mul(b.add(b.add(xs[i], ys[i]), xor), known(halfInverse))
		default:
			parts[i] = xor
		}
	}
	return b.fromBytes(parts)
}

// fromBytes puts bytes together, lowest first, and remembers them.
func (b *builder) fromBytes(parts []word) word {
	sum := b.join(parts, 8)
	if id := (key{code: bytecode.OpBytes, a: uint64(len(parts)), x: sum}); !sum.known && !b.dead {
		if _, ok := b.memo[id]; !ok {
			b.remember(id, parts)
		}
	}
	return sum
}

// less is 1 if x < y, else 0.
func (b *builder) less(t types.Prim, x, y []word) word {
	if t != types.U64 {
		_, ge := b.split(b.add(b.sub(x[0], y[0]), known(1<<t.Bits())), t.Bits(), 1, 0)
		return b.sub(one, ge)
	}
	_, ge := b.difference(x, y)
	return b.sub(one, ge)
}

// difference is x - y modulo 2^64, and 1 if x >= y.
func (b *builder) difference(x, y []word) (d []word, ge word) {
	low, geLow := b.split(b.add(b.sub(x[0], y[0]), known(two32)), 32, 1, 0)
	high := b.sub(b.sub(x[1], y[1]), b.sub(one, geLow))
	h, ge := b.split(b.add(high, known(two32)), 32, 1, 0)
	return []word{low, h}, ge
}

// arithmetic64 applies an operator that gives a u64.
func (b *builder) arithmetic64(op syntax.Kind, x, y []word, site func() uint32) []word {
	switch op {
	case syntax.Plus:
		return b.add64(x, y, site())
	case syntax.Minus:
		return b.sub64(x, y, site())
	case syntax.Star:
		return b.mul64(x, y, site())
	case syntax.Slash, syntax.Percent:
		s := site()
		out := b.emit(bytecode.Op{Code: bytecode.OpHintDivMod, A: 2, B: 2, Site: s}, []word{x[0], x[1], y[0], y[1]}, 4)
		for _, w := range out {
			b.below(w, 32, s)
		}
		q, r := out[:2], out[2:]
		back := b.add64(b.mul64(q, y, s), r, s)
		b.assertZero(b.sub(back[0], x[0]), s)
		b.assertZero(b.sub(back[1], x[1]), s)
		b.assertLess(types.U64, r, y, s)
		if op == syntax.Slash {
			return q
		}
		return r
	}
	return []word{b.bitwise(op, 4, x[0], y[0]), b.bitwise(op, 4, x[1], y[1])}
}

func (b *builder) add64(x, y []word, site uint32) []word {
	low, carry := b.split(b.add(x[0], y[0]), 32, 1, 0)
	high := b.add(b.add(x[1], y[1]), carry)
	b.below(high, 32, site)
	return []word{low, high}
}

func (b *builder) sub64(x, y []word, site uint32) []word {
	low, ge := b.split(b.add(b.sub(x[0], y[0]), known(two32)), 32, 1, 0)
	high := b.sub(b.sub(x[1], y[1]), b.sub(one, ge))
	b.below(high, 32, site)
	return []word{low, high}
}

func (b *builder) mul64(x, y []word, site uint32) []word {
	low, carry := b.split(b.mul(x[0], y[0]), 32, 32, 0)
	b.assertZero(b.mul(x[1], y[1]), site) // so that one of the two products below is zero
	high := b.add(b.add(b.mul(x[0], y[1]), b.mul(x[1], y[0])), carry)
	b.below(high, 32, site)
	return []word{low, high}
}

// assertLess fails unless x < y.
func (b *builder) assertLess(t types.Prim, x, y []word, site uint32) {
	if t != types.U64 {
		b.below(b.sub(b.sub(y[0], x[0]), one), t.Bits(), site)
		return
	}
	// y - x - 1 does not borrow.
	_, ge := b.split(b.add(b.sub(b.sub(y[0], x[0]), one), known(two32)), 32, 1, 0)
	b.below(b.sub(b.sub(y[1], x[1]), b.sub(one, ge)), 32, site)
}

// assertLessEqual fails unless x <= y.
func (b *builder) assertLessEqual(t types.Prim, x, y []word, site uint32) {
	if t != types.U64 {
		b.below(b.sub(y[0], x[0]), t.Bits(), site)
		return
	}
	b.sub64(y, x, site)
}

// equal is 1 if two values are equal word by word, else 0. sizes are the bits of each word; 64 stands for any element.
//
// Differences of small words are packed: with |d_i| < 2^{b_i}, the sum of d_i·2^{b_0+…+b_{i-1}} is zero only if all are, as long as it is below p in absolute value, which 63 bits are.
func (b *builder) equal(x, y []word, sizes []int) word {
	result := one
	sum, bits := zero, 0
	flush := func() {
		if sum != zero {
			result = b.mul(result, b.isZero(sum))
		}
		sum, bits = zero, 0
	}
	for i := range x {
		d := b.sub(x[i], y[i])
		if bits+sizes[i] > 63 {
			flush()
		}
		sum = b.add(sum, b.mul(d, known(1<<min(bits, 63))))
		bits += sizes[i]
	}
	flush()
	return result
}

// shift shifts by an amount of bits; it fails if bits are lost on the left, or for an amount of all bits or more.
func (b *builder) shift(op syntax.Kind, t types.Prim, x []word, amount word, site uint32) []word {
	if !amount.known {
		return b.shiftBy(op, t, x, amount, site)
	}
	k, n := int(min(amount.v, 64)), t.Bits()
	switch {
	case k >= n:
		b.fail(site)
		return make([]word, b.words(t))
	case k == 0:
		return x
	case op == syntax.ShiftLeft && t == types.U64:
		if k >= 32 {
			b.assertZero(x[1], site)
			high := b.mul(x[0], known(1<<(k-32)))
			b.below(high, 32, site)
			return []word{zero, high}
		}
		low, out := b.split(x[0], 32-k, k, 0)
		high := b.add(b.mul(x[1], known(1<<k)), out)
		b.below(high, 32, site)
		return []word{b.mul(low, known(1<<k)), high}
	case op == syntax.ShiftLeft:
		r := b.mul(x[0], known(1<<k))
		b.below(r, n, site)
		return []word{r}
	case t == types.U64:
		if k >= 32 {
			return []word{b.shift(op, types.U32, x[1:], known(uint64(k-32)), site)[0], zero}
		}
		_, low := b.split(x[0], k, 32-k, 0)
		out, high := b.split(x[1], k, 32-k, 0)
		return []word{b.add(low, b.mul(out, known(1<<(32-k)))), high}
	}
	_, r := b.split(x[0], k, n-k, 0)
	return []word{r}
}

// shiftBy shifts by an amount that is not constant: it multiplies or divides by a power of two from a table.
func (b *builder) shiftBy(op syntax.Kind, t types.Prim, x []word, amount word, site uint32) []word {
	n := t.Bits()
	power := b.emit(bytecode.Op{Code: bytecode.OpCall, A: uint64(b.powers(n)), Site: site}, []word{amount}, b.words(t))
	if op == syntax.ShiftLeft {
		op = syntax.Star
	} else {
		op = syntax.Slash
	}
	if t == types.U64 {
		return b.arithmetic64(op, x, power, func() uint32 { return site })
	}
	if op == syntax.Star {
		r := b.mul(x[0], power[0])
		b.below(r, n, site)
		return []word{r}
	}
	q, _ := b.divide(n, x[0], power[0], site)
	return []word{q}
}

// powers is the function that gives 2^k as a number of n bits, k < n.
func (p *program) powers(n int) uint32 {
	if f, ok := p.tables[n]; ok {
		return f
	}
	results := max(1, n/32)
	f := bytecode.Function{Name: "power_of_two_u" + strconv.Itoa(n), Params: 1, Results: results}
	m := &bytecode.Match{Value: 0}
	for k := range n {
		halves := wide(1 << k)[:results]
		var ops []bytecode.Op
		var values []bytecode.Value
		for i, h := range halves {
			ops = append(ops, bytecode.Op{Code: bytecode.OpConst, A: h.v})
			values = append(values, bytecode.Value(1+i))
		}
		m.Cases = append(m.Cases, bytecode.Case{Values: []uint64{uint64(k)}, Block: bytecode.Block{Ops: ops, End: bytecode.End{Kind: bytecode.EndReturn, Values: values}}})
	}
	f.Body.End = bytecode.End{Kind: bytecode.EndMatch, Match: m}
	p.tables[n] = p.add(f)
	return p.tables[n]
}

// cast converts between types without parts; it fails where the value has no counterpart.
func (b *builder) cast(from, to types.Prim, x []word, at syntax.Span) []word {
	if from == to {
		return x
	}
	site := b.site(at, "the value is no "+to.String())
	if v, ok := constantOf(from, x); ok {
		if v > to.Max() {
			b.fail(site)
		}
		return literal(to, v)
	}
	switch {
	case to == types.Field && from == types.U64:
		sum := b.add(x[0], b.mul(x[1], known(two32)))
		_, high := b.split(sum, 32, 32, site) // of the element: a number of p or more has the high half 2^32 - 1, and the element 0
		b.assertZero(b.sub(high, x[1]), site)
		return []word{sum}
	case to == types.Field:
		return x
	case to == types.U64 && from == types.Field:
		low, high := b.split(x[0], 32, 32, site)
		return []word{low, high}
	case to == types.U64:
		return []word{x[0], zero}
	}
	if from == types.U64 {
		b.assertZero(x[1], site)
		from = types.U32
	}
	switch {
	case to == types.Bool:
		b.assertZero(b.mul(x[0], b.sub(x[0], one)), site)
	case from != types.Bool && to.Bits() < bitsOf(from):
		b.below(x[0], to.Bits(), site)
	}
	return x[:1]
}

// bitsOf is the size of a word of a type: 64 for any element.
func bitsOf(t types.Prim) int {
	switch t {
	case types.Bool:
		return 1
	case types.U8:
		return 8
	case types.U32:
		return 32
	}
	return 64
}

// sizesOf lists the bits of each word of a type. Words that hold the payload of an enum may be anything.
func (b *builder) sizesOf(t types.Type, out []int) []int {
	switch t := types.Resolve(t).(type) {
	case types.Prim:
		if t == types.U64 {
			return append(out, 32, 32)
		}
		return append(out, bitsOf(t))
	case *types.Named:
		if tagWords(t) == 1 {
			out = append(out, 32)
			n := b.words(t) - 1
			b.spend(n)
			for range n {
				out = append(out, 64)
			}
			return out
		}
		return b.sizesOfAll(t.Fields(0), out)
	case *types.Pointer:
		return append(out, 64)
	}
	return b.sizesOfAll(b.partsOf(t), out)
}

func (b *builder) sizesOfAll(list []types.Type, out []int) []int {
	b.spend(len(list))
	for _, t := range list {
		out = b.sizesOf(t, out)
	}
	return out
}
