package circuit

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"

	"github.com/ixprove/ixprove/compress/goldilocks"
	"github.com/ixprove/ixprove/compress/poseidon2"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/merkle"
	"github.com/ixprove/ixprove/verifier/security"
	"github.com/ixprove/ixprove/verifier/transcript"
)

// gadget is a circuit around a part of the verifier.
type gadget struct {
	In     []frontend.Variable
	define func(api frontend.API, in []frontend.Variable)
}

func (g *gadget) Define(api frontend.API) error {
	g.define(api, g.In)
	return nil
}

func compileGadget(t testing.TB, builder frontend.NewBuilder, inputs int, define func(api frontend.API, in []frontend.Variable)) constraint.ConstraintSystem {
	t.Helper()
	return compile(t, builder, &gadget{make([]frontend.Variable, inputs), define})
}

func solved(t testing.TB, ccs constraint.ConstraintSystem, in ...any) bool {
	t.Helper()
	g := &gadget{}
	for _, x := range in {
		g.In = append(g.In, x)
	}
	return ccs.IsSolved(full(t, g)) == nil
}

func randomDigest(g *rand.Rand) (d formats.Digest) {
	var e fr.Element
	e.SetBigInt(new(big.Int).Add(new(big.Int).Lsh(new(big.Int).SetUint64(g.Uint64()), 190), new(big.Int).SetUint64(g.Uint64())))
	b := e.Bytes()
	slices.Reverse(b[:])
	return b
}

func randomWords(g *rand.Rand, n int) (e formats.Elements) {
	for range n {
		e = e.Append(g.Uint64())
	}
	return e
}

// TestHashes compares the suite's functions with the circuit's, for all lengths that change a block.
func TestHashes(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	suite := poseidon2.Suite{}
	shape := suite.Shape(9, []int{3, 4})
	for _, b := range builders {
		for n := range 80 {
			if n > 40 && n%7 != 0 {
				continue
			}
			words := randomWords(g, n)
			values := transcript.AppendElements(nil, words)
			state, other, third := randomDigest(g), randomDigest(g), randomDigest(g)
			want := []formats.Digest{suite.Leaf(&shape, words), suite.Absorb(&state, values), suite.Node(&state, &other), suite.Inject(&state, &other, &third), suite.Fork(&state, 7)}
			var in []any
			for i := range words.Len() {
				in = append(in, words.At(i))
			}
			for _, d := range append([]formats.Digest{state, other, third}, want...) {
				in = append(in, digest(d))
			}
			ccs := compileGadget(t, b.new, len(in), func(api frontend.API, in []frontend.Variable) {
				h := hasher{api}
				words, in := in[:n], in[n:]
				got := []frontend.Variable{
					h.leaf(&shape, words), h.chain(poseidon2.DomainAbsorb, in[0], words), h.node(in[0], in[1]), h.inject(in[0], in[1], in[2]),
					h.chain(poseidon2.DomainFork, in[0], []frontend.Variable{7}),
				}
				for i := range got {
					api.AssertIsEqual(got[i], in[3+i])
				}
			})
			if !solved(t, ccs, in...) {
				t.Errorf("%s: %d words: not the suite's hashes", b.name, n)
			}
		}
	}
}

