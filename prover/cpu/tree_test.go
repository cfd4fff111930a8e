package cpu

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/merkle"
)

// TestCommitments opens trees over ragged sets of matrices: the verifier accepts the multiproof of every leaf, which hashes the whole tree, and of random
// sets, and the rows are the matrices' extensions.
func TestCommitments(t *testing.T) {
	r := rand.New(rand.NewPCG(81, 1))
	for _, c := range []struct {
		blowup  int
		heights []int // log, in the order of the matrices
		widths  []int
	}{
		{1, []int{0}, []int{1}},
		{1, []int{1}, []int{3}},
		{2, []int{5}, []int{7}}, // more leaves than are hashed at a time
		{1, []int{7, 7, 7}, []int{1, 130, 2}},
		{1, []int{3, 2, 1, 0}, []int{1, 2, 3, 4}},
		{3, []int{0, 6}, []int{5, 1}},
		{2, []int{2, 6, 2, 6, 0}, []int{1, 2, 3, 4, 5}},
		{1, []int{8, 3}, []int{1, 1}},
	} {
		s := newSession(t, c.blowup)
		var shapes []merkle.Matrix
		var traces []prover.Matrix
		polynomials := map[string][][][]field.Element{}
		for i, h := range c.heights {
			shapes = append(shapes, merkle.Matrix{LogRows: h + c.blowup, Width: c.widths[i]})
			m, err := s.newMatrix(c.widths[i], 1<<h)
			if err != nil {
				t.Fatal(err)
			}
			for k := range m.columns {
				copy(m.columns[k], randomColumn(r, 1<<h))
			}
			traces = append(traces, m)
			polynomials["slices"] = append(polynomials["slices"], m.columns)
			polynomials["traces"] = append(polynomials["traces"], interpolateAll(m.columns))
		}
		tree := merkle.NewTree(hash.Blake3{}, shapes)
		for name, commit := range map[string]func(*merkle.Tree, []prover.Matrix) (prover.Commitment, error){"traces": s.Commit, "slices": s.CommitSlices} {
			commitment, err := commit(tree, traces)
			if err != nil {
				t.Fatal(err)
			}
			root, err := commitment.Root()
			if err != nil {
				t.Fatal(err)
			}
			top := tree.LogRows()
			sets := [][]uint32{{}, {0}, {1<<top - 1}}
			for i := range uint32(1) << top {
				sets[0] = append(sets[0], i)
			}
			for range 5 {
				var set []uint32
				for range 1 + r.IntN(10) {
					set = append(set, r.Uint32N(1<<top))
				}
				slices.Sort(set)
				sets = append(sets, slices.Compact(set))
			}
			for _, indices := range sets {
				proof, err := commitment.Open(indices)
				if err != nil {
					t.Fatal(err)
				}
				opened, f := tree.Verify(&root, indices, &proof)
				if f.Fault != merkle.None {
					t.Fatalf("%s of heights %v, indices %v: %+v", name, c.heights, indices, f)
				}
				for l, level := range tree.Levels {
					for _, j := range merkle.Distinct(indices, top-level.LogRows) {
						var want formats.Elements
						for i, h := range c.heights {
							if h+c.blowup != level.LogRows {
								continue
							}
							for _, p := range polynomials[name][i] {
								want = want.Append(uint64(horner(p, pointOf(level.LogRows, int(j)))))
							}
						}
						if !bytes.Equal(opened.Row(l, j), want) {
							t.Fatalf("%s of heights %v: level %d, row %d differs", name, c.heights, l, j)
						}
					}
				}
			}
			commitment.Free()
		}
	}
}

// TestGather packs rows of columns, behind what is there already.
func TestGather(t *testing.T) {
	columns := [][]field.Element{{1, 2, 3}, {4, 5, field.Modulus - 1}}
	got := gather([]byte{9}, columns, 1, 3)
	want := append([]byte{9}, formats.Elements(nil).Append(2).Append(5).Append(3).Append(field.Modulus-1)...)
	if !bytes.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := gather(got[:0], columns, 0, 1); !bytes.Equal(got, formats.Elements(nil).Append(1).Append(4)) {
		t.Errorf("a used buffer: %v", got)
	}
}
