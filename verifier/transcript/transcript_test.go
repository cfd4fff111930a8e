package transcript_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	zeebo "github.com/zeebo/blake3"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/transcript"
)

// reference is docs/protocol.md section 5 on bytes: a state, and the bytes absorbed since it was made.
type reference struct {
	t     *testing.T
	state []byte
	bytes []byte
}

func keyed(t *testing.T, label string, data []byte) []byte {
	t.Helper()
	h, err := zeebo.NewKeyed(append([]byte(label), make([]byte, 32-len(label))...))
	if err != nil {
		t.Fatal(err)
	}
	h.Write(data)
	return h.Sum(nil)
}

func number(b []byte, n uint64) []byte {
	return binary.LittleEndian.AppendUint64(b[:len(b):len(b)], n)
}

func newReference(t *testing.T) *reference {
	return &reference{t: t, state: keyed(t, "ixprove/1 absorb", append(make([]byte, 32), "ixprove batch v1"...))}
}

func (r *reference) absorb(tag uint64, words ...uint64) {
	for _, w := range append([]uint64{tag, uint64(len(words))}, words...) {
		r.bytes = number(r.bytes, w)
	}
}

// challenge returns the words of the step, as a function of the number of words read before.
func (r *reference) challenge(tag uint64) func(i int) uint64 {
	r.absorb(tag)
	r.state = keyed(r.t, "ixprove/1 absorb", append(r.state[:32:32], r.bytes...))
	r.bytes = nil
	state := r.state
	return func(i int) uint64 {
		block := keyed(r.t, "ixprove/1 squeeze", number(state, uint64(i/4)))
		return binary.LittleEndian.Uint64(block[8*(i%4):])
	}
}

func (r *reference) fork(i uint64) *reference {
	return &reference{t: r.t, state: keyed(r.t, "ixprove/1 fork", number(r.state, i))}
}

// TestAgainstReference compares random sequences of all operations.
func TestAgainstReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 60 {
		got, want := transcript.New(hash.Blake3{}), newReference(t)
		for range 1 + rng.IntN(20) {
			tag := 1 + rng.Uint64N(18)
			words := make([]uint64, rng.IntN(40))
			for i := range words {
				words[i] = rng.Uint64()
			}
			switch rng.IntN(6) {
			case 0:
				got.Absorb(transcript.Tag(tag), words)
				want.absorb(tag, words...)
			case 1:
				var d hash.Digest
				for i := range d {
					d[i] = byte(rng.Uint32())
				}
				got.AbsorbDigest(transcript.Tag(tag), d)
				want.absorb(tag, binary.LittleEndian.Uint64(d[:]), binary.LittleEndian.Uint64(d[8:]), binary.LittleEndian.Uint64(d[16:]), binary.LittleEndian.Uint64(d[24:]))
			case 2:
				var e formats.Elements
				for i := range words {
					words[i] %= field.Modulus
					e = e.Append(words[i])
				}
				got.AbsorbElements(transcript.Tag(tag), e)
				want.absorb(tag, words...)
			case 3:
				c, word := got.Challenge(transcript.Tag(tag)), want.challenge(tag)
				for i := range 1 + rng.IntN(10) {
					if g, w := c.Word(), word(i); g != w {
						t.Fatalf("word %d: %x, want %x", i, g, w)
					}
				}
			case 4:
				c, word := got.Challenge(transcript.Tag(tag)), want.challenge(tag)
				for i, n := 0, 0; i < 3; i++ {
					e := c.Ext()
					for k := range e {
						for word(n) >= field.Modulus {
							n++
						}
						if uint64(e[k]) != word(n) {
							t.Fatalf("element %d, coefficient %d: %x, want %x", i, k, e[k], word(n))
						}
						n++
					}
				}
			case 5: // the protocol forks right after a challenge
				got.Challenge(transcript.Tag(tag))
				want.challenge(tag)
				i := rng.Uint64N(4)
				got, want = got.Fork(i), want.fork(i)
			}
		}
		state := got.GrindState()
		want.challenge(16)
		if string(state[:]) != string(want.state) {
			t.Fatal("the states to grind against differ")
		}
	}
}

// TestTagsAreTheStepNumbers ties the constants to T-1 to T-18.
func TestTagsAreTheStepNumbers(t *testing.T) {
	for i, tag := range []transcript.Tag{
		transcript.TagKey, transcript.TagClaims, transcript.TagHeaders, transcript.TagPinPoint, transcript.TagPins, transcript.TagLookup,
		transcript.TagAux, transcript.TagFold, transcript.TagQuotient, transcript.TagZeta, transcript.TagOpenings, transcript.TagBatch,
		transcript.TagLayer, transcript.TagBeta, transcript.TagFinal, transcript.TagGrind, transcript.TagNonce, transcript.TagQueries,
	} {
		if int(tag) != i+1 {
			t.Errorf("step T-%d has tag %d", i+1, tag)
		}
	}
}

