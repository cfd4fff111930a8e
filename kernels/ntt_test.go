//go:build emulated || cuda

package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/verifier/field"
)

// transform evaluates a polynomial at the powers of w, of order len(c), in natural order: the definition, halved (Cooley and Tukey).
func transform(c []field.Element, w field.Element) []field.Element {
	n := len(c)
	if n == 1 {
		return c
	}
	even, odd := make([]field.Element, n/2), make([]field.Element, n/2)
	for i := range even {
		even[i], odd[i] = c[2*i], c[2*i+1]
	}
	even, odd = transform(even, field.Mul(w, w)), transform(odd, field.Mul(w, w))
	out, p := make([]field.Element, n), field.Element(1)
	for i := range even {
		v := field.Mul(p, odd[i])
		out[i], out[i+n/2] = field.Add(even[i], v), field.Sub(even[i], v)
		p = field.Mul(p, w)
	}
	return out
}

// interpolated is the coefficients of the polynomial with the given values on the trace domain.
func interpolated(values []field.Element, log int) []field.Element {
	w, _ := field.RootOfUnity(log)
	w, _ = field.Inverse(w)
	c := transform(values, w)
	for i := range c {
		c[i] = field.Mul(c[i], field.InverseOfTwoPower(log))
	}
	return c
}

// extension is the values of a polynomial of n coefficients on g·H in bit-reversed order.
func extension(c []field.Element, logHeight, logBlowup int) []field.Element {
	log := logHeight + logBlowup
	w, _ := field.RootOfUnity(log)
	x, p := make([]field.Element, 1<<log), field.Element(1)
	for i, v := range c {
		x[i] = field.Mul(v, p)
		p = field.Mul(p, field.Shift)
	}
	x = transform(x, w)
	out := make([]field.Element, len(x))
	for i := range out {
		out[i] = x[field.ReverseBits(uint64(i), log)]
	}
	return out
}

func compare(t *testing.T, name string, got, want []field.Element) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: value %d is %#x, want %#x", name, i, uint64(got[i]), uint64(want[i]))
		}
	}
}

func TestExtendEveryHeight(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(3, 4))
	for log := range maxTestLog + 1 {
		for _, logBlowup := range []int{1, 2, 3} {
			columns := max(1, min(1+int(r.Uint32()%7), 1<<(maxTestLog-log)))
			if log > 10 && logBlowup != 1+log%3 {
				continue
			}
			n := 1 << log
			in := elements(r, columns*n)
			name := fmt.Sprintf("%d columns of 2^%d, blowup 2^%d", columns, log, logBlowup)
			up, out := from(t, d, in), alloc[field.Element](t, d, columns*n<<logBlowup)
			check(t, d.Extend(out, up, columns, log, logBlowup))
			got := download(t, out)
			for c := range columns {
				coefficients := interpolated(in[c*n:(c+1)*n], log)
				compare(t, name, got[c*n<<logBlowup:], extension(coefficients, log, logBlowup))
			}
			compare(t, name+": the input", download(t, up), in)
			check(t, d.ExtendCoefficients(out, up, columns, log, logBlowup))
			got = download(t, out)
			for c := range columns {
				compare(t, name+", coefficients", got[c*n<<logBlowup:], extension(in[c*n:(c+1)*n], log, logBlowup))
			}
			check(t, up.Free())
			check(t, out.Free())
		}
	}
}

func TestExtendManyColumns(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(5, 6))
	for _, s := range [][3]int{{300, 3, 2}, {257, 5, 1}, {33, 8, 1}, {1, 0, 5}, {40000, 0, 1}, {70, 1, 5}} {
		columns, log, logBlowup := s[0], s[1], s[2]
		n := 1 << log
		in := elements(r, columns*n)
		up, out := from(t, d, in), alloc[field.Element](t, d, columns*n<<logBlowup)
		check(t, d.Extend(out, up, columns, log, logBlowup))
		got := download(t, out)
		for c := range columns {
			compare(t, fmt.Sprint(s), got[c*n<<logBlowup:], extension(interpolated(in[c*n:(c+1)*n], log), log, logBlowup))
		}
		check(t, up.Free())
		check(t, out.Free())
	}
}

// A transform of values that are all p-1 drives every sum to the top of its range.
func TestExtendConstants(t *testing.T) {
	d := open(t)
	for _, log := range []int{4, 10, 12} {
		n := 1 << log
		for _, v := range []field.Element{0, 1, field.Modulus - 1, 1<<32 - 1, field.Modulus - 1<<32} {
			in := make([]field.Element, n)
			for i := range in {
				in[i] = v
			}
			up, out := from(t, d, in), alloc[field.Element](t, d, 2*n)
			check(t, d.Extend(out, up, 1, log, 1))
			for i, got := range download(t, out) {
				if got != v {
					t.Fatalf("2^%d: value %d of the constant %#x is %#x", log, i, uint64(v), uint64(got))
				}
			}
			check(t, up.Free())
			check(t, out.Free())
		}
	}
}

