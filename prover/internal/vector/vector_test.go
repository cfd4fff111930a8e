package vector

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ixprove/ixprove/verifier/field"
)

// extremes are the values at which carries and borrows change; those from p on are lazy representatives.
var extremes = []field.Element{0, 1, 2, 1<<32 - 2, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1<<63 - 1, 1 << 63, 0xffffffff << 32, field.Modulus - 2, field.Modulus - 1,
	field.Modulus, field.Modulus + 1, 1<<64 - 1<<31, 1<<64 - 2, 1<<64 - 1}

// random returns n elements, an extreme one in two.
func random(r *rand.Rand, n int, lazy bool) []field.Element {
	x := make([]field.Element, n)
	for i := range x {
		x[i] = field.Element(r.Uint64())
		switch r.IntN(4) {
		case 0, 1:
			x[i] = extremes[r.IntN(len(extremes))]
		case 2:
			x[i] &= 0xffffffff
		}
		if !lazy {
			x[i] = field.New(uint64(x[i]))
		}
	}
	return x
}

func randomExt(r *rand.Rand, n int) []field.Ext {
	x := make([]field.Ext, n)
	for i := range x {
		x[i] = field.Ext(random(r, 3, false))
	}
	return x
}

// lengths straddle registers of four and eight lanes.
var lengths = []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16, 17, 31, 33, 63, 64, 65, 127, 1000}

// guard is what a kernel must not touch.
const guard = field.Element(0x5555555555555555)

func guarded(x []field.Element) []field.Element {
	return append(slices.Clone(x), guard, guard, guard)[:len(x)]
}

func intact(t *testing.T, x []field.Element) {
	t.Helper()
	for _, v := range x[len(x) : len(x)+3] {
		if v != guard {
			t.Fatal("written past the end")
		}
	}
}

func equal(t *testing.T, got, want []field.Element, what string) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: element %d of %d is %#x, want %#x", what, i, len(want), uint64(got[i]), uint64(want[i]))
		}
	}
}

func TestElementwise(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 1))
		for _, k := range []struct {
			name    string
			lazy    bool
			f, twin func(dst, a, b []field.Element)
		}{
			{"add", false, Add, addGeneric},
			{"sub", false, Sub, subGeneric},
			{"mul", true, Mul, mulGeneric},
			{"scale", true, func(dst, a, b []field.Element) { // by the first factor
				if len(b) > 0 {
					Scale(dst, a, b[0])
				}
			}, func(dst, a, b []field.Element) {
				if len(b) > 0 {
					scaleGeneric(dst, a, b[0])
				}
			}},
		} {
			for _, n := range lengths {
				for alias := range 5 {
					a, b := random(r, n, k.lazy), random(r, n, k.lazy)
					want, x, y := make([]field.Element, n), guarded(a), guarded(b)
					dst := guarded(make([]field.Element, n))
					switch alias {
					case 1:
						dst = x
					case 2:
						dst = y
					case 3:
						y, b = x, a
					case 4:
						dst, y, b = x, x, a
					}
					k.twin(want, a, b)
					k.f(dst, x, y)
					equal(t, dst, want, fmt.Sprintf("%s, aliasing %d", k.name, alias))
					intact(t, dst)
				}
			}
		}
		// Every pair of extremes, in every lane.
		for _, a := range extremes {
			for _, b := range extremes {
				x, y := make([]field.Element, 9), make([]field.Element, 9)
				for i := range x {
					x[i], y[i] = a, b
				}
				got, want := make([]field.Element, 9), make([]field.Element, 9)
				Mul(got, x, y)
				mulGeneric(want, x, y)
				equal(t, got, want, fmt.Sprintf("%#x·%#x", uint64(a), uint64(b)))
			}
		}
	})
}

func TestExt(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(2, 2))
		for n := range Block + 1 {
			for alias := range 4 {
				var x, y, dst, want Ext
				for i := range n {
					x.Set(i, field.Ext(random(r, 3, false)))
					y.Set(i, field.Ext(random(r, 3, false)))
				}
				to, a, b := &dst, &x, &y
				switch alias {
				case 1:
					to = a
				case 2:
					to = b
				case 3:
					to, b = a, a
				}
				before := *to
				mulExtGeneric(&want, a, b, 0, n)
				MulExt(to, a, b, n)
				for i := range Block {
					if i < n && to.At(i) != want.At(i) {
						t.Fatalf("product %d of %d, aliasing %d: %v, want %v", i, n, alias, to.At(i), want.At(i))
					}
					if i >= n && to.At(i) != before.At(i) {
						t.Fatalf("element %d was written, n = %d", i, n)
					}
				}
			}
		}
	})
}

