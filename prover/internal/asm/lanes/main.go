// The generator of the kernels of package lanes, whose go generate runs it: the BLAKE3 compression function on 16 (AVX-512) or 8 (AVX2) inputs at a time, one a 32-bit lane.
//
// A chaining value of all lanes is eight vectors, word by word. A kernel hashes one chunk of every lane; they differ in how message words come from memory.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	constants()
	for _, v := range []*isa{avx512, avx2} {
		v.columns()
		v.rows()
		v.parent()
		v.digests()
	}
	Generate()
}

// isa is an instruction set; Lanes × 4 is the length of its registers in bytes.
type isa struct {
	suffix string
	lanes  int
}

var (
	avx512 = &isa{"AVX512", 16}
	avx2   = &isa{"AVX2", 8}
)

func (v *isa) wide() bool { return v == avx512 }
func (v *isa) bytes() int { return 4 * v.lanes }

func (v *isa) new() reg.VecVirtual {
	if v.wide() {
		return ZMM()
	}
	return YMM()
}

func (v *isa) move(from, to Op) {
	if v.wide() {
		VMOVDQU32(from, to)
	} else {
		VMOVDQU(from, to)
	}
}

func (v *isa) load(m Mem) reg.VecVirtual {
	r := v.new()
	v.move(m, r)
	return r
}

func (v *isa) xor(a, b, to Op) {
	if v.wide() {
		VPXORD(a, b, to)
	} else {
		VPXOR(a, b, to)
	}
}

// Data of the kernels.
var iv, rotate16, rotate8, order Mem

func constants() {
	iv = GLOBL("initial", RODATA|NOPTR)
	for i, w := range []uint32{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a} { // BLAKE3 specification, table 1
		DATA(4*i, U32(w))
	}
	// Byte shuffles that rotate words to the right by 16 and 8 bits.
	shuffle := func(name string, by int) Mem {
		m := GLOBL(name, RODATA|NOPTR)
		for i := range 32 {
			DATA(i, U8(i&^3|(i+by)&3))
		}
		return m
	}
	rotate16, rotate8 = shuffle("rotate16", 2), shuffle("rotate8", 1)
	// Where VSHUFPS of rows 0 to 7 and 8 to 15, as 64-bit elements, puts each row.
	order = GLOBL("order", RODATA|NOPTR)
	for r := range 16 {
		DATA(4*r, U32(4*(r%8/2)+r%2+r/8*2))
	}
}

// schedule is the order of message words in each round (BLAKE3 specification, table 2, iterated).
func schedule(round int) [16]int {
	s := [16]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	for range round {
		var next [16]int
		for i, from := range [16]int{2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8} {
			next[i] = s[from]
		}
		s = next
	}
	return s
}

const rounds = 7

