package goldilocks

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/frontend/cs/scs"
	"github.com/consensys/gnark/logger"

	"github.com/ixprove/ixprove/verifier/field"
)

func TestMain(m *testing.M) {
	logger.Disable()
	os.Exit(m.Run())
}

var order = ecc.BN254.ScalarField()

// program is a circuit over given inputs.
type program struct {
	In      []frontend.Variable
	options Options
	define  func(api frontend.API, c *Chip, in []frontend.Variable)
}

func (p *program) Define(api frontend.API) error {
	p.define(api, New(api, p.options), p.In)
	return nil
}

// form is a backend and a way to check ranges.
type form struct {
	name    string
	builder frontend.NewBuilder
	options Options
}

var forms = func() (out []form) {
	for _, limbs := range []int{0, 8, 13} {
		out = append(out, form{fmt.Sprintf("r1cs, limbs of %d", limbs), r1cs.NewBuilder[constraint.U64], Options{limbs}},
			form{fmt.Sprintf("scs, limbs of %d", limbs), scs.NewBuilder[constraint.U64], Options{limbs}})
	}
	return out
}()

// compiled is a program under a form.
type compiled struct {
	constraint.ConstraintSystem
	inputs int
}

func (f form) compile(t testing.TB, inputs int, define func(api frontend.API, c *Chip, in []frontend.Variable)) compiled {
	t.Helper()
	ccs, err := frontend.Compile(order, f.builder, &program{In: make([]frontend.Variable, inputs), options: f.options, define: define})
	if err != nil {
		t.Fatal(err)
	}
	return compiled{ccs, inputs}
}

// solve reports whether the program has a witness for the inputs.
func (c compiled) solve(t testing.TB, in []*big.Int, o ...solver.Option) bool {
	t.Helper()
	if len(in) != c.inputs {
		t.Fatalf("%d inputs, want %d", len(in), c.inputs)
	}
	p := &program{}
	for _, x := range in {
		p.In = append(p.In, x)
	}
	w, err := frontend.NewWitness(p, order)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Solve(w, o...)
	return err == nil
}

func number(x uint64) *big.Int { return new(big.Int).SetUint64(x) }

func minus(a *big.Int, b int64) *big.Int { return new(big.Int).Sub(a, big.NewInt(b)) }

// edges are words with something special about them.
var edges = []uint64{0, 1, 2, 1<<32 - 1, 1 << 32, field.Modulus - 1, field.Modulus, field.Modulus + 1, 1<<64 - 1, 1 << 63}

func word(g *rand.Rand) uint64 {
	if g.IntN(3) == 0 {
		return edges[g.IntN(len(edges))]
	}
	return g.Uint64()
}