// TestSequencesAreHeldApart checks that what was absorbed, under which tag and in which division decides the challenge.
func TestSequencesAreHeldApart(t *testing.T) {
	seen := map[uint64]int{}
	for i, build := range []func(*transcript.Transcript){
		func(*transcript.Transcript) {},
		func(x *transcript.Transcript) { x.Absorb(transcript.TagKey, nil) },
		func(x *transcript.Transcript) { x.Absorb(transcript.TagClaims, nil) },
		func(x *transcript.Transcript) { x.Absorb(transcript.TagKey, []uint64{0}) },
		func(x *transcript.Transcript) { x.Absorb(transcript.TagKey, []uint64{0, 0}) },
		func(x *transcript.Transcript) { x.Absorb(transcript.TagKey, []uint64{1, 0}) },
		func(x *transcript.Transcript) {
			x.Absorb(transcript.TagKey, []uint64{0})
			x.Absorb(transcript.TagKey, []uint64{0})
		},
		func(x *transcript.Transcript) { x.Challenge(transcript.TagKey) },
		func(x *transcript.Transcript) { x.Challenge(transcript.TagQueries) },
		func(x *transcript.Transcript) { x.GrindState() },
	} {
		x := transcript.New(hash.Blake3{})
		build(x)
		w := x.Challenge(transcript.TagQueries).Word()
		if k, ok := seen[w]; ok {
			t.Errorf("sequences %d and %d give the same challenge", k, i)
		}
		seen[w] = i
	}
}

// TestForksAreIndependent checks that branches differ, that one does not disturb another or the trunk, and that they depend on what was absorbed.
func TestForksAreIndependent(t *testing.T) {
	word := func(x *transcript.Transcript) uint64 { return x.Challenge(transcript.TagZeta).Word() }
	trunk := transcript.New(hash.Blake3{})
	trunk.Absorb(transcript.TagKey, []uint64{1})
	trunk.Challenge(transcript.TagLookup)
	a, b, again := trunk.Fork(0), trunk.Fork(1), trunk.Fork(0)
	a.Absorb(transcript.TagAux, []uint64{7}) // into a's own buffer
	a7, b0, a0, t0 := word(a), word(b), word(again), word(trunk)
	if a7 == a0 || a0 == b0 || a0 == t0 || b0 == t0 {
		t.Error("branches agree that should not")
	}
	other := transcript.New(hash.Blake3{})
	other.Absorb(transcript.TagKey, []uint64{2})
	other.Challenge(transcript.TagLookup)
	if word(other.Fork(0)) == a0 {
		t.Error("a branch does not depend on what came before")
	}
	// What is absorbed but not yet hashed belongs to the branch too.
	pending := transcript.New(hash.Blake3{})
	pending.Absorb(transcript.TagKey, []uint64{3})
	if word(pending.Fork(0)) == word(transcript.New(hash.Blake3{}).Fork(0)) {
		t.Error("a branch leaves out the last message")
	}
}

// rigged squeezes given words.
type rigged struct {
	hash.Blake3
	words []uint64
}

func (r rigged) Squeeze(_ *hash.Digest, block uint64) (out [4]uint64, n int) {
	return out, copy(out[:], r.words[4*block:])
}

// TestWordsFromThePrimeUpAreSkipped feeds words on both sides of p to elements, and leaves them to Word.
func TestWordsFromThePrimeUpAreSkipped(t *testing.T) {
	const p, top = field.Modulus, 1<<64 - 1
	words := []uint64{p, p - 1, top, p + 1, 0, p, p, p, p, top, top, 1, 5, 6, 7, 8}
	suite := rigged{words: words}
	c := transcript.New(suite).Challenge(transcript.TagZeta)
	if e := c.Ext(); e != (field.Ext{p - 1, 0, 1}) {
		t.Errorf("first element %v", e)
	}
	if e := c.Ext(); e != (field.Ext{5, 6, 7}) {
		t.Errorf("second element %v", e)
	}
	if w := c.Word(); w != 8 {
		t.Errorf("the next word is %d", w)
	}
	c = transcript.New(suite).Challenge(transcript.TagQueries)
	for i, want := range words {
		if w := c.Word(); w != want {
			t.Errorf("word %d: %d, want %d", i, w, want)
		}
	}
}

// threes is a suite whose blocks have three words; the fourth is none.
type threes struct{ hash.Blake3 }

func (threes) Squeeze(_ *hash.Digest, block uint64) ([4]uint64, int) {
	return [4]uint64{3 * block, 3*block + 1, 3*block + 2, 99}, 3
}

// TestBlocksOfThreeWords reads blocks that are shorter than four words to their ends.
func TestBlocksOfThreeWords(t *testing.T) {
	c := transcript.New(threes{}).Challenge(transcript.TagPinPoint)
	for i := range field.Element(4) {
		if e := c.Ext(); e != (field.Ext{3 * i, 3*i + 1, 3*i + 2}) {
			t.Errorf("element %d is %v", i, e)
		}
	}
	c = transcript.New(threes{}).Challenge(transcript.TagQueries)
	for i := range uint64(10) {
		if w := c.Word(); w != i {
			t.Errorf("word %d is %d", i, w)
		}
	}
}

// A clone goes its own way from the state at which it was made, and State says when that is all there is.
func TestCloneAndState(t *testing.T) {
	a := transcript.New(hash.Blake3{})
	if _, all := a.State(); !all {
		t.Error("a new transcript has messages that it did not draw from")
	}
	a.Absorb(transcript.TagKey, []uint64{1})
	if _, all := a.State(); all {
		t.Error("a message is in the state before anything is drawn")
	}
	b := a.Clone()
	b.Absorb(transcript.TagClaims, []uint64{2})
	other := b.Challenge(transcript.TagLookup).Word()
	if got, want := a.Clone().Challenge(transcript.TagLookup).Word(), a.Challenge(transcript.TagLookup).Word(); got != want || got == other {
		t.Errorf("a clone draws %x, its original %x, a clone with one message more %x", got, want, other)
	}
	if _, all := a.State(); !all {
		t.Error("a challenge left messages")
	}
}