// TestChallenger runs a transcript natively and in a circuit.
func TestChallenger(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 4))
	tr := transcript.New(poseidon2.Suite{})
	words := randomWords(g, 20)
	d := randomDigest(g)
	tr.AbsorbElements(transcript.TagClaims, words)
	tr.Absorb(transcript.TagHeaders, []uint64{5})
	tr.AbsorbDigest(transcript.TagQuotient, d)
	c := tr.Challenge(transcript.TagPinPoint)
	first, second := c.Ext(), c.Ext()
	forked := tr.Fork(3)
	forked.AbsorbElements(transcript.TagPins, words[:9*formats.ElementBytes])
	third := forked.Challenge(transcript.TagLookup).Ext()
	const bits = 6
	state, nonce := forked.GrindState(), uint64(0)
	for (poseidon2.Suite{}).Grind(&state, nonce)<<(64-bits) != 0 {
		nonce++
	}
	queries := verifier.DrawQueries(forked, 7, 20)
	in := []any{digest(d)}
	for i := range words.Len() {
		in = append(in, words.At(i))
	}
	for _, e := range slices.Concat(first[:], second[:], third[:]) {
		in = append(in, uint64(e))
	}
	in = append(in, nonce)
	for _, q := range queries {
		in = append(in, q)
	}
	for _, b := range builders {
		for _, o := range []goldilocks.Options{{}, {LimbBits: 8}} {
			ccs := compileGadget(t, b.new, len(in), func(api frontend.API, in []frontend.Variable) {
				chip := goldilocks.New(api, o)
				tr := newChallenger(api, chip, security.Profile{Queries: 7, GrindingBits: bits}, 20)
				words, want := in[1:21], in[21:]
				tr.Absorb(transcript.TagClaims, words)
				tr.Absorb(transcript.TagHeaders, []frontend.Variable{5})
				tr.Absorb(transcript.TagQuotient, digestWords(chip, in[0]))
				got := tr.Elements(transcript.TagPinPoint, 2)
				tr.fork(3)
				tr.Absorb(transcript.TagPins, words[:9])
				got = append(got, tr.Elements(transcript.TagLookup, 1)...)
				for i, e := range got {
					for k := range e {
						api.AssertIsEqual(e[k].Variable(), want[3*i+k])
					}
				}
				tr.Grind(want[9])
				tr.Queries()
				for i, q := range tr.queries {
					api.AssertIsEqual(api.FromBinary(q...), want[10+i])
				}
			})
			if !solved(t, ccs, in...) {
				t.Errorf("%s, %+v: other challenges", b.name, o)
			}
			for i := 21; i < len(in); i++ {
				wrong := slices.Clone(in)
				wrong[i] = 12345
				if solved(t, ccs, wrong...) {
					t.Errorf("%s, %+v: output %d is free", b.name, o, i)
				}
			}
		}
	}
}

// TestSHA256 compares the gadget with the library for messages around the borders of blocks.
func TestSHA256(t *testing.T) {
	g := rand.New(rand.NewPCG(5, 6))
	for _, b := range builders {
		for _, n := range []int{0, 1, 6, 7, 8, 15, 16} {
			words := randomWords(g, n)
			var message []byte
			var in []any
			for i := range n {
				in = append(in, words.At(i))
				for k := range 8 {
					message = append(message, byte(words.At(i)>>(56-8*k)))
				}
			}
			sum := sha256.Sum256(message)
			in = append(in, new(big.Int).SetBytes(sum[:16]), new(big.Int).SetBytes(sum[16:]))
			ccs := compileGadget(t, b.new, n+2, func(api frontend.API, in []frontend.Variable) {
				v := &checker{api: api, hasher: hasher{api}, chip: goldilocks.New(api, goldilocks.Options{})}
				v.bindClaims([2]frontend.Variable(in[n:]), in[:n])
			})
			if !solved(t, ccs, in...) {
				t.Errorf("%s: %d words: another digest", b.name, n)
			}
			in[n+1] = new(big.Int).Add(in[n+1].(*big.Int), big.NewInt(1))
			if solved(t, ccs, in...) {
				t.Errorf("%s: %d words: a wrong digest", b.name, n)
			}
		}
	}
}

