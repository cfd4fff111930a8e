package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ixprove/ixprove/verifier/field"
)

// TestCoefficients compares the inverse transform with sums over all points.
func TestCoefficients(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 1))
	for log := 0; log <= 10; log++ {
		n := 1 << log
		coeff := randomColumn(r, n)
		coeff[r.IntN(n)] = field.Modulus - 1
		values := make([]field.Element, n)
		for i := range values {
			values[i] = horner(coeff, field.Pow(root(log), field.ReverseBits(uint64(i), log)))
		}
		coefficients(values)
		for i, v := range values {
			if v != coeff[i] {
				t.Fatalf("2^%d values: coefficient %d does not come back", log, i)
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