// TestArithmetic runs random programs over elements of both kinds and compares each value with the field's.
func TestArithmetic(t *testing.T) {
	const words, steps = 12, 60
	for seed := range uint64(3) {
		for _, f := range forms {
			g := rand.New(rand.NewPCG(seed, 1))
			var in []*big.Int
			var values []field.Element
			for range words {
				x := word(g)
				in, values = append(in, number(x)), append(values, field.New(x))
			}
			seedOfProgram := g.Uint64()
			var expected []field.Element
			// run is the program: with a chip it makes constraints against expected values, without one it computes them.
			run := func(api frontend.API, c *Chip, vars []frontend.Variable) {
				g := rand.New(rand.NewPCG(seedOfProgram, 2))
				base, exts := append([]field.Element(nil), values...), []field.Ext{}
				var es []Element
				var xs []Ext
				if c != nil {
					for _, v := range vars[:words] {
						es = append(es, c.Word(v))
					}
				}
				at := words
				demand := func(e Element, want field.Element) {
					if c == nil {
						expected = append(expected, want)
						return
					}
					c.AssertEqual(e, c.Word(vars[at]))
					at++
				}
				for i := 0; i+3 <= words; i += 3 {
					exts = append(exts, field.Ext(base[i:i+3]))
					if c != nil {
						xs = append(xs, Ext(es[i:i+3]))
					}
				}
				for range steps {
					i, j, k := g.IntN(len(base)), g.IntN(len(base)), field.Element(g.Uint64()>>1)
					m, n := g.IntN(len(exts)), g.IntN(len(exts))
					bit := g.IntN(2)
					var want field.Element
					var wantExt field.Ext
					var make func() Element
					var makeExt func() Ext
					switch g.IntN(13) {
					case 0:
						want, make = field.Add(base[i], base[j]), func() Element { return c.Add(es[i], es[j]) }
					case 1:
						want, make = field.Sub(base[i], base[j]), func() Element { return c.Sub(es[i], es[j]) }
					case 2:
						want, make = field.Mul(base[i], base[j]), func() Element { return c.Mul(es[i], es[j]) }
					case 3:
						want, make = field.Mul(base[i], k), func() Element { return c.ScaleConstant(es[i], k) }
					case 4:
						want, make = base[i], func() Element { return c.Reduce(es[i]) }
					case 5:
						want, make = base[j], func() Element { return c.Select(bit, es[j], es[j]) }
					case 6:
						if base[i] == 0 {
							continue
						}
						want, _ = field.Inverse(base[i])
						make = func() Element { return c.Inverse(c.Reduce(es[i])) }
					case 7:
						wantExt, makeExt = field.MulExt(exts[m], exts[n]), func() Ext { return c.MulExt(xs[m], xs[n]) }
					case 8:
						wantExt = field.AddExt(field.MulExt(exts[m], exts[n]), field.SquareExt(exts[m]))
						makeExt = func() Ext { return c.DotExt([]Ext{xs[m], xs[m]}, []Ext{xs[n], xs[m]}) }
					case 9:
						wantExt, makeExt = field.SubExt(exts[m], field.MulX(exts[n])), func() Ext { return c.SubExt(xs[m], c.MulX(xs[n])) }
					case 10:
						wantExt, makeExt = field.ScaleExt(exts[m], base[i]), func() Ext { return c.MulBase(xs[m], es[i]) }
					case 11:
						if exts[m].IsZero() {
							continue
						}
						wantExt, _ = field.InverseExt(exts[m])
						makeExt = func() Ext { return c.InverseExt(c.ReduceExt(xs[m])) }
					case 12:
						wantExt = field.AddExt(field.ScaleExt(exts[m], base[i]), field.ScaleExt(exts[n], base[j]))
						makeExt = func() Ext { return c.DotBase([]Ext{xs[m], xs[n]}, []Element{es[i], es[j]}) }
					}
					var e Element
					var x Ext
					if make != nil {
						if c != nil {
							e = make()
							es = append(es, e)
						}
						base = append(base, want)
						demand(e, want)
						continue
					}
					if c != nil {
						x = makeExt()
						xs = append(xs, x)
					}
					exts = append(exts, wantExt)
					for i := range wantExt {
						demand(x[i], wantExt[i])
					}
				}
			}
			run(nil, nil, nil)
			for _, x := range expected {
				// The class counts, not the representative.
				v := uint64(x)
				if v < 1<<32-1 && g.IntN(2) == 0 {
					v += field.Modulus
				}
				in = append(in, number(v))
			}
			ccs := f.compile(t, len(in), run)
			if !ccs.solve(t, in) {
				t.Errorf("%s, seed %d: the values are not the field's", f.name, seed)
			}
			wrong := append([]*big.Int(nil), in...)
			at := words + g.IntN(len(expected))
			wrong[at] = number(uint64(field.Add(expected[at-words], 1)))
			if ccs.solve(t, wrong) {
				t.Errorf("%s, seed %d: value %d is wrong", f.name, seed, at)
			}
		}
	}
}

// verdict is an input and whether there must be a witness.
type verdict struct {
	in   *big.Int
	want bool
}

