package blake3

import (
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/internal/tracecheck"
	"github.com/ixprove/ixprove/verifier/blake3"
	"github.com/ixprove/ixprove/verifier/field"
)

// forgery is a witness by a prover that deviates in chosen places and is consistent everywhere else: what follows from a deviation is computed from it, claims included.
type forgery struct {
	list     []compression  // one table of the circuit compress
	children map[int][2]int // of parents, by index in list

	state   func(k int, v *[16]uint32)           // the initial state of compression k
	message func(k, r int, m *[16]uint32)        // the message words of row r
	delta   func(k, r, g int) [8]uint32          // added to a1, c1, a2, c2 and xored to d1, b1, d2, b2
	output  func(k, g int, args *[4]uint32)      // d1, c1, a2, c2 of row 0's column step
	tamper  func(f *forgery, x tracecheck.Trace) // the table's columns, when all is written
	others  func(split, tail tracecheck.Trace)   // those of the small tables; tail is nil without short blocks
	claims  func(claims []formats.Claim)         // before they are made
	weights bool                                 // a multiplicity above its weight is part of the forgery
}

// newForgery starts with the honest compressions of a file and pads them to a power of two, at least two.
func newForgery(data []byte) *forgery {
	t := newTree([][]byte{data})
	t.hash()
	f := &forgery{children: map[int][2]int{}}
	for i := range t.blocks.values {
		f.list = append(f.list, t.blocks.at(i))
	}
	f.list = append(f.list, t.parents...)
	at := map[[8]uint32]int{}
	for k := range f.list {
		c := &f.list[k]
		if c.has(blake3.Parent) {
			f.children[k] = [2]int{at[[8]uint32(c.block[:8])], at[[8]uint32(c.block[8:])]}
		}
		at[c.output()] = k
	}
	f.pad()
	return f
}

func (f *forgery) pad() {
	for n := len(f.list); n < 2 || n&(n-1) != 0; n++ {
		f.list = append(f.list, padding)
	}
}

// insert puts a compression before the one with index k.
func (f *forgery) insert(k int, c compression) {
	f.list = slices.Insert(f.list, k, c)
	moved := map[int][2]int{}
	for parent, pair := range f.children {
		for i := range pair {
			if pair[i] >= k {
				pair[i]++
			}
		}
		if parent >= k {
			parent++
		}
		moved[parent] = pair
	}
	f.children = moved
	last := len(f.list) - 1
	for last > 0 && f.list[last] == padding {
		last--
	}
	f.list = f.list[:last+1]
	f.pad()
}

func (f *forgery) rounds(k int, b *block) [16]uint32 {
	v, m := f.list[k].state(), f.list[k].block
	if f.state != nil {
		f.state(k, &v)
	}
	for r := 1; r < rowsPerCompression; r++ {
		if f.message != nil {
			f.message(k, r, &m)
		}
		b.messages[r] = m
		for g := range 8 {
			var d [8]uint32
			if f.delta != nil {
				d = f.delta(k, r, g)
			}
			ia, ib, ic, id := quarterInputs(g)
			q := quarter{a: v[ia], b: v[ib], c: v[ic], d: v[id]}
			q.a1 = q.a + q.b + m[2*g] + d[0]
			q.d1 = q.d ^ q.a1 ^ d[4]
			q.c1 = q.c + bits.RotateLeft32(q.d1, -16) + d[1]
			q.b1 = q.b ^ q.c1 ^ d[5]
			q.a2 = q.a1 + bits.RotateLeft32(q.b1, -12) + m[2*g+1] + d[2]
			q.d2 = bits.RotateLeft32(q.d1, -16) ^ q.a2 ^ d[6]
			q.c2 = q.c1 + bits.RotateLeft32(q.d2, -8) + d[3]
			q.b2 = bits.RotateLeft32(q.b1, -12) ^ q.c2 ^ d[7]
			q.put(&v, ia, ib, ic, id)
			b.quarters[r][g] = q
		}
		for i, from := range blake3.MsgPermutation {
			m[i] = b.messages[r][from]
		}
	}
	return v
}

