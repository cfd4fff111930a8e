package verifier

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/fri"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/merkle"
)

// OpenedTree is a tree with the rows that queries open and the digests that their multiproof determines.
type OpenedTree struct {
	*merkle.Tree
	*merkle.Opened
	Nodes []map[uint32]hash.Digest // by the logarithm of the number of nodes of a level, and by index
}

// Expansion is a shard's openings with everything that a verifier computes from them: what a verifier needs that opens each query by itself, as a circuit does.
type Expansion struct {
	Queries []uint32     // in the order in which they are drawn, with repetitions
	Trees   []OpenedTree // those of the shape, then those of the FRI layers
}

// Expand computes the expansion of a shard of a proof whose parts have the lengths that its shapes ask for. It makes none of the other checks: the error is that of a multiproof
// with other lengths than the queries need (P-29, P-30, P-32, P-33).
func Expand(key *Key, p *formats.Proof, shapes []*Shape, shard int) (*Expansion, error) {
	tr, batch := drawBatch(key, p, shapes)
	v := shardVerifier{key: key, Shape: shapes[shard], proof: &p.Shards[shard], pinPoint: batch.PinPoint, pinFold: batch.PinFold} // the codewords need no lookup challenges
	drawn, c := drawShard(tr.Fork(uint64(shard)), key, v.Shape, v.proof)
	e := &Expansion{Queries: drawn.queries}
	v.zeta = c.Zeta
	v.readOpenings()
	indices, logTop := SortDistinct(e.Queries), v.Schedule.LogSize(0)
	opened := make([]*merkle.Opened, len(v.Trees))
	climb := func(t *merkle.Tree, at []uint32, proof *formats.Opening, checks map[merkle.Fault]string) (*merkle.Opened, error) {
		nodes := make([]map[uint32]hash.Digest, t.LogRows()+1)
		for i := range nodes {
			nodes[i] = map[uint32]hash.Digest{}
		}
		o, _, failure := t.Climb(at, proof, func(log int, index uint32, d *hash.Digest) { nodes[log][index] = *d })
		if failure.Fault != merkle.None {
			return nil, rejected(checks[failure.Fault], "multiproof", "the multiproof has another length than the queries need").Mismatch(failure.Expected, failure.Got)
		}
		e.Trees = append(e.Trees, OpenedTree{t, o, nodes})
		return o, nil
	}
	for i := range v.Trees {
		t := v.Trees[i].Tree
		o, err := climb(t, merkle.Distinct(indices, logTop-t.LogRows()), &v.proof.Trees[i], map[merkle.Fault]string{merkle.RowBytes: "P-29", merkle.Siblings: "P-30"})
		if err != nil {
			return nil, err
		}
		opened[i] = o
	}
	layers, _, _, failure := fri.Expand(&v.Schedule, indices, v.codewords(indices, opened, c.Lambda), &fri.Proof{Betas: c.Betas, Layers: v.proof.Layers})
	if failure != nil {
		return nil, failure
	}
	for i, l := range layers {
		proof := &formats.Opening{Rows: l.Values, Siblings: v.proof.Layers[i].Siblings}
		if _, err := climb(v.Schedule.Tree(key.Suite, i), l.Leaves, proof, map[merkle.Fault]string{merkle.Siblings: "P-33"}); err != nil {
			return nil, err
		}
	}
	return e, nil
}