// compress applies the compression function to the chaining value v[0..7], in place: message, counter, block length and flags are given by operands. On AVX2 the third row of the state
// is in memory, because the registers hold no more.
func (v *isa) compress(cv []reg.VecVirtual, message []Op, row3 Mem, counterLow, counterHigh, length, flags reg.Register) {
	broadcast := func(from Op) reg.VecVirtual {
		r := v.new()
		if v.wide() {
			VPBROADCASTD(from, r)
			return r
		}
		if g, ok := from.(reg.Register); ok {
			MOVD(g, r.AsX())
			from = r.AsX()
		}
		VPBROADCASTD(from, r)
		return r
	}
	a, b := cv[:4], cv[4:]
	var c, d [4]reg.VecVirtual
	third := func(i int) Mem { return row3.Offset(v.bytes() * i) }
	for i := range c {
		c[i] = broadcast(iv.Offset(4 * i))
		if !v.wide() {
			v.move(c[i], third(i))
		}
	}
	for i, g := range []reg.Register{counterLow, counterHigh, length, flags} {
		d[i] = broadcast(g)
	}
	// addC adds d to word i of the third row and returns it.
	addC := func(i int, d reg.VecVirtual) reg.VecVirtual {
		if v.wide() {
			VPADDD(d, c[i], c[i])
			return c[i]
		}
		t := v.new()
		VPADDD(third(i), d, t)
		v.move(t, third(i))
		return t
	}
	rotate := func(x reg.VecVirtual, n uint64) {
		switch {
		case v.wide():
			VPRORD(Imm(n), x, x)
		case n == 16:
			VPSHUFB(rotate16, x, x)
		case n == 8:
			VPSHUFB(rotate8, x, x)
		default:
			t := v.new()
			VPSLLD(Imm(32-n), x, t)
			VPSRLD(Imm(n), x, x)
			VPOR(t, x, x)
		}
	}
	for round := range rounds {
		s := schedule(round)
		for half := range 2 {
			// Four quarter-rounds side by side, step by step.
			pick := func(i, by int) int { return (i + by*half) & 3 }
			for step := range 2 {
				for i := range 4 {
					VPADDD(b[pick(i, 1)], a[i], a[i])
				}
				for i := range 4 {
					VPADDD(message[s[8*half+2*i+step]], a[i], a[i])
				}
				for i := range 4 {
					v.xor(a[i], d[pick(i, 3)], d[pick(i, 3)])
				}
				for i := range 4 {
					rotate(d[pick(i, 3)], []uint64{16, 8}[step])
				}
				if v.wide() {
					for i := range 4 {
						addC(pick(i, 2), d[pick(i, 3)])
					}
					for i := range 4 {
						v.xor(c[pick(i, 2)], b[pick(i, 1)], b[pick(i, 1)])
					}
				} else {
					for i := range 4 {
						v.xor(addC(pick(i, 2), d[pick(i, 3)]), b[pick(i, 1)], b[pick(i, 1)])
					}
				}
				for i := range 4 {
					rotate(b[pick(i, 1)], []uint64{12, 7}[step])
				}
			}
		}
	}
	for i := range 4 {
		if v.wide() {
			v.xor(c[i], a[i], a[i])
		} else {
			VPXOR(third(i), a[i], a[i])
		}
		v.xor(d[i], b[i], b[i])
	}
}

func pointer(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }
func number(name string) reg.GPVirtual  { return Load(Param(name), GP32()).(reg.GPVirtual) }

func (v *isa) begin(name, signature, doc string) {
	TEXT(name+v.suffix, NOSPLIT, "func("+signature+")")
	Pragma("noescape")
	Doc(name + v.suffix + " " + doc)
}

func (v *isa) end() {
	VZEROUPPER()
	RET()
}

// words addresses the eight vectors of a chaining value.
func (v *isa) words(base reg.Register) (m [8]Mem) {
	for i := range m {
		m[i] = Mem{Base: base, Disp: 4 * 16 * i}
	}
	return m
}

// state is what a kernel keeps between blocks: the chaining value, in registers on AVX-512 and in memory on AVX2, whose registers the message needs.
type state struct {
	v       *isa
	cv      []reg.VecVirtual
	at      [8]Mem
	message Mem // AVX2: the message
	row3    Mem
}

func (v *isa) newState(cv reg.Register) *state {
	s := &state{v: v, at: v.words(cv)}
	if !v.wide() {
		s.message, s.row3 = AllocLocal(16*v.bytes()), AllocLocal(4*v.bytes())
	}
	return s
}

// key sets the chaining value to eight words at base, the same in every lane.
func (s *state) key(base reg.Register) {
	for i := range s.at {
		r := s.v.new()
		VPBROADCASTD(Mem{Base: base, Disp: 4 * i}, r)
		s.cv = append(s.cv, r)
		if !s.v.wide() {
			s.v.move(r, s.at[i])
		}
	}
}

// compress compresses message words, given in registers; on AVX2 they have been stored.
func (s *state) compress(message []reg.VecVirtual, counterLow, counterHigh, length, flags reg.Register) {
	ops := make([]Op, 16)
	if s.v.wide() {
		for i := range ops {
			ops[i] = message[i]
		}
	} else {
		for i := range ops {
			ops[i] = s.message.Offset(s.v.bytes() * i)
		}
		s.cv = nil
		for _, m := range s.at {
			s.cv = append(s.cv, s.v.load(m))
		}
	}
	s.v.compress(s.cv, ops, s.row3, counterLow, counterHigh, length, flags)
	if !s.v.wide() {
		s.store()
	}
}

func (s *state) store() {
	for i, m := range s.at {
		s.v.move(s.cv[i], m)
	}
}

