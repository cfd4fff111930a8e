//go:build emulated || cuda

package kernels_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/verifier/field"
)

var modulus = new(big.Int).SetUint64(field.Modulus)

// element is a number modulo p.
func element(v *big.Int) field.Element {
	return field.Element(new(big.Int).Mod(v, modulus).Uint64())
}

// limbsValue is Σ l[i] 2^(24 i).
func limbsValue(l [4]int32) *big.Int {
	v := new(big.Int)
	for i := 3; i >= 0; i-- {
		v.Lsh(v, 24).Add(v, big.NewInt(int64(l[i])))
	}
	return v
}

// Limbs at the bounds that the contracts of cu/limbs.cuh name, and factors whose halves are as large as halves can be.
func TestLimbs(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(41, 42))
	halves := []int64{-1 << 31, 1<<31 - 1, 0, 1, -1}
	for _, c := range []struct {
		bound      int64 // of the limbs
		multiplied bool
	}{{1 << 29, false}, {1<<29 - 1<<5, true}} {
		var limbs [][4]int32
		var words []uint64
		add := func(l [4]int32) {
			limbs = append(limbs, l)
			words = append(words, uint64(uint32(l[0]))|uint64(uint32(l[1]))<<32, uint64(uint32(l[2]))|uint64(uint32(l[3]))<<32)
		}
		for s := range 81 { // each limb at either bound, or zero
			var l [4]int32
			for i := range l {
				l[i] = int32(int64(s%3-1) * c.bound)
				s /= 3
			}
			add(l)
		}
		for range 400 {
			var l [4]int32
			for i := range l {
				l[i] = int32(r.Int64N(2*c.bound+1) - c.bound)
				if r.IntN(3) == 0 {
					l[i] = int32([]int64{0, -1, 1, 1<<24 - 1, -1 << 24, c.bound, -c.bound}[r.IntN(7)])
				}
			}
			add(l)
		}
		n := len(limbs)
		factors, values := make([]uint64, 4*n), make([]*big.Int, n)
		for i := range limbs {
			values[i] = new(big.Int)
			for h := range 4 {
				lo, hi := halves[r.IntN(len(halves))], halves[r.IntN(len(halves))]
				if i < 81 { // the largest of sums
					lo, hi = halves[i&1], halves[i&1]
				} else if i >= 200 {
					lo, hi = int64(int32(r.Uint32())), int64(int32(r.Uint32()))
				}
				half := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(hi), 32), big.NewInt(lo))
				values[i].Add(values[i], half.Mul(half, big.NewInt(int64(limbs[i][h]))))
				factors[2*(h/2*n+i)+h%2] = uint64(uint32(lo)) | uint64(uint32(hi))<<32
			}
		}
		out := alloc[uint64](t, d, 196*n)
		params := struct {
			limbs, factors, out kernels.Address
			n                   uint64
		}{from(t, d, words).Address(), from(t, d, factors).Address(), out.Address(), uint64(n)}
		check(t, kernels.Start(d, "limbs_check", [3]uint32{uint32(n+63) / 64, 1, 1}, [3]uint32{64, 1, 1}, 0, &params))
		got := download(t, out)
		for i, l := range limbs {
			got := got[196*i : 196*i+196]
			v := limbsValue(l)
			for e := range 192 {
				if want := element(new(big.Int).Lsh(v, uint(e))); field.Element(got[e]) != want {
					t.Fatalf("%d times 2^%d is %#x, want %#x", l, e, got[e], uint64(want))
				}
			}
			if want := element(v); field.Element(got[192]) != want {
				t.Fatalf("%d joined is %#x, want %#x", l, got[192], uint64(want))
			}
			if want := element(values[i]); c.multiplied && field.Element(got[193]) != want {
				t.Fatalf("%d times a factor is %#x, want %#x", l, got[193], uint64(want))
			}
			a, b := words[2*i], words[2*i+1]
			if want := field.New(a); field.Element(got[194]) != want {
				t.Fatalf("%#x split and joined is %#x, want %#x", a, got[194], uint64(want))
			}
			if want := field.Mul(field.New(a), field.New(b)); field.Element(got[195]) != want {
				t.Fatalf("%#x %#x is %#x, want %#x", a, b, got[195], uint64(want))
			}
		}
	}
}

// Rounds on values of the largest limbs, and on those that make single sums largest.
func TestRounds(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(43, 44))
	var in []uint64
	for _, v := range extremes {
		for range 32 {
			in = append(in, v)
		}
	}
	for k := range 32 { // all limbs add up in output k, up to the shifts
		for i := range 32 {
			in = append(in, []uint64{1<<64 - 1, 0}[i*k>>4&1])
		}
	}
	for range 32 * 100 {
		in = append(in, edgy(r))
	}
	n := len(in) / 32
	out := alloc[uint64](t, d, 124*n)
	params := struct {
		in, out kernels.Address
		n       uint64
	}{from(t, d, in).Address(), out.Address(), uint64(n)}
	check(t, kernels.Start(d, "limbs_transform", [3]uint32{uint32(n+63) / 64, 1, 1}, [3]uint32{64, 1, 1}, 0, &params))
	got := download(t, out)
	for i := range n {
		got := got[124*i : 124*i+124]
		for _, inverse := range []bool{false, true} {
			for k := 5; k >= 1; k-- {
				w, _ := field.RootOfUnity(k)
				if inverse {
					w, _ = field.Inverse(w)
				}
				values := make([]field.Element, 1<<k)
				for j := range values {
					values[j] = field.New(in[32*i+j])
				}
				for j, want := range transform(values, w) {
					if field.Element(got[j]) != want {
						t.Fatalf("input %d, round of 2^%d, inverse %v: output %d is %#x, want %#x", i, k, inverse, j, got[j], uint64(want))
					}
				}
				got = got[1<<k:]
			}
		}
	}
}
