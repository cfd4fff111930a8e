//go:build emulated || cuda

package kernels_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/transcript"
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

// The leaves of FRI layers: rows of 2, 4 and 8 elements.
func TestWordLeaves(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(15, 16))
	for step := 1; step <= 3; step++ {
		for _, rows := range []int{1, 2, 37, 300} {
			word := exts(r, rows<<step)
			shape := suite.Shape(rows, []int{3 << step})
			out := alloc[formats.Digest](t, d, rows)
			check(t, d.WordLeaves(out, from(t, d, word), step, &shape))
			for i, got := range download(t, out) {
				var row formats.Elements
				for _, v := range word[i<<step : (i+1)<<step] {
					row = row.Append(uint64(v[0])).Append(uint64(v[1])).Append(uint64(v[2]))
				}
				if want := suite.Leaf(&shape, row); got != want {
					t.Fatalf("step %d, row %d of %d: %x, want %x", step, i, rows, got, want)
				}
			}
		}
	}
}

// A transcript goes on as on the host, through many roots: one word in 2^32 is no field element, so that such words are tested below.
func TestDraw(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(17, 18))
	tr := transcript.New(suite)
	tr.Absorb(transcript.TagKey, []uint64{1, 2, 3})
	tr.Challenge(transcript.TagBatch)
	state, all := tr.State()
	if !all {
		t.Fatal("a challenge left messages")
	}
	digests, drawn := from(t, d, make([]formats.Digest, 3)), alloc[field.Ext](t, d, 1)
	on, err := digests.Slice(0, 1)
	check(t, err)
	seen, err := digests.Slice(1, 2)
	check(t, err)
	check(t, on.Upload([]formats.Digest{state}))
	for range 50 {
		var root formats.Digest
		for i := range root {
			root[i] = byte(r.Uint32())
		}
		check(t, d.Draw(drawn, on, seen, from(t, d, []formats.Digest{root}), uint64(transcript.TagLayer), uint64(transcript.TagBeta)))
		tr.AbsorbDigest(transcript.TagLayer, root)
		want := tr.Challenge(transcript.TagBeta).Ext()
		state, _ := tr.State()
		if got := download(t, digests); got[0] != state || got[1] != root {
			t.Fatalf("state %x, want %x; root %x, want %x", got[0], state, got[1], root)
		}
		if got := download(t, drawn)[0]; got != want {
			t.Fatalf("drawn %v, want %v", got, want)
		}
	}
}

// Words of p and more are skipped, and a block of them too. No hash gives such words in reasonable time, so the kernel's choice is tested by itself.
func TestDrawSkipsWords(t *testing.T) {
	d := open(t)
	const p = uint64(field.Modulus)
	for _, blocks := range [][]uint64{
		{1, 2, 3, 4}, {p, 1, 2, 3}, {p - 1, p, p + 1, 1<<64 - 1, 5, 0, 6, 7}, {p, p, p, p, p, p, p, p, 1, p, 2, 3}, {1, 2, p, p, p, p, p, 9},
	} {
		var want []uint64
		for _, w := range blocks {
			if w < p && len(want) < 3 {
				want = append(want, w)
			}
		}
		in, out := from(t, d, blocks), alloc[uint64](t, d, 3)
		params := struct {
			in, out kernels.Address
			n       uint64
		}{in.Address(), out.Address(), uint64(len(blocks) / 4)}
		check(t, kernels.Start(d, "hash_draw_check", [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0, &params))
		if got := download(t, out); !slices.Equal(got, want) {
			t.Fatalf("of %x: %x, want %x", blocks, got, want)
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
