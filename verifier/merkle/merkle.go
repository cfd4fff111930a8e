// Package merkle authenticates rows of matrices of several heights under one root, with pruned multiproofs (docs/protocol.md section 3).
package merkle

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/hash"
)

// Level is the matrices of one height in a tree.
type Level struct {
	LogRows int
	Widths  []int // in elements
	shape   hash.Digest
	bytes   int
}

// RowBytes is the length of the level's concatenated row.
func (l *Level) RowBytes() int { return l.bytes }

// Shape keys the level's leaf hashes.
func (l *Level) Shape() *hash.Digest { return &l.shape }

// Tree is the shape of a mixed-height tree: levels by falling height.
type Tree struct {
	suite  hash.Suite
	Levels []Level
}

// Matrix is the shape of one matrix of a tree.
type Matrix struct{ LogRows, Width int }

// NewTree is the tree over the matrices in their order. There must be at least one; heights are at most 2^32 rows.
func NewTree(suite hash.Suite, matrices []Matrix) *Tree {
	t := &Tree{suite: suite}
	var count [33]int
	for _, m := range matrices {
		count[m.LogRows]++
	}
	for log := 32; log >= 0; log-- {
		l := Level{LogRows: log, Widths: make([]int, 0, count[log])}
		for _, m := range matrices {
			if m.LogRows == log {
				l.Widths = append(l.Widths, m.Width)
				l.bytes += m.Width * formats.ElementBytes
			}
		}
		if len(l.Widths) > 0 {
			l.shape = suite.Shape(log, l.Widths)
			t.Levels = append(t.Levels, l)
		}
	}
	return t
}

// LogRows is the height of the tallest matrices.
func (t *Tree) LogRows() int { return t.Levels[0].LogRows }

// Distinct returns the distinct values of indices >> shift; indices are sorted, and so is the result.
func Distinct(indices []uint32, shift int) []uint32 {
	out := make([]uint32, 0, len(indices))
	for _, i := range indices {
		if v := i >> shift; len(out) == 0 || out[len(out)-1] != v {
			out = append(out, v)
		}
	}
	return out
}

// Fault says what is wrong with a multiproof.
type Fault uint8

// The faults, in the order in which they are looked for.
const (
	None     Fault = iota
	RowBytes       // the rows have another length than the indices need
	Siblings       // there are other siblings than the indices need
	Root           // the proof leads to another root
)

// Failure is a fault with the lengths or digests that differ.
type Failure struct {
	Fault         Fault
	Expected, Got uint64 // bytes of rows, or digests; 0 for Root
}

// Opened gives access to the rows of a verified multiproof.
type Opened struct {
	tree    *Tree
	indices [][]uint32 // per level
	rows    [][]byte   // per level
}

// Row is the concatenated row of a level at an index of that level's height that was opened; nil if it was not.
func (o *Opened) Row(level int, index uint32) []byte {
	at, found := search(o.indices[level], index)
	if !found {
		return nil
	}
	n := o.tree.Levels[level].bytes
	return o.rows[level][at*n : at*n+n]
}