// TestCrown opens a small tree at several indices over crowns of every height, with the nodes that queries need and without the others.
func TestCrown(t *testing.T) {
	g := rand.New(rand.NewPCG(7, 8))
	suite := poseidon2.Suite{}
	tree := merkle.NewTree(suite, []merkle.Matrix{{LogRows: 5, Width: 2}, {LogRows: 4, Width: 1}})
	rows, short := make([]formats.Elements, 32), make([]formats.Elements, 16)
	nodes := make([][]formats.Digest, 6)
	for i := range rows {
		rows[i] = randomWords(g, 2)
		nodes[5] = append(nodes[5], suite.Leaf(tree.Levels[0].Shape(), rows[i]))
	}
	for log := 4; log >= 0; log-- {
		for i := range 1 << log {
			left, right := nodes[log+1][2*i], nodes[log+1][2*i+1]
			if log == 4 {
				short[i] = randomWords(g, 1)
				row := suite.Leaf(tree.Levels[1].Shape(), short[i])
				nodes[log] = append(nodes[log], suite.Inject(&left, &right, &row))
			} else {
				nodes[log] = append(nodes[log], suite.Node(&left, &right))
			}
		}
	}
	const queries = 2
	for limit := range 5 {
		below := 2<<limit - 2
		inputs := 1 + below + queries*(5+3+5-limit)
		ccs := compileGadget(t, builders[0].new, inputs, func(api frontend.API, in []frontend.Variable) {
			v := &checker{api: api, hasher: hasher{api}, chip: goldilocks.New(api, goldilocks.Options{})}
			c := v.crown(in[0], in[1:1+below])
			in = in[1+below:]
			for range queries {
				for _, b := range in[:5] {
					api.AssertIsBoolean(b)
				}
				p := path{Rows: [][]frontend.Variable{in[5:7], in[7:8]}, Siblings: in[8 : 8+5-limit]}
				v.openTrees([]*merkle.Tree{tree}, []crown{c}, in[:5], []path{p})
				in = in[8+5-limit:]
			}
		})
		// Queries in one half of the tree: the crown of the other half is zero.
		assign := func(indices [queries]int) (in []any) {
			in = append(in, digest(nodes[0][0]))
			for k := range below {
				number := k + 2
				log := big.NewInt(int64(number)).BitLen() - 1
				at := number - 1<<log
				var v any = 0
				for _, q := range indices {
					if q>>(5-log)|1 == at|1 {
						v = digest(nodes[log][at])
					}
				}
				in = append(in, v)
			}
			for _, q := range indices {
				for b := range 5 {
					in = append(in, q>>b&1)
				}
				in = append(in, rows[q].At(0), rows[q].At(1), short[q>>1].At(0))
				for k := range 5 - limit {
					in = append(in, digest(nodes[5-k][q>>k^1]))
				}
			}
			return in
		}
		for _, indices := range [][queries]int{{3, 9}, {0, 0}, {31, 12}, {17, 18}} {
			in := assign(indices)
			if !solved(t, ccs, in...) {
				t.Errorf("crown of %d levels: honest openings at %v are refused", limit, indices)
			}
			for i := range in {
				was := in[i]
				for name, x := range map[string]any{"another value": digest(randomDigest(g)), "zero": 0} {
					if fmt.Sprint(was) == fmt.Sprint(x) {
						continue
					}
					if i >= 1+below && (i-1-below)%(13-limit) < 5 {
						x = 1 - was.(int) // a bit of the index
					}
					in[i] = x
					if solved(t, ccs, in...) {
						t.Errorf("crown of %d levels, openings at %v: input %d as %s is accepted", limit, indices, i, name)
					}
				}
				in[i] = was
			}
			// The same lane from other numbers, which are no words.
			at := 1 + below + 5
			one := new(big.Int).Lsh(big.NewInt(1), 64)
			in[at], in[at+1] = one.Add(one, new(big.Int).SetUint64(rows[indices[0]].At(0))), rows[indices[0]].At(1)-1
			if solved(t, ccs, in...) {
				t.Errorf("crown of %d levels, openings at %v: a row of a number of 65 bits is accepted", limit, indices)
			}
		}
	}
}

// TestWords gives an element of E coefficients that are no words.
func TestWords(t *testing.T) {
	ccs := compileGadget(t, builders[0].new, 3, func(api frontend.API, in []frontend.Variable) {
		v := &checker{api: api, hasher: hasher{api}, chip: goldilocks.New(api, goldilocks.Options{})}
		v.words([]ext{ext(in)})
	})
	top, over := uint64(1<<64-1), new(big.Int).Lsh(big.NewInt(1), 64)
	if !solved(t, ccs, top, top, top) {
		t.Error("words are refused")
	}
	if solved(t, ccs, over, 0, 0) || solved(t, ccs, 0, over, 0) || solved(t, ccs, 0, 0, over) || solved(t, ccs, -1, 0, 0) {
		t.Error("numbers that are no words are accepted")
	}
}

