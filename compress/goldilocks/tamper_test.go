package goldilocks

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"
)

// everything uses each gadget of the chip that hints, on inputs whose values do not matter.
func everything(_ frontend.API, c *Chip, in []frontend.Variable) {
	x, y := c.Word(in[0]), c.Word(in[1])
	e := Ext{x, y, c.Word(in[2])}
	c.AssertCanonical(x)
	c.LowBits(x, 6)
	c.Bits(in[1], 64)
	c.Reduce(c.Mul(c.Mul(x, y), x))
	c.Reduce(c.Sub(c.Mul(x, y), c.Scale(x, powerOfTwo(100))))
	c.AssertEqual(c.Mul(x, y), c.Reduce(c.Mul(y, x)))
	c.Inverse(x)
	c.InverseExt(e)
	c.Quotient(e, Ext{y, x, x})
	c.ReduceExt(c.MulExt(e, e))
	c.PrimeDigits(in[3])
	c.Words(in[3])
	c.Words(in[4])
}

func everythingInputs() []*big.Int {
	x, _ := new(big.Int).SetString("123456789abcdef00fedcba987654321123456789abcdef00fedcba987654321", 16)
	return []*big.Int{number(0x123456789abcdef0), number(0xfffffffe00001234), number(77), x, minus(powerOfTwo(128), 5)}
}

// call is a call of a hint, by the order in which the solver, with one worker, makes them.
type call struct {
	hint    string
	number  int
	outputs int
	width   string // of digits
}

// override replaces the outputs of a call of a hint. Each call is told to seen.
func override(name string, change func(number int, in, out []*big.Int)) solver.Option {
	h, number := hints[name], 0
	return solver.OverrideHint(solver.GetHintID(h), func(field *big.Int, in, out []*big.Int) error {
		if err := h(field, in, out); err != nil {
			return err
		}
		change(number, in, out)
		number++
		for _, x := range out {
			x.Mod(x, field)
		}
		return nil
	})
}

