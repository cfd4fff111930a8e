package prover_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/fri"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/logup"
	"github.com/ixprove/ixprove/verifier/merkle"
)

// The commitments of a batch of one toy shard, in the order in which they are made, and the toy tables in their order.
const (
	commitFixed = iota
	commitMain
	commitAux
	commitQuotient
)

const (
	tableRange = iota
	tableTall
	tableLow
	tableSquare
	tableEcho
	tableQuiet
)

// forgery is a proof that a prover who controls every step could make.
type forgery struct {
	check, name string // the check that is there to refuse it
	place       string // part of the error's place
	witness     *prover.Witness
	hooks       hooks
}

// forgeries are for a sample of the toy system. Those whose witness has three shards are for samples with uneven entries only.
func forgeries(toy *sample) []forgery {
	one := field.Ext{1}
	wrongDigit := changed(func(tables []prover.Table) { tables[tableTall].Trace.(writer)[2][100]++ })
	wrongEnd := changed(func(tables []prover.Table) { tables[tableTall].Trace.(writer)[2][255] = 1 })
	falseClaim := withClaims(func(c []formats.Claim) []formats.Claim { bump(c[0].Results, 0); return c })
	extraClaim := withClaims(func(c []formats.Claim) []formats.Claim { return append(c, c[0]) })
	return []forgery{
		{"P-27", "a wrong trace, the rest honest", "table 1", wrongDigit, balanced(toy, wrongDigit)},
		{"P-27", "a wrong row after the last claim", "table 1", changed(func(tables []prover.Table) { tables[tableTall].Trace.(writer)[1][250]++ }), hooks{}},
		{"P-27", "a column that ends wrongly", "table 1", wrongEnd, balanced(toy, wrongEnd)},
		{"P-27", "a padding row that supplies a result", "table 4", padded(), hooks{}},
		{"P-27", "the quotient of another trace", "table 5", toyWitness(1), anotherTrace()},
		{"P-27", "a quotient of nothing", "table 3", toyWitness(1), hooks{slices: func(s *plain, slices []prover.Matrix) []prover.Matrix {
			t := toy.pk.Circuits[circuitSquare]
			slices[tableSquare], _ = s.columns(newTrace(t.QuotientColumns(), 2))
			return slices
		}}},
		{"P-27", "a quotient without its upper half", "table 1", toyWitness(1), hooks{extend: func(c *plainCommit) {
			if c.number == commitQuotient {
				for _, column := range c.matrices[tableTall][3:] {
					clear(column)
				}
			}
		}}},
		{"P-27", "a false claim with a sum that compensates it", "table 4", falseClaim, balanced(toy, falseClaim)},
		{"P-27", "a claim nobody answers", "table 4", extraClaim, balanced(toy, extraClaim)},
		{"P-27", "a wrong accumulator", "table 3", toyWitness(1), hooks{lookups: func(s *plain, t *verifier.Table, _ *logup.Challenges, m prover.Matrix, sum field.Ext) (prover.Matrix, field.Ext) {
			if t.Index == circuitSquare {
				columns := newTrace(t.AuxColumns(), t.LogHeight)
				columns[0][1] = 77
				m, _ = s.columns(columns)
			}
			return m, sum
		}}},
		{"P-27", "sums that balance across tables but are not theirs", "table 1", toyWitness(1), shifted(circuitLadder, 8, circuitLadder, 5)},
		{"P-27", "sums that balance across shards but are not theirs", "shard 0, table 0", toyWitness(3), shifted(circuitRange, rangeLog, circuitLadder, 8)},
		{"P-31", "another fixed table under the key's root", "fixed tree", wrongDigits(), wrongTable(toy)},
		{"P-31", "a main root of another tree", "main tree", toyWitness(1), lie(commitMain)},
		{"P-31", "an auxiliary root of another tree", "auxiliary tree", toyWitness(1), lie(commitAux)},
		{"P-31", "a quotient root of another tree", "quotient tree", toyWitness(1), lie(commitQuotient)},
		{"P-31", "an honest opening of other rows", "main tree", toyWitness(1), hooks{open: func(c *plainCommit, indices []uint32) []uint32 {
			if c.number != commitMain {
				return indices
			}
			out := make([]uint32, len(indices))
			for i, q := range indices { // the neighbour of an index that is alone below its parent
				if out[i] = q; (i == 0 || indices[i-1]^q != 1) && (i+1 == len(indices) || indices[i+1]^q != 1) {
					out[i] = q ^ 1
				}
			}
			return out
		}}},
		{"P-35", "values at zeta that satisfy the constraints but are not the columns'", "", toyWitness(1), forgedValues()},
		{"P-35", "a column far from low degree", "", toyWitness(1), hooks{extend: func(c *plainCommit) {
			if c.number == commitMain {
				free := c.matrices[tableQuiet][1]
				x := field.Element(3)
				for i := range free {
					x = field.Add(field.Mul(x, x), 1)
					free[i] = x
				}
			}
		}}},
		{"P-35", "a column of too high a degree for its height but not for the tallest", "shard 1", toyWitness(3), highDegree(2, 2)},
		{"P-35", "a tallest column of too high a degree", "shard 2", toyWitness(3), highDegree(3, 0)},
		{"P-35", "a pin of no trace", "", toyWitness(1), hooks{pin: func(t *verifier.Table, v field.Ext) field.Ext {
			if t.Index == circuitQuiet {
				v = field.AddExt(v, one)
			}
			return v
		}}},
		{"P-34", "a pin of another trace, with its words", "layer 1", toyWitness(1), anotherPin()},
		{"P-34", "the quotients of other openings in the tallest word", "layer 0", toyWitness(1), hooks{deep: func(log int, word []field.Ext) {
			if log == 8 {
				clear(word)
			}
		}}},
		{"P-34", "the quotients of other openings in a word that enters", "layer 1", toyWitness(1), hooks{deep: func(log int, word []field.Ext) {
			if log == 7 {
				clear(word)
			}
		}}},
		{"P-35", "the quotients of other openings in the last word that enters", "", toyWitness(1), hooks{deep: func(log int, word []field.Ext) {
			if log == 1 {
				clear(word)
			}
		}}},
		{"P-34", "one layer cheats", "layer 2", toyWitness(1), hooks{folded: func(layer int, word []field.Ext) {
			if layer == 1 {
				clear(word)
			}
		}}},
		{"P-34", "a fold with another challenge", "layer 1", toyWitness(1), hooks{beta: func(layer int, beta field.Ext) field.Ext {
			if layer == 0 {
				beta = field.AddExt(beta, one)
			}
			return beta
		}}},
		{"P-35", "the last fold with another challenge", "", toyWitness(1), hooks{beta: func(layer int, beta field.Ext) field.Ext {
			if layer == 4 {
				beta = field.AddExt(beta, one)
			}
			return beta
		}}},
		{"P-22", "a final polynomial of too high a degree", "", toyWitness(1), hooks{final: func(f []field.Ext, _ *fri.Schedule) []field.Ext { return append(f, one) }}},
		{"P-35", "a final polynomial fitted to another word", "", toyWitness(1), hooks{final: func(f []field.Ext, _ *fri.Schedule) []field.Ext {
			clear(f)
			return f
		}}},
		{"P-28", "a nonce that is not ground", "nonce", toyWitness(1), hooks{grind: func(suite hash.Suite, state formats.Digest, bits int, nonce uint64) uint64 {
			for nonce++; suite.Grind(&state, nonce)<<(64-bits) == 0; nonce++ {
			}
			return nonce
		}}},
		{"P-28", "a nonce ground to a bit less", "nonce", toyWitness(1), hooks{grind: func(suite hash.Suite, state formats.Digest, bits int, _ uint64) uint64 {
			nonce := uint64(0)
			for ; suite.Grind(&state, nonce)<<(65-bits) != 0 || suite.Grind(&state, nonce)<<(64-bits) == 0; nonce++ {
			}
			return nonce
		}}},
	}
}

