package verifier

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/merkle"
	"github.com/ixprove/ixprove/verifier/transcript"
)

// BatchChallenges are what the shards of a batch share of its transcript.
type BatchChallenges struct {
	PinPoint, PinFold field.Ext // T-4
	Alpha, Gamma      field.Ext // T-6
	transcript        *transcript.Transcript
}

// DrawBatch performs T-1 to T-6 for a proof of the given shapes.
func DrawBatch(key *Key, p *formats.Proof, shapes []*Shape) *BatchChallenges {
	tr := transcript.New(key.Suite)
	roots := make([]formats.Digest, len(p.Shards))
	for i := range p.Shards {
		roots[i] = p.Shards[i].Main
	}
	AbsorbStatement(tr, key, p.Claims, shapes, roots) // T-1 to T-3
	pin := tr.Challenge(transcript.TagPinPoint)       // T-4
	c := &BatchChallenges{PinPoint: pin.Ext(), PinFold: pin.Ext(), transcript: tr}
	for i := range p.Shards {
		tr.AbsorbElements(transcript.TagPins, p.Shards[i].Pins) // T-5
	}
	lookup := tr.Challenge(transcript.TagLookup) // T-6
	c.Alpha, c.Gamma = lookup.Ext(), lookup.Ext()
	return c
}

// ShardChallenges are what the transcript yields on a shard's fork.
type ShardChallenges struct {
	Delta, Zeta, Lambda field.Ext   // T-8, T-10, T-12
	Betas               []field.Ext // T-14
	Grind               hash.Digest // T-16
	Queries             []uint32    // T-18, in the order in which they are drawn
}

// DrawShard performs T-7 to T-18 for a shard, whose parts have the lengths that its shape asks for.
func (b *BatchChallenges) DrawShard(key *Key, shard int, s *Shape, p *formats.Shard) *ShardChallenges {
	tr, c := b.transcript.Fork(uint64(shard)), &ShardChallenges{}
	if len(p.Aux) > 0 { // T-7
		tr.Absorb(transcript.TagAux, transcript.AppendElements(transcript.AppendDigest(nil, p.Aux[0]), p.Sums))
	}
	c.Delta = tr.Challenge(transcript.TagFold).Ext()      // T-8
	tr.AbsorbDigest(transcript.TagQuotient, p.Quotient)   // T-9
	c.Zeta = tr.Challenge(transcript.TagZeta).Ext()       // T-10
	tr.AbsorbElements(transcript.TagOpenings, p.Openings) // T-11
	c.Lambda = tr.Challenge(transcript.TagBatch).Ext()    // T-12
	for _, root := range p.LayerRoot {
		tr.AbsorbDigest(transcript.TagLayer, root)                        // T-13
		c.Betas = append(c.Betas, tr.Challenge(transcript.TagBeta).Ext()) // T-14
	}
	tr.AbsorbElements(transcript.TagFinal, p.Final)                         // T-15
	c.Grind = tr.GrindState()                                               // T-16
	tr.Absorb(transcript.TagNonce, []uint64{p.Nonce})                       // T-17
	c.Queries = DrawQueries(tr, key.Profile.Queries, s.Schedule.LogSize(0)) // T-18
	return c
}

// DrawQueries performs T-18: the query indices below 2^logTop in the order in which they are drawn, with repetitions.
func DrawQueries(tr *transcript.Transcript, queries, logTop int) []uint32 {
	c := tr.Challenge(transcript.TagQueries)
	indices := make([]uint32, queries)
	for i := range indices {
		indices[i] = uint32(c.Word() & (1<<logTop - 1))
	}
	return indices
}

// SortDistinct returns the distinct indices in ascending order.
func SortDistinct(drawn []uint32) []uint32 {
	indices := append([]uint32(nil), drawn...)
	// Insertion sort: a few hundred numbers, and no dependency.
	for i := range indices {
		for k := i; k > 0 && indices[k-1] > indices[k]; k-- {
			indices[k-1], indices[k] = indices[k], indices[k-1]
		}
	}
	return merkle.Distinct(indices, 0)
}
