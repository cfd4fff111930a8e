package verifier

import (
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/fri"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/logup"
	"github.com/ixprove/ixprove/verifier/merkle"
	"github.com/ixprove/ixprove/verifier/security"
	"github.com/ixprove/ixprove/verifier/transcript"
)

// Policy is what the caller demands of a proof, beyond its key. The zero value is the default.
type Policy struct {
	MaxProofBytes int             // 0 stands for formats.MaxProofBytes
	MinBits       int             // least proven bits of security, 0 stands for 128
	MinDigestBits int             // least bits of work for a collision of digests, 0 stands for 126
	Insecure      bool            // accept any number of bits, for tests and development
	Claims        []formats.Claim // the claims that the proof must make, in order; nil accepts any and reports them
}

// DefaultMinBits is the proven security that a policy demands unless it says otherwise.
const DefaultMinBits = 128

// DefaultMinDigestBits is the collision resistance of digests that a policy demands unless it says otherwise: what both suites have (docs/security.md, Digests).
const DefaultMinDigestBits = 126

// Verify checks a batch proof against a key (P-1 to P-38). The error is an *Error of class Limit, Malformed, Incompatible or Rejected. A proof that is accepted
// proves the report's claims, in the sense of docs/security.md.
func Verify(key *Key, proof []byte, policy Policy) (*Report, error) {
	maxBytes := policy.MaxProofBytes
	if maxBytes == 0 {
		maxBytes = formats.MaxProofBytes
	}
	p, err := formats.DecodeProof(proof, maxBytes) // P-1 to P-3
	if err != nil {
		return nil, err
	}
	if p.Key != key.digest {
		return nil, &Error{Class: formats.Incompatible, Check: "P-4", Place: "key", What: "the proof was made under another key",
			Expected: Hex(key.digest), Got: Hex(p.Key), Next: "verify it with its own key, if that is a program you trust"}
	}
	if err := CheckClaims(key, p.Claims); err != nil { // P-5 to P-8
		return nil, err
	}
	if policy.Claims != nil {
		if err := checkExpected(p.Claims, policy.Claims); err != nil { // P-9
			return nil, err
		}
	}
	shapes, err := checkShards(key, p, policy) // P-10 to P-23
	if err != nil {
		return nil, err
	}

	tr, batch := drawBatch(key, p, shapes)
	if batch.PinPoint.InBase() {
		return nil, rejected("P-26", "batch", "the pinning point lies in the base field")
	}
	ch := logup.NewChallenges(batch.Alpha, batch.Gamma, key.messageSize)

	// The lookups of all shards and the claims balance.
	total, ok := ClaimSum(key, p.Claims, ch)
	if !ok {
		return nil, rejected("P-24", "claims", "a claim's lookup denominator is zero")
	}
	for i := range p.Shards {
		sums := p.Shards[i].Sums
		for k := range sums.Len() / 3 {
			total = field.AddExt(total, extAt(sums, k))
		}
	}
	if !total.IsZero() {
		return nil, rejected("P-25", "batch", "the lookups of the tables and the claims do not balance")
	}

	for i := range p.Shards {
		v := shardVerifier{key: key, Shape: shapes[i], proof: &p.Shards[i], lookup: ch, pinPoint: batch.PinPoint, pinFold: batch.PinFold}
		if err := v.verify(tr.Fork(uint64(i))); err != nil {
			err.Place = "shard " + strconv.Itoa(i) + ", " + err.Place
			return nil, err
		}
	}
	return newReport(key, p, shapes, len(proof)), nil
}

func extAt(e formats.Elements, i int) field.Ext {
	return field.Ext{field.Element(e.At(3 * i)), field.Element(e.At(3*i + 1)), field.Element(e.At(3*i + 2))}
}

