package assembly

import (
	"math/rand/v2"

	bc "github.com/ixprove/ixprove/lang/bytecode"
)

// Random is a program that draws its shape from r: its entry, the last function, has two parameters and one result, ends for all small arguments and fails for none.
func Random(r *rand.Rand) *Program {
	p := New("random")
	p.Inputs = []bc.Input{{Name: "data", Bits: 32}}
	n := 2 + r.IntN(4)
	for k := range n {
		params, results := 1+r.IntN(3), 1+r.IntN(2)
		if k == n-1 {
			params, results = 2, 1
		}
		f := p.Declare("f", params, results)
		recursive := r.IntN(3) == 0
		p.Define(f, func(b *Block, x []bc.Value) {
			g := &random{r: r, p: p, results: results, depth: 3}
			if !recursive {
				g.block(b, x)
				return
			}
			// The first parameter counts down from a small number.
			count := b.Op(bc.OpHintLimbs, 1, 3, x[0])[0]
			b.Op(bc.OpRange, 3, 0, count)
			b.Match(count,
				Case(func(b *Block) { g.block(b, x) }, 0, 5),
				Default(func(b *Block) {
					args := append([]bc.Value{b.Sub(count, b.Const(1))}, x[1:]...)
					g.block(b, append(x, b.Call(f, args...)...))
				}))
		})
	}
	p.Entry(uint32(n-1), Fields(2), Fields(1))
	return p
}

type random struct {
	r       *rand.Rand
	p       *Program
	results int
	depth   int
}

func (g *random) pick(x []bc.Value) bc.Value { return x[g.r.IntN(len(x))] }

// small is a value below 2^bits that comes of another.
func (g *random) small(b *Block, x []bc.Value, bits int) bc.Value {
	return b.Op(bc.OpHintLimbs, 1, uint64(bits), g.pick(x))[0]
}

// block writes some operations and an end.
func (g *random) block(b *Block, x []bc.Value) {
	x = append([]bc.Value(nil), x...)
	for range g.r.IntN(8) {
		x = append(x, g.op(b, x)...)
	}
	if g.depth > 0 && g.r.IntN(3) == 0 {
		g.depth--
		b.Match(g.scrutinee(b, x), g.arms(func(b *Block) { g.block(b, x) })...)
		g.depth++
		return
	}
	var out []bc.Value
	for range g.results {
		out = append(out, g.pick(x))
	}
	b.Return(out...)
}

func (g *random) scrutinee(b *Block, x []bc.Value) bc.Value {
	v := g.small(b, x, 2)
	if g.r.IntN(2) == 0 {
		v = b.Mul(v, v)
	}
	return v
}

// arms are a few cases and a default.
func (g *random) arms(body func(b *Block)) []Arm {
	values := g.r.Perm(5)
	var arms []Arm
	for len(values) > 0 && g.r.IntN(4) > 0 {
		n := 1 + g.r.IntN(min(3, len(values)))
		var c []uint64
		for _, v := range values[:n] {
			c = append(c, uint64(v))
		}
		arms, values = append(arms, Case(body, c...)), values[n:]
	}
	return append(arms, Default(body))
}

func (g *random) op(b *Block, x []bc.Value) []bc.Value {
	switch g.r.IntN(18) {
	case 0:
		return []bc.Value{b.Const(g.r.Uint64N(10))}
	case 1, 2:
		return []bc.Value{b.Add(g.pick(x), g.pick(x))}
	case 3:
		return []bc.Value{b.Sub(g.pick(x), g.pick(x))}
	case 4, 5:
		return []bc.Value{b.Mul(g.pick(x), g.pick(x))}
	case 6:
		return b.Op(bc.OpIsZero, 0, 0, g.pick(x))
	case 7:
		v := g.pick(x)
		b.Op(bc.OpAssertZero, 0, 0, b.Mul(b.Sub(v, v), g.pick(x)))
	case 8:
		bits := 1 + g.r.IntN(32)
		b.Op(bc.OpRange, uint64(bits+g.r.IntN(30)), 0, g.small(b, x, bits))
	case 9:
		low, high := 1+g.r.IntN(32), 1+g.r.IntN(31)
		return b.Op(bc.OpSplit, uint64(low), uint64(high), g.small(b, x, min(low+high, 63)))
	case 10:
		return b.Op(bc.OpSplit, 32, 32, g.pick(x))
	case 11:
		n := 1 + g.r.IntN(7)
		return b.Op(bc.OpBytes, uint64(n), 0, g.small(b, x, 8*n))
	case 12:
		return b.Op(bc.OpXor, 0, 0, g.small(b, x, 8), g.small(b, x, 8))
	case 13:
		p := b.Store(g.pick(x), g.pick(x))
		return append(b.Load(2, p), g.pick(x))
	case 14, 15:
		if n := len(g.p.Functions) - 1; n > 0 {
			f := uint32(g.r.IntN(n))
			var args []bc.Value
			for range g.p.Functions[f].Params {
				args = append(args, g.pick(x))
			}
			if g.r.IntN(3) == 0 {
				return b.Hint(f, args...)
			}
			return b.Call(f, args...)
		}
	case 16:
		if g.depth > 0 {
			g.depth--
			defer func() { g.depth++ }()
			n := 1 + g.r.IntN(2)
			return b.Choose(n, g.scrutinee(b, x), g.arms(func(b *Block) {
				y := append([]bc.Value(nil), x...)
				for range g.r.IntN(5) {
					y = append(y, g.op(b, y)...)
				}
				var out []bc.Value
				for range n {
					out = append(out, g.pick(y))
				}
				b.Yield(out...)
			})...)
		}
	case 17:
		return b.Op(bc.OpInput, 0, 0, g.small(b, x, 1))
	}
	return nil
}