// initial fills row 0 of compression k and returns the output of the one before.
func (f *forgery) initial(k int, b *block, v [16]uint32, before uint64) (out [8]uint32) {
	s := f.list[k].state()
	if f.state != nil {
		f.state(k, &s)
	}
	row, length := &b.quarters[0], [4]uint32{uint32(before), uint32(before >> 32)}
	for i := range 4 {
		args := [4]uint32{bits.RotateLeft32(v[i], 16), v[12+i], v[8+i], length[i]}
		if f.output != nil {
			f.output(k, i, &args)
		}
		row[i] = solve(v[i], v[4+i], v[8+i], v[12+i], args[0], args[1], args[2], args[3])
		out[i], out[4+i] = row[i].d2, row[i].b1
		row[i].put(&v, i, 4+i, 8+i, 12+i)
	}
	for g := 4; g < 8; g++ {
		ia, ib, ic, id := quarterInputs(g)
		d1 := bits.RotateLeft32(s[ia]^bits.RotateLeft32(s[id], 8), 16)
		b1 := bits.RotateLeft32(s[ic]^bits.RotateLeft32(s[ib], 7), 12)
		row[g] = solve(v[ia], v[ib], v[ic], v[id], d1, v[ib]^b1, s[ia], s[ic])
	}
	return out
}

// out is what the next compression takes for the output of compression k.
func (f *forgery) out(k int) [8]uint32 {
	var b block
	return f.initial((k+1)%len(f.list), &b, f.rounds(k, &b), f.list[k].bytes)
}

// row is where round r of compression k lies.
func (f *forgery) row(k, r int) int {
	return (len(f.list)-1-k)*rowsPerCompression + rowsPerCompression - 1 - r
}

// from writes a column from round r to the last of compression k.
func (f *forgery) from(x tracecheck.Trace, col, k, r int, v field.Element) {
	for ; r < rowsPerCompression; r++ {
		x[col][f.row(k, r)] = v
	}
}

// run writes everything, lets the byte, split and tail tables answer for whatever true message is asked for, and returns what is still wrong.
func (f *forgery) run(t *testing.T, checker *tracecheck.Checker) []tracecheck.Failure {
	t.Helper()
	var claims []formats.Claim
	for k := range f.list {
		c := &f.list[k]
		if !c.has(blake3.Parent | blake3.ChunkStart) {
			c.cv = f.out((k + len(f.list) - 1) % len(f.list))
		}
		if pair, ok := f.children[k]; ok {
			l, r := f.out(pair[0]), f.out(pair[1])
			copy(c.block[:8], l[:])
			copy(c.block[8:], r[:])
		}
		if c.uses[1] > 0 {
			var claim formats.Claim
			for _, w := range f.out(k) {
				claim.Results = claim.Results.Append(uint64(w))
			}
			claim.Results = claim.Results.Append(c.bytes).Append(0)
			claims = append(claims, claim)
		}
	}
	if f.claims != nil {
		f.claims(claims)
	}
	w := assemble(claims, [][]*table{{{others: f.list}}}, 3)
	traces, err := checker.Write(w)
	if err != nil {
		t.Fatal(err)
	}
	all := traces[0]
	var values rows
	for k := range f.list {
		var b block
		last := (k + len(f.list) - 1) % len(f.list)
		f.initial(k, &b, f.rounds(last, &b), f.list[last].bytes)
		f.rounds(k, &b)
		values.store(&b, &f.list[k], &f.list[last])
		for i := range values {
			copy(all[0][i][f.row(k, 7):], values[i][:])
		}
	}
	if f.tamper != nil {
		f.tamper(f, all[0])
	}
	var tail tracecheck.Trace
	if len(all) == 4 {
		tail = all[2]
	}
	if f.others != nil {
		f.others(all[1], tail)
	}
	failures, err := checker.Check(w, traces)
	if err != nil {
		t.Fatal(err)
	}
	for _, failure := range failures {
		answer(failure, all[1], tail, all[len(all)-1])
	}
	failures, err = checker.Check(w, traces)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(failures, func(x tracecheck.Failure) bool {
		return f.weights && strings.HasPrefix(x.Constraint, "weight of a push")
	})
}