// TestTamperedHints gives each output of each call of each hint wrong values, alone and with another output of the call that makes up for it, in every form: there is no witness.
func TestTamperedHints(t *testing.T) {
	add := func(k *big.Int) func(x *big.Int) { return func(x *big.Int) { x.Add(x, k) } }
	// single lists wrong values that are of no other use: of a number that stands for a class modulo p, another representative of 64 bits would be as good.
	single := map[string]func(x *big.Int){
		"1 more": add(one), "1 less": add(big.NewInt(-1)), "2^16 more": add(big.NewInt(1 << 16)), "2^64 more": add(powerOfTwo(64)), "p less": add(new(big.Int).Neg(modulus)),
		"3 p more": add(new(big.Int).Mul(modulus, big.NewInt(3))), "2^200 more": add(powerOfTwo(200)), "half of r more": add(new(big.Int).Rsh(order, 1)), "r/p more": add(new(big.Int).Div(order, modulus)),
		"1/2 more": add(new(big.Int).ModInverse(big.NewInt(2), order)), "1/p more": add(new(big.Int).ModInverse(modulus, order)),
		"the negative": func(x *big.Int) { x.Neg(x) }, "zero": func(x *big.Int) { x.SetInt64(0) }, "minus one": func(x *big.Int) { x.SetInt64(-1) },
	}
	// pairs change outputs i and i + 1 so that they mean the same to some sum.
	width := func(in []*big.Int) int { return int(in[0].Uint64()) }
	pairs := map[string][]func(in, out []*big.Int, i int){
		"digits of a power of two": {
			func(in, out []*big.Int, i int) {
				out[i].Add(out[i], powerOfTwo(width(in)))
				out[i+1].Sub(out[i+1], one)
			},
			func(in, out []*big.Int, i int) {
				out[i].Sub(out[i], powerOfTwo(width(in)))
				out[i+1].Add(out[i+1], one)
			},
		},
		"digits of p": {
			func(_, out []*big.Int, i int) { out[i].Add(out[i], modulus); out[i+1].Sub(out[i+1], one) },
			func(_, out []*big.Int, i int) { out[i].Sub(out[i], modulus); out[i+1].Add(out[i+1], one) },
		},
		"multiplicities": {
			func(_, out []*big.Int, i int) { out[i].Add(out[i], one); out[i+1].Sub(out[i+1], one) },
			func(_, out []*big.Int, i int) {
				out[i], out[i+1] = out[i+1].Add(out[i+1], one), out[i].Sub(out[i], one)
			},
		},
		"quotient in E": {
			func(_, out []*big.Int, i int) { out[i].Add(out[i], one); out[i+1].Sub(out[i+1], one) },
			func(_, out []*big.Int, i int) { out[i].Sub(out[i], big.NewInt(2)); out[i+1].Add(out[i+1], one) },
		},
	}
	// whole replaces all outputs by those for other integers that are the input modulo r.
	whole := map[string]func(in, out []*big.Int, times int64) error{}
	for _, name := range []string{"digits of a power of two", "digits of p", "remainder"} {
		whole[name] = func(in, out []*big.Int, times int64) error {
			other := append([]*big.Int(nil), in...)
			last := len(other) - 1
			other[last] = new(big.Int).Add(other[last], new(big.Int).Mul(order, big.NewInt(times)))
			return hints[name](order, other, out)
		}
	}
	for _, f := range forms[:5] { // the largest table costs the most time, once is enough
		ccs := f.compile(t, 5, everything)
		in := everythingInputs()
		one := solver.WithNbTasks(1)
		for name := range hints {
			var calls []call
			record := override(name, func(number int, in, out []*big.Int) {
				calls = append(calls, call{name, number, len(out), in[0].String()})
			})
			if !ccs.solve(t, in, one, record) {
				t.Fatalf("%s: the honest witness is none", f.name)
			}
			if len(calls) == 0 && !(name == "multiplicities" && f.options.LimbBits == 0) {
				t.Errorf("%s: the hint %q is not used", f.name, name)
			}
			tries, kinds := 0, map[string]int{}
			refuse := func(c call, what string, change func(in, out []*big.Int)) {
				changed := false
				if ccs.solve(t, in, one, override(name, func(number int, in, out []*big.Int) {
					if number != c.number {
						return
					}
					before := fmt.Sprint(out)
					change(in, out)
					for _, x := range out {
						x.Mod(x, order)
					}
					changed = fmt.Sprint(out) != before
				})) && changed {
					t.Errorf("%s: hint %q, call %d: %s is accepted", f.name, name, c.number, what)
				}
				tries++
			}
			for _, c := range calls {
				kind := fmt.Sprint(c.outputs)
				if name == "digits of a power of two" {
					kind += " of " + c.width
				}
				if kinds[kind]++; kinds[kind] > 2 { // two calls of each kind
					continue
				}
				for i := range min(c.outputs, 300) {
					if step := c.outputs/3 + 1; i%step != 0 && i+1 != c.outputs {
						continue
					}
					for what, change := range single {
						refuse(c, fmt.Sprintf("output %d: %s", i, what), func(_, out []*big.Int) { change(out[i]) })
					}
					for n, change := range pairs[name] {
						if i+1 < c.outputs {
							refuse(c, fmt.Sprintf("pair %d at output %d", n, i), func(in, out []*big.Int) { change(in, out, i) })
						}
					}
				}
				for _, times := range []int64{-1, 1, 2, 3} {
					if other := whole[name]; other != nil {
						refuse(c, fmt.Sprintf("those of the input plus %d r", times), func(in, out []*big.Int) {
							if err := other(in, out, times); err != nil {
								t.Fatal(err)
							}
						})
					}
				}
			}
			t.Logf("%s: %q, %d calls, %d changes", f.name, name, len(calls), tries)
		}
	}
}

// TestOtherBorrow gives Words the words of x + r with the one borrow, no bit, that both comparisons by halves would take.
func TestOtherBorrow(t *testing.T) {
	last := minus(order, 1)
	high := new(big.Int).Rsh(last, 128)
	for _, f := range forms[:4] {
		ccs := f.compile(t, 1, func(_ frontend.API, c *Chip, in []frontend.Variable) { c.Words(in[0]) })
		in := []*big.Int{number(12345)}
		digits := override("digits of a power of two", func(_ int, in, out []*big.Int) {
			if in[0].Cmp(number(64)) == 0 {
				if err := digitsHint(order, []*big.Int{in[0], new(big.Int).Add(in[1], order)}, out); err != nil {
					t.Fatal(err)
				}
			}
		})
		borrow := override("borrow", func(_ int, _, out []*big.Int) { out[0].Neg(high) })
		if !ccs.solve(t, in) || ccs.solve(t, in, digits, borrow) {
			t.Errorf("%s: other words than those of the integer below r", f.name)
		}
	}
}