// TestDishonestProver makes them all, and expects the check that is there to refuse each.
func TestDishonestProver(t *testing.T) {
	toy := samples()["toy"]
	for _, c := range forgeries(toy) {
		t.Run(c.check+" "+c.name, func(t *testing.T) {
			data := proveWith(t, cheat{c.hooks}, toy.pk, c.witness)
			_, err := verify(t, toy.pk.Key, data, policy)
			refused(t, err, c.check, formats.Rejected)
			if e := new(formats.Error); errors.As(err, &e) && !strings.Contains(e.Place, c.place) {
				t.Errorf("refused at %q, want %q", e.Place, c.place)
			}
		})
	}
}

// TestHonestCheat proves with no hook: the same bytes as the CPU's, so that a refusal above is the hook's doing.
func TestHonestCheat(t *testing.T) {
	for name, s := range samples() {
		if string(proveWith(t, cheat{}, s.pk, s.witness)) != string(s.data) {
			t.Errorf("%s: another proof", name)
		}
	}
}

// changed is the toy witness in one shard with changed traces.
func changed(change func(tables []prover.Table)) *prover.Witness {
	w := toyWitness(1)
	change(w.Shards[0].Tables)
	return w
}

// balanced states, for the last table with lookups, the sum that makes all sums and claims of the witness add up to zero.
func balanced(toy *sample, w *prover.Witness) hooks {
	total := field.Ext{}
	return hooks{lookups: func(_ *plain, t *verifier.Table, ch *logup.Challenges, m prover.Matrix, sum field.Ext) (prover.Matrix, field.Ext) {
		if t.Index != circuitEcho {
			total = field.AddExt(total, sum)
			return m, sum
		}
		claims, _ := verifier.ClaimSum(toy.pk.Key, toy.fit(w).Claims, ch)
		return m, field.SubExt(field.Ext{}, field.AddExt(total, claims))
	}}
}

