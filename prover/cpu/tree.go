package cpu

import (
	"context"
	"slices"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/merkle"
)

// tree holds all nodes of a Merkle tree: levels[k] has 2^k digests.
type tree struct {
	shape  *merkle.Tree
	levels [][]hash.Digest
}

// leafHasher sets out to the hashes of the rows of a level from first on, all its matrices concatenated.
type leafHasher func(out []hash.Digest, level, first int)

// hashTree hashes the rows of every level and the nodes above.
func hashTree(ctx context.Context, a *arena, suite Batch, shape *merkle.Tree, leaves leafHasher) (*tree, error) {
	t := &tree{shape: shape, levels: make([][]hash.Digest, shape.LogRows()+1)}
	level := 0
	entering := make([][]hash.Digest, maxWorkers)
	for log := shape.LogRows(); log >= 0; log-- {
		digests, err := buffer[hash.Digest](a, 1<<log)
		if err != nil {
			return nil, err
		}
		t.levels[log] = digests
		var below []hash.Digest
		if log < shape.LogRows() {
			below = t.levels[log+1]
		}
		enters := level < len(shape.Levels) && shape.Levels[level].LogRows == log
		err = parallel(ctx, len(digests), hashGrain, func(worker, first, last int) error {
			out := digests[first:last]
			switch {
			case below == nil:
				leaves(out, level, first)
			case enters:
				if entering[worker] == nil {
					entering[worker] = make([]hash.Digest, hashGrain)
				}
				rows := entering[worker][:len(out)]
				leaves(rows, level, first)
				suite.Injections(out, below[2*first:2*last], rows)
			default:
				suite.Nodes(out, below[2*first:2*last])
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if enters {
			level++
		}
	}
	return t, nil
}

// hashGrain is the number of rows hashed at a time: 256 rows of 400 columns fit the second-level cache.
const hashGrain = 256

func (t *tree) root() formats.Digest { return t.levels[0][0] }

func (t *tree) free(a *arena) {
	for i, l := range t.levels {
		release(a, l)
		t.levels[i] = nil // another buffer may take its place
	}
}

// siblings returns the digests of a multiproof.
func (t *tree) siblings(indices []uint32) []byte {
	var out []byte
	t.shape.VisitSiblings(indices, func(log int, index uint32) {
		out = append(out, t.levels[log][index][:]...)
	})
	return out
}

// gather appends rows first to last-1 of column-major matrices, row by row.
func gather(b []byte, columns [][]field.Element, first, last int) []byte {
	width := len(columns) * formats.ElementBytes
	start := len(b)
	b = slices.Grow(b, (last-first)*width)[:start+(last-first)*width]
	for c, column := range columns {
		at := start + c*formats.ElementBytes
		for _, v := range column[first:last] {
			putElement(b[at:at+8], v)
			at += width
		}
	}
	return b
}

func putElement(b []byte, v field.Element) {
	_ = b[7]
	b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
	b[4], b[5], b[6], b[7] = byte(v>>32), byte(v>>40), byte(v>>48), byte(v>>56)
}
