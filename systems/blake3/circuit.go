package blake3

import (
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/systems/bytes"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/blake3"
	"github.com/ixprove/ixprove/verifier/field"
)

// Name is the system's name, and that of its one entry.
const Name = "blake3"

// Circuits, in the order of the key.
const (
	circuitCompress = iota
	circuitSplit
	circuitTail
	circuitBytes
)

// rowsPerCompression is the initial state and seven rounds.
const rowsPerCompression = 8

// Main columns of the circuit compress: eight quarter-rounds of quarterColumns each, the message, the control columns.
const (
	offA1 = 0  // 4 bytes: a + b + first message word
	offD1 = 4  // 4 bytes: d ⊕ a1, before its rotation by 16
	offC1 = 8  // 4 bytes: c + d
	offB1 = 12 // 4 low nibbles, 4 high nibbles: b ⊕ c1, before its rotation by 12
	offA2 = 20 // 4 bytes: a1 + b + second message word
	offD2 = 24 // 4 bytes: d ⊕ a2, before its rotation by 8
	offC2 = 28 // 4 bytes: c1 + d
	offB2 = 32 // 4 times 7 low bits, 4 high bits: b ⊕ c2, before its rotation by 7

	quarterColumns = 40

	colMessage = 8 * quarterColumns
	colParent  = colMessage + 16
	colStart   = colParent + 1
	colEnd     = colParent + 2
	colRoot    = colParent + 3
	colTail    = colParent + 4
	colChunk   = colParent + 5 // number of the subtree's first chunk
	colBytes   = colParent + 6 // bytes of the subtree so far
	colLength  = colParent + 7 // of the block
	colU       = colParent + 8 // row 0: uses of the previous node fact; row 1: bytes of a full left subtree
	colV       = colParent + 9 // row 0: uses of the previous root fact; row 1: bytes of what split bounds

	compressColumns = colParent + 10
)

// channels of the system beside those of package bytes.
type channels struct {
	bytes.Channels
	node  air.Channel // (first chunk, bytes, chaining value of 8 words)
	split air.Channel // (kind, P, x): how many bytes a chunk or a pair of subtrees may have
	tail  air.Channel // (length, start, block of 16 words): a short last block
	claim air.Channel // (digest of 8 words, length low, length high)
}

// System is the entry blake3() -> (digest bytes32, length u64): the prover knew a file of that length with that BLAKE3 digest. The
// file is no part of the claim.
func System() *air.System {
	s := air.NewSystem(Name)
	ch := channels{node: s.Channel("node", 10), split: s.Channel("split", 3), tail: s.Channel("tail", 18), claim: s.Channel("claim", 10)}
	s.Entry(Name, ch.claim, nil, []formats.Value{{Name: "digest", Type: formats.TypeBytes32}, {Name: "length", Type: formats.TypeU64}})
	compress, split, tail := s.Circuit("compress"), s.Circuit("split"), s.Circuit("tail")
	ch.Channels = bytes.Add(s)
	buildCompress(compress, ch)
	buildSplit(split, ch)
	buildTail(tail, ch)
	return s
}

// word is a 32-bit word as four expressions that lookups hold to be bytes, lowest first.
type word [4]air.Expr

// value is the word as a number.
func (w word) value() air.Expr {
	return w[0].Add(w[1].Times(1 << 8)).Add(w[2].Times(1 << 16)).Add(w[3].Times(1 << 24))
}

// right rotates the word to the right by a number of bytes.
func (w word) right(n int) word { return word{w[n&3], w[(n+1)&3], w[(n+2)&3], w[(n+3)&3]} }

func (w word) next() word { return word{w[0].Next(), w[1].Next(), w[2].Next(), w[3].Next()} }

// quarterWords are a quarter-round's columns: the words that it computes, xors before their rotation.
type quarterWords struct {
	a1, d1, c1, a2, d2, c2     word
	b1Low, b1High, b2Low, b2Hi word
}