func TestInverseExt(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 3))
		for _, blocks := range []int{0, 1, 2, 5} {
			for _, n := range []int{0, 1, 7, 8, 9, Block} {
				x, was, scratch := make([]Ext, blocks), make([]Ext, blocks), make([]Ext, blocks)
				for k := range x {
					for i := range n {
						v := field.Ext(random(r, 3, false))
						if v.IsZero() {
							v[2] = 1
						}
						x[k].Set(i, v)
					}
				}
				copy(was, x)
				if !InverseExt(x, scratch, n) {
					t.Fatal("no inverse")
				}
				for k := range x {
					for i := range n {
						if field.MulExt(x[k].At(i), was[k].At(i)) != (field.Ext{1}) {
							t.Fatalf("wrong inverse %d in block %d", i, k)
						}
					}
				}
				if blocks > 0 && n > 0 {
					x[blocks/2].Set(n-1, field.Ext{})
					if InverseExt(x, scratch, n) {
						t.Fatal("zero has an inverse")
					}
				}
			}
		}
	})
}

func TestCombine(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(4, 4))
		for _, width := range []int{0, 1, 2, 7, 512, 513, 1100} {
			for _, n := range lengths[:20] {
				const first = 3
				columns := make([][]field.Element, width)
				for j := range columns {
					columns[j] = random(r, first+n, true)
				}
				k := NewCoefficients(randomExt(r, width))
				var got, want [3][]field.Element
				for c := range got {
					got[c] = guarded(random(r, n, false))
					want[c] = slices.Clone(got[c])
				}
				Combine(got, k, columns, first)
				combineGeneric(want, k, columns, first, 0)
				for c := range got {
					equal(t, got[c], want[c], fmt.Sprintf("width %d, coordinate %d", width, c))
					intact(t, got[c])
				}
			}
		}
		// The largest sums: every term is as large as it can be.
		column := slices.Repeat([]field.Element{1<<64 - 1}, 9)
		columns := slices.Repeat([][]field.Element{column}, 512)
		k := NewCoefficients(slices.Repeat([]field.Ext{{field.Modulus - 1, field.Modulus - 2, 0xffffffff}}, 512))
		var got, want [3][]field.Element
		for c := range got {
			got[c], want[c] = make([]field.Element, 9), make([]field.Element, 9)
		}
		Combine(got, k, columns, 0)
		combineGeneric(want, k, columns, 0, 0)
		for c := range got {
			equal(t, got[c], want[c], "largest")
		}
	})
}

// blocks arranges elements in blocks.
func blocks(x []field.Ext) []Ext {
	out := make([]Ext, (len(x)+Block-1)/Block)
	for i, v := range x {
		out[i/Block].Set(i%Block, v)
	}
	return out
}

func TestDot(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 5))
		w := new(Weights)
		for _, n := range append([]int{511, 512}, lengths[:20]...) {
			column := random(r, n, true)
			w.Set(blocks(randomExt(r, n)), n)
			if got, want := w.Dot(column), dotGeneric(w, column, 0); got != want {
				t.Fatalf("%d rows: %v, want %v", n, got, want)
			}
			for i := range column {
				column[i] = 1<<64 - 1
			}
			w.Set(blocks(slices.Repeat([]field.Ext{{field.Modulus - 1, field.Modulus - 2, 0xffffffff}}, n)), n)
			if got, want := w.Dot(column), dotGeneric(w, column, 0); got != want {
				t.Fatalf("%d rows, largest: %v, want %v", n, got, want)
			}
		}
	})
}