// chunk is the loop over the blocks of one chunk. body makes the message of a block; the last has `length` bytes and the flags `last`.
func (v *isa) chunk(s *state, body func() []reg.VecVirtual) {
	counter, high := number("counter"), GP32()
	XORL(high, high)
	blocks := pointer("blocks")
	flags := number("first")
	length := GP32()
	MOVL(U32(64), length)
	Label("block")
	CMPQ(blocks, Imm(1))
	JNE(LabelRef("inner"))
	{
		t := GP32()
		Load(Param("last"), t)
		ORL(t, flags)
		Load(Param("length"), length)
	}
	Label("inner")
	s.compress(body(), counter, high, length, flags)
	Load(Param("later"), flags)
	DECQ(blocks)
	JNZ(LabelRef("block"))
}

const chunkParams = "blocks int, counter, length, first, later, last uint32"

const chunkDoc = "The last block has `length` bytes. Flags: first of the first block, later of the others, and last in addition on the last."

// columns hashes a chunk of rows that lie in columns of 64-bit elements.
func (v *isa) columns() {
	v.begin("columns", "cv *[8][16]uint32, key *[8]uint32, columns **uint64, count, offset int, "+chunkParams,
		"hashes a chunk of count elements of each lane: element j of lane i is 8i bytes from byte offset in the slice whose header is columns[j]. "+chunkDoc)
	s := v.newState(pointer("cv"))
	s.key(pointer("key"))
	columns, count, offset := pointer("columns"), pointer("count"), pointer("offset")
	v.chunk(s, func() []reg.VecVirtual {
		message := make([]reg.VecVirtual, 16)
		zero := func(r reg.VecVirtual) { v.xor(r, r, r) }
		if v.wide() {
			for i := range message {
				message[i] = v.new()
				if i >= 2 {
					zero(message[i])
				}
			}
		} else {
			z := v.new()
			zero(z)
			for i := 2; i < 16; i++ {
				v.move(z, s.message.Offset(v.bytes()*i))
			}
		}
		for j := range 8 {
			if j > 0 {
				TESTQ(count, count)
				JZ(LabelRef("loaded"))
			}
			p := GP64()
			MOVQ(Mem{Base: columns}, p)
			ADDQ(offset, p)
			x, y := v.load(Mem{Base: p}), v.load(Mem{Base: p, Disp: v.bytes()})
			// There are more columns than the processor follows: ask for the next batch, which comes after all of them.
			for ahead := 2 * v.bytes(); ahead < 4*v.bytes(); ahead += 64 {
				PREFETCHT0(Mem{Base: p, Disp: ahead})
			}
			for k, selector := range []uint64{0x88, 0xdd} {
				r := message[2*j+k]
				if !v.wide() {
					r = v.new()
				}
				VSHUFPS(Imm(selector), y, x, r)
				if !v.wide() {
					v.move(r, s.message.Offset(v.bytes()*(2*j+k)))
				}
			}
			ADDQ(Imm(24), columns)
			DECQ(count)
		}
		Label("loaded")
		return message
	})
	// Undo the order in which the shuffles left the lanes.
	var lanes reg.VecVirtual
	if v.wide() {
		lanes = v.load(order)
	}
	for i, r := range s.cv {
		if v.wide() {
			VPERMD(r, lanes, r)
		} else {
			VPERMQ(Imm(0xd8), r, r)
		}
		v.move(r, s.at[i])
	}
	v.end()
}

// rows hashes a chunk of rows that lie in memory one after the other.
func (v *isa) rows() {
	v.begin("rows", "cv *[8][16]uint32, key *[8]uint32, data *byte, stride int, "+chunkParams,
		"hashes a chunk of each lane: lane i starts stride·i bytes from data and is read in whole blocks, zero after the end. "+chunkDoc)
	s := v.newState(pointer("cv"))
	s.key(pointer("key"))
	data, stride := pointer("data"), pointer("stride")
	v.chunk(s, func() []reg.VecVirtual {
		var message []reg.VecVirtual
		if v.wide() {
			message = v.transposed(data, stride, 0)
		} else {
			for half := range 2 {
				for i, r := range v.transposed(data, stride, 32*half) {
					v.move(r, s.message.Offset(v.bytes()*(8*half+i)))
				}
			}
		}
		ADDQ(Imm(64), data)
		return message
	})
	if v.wide() {
		s.store()
	}
	v.end()
}