// answer has a table of facts supply a message that is asked for, if it is one of its facts.
func answer(f tracecheck.Failure, split, tail, byteTable tracecheck.Trace) {
	m := f.Message
	switch f.Channel {
	case "xor", "nibbles", "split7":
		low, high := field.Element(0), field.Element(0)
		if len(m) == 4 {
			low, high = m[2], m[3]
		}
		if m[0] > 255 || m[1] > 255 {
			return
		}
		z := m[0] ^ m[1]
		switch {
		case f.Channel == "xor" && m[2] == z:
			add(&byteTable[0][m[0]|m[1]<<8], f.Excess)
		case f.Channel == "nibbles" && low == z&15 && high == z>>4:
			add(&byteTable[1][m[0]|m[1]<<8], f.Excess)
		case f.Channel == "split7" && low == z&127 && high == z>>7:
			add(&byteTable[2][m[0]|m[1]<<8], f.Excess)
		}
	case "split":
		for r := range split[0] {
			p, x := field.Element(blake3.ChunkSize), split[colSplitKind][r]
			if x != 0 {
				p = blake3.ChunkSize << (r % 32)
			}
			for j := range rangeSize {
				x = field.Add(x, field.Mul(split[colSplitAbove+j][r], 1<<(8*j)))
			}
			if slices.Equal(m, []field.Element{split[colSplitKind][r], p, x}) {
				add(&split[colSplitUses][r], f.Excess)
				return
			}
		}
	case "tail":
		for r := 0; tail != nil && r < len(tail[0]); r++ {
			length := field.Element(0)
			for i := range 15 {
				length = field.Add(length, field.Mul(tail[colTailAt+i][r], field.Element(4*i+4)))
			}
			for j := range 3 {
				length = field.Add(length, tail[colTailMore+j][r])
			}
			message := []field.Element{length, tail[colTailStart][r]}
			for i := range 16 {
				message = append(message, tail[colTailMessage+i][r])
			}
			if slices.Equal(m, message) {
				add(&tail[colTailUses][r], f.Excess)
				return
			}
		}
	}
}

func add(x *field.Element, v field.Element) { *x = field.Add(*x, v) }

