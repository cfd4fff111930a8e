package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
)

// TestBatchIsTheSuite compares everything that is hashed many at a time with the suite.
func TestBatchIsTheSuite(t *testing.T) {
	r := rand.New(rand.NewPCG(101, 1))
	digests := func(n int) []hash.Digest {
		out := make([]hash.Digest, n)
		for i := range out {
			for k := range out[i] {
				out[i][k] = byte(r.Uint32())
			}
		}
		return out
	}
	fast, slow := batchOf(hash.Blake3{}), oneByOne{hash.Blake3{}}
	if _, ok := fast.(blake3Batch); !ok {
		t.Fatal("the suite is not recognised")
	}
	for _, n := range []int{1, 2, 8, 15, 16, 17, 64, 100} {
		below, rows, shape := digests(2*n), digests(n), digests(1)[0]
		columns := [][]field.Element{randomColumn(r, n+3), randomColumn(r, n+3), randomColumn(r, n+3)}
		data := make([]byte, 50*n)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		for name, f := range map[string]func(b Batch, out []hash.Digest){
			"leaves": func(b Batch, out []hash.Digest) { b.Leaves(out, &shape, columns, 3) },
			"rows":   func(b Batch, out []hash.Digest) { b.Rows(out, &shape, data, 50) },
			"nodes":  func(b Batch, out []hash.Digest) { b.Nodes(out, below) },
			"inject": func(b Batch, out []hash.Digest) { b.Injections(out, below, rows) },
		} {
			got, want := make([]hash.Digest, n), make([]hash.Digest, n)
			f(fast, got)
			f(slow, want)
			if !slices.Equal(got, want) {
				t.Errorf("%d %s differ from the suite's", n, name)
			}
		}
		for _, bits := range []int{1, 5, 9} {
			first := r.Uint64()
			if got, want := fast.FindNonce(&shape, first, 10*n, bits), slow.FindNonce(&shape, first, 10*n, bits); got != want {
				t.Errorf("nonce %d, want %d", got, want)
			}
		}
	}
}