func addQuarter(c *air.Builder, name string) (q quarterWords) {
	for _, part := range []struct {
		name string
		w    *word
	}{
		{"a1", &q.a1}, {"d1", &q.d1}, {"c1", &q.c1}, {"b1 low", &q.b1Low}, {"b1 high", &q.b1High},
		{"a2", &q.a2}, {"d2", &q.d2}, {"c2", &q.c2}, {"b2 low", &q.b2Low}, {"b2 high", &q.b2Hi},
	} {
		copy(part.w[:], c.ColumnVector(name+" "+part.name, 4))
	}
	return q
}

// b1 is b ⊕ c1, of which every byte is two nibbles.
func (q *quarterWords) b1() (w word) {
	for j := range w {
		w[j] = q.b1Low[j].Add(q.b1High[j].Times(16))
	}
	return w
}

// b1Rotated is b1 rotated right by 12: a high nibble becomes the low one of the byte before.
func (q *quarterWords) b1Rotated() (w word) {
	for j := range w {
		w[j] = q.b1High[(j+1)&3].Add(q.b1Low[(j+2)&3].Times(16))
	}
	return w
}

// b2Rotated is b2 rotated right by 7: a high bit becomes the low one of its byte.
func (q *quarterWords) b2Rotated() (w word) {
	for j := range w {
		w[j] = q.b2Hi[j].Add(q.b2Low[(j+1)&3].Times(2))
	}
	return w
}

// quarterInputs are the state words that quarter-round g takes as a, b, c, d: columns first, then diagonals (BLAKE3 specification, section 2.2).
func quarterInputs(g int) (a, b, c, d int) {
	i := g & 3
	if g < 4 {
		return i, 4 + i, 8 + i, 12 + i
	}
	return i, 4 + (i+1)&3, 8 + (i+2)&3, 12 + (i+3)&3
}

// roundsCircuit is what circuits of the compression function share: one row for each round in reverse order, so that Next is the round before. The row of the initial state (row 0) computes the output of the compression
// before with the same columns. docs/systems/blake3.md argues rule by rule.
type roundsCircuit struct {
	quarters               [8]quarterWords
	message                []air.Expr
	initial, first         air.Expr // 1 in row 0, in row 1
	rounds, later          air.Expr // 1 from row 1 on, from row 2 on
	before, between, after [16]word // the state before and after the column step, and after the diagonal step
}

// addRounds adds the columns.
func addRounds(c *air.Builder) (r roundsCircuit) {
	for g := range r.quarters {
		r.quarters[g] = addQuarter(c, "G"+strconv.Itoa(g))
	}
	r.message = c.ColumnVector("m", 16)
	return r
}