// TestMessages gives each message numbers that are no words. A number of 65 bits in the place of one, and one less in the next, have the lane of two words.
func TestMessages(t *testing.T) {
	const inputs = 13
	for _, o := range []goldilocks.Options{{}, {LimbBits: 8}, {LimbBits: 13}} {
		ccs := compileGadget(t, builders[0].new, inputs, func(api frontend.API, in []frontend.Variable) {
			one := func(i int) []ext { return []ext{ext(in[i : i+3])} }
			v := &checker{api: api, hasher: hasher{api}, chip: goldilocks.New(api, o), witness: &witness{Pins: one(0), Sums: one(3), Openings: one(6), Final: one(9), Nonce: in[12]}}
			v.read()
		})
		in := make([]any, inputs)
		for i := range in {
			in[i] = uint64(1<<64 - 1)
		}
		if !solved(t, ccs, in...) {
			t.Errorf("%+v: words are refused", o)
		}
		for i := range in {
			for _, x := range []any{new(big.Int).Lsh(big.NewInt(1), 64), -1} {
				wrong := slices.Clone(in)
				wrong[i] = x
				if solved(t, ccs, wrong...) {
					t.Errorf("%+v: message %d is %v, which is no word", o, i, x)
				}
			}
		}
	}
}

// TestClaims tries elements at the borders of their types, for two entries of which each claim chooses one.
func TestClaims(t *testing.T) {
	types := func(ts ...formats.ValueType) (out []formats.Value) {
		for _, v := range ts {
			out = append(out, formats.Value{Type: v})
		}
		return out
	}
	s := entries(t, 1, types(formats.TypeU8, formats.TypeField, formats.TypeU32), types(formats.TypeU64, formats.TypeU8))
	const p = formats.Modulus
	for _, o := range []goldilocks.Options{{}, {LimbBits: 13}} {
		ccs := compileGadget(t, builders[0].new, 5, func(api frontend.API, in []frontend.Variable) {
			w := &witness{Choices: [][]frontend.Variable{in[:2]}, Elements: [][]frontend.Variable{in[2:]}}
			v := &checker{api: api, hasher: hasher{api}, chip: goldilocks.New(api, o), shape: s, witness: w}
			v.claims()
		})
		for _, c := range []struct {
			in   [5]uint64
			want bool
		}{
			{[5]uint64{1, 0, 255, p - 1, 1<<32 - 1}, true},
			{[5]uint64{1, 0, 256, 0, 0}, false},
			{[5]uint64{1, 0, 0, p, 0}, false},
			{[5]uint64{1, 0, 0, 1<<64 - 1, 0}, false},
			{[5]uint64{1, 0, 0, 0, 1 << 32}, false},
			{[5]uint64{0, 1, 1<<32 - 1, 1<<32 - 1, 255}, true},
			{[5]uint64{0, 1, 1 << 32, 0, 0}, false},
			{[5]uint64{0, 1, 0, 1 << 32, 0}, false},
			{[5]uint64{0, 1, 0, 0, 256}, false},
			{[5]uint64{0, 0, 0, 0, 0}, false},
			{[5]uint64{1, 1, 0, 0, 0}, false},
			{[5]uint64{2, p, 0, 0, 0}, false},
		} {
			if got := solved(t, ccs, c.in[0], c.in[1], c.in[2], c.in[3], c.in[4]); got != c.want {
				t.Errorf("%+v: %v: %v", o, c.in, got)
			}
		}
		if solved(t, ccs, 2, -1, 0, 0, 0) {
			t.Errorf("%+v: two of one entry less one of the other is accepted", o)
		}
	}
}

// entries is the shape of so many claims of a system with entries of the given arguments.
func entries(t testing.TB, claims int, args ...[]formats.Value) *shape {
	t.Helper()
	made, err := checkedShape(entriesKey(t, args...), []formats.Table{{LogHeight: 3}}, claims)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// entriesKey is the key of such a system.
func entriesKey(t testing.TB, args ...[]formats.Value) *verifier.Key {
	t.Helper()
	s := air.NewSystem("entries")
	c := s.Circuit("c")
	for i, values := range args {
		name := string(rune('a' + i))
		n := 0
		for k := range values {
			values[k].Name = string(rune('a' + k))
			n += values[k].Type.Elements()
		}
		ch := s.Channel(name, n)
		s.Entry(name, ch, values, nil)
		c.Pull(ch, c.Column("asked "+name), c.ColumnVector("x "+name, n)...)
	}
	return keygen(t, s, "root-dev").Key
}