// TestDemands tries what each gadget that demands something of one number accepts, and what not.
func TestDemands(t *testing.T) {
	p, r := modulus, order
	cube := new(big.Int).Exp(p, big.NewInt(3), nil)
	fourth := new(big.Int).Mul(new(big.Int).Div(r, cube), cube) // the least x with the fourth digit of r
	double := new(big.Int).Lsh(p, 1)
	for _, c := range []struct {
		name   string
		define func(api frontend.API, c *Chip, x frontend.Variable)
		tries  []verdict
	}{
		{"a word", func(_ frontend.API, c *Chip, x frontend.Variable) { c.Word(x) },
			[]verdict{{zero, true}, {minus(powerOfTwo(64), 1), true}, {powerOfTwo(64), false}, {minus(r, 1), false}, {powerOfTwo(70), false}}},
		{"seven bits", func(_ frontend.API, c *Chip, x frontend.Variable) { c.Number(x, 7) },
			[]verdict{{zero, true}, {number(127), true}, {number(128), false}, {number(255), false}, {minus(r, 1), false}, {minus(r, 5), false}}},
		{"thirteen bits", func(_ frontend.API, c *Chip, x frontend.Variable) { c.Number(x, 13) },
			[]verdict{{number(8191), true}, {number(8192), false}, {minus(r, 1), false}}},
		{"189 bits", func(_ frontend.API, c *Chip, x frontend.Variable) { c.Number(x, 189) },
			[]verdict{{minus(powerOfTwo(189), 1), true}, {powerOfTwo(189), false}, {minus(r, 1), false}}},
		{"a canonical word", func(_ frontend.API, c *Chip, x frontend.Variable) { c.AssertCanonical(c.Word(x)) },
			[]verdict{{zero, true}, {minus(p, 1), true}, {p, false}, {minus(powerOfTwo(64), 1), false}}},
		{"a multiple of p", func(_ frontend.API, c *Chip, x frontend.Variable) { c.AssertZero(c.Number(x, 66)) },
			[]verdict{{zero, true}, {p, true}, {double, true}, {number(1), false}, {minus(p, 1), false}, {minus(double, -1), false}}},
		{"minus a multiple of p", func(_ frontend.API, c *Chip, x frontend.Variable) { c.AssertZero(c.Neg(c.Number(x, 66))) },
			[]verdict{{zero, true}, {p, true}, {double, true}, {number(1), false}, {minus(double, 1), false}}},
		{"bits", func(api frontend.API, c *Chip, x frontend.Variable) { api.FromBinary(c.Bits(x, 5)...) },
			[]verdict{{zero, true}, {number(31), true}, {number(32), false}, {minus(r, 1), false}}},
		{"low bits of a word", func(api frontend.API, c *Chip, x frontend.Variable) {
			api.AssertIsEqual(api.FromBinary(c.LowBits(c.Word(x), 5)...), 21)
		}, []verdict{{number(21), true}, {number(1<<63 + 21), true}, {number(20), false}, {number(1<<63 + 53), true}, {number(1<<63 + 37), false}}},
		{"low bits that are zero", func(_ frontend.API, c *Chip, x frontend.Variable) { c.AssertLowBitsZero(c.Word(x), 20) },
			[]verdict{{zero, true}, {number(1 << 20), true}, {number(1<<64 - 1<<20), true}, {number(1), false}, {number(1 << 19), false}}},
		{"digits to the base p", func(_ frontend.API, c *Chip, x frontend.Variable) { c.PrimeDigits(x) },
			[]verdict{{zero, true}, {minus(cube, 1), true}, {cube, true}, {minus(fourth, 1), true}, {fourth, false}, {minus(r, 1), false}}},
		{"words", func(_ frontend.API, c *Chip, x frontend.Variable) { c.Words(x) },
			[]verdict{{zero, true}, {minus(r, 1), true}, {minus(powerOfTwo(128), 1), true}, {powerOfTwo(128), true}, {new(big.Int).Lsh(new(big.Int).Rsh(r, 128), 128), true}}},
		{"an inverse", func(_ frontend.API, c *Chip, x frontend.Variable) { c.Inverse(c.Word(x)) },
			[]verdict{{one, true}, {minus(p, 1), true}, {minus(p, -1), true}, {zero, false}, {p, false}}},
		{"an inverse in E", func(_ frontend.API, c *Chip, x frontend.Variable) {
			c.InverseExt(Ext{c.Word(x), c.Constant(0), c.Word(x)})
		}, []verdict{{one, true}, {zero, false}, {p, false}}},
		{"outside F", func(_ frontend.API, c *Chip, x frontend.Variable) {
			c.AssertOutsideBase(Ext{c.Word(1), c.Constant(0), c.Word(x)})
		}, []verdict{{one, true}, {zero, false}}},
	} {
		for _, f := range forms {
			ccs := f.compile(t, 1, func(api frontend.API, chip *Chip, in []frontend.Variable) {
				c.define(api, chip, in[0])
				chip.Word(0) // there is something to look up whatever the gadget does
			})
			for _, v := range c.tries {
				if got := ccs.solve(t, []*big.Int{v.in}); got != v.want {
					t.Errorf("%s, %s: %v for %v", c.name, f.name, got, v.in)
				}
			}
		}
	}
}