// The twin against the definition.
func TestTransformIsEvaluation(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	w := Twiddles(8)
	for log := range 8 {
		n := 1 << log
		x := random(r, n, false)
		y := slices.Clone(x)
		forwardGeneric(y, nil, nil, w)
		root, _ := field.RootOfUnity(log)
		for i := range y {
			point := field.Pow(root, field.ReverseBits(uint64(i), log))
			v := field.Element(0)
			for k := n - 1; k >= 0; k-- {
				v = field.Add(field.Mul(v, point), x[k])
			}
			if v != y[i] {
				t.Fatalf("size %d: value %d is %d, want %d", n, i, y[i], v)
			}
		}
	}
}

func TestTransforms(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 7))
		const most = 17
		w := Twiddles(most)
		for log := range most + 1 {
			n := 1 << log
			x := random(r, n, false)
			factors := random(r, n, false)
			want, got := slices.Clone(x), guarded(x)
			forwardGeneric(want, nil, nil, w)
			Forward(got, w)
			equal(t, got, want, fmt.Sprintf("size 2^%d", log))
			intact(t, got)

			// Back to n times the coefficients.
			natural, negated := make([]field.Element, n), make([]field.Element, n)
			Reverse(natural, got)
			Negate(negated, natural)
			Forward(negated, w)
			Reverse(natural, negated)
			Scale(natural, natural, field.InverseOfTwoPower(log))
			equal(t, natural, x, fmt.Sprintf("there and back, size 2^%d", log))

			forwardGeneric(want, x, factors, w)
			clear(got)
			ForwardScaled(got, x, factors, w)
			equal(t, got, want, fmt.Sprintf("scaled, size 2^%d", log))
			intact(t, got)
		}
	})
}

func BenchmarkMul(b *testing.B) {
	r := rand.New(rand.NewPCG(8, 8))
	x, y := random(r, 1<<10, false), random(r, 1<<10, false)
	perElement(b, 1<<10, func() { Mul(x, x, y) })
}

func BenchmarkAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(8, 8))
	x, y := random(r, 1<<10, false), random(r, 1<<10, false)
	perElement(b, 1<<10, func() { Add(x, x, y) })
}

func BenchmarkMulExt(b *testing.B) {
	var x, y Ext
	for i := range Block {
		x.Set(i, field.Ext{field.Element(i), 1 << 40, 7})
		y.Set(i, field.Ext{field.Element(i) << 33, 5, 1})
	}
	perElement(b, Block, func() { MulExt(&x, &x, &y, Block) })
}

func BenchmarkCombine(b *testing.B) {
	r := rand.New(rand.NewPCG(9, 9))
	columns := make([][]field.Element, 64)
	for i := range columns {
		columns[i] = random(r, 512, false)
	}
	k := NewCoefficients(randomExt(r, len(columns)))
	out := [3][]field.Element{random(r, 512, false), random(r, 512, false), random(r, 512, false)}
	perElement(b, 512*64, func() { Combine(out, k, columns, 0) })
}

func BenchmarkDot(b *testing.B) {
	r := rand.New(rand.NewPCG(10, 10))
	column := random(r, WeightRows, false)
	w := new(Weights)
	w.Set(blocks(randomExt(r, WeightRows)), WeightRows)
	perElement(b, WeightRows, func() { w.Dot(column) })
}

func BenchmarkForward(b *testing.B) {
	w := Twiddles(20)
	for _, log := range []int{10, 12, 14, 17, 20} {
		b.Run(fmt.Sprintf("2^%d", log), func(b *testing.B) {
			everyLevel(b, func(b *testing.B) {
				x := random(rand.New(rand.NewPCG(11, 11)), 1<<log, false)
				for b.Loop() {
					Forward(x, w)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(log<<(log-1)), "ns/butterfly")
			})
		})
	}
}

func BenchmarkNegate(b *testing.B) {
	x := random(rand.New(rand.NewPCG(11, 11)), 1<<17, false)
	y := slices.Clone(x)
	perElement(b, 1<<17, func() { Negate(y, x) })
}

func BenchmarkReverse(b *testing.B) {
	x := random(rand.New(rand.NewPCG(11, 11)), 1<<17, false)
	y := slices.Clone(x)
	perElement(b, 1<<17, func() { Reverse(y, x) })
}

func perElement(b *testing.B, n int, f func()) {
	everyLevel(b, func(b *testing.B) {
		for b.Loop() {
			f()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
	})
}