// build constrains the rounds.
func (r *roundsCircuit) build(c *air.Builder, ch bytes.Channels) {
	r.initial = c.PeriodicColumn(0, 0, 0, 0, 0, 0, 0, 1)
	r.first = c.PeriodicColumn(0, 0, 0, 0, 0, 0, 1, 0)
	r.rounds, r.later = r.initial.Not(), r.initial.Add(r.first).Not()
	for g := range r.quarters {
		q := &r.quarters[g]
		ia, ib, ic, id := quarterInputs(g)
		a, b, cc, d := q.a2, q.b2Rotated(), q.c2, q.d2.right(1)
		if g < 4 {
			r.between[ia], r.between[ib], r.between[ic], r.between[id] = a, b, cc, d
		} else {
			r.after[ia], r.after[ib], r.after[ic], r.after[id] = a, b, cc, d
		}
	}
	for i := range r.before {
		r.before[i] = r.after[i].next()
	}

	for g := range r.quarters {
		q, state := &r.quarters[g], &r.before
		if g >= 4 {
			state = &r.between
		}
		ia, ib, ic, id := quarterInputs(g)
		a, b, cc, d := state[ia], state[ib], state[ic], state[id]
		d1, b1, d2 := q.d1.right(2), q.b1Rotated(), q.d2.right(1)
		name := "G" + strconv.Itoa(g)
		// The message word makes the two longer sums true in row 0 whatever they are.
		c.Assert(name+" a1", carry3(a.value().Add(b.value()).Add(r.message[2*g]).Sub(q.a1.value())))
		c.Assert(name+" c1", r.rounds.Mul(carry2(cc.value().Add(d1.value()).Sub(q.c1.value()))))
		c.Assert(name+" a2", carry3(q.a1.value().Add(b1.value()).Add(r.message[2*g+1]).Sub(q.a2.value())))
		c.Assert(name+" c2", r.rounds.Mul(carry2(q.c1.value().Add(d2.value()).Sub(q.c2.value()))))
		one := c.Const(1)
		for j := range 4 {
			c.Push(ch.Xor, one, 1, d[j], q.a1[j], q.d1[j])
			c.Push(ch.Nibbles, one, 1, b[j], q.c1[j], q.b1Low[j], q.b1High[j])
			c.Push(ch.Xor, one, 1, d1[j], q.a2[j], q.d2[j])
			c.Push(ch.Split7, one, 1, b1[j], q.c2[j], q.b2Low[j], q.b2Hi[j])
		}
	}
	for i, from := range blake3.MsgPermutation {
		c.Assert("message word "+strconv.Itoa(i), r.later.Mul(r.message[i].Sub(r.message[from].Next())))
	}
}

// output is, in row 0, the output of the compression before, v[i] ⊕ v[8+i]: what the column step there computes.
func (r *roundsCircuit) output(c *air.Builder) (out [8]air.Expr) {
	for i := range 4 {
		q, n := &r.quarters[i], strconv.Itoa(i)
		c.Assert("output word "+n+": first half", r.initial.Mul(q.d1.right(2).value().Sub(r.before[i].value())))
		c.Assert("output word "+n+": second half", r.initial.Mul(q.a2.value().Sub(r.before[8+i].value())))
		c.Assert("output word "+strconv.Itoa(4+i)+": second half", r.initial.Mul(q.c1.value().Sub(r.before[12+i].value())))
		out[i], out[4+i] = q.d2.value(), q.b1().value()
	}
	return out
}