// TestDigitsAndWords compares decompositions with the integers'.
func TestDigitsAndWords(t *testing.T) {
	g := rand.New(rand.NewPCG(5, 6))
	for _, f := range forms {
		ccs := f.compile(t, 8, func(api frontend.API, c *Chip, in []frontend.Variable) {
			digits, words := c.PrimeDigits(in[0]), c.Words(in[0])
			for i, d := range digits {
				api.AssertIsEqual(d.Variable(), in[1+i])
			}
			for i, w := range words {
				api.AssertIsEqual(w.Variable(), in[4+i])
			}
		})
		for range 20 {
			x := new(big.Int)
			for range 4 {
				x.Add(x.Lsh(x, 64), number(word(g)))
			}
			x.Rsh(x, 3) // below 2^253
			in := []*big.Int{x}
			rest := new(big.Int).Set(x)
			for range 3 {
				d := new(big.Int)
				rest.DivMod(rest, modulus, d)
				in = append(in, d)
			}
			for i := range 4 {
				in = append(in, number(new(big.Int).Rsh(x, uint(64*i)).Uint64()))
				if !in[4+i].IsUint64() {
					t.Fatal("not a word")
				}
			}
			for i := range 4 {
				w := new(big.Int).Rsh(x, uint(64*i))
				in[4+i] = number(w.And(w, minus(powerOfTwo(64), 1)).Uint64())
			}
			if !ccs.solve(t, in) {
				t.Errorf("%s: %v", f.name, x)
			}
		}
	}
}

// TestTable looks up every entry of a table with entries of both signs.
func TestTable(t *testing.T) {
	entries := []*big.Int{big.NewInt(5), big.NewInt(-7), powerOfTwo(48), new(big.Int).Neg(powerOfTwo(60)), zero, one, big.NewInt(3), big.NewInt(1 << 40)}
	for _, f := range forms {
		ccs := f.compile(t, 4, func(api frontend.API, c *Chip, in []frontend.Variable) {
			for _, b := range in[:3] {
				api.AssertIsBoolean(b)
			}
			e := c.Table(in[:3], entries)
			api.AssertIsEqual(e.Variable(), in[3])
			if lo, hi := e.Bounds(); lo.Cmp(entries[3]) != 0 || hi.Cmp(entries[2]) != 0 {
				t.Errorf("bounds %v, %v", lo, hi)
			}
			c.Word(0)
		})
		for i, e := range entries {
			in := []*big.Int{number(uint64(i & 1)), number(uint64(i >> 1 & 1)), number(uint64(i >> 2)), new(big.Int).Mod(e, order)}
			if !ccs.solve(t, in) {
				t.Errorf("%s: entry %d", f.name, i)
			}
		}
	}
}

// TestBounds keeps sums, multiples and products within reach, by reducing what would leave it.
func TestBounds(t *testing.T) {
	for _, f := range forms {
		in := []*big.Int{number(1<<64 - 1), number(field.Modulus - 2)}
		want := field.New(1<<64 - 1)
		ccs := f.compile(t, 3, func(api frontend.API, c *Chip, in []frontend.Variable) {
			x, y := c.Word(in[0]), c.Word(in[1])
			acc := x
			for i := range 40 {
				switch i % 4 {
				case 0:
					acc = c.Mul(acc, x)
				case 1:
					acc = c.Sum(acc, c.Mul(acc, y), c.Neg(c.Mul(y, x)))
				case 2:
					acc = c.Scale(acc, new(big.Int).Neg(powerOfTwo(90)))
				case 3:
					acc = c.Mul(acc, acc)
				}
				if !acc.fits() {
					t.Fatal("out of reach")
				}
			}
			c.AssertEqual(acc, c.Word(in[2]))
		})
		x, y, acc := want, field.Element(field.Modulus-2), want
		for i := range 40 {
			switch i % 4 {
			case 0:
				acc = field.Mul(acc, x)
			case 1:
				acc = field.Sub(field.Add(acc, field.Mul(acc, y)), field.Mul(y, x))
			case 2:
				acc = field.Neg(field.Mul(acc, field.Pow(2, 90)))
			case 3:
				acc = field.Mul(acc, acc)
			}
		}
		if !ccs.solve(t, append(in, number(uint64(acc)))) {
			t.Errorf("%s: another value", f.name)
		}
		if ccs.solve(t, append(in[:2:2], number(uint64(field.Add(acc, 1))))) {
			t.Errorf("%s: a wrong value", f.name)
		}
	}
}