func search(sorted []uint32, v uint32) (int, bool) {
	lo, hi := 0, len(sorted)
	for lo < hi {
		if mid := (lo + hi) / 2; sorted[mid] < v {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(sorted) && sorted[lo] == v
}

// RowBytes is the length of the rows of a multiproof for the indices, which are sorted, distinct and of the tallest height. It may pass what an int holds on
// 32-bit machines.
func (t *Tree) RowBytes(indices []uint32) uint64 {
	n := uint64(0)
	for i := range t.Levels {
		n += uint64(len(Distinct(indices, t.LogRows()-t.Levels[i].LogRows))) * uint64(t.Levels[i].bytes)
	}
	return n
}

// Verify checks a multiproof for the sorted, distinct indices of the tallest height against the root.
func (t *Tree) Verify(root *hash.Digest, indices []uint32, proof *formats.Opening) (*Opened, Failure) {
	o, top, failure := t.Climb(indices, proof, nil)
	if failure.Fault == None && (top == nil || *top != *root) { // without indices nothing leads anywhere
		return nil, Failure{Fault: Root}
	}
	return o, failure
}

// Climb computes the root that a multiproof for the sorted, distinct indices leads to, nil if there are none. It calls visit, if there is one, for each digest that the multiproof
// determines, with the logarithm of the number of nodes at its level and its index there.
func (t *Tree) Climb(indices []uint32, proof *formats.Opening, visit func(log int, index uint32, d *hash.Digest)) (*Opened, *hash.Digest, Failure) {
	if want := t.RowBytes(indices); uint64(len(proof.Rows)) != want {
		return nil, nil, Failure{RowBytes, want, uint64(len(proof.Rows))}
	}
	o := &Opened{tree: t}
	rest := []byte(proof.Rows)
	for i := range t.Levels {
		at := Distinct(indices, t.LogRows()-t.Levels[i].LogRows)
		n := len(at) * t.Levels[i].bytes
		o.indices, o.rows, rest = append(o.indices, at), append(o.rows, rest[:n]), rest[n:]
	}
	if visit == nil {
		visit = func(int, uint32, *hash.Digest) {}
	}
	known := append([]uint32(nil), o.indices[0]...) // it is overwritten on the way up
	digests := t.hashRows(o, 0)
	siblings := proof.Siblings
	used, level := 0, 1
	for log := t.LogRows(); log > 0; log-- {
		var rows []hash.Digest
		if level < len(t.Levels) && t.Levels[level].LogRows == log-1 {
			rows = t.hashRows(o, level)
			level++
		}
		up := 0
		for i := 0; i < len(known); up++ {
			index, left, right := known[i], digests[i], hash.Digest{}
			visit(log, index, &left)
			if i+1 < len(known) && known[i+1] == index^1 {
				right = digests[i+1]
				i += 2
			} else {
				if (used+1)*formats.DigestBytes > len(siblings) {
					return nil, nil, Failure{Siblings, uint64(t.SiblingCount(indices)), uint64(len(siblings) / formats.DigestBytes)}
				}
				copy(right[:], siblings[used*formats.DigestBytes:])
				used++
				i++
			}
			visit(log, index^1, &right)
			if index&1 == 1 { // its sibling is the left one
				left, right = right, left
			}
			if rows != nil {
				digests[up] = t.suite.Inject(&left, &right, &rows[up])
			} else {
				digests[up] = t.suite.Node(&left, &right)
			}
			known[up] = index >> 1
		}
		known, digests = known[:up], digests[:up]
	}
	if used*formats.DigestBytes != len(siblings) {
		return nil, nil, Failure{Siblings, uint64(used), uint64(len(siblings) / formats.DigestBytes)}
	}
	if len(digests) == 0 {
		return o, nil, Failure{}
	}
	visit(0, 0, &digests[0])
	return o, &digests[0], Failure{}
}

func (t *Tree) hashRows(o *Opened, level int) []hash.Digest {
	l := &t.Levels[level]
	out := make([]hash.Digest, len(o.indices[level]))
	for i := range out {
		out[i] = t.suite.Leaf(&l.shape, o.rows[level][i*l.bytes:(i+1)*l.bytes])
	}
	return out
}

// SiblingCount is the number of sibling digests in a multiproof for the indices.
func (t *Tree) SiblingCount(indices []uint32) int {
	n := 0
	t.VisitSiblings(indices, func(int, uint32) { n++ })
	return n
}

// VisitSiblings calls visit for each sibling digest of a multiproof, in its order: log is the logarithm of the number of nodes at the sibling's level.
func (t *Tree) VisitSiblings(indices []uint32, visit func(log int, index uint32)) {
	known := Distinct(indices, 0)
	for log := t.LogRows(); log > 0; log-- {
		up := 0
		for i := 0; i < len(known); up++ {
			index := known[i]
			if i+1 < len(known) && known[i+1] == index^1 {
				i += 2
			} else {
				visit(log, index^1)
				i++
			}
			known[up] = index >> 1
		}
		known = known[:up]
	}
}
