package verifier

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/merkle"
	"github.com/ixprove/ixprove/verifier/transcript"
)

// The steps of docs/protocol.md section 5 are written here once, for words W and elements E of the extension: numbers in this verifier, variables in one that is a circuit.

// Drawer is a transcript that the steps are performed on.
type Drawer[W, E any] interface {
	// Number is a word that is known beforehand.
	Number(x uint64) W
	// Absorb appends a message.
	Absorb(tag transcript.Tag, words []W)
	// Elements performs a challenge step and returns its first n elements of E.
	Elements(tag transcript.Tag, n int) []E
	// Grind performs T-16, whose state the nonce is ground against.
	Grind(nonce W)
	// Queries performs T-18.
	Queries()
}

// Statement is what T-1 to T-3 absorb. A digest is four words.
type Statement[W any] struct {
	Key    []W
	Claims []ClaimWords[W]
	Shapes []*Shape
	Roots  [][]W // of the main traces, a shard each
}

// ClaimWords is a claim as words.
type ClaimWords[W any] struct {
	Entry    W
	Elements []W // arguments and results
}

// Words are the message of T-2.
func (s *Statement[W]) Words(number func(uint64) W) []W {
	words := []W{number(uint64(len(s.Claims)))}
	for i := range s.Claims {
		c := &s.Claims[i]
		words = append(append(words, c.Entry, number(uint64(len(c.Elements)))), c.Elements...)
	}
	return words
}

// DrawStatement performs T-1 to T-3.
func DrawStatement[W, E any](d Drawer[W, E], s *Statement[W]) {
	d.Absorb(transcript.TagKey, s.Key)                // T-1
	d.Absorb(transcript.TagClaims, s.Words(d.Number)) // T-2
	words := []W{d.Number(uint64(len(s.Shapes)))}
	for i, shape := range s.Shapes {
		words = append(words, d.Number(uint64(len(shape.Tables))))
		for _, t := range shape.Tables {
			words = append(words, d.Number(uint64(t.Index)), d.Number(uint64(t.LogHeight)))
		}
		words = append(words, s.Roots[i]...)
	}
	d.Absorb(transcript.TagHeaders, words) // T-3
}

// BatchChallenges are what the shards of a batch share.
type BatchChallenges[E any] struct {
	PinPoint, PinFold E // T-4
	Alpha, Gamma      E // T-6
}

// DrawBatch performs T-1 to T-6; pins are the words of each shard's.
func DrawBatch[W, E any](d Drawer[W, E], s *Statement[W], pins [][]W) *BatchChallenges[E] {
	DrawStatement(d, s)
	pin := d.Elements(transcript.TagPinPoint, 2) // T-4
	for _, words := range pins {
		d.Absorb(transcript.TagPins, words) // T-5
	}
	lookup := d.Elements(transcript.TagLookup, 2) // T-6
	return &BatchChallenges[E]{pin[0], pin[1], lookup[0], lookup[1]}
}

// ShardWords is what a prover sends for a shard after the lookup challenges.
type ShardWords[W any] struct {
	Aux      []W // root and sums; nil without lookups
	Quotient []W
	Openings []W
	Layers   [][]W // roots
	Final    []W
	Nonce    W
}

// ShardChallenges are what the transcript yields on a shard's fork.
type ShardChallenges[E any] struct {
	Delta, Zeta, Lambda E   // T-8, T-10, T-12
	Betas               []E // T-14
}

