package merkle_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/merkle"
)

var suite = hash.Blake3{}

// naive is the whole tree of docs/protocol.md section 3 over random matrices: level k has 2^k nodes.
type naive struct {
	shapes []merkle.Matrix
	rows   [][][]byte // per matrix and row
	levels [][]hash.Digest
}

func newNaive(r *rand.Rand, shapes []merkle.Matrix) *naive {
	n := &naive{shapes: shapes}
	top := 0
	for _, m := range shapes {
		top = max(top, m.LogRows)
		var rows [][]byte
		for range 1 << m.LogRows {
			var row formats.Elements
			for range m.Width {
				row = row.Append(r.Uint64N(field.Modulus))
			}
			rows = append(rows, row)
		}
		n.rows = append(n.rows, rows)
	}
	n.levels = make([][]hash.Digest, top+1)
	for k := top; k >= 0; k-- {
		for i := range 1 << k {
			row, widths := n.row(k, i)
			shape := suite.Shape(k, widths)
			leaf := suite.Leaf(&shape, row)
			switch {
			case k == top:
				n.levels[k] = append(n.levels[k], leaf)
			case len(widths) > 0:
				n.levels[k] = append(n.levels[k], suite.Inject(&n.levels[k+1][2*i], &n.levels[k+1][2*i+1], &leaf))
			default:
				n.levels[k] = append(n.levels[k], suite.Node(&n.levels[k+1][2*i], &n.levels[k+1][2*i+1]))
			}
		}
	}
	return n
}

// row is row i of all matrices of 2^k rows, concatenated, and their widths.
func (n *naive) row(k, i int) (row []byte, widths []int) {
	for m, s := range n.shapes {
		if s.LogRows == k {
			row = append(row, n.rows[m][i]...)
			widths = append(widths, s.Width)
		}
	}
	return row, widths
}

// open builds a multiproof from sets: what is known is the opened nodes and all that follows from them.
func (n *naive) open(indices []uint32) *formats.Opening {
	o := &formats.Opening{}
	top := len(n.levels) - 1
	known := map[uint32]bool{}
	for _, i := range indices {
		known[i] = true
	}
	for k := top; k >= 0; k-- {
		up := map[uint32]bool{}
		for i := range uint32(1 << k) {
			if known[i] {
				row, _ := n.row(k, int(i))
				o.Rows = append(o.Rows, row...)
				up[i>>1] = true
			}
			if k > 0 && !known[i] && known[i^1] {
				o.Siblings = append(o.Siblings, n.levels[k][i][:]...)
			}
		}
		known = up
	}
	return o
}

var shapes = map[string][]merkle.Matrix{
	"one row":              {{LogRows: 0, Width: 3}},
	"two rows":             {{LogRows: 1, Width: 1}},
	"one row twice":        {{LogRows: 0, Width: 1}, {LogRows: 0, Width: 2}},
	"single":               {{LogRows: 3, Width: 2}},
	"wide":                 {{LogRows: 2, Width: 40}},
	"same heights":         {{LogRows: 3, Width: 2}, {LogRows: 3, Width: 1}, {LogRows: 3, Width: 5}},
	"one level apart":      {{LogRows: 3, Width: 1}, {LogRows: 2, Width: 2}, {LogRows: 1, Width: 1}, {LogRows: 0, Width: 1}},
	"short first":          {{LogRows: 0, Width: 2}, {LogRows: 3, Width: 1}},
	"mixed":                {{LogRows: 1, Width: 2}, {LogRows: 3, Width: 1}, {LogRows: 1, Width: 1}, {LogRows: 3, Width: 2}},
	"three levels between": {{LogRows: 4, Width: 1}, {LogRows: 1, Width: 1}},
}

// subsets returns every non-empty set of the leaves of a small tree.
func subsets(log int) (out [][]uint32) {
	for bits := uint32(1); bits < 1<<(1<<log); bits++ {
		if log > 3 && bits%97 != 1 { // 2^16 sets: some of them
			continue
		}
		var set []uint32
		for i := range uint32(1 << log) {
			if bits>>i&1 == 1 {
				set = append(set, i)
			}
		}
		out = append(out, set)
	}
	return out
}