// buildCompress builds the circuit of the compressions that hash files.
func buildCompress(c *air.Builder, ch channels) {
	r := addRounds(c)
	parent, start, end, root, tail := c.Column("parent"), c.Column("start"), c.Column("end"), c.Column("root"), c.Column("tail")
	chunk, size, length, u, v := c.Column("chunk"), c.Column("bytes"), c.Column("length"), c.Column("u"), c.Column("v")
	r.build(c, ch.Channels)
	out := r.output(c)
	message, after, initial, first, rounds := r.message, &r.after, r.initial, r.first, r.rounds

	// Row 0, diagonal step: the initial state.
	fresh := start.Add(parent)
	for i := range 8 {
		iv := c.Const(field.Element(blake3.IV[i]))
		c.Assert("chaining value word "+strconv.Itoa(i), initial.Mul(after[i].value().Sub(out[i]).Sub(fresh.Mul(iv.Sub(out[i])))))
	}
	for i := range 4 {
		c.Assert("IV word "+strconv.Itoa(i), initial.Mul(after[8+i].value().Minus(field.Element(blake3.IV[i]))))
	}
	flags := start.Times(field.Element(blake3.ChunkStart)).Add(end.Times(field.Element(blake3.ChunkEnd))).
		Add(parent.Times(field.Element(blake3.Parent))).Add(root.Times(field.Element(blake3.Root)))
	c.Assert("counter low", initial.Mul(after[12].value().Sub(parent.Not().Mul(chunk))))
	c.Assert("counter high", initial.Mul(after[13].value()))
	c.Assert("block length", initial.Mul(after[14].value().Sub(length)))
	c.Assert("flags", initial.Mul(after[15].value().Sub(flags)))

	// Control.
	for _, col := range []struct {
		name string
		x    air.Expr
	}{{"parent", parent}, {"start", start}, {"end", end}, {"root", root}, {"tail", tail}} {
		c.AssertBoolean(col.name+" is a bit", col.x)
	}
	for _, col := range []struct {
		name string
		x    air.Expr
	}{{"parent", parent}, {"start", start}, {"end", end}, {"root", root}, {"chunk", chunk}, {"bytes", size}, {"length", length}} { // not tail: length says what it is
		c.Assert(col.name+" stays", rounds.Mul(col.x.Sub(col.x.Next())))
	}
	continuing := fresh.Not() // of a block that is neither a parent nor a chunk's first
	c.Assert("a parent ends no chunk", parent.Mul(end))
	c.Assert("a chunk continues until its end", initial.Mul(fresh.Sub(parent.Next()).Sub(end.Next())))
	c.Assert("a root is a parent or ends a chunk", root.Mul(parent.Add(end).Not()))
	c.Assert("a root starts at chunk 0", root.Mul(chunk))
	c.Assert("a short block ends a chunk", tail.Mul(end.Not()))
	c.Assert("other blocks are full", tail.Not().Mul(length.Minus(blake3.BlockSize)))
	c.Assert("a chunk counts its bytes", initial.Mul(parent.Not().Mul(size.Sub(length)).Sub(continuing.Mul(size.Next()))))
	c.Assert("a chunk keeps its number", initial.Mul(continuing.Mul(chunk.Sub(chunk.Next()))))
	c.Assert("a parent adds up its children", first.Mul(parent.Mul(size.Sub(u).Sub(v))))
	c.Assert("a chunk's end asks for its bytes", first.Mul(end.Mul(size.Sub(v))))

	// Row 1 uses facts: its message words are those of the block.
	children := first.Mul(parent)
	inverse1024, _ := field.Inverse(blake3.ChunkSize)
	c.Push(ch.node, children, 1, append([]air.Expr{chunk, u}, message[:8]...)...)
	c.Push(ch.node, children, 1, append([]air.Expr{chunk.Add(u.Times(inverse1024)), v}, message[8:]...)...)
	c.Push(ch.split, first.Mul(parent.Add(end)), 1, parent, u, v)
	c.Push(ch.tail, first.Mul(tail), 1, append([]air.Expr{length, start}, message...)...)

	// Row 0 supplies facts about the compression before. Of two words that the row leaves free, and holds to be bytes, six bytes are the length.
	low := r.quarters[0].c2.value()
	high := r.quarters[1].c2[0].Add(r.quarters[1].c2[1].Times(1 << 8))
	c.Assert("the length of a claim", initial.Mul(size.Next().Sub(low).Sub(high.Times(1<<32))))
	c.Assert("only ends and parents below the root are nodes", initial.Mul(u.Mul(parent.Next().Add(end.Next()).Not().Add(root.Next()))))
	c.Assert("only roots are claimed", initial.Mul(v.Mul(root.Next().Not())))
	c.Pull(ch.node, initial.Mul(u), append([]air.Expr{chunk.Next(), size.Next()}, out[:]...)...)
	c.Pull(ch.claim, initial.Mul(v), append(append([]air.Expr{}, out[:]...), low, high)...)
}

// carry2 is zero when a sum of two words exceeds a word by nothing or 2^32.
func carry2(excess air.Expr) air.Expr { return excess.Mul(excess.Minus(1 << 32)) }

// carry3 is zero when a sum of three words exceeds a word by 0, 1 or 2 times 2^32.
func carry3(excess air.Expr) air.Expr { return carry2(excess).Mul(excess.Minus(1 << 33)) }

// A full subtree has 2^10 to 2^41 bytes: 32 powers of two, which the rows of the circuit split go through.
const (
	logChunk  = 10 // log2 of a chunk's bytes
	logPowers = 5  // log2 of the number of powers
	rangeSize = 6  // bytes of a bounded number
)

