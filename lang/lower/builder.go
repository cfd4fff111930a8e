package lower

import (
	"encoding/binary"
	"slices"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/verifier/field"
)

// maxOps bounds the operations of one function, which loops and inlining multiply.
const maxOps = 1 << 18

// word is a field element at compile time: a constant, or a value of the bytecode.
type word struct {
	known bool
	v     uint64 // the constant, or the number of the value
}

func known(v uint64) word { return word{true, v} }

var (
	zero = known(0)
	one  = known(1)
)

// key identifies an operation that gives equal results for equal operands.
type key struct {
	code bytecode.Code
	a, b uint64
	x, y word
	more string // the operands, if there are more than two
}

// builder makes the body of one function.
type builder struct {
	*program
	ops   []bytecode.Op
	next  bytecode.Value
	end   bytecode.End
	dead  bool // the block has its end: nothing more is added to it
	depth int  // of nested matches
	total int  // operations of the function so far

	memo map[key][]word // what operations in scope gave
	log  []key          // of memo, in order

	inlined []*instance // calls that are being replaced by bodies
	hinting bool        // in an unconstrained function
}

// emit adds an operation with k results, or finds an equal one in scope. Hints are never found.
func (b *builder) emit(op bytecode.Op, args []word, k int) []word {
	if b.dead {
		return make([]word, k)
	}
	hint := op.IsHint()
	id := key{code: op.Code, a: op.A, b: op.B}
	switch {
	case len(args) <= 2:
		if len(args) > 0 {
			id.x = args[0]
		}
		if len(args) > 1 {
			id.y = args[1]
		}
	default:
		id.more = wordKey(args)
	}
	if !hint {
		if found, ok := b.memo[id]; ok {
			return found
		}
	}
	if b.total++; b.total > maxOps {
		b.tooLarge()
		return make([]word, k)
	}
	for _, a := range args {
		op.Args = append(op.Args, b.value(a))
	}
	b.ops = append(b.ops, op)
	out := make([]word, k)
	for i := range out {
		out[i] = word{v: uint64(b.next)}
		b.next++
	}
	if b.next > bytecode.MaxValues {
		b.tooLarge()
	}
	if !hint {
		b.remember(id, out)
	}
	return out
}

func (b *builder) tooLarge() {
	b.report(&syntax.Diagnostic{Span: b.fn.place(), Class: formats.Limit, What: "the function is too large once loops and inlined calls are written out", Next: "make parts of it functions, with #[inline(never)], or repeat by recursion"})
	b.fail(0)
}

func (b *builder) remember(id key, out []word) {
	b.memo[id] = out
	b.log = append(b.log, id)
}

func wordKey(words []word) string {
	buf := make([]byte, 0, 10*len(words))
	for _, w := range words {
		if w.known {
			buf = append(buf, 1)
		} else {
			buf = append(buf, 0)
		}
		buf = binary.AppendUvarint(buf, w.v)
	}
	return string(buf)
}

// value is the number of a word; a constant is made if it is not in scope.
func (b *builder) value(w word) bytecode.Value {
	if !w.known {
		return bytecode.Value(w.v)
	}
	id := key{code: bytecode.OpConst, a: w.v}
	if found, ok := b.memo[id]; ok {
		return bytecode.Value(found[0].v)
	}
	b.ops = append(b.ops, bytecode.Op{Code: bytecode.OpConst, A: w.v})
	out := []word{{v: uint64(b.next)}}
	b.next++
	b.remember(id, out)
	return bytecode.Value(out[0].v)
}

func (b *builder) values(words []word) []bytecode.Value {
	out := make([]bytecode.Value, len(words))
	for i, w := range words {
		out[i] = b.value(w)
	}
	return out
}

// fail ends the block: nothing gets here.
func (b *builder) fail(site uint32) {
	if !b.dead {
		b.dead, b.end = true, bytecode.End{Kind: bytecode.EndFail, Site: site}
	}
}

// finish ends the block with the function's results.
func (b *builder) finish(words []word) {
	if !b.dead {
		b.end = bytecode.End{Kind: bytecode.EndReturn, Values: b.values(words)}
		b.dead = true
	}
}

// choice is one of the blocks of a match.
type choice struct {
	values []uint64 // none for the default
	body   func() []word
}

// made is a block that was made of a choice, before its end is known.
type made struct {
	block bytecode.Block
	words []word
	fails bool
	next  bytecode.Value
}

