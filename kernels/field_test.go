//go:build emulated || cuda

package kernels_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/verifier/field"
)

// extremes are the representatives at which carries and borrows change, canonical or not.
var extremes = []uint64{0, 1, 2, 1<<32 - 2, 1<<32 - 1, 1 << 32, 1<<64 - 1<<32 - 1, 1<<64 - 1<<32, field.Modulus, field.Modulus + 1, 1 << 63, 1<<64 - 2, 1<<64 - 1}

// edgy draws values of which many have extreme halves.
func edgy(r *rand.Rand) uint64 {
	half := func() uint64 {
		switch r.IntN(4) {
		case 0:
			return 0
		case 1:
			return 1<<32 - 1
		}
		return uint64(r.Uint32())
	}
	if r.IntN(4) == 0 {
		return extremes[r.IntN(len(extremes))]
	}
	return half()<<32 | half()
}

func TestFieldOperations(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(1, 2))
	var as, bs []uint64
	for _, a := range extremes {
		for _, b := range extremes {
			as, bs = append(as, a), append(bs, b)
		}
	}
	for range 5000 {
		as, bs = append(as, edgy(r)), append(bs, edgy(r))
	}
	a, b, out := from(t, d, as), from(t, d, bs), alloc[uint64](t, d, 32*len(as))
	params := struct {
		a, b, out kernels.Address
		n         uint64
	}{a.Address(), b.Address(), out.Address(), uint64(len(as))}
	check(t, kernels.Start(d, "field_check", [3]uint32{uint32((len(as) + 127) / 128), 1, 1}, [3]uint32{128, 1, 1}, 0, &params))
	got := download(t, out)
	for i := range as {
		if want := fieldResults(as[i], bs[i]); [32]uint64(got[32*i:32*i+32]) != want {
			for k := range want {
				if got[32*i+k] != want[k] {
					t.Fatalf("operation %d on %#x, %#x is %#x, want %#x", k, as[i], bs[i], got[32*i+k], want[k])
				}
			}
		}
	}
}

func fieldResults(a, b uint64) (out [32]uint64) {
	ca, cb := field.New(a), field.New(b)
	put := func(i int, v field.Element) { out[i] = uint64(v) }
	put(0, ca)
	put(1, field.Add(ca, cb))
	put(2, field.Sub(ca, cb))
	put(3, ca)
	put(4, ca)
	put(5, field.Add(ca, cb))
	put(6, field.Sub(ca, cb))
	put(7, field.Neg(ca))
	put(8, field.Mul(ca, cb))
	inverse, _ := field.Inverse(ca)
	put(9, inverse)
	put(10, field.Reduce160(a&(1<<32-1), b, a))
	sum := new(big.Int).SetUint64(a & (1<<32 - 1))
	sum.Lsh(sum, 64).Add(sum, new(big.Int).SetUint64(b)).Lsh(sum, 64).Add(sum, new(big.Int).SetUint64(a))
	sum.Add(sum, new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b)))
	sum.And(sum, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 160), big.NewInt(1)))
	put(11, field.Element(sum.Mod(sum, new(big.Int).SetUint64(field.Modulus)).Uint64()))
	x, y := field.Ext{ca, cb, field.Add(ca, cb)}, field.Ext{cb, field.Sub(cb, ca), ca}
	for i, v := range field.MulExt(x, y) {
		put(12+i, v)
	}
	ext, _ := field.InverseExt(x)
	for i, v := range ext {
		put(15+i, v)
	}
	for i, k := range []uint64{0, 6, 12, 24, 30, 31, 32, 36, 48, 63, 64, 66, 90, 95} {
		put(18+i, field.Mul(ca, field.Pow(2, k)))
	}
	return out
}