// TestAllSubsets opens every set of leaves: the naive multiproof is accepted, of the length that the tree predicts, and gives back the opened rows only.
func TestAllSubsets(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for name, matrices := range shapes {
		n, tree := newNaive(r, matrices), merkle.NewTree(suite, matrices)
		top := tree.LogRows()
		for _, indices := range subsets(top) {
			proof := n.open(indices)
			if got := tree.RowBytes(indices); got != uint64(len(proof.Rows)) {
				t.Fatalf("%s %v: %d bytes of rows, want %d", name, indices, got, len(proof.Rows))
			}
			if got := tree.SiblingCount(indices); 32*got != len(proof.Siblings) {
				t.Fatalf("%s %v: %d siblings, want %d bytes", name, indices, got, len(proof.Siblings))
			}
			var siblings []byte
			tree.VisitSiblings(indices, func(log int, index uint32) { siblings = append(siblings, n.levels[log][index][:]...) })
			if !bytes.Equal(siblings, proof.Siblings) {
				t.Fatalf("%s %v: other siblings", name, indices)
			}
			kept := append([]uint32(nil), indices...)
			opened, f := tree.Verify(&n.levels[0][0], indices, proof)
			if f.Fault != merkle.None {
				t.Fatalf("%s %v: %+v", name, indices, f)
			}
			for i := range kept {
				if kept[i] != indices[i] {
					t.Fatal("Verify changed the indices")
				}
			}
			for l, level := range tree.Levels {
				reached := map[uint32]bool{}
				for _, i := range indices {
					reached[i>>(top-level.LogRows)] = true
				}
				for i := range uint32(1<<level.LogRows + 2) {
					got := opened.Row(l, i)
					if !reached[i] {
						if got != nil {
							t.Fatalf("%s %v: level %d gives a row at %d that was not opened", name, indices, l, i)
						}
						continue
					}
					if want, _ := n.row(level.LogRows, int(i)); !bytes.Equal(got, want) {
						t.Fatalf("%s %v: level %d, row %d differs", name, indices, l, i)
					}
				}
			}
		}
	}
}

// TestLevels checks the levels, widths and lengths that a tree is described by.
func TestLevels(t *testing.T) {
	tree := merkle.NewTree(suite, shapes["mixed"])
	if len(tree.Levels) != 2 || tree.LogRows() != 3 {
		t.Fatalf("%+v", tree.Levels)
	}
	for i, want := range []struct {
		log    int
		widths []int
	}{{3, []int{1, 2}}, {1, []int{2, 1}}} {
		l := &tree.Levels[i]
		if l.LogRows != want.log || l.RowBytes() != 24 || *l.Shape() != suite.Shape(want.log, want.widths) {
			t.Errorf("level %d: %+v", i, l)
		}
	}
}

// TestMinimality checks on larger trees that no sibling is sent that others determine, and none twice.
func TestMinimality(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		log := 1 + r.IntN(20)
		tree := merkle.NewTree(suite, []merkle.Matrix{{LogRows: log, Width: 1}})
		set := map[uint32]bool{}
		for range 1 + r.IntN(20) {
			set[r.Uint32N(1<<log)] = true
		}
		var indices []uint32
		for i := range uint32(1 << log) {
			if set[i] {
				indices = append(indices, i)
			}
		}
		type node struct {
			log   int
			index uint32
		}
		sent := map[node]bool{}
		before := node{log: log + 1}
		tree.VisitSiblings(indices, func(log int, index uint32) {
			at := node{log, index}
			if sent[at] || log > before.log || log == before.log && index <= before.index {
				t.Fatalf("%v after %v", at, before)
			}
			sent[at], before = true, at
			for _, i := range indices {
				if i>>(tree.LogRows()-log) == index {
					t.Fatalf("%v is above an opened leaf", at)
				}
			}
		})
		// Each node above an opened leaf has two children that are sent or above one.
		count := 0
		for k := range log {
			above := map[uint32]int{}
			for _, i := range merkle.Distinct(indices, log-k-1) {
				above[i>>1]++
			}
			for _, children := range above {
				count += 2 - children
			}
		}
		if count != len(sent) {
			t.Fatalf("%d siblings, want %d", len(sent), count)
		}
	}
}

