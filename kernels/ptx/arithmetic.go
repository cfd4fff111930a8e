package ptx

import (
	"strconv"
	"unsafe"

	"github.com/ixprove/ixprove/verifier/field"
)

// function is the body of a kernel while it is written. Every register is written once.
type function struct {
	text                  []byte
	halves, wides, truths int // registers so far, of 32 and 64 bits and of one
}

// half is a 32-bit operand: the register of that number, or the immediate value where the number is 0. The zero half is zero.
type half struct {
	register  int
	immediate uint32
}

// wide is a 64-bit register, and truth a predicate.
type (
	wide  int
	truth int
)

// word is a 64-bit value: a representative of a field element, of any range unless it is known to be canonical.
type word struct {
	lo, hi    half
	canonical bool
}

type ext [3]word

func immediate(v uint32) half { return half{immediate: v} }

func constant(v field.Element) word {
	return word{immediate(uint32(v)), immediate(uint32(v >> 32)), true}
}

func (w word) zero() bool { return w.lo == half{} && w.hi == half{} }

// value is the constant that a word is, if it is one.
func (w word) value() (field.Element, bool) {
	return field.Element(uint64(w.hi.immediate)<<32 | uint64(w.lo.immediate)), w.lo.register == 0 && w.hi.register == 0
}

// constants are the values of two words, if both are constants.
func constants(a, b word) (x, y field.Element, both bool) {
	x, isX := a.value()
	y, isY := b.value()
	return x, y, isX && isY
}

func (f *function) half() half   { f.halves++; return half{register: f.halves} }
func (f *function) wide() wide   { f.wides++; return wide(f.wides) }
func (f *function) truth() truth { f.truths++; return truth(f.truths) }

// line writes an instruction: operands are half, wide, truth, int (an immediate), or text that stands as it is.
func (f *function) line(op string, operands ...any) {
	f.text = append(f.text, op...)
	for i, o := range operands {
		f.text = append(f.text, " ,"[min(i, 1)])
		switch o := o.(type) {
		case half:
			if o.register == 0 {
				f.text = strconv.AppendUint(f.text, uint64(o.immediate), 10)
			} else {
				f.text = strconv.AppendInt(append(f.text, "%r"...), int64(o.register), 10)
			}
		case wide:
			f.text = strconv.AppendInt(append(f.text, "%d"...), int64(o), 10)
		case truth:
			f.text = strconv.AppendInt(append(f.text, "%p"...), int64(o), 10)
		case int:
			f.text = strconv.AppendInt(f.text, int64(o), 10)
		case string:
			f.text = append(f.text, o...)
		}
	}
	f.text = append(f.text, ";\n"...)
}

// do writes an instruction whose result is a new register.
func (f *function) do(op string, operands ...any) half {
	r := f.half()
	f.line(op, append([]any{r}, operands...)...)
	return r
}

func (f *function) doWide(op string, operands ...any) wide {
	r := f.wide()
	f.line(op, append([]any{r}, operands...)...)
	return r
}

// Parameters is the beginning of a kernel's parameter block; periodic columns and challenges follow. Pitches are bytes from one column to the next.
type Parameters struct {
	Main, Fixed, Aux, Out, Denominators uint64
	First, Inverses, Roots              uint64 // the first row's selector, 1/Z on each slab, the tables of roots
	Back                                uint64 // 1/w: where the transition selector is zero
	PerRow                              field.Ext
	Count, FirstRow                     uint32
	LogHeight, Pitch                    uint32
	OutPitch, DenominatorPitch          uint32
}

// HeaderBytes is the size of Parameters.
const HeaderBytes = int(unsafe.Sizeof(Parameters{}))

var header Parameters

func (f *function) parameter(offset uintptr) half {
	return f.do("ld.param.u32", "[p+"+strconv.Itoa(int(offset))+"]")
}

func (f *function) address(offset uintptr) wide {
	return f.doWide("ld.param.u64", "[p+"+strconv.Itoa(int(offset))+"]")
}

func (f *function) wordAt(offset uintptr) word {
	return word{f.parameter(offset), f.parameter(offset + 4), true}
}

func (f *function) load(op string, at wide) word {
	w := word{f.half(), f.half(), true}
	f.line(op, "{%r"+strconv.Itoa(w.lo.register)+"", "%r"+strconv.Itoa(w.hi.register)+"}", "["+"%d"+strconv.Itoa(int(at))+"]")
	return w
}

func (f *function) store(at wide, w word) {
	w = f.inRegisters(w)
	f.line("st.global.v2.u32", "[%d"+strconv.Itoa(int(at))+"]", "{%r"+strconv.Itoa(w.lo.register), "%r"+strconv.Itoa(w.hi.register)+"}")
}

func (f *function) inRegisters(w word) word {
	for _, h := range []*half{&w.lo, &w.hi} {
		if h.register == 0 {
			*h = f.do("mov.u32", *h)
		}
	}
	return w
}

