package assembly

import (
	"github.com/ixprove/ixprove/formats"
	bc "github.com/ixprove/ixprove/lang/bytecode"
)

// minusOne is -1 in the field.
const minusOne = formats.Modulus - 1

// Fib is the entry fib(n) -> the n-th Fibonacci number modulo p, as a program would first be written.
func Fib() *Program {
	p := New("fib")
	fib := p.Declare("fib", 1, 1)
	p.Define(fib, func(b *Block, n []bc.Value) {
		b.Match(n[0],
			Case(func(b *Block) { b.Return(b.Const(0)) }, 0),
			Case(func(b *Block) { b.Return(b.Const(1)) }, 1),
			Default(func(b *Block) {
				x := b.Call(fib, b.Add(n[0], b.Const(minusOne)))[0]
				y := b.Call(fib, b.Add(n[0], b.Const(minusOne-1)))[0]
				b.Return(b.Add(x, y))
			}))
	})
	p.Entry(fib, Fields(1), Fields(1))
	return p
}

// Squares is the entry squares(n) -> the sum of the squares below n, through a list in memory: cells (tag, head, tail).
func Squares() *Program {
	p := New("squares")
	build, sum, squares := p.Declare("build", 1, 1), p.Declare("sum", 1, 1), p.Declare("squares", 1, 1)
	p.Define(build, func(b *Block, n []bc.Value) {
		b.Match(n[0],
			Case(func(b *Block) { z := b.Const(0); b.Return(b.Store(z, z, z)) }, 0),
			Default(func(b *Block) {
				m := b.Sub(n[0], b.Const(1))
				b.Return(b.Store(b.Const(1), b.Mul(m, m), b.Call(build, m)[0]))
			}))
	})
	p.Define(sum, func(b *Block, list []bc.Value) {
		c := b.Load(3, list[0])
		b.Match(c[0],
			Case(func(b *Block) { b.Return(b.Const(0)) }, 0),
			Case(func(b *Block) { b.Return(b.Add(c[1], b.Call(sum, c[2])[0])) }, 1))
	})
	p.Define(squares, func(b *Block, n []bc.Value) { b.Return(b.Call(sum, b.Call(build, n[0])[0])[0]) })
	p.Entry(squares, Fields(1), Fields(1))
	return p
}

// Loop is the entry loop(n) -> a sum of n checked products and sums of words: 12 operations for each turn.
func Loop() *Program {
	p := New("loop")
	turn := p.Declare("turn", 2, 1)
	p.Define(turn, func(b *Block, a []bc.Value) {
		n, acc := a[0], a[1]
		b.Match(n,
			Case(func(b *Block) { b.Return(acc) }, 0),
			Default(func(b *Block) {
				b.At(3, "the product is too large")
				s := b.Op(bc.OpSplit, 16, 32, b.Add(b.Mul(acc, b.Const(40503)), n))
				b.Op(bc.OpRange, 32, 0, s[1])
				x := b.Op(bc.OpSplit, 16, 1, b.Add(s[0], b.Op(bc.OpBytes, 4, 0, s[1])[1]))
				b.Return(b.Call(turn, b.Sub(n, b.Const(1)), b.Add(x[0], x[1]))[0])
			}))
	})
	loop := p.Function("loop", 1, 1, func(b *Block, n []bc.Value) { b.Return(b.Call(turn, n[0], b.Const(7))[0]) })
	p.Entry(loop, []formats.ValueType{formats.TypeU32}, []formats.ValueType{formats.TypeU32})
	return p
}