// transposed loads a register from each lane and transposes: register i of the result has word i of every lane.
func (v *isa) transposed(data, stride reg.GPVirtual, offset int) []reg.VecVirtual {
	x := make([]reg.VecVirtual, v.lanes)
	p := GP64()
	MOVQ(data, p)
	for i := range x {
		x[i] = v.load(Mem{Base: p, Disp: offset})
		if i+1 < len(x) {
			ADDQ(stride, p)
		}
	}
	return v.transpose(x)
}

// transpose transposes a square of words.
func (v *isa) transpose(x []reg.VecVirtual) []reg.VecVirtual {
	// Within 128 bits: words of rows k to k+3, for k = 0, 4, ….
	for k := 0; k < len(x); k += 4 {
		var t [4]reg.VecVirtual
		for i := range t {
			t[i] = v.new()
		}
		VPUNPCKLDQ(x[k+1], x[k], t[0])
		VPUNPCKHDQ(x[k+1], x[k], t[1])
		VPUNPCKLDQ(x[k+3], x[k+2], t[2])
		VPUNPCKHDQ(x[k+3], x[k+2], t[3])
		for i := range 4 {
			x[k+i] = v.new()
		}
		VPUNPCKLQDQ(t[2], t[0], x[k])
		VPUNPCKHQDQ(t[2], t[0], x[k+1])
		VPUNPCKLQDQ(t[3], t[1], x[k+2])
		VPUNPCKHQDQ(t[3], t[1], x[k+3])
	}
	// Now x[k+i] has word 4j+i of rows k to k+3 in its 128 bits j: transpose those.
	out := make([]reg.VecVirtual, len(x))
	for i := range 4 {
		if !v.wide() {
			out[i], out[4+i] = v.new(), v.new()
			VPERM2I128(Imm(0x20), x[4+i], x[i], out[i])
			VPERM2I128(Imm(0x31), x[4+i], x[i], out[4+i])
			continue
		}
		shuffle := func(sel uint64, a, b reg.VecVirtual) reg.VecVirtual {
			r := v.new()
			VSHUFI32X4(Imm(sel), b, a, r)
			return r
		}
		a, b := shuffle(0x88, x[i], x[4+i]), shuffle(0x88, x[8+i], x[12+i])
		c, d := shuffle(0xdd, x[i], x[4+i]), shuffle(0xdd, x[8+i], x[12+i])
		out[i], out[8+i] = shuffle(0x88, a, b), shuffle(0xdd, a, b)
		out[4+i], out[12+i] = shuffle(0x88, c, d), shuffle(0xdd, c, d)
	}
	return out
}

// parent compresses two chaining values into their parent's.
func (v *isa) parent() {
	v.begin("parent", "cv *[8][16]uint32, key *[8]uint32, left, right *[8][16]uint32, flags uint32", "compresses two chaining values of every lane into their parent's. cv may be one of them.")
	left, right := v.words(pointer("left")), v.words(pointer("right"))
	s := v.newState(pointer("cv"))
	var message []reg.VecVirtual
	for i, m := range append(left[:], right[:]...) {
		r := v.load(m)
		if v.wide() {
			message = append(message, r)
		} else {
			v.move(r, s.message.Offset(v.bytes()*i))
		}
	}
	s.key(pointer("key"))
	zero, length, flags := GP32(), GP32(), number("flags")
	XORL(zero, zero)
	MOVL(U32(64), length)
	s.compress(message, zero, zero, length, flags)
	if v.wide() {
		s.store()
	}
	v.end()
}

// digests writes chaining values lane by lane.
func (v *isa) digests() {
	v.begin("digests", "out *[32]byte, cv *[8][16]uint32", "writes the chaining value of each lane, 32 bytes each.")
	out, cv := pointer("out"), v.words(pointer("cv"))
	if !v.wide() {
		var x []reg.VecVirtual
		for _, m := range cv {
			x = append(x, v.load(m))
		}
		for i, r := range v.transpose(x) {
			v.move(r, Mem{Base: out, Disp: 32 * i})
		}
		v.end()
		return
	}
	// Eight lanes at a time, as on AVX2.
	for half := range 2 {
		var x []reg.VecVirtual
		for _, m := range cv {
			r := YMM()
			VMOVDQU(m.Offset(32*half), r)
			x = append(x, r)
		}
		for i, r := range avx2.transpose(x) {
			VMOVDQU(r, Mem{Base: out, Disp: 32 * (8*half + i)})
		}
	}
	v.end()
}