// choose chooses among blocks by a word. Those of a tail match end the function and it gives nothing; otherwise it gives the n words of the block chosen.
func (b *builder) choose(w word, choices []choice, n int, tail bool, site uint32) []word {
	if b.dead {
		return make([]word, n)
	}
	if w.known {
		for _, c := range choices {
			if slices.Contains(c.values, w.v) || c.values == nil {
				return c.body()
			}
		}
		b.fail(site)
		return make([]word, n)
	}
	if !b.spend(n * len(choices)) { // words that blocks make and that are compared
		return make([]word, n)
	}
	if b.depth++; b.depth > bytecode.MaxDepth {
		b.report(&syntax.Diagnostic{Span: b.fn.place(), Class: formats.Limit, What: "the function chooses too deeply", Next: "make parts of it functions, with #[inline(never)]"})
		b.fail(site)
	}
	blocks := make([]made, len(choices))
	fails, values := true, 0
	for i, c := range choices {
		if values += len(c.values); values > bytecode.MaxCases {
			b.report(&syntax.Diagnostic{Span: b.fn.place(), Class: formats.Limit, What: "the function chooses among too many values"})
			b.fail(site)
			break
		}
		blocks[i] = b.block(c.body, tail)
		fails = fails && blocks[i].fails
	}
	b.depth--
	if b.dead {
		return make([]word, n)
	}
	m := &bytecode.Match{Value: b.value(w)}
	merged, results := b.merge(blocks, n, tail, fails)
	for i, c := range choices {
		if c.values == nil {
			m.Default = &blocks[i].block
		} else {
			m.Cases = append(m.Cases, bytecode.Case{Values: c.values, Block: blocks[i].block})
		}
	}
	if tail {
		b.dead, b.end = true, bytecode.End{Kind: bytecode.EndMatch, Match: m, Site: site}
		return nil
	}
	b.total++
	b.ops = append(b.ops, bytecode.Op{Code: bytecode.OpMatch, A: uint64(merged), Match: m, Site: site})
	for i, r := range results {
		if !r.known && r.v == pending {
			results[i] = word{v: uint64(b.next)}
			b.next++
		}
	}
	if merged > bytecode.MaxParams {
		b.report(&syntax.Diagnostic{Span: b.fn.place(), Class: formats.Limit, What: "a choice has a value too large", Next: "store it and use the pointer: &value"})
		b.fail(site)
	}
	if fails {
		b.fail(site)
	}
	return results
}

// pending marks a result of a match whose number is not known yet.
const pending = 1<<64 - 1

// merge decides which words the blocks of a match yield: those in which they differ. It ends the blocks and gives the number of yielded words and all results.
func (b *builder) merge(blocks []made, n int, tail, fails bool) (int, []word) {
	if tail || fails {
		return 0, make([]word, n)
	}
	results := make([]word, n)
	merged := 0
	for i := range results {
		first, same := word{}, true
		seen := false
		for j := range blocks {
			if blocks[j].fails {
				continue
			}
			if w := blocks[j].words[i]; !seen {
				first, seen = w, true
			} else if w != first {
				same = false
			}
		}
		if same && (first.known || first.v < uint64(b.next)) {
			results[i] = first
			continue
		}
		results[i] = word{v: pending}
		merged++
	}
	for j := range blocks {
		m := &blocks[j]
		if m.fails {
			continue
		}
		constants := map[uint64]bytecode.Value{}
		for i, r := range results {
			if r.known || r.v != pending {
				continue
			}
			w := m.words[i]
			v := bytecode.Value(w.v)
			if w.known {
				var ok bool
				if v, ok = constants[w.v]; !ok {
					m.block.Ops = append(m.block.Ops, bytecode.Op{Code: bytecode.OpConst, A: w.v})
					v = m.next
					m.next++
					constants[w.v] = v
				}
			}
			m.block.End.Values = append(m.block.End.Values, v)
		}
		m.block.End.Kind = bytecode.EndYield
	}
	return merged, results
}