// shifted moves 1 from the sum of one table to that of another.
func shifted(from, fromLog, to, toLog int) hooks {
	return hooks{lookups: func(_ *plain, t *verifier.Table, _ *logup.Challenges, m prover.Matrix, sum field.Ext) (prover.Matrix, field.Ext) {
		switch {
		case t.Index == from && t.LogHeight == fromLog:
			sum = field.SubExt(sum, field.Ext{1})
		case t.Index == to && t.LogHeight == toLog:
			sum = field.AddExt(sum, field.Ext{1})
		}
		return m, sum
	}}
}

// padded claims that the square of 0 is 5, from rows beyond the honest ones.
func padded() *prover.Witness {
	w := toyWitness(1)
	tables := w.Shards[0].Tables
	square, echo := tables[tableSquare].Trace.(writer), newTrace(3, 2)
	for c, column := range tables[tableEcho].Trace.(writer) {
		copy(echo[c], column)
	}
	square[2][2], square[3][2] = 5, 1
	echo[1][2], echo[2][2] = 5, 2
	tables[tableEcho].Trace, tables[tableEcho].LogHeight = echo, 2
	w.Claims = append(w.Claims, formats.Claim{Entry: entrySquare, Args: elements(0, 0), Results: elements(5)})
	return w
}

func withClaims(change func(c []formats.Claim) []formats.Claim) *prover.Witness {
	w := toyWitness(1)
	w.Claims = change(w.Claims)
	return w
}

// anotherTrace computes the quotient of the table without lookups from another trace that satisfies its constraints.
func anotherTrace() hooks {
	return hooks{quotient: func(s *plain, t *verifier.Table, main prover.Columns) prover.Columns {
		if t.Index != circuitQuiet {
			return main
		}
		trace := newTrace(2, t.LogHeight)
		trace[0][0] = 5
		for r := 1; r < len(trace[0]); r++ {
			trace[0][r] = field.Mul(trace[0][r-1], 3)
		}
		m, _ := s.Session.Fixed(trace)
		c, _ := s.Session.Commit(merkle.NewTree(s.suite, []merkle.Matrix{{LogRows: t.LogHeight + s.logBlowup, Width: 2}}), []prover.Matrix{m})
		return prover.Columns{In: c}
	}}
}