// Kitchen uses every operation but calls: the entry kitchen(x u32, y u32) -> 8 values. It reads the input "data" of bytes.
func Kitchen() *Program {
	p := New("kitchen")
	p.Inputs = []bc.Input{{Name: "data", Bits: 8}}
	even := p.Function("even", 1, 1, func(b *Block, x []bc.Value) {
		l := b.Op(bc.OpHintLimbs, 2, 1, x[0])
		b.Return(b.Sub(b.Const(1), l[0]))
	})
	kitchen := p.Function("kitchen", 2, 8, func(b *Block, a []bc.Value) {
		x, y := a[0], a[1]
		b.At(2, "kitchen")
		sum := b.Op(bc.OpSplit, 32, 1, b.Add(x, y))
		product := b.Op(bc.OpSplit, 32, 32, b.Mul(x, y))
		xb, yb := b.Op(bc.OpBytes, 4, 0, x), b.Op(bc.OpBytes, 4, 0, y)
		xor := b.Op(bc.OpXor, 0, 0, xb[0], yb[0])[0]
		zero := b.Op(bc.OpIsZero, 0, 0, b.Sub(x, y))[0]
		inverse := b.Op(bc.OpHintInverse, 0, 0, b.Add(x, b.Const(1)))[0]
		b.Op(bc.OpAssertZero, 0, 0, b.Sub(b.Mul(inverse, b.Add(x, b.Const(1))), b.Const(1)))
		divided := b.Op(bc.OpHintDivMod, 1, 1, x, b.Add(y, b.Const(1)))
		b.Op(bc.OpRange, 33, 0, b.Mul(divided[0], divided[1]))
		b.Op(bc.OpHintModInverse, 1, 0, x, b.Add(y, b.Const(1)))
		b.Op(bc.OpRange, 8, 0, b.Op(bc.OpInput, 0, 0, b.Op(bc.OpIsZero, 0, 0, b.Op(bc.OpInputLength, 0, 0)[0])[0])[0])
		e := b.Hint(even, x)[0]
		b.Op(bc.OpAssertZero, 0, 0, b.Mul(e, b.Sub(e, b.Const(1))))
		chosen := b.Choose(2, zero,
			Case(func(b *Block) { b.Yield(sum[0], b.Mul(b.Mul(x, y), b.Mul(x, x))) }, 0),
			Default(func(b *Block) {
				inner := b.Choose(1, e,
					Case(func(b *Block) { b.Yield(b.Op(bc.OpXor, 0, 0, xb[1], yb[1])[0]) }, 0, 1),
					Default(func(b *Block) { b.Fail() }))
				b.Yield(inner[0], b.Load(2, b.Store(x, y))[1])
			}))
		b.Return(sum[1], product[0], product[1], xor, zero, chosen[0], chosen[1], b.Const(5))
	})
	types := Fields(8)
	for i := range 5 {
		types[i] = formats.TypeU32
	}
	p.Entry(kitchen, []formats.ValueType{formats.TypeU32, formats.TypeU32}, types)
	return p
}

// Hash is the entry hash(x) -> the results of an accelerator for x, x + 1, x + 2 and so on.
func Hash(code bc.Code) *Program {
	p := New("hash")
	args, results := map[bc.Code]int{bc.OpBlake3: 28, bc.OpSha256: 24, bc.OpPoseidon2: 12}[code], map[bc.Code]int{bc.OpBlake3: 8, bc.OpSha256: 8, bc.OpPoseidon2: 12}[code]
	hash := p.Function("hash", 1, results, func(b *Block, x []bc.Value) {
		var operands []bc.Value
		for i := range args {
			operands = append(operands, b.Add(x[0], b.Const(uint64(i))))
		}
		b.Return(b.Op(code, 0, 0, operands...)...)
	})
	p.Entry(hash, Fields(1), Fields(results))
	return p
}

// Many is the entry many(x u32) -> a field: cold functions of several shapes, and more recursive functions than have circuits of their own.
func Many(recursive int) *Program {
	p := New("many")
	var all []uint32
	for k := range recursive {
		f := p.Declare("down", 1, 1)
		p.Define(f, func(b *Block, n []bc.Value) {
			b.Match(n[0],
				Case(func(b *Block) { b.Return(b.Const(uint64(k))) }, 0),
				Default(func(b *Block) {
					m := b.Sub(n[0], b.Const(1))
					r := b.Call(f, m)[0]
					if k%3 == 0 {
						b.Op(bc.OpRange, 16, 0, m)
					}
					for range k % 5 {
						r = b.Mul(b.Mul(r, r), r)
					}
					b.Return(b.Add(r, n[0]))
				}))
		})
		all = append(all, f)
	}
	three := p.Function("three", 3, 2, func(b *Block, x []bc.Value) {
		s := b.Op(bc.OpSplit, 32, 8, b.Add(x[0], b.Add(x[1], x[2])))
		b.Return(b.Op(bc.OpIsZero, 0, 0, s[1])[0], s[0])
	})
	five := p.Function("five", 5, 1, func(b *Block, x []bc.Value) {
		bytes := b.Op(bc.OpBytes, 4, 0, x[0])
		y := b.Op(bc.OpXor, 0, 0, bytes[0], bytes[3])[0]
		b.Match(x[1], Case(func(b *Block) { b.Return(y) }, 2, 3, 5, 7), Default(func(b *Block) { b.Return(b.Mul(y, x[4])) }))
	})
	many := p.Function("many", 1, 1, func(b *Block, x []bc.Value) {
		sum := x[0]
		for _, f := range all {
			sum = b.Add(sum, b.Call(f, x[0])[0])
		}
		t := b.Call(three, x[0], x[0], x[0])
		pointer := b.Store(t...)
		for i := range 3 {
			sum = b.Add(sum, b.Call(five, t[1], b.Const(uint64(i+1)), x[0], x[0], b.Load(2, pointer)[1])[0])
		}
		b.Return(sum)
	})
	p.Entry(five, Fields(5), Fields(1))
	p.Entry(many, []formats.ValueType{formats.TypeU32}, Fields(1))
	p.Entries[0], p.Entries[1] = p.Entries[1], p.Entries[0]
	return p
}