// DrawShard performs T-7 to T-18 on the shard's fork.
func DrawShard[W, E any](d Drawer[W, E], m *ShardWords[W]) *ShardChallenges[E] {
	c := &ShardChallenges[E]{}
	if len(m.Aux) > 0 {
		d.Absorb(transcript.TagAux, m.Aux) // T-7
	}
	c.Delta = d.Elements(transcript.TagFold, 1)[0]   // T-8
	d.Absorb(transcript.TagQuotient, m.Quotient)     // T-9
	c.Zeta = d.Elements(transcript.TagZeta, 1)[0]    // T-10
	d.Absorb(transcript.TagOpenings, m.Openings)     // T-11
	c.Lambda = d.Elements(transcript.TagBatch, 1)[0] // T-12
	for _, root := range m.Layers {
		d.Absorb(transcript.TagLayer, root)                             // T-13
		c.Betas = append(c.Betas, d.Elements(transcript.TagBeta, 1)[0]) // T-14
	}
	d.Absorb(transcript.TagFinal, m.Final)      // T-15
	d.Grind(m.Nonce)                            // T-16
	d.Absorb(transcript.TagNonce, []W{m.Nonce}) // T-17
	d.Queries()                                 // T-18
	return c
}

// drawer is this verifier's transcript.
type drawer struct {
	*transcript.Transcript
	count, logTop int         // of queries; log2 of the domain that they are drawn from
	grind         hash.Digest // T-16
	queries       []uint32    // T-18, in the order in which they are drawn
}

func (*drawer) Number(x uint64) uint64 { return x }

func (d *drawer) Elements(tag transcript.Tag, n int) []field.Ext {
	c, out := d.Challenge(tag), make([]field.Ext, n)
	for i := range out {
		out[i] = c.Ext()
	}
	return out
}

func (d *drawer) Grind(uint64) { d.grind = d.GrindState() }

func (d *drawer) Queries() { d.queries = DrawQueries(d.Transcript, d.count, d.logTop) }

// statement is the statement of claims, with the shapes and main roots of the shards.
func statement(key *Key, claims []formats.Claim, shapes []*Shape, roots []formats.Digest) *Statement[uint64] {
	s := &Statement[uint64]{Key: transcript.AppendDigest(nil, key.digest), Claims: make([]ClaimWords[uint64], len(claims)), Shapes: shapes}
	for i := range claims {
		c := &claims[i]
		s.Claims[i] = ClaimWords[uint64]{uint64(c.Entry), transcript.AppendElements(transcript.AppendElements(nil, c.Args), c.Results)}
	}
	for i := range roots {
		s.Roots = append(s.Roots, transcript.AppendDigest(nil, roots[i]))
	}
	return s
}

// drawBatch performs T-1 to T-6 for a proof.
func drawBatch(key *Key, p *formats.Proof, shapes []*Shape) (*transcript.Transcript, *BatchChallenges[field.Ext]) {
	roots, pins := make([]formats.Digest, len(p.Shards)), make([][]uint64, len(p.Shards))
	for i := range p.Shards {
		roots[i], pins[i] = p.Shards[i].Main, transcript.AppendElements(nil, p.Shards[i].Pins)
	}
	d := &drawer{Transcript: transcript.New(key.Suite)}
	return d.Transcript, DrawBatch[uint64, field.Ext](d, statement(key, p.Claims, shapes, roots), pins)
}

// drawShard performs T-7 to T-18 for a shard, whose parts have the lengths that its shape asks for, on its fork.
func drawShard(tr *transcript.Transcript, key *Key, s *Shape, p *formats.Shard) (*drawer, *ShardChallenges[field.Ext]) {
	m := &ShardWords[uint64]{
		Quotient: transcript.AppendDigest(nil, p.Quotient), Openings: transcript.AppendElements(nil, p.Openings), Final: transcript.AppendElements(nil, p.Final), Nonce: p.Nonce,
	}
	if len(p.Aux) > 0 {
		m.Aux = transcript.AppendElements(transcript.AppendDigest(nil, p.Aux[0]), p.Sums)
	}
	for _, root := range p.LayerRoot {
		m.Layers = append(m.Layers, transcript.AppendDigest(nil, root))
	}
	d := &drawer{Transcript: tr, count: key.Profile.Queries, logTop: s.Schedule.LogSize(0)}
	return d, DrawShard[uint64, field.Ext](d, m)
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
