package lanes

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	reference "github.com/zeebo/blake3"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/blake3"
	"github.com/ixprove/ixprove/verifier/field"
)

// counts of inputs straddle eight and sixteen lanes.
var counts = []int{0, 1, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 50}

func randomKey(r *rand.Rand) (key [32]byte) {
	for i := range key {
		key[i] = byte(r.Uint32())
	}
	return key
}

// guarded returns room for n digests and a check that nothing else was written.
func guarded(n int) ([]formats.Digest, func() bool) {
	all := make([]formats.Digest, n+1)
	all[n] = formats.Digest{1, 2, 3}
	return all[:n], func() bool { return all[n] == formats.Digest{1, 2, 3} }
}

func TestColumns(t *testing.T) {
	everyWidth(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 1))
		// Numbers of elements around blocks of 8, chunks of 128, and trees of up to 9 chunks.
		for _, w := range []int{0, 1, 2, 7, 8, 9, 15, 16, 17, 100, 127, 128, 129, 136, 255, 256, 257, 346, 384, 385, 512, 513, 1024, 1030} {
			for _, n := range counts {
				const first = 5
				columns := make([][]field.Element, w)
				for j := range columns {
					columns[j] = make([]field.Element, first+n)
					for i := range columns[j] {
						columns[j][i] = field.Element(r.Uint64())
					}
				}
				key := randomKey(r)
				out, intact := guarded(n)
				Columns(out, &key, columns, first)
				for i := range out {
					var row []byte
					for _, c := range columns {
						row = binary.LittleEndian.AppendUint64(row, uint64(c[first+i]))
					}
					if want := blake3.KeyedSum256(&key, row); out[i] != formats.Digest(want) {
						t.Fatalf("%d columns, row %d of %d: %x, want %x", w, i, n, out[i], want)
					}
				}
				if !intact() {
					t.Fatal("written past the end")
				}
			}
		}
	})
}

func TestRows(t *testing.T) {
	everyWidth(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(2, 2))
		for _, w := range []int{0, 1, 31, 40, 48, 63, 64, 65, 96, 127, 128, 129, 192, 1000, 1023, 1024, 1025, 3000} {
			for _, n := range counts {
				data := make([]byte, w*n)
				for i := range data {
					data[i] = byte(r.Uint32())
				}
				key := randomKey(r)
				out, intact := guarded(n)
				Rows(out, &key, data, w)
				for i := range out {
					if want := blake3.KeyedSum256(&key, data[w*i:w*(i+1)]); out[i] != formats.Digest(want) {
						t.Fatalf("%d bytes, row %d of %d: %x, want %x", w, i, n, out[i], want)
					}
				}
				if !intact() {
					t.Fatal("written past the end")
				}
			}
		}
	})
}

func TestDigests(t *testing.T) {
	everyWidth(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 3))
		for _, each := range []int{0, 1, 2, 3, 32, 33} {
			for _, n := range counts {
				in := make([]formats.Digest, each*n)
				for i := range in {
					in[i] = randomKey(r)
				}
				key := randomKey(r)
				out, intact := guarded(n)
				Digests(out, &key, in, each)
				for i := range out {
					var b []byte
					for _, d := range in[each*i : each*(i+1)] {
						b = append(b, d[:]...)
					}
					if want := blake3.KeyedSum256(&key, b); out[i] != formats.Digest(want) {
						t.Fatalf("%d digests, %d of %d: %x, want %x", each, i, n, out[i], want)
					}
				}
				if !intact() {
					t.Fatal("written past the end")
				}
			}
		}
	})
}

// An implementation that is not ours agrees.
func TestReference(t *testing.T) {
	everyWidth(t, func(t *testing.T) {
		key := [32]byte{1}
		data := make([]byte, 16*200)
		for i := range data {
			data[i] = byte(i)
		}
		out := make([]formats.Digest, 16)
		Rows(out, &key, data, 200)
		for i, got := range out {
			h, err := reference.NewKeyed(key[:])
			if err != nil {
				t.Fatal(err)
			}
			h.Write(data[200*i : 200*(i+1)])
			if string(h.Sum(nil)) != string(got[:]) {
				t.Fatalf("row %d", i)
			}
		}
	})
}

func BenchmarkColumns(b *testing.B) {
	for _, w := range []int{8, 64, 128, 346} {
		b.Run(fmt.Sprintf("%dbytes", 8*w), func(b *testing.B) {
			const n = 64
			columns := make([][]field.Element, w)
			for j := range columns {
				columns[j] = make([]field.Element, n)
			}
			out := make([]formats.Digest, n)
			var key [32]byte
			everyWidth(b, func(b *testing.B) {
				b.SetBytes(int64(8 * w * n))
				for b.Loop() {
					Columns(out, &key, columns, 0)
				}
			})
		})
	}
}

func BenchmarkRows(b *testing.B) {
	for _, w := range []int{64, 96, 192, 512} {
		b.Run(fmt.Sprintf("%dbytes", w), func(b *testing.B) {
			const n = 256
			data, out := make([]byte, w*n), make([]formats.Digest, n)
			var key [32]byte
			everyWidth(b, func(b *testing.B) {
				b.SetBytes(int64(w * n))
				for b.Loop() {
					Rows(out, &key, data, w)
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
			})
		})
	}
}
