//go:build emulated || cuda

package kernels_test

import (
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
)

var suite = hash.Blake3{}

// rowBytes is row i of columns, as the suite hashes it.
func rowBytes(columns [][]field.Element, i int) []byte {
	var e formats.Elements
	for _, c := range columns {
		e = e.Append(uint64(c[i]))
	}
	return e
}

// Widths around the ends of blocks and chunks, in one matrix and in two.
func TestLeaves(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(11, 12))
	for _, width := range []int{1, 2, 7, 8, 9, 15, 16, 17, 64, 127, 128, 129, 136, 255, 256, 257, 384, 385, 513, 640, 1023, 1024, 1025, 1500} {
		for _, rows := range []int{1, 2, 37} {
			split := r.IntN(width + 1)
			var host [][]field.Element
			var list kernels.Columns
			for _, part := range []int{split, width - split} {
				values := elements(r, part*rows)
				for c := range part {
					host = append(host, values[c*rows:(c+1)*rows])
				}
				var err error
				list, err = list.Add(from(t, d, values), part, rows)
				check(t, err)
			}
			shape := suite.Shape(3, []int{split, width - split})
			out := alloc[formats.Digest](t, d, rows)
			check(t, d.Leaves(out, from(t, d, []uint64(list)), rows, 1, &shape))
			for i, got := range download(t, out) {
				if want := suite.Leaf(&shape, rowBytes(host, i)); got != want {
					t.Fatalf("width %d, row %d of %d: %x, want %x", width, i, rows, got, want)
				}
			}
		}
	}
}

func TestTrees(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(13, 14))
	digests := func(n int) []formats.Digest {
		out := make([]formats.Digest, n)
		for i := range out {
			for k := range out[i] {
				out[i][k] = byte(r.Uint32())
			}
		}
		return out
	}
	for _, c := range []struct {
		logRows  int
		entering []int
	}{{0, nil}, {1, nil}, {1, []int{0}}, {2, []int{1}}, {5, []int{4, 3, 0}}, {8, nil}, {9, nil}, {10, []int{9}}, {11, []int{8, 1}}, {12, []int{2}}} {
		nodes := make([]formats.Digest, 2<<c.logRows)
		copy(nodes[1<<c.logRows:], digests(1<<c.logRows))
		on := alloc[formats.Digest](t, d, len(nodes))
		check(t, on.Upload(nodes))
		entering, rows := map[int]kernels.Array[formats.Digest]{}, map[int][]formats.Digest{}
		for _, level := range c.entering {
			rows[level] = digests(1 << level)
			entering[level] = from(t, d, rows[level])
		}
		check(t, d.Tree(on, c.logRows, entering))
		for i := 1<<c.logRows - 1; i > 0; i-- {
			level := 0
			for 2<<level <= i {
				level++
			}
			if in := rows[level]; in != nil {
				nodes[i] = suite.Inject(&nodes[2*i], &nodes[2*i+1], &in[i-1<<level])
			} else {
				nodes[i] = suite.Node(&nodes[2*i], &nodes[2*i+1])
			}
		}
		for i, got := range download(t, on) {
			if got != nodes[i] {
				t.Fatalf("tree of 2^%d, rows at %v: node %d is wrong", c.logRows, c.entering, i)
			}
		}
	}
}

func TestGrindFindsTheLowestNonce(t *testing.T) {
	d := open(t)
	for i, bits := range []int{1, 3, 8, 12, 14} {
		state := formats.Digest{byte(i), 1, 2, 3}
		got, err := d.Grind(&state, bits)
		check(t, err)
		want := uint64(0)
		for suite.Grind(&state, want)<<(64-bits) != 0 {
			want++
		}
		if got != want {
			t.Fatalf("%d bits: %d, want %d", bits, got, want)
		}
	}
	if _, err := d.Grind(&formats.Digest{}, 0); err == nil {
		t.Fatal("ground for nothing")
	}
}