// lie changes the root that is said to be a commitment's.
func lie(number int) hooks {
	return hooks{root: func(c *plainCommit, honest formats.Digest) formats.Digest {
		if c.number == number {
			honest[0]++
		}
		return honest
	}}
}

// wrongDigits uses -1 in place of the digit 15, as a table that counts from -1 would allow.
func wrongDigits() *prover.Witness {
	return toyWitnessOf(1, func(x int) (field.Element, int) {
		if x == 15 {
			return field.Neg(1), 0
		}
		return field.Element(x), x + 1
	})
}

// wrongTable commits to that table and says that its root is the key's.
func wrongTable(toy *sample) hooks {
	return hooks{
		fixed: func(columns [][]field.Element) [][]field.Element {
			t := newTrace(1, rangeLog)
			for r := range t[0] {
				t[0][r] = field.Sub(columns[0][r], 1)
			}
			return t
		},
		root: func(c *plainCommit, honest formats.Digest) formats.Digest {
			if c.number == commitFixed {
				return toy.pk.Circuits[circuitRange].Fixed[0].Root
			}
			return honest
		},
	}
}

// forgedValues says that the column w is worth 1 more at zeta, and gives the quotient the value that this needs.
func forgedValues() hooks {
	var here, next field.Ext
	return hooks{evaluate: func(c prover.Columns, log int, z field.Ext, which []int, values []field.Ext) {
		switch number := c.In.(*plainCommit).number; {
		case c.Index != tableQuiet && !(number == commitQuotient && c.Index == tableQuiet):
		case number == commitMain && which == nil:
			values[0] = field.AddExt(values[0], field.Ext{1})
			w, _ := field.RootOfUnity(log)
			here, next = values[0], valueAt(words(c)[:1], log+c.In.(*plainCommit).s.logBlowup, field.ScaleExt(z, w))[0]
		case number == commitQuotient:
			zero := field.SubExt(field.SquareExtTimes(z, log), field.Ext{1})
			inverse, _ := field.InverseExt(zero)
			_, _, transition := verifier.Selectors(z, zero, log)
			c := field.MulExt(transition, field.SubExt(next, field.ScaleExt(here, 3)))
			values[0], values[1], values[2] = field.MulExt(c, inverse), field.Ext{}, field.Ext{}
		}
	}}
}

// highDegree adds x^192 to the column that nothing constrains, of a table of 128 rows.
func highDegree(number, index int) hooks {
	return hooks{extend: func(c *plainCommit) {
		if c.number == number {
			for i, x := range points(c.logs[index] + c.s.logBlowup) {
				v := &c.matrices[index][1][i]
				*v = field.Add(*v, field.Pow(x, 192))
			}
		}
	}}
}

// anotherPin pins twice the trace, which satisfies the constraints as well, in value and in words.
func anotherPin() hooks {
	return hooks{pinned: func(t *verifier.Table, m *plainMatrix) *plainMatrix {
		if t.Index != circuitQuiet {
			return m
		}
		var double [][]field.Element
		for _, column := range m.in.matrices[m.index] {
			out := make([]field.Element, len(column))
			for i, v := range column {
				out[i] = field.Add(v, v)
			}
			double = append(double, out)
		}
		return &plainMatrix{log: m.log, in: &plainCommit{matrices: [][][]field.Element{double}}}
	}}
}

// step is a message that a transcript absorbs.
type step struct {
	tag   uint64
	words []uint64
}

// recorder notes the messages that a transcript absorbs.
type recorder struct {
	hash.Suite
	steps *[]step
}

func (r recorder) Absorb(state *hash.Digest, words []uint64) hash.Digest {
	if *state != (hash.Digest{}) { // the first words are the protocol's name
		for rest := words; len(rest) > 0; {
			n := 2 + rest[1]
			*r.steps = append(*r.steps, step{rest[0], slices.Clone(rest[2:n])})
			rest = rest[n:]
		}
	}
	return r.Suite.Absorb(state, words)
}