// names are the distinct names of failures, sorted.
func names(failures []tracecheck.Failure) []string {
	set := map[string]bool{}
	for _, f := range failures {
		set[f.Name()] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// refused counts the constraints that were all that stood between a forgery and its acceptance.
type refused map[string]bool

// mustFail runs a forgery: exactly the named constraints and channels must object.
func (r refused) mustFail(t *testing.T, checker *tracecheck.Checker, f *forgery, want ...string) {
	t.Helper()
	failures := f.run(t, checker)
	slices.Sort(want)
	if got := names(failures); !slices.Equal(got, want) {
		t.Errorf("refused by %q, want %q: %v", got, want, failures[:min(3, len(failures))])
	}
	for _, name := range want {
		r[name] = true
	}
}

func minus(v field.Element) field.Element { return field.Neg(v) }

// cases are forgeries that one constraint or one channel refuses. The file has n bytes; compression 0 is its first block.
var cases = []struct {
	name  string
	n     int
	forge func(f *forgery)
	want  string
}{
	// The flags.
	{"a chunk that does not start", 64, func(f *forgery) { f.state = flip(15, uint32(blake3.ChunkStart)) }, "flags"},
	{"a digest without the flag of a root", 64, func(f *forgery) { f.state = flip(15, uint32(blake3.Root)) }, "flags"},
	{"another block length", 64, func(f *forgery) { f.state = flip(14, 1) }, "block length"},
	{"another counter", 64, func(f *forgery) { f.state = flip(12, 1) }, "counter low"},
	{"a high counter", 64, func(f *forgery) { f.state = flip(13, 1) }, "counter high"},
	{"a root that is 2", 64, func(f *forgery) {
		f.state = func(k int, v *[16]uint32) {
			if k == 1 {
				v[15] = 3 + 2*blake3.Root
			}
		}
		f.tamper = func(f *forgery, x tracecheck.Trace) { f.from(x, colRoot, 1, 0, 2) }
	}, "root is a bit"},
	{"short blocks that cancel out", 64, func(f *forgery) {
		f.weights = true
		f.list = append(f.list, padding, padding)
		f.tamper = func(f *forgery, x tracecheck.Trace) {
			f.from(x, colTail, 1, 0, 2)
			f.from(x, colTail, 2, 0, minus(2))
		}
	}, "tail is a bit"},

	// Blocks and chunks.
	{"a chunk that goes on after its end", 128, func(f *forgery) {
		f.list[0].flags |= blake3.ChunkEnd
		f.list[0].split = [2]uint64{1024, 64}
	}, "a chunk continues until its end"},
	{"a digest of half a chunk", 128, func(f *forgery) {
		f.list[0].flags |= blake3.Root
		f.list[0].uses = [2]uint32{0, 1}
	}, "a root is a parent or ends a chunk"},
	{"a root with a counter", 64, func(f *forgery) { f.list[0].chunk = 3 }, "a root starts at chunk 0"},
	{"a short block before the end", 128, func(f *forgery) {
		f.list[0] = short(f.list[0], 10)
		f.list[1].bytes -= 54
		f.list[1].split[1] -= 54
	}, "a short block ends a chunk"},
	{"a short block that is none", 64, func(f *forgery) {
		f.list[0].length, f.list[0].bytes, f.list[0].split[1] = 10, 10, 10
	}, "other blocks are full"},
	{"bytes that are not there", 64, func(f *forgery) { f.list[0].bytes, f.list[0].split[1] = 65, 65 }, "a chunk counts its bytes"},
	{"blocks of two chunks", 128, func(f *forgery) { f.list[0].chunk = 7 }, "a chunk keeps its number"},
	{"a chunk of 17 blocks", 1024, func(f *forgery) {
		f.list[15].flags, f.list[15].uses = 0, [2]uint32{}
		f.insert(16, compression{bytes: 1088, split: [2]uint64{1024, 1088}, length: 64, flags: blake3.ChunkEnd | blake3.Root, uses: [2]uint32{0, 1}})
	}, "x is at most P"},
	{"a chunk of 17 blocks that says 16", 1024, func(f *forgery) {
		f.list[15].flags, f.list[15].uses = 0, [2]uint32{}
		f.insert(16, compression{bytes: 1088, split: [2]uint64{1024, 1024}, length: 64, flags: blake3.ChunkEnd | blake3.Root, uses: [2]uint32{0, 1}})
	}, "a chunk's end asks for its bytes"},
	{"an empty block at the end", 64, func(f *forgery) { emptyBlock(f) }, "only a first block is empty"},
	{"an empty block at the end, called first", 64, func(f *forgery) {
		emptyBlock(f)
		f.tamper = func(f *forgery, x tracecheck.Trace) { x[colStart][f.row(1, 1)] = 1 }
		f.others = func(_, tail tracecheck.Trace) { tail[colTailStart][0] = 1 }
	}, "start stays"},

	// Columns that must not change within a compression.
	{"a parent that asks for no children", 1088, func(f *forgery) {
		f.parentAbove()
		f.tamper = func(f *forgery, x tracecheck.Trace) { x[colParent][f.row(17, 1)] = 0 }
	}, "parent stays"},
	{"an end that only the facts see", 1088, func(f *forgery) {
		f.list[16].flags &^= blake3.ChunkEnd
		f.tamper = func(f *forgery, x tracecheck.Trace) { f.from(x, colEnd, 16, 2, 1) }
	}, "end stays"},
	{"a root that only the facts see", 64, func(f *forgery) {
		f.list[0].flags &^= blake3.Root
		f.tamper = func(f *forgery, x tracecheck.Trace) { f.from(x, colRoot, 0, 2, 1) }
	}, "root stays"},
	{"a chunk hashed with another counter", 1088, func(f *forgery) {
		f.list[16].chunk = 5
		f.tamper = func(f *forgery, x tracecheck.Trace) { f.from(x, colChunk, 16, 2, 1) }
	}, "chunk stays"},
	{"a length that only the facts see", 64, func(f *forgery) {
		f.claims = func(claims []formats.Claim) { claims[0].Results = replace(claims[0].Results, 8, 65) }
		f.output = func(k, g int, args *[4]uint32) {
			if k == 1 && g == 0 {
				args[3] = 65
			}
		}
		f.tamper = func(f *forgery, x tracecheck.Trace) { f.from(x, colBytes, 0, 2, 65) }
	}, "bytes stays"},
	{"a block longer to the circuit tail than to the hash", 10, func(f *forgery) {
		f.list[0].block[3] = 0xff
		f.tamper = func(f *forgery, x tracecheck.Trace) { x[colLength][f.row(0, 1)] = 13 }
		f.others = func(_, tail tracecheck.Trace) {
			tail[colTailAt+1][0], tail[colTailAt+2][0] = 0, 1
			tail[colTailMore][0], tail[colTailMore+1][0] = 1, 0
			tail[colTailBytes][0], tail[colTailBytes+1][0] = 0xff, 0
		}
	}, "length stays"},

	// The tree.
	{"a parent larger than its children", 1088, func(f *forgery) { f.list[17].bytes++ }, "a parent adds up its children"},
	{"a left subtree that is not full", 3072, func(f *forgery) { f.lopsided() }, "x is at most P"},
	{"a left subtree that is not full, without an answer", 3072, func(f *forgery) {
		f.lopsided()
		f.others = func(split, _ tracecheck.Trace) {
			for col := range split {
				split[col][32] = 0
			}
			split[colSplitBelow+1][32] = 4 // 1024
		}
	}, "split"},
	{"a left subtree of two thirds", 3072, func(f *forgery) { f.list[49].split = [2]uint64{3 << 9, 3 << 9} }, "node, split"},
	{"children swapped", 2048, func(f *forgery) { f.children[32] = [2]int{16, 0} }, "node"},
	{"a left child from nowhere", 2048, func(f *forgery) { f.list[15].uses[0], f.list[32].block[0] = 0, 1; delete(f.children, 32) }, "node"},
	{"a right child from nowhere", 2048, func(f *forgery) { f.list[31].uses[0], f.list[32].block[8] = 0, 1; delete(f.children, 32) }, "node"},
	{"a child at another place", 2048, func(f *forgery) {
		for k := 16; k < 32; k++ {
			f.list[k].chunk = 2
		}
	}, "node"},

	// Facts and claims.
	{"half a chunk as a node", 1152, func(f *forgery) {
		f.list[16].uses[0], f.list[17].uses[0] = 1, 0
		f.children[18] = [2]int{15, 16}
		f.list[18].bytes, f.list[18].split[1] = 1088, 64
	}, "only ends and parents below the root are nodes"},
	{"a root as a node", 1088, func(f *forgery) { f.list[16].flags |= blake3.Root; f.list[16].chunk = 1 }, "a root starts at chunk 0, only ends and parents below the root are nodes"},
	{"the root used as a node too", 64, func(f *forgery) { f.list[0].uses[0] = 1 }, "node, only ends and parents below the root are nodes"},
	{"padding that is claimed", 64, func(f *forgery) { f.list[1].uses[1] = 1 }, "only roots are claimed"},
	{"padding that supplies what nothing asks for", 64, func(f *forgery) { f.list[1].uses[0] = 1 }, "node"},
	{"another length", 64, func(f *forgery) {
		f.claims = func(claims []formats.Claim) { claims[0].Results = replace(claims[0].Results, 8, 65) }
		f.output = func(k, g int, args *[4]uint32) {
			if k == 1 && g == 0 {
				args[3] = 65
			}
		}
	}, "the length of a claim"},
	{"a length that is the same modulo p", 64, func(f *forgery) {
		f.claims = func(claims []formats.Claim) {
			claims[0].Results = replace(replace(claims[0].Results, 8, 65), 9, 1<<32-1)
		}
	}, "claim"},
	{"another digest", 64, func(f *forgery) {
		f.claims = func(claims []formats.Claim) { claims[0].Results = replace(claims[0].Results, 0, 1) }
	}, "claim"},

	// Short blocks.
	{"bytes after the end, without an answer", 10, func(f *forgery) {
		f.list[0].block[5] = 1
		f.others = func(_, tail tracecheck.Trace) { tail[colTailMessage+5][0] = 0 }
	}, "tail"},
	{"bytes after the end in the last word", 9, func(f *forgery) {
		f.list[0].block[2] |= 0xff << 8
		f.others = func(_, tail tracecheck.Trace) { tail[colTailBytes+1][0] = 0 }
	}, "the short word has these bytes"},
	{"a byte of nine bits", 9, func(f *forgery) { longByte(f, 0) }, "xor"},
	{"a second byte of nine bits", 10, func(f *forgery) { longByte(f, 1) }, "xor"},
	{"a third byte of nine bits", 11, func(f *forgery) { longByte(f, 2) }, "xor"},
	{"a byte that is there −3 times", 1, func(f *forgery) { afterEnd(f, minus(3), 0, 0) }, "byte 0 may be there"},
	{"a second byte that is there −4 times", 1, func(f *forgery) { afterEnd(f, 1, minus(4), 0) }, "byte 1 may be there"},
	{"a third byte that is there −5 times", 1, func(f *forgery) { afterEnd(f, 1, 1, minus(5)) }, "byte 2 may be there"},
	{"a second byte without the first", 1, func(f *forgery) {
		f.list[0].block[0] = 0xff00
		f.others = func(_, tail tracecheck.Trace) {
			tail[colTailMore][0], tail[colTailMore+1][0] = 0, 1
		}
	}, "byte 1 needs the one before"},
	{"a third byte without the second", 2, func(f *forgery) {
		f.list[0].block[0] = 0xff0000
		f.others = func(_, tail tracecheck.Trace) {
			tail[colTailMore+1][0], tail[colTailMore+2][0] = 0, 1
		}
	}, "byte 2 needs the one before"},
	{"one byte in an empty word", 4, func(f *forgery) { f.list[0].block[1] = 0xff }, "byte 0 is zero unless there"},
	{"two bytes where there is one", 1, func(f *forgery) { f.list[0].block[0] = 0xffff }, "byte 1 is zero unless there"},
	{"three bytes where there are two", 2, func(f *forgery) { f.list[0].block[0] = 0xffffff }, "byte 2 is zero unless there"},
}

// flip xors a word of compression 0's initial state.
func flip(i int, mask uint32) func(int, *[16]uint32) {
	return func(k int, v *[16]uint32) {
		if k == 0 {
			v[i] ^= mask
		}
	}
}

// short cuts a block.
func short(c compression, length uint32) compression {
	c.block = [16]uint32{1}
	c.length, c.bytes, c.tail = length, uint64(length), true
	return c
}

// emptyBlock adds an empty block to a file of one full one.
func emptyBlock(f *forgery) {
	f.list[0].flags, f.list[0].uses = blake3.ChunkStart, [2]uint32{}
	f.list[1] = compression{bytes: 64, split: [2]uint64{1024, 64}, tail: true, flags: blake3.ChunkEnd | blake3.Root, uses: [2]uint32{0, 1}}
}

// parentAbove makes the parent of a file of 17 blocks a node with children from nowhere, and the left child of a root.
func (f *forgery) parentAbove() {
	f.list[17].block = [16]uint32{1, 2, 3}
	f.list[17].flags, f.list[17].uses = blake3.Parent, [2]uint32{1, 0}
	f.list[17].bytes, f.list[17].split = 2048, [2]uint64{1024, 1024}
	f.list[15].uses[0] = 0
	f.list[16].chunk = 2
	f.children = map[int][2]int{18: {17, 16}}
	f.list[18] = compression{cv: blake3.IV, bytes: 2112, split: [2]uint64{2048, 64}, length: 64, flags: blake3.Parent | blake3.Root, uses: [2]uint32{0, 1}}
}

// lopsided makes the tree of three full chunks 1024 bytes to the left and 2048 to the right.
func (f *forgery) lopsided() {
	f.list[48].chunk, f.list[48].split = 1, [2]uint64{1024, 1024}
	f.children[48] = [2]int{31, 47}
	f.list[49].split = [2]uint64{1024, 2048}
	f.children[49] = [2]int{15, 48}
}

// longByte gives byte j of the short word, the third, nine bits.
func longByte(f *forgery, j int) {
	f.list[0].block[2] = 0x1ff << (8 * j)
	f.others = func(_, tail tracecheck.Trace) {
		for i := range 3 {
			tail[colTailBytes+i][0] = 0
		}
		tail[colTailBytes+j][0] = 0x1ff
	}
}

// afterEnd leaves four bytes in a block of length one, which ends in the next word, by such numbers of bytes there.
func afterEnd(f *forgery, more ...field.Element) {
	f.list[0].block[0] = 0xffffffff
	f.others = func(_, tail tracecheck.Trace) {
		tail[colTailAt][0] = 1
		for j := range 3 {
			tail[colTailMore+j][0], tail[colTailBytes+j][0] = more[j], 0
		}
	}
}

func replace(e formats.Elements, i int, v uint64) formats.Elements {
	out := formats.Elements(nil)
	for k := range e.Len() {
		if k == i {
			out = out.Append(v)
		} else {
			out = out.Append(e.At(k))
		}
	}
	return out
}

// implied are constraints that no forgery can break alone. They are there because they are plain, and because weights rest on them.
var implied = map[string]string{
	"parent is a bit": "where a chunk continues until its end, a parent of another value follows itself around the table: its outputs would have to form a cycle",
	"start is a bit":  "start = parent' + end' - parent is then 0, 1 or -1; -1 is a parent after an open chunk of 0 bytes",
	"end is a bit":    "parent + start = end' is then 2 if not a bit; such a parent follows a chunk of 0 bytes",

	"a parent ends no chunk": "it would ask split for P = 0, since x would be both its bytes and its bytes less P",
}

func TestForgeries(t *testing.T) {
	checker := newChecker(t, 3)
	seen := refused{}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := newForgery(file(c.n))
			c.forge(f)
			seen.mustFail(t, checker, f, strings.Split(c.want, ", ")...)
		})
	}
	t.Run("sums and xors", func(t *testing.T) { arithmetic(t, checker, seen) })
	t.Run("one word of many", func(t *testing.T) { words(t, checker, seen) })
	t.Run("the circuit split", func(t *testing.T) { ranges(t, checker, seen) })
	t.Run("the circuit tail", func(t *testing.T) { tails(t, checker, seen) })
	for _, b := range checker.System.Circuits {
		for _, name := range b.Asserted {
			if !seen[name] && implied[name] == "" {
				t.Errorf("circuit %s: no forgery is refused by %q", b.Name, name)
			}
		}
	}
}