func TestInterpolateEverySize(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(7, 8))
	for log := range maxTestLog + 1 {
		columns := 1 + log%3
		n := 1 << log
		coefficients := elements(r, columns*n)
		var values []field.Element
		for c := range columns {
			values = append(values, extension(coefficients[c*n:(c+1)*n], log, 0)...)
		}
		a := from(t, d, values)
		check(t, d.Interpolate(a, columns, log))
		compare(t, fmt.Sprintf("%d columns of 2^%d", columns, log), download(t, a), coefficients)
		check(t, a.Free())
	}
}

// Three passes, which ordinary transforms need from 2^21 on.
func TestThreePasses(t *testing.T) {
	defer kernels.SetPassLog(5)()
	d := open(t)
	r := rand.New(rand.NewPCG(9, 10))
	const log = 15
	coefficients := elements(r, 2<<log)
	in, out := from(t, d, coefficients), alloc[field.Element](t, d, 4<<log)
	check(t, d.ExtendCoefficients(out, in, 2, log, 1))
	got := download(t, out)
	var values []field.Element
	for c := range 2 {
		part := coefficients[c<<log : (c+1)<<log]
		compare(t, "extension of coefficients", got[2*c<<log:], extension(part, log, 1))
		values = append(values, extension(part, log, 0)...)
	}
	check(t, d.Extend(out, in, 2, log, 1))
	got = download(t, out)
	for c := range 2 {
		compare(t, "extension of values", got[2*c<<log:], extension(interpolated(coefficients[c<<log:(c+1)<<log], log), log, 1))
	}
	check(t, in.Upload(values))
	check(t, d.Interpolate(in, 2, log))
	compare(t, "interpolation", download(t, in), coefficients)
}

// plain is a device whose blocks have less shared memory.
type plain struct{ kernels.Driver }

func (p plain) Info() kernels.Info {
	info := p.Driver.Info()
	info.SharedBytes = 99 << 10
	return info
}

// Column passes of 2^10, on devices with much and with less shared memory.
func TestLargestColumnPasses(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 46))
	const log = 20
	coefficients := elements(r, 1<<log)
	w, _ := field.RootOfUnity(log)
	values, shifted, want := transform(coefficients, w), extension(coefficients, log, 0), extension(coefficients, log, 1)
	for _, wide := range []bool{true, false} {
		driver, err := newDriver()
		check(t, err)
		if !wide {
			driver = plain{driver}
		}
		d := kernels.New(driver)
		in, out := from(t, d, values), alloc[field.Element](t, d, 2<<log)
		check(t, d.Extend(out, in, 1, log, 1))
		compare(t, fmt.Sprintf("extension of values, wide %v", wide), download(t, out), want)
		check(t, in.Upload(coefficients))
		check(t, d.ExtendCoefficients(out, in, 1, log, 1))
		compare(t, fmt.Sprintf("extension of coefficients, wide %v", wide), download(t, out), want)
		check(t, in.Upload(shifted))
		check(t, d.Interpolate(in, 1, log))
		compare(t, fmt.Sprintf("interpolation, wide %v", wide), download(t, in), coefficients)
		check(t, d.Close())
	}
}

// TestTallestTransforms compares some values of the largest transforms that there are: their places and exponents of roots take the most bits.
func TestTallestTransforms(t *testing.T) {
	const log, logBlowup, n, size = tallestLog, 1, 1 << tallestLog, 2 << tallestLog
	d := open(t)
	r := rand.New(rand.NewPCG(41, 42))
	coefficients := elements(r, n)
	in, out := from(t, d, coefficients), alloc[field.Element](t, d, size)
	compareAt := func(what string, i int, want field.Element) {
		t.Helper()
		a, err := out.Slice(i, i+1)
		check(t, err)
		if got := download(t, a)[0]; got != want {
			t.Errorf("%s: value %d is %#x, want %#x", what, i, uint64(got), uint64(want))
		}
	}
	root, _ := field.RootOfUnity(log + logBlowup)
	point := func(i int) field.Element {
		return field.Mul(field.Shift, field.Pow(root, field.ReverseBits(uint64(i), log+logBlowup)))
	}
	value := func(c []field.Element, x field.Element) (v field.Element) {
		for _, k := range slices.Backward(c) {
			v = field.Add(field.Mul(v, x), k)
		}
		return v
	}
	check(t, d.ExtendCoefficients(out, in, 1, log, logBlowup))
	for _, i := range []int{0, n - 1, n, size - 1, r.IntN(size)} {
		compareAt("extension of coefficients", i, value(coefficients, point(i)))
	}
	check(t, d.Interpolate(out, 1, log+logBlowup))
	for range 100 {
		i := r.IntN(n)
		compareAt("interpolation", i, coefficients[i])
		compareAt("interpolation", n+i, 0)
	}
	// The values of a short polynomial.
	short := elements(r, 4)
	w, _ := field.RootOfUnity(log)
	for i, x := 0, field.Element(1); i < n; i, x = i+1, field.Mul(x, w) {
		coefficients[i] = value(short, x)
	}
	check(t, in.Upload(coefficients))
	check(t, d.Extend(out, in, 1, log, logBlowup))
	for range 100 {
		i := r.IntN(size)
		compareAt("extension of values", i, value(short, point(i)))
	}
}
