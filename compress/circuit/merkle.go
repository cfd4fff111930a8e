package circuit

import (
	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/verifier/merkle"
)

// A tree is opened at each query by a path of its own, from the leaf to level cap, where it has 2^cap nodes; from there on all paths share one computation, the crown: all nodes of the
// levels above. The nodes of level cap and above that the native multiproof does not determine are zero.

// crown is the nodes of the levels 0 to cap of a tree: node 1 is the root, and 2i and 2i+1 are the children of i.
type crown []frontend.Variable

// capLevel is the level at which the fewest constraints are spent on the given number of queries: each saves a node a level, and chooses among the nodes of the level.
func capLevel(t *merkle.Tree, queries int) int {
	const nodeCost = 218 // of a rank-1 system
	shortest := t.Levels[len(t.Levels)-1].LogRows
	best, least := 0, 0
	for c := 1; c <= shortest; c++ {
		nodes := 1<<c - 1
		if cost := nodes*(nodeCost+2) + queries*(nodes-nodeCost*c); cost < least {
			best, least = c, cost
		}
	}
	return best
}

// crown demands that each node is the hash of its children, unless both of them are zero. So no path can lead to a node other than zero that the root does not determine, and zero is
// not known to be a hash of anything.
func (h hasher) crown(root frontend.Variable, nodes []frontend.Variable) crown {
	c := append(crown{0, root}, nodes...)
	for i := 1; 2*i < len(c); i++ {
		wrong := h.api.Sub(c[i], h.node(c[2*i], c[2*i+1]))
		for _, child := range c[2*i : 2*i+2] {
			h.api.AssertIsEqual(h.api.Mul(wrong, child), 0)
		}
	}
	return c
}

// open demands that the rows lie at an index in the tree whose crown is given. bits are those of the index, lowest first; siblings are those of the path below level cap.
func (h hasher) open(t *merkle.Tree, c crown, bits []frontend.Variable, rows [][]frontend.Variable, siblings []frontend.Variable) {
	digest := h.leaf(t.Levels[0].Shape(), rows[0])
	level := 1
	for i, sibling := range siblings {
		// left, right = bit ? (sibling, digest) : (digest, sibling)
		swap := h.api.Mul(bits[i], h.api.Sub(sibling, digest))
		left, right := h.api.Add(digest, swap), h.api.Sub(sibling, swap)
		if level < len(t.Levels) && t.Levels[level].LogRows == t.LogRows()-i-1 {
			digest = h.inject(left, right, h.leaf(t.Levels[level].Shape(), rows[level]))
			level++
		} else {
			digest = h.node(left, right)
		}
	}
	at := c[len(c)/2:]
	for _, bit := range bits[len(siblings):] {
		half := make([]frontend.Variable, len(at)/2)
		for i := range half {
			half[i] = h.api.Select(bit, at[2*i+1], at[2*i])
		}
		at = half
	}
	h.api.AssertIsEqual(digest, at[0])
}