// checkShards checks everything about the shards that their tables determine, before any of it is used.
func checkShards(key *Key, p *formats.Proof, policy Policy) ([]*Shape, error) {
	if len(p.Shards) < 1 { // the decoder has the upper limit
		e := rejected("P-10", "shards", "the number of shards is out of range").Mismatch(1, uint64(len(p.Shards)))
		e.Expected = "1 to " + strconv.Itoa(formats.MaxShards)
		return nil, e
	}
	shapes := make([]*Shape, len(p.Shards))
	for i := range p.Shards {
		tables, err := CheckTables(key, i, p.Shards[i].Tables) // P-11 to P-15
		if err != nil {
			return nil, err
		}
		shapes[i] = NewShape(key, tables)
	}
	if err := CheckWeights(shapes, len(p.Claims)); err != nil { // P-16
		return nil, err
	}
	if err := CheckWork(shapes); err != nil { // P-36
		return nil, err
	}
	if !policy.Insecure {
		least, leastDigest := policy.MinBits, policy.MinDigestBits
		if least == 0 {
			least = DefaultMinBits
		}
		if leastDigest == 0 {
			leastDigest = DefaultMinDigestBits
		}
		terms := security.Terms(key.Profile, Security(shapes, len(p.Claims)), security.Johnson)
		if bits := security.Level(terms); bits < least {
			e := rejected("P-17", "batch", "the proof's parameters prove too little").Mismatch(uint64(least), uint64(bits))
			e.Expected += " proven bits"
			e.Next = "prove with a stronger profile or in smaller batches, or lower the policy if this is a test"
			return nil, e
		}
		if bits := security.DigestLevel(terms); bits < leastDigest {
			e := rejected("P-17", "suite", "the digests of the proof's suite collide for less work").Mismatch(uint64(leastDigest), uint64(bits))
			e.Expected += " bits"
			e.Next = "prove with a profile of another suite, or lower the policy"
			return nil, e
		}
	}
	for i, s := range shapes {
		if err := CheckLengths(s, &p.Shards[i], i); err != nil {
			return nil, err
		}
		if !canonicalDigests(key.Suite, &p.Shards[i]) {
			e := rejected("P-37", "shard "+strconv.Itoa(i), "32 bytes are no digest of the suite")
			e.Expected = "digests of " + key.Suite.Name()
			return nil, e
		}
	}
	return shapes, nil
}

// CheckLengths checks that the parts of a shard have the lengths that its shape asks for (P-18 to P-23). index names the shard in errors.
func CheckLengths(s *Shape, shard *formats.Shard, index int) error {
	lookups := s.Lookups()
	for _, c := range []struct {
		check, what string
		want, got   int
	}{
		{"P-18", "auxiliary root", min(lookups, 1), len(shard.Aux)},
		{"P-19", "elements of sums", 3 * lookups, shard.Sums.Len()},
		{"P-20", "elements of openings", 3 * s.Openings(), shard.Openings.Len()},
		{"P-20", "elements of pins", 3 * len(s.Tables), shard.Pins.Len()},
		{"P-21", "FRI layer roots", len(s.Schedule.Steps), len(shard.LayerRoot)},
		{"P-22", "elements of the final polynomial", 3 << s.Schedule.Final, shard.Final.Len()},
		{"P-23", "multiproofs of trees", len(s.Trees), len(shard.Trees)},
		{"P-23", "multiproofs of layers", len(s.Schedule.Steps), len(shard.Layers)},
	} {
		if c.want != c.got {
			return rejected(c.check, "shard "+strconv.Itoa(index)+", "+c.what, "a part has another length than the tables need").Mismatch(uint64(c.want), uint64(c.got))
		}
	}
	return nil
}

// canonicalDigests checks the roots and siblings of a shard: a suite may have fewer digests than 32 bytes have values, and none may have two encodings.
func canonicalDigests(suite hash.Suite, s *formats.Shard) bool {
	ok := suite.Canonical(s.Main[:]) && suite.Canonical(s.Quotient[:])
	for _, roots := range [][]formats.Digest{s.Aux, s.LayerRoot} {
		for i := range roots {
			ok = ok && suite.Canonical(roots[i][:])
		}
	}
	for _, openings := range [][]formats.Opening{s.Trees, s.Layers} {
		for i := range openings {
			ok = ok && suite.Canonical(openings[i].Siblings)
		}
	}
	return ok
}