// TestWrongLengths cuts and lengthens proofs, by bytes and by whole digests: each is named as what it is.
func TestWrongLengths(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for name, matrices := range shapes {
		n, tree := newNaive(r, matrices), merkle.NewTree(suite, matrices)
		for _, indices := range [][]uint32{{0}, {1<<tree.LogRows() - 1}, {0, 1<<tree.LogRows() - 1}, {0, 1, 2, 3}} {
			if len(indices) > 1<<tree.LogRows() {
				continue
			}
			proof := n.open(indices)
			for length := range len(proof.Rows) + 10 {
				if length == len(proof.Rows) {
					continue
				}
				bad := &formats.Opening{Rows: resize(proof.Rows, length), Siblings: proof.Siblings}
				want := merkle.Failure{Fault: merkle.RowBytes, Expected: uint64(len(proof.Rows)), Got: uint64(length)}
				if o, f := tree.Verify(&n.levels[0][0], indices, bad); o != nil || f != want {
					t.Fatalf("%s %v: %d bytes of rows: %+v", name, indices, length, f)
				}
			}
			for length := range len(proof.Siblings) + 65 {
				if length == len(proof.Siblings) {
					continue
				}
				bad := &formats.Opening{Rows: proof.Rows, Siblings: resize(proof.Siblings, length)}
				o, f := tree.Verify(&n.levels[0][0], indices, bad)
				if o != nil || f.Fault != merkle.Siblings || f.Expected != uint64(len(proof.Siblings)/32) || f.Got != uint64(length/32) {
					t.Fatalf("%s %v: %d bytes of siblings: %+v", name, indices, length, f)
				}
			}
		}
	}
}

func resize(b []byte, n int) []byte {
	return append(append([]byte(nil), b...), make([]byte, 128)...)[:n]
}

// TestFlippedBytes changes each byte of rows, siblings and root: all lead to another root.
func TestFlippedBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for name, matrices := range shapes {
		n, tree := newNaive(r, matrices), merkle.NewTree(suite, matrices)
		indices := []uint32{0}
		if tree.LogRows() > 1 {
			indices = []uint32{1, 2}
		}
		proof, root := n.open(indices), n.levels[0][0]
		for _, part := range [][]byte{proof.Rows, proof.Siblings, root[:]} {
			for i := range part {
				was := part[i]
				part[i] ^= 1 << r.IntN(8)
				flipped := part[i]
				if o, f := tree.Verify(&root, indices, proof); o != nil || f != (merkle.Failure{Fault: merkle.Root}) {
					t.Fatalf("%s: a changed byte gives %+v", name, f)
				}
				if part[i] != flipped {
					t.Fatal("Verify changed its input")
				}
				part[i] = was
			}
		}
	}
}

// TestOtherShapesHaveOtherRoots checks that a proof holds for its tree only: the same bytes under other widths, heights or order are refused.
func TestOtherShapesHaveOtherRoots(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	n := newNaive(r, []merkle.Matrix{{LogRows: 2, Width: 2}, {LogRows: 2, Width: 1}})
	indices := []uint32{1, 3}
	proof := n.open(indices)
	for _, other := range [][]merkle.Matrix{
		{{LogRows: 2, Width: 1}, {LogRows: 2, Width: 2}},
		{{LogRows: 2, Width: 3}},
		{{LogRows: 2, Width: 2}, {LogRows: 2, Width: 1}, {LogRows: 2, Width: 0}},
	} {
		if _, f := merkle.NewTree(suite, other).Verify(&n.levels[0][0], indices, proof); f.Fault != merkle.Root {
			t.Errorf("%v: %+v", other, f)
		}
	}
	// Other indices with equally many rows and siblings.
	if _, f := merkle.NewTree(suite, n.shapes).Verify(&n.levels[0][0], []uint32{0, 2}, proof); f.Fault != merkle.Root {
		t.Errorf("other indices: %+v", f)
	}
	// Nothing opened proves nothing.
	if o, f := merkle.NewTree(suite, n.shapes).Verify(&n.levels[0][0], nil, &formats.Opening{}); o != nil || f.Fault != merkle.Root {
		t.Errorf("no indices: %+v", f)
	}
}

func TestDistinct(t *testing.T) {
	for _, c := range []struct {
		in    []uint32
		shift int
		want  []uint32
	}{
		{nil, 0, nil}, {[]uint32{0, 0, 3, 3}, 0, []uint32{0, 3}}, {[]uint32{0, 1, 2, 7}, 1, []uint32{0, 1, 3}}, {[]uint32{1, 1<<32 - 1}, 32, []uint32{0}},
		{[]uint32{5, 1<<32 - 1}, 31, []uint32{0, 1}},
	} {
		got := merkle.Distinct(c.in, c.shift)
		if len(got) != len(c.want) {
			t.Fatalf("%v >> %d: %v", c.in, c.shift, got)
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%v >> %d: %v", c.in, c.shift, got)
			}
		}
	}
}