// transcriptOf is what docs/protocol.md section 5 has a verifier absorb for a proof, written a second time.
func transcriptOf(key formats.Digest, p *formats.Proof) (out []step) {
	add := func(tag uint64, words ...uint64) { out = append(out, step{tag, words}) }
	words := func(packed []byte) (w []uint64) {
		for i := 0; i < len(packed); i += 8 {
			w = append(w, binary.LittleEndian.Uint64(packed[i:]))
		}
		return w
	}
	add(1, words(key[:])...)
	claims := []uint64{uint64(len(p.Claims))}
	for _, c := range p.Claims {
		claims = append(claims, uint64(c.Entry), uint64(c.Args.Len()+c.Results.Len()))
		claims = append(append(claims, words(c.Args)...), words(c.Results)...)
	}
	add(2, claims...)
	headers := []uint64{uint64(len(p.Shards))}
	for i := range p.Shards {
		s := &p.Shards[i]
		headers = append(headers, uint64(len(s.Tables)))
		for _, t := range s.Tables {
			headers = append(headers, uint64(t.Circuit), uint64(t.LogHeight))
		}
		headers = append(headers, words(s.Main[:])...)
	}
	add(3, headers...)
	add(4)
	for i := range p.Shards {
		add(5, words(p.Shards[i].Pins)...)
	}
	add(6)
	for i := range p.Shards {
		s := &p.Shards[i]
		if len(s.Aux) > 0 {
			add(7, append(words(s.Aux[0][:]), words(s.Sums)...)...)
		}
		add(8)
		add(9, words(s.Quotient[:])...)
		add(10)
		add(11, words(s.Openings)...)
		add(12)
		for _, root := range s.LayerRoot {
			add(13, words(root[:])...)
			add(14)
		}
		add(15, words(s.Final)...)
		add(16)
		add(17, s.Nonce)
		add(18)
	}
	return out
}

// TestStaleChallenges shows that no challenge can be known before what it tests is fixed: the steps T-1 to T-18 are absorbed whole and in their order, each
// challenge by a hash of all before it. So a trace, a sum or a layer that is chosen after its challenge has another challenge.
func TestStaleChallenges(t *testing.T) {
	for name, s := range samples() {
		var got []step
		key, err := verifier.ParseKey(s.pk.Encoded, recorder{s.pk.Suite, &got})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := verify(t, key, s.data, policy); err != nil {
			t.Fatal(err)
		}
		want := transcriptOf(s.pk.Digest(), s.proof(t))
		if len(got) != len(want) {
			t.Fatalf("%s: %d steps, want %d", name, len(got), len(want))
		}
		for i := range want {
			if got[i].tag != want[i].tag || !slices.Equal(got[i].words, want[i].words) {
				t.Errorf("%s: step %d is T-%d %v, want T-%d %v", name, i, got[i].tag, got[i].words, want[i].tag, want[i].words)
			}
		}
	}
}

// TestShapeBindsWidths shows that two matrices of a height cannot share out one row differently.
func TestShapeBindsWidths(t *testing.T) {
	root := func(log int, widths ...int) hash.Digest {
		var m []merkle.Matrix
		for _, w := range widths {
			m = append(m, merkle.Matrix{LogRows: log, Width: w})
		}
		tree := merkle.NewTree(hash.Blake3{}, m)
		row := make([]byte, 24)
		return hashRows(hash.Blake3{}, tree, func(_, _ int) []byte { return row })[0][0]
	}
	seen := map[hash.Digest]bool{}
	for _, d := range []hash.Digest{root(0, 1, 2), root(0, 2, 1), root(0, 3), root(1, 3), root(1, 1, 2), root(1, 1, 1, 1)} {
		if seen[d] {
			t.Error("two shapes have one root")
		}
		seen[d] = true
	}
}

// TestNoIndices opens nothing: that leads to no root.
func TestNoIndices(t *testing.T) {
	tree := merkle.NewTree(hash.Blake3{}, []merkle.Matrix{{LogRows: 3, Width: 1}})
	if _, failure := tree.Verify(&hash.Digest{}, nil, &formats.Opening{}); failure.Fault != merkle.Root {
		t.Errorf("%v", failure)
	}
}