// Main columns of the circuit split.
const (
	colSplitUses  = 0
	colSplitKind  = 1
	colSplitAbove = 2
	colSplitBelow = colSplitAbove + rangeSize
)

// buildSplit builds the circuit whose facts (kind, P, x) bound sizes: of kind 0, P = 1024 and 0 <= x <= P; of kind 1, P is one of 2^10 to 2^41 and 1 <= x <= P. A fact of
// another kind says nothing, and nothing asks for it.
func buildSplit(c *air.Builder, ch channels) {
	uses, kind := c.Column("uses"), c.Column("kind")
	above, below := c.ColumnVector("above", rangeSize), c.ColumnVector("below", rangeSize)
	powers := make([]field.Element, 1<<logPowers)
	for k := range powers {
		powers[k] = 1 << (logChunk + k)
	}
	p := kind.Mul(c.PeriodicColumn(powers...).Minus(blake3.ChunkSize)).Plus(blake3.ChunkSize)
	x, rest := kind, c.Const(0)
	for j := range rangeSize {
		x, rest = x.Add(above[j].Times(1<<(8*j))), rest.Add(below[j].Times(1<<(8*j)))
		for _, b := range []air.Expr{above[j], below[j]} {
			c.Push(ch.Xor, c.Const(1), 1, b, b, c.Const(0))
		}
	}
	c.Assert("x is at most P", p.Sub(x).Sub(rest))
	c.Pull(ch.split, uses, kind, p, x)
}

// Main columns of the circuit tail.
const (
	colTailUses    = 0
	colTailStart   = 1
	colTailMessage = 2
	colTailAt      = colTailMessage + 16 // 15 columns: the short word is word 1, 2, …
	colTailMore    = colTailAt + 15      // 3 columns: it has at least 1, 2, 3 bytes
	colTailBytes   = colTailMore + 3     // 3 columns: these bytes
)

// buildTail builds the circuit whose facts (length, start, block) say that the block is zero after length bytes, 0 <= length < 64, and that only a block with start = 1 is empty.
// The word in which the block ends is the short one. Words before it are as they come: what a compression makes of them depends on them modulo 2^32 alone.
func buildTail(c *air.Builder, ch channels) {
	uses, start := c.Column("uses"), c.Column("start")
	message, at := c.ColumnVector("m", 16), make([]air.Expr, 16)
	copy(at[1:], c.ColumnVector("at", 15))
	more, content := c.ColumnVector("more", 3), c.ColumnVector("byte", 3)
	at[0] = c.Sum(at[1:]...).Not()

	ended, length, short := c.Const(0), c.Sum(more...), c.Const(0)
	for i := range message {
		n := strconv.Itoa(i)
		c.AssertBoolean("the short word may be word "+n, at[i])
		if i > 0 {
			c.Assert("word "+n+" after the short one is zero", ended.Mul(message[i]))
		}
		ended = ended.Add(at[i])
		length = length.Add(at[i].Times(field.Element(4 * i)))
		short = short.Add(at[i].Mul(message[i]))
	}
	for j := range more {
		n := strconv.Itoa(j)
		c.AssertBoolean("byte "+n+" may be there", more[j])
		if j > 0 {
			c.Assert("byte "+n+" needs the one before", more[j].Mul(more[j-1].Not()))
		}
		c.Assert("byte "+n+" is zero unless there", content[j].Mul(more[j].Not()))
		c.Push(ch.Xor, c.Const(1), 1, content[j], content[j], c.Const(0))
		short = short.Sub(content[j].Times(1 << (8 * j)))
	}
	c.Assert("the short word has these bytes", short)
	c.Assert("only a first block is empty", at[0].Mul(more[0].Not()).Mul(start.Not()))
	c.Pull(ch.tail, uses, append([]air.Expr{length, start}, message...)...)
}