// product is a·b, two halves.
func (f *function) product(a, b half) (lo, hi half) {
	if a.register == 0 {
		a, b = b, a
	}
	if a.register == 0 {
		v := uint64(a.immediate) * uint64(b.immediate)
		return immediate(uint32(v)), immediate(uint32(v >> 32))
	}
	d := f.doWide("mul.wide.u32", a, b)
	lo, hi = f.half(), f.half()
	f.line("mov.b64", "{%r"+strconv.Itoa(lo.register), "%r"+strconv.Itoa(hi.register)+"}", d)
	return lo, hi
}

// multiplyAdd is (hi, lo) + a·b. The carry out is there for the next instruction. It is written so that it becomes one multiply-add of the card.
func (f *function) multiplyAdd(a, b, lo, hi half) (half, half) {
	if a.register == 0 {
		a, b = b, a
	}
	if a.register == 0 {
		a = f.do("mov.u32", a)
	}
	lo = f.do("mad.lo.cc.u32", a, b, lo)
	return lo, f.do("madc.hi.cc.u32", a, b, hi)
}

// multiplyAddWithCarry is multiplyAdd with the carry that the instruction before left.
func (f *function) multiplyAddWithCarry(a, b, lo, hi half) (half, half) {
	if a.register == 0 {
		a, b = b, a
	}
	lo = f.do("madc.lo.cc.u32", a, b, lo)
	return lo, f.do("madc.hi.cc.u32", a, b, hi)
}

// Of the ranges, see cu/field.cuh: a sum of two representatives may carry twice unless one of them is at most p. Corrections are made by additions: a multiply-add of 64 bits takes twice the time of
// one, in the pipe that products fill (docs/performance.md).

// carry adds to (hi, lo) what the carry of the instruction before is worth, 2^64 = 2^32 - 1.
func (f *function) carry(lo, hi half) word {
	return f.worth(lo, hi, f.do("addc.u32", half{}, half{}), half{})
}

// worth is (hi, lo) + 2^64 c, for c of -1, 0 or 1 with the given sign.
func (f *function) worth(lo, hi, c, sign half) word {
	lo = f.do("sub.cc.u32", lo, c)
	hi = f.do("subc.u32", hi, sign)
	return word{lo: lo, hi: f.do("add.u32", hi, c)}
}

// canonical brings a word below p. Where a is p or more, a + 2^32 - 1 carries, and its low 64 bits are a - p.
func (f *function) canonical(a word) word {
	if a.canonical {
		return a
	}
	f.do("add.cc.u32", a.lo, immediate(1<<32-1))
	f.do("addc.cc.u32", a.hi, half{})
	w := f.carry(a.lo, a.hi)
	w.canonical = true
	return w
}

func (f *function) add(a, b word) word {
	x, y, known := constants(a, b)
	switch {
	case known:
		return constant(field.Add(x, y))
	case a.zero():
		return b
	case b.zero():
		return a
	case !a.canonical && !b.canonical:
		b = f.canonical(b)
	}
	lo := f.do("add.cc.u32", a.lo, b.lo)
	return f.carry(lo, f.do("addc.cc.u32", a.hi, b.hi))
}

// sub is a - b, canonical where a is.
func (f *function) sub(a, b word) word {
	x, y, known := constants(a, b)
	switch {
	case known:
		return constant(field.Sub(x, y))
	case b.zero():
		return a
	}
	b = f.canonical(b)
	lo := f.do("sub.cc.u32", a.lo, b.lo)
	hi := f.do("subc.cc.u32", a.hi, b.hi)
	return f.borrow(lo, hi, a.canonical)
}

// borrow takes from (hi, lo) what the borrow of the instruction before is worth.
func (f *function) borrow(lo, hi half, canonical bool) word {
	mask := f.do("subc.u32", half{}, half{})
	lo = f.do("sub.cc.u32", lo, mask)
	return word{lo, f.do("subc.u32", hi, half{}), canonical}
}

// sum is a sum of products and words, below 2^160: e is added up in 128 bits and t counts its carries, o counts 2^32 and k its carries, of 2^96. A product is then four
// multiply-adds of 64 bits and two counts.
type sum struct {
	e               [4]half
	t, k            half
	o               [2]half
	products, words int
}

func (f *function) accumulate(s *sum, a, b word) {
	if a.zero() || b.zero() {
		return
	}
	if x, y, known := constants(a, b); known {
		f.include(s, constant(field.Mul(x, y)))
		return
	}
	if s.products == 0 && s.words == 0 {
		s.e[0], s.e[1] = f.product(a.lo, b.lo)
		s.e[2], s.e[3] = f.product(a.hi, b.hi)
	} else {
		if a.hi.register == 0 {
			a, b = b, a
		}
		if a.hi.register == 0 {
			a = f.inRegisters(a) // now: between the instructions of a carry nothing may be written
		}
		s.e[0], s.e[1] = f.multiplyAdd(a.lo, b.lo, s.e[0], s.e[1])
		s.e[2], s.e[3] = f.multiplyAddWithCarry(a.hi, b.hi, s.e[2], s.e[3])
		if s.products > 0 || s.words > 1 { // else it is below 2^128
			s.t = f.do("addc.u32", s.t, half{})
		}
	}
	if s.products == 0 {
		s.o[0], s.o[1] = f.product(a.lo, b.hi)
	} else {
		s.o[0], s.o[1] = f.multiplyAdd(a.lo, b.hi, s.o[0], s.o[1])
		s.k = f.do("addc.u32", s.k, half{})
	}
	s.o[0], s.o[1] = f.multiplyAdd(a.hi, b.lo, s.o[0], s.o[1])
	s.k = f.do("addc.u32", s.k, half{})
	s.products++
}

