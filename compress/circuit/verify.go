package circuit

import (
	"math/big"

	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/compress/goldilocks"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/transcript"
)

// checker makes the constraints of the verifier. Its methods follow verifier.Verify; P-n and T-n are those of docs/protocol.md.
type checker struct {
	hasher
	*shape
	api     frontend.API
	chip    *goldilocks.Chip
	witness *witness
	enter   meter

	alpha             goldilocks.Ext
	gammas            []goldilocks.Ext // gamma, gamma^2, …
	pinPoint, pinFold goldilocks.Ext
	zetas             []goldilocks.Ext // zeta, zeta^2, zeta^4, …
	pins              []goldilocks.Ext
	opened            []tableOpenings
}

// tableOpenings holds the values that a table opens, by kind; those in the next row are in the order of NextColumns.
type tableOpenings struct {
	here, next [verifier.NumKinds][]goldilocks.Ext
	sum        goldilocks.Ext
}

func (v *checker) check(c *rootCircuit) {
	w := v.witness
	v.enter("statement")
	digest, id := v.key.Digest(), v.protocolID()
	for i, half := range [][]byte{digest[:16], digest[16:]} {
		v.api.AssertIsEqual(c.Program[i], new(big.Int).SetBytes(half)) // P-4
	}
	v.api.AssertIsEqual(c.Protocol, new(big.Int).SetBytes(id[:]))
	claims := v.claims() // P-6 to P-8
	statement := []frontend.Variable{v.shape.claims}
	for i := range claims {
		statement = append(statement, claims[i].words()...)
	}
	v.enter("sha256")
	v.bindClaims(c.Claims, statement)

	v.enter("transcript")
	tr := newChallenger(v.api, v.chip)
	tr.absorb(transcript.TagKey, constantWords(digest)...) // T-1
	tr.absorb(transcript.TagClaims, statement...)          // T-2
	headers := []frontend.Variable{1, len(v.Tables)}
	for i := range v.Tables {
		headers = append(headers, v.Tables[i].Index, v.Tables[i].LogHeight)
	}
	tr.absorb(transcript.TagHeaders, append(headers, tr.digestWords(w.Main)...)...) // T-3
	tr.challenge(transcript.TagPinPoint)                                            // T-4
	v.pinPoint, v.pinFold = tr.squeeze(0), tr.squeeze(1)
	v.chip.AssertOutsideBase(v.pinPoint) // P-26
	v.pins = v.words(w.Pins)
	tr.absorbExt(transcript.TagPins, v.pins) // T-5
	tr.challenge(transcript.TagLookup)       // T-6
	v.alpha = tr.squeeze(0)
	v.gammas = []goldilocks.Ext{tr.squeeze(1)}
	sums := v.words(w.Sums)
	tr.fork(0)
	if len(w.Aux) > 0 { // T-7
		message := tr.digestWords(w.Aux[0])
		for _, s := range sums {
			message = append(message, words(s[:]...)...)
		}
		tr.absorb(transcript.TagAux, message...)
	}
	tr.challenge(transcript.TagFold) // T-8
	delta := tr.squeeze(0)
	tr.absorb(transcript.TagQuotient, tr.digestWords(w.Quotient)...) // T-9
	tr.challenge(transcript.TagZeta)                                 // T-10
	v.zetas = []goldilocks.Ext{tr.squeeze(0)}
	openings := v.words(w.Openings)
	tr.absorbExt(transcript.TagOpenings, openings) // T-11
	tr.challenge(transcript.TagBatch)              // T-12
	lambda := tr.squeeze(0)
	v.chip.AssertOutsideBase(v.zetas[0]) // P-26
	var betas []goldilocks.Ext
	for _, root := range w.Roots {
		tr.absorb(transcript.TagLayer, tr.digestWords(root)...) // T-13
		tr.challenge(transcript.TagBeta)                        // T-14
		betas = append(betas, tr.squeeze(0))
	}
	final := v.words(w.Final)
	tr.absorbExt(transcript.TagFinal, final) // T-15
	tr.challenge(transcript.TagGrind)        // T-16
	nonce := v.chip.Word(w.Nonce)
	if bits := v.key.Profile.GrindingBits; bits > 0 { // P-28
		v.chip.AssertLowBitsZero(tr.grind(w.Nonce), bits)
	} else {
		v.api.AssertIsEqual(w.Nonce, 0)
	}
	tr.absorb(transcript.TagNonce, words(nonce)...) // T-17
	tr.challenge(transcript.TagQueries)             // T-18
	logTop := v.Schedule.LogSize(0)
	queries := make([][]frontend.Variable, len(w.Queries))
	var block goldilocks.Ext
	for q := range queries {
		if q%3 == 0 {
			block = tr.squeeze(uint64(q / 3))
		}
		queries[q] = v.chip.LowBits(block[q%3], logTop)
	}

	v.enter("lookups")
	v.balance(claims, sums) // P-24, P-25
	v.enter("constraints")
	v.readOpenings(openings, sums)
	for i := range v.Tables {
		v.constraintsHold(i, delta) // P-27
	}
	v.enter("openings")
	batch := v.newBatch(lambda)
	fold := v.newFolds(betas, final)
	v.enter("hashes")
	trees := v.trees()
	crowns := v.crowns()
	for q, bits := range queries {
		opened := v.openTrees(trees, crowns, bits, w.Queries[q]) // P-31, P-34
		v.query(batch, fold, bits, opened)                       // P-35
	}
}