// shardVerifier checks one shard on its fork of the transcript.
type shardVerifier struct {
	key *Key
	*Shape
	proof             *formats.Shard
	lookup            *logup.Challenges
	pinPoint, pinFold field.Ext
	zeta              field.Ext
	opened            []tableOpenings
}

// tableOpenings holds the values that a table opens, by kind; those in the next row are in the order of NextColumns.
type tableOpenings struct {
	here, next [NumKinds][]field.Ext
	sum        field.Ext
}

func (v *shardVerifier) verify(tr *transcript.Transcript) *Error {
	p := v.proof
	drawn, c := drawShard(tr, v.key, v.Shape, p)
	v.zeta = c.Zeta
	if v.zeta.InBase() {
		return rejected("P-26", "zeta", "the evaluation point lies in the base field")
	}
	v.readOpenings()
	for i := range v.Tables {
		if !v.constraintsHold(i, c.Delta) {
			return rejected("P-27", "table "+strconv.Itoa(i), "the constraints do not hold at the evaluation point")
		}
	}

	f := fri.Proof{Roots: p.LayerRoot, Betas: c.Betas, Layers: p.Layers}
	for k := range p.Final.Len() / 3 {
		f.Final = append(f.Final, extAt(p.Final, k))
	}
	bits := v.key.Profile.GrindingBits
	if bits == 0 && p.Nonce != 0 || bits > 0 && v.key.Suite.Grind(&drawn.grind, p.Nonce)<<(64-bits) != 0 {
		return rejected("P-28", "nonce", "the nonce does not meet the proof of work")
	}
	logTop := v.Schedule.LogSize(0)
	indices := SortDistinct(drawn.queries)

	opened := make([]*merkle.Opened, len(v.Trees))
	for i := range v.Trees {
		t := &v.Trees[i]
		at := merkle.Distinct(indices, logTop-t.LogRows())
		o, failure := t.Verify(v.root(t), at, &p.Trees[i])
		place := t.Kind.String() + " tree"
		switch failure.Fault {
		case merkle.RowBytes:
			return rejected("P-29", place, "the rows are not those that the queries need").Mismatch(failure.Expected, failure.Got)
		case merkle.Siblings:
			return rejected("P-30", place, "the siblings are not those that the queries need").Mismatch(failure.Expected, failure.Got)
		case merkle.Root:
			return rejected("P-31", place, "the multiproof leads to another root")
		}
		opened[i] = o
	}
	return fri.Verify(v.key.Suite, &v.Schedule, indices, v.codewords(indices, opened, c.Lambda), &f) // P-32 to P-35
}

func (v *shardVerifier) root(t *Tree) *formats.Digest {
	switch t.Kind {
	case Fixed:
		return &v.Tables[t.Tables[0]].Fixed[0].Root
	case Main:
		return &v.proof.Main
	case Aux:
		return &v.proof.Aux[0]
	}
	return &v.proof.Quotient
}

func (v *shardVerifier) readOpenings() {
	at, sum := 0, 0
	take := func(n int) []field.Ext {
		out := make([]field.Ext, n)
		for i := range out {
			out[i] = extAt(v.proof.Openings, at)
			at++
		}
		return out
	}
	v.opened = make([]tableOpenings, len(v.Tables))
	for i := range v.Tables {
		t, o := &v.Tables[i], &v.opened[i]
		for k := range NumKinds {
			o.here[k] = take(t.Columns(k))
			o.next[k] = take(len(t.NextColumns(k)))
		}
		if t.HasLookups() {
			o.sum = extAt(v.proof.Sums, sum)
			sum++
		}
	}
}