// block makes a nested block. What it computes is out of scope behind it.
func (b *builder) block(body func() []word, tail bool) made {
	ops, next, end, mark := b.ops, b.next, b.end, len(b.log)
	b.ops, b.end = nil, bytecode.End{}
	words := body()
	m := made{block: bytecode.Block{Ops: b.ops, End: b.end}, words: words, next: b.next}
	m.fails = b.dead && b.end.Kind == bytecode.EndFail
	for _, id := range b.log[mark:] {
		delete(b.memo, id)
	}
	b.log = b.log[:mark]
	b.ops, b.next, b.end, b.dead = ops, next, end, false
	return m
}

// Arithmetic of field elements. Constants are computed here.

func (b *builder) add(x, y word) word {
	switch {
	case x.known && y.known:
		return known(uint64(field.Add(field.Element(x.v), field.Element(y.v))))
	case x == zero:
		return y
	case y == zero:
		return x
	}
	return b.emit(bytecode.Op{Code: bytecode.OpAdd}, []word{x, y}, 1)[0]
}

func (b *builder) sub(x, y word) word {
	switch {
	case x.known && y.known:
		return known(uint64(field.Sub(field.Element(x.v), field.Element(y.v))))
	case y == zero:
		return x
	case x == y:
		return zero
	}
	return b.emit(bytecode.Op{Code: bytecode.OpSub}, []word{x, y}, 1)[0]
}

func (b *builder) mul(x, y word) word {
	switch {
	case x.known && y.known:
		return known(uint64(field.Mul(field.Element(x.v), field.Element(y.v))))
	case x == zero, y == zero:
		return zero
	case x == one:
		return y
	case y == one:
		return x
	}
	return b.emit(bytecode.Op{Code: bytecode.OpMul}, []word{x, y}, 1)[0]
}

// isZero is 1 if x is zero, else 0.
func (b *builder) isZero(x word) word {
	if x.known {
		if x.v == 0 {
			return one
		}
		return zero
	}
	return b.emit(bytecode.Op{Code: bytecode.OpIsZero}, []word{x}, 1)[0]
}

// assertZero fails unless x is zero.
func (b *builder) assertZero(x word, site uint32) {
	if x.known {
		if x.v != 0 {
			b.fail(site)
		}
		return
	}
	b.emit(bytecode.Op{Code: bytecode.OpAssertZero, Site: site}, []word{x}, 0)
}

// below fails unless x, as an integer, is below 2^bits.
func (b *builder) below(x word, bits int, site uint32) {
	if x.known {
		if x.v>>bits != 0 {
			b.fail(site)
		}
		return
	}
	b.emit(bytecode.Op{Code: bytecode.OpRange, A: uint64(bits), Site: site}, []word{x}, 0)
}

// split cuts x into its low bits and the rest, which is below 2^high. It fails if there is more.
func (b *builder) split(x word, low, high int, site uint32) (l, h word) {
	if x.known {
		if high < 64-low && x.v>>(low+high) != 0 {
			b.fail(site)
		}
		return known(x.v & (1<<low - 1)), known(x.v >> low)
	}
	out := b.emit(bytecode.Op{Code: bytecode.OpSplit, A: uint64(low), B: uint64(high), Site: site}, []word{x}, 2)
	return out[0], out[1]
}

// bytes cuts x, which is below 2^(8n), into n bytes, lowest first.
func (b *builder) bytes(x word, n int, site uint32) []word {
	if x.known {
		out := make([]word, n)
		for i := range out {
			out[i] = known(x.v >> (8 * i) & 0xff)
		}
		return out
	}
	return b.emit(bytecode.Op{Code: bytecode.OpBytes, A: uint64(n), Site: site}, []word{x}, n)
}

// xor is the exclusive or of two bytes.
func (b *builder) xor(x, y word) word {
	switch {
	case x.known && y.known:
		return known(x.v ^ y.v)
	case x == zero:
		return y
	case y == zero:
		return x
	case x == y:
		return zero
	}
	return b.emit(bytecode.Op{Code: bytecode.OpXor}, []word{x, y}, 1)[0]
}

func (b *builder) store(words []word) word {
	if len(words) == 0 { // a cell has a width: the pointer to () is a cell of a zero
		words = []word{zero}
	}
	return b.emit(bytecode.Op{Code: bytecode.OpStore, A: uint64(len(words))}, words, 1)[0]
}

func (b *builder) load(pointer word, n int, site uint32) []word {
	out := b.emit(bytecode.Op{Code: bytecode.OpLoad, A: uint64(max(n, 1)), Site: site}, []word{pointer}, max(n, 1))
	return out[:n]
}