// arithmetic deviates in each column of each quarter-round, in as many files as that takes.
func arithmetic(t *testing.T, checker *tracecheck.Checker, seen refused) {
	for column, name := range []string{"a1", "c1", "a2", "c2", "xor", "nibbles", "xor", "split7"} {
		f := newForgery(file(64))
		for range 31 {
			f.insert(0, f.list[0])
		}
		f.delta = func(k, r, g int) (d [8]uint32) {
			if k>>2 == g && r == 1+k%7 {
				d[column] = 1 << (8 * (k & 3))
			}
			return d
		}
		want := []string{name}
		if column < 4 {
			want = nil
			for g := range 8 {
				want = append(want, "G"+strconv.Itoa(g)+" "+name)
			}
		}
		seen.mustFail(t, checker, f, want...)
		if failures := f.run(t, checker); column >= 4 && len(failures) != 32 {
			t.Errorf("%d of 32 false messages on %s are refused", len(failures), name)
		}
	}
}

// words deviates in one word where a constraint stands for each.
func words(t *testing.T, checker *tracecheck.Checker, seen refused) {
	for i := range 16 {
		f, n := newForgery(file(64)), strconv.Itoa(i)
		f.message = func(k, r int, m *[16]uint32) {
			if k == 0 && r == 4 {
				m[i]++
			}
		}
		seen.mustFail(t, checker, f, "message word "+n)

		f = newForgery(file(64))
		f.state = flip(i, 1)
		switch {
		case i < 8:
			seen.mustFail(t, checker, f, "chaining value word "+n)
		case i < 12:
			seen.mustFail(t, checker, f, "IV word "+strconv.Itoa(i-8))
		}
	}
	for i := range 4 {
		for arg, name := range []string{
			"output word " + strconv.Itoa(i) + ": first half", "output word " + strconv.Itoa(4+i) + ": second half", "output word " + strconv.Itoa(i) + ": second half",
		} {
			f := newForgery(file(64))
			f.output = func(k, g int, args *[4]uint32) {
				if k == 1 && g == i {
					args[arg] ^= 1
				}
			}
			seen.mustFail(t, checker, f, name)
		}
	}
	for tries := byte(0); ; tries++ { // a message word of 33 bits passes as itself until a sum of three carries a third time
		data := file(1088)
		data[0] = tries
		f := newForgery(data)
		f.tamper = func(f *forgery, x tracecheck.Trace) {
			for r, at := 1, 0; r < rowsPerCompression; r++ {
				x[colMessage+at][f.row(17, r)] += 1 << 32
				at = slices.Index(blake3.MsgPermutation[:], at)
			}
		}
		if got := names(f.run(t, checker)); slices.Equal(got, []string{"node"}) {
			break
		} else if !slices.Contains(got, "node") || tries == 255 {
			t.Fatalf("a child of 33 bits is refused by %q", got)
		}
	}
}

