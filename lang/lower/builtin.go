package lower

import (
	"github.com/ixprove/ixprove/lang/bytecode"
	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/lang/types"
)

// operation is an operation that a function of the standard library stands for. args are the words of its arguments.
type operation func(b *builder, f *frame, args []word, site uint32) []word

// operations lists the operations by the names that #[builtin] gives them.
var operations = map[string]operation{
	"u64.parts": func(_ *builder, _ *frame, a []word, _ uint32) []word { return a }, // also u64.join: a u64 is its halves
	"u32.bytes": func(b *builder, _ *frame, a []word, site uint32) []word { return b.bytes(a[0], 4, site) },
	"u32.join":  func(b *builder, _ *frame, a []word, _ uint32) []word { return []word{b.fromBytes(a)} },
	"u32.sum": func(b *builder, _ *frame, a []word, _ uint32) []word { // of two to five numbers, modulo 2^32
		sum := zero
		for _, w := range a {
			sum = b.add(sum, w)
		}
		low, _ := b.split(sum, 32, 3, 0)
		return []word{low}
	},
	"u32.wrapping_sub": func(b *builder, _ *frame, a []word, _ uint32) []word {
		low, _ := b.split(b.add(b.sub(a[0], a[1]), known(two32)), 32, 1, 0)
		return []word{low}
	},
	"u32.wide_mul": func(b *builder, _ *frame, a []word, _ uint32) []word {
		low, high := b.split(b.mul(a[0], a[1]), 32, 32, 0)
		return []word{low, high}
	},
	"u32.split": splitWord,
	"u32.funnel": func(b *builder, f *frame, a []word, site uint32) []word {
		low := splitWord(b, f, []word{a[0], a[2]}, site)
		high := splitWord(b, f, []word{a[1], a[2]}, site)
		return []word{b.add(low[1], b.mul(high[0], known(1<<(32-min(a[2].v, 32)))))}
	},
	"field.split": splitField,
	"u64.compare": func(b *builder, _ *frame, a []word, _ uint32) []word {
		d, ge := b.difference(a[:2], a[2:])
		return append(d, ge)
	},
	"array.set": setElement,
	"hint.div_mod": func(b *builder, f *frame, a []word, site uint32) []word {
		n := Words(f.of(f.fn.Args[0].Local.Type))
		return b.emit(bytecode.Op{Code: bytecode.OpHintDivMod, A: uint64(n), B: uint64(len(a) - n), Site: site}, a, len(a))
	},
	"hint.mod_inverse": func(b *builder, _ *frame, a []word, site uint32) []word {
		return b.emit(bytecode.Op{Code: bytecode.OpHintModInverse, A: uint64(len(a) / 2), Site: site}, a, len(a)/2)
	},
	"hint.limbs": func(b *builder, f *frame, a []word, site uint32) []word {
		return b.emit(bytecode.Op{Code: bytecode.OpHintLimbs, A: uint64(Words(f.of(f.fn.Result))), B: 8, Site: site}, a, Words(f.of(f.fn.Result)))
	},
	"blake3.compress":   accelerator(bytecode.OpBlake3),
	"sha256.compress":   accelerator(bytecode.OpSha256),
	"poseidon2.permute": accelerator(bytecode.OpPoseidon2),
}

func accelerator(code bytecode.Code) operation {
	return func(b *builder, _ *frame, a []word, site uint32) []word {
		n := 8
		if code == bytecode.OpPoseidon2 {
			n = 12
		}
		return b.emit(bytecode.Op{Code: code, Site: site}, a, n)
	}
}

// builtin makes the operation that a function without a body stands for.
func (b *builder) builtin(f *frame, at syntax.Span) []word {
	n := b.words(f.of(f.fn.Result))
	op, ok := operations[f.fn.Builtin]
	if !ok {
		b.report(&syntax.Diagnostic{Span: f.fn.Span, What: "there is no such builtin", Got: f.fn.Builtin})
		b.fail(0)
		return make([]word, n)
	}
	var args []word
	for _, a := range f.fn.Args {
		args = append(args, f.vars[a.Local]...)
	}
	if b.dead {
		return make([]word, n)
	}
	out := op(b, f, args, b.site(at, f.fn.Name+" fails"))
	if b.dead {
		return make([]word, n)
	}
	return out
}

// join puts numbers of some bits together, lowest first.
func (b *builder) join(parts []word, bits int) word {
	sum := zero
	for i, w := range parts {
		sum = b.add(sum, b.mul(w, known(1<<(bits*i))))
	}
	return sum
}

// splitWord cuts a u32 at a constant number of bits: the low ones and the others.
func splitWord(b *builder, f *frame, a []word, site uint32) []word {
	n := a[1]
	switch {
	case !n.known:
		b.report(&syntax.Diagnostic{Span: b.fn.place(), What: "the number of bits of a split or rotation is constant", Got: f.fn.Name})
		b.fail(site)
	case n.v > 32:
		b.fail(site)
	case n.v == 0:
		return []word{zero, a[0]}
	case n.v == 32:
		return []word{a[0], zero}
	default:
		low, high := b.split(a[0], int(n.v), 32-int(n.v), 0)
		return []word{low, high}
	}
	return []word{zero, zero}
}

// splitField cuts an element at a constant number of bits; what is above must have at most another constant number of bits.
func splitField(b *builder, f *frame, a []word, site uint32) []word {
	low, high := a[1], a[2]
	if !low.known || !high.known || low.v < 1 || low.v > 32 || high.v < 1 || high.v > 32 {
		b.report(&syntax.Diagnostic{Span: b.fn.place(), What: "the numbers of bits of a split are constants from 1 to 32", Got: f.fn.Name})
		b.fail(site)
		return []word{zero, zero}
	}
	l, h := b.split(a[0], int(low.v), int(high.v), site)
	return []word{l, h}
}

// setElement is an array with one element replaced.
func setElement(b *builder, f *frame, a []word, site uint32) []word {
	t := f.of(f.fn.Args[0].Local.Type).(*types.Array)
	length, _ := f.of(t.Len).(types.Length)
	size := b.words(t.Elem)
	array, i, v := a[:len(a)-1-size], a[len(a)-1-size], a[len(a)-size:]
	set := func(k int) []word {
		b.spend(len(array))
		out := append([]word(nil), array...)
		copy(out[k*size:], v)
		return out
	}
	if i.known {
		if i.v >= uint64(length) {
			b.fail(site)
			return array
		}
		return set(int(i.v))
	}
	var choices []choice
	for k := range int(length) {
		choices = append(choices, choice{[]uint64{uint64(k)}, func() []word { return set(k) }})
	}
	if choices == nil {
		b.fail(site)
		return array
	}
	return b.choose(i, choices, len(array), false, site)
}