// include adds a word to a sum.
func (f *function) include(s *sum, w word) {
	switch {
	case w.zero():
		return
	case s.products == 0 && s.words == 0:
		s.e[0], s.e[1] = w.lo, w.hi
	default:
		s.e[0] = f.do("add.cc.u32", s.e[0], w.lo)
		s.e[1] = f.do("addc.cc.u32", s.e[1], w.hi)
		if s.products == 0 {
			s.e[2] = f.do("addc.u32", s.e[2], half{})
		} else {
			s.e[2] = f.do("addc.cc.u32", s.e[2], half{})
			s.e[3] = f.do("addc.cc.u32", s.e[3], half{})
			s.t = f.do("addc.u32", s.t, half{})
		}
	}
	s.words++
}

// reduce is the value of a sum of fewer than 2^31 products.
func (f *function) reduce(s *sum) word {
	if s.products == 0 {
		return f.fold(s.e[0], s.e[1], s.e[2])
	}
	r := [5]half{0: s.e[0]}
	r[1] = f.do("add.cc.u32", s.e[1], s.o[0])
	r[2] = f.do("addc.cc.u32", s.e[2], s.o[1])
	if s.products == 1 && s.words <= 1 {
		r[3] = f.do("addc.u32", s.e[3], s.k)
	} else {
		r[3] = f.do("addc.cc.u32", s.e[3], s.k)
		r[4] = f.do("addc.u32", s.t, half{})
	}
	// 2^64 = 2^32 - 1, 2^96 = -1 and 2^128 = -2^32. What is left is between -2^63 - 2^32 and 2^65 - 2^33, for r4 is below 2^31.
	lo, hi, over := f.timesEpsilon(r[0], r[1], r[2])
	lo = f.do("sub.cc.u32", lo, r[3])
	hi = f.do("subc.cc.u32", hi, r[4])
	over = f.do("subc.u32", over, half{})
	return f.worth(lo, hi, over, f.do("shr.s32", over, immediate(31)))
}

// timesEpsilon is (hi, lo) + (2^32 - 1) v, and its carry.
func (f *function) timesEpsilon(lo, hi, v half) (half, half, half) {
	hi = f.do("add.cc.u32", hi, v)
	over := f.do("addc.u32", half{}, half{})
	lo = f.do("sub.cc.u32", lo, v)
	hi = f.do("subc.cc.u32", hi, half{})
	return lo, hi, f.do("subc.u32", over, half{})
}

// fold is (hi, lo) + 2^64 over.
func (f *function) fold(lo, hi, over half) word {
	if over == (half{}) {
		return word{lo: lo, hi: hi}
	}
	lo, hi, over = f.timesEpsilon(lo, hi, over)
	return f.worth(lo, hi, over, half{})
}

func (f *function) mul(a, b word) word {
	if x, y, known := constants(a, b); known {
		return constant(field.Mul(x, y))
	}
	var s sum
	f.accumulate(&s, a, b)
	return f.reduce(&s)
}

// multiple is c·a.
func (f *function) multiple(a word, c uint32) word {
	lo, mid := f.product(a.lo, immediate(c))
	o0, o1 := f.product(a.hi, immediate(c))
	mid = f.do("add.cc.u32", mid, o0)
	return f.fold(lo, mid, f.do("addc.u32", o1, half{}))
}

// doubled is an element of the extension with twice its higher coefficients, which a product by X^3 = 2 takes from one of its factors.
type doubled struct {
	ext
	twice [3]word // [1] and [2]
}

func (f *function) double(a ext) (d doubled) {
	d.ext = a
	for i := 1; i < 3; i++ {
		if !a[i].zero() {
			d.ext[i] = f.canonical(a[i])
		}
		d.twice[i] = f.add(d.ext[i], d.ext[i])
	}
	return d
}

type extSum [3]sum

// accumulateExt adds a·b.
func (f *function) accumulateExt(s *extSum, a ext, b *doubled) {
	for i := range a {
		for j := range b.ext {
			if v := b.ext[j]; i+j < 3 {
				f.accumulate(&s[i+j], a[i], v)
			} else {
				f.accumulate(&s[i+j-3], a[i], b.twice[j])
			}
		}
	}
}

func (f *function) accumulateScaled(s *extSum, a ext, v word) {
	for i := range s {
		f.accumulate(&s[i], a[i], v)
	}
}

func (f *function) includeExt(s *extSum, a ext) {
	for i := range s {
		f.include(&s[i], a[i])
	}
}

func (f *function) reduceExt(s *extSum) (r ext) {
	for i := range s {
		r[i] = f.reduce(&s[i])
	}
	return r
}

func (f *function) negate(a ext) (r ext) {
	for i := range a {
		r[i] = f.sub(constant(0), a[i])
	}
	return r
}