// ranges puts a number that is no byte in each byte column of the circuit split.
func ranges(t *testing.T, checker *tracecheck.Checker, seen refused) {
	set := func(row, col, j int, excess field.Element) func(_ *forgery, x tracecheck.Trace) {
		return func(_ *forgery, x tracecheck.Trace) {
			for i := range rangeSize {
				x[col+i][row] = 0
			}
			scale, _ := field.Inverse(1 << (8 * j))
			x[col+j][row] = field.Neg(field.Mul(excess, scale))
		}
	}
	for j := range rangeSize {
		f := newForgery(file(1025)) // an empty right subtree
		c := &f.list[16]
		c.block, c.length, c.bytes, c.split[1] = [16]uint32{}, 0, 0, 0
		f.list[17].bytes, f.list[17].split[1] = 1024, 0
		tamper := set(0, colSplitAbove, j, 1)
		f.others = func(split, _ tracecheck.Trace) { tamper(f, split) }
		seen.mustFail(t, checker, f, "xor")

		g := newForgery(file(3072)) // a right subtree larger than the left one
		g.lopsided()
		tamper2 := set(32, colSplitBelow, j, 1024)
		g.others = func(split, _ tracecheck.Trace) { tamper2(g, split) }
		seen.mustFail(t, checker, g, "xor")
	}
}

