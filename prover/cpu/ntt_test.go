package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ixprove/ixprove/verifier/field"
)

// TestTransforms compares the transforms with sums over all points, and with a sample of points where blocks are recursed into.
func TestTransforms(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 1))
	for log := 0; log <= 15; log++ {
		n := 1 << log
		coeff := randomColumn(r, n)
		coeff[r.IntN(n)] = field.Modulus - 1
		values := slices.Clone(coeff)
		table := roots(log)
		forward(values, table.forward, 1)
		for k := range n {
			i := k
			if log > 10 {
				if k == 64 {
					break
				}
				i = r.IntN(n)
			}
			if want := horner(coeff, field.Pow(root(log), field.ReverseBits(uint64(i), log))); values[i] != want {
				t.Fatalf("2^%d values, value %d: %d, want %d", log, i, values[i], want)
			}
		}
		inverse(values, table.inverse, 1)
		for i, v := range values {
			if field.Mul(v, field.InverseOfTwoPower(log)) != coeff[i] {
				t.Fatalf("2^%d values: coefficient %d does not come back", log, i)
			}
		}
		// The other way round, on values that came from no transform.
		values = randomColumn(r, n)
		kept := slices.Clone(values)
		inverse(values, table.inverse, 1)
		forward(values, table.forward, 1)
		for i, v := range values {
			if field.Mul(v, field.InverseOfTwoPower(log)) != kept[i] {
				t.Fatalf("2^%d values: value %d does not come back", log, i)
			}
		}
	}
}

// TestStride runs transforms with a larger table than theirs.
func TestStride(t *testing.T) {
	r := rand.New(rand.NewPCG(42, 1))
	for _, log := range []int{1, 3, 12, 13, 14} {
		a := randomColumn(r, 1<<log)
		b := slices.Clone(a)
		forward(a, roots(log).forward, 1)
		forward(b, roots(log+2).forward, 4)
		if !slices.Equal(a, b) {
			t.Errorf("2^%d: forward depends on the table", log)
		}
		inverse(a, roots(log).inverse, 1)
		inverse(b, roots(log+2).inverse, 4)
		if !slices.Equal(a, b) {
			t.Errorf("2^%d: inverse depends on the table", log)
		}
	}
}

func TestBitReverse(t *testing.T) {
	for log := range 8 {
		src, dst := make([]field.Element, 1<<log), make([]field.Element, 1<<log)
		for i := range src {
			src[i] = field.Element(i)
		}
		bitReverse(dst, src, log)
		for i, v := range dst {
			back := 0
			for k := range log {
				back |= i >> k & 1 << (log - 1 - k)
			}
			if int(v) != back {
				t.Errorf("2^%d: position %d holds %d, want %d", log, i, v, back)
			}
		}
	}
}

// TestExtension compares both extensions with the polynomial's values at g·ω^rev(j).
func TestExtension(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 1))
	for logHeight := 0; logHeight <= 7; logHeight++ {
		for logBlowup := 1; logBlowup <= 3; logBlowup++ {
			n, log := 1<<logHeight, logHeight+logBlowup
			c, err := newCosets(&arena{}, logHeight, logBlowup)
			if err != nil {
				t.Fatal(err)
			}
			coeff := randomColumn(r, n)
			kept := slices.Clone(coeff)
			trace := make([]field.Element, n)
			for i := range trace {
				trace[i] = horner(coeff, field.Pow(root(logHeight), uint64(i)))
			}
			if !slices.Equal(interpolate(trace), coeff) {
				t.Fatal("the reference interpolation is wrong")
			}
			fromCoefficients, fromTrace := make([]field.Element, 1<<log), make([]field.Element, 1<<log)
			c.extend(fromCoefficients, coeff)
			keptTrace := slices.Clone(trace)
			c.extendTrace(fromTrace, trace, make([]field.Element, n))
			if !slices.Equal(coeff, kept) || !slices.Equal(trace, keptTrace) {
				t.Fatal("an extension changed its input")
			}
			for j := range 1 << log {
				want := horner(coeff, pointOf(log, j))
				if fromCoefficients[j] != want || fromTrace[j] != want {
					t.Fatalf("height 2^%d, blowup 2^%d, point %d: %d and %d, want %d", logHeight, logBlowup, j, fromCoefficients[j], fromTrace[j], want)
				}
			}
		}
	}
}
