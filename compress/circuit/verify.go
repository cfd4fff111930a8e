package circuit

import (
	"math/big"

	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/compress/goldilocks"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
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

	// Everything that is absorbed is words; roots are cut into theirs.
	v.enter("transcript")
	m := v.read()
	statement := &verifier.Statement[frontend.Variable]{Key: constantWords(digest), Shapes: []*verifier.Shape{v.Shape}, Roots: [][]frontend.Variable{digestWords(v.chip, w.Main)}}
	for i := range claims {
		statement.Claims = append(statement.Claims, verifier.ClaimWords[frontend.Variable]{Entry: claims[i].entry, Elements: words(claims[i].elements...)})
	}
	sent := &verifier.ShardWords[frontend.Variable]{Quotient: digestWords(v.chip, w.Quotient), Openings: extWords(m.openings), Final: extWords(m.final), Nonce: m.nonce.Variable()}
	if len(w.Aux) > 0 {
		sent.Aux = append(digestWords(v.chip, w.Aux[0]), extWords(m.sums)...)
	}
	for _, root := range w.Roots {
		sent.Layers = append(sent.Layers, digestWords(v.chip, root))
	}
	tr := newChallenger(v.api, v.chip, v.key.Profile, v.Schedule.LogSize(0))
	batch := verifier.DrawBatch[frontend.Variable, goldilocks.Ext](tr, statement, [][]frontend.Variable{extWords(m.pins)}) // T-1 to T-6
	tr.fork(0)
	shard := verifier.DrawShard[frontend.Variable, goldilocks.Ext](tr, sent) // T-7 to T-18, P-28
	v.pins, v.pinPoint, v.pinFold = m.pins, batch.PinPoint, batch.PinFold
	v.alpha, v.gammas = batch.Alpha, []goldilocks.Ext{batch.Gamma}
	v.zetas = []goldilocks.Ext{shard.Zeta}
	v.chip.AssertOutsideBase(v.pinPoint) // P-26
	v.chip.AssertOutsideBase(shard.Zeta) // P-26

	v.enter("sha256")
	v.bindClaims(c.Claims, statement.Words(tr.Number))
	v.enter("lookups")
	v.balance(claims, m.sums) // P-24, P-25
	v.enter("constraints")
	v.readOpenings(m.openings, m.sums)
	for i := range v.Tables {
		v.constraintsHold(i, shard.Delta) // P-27
	}
	v.enter("openings")
	deep := v.newBatch(shard.Lambda)
	fold := v.newFolds(shard.Betas, m.final)
	v.enter("hashes")
	trees := v.trees()
	crowns := v.crowns()
	for q, bits := range tr.queries {
		opened := v.openTrees(trees, crowns, bits, w.Queries[q]) // P-31, P-34
		v.query(deep, fold, bits, opened)                        // P-35
	}
}

// crowns are those of the trees, under their roots.
func (v *checker) crowns() []crown {
	w := v.witness
	var roots []frontend.Variable
	for i := range v.Trees {
		switch t := &v.Trees[i]; t.Kind {
		case verifier.Fixed:
			roots = append(roots, digest(v.Tables[t.Tables[0]].Fixed[0].Root))
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

// messages are what the prover sends besides digests.
type messages struct {
	pins, sums, openings, final []goldilocks.Ext
	nonce                       goldilocks.Element
}

// read reads the messages, all of them words. Three of the transcript share a lane: were one of them larger, others would have the same lane, to be chosen among when the challenges are known.
func (v *checker) read() *messages {
	w := v.witness
	return &messages{pins: v.words(w.Pins), sums: v.words(w.Sums), openings: v.words(w.Openings), final: v.words(w.Final), nonce: v.word(w.Nonce)}
}

// word is a variable of the witness that is hashed, checked to be below 2^64: lanes of words are then injective.
func (v *checker) word(x frontend.Variable) goldilocks.Element { return v.chip.Word(x) }

// words are elements of E of the witness, their coefficients words.
func (v *checker) words(es []ext) []goldilocks.Ext {
	out := make([]goldilocks.Ext, len(es))
	for i, e := range es {
		for k := range e {
			out[i][k] = v.word(e[k])
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