// tails makes each word of a short block wrong, and short −1 times.
func tails(t *testing.T, checker *tracecheck.Checker, seen refused) {
	for i := range 16 {
		if i > 0 {
			f := newForgery(file(1))
			f.list[0].block[i] = 1
			seen.mustFail(t, checker, f, "word "+strconv.Itoa(i)+" after the short one is zero")
		}
		a, b := 0, i+1 // two more words are the short one; the length is that of a + b - i words
		switch i {
		case 0:
			a, b = 1, 2
		case 15:
			a, b = 7, 9
		}
		f := newForgery(make([]byte, 4*(a+b-i)))
		f.others = func(_, tail tracecheck.Trace) {
			for w := 1; w < 16; w++ {
				tail[colTailAt+w-1][0] = 0
			}
			for w, v := range map[int]field.Element{a: 1, b: 1, i: minus(1)} {
				if w > 0 { // that word 0 is the short one follows
					tail[colTailAt+w-1][0] = v
				}
			}
		}
		seen.mustFail(t, checker, f, "the short word may be word "+strconv.Itoa(i))
	}
}

// A file may be spliced from chunks of others: there is such a file, and its digest is true.
func TestSplice(t *testing.T) {
	a, b := file(2048), file(2048)
	for i := range b {
		b[i] ^= 0x55
	}
	f := newForgery(a)
	n := len(f.list)
	other := newForgery(b)
	f.list = append(slices.Clone(f.list), other.list...)
	f.children = map[int][2]int{32: {15, 31}, n + 32: {n + 15, n + 31}, 33: {15, n + 31}}
	// The padding after the first file's parent becomes the parent of the splice; children come before it when outputs are computed.
	f.list[33] = f.list[32]
	f.list[15].uses[0]++
	f.list[n+31].uses[0]++
	checker := newChecker(t, 3)
	var digest [8]uint32
	f.claims = func(claims []formats.Claim) {
		for i := range digest {
			digest[i] = uint32(claims[1].Results.At(i))
		}
	}
	if failures := f.run(t, checker); len(failures) > 0 {
		t.Fatal(failures)
	}
	want := blake3.Sum256(append(slices.Clone(a[:1024]), b[1024:]...))
	for i, w := range digest {
		if got := [4]byte{byte(w), byte(w >> 8), byte(w >> 16), byte(w >> 24)}; got != [4]byte(want[4*i:]) {
			t.Errorf("word %d: %x, want %x", i, got, want[4*i:4*i+4])
		}
	}
}