// crowns are those of the trees, under their roots.
func (v *checker) crowns() []crown {
	w := v.witness
	var roots []frontend.Variable
	for i := range v.Trees {
		switch t := &v.Trees[i]; t.Kind {
		case verifier.Fixed:
			words := constantWords(v.Tables[t.Tables[0]].Fixed[0].Root)
			sum := new(big.Int)
			for k, word := range words {
				sum.Add(sum, shifted(word.(uint64), 64*k))
			}
			roots = append(roots, sum)
		case verifier.Main:
			roots = append(roots, w.Main)
		case verifier.Aux:
			roots = append(roots, w.Aux[0])
		case verifier.Quotient:
			roots = append(roots, w.Quotient)
		}
	}
	roots = append(roots, w.Roots...)
	out := make([]crown, len(roots))
	for i, root := range roots {
		out[i] = v.crown(root, w.Crowns[i])
	}
	return out
}

// words are elements of E of the witness, each coefficient checked to be below 2^64.
func (v *checker) words(es []ext) []goldilocks.Ext {
	out := make([]goldilocks.Ext, len(es))
	for i, e := range es {
		for k := range e {
			out[i][k] = v.chip.Word(e[k])
		}
	}
	return out
}

func (v *checker) readOpenings(openings, sums []goldilocks.Ext) {
	take := func(n int) (out []goldilocks.Ext) {
		out, openings = openings[:n], openings[n:]
		return out
	}
	v.opened = make([]tableOpenings, len(v.Tables))
	for i := range v.Tables {
		t, o := &v.Tables[i], &v.opened[i]
		for k := range verifier.NumKinds {
			o.here[k] = take(t.Columns(k))
			o.next[k] = take(len(t.NextColumns(k)))
		}
		if t.HasLookups() {
			o.sum, sums = sums[0], sums[1:]
		}
	}
}

// zetaPower is zeta^(2^k).
func (v *checker) zetaPower(k int) goldilocks.Ext {
	for len(v.zetas) <= k {
		last := v.zetas[len(v.zetas)-1]
		v.zetas = append(v.zetas, v.chip.ReduceExt(v.chip.MulExt(last, last)))
	}
	return v.zetas[k]
}

// root is the primitive 2^k-th root of unity; k is at most the logarithm of a domain.
func root(k int) field.Element {
	w, _ := field.RootOfUnity(k)
	return w
}

func inverse(a field.Element) field.Element {
	i, _ := field.Inverse(a)
	return i
}
