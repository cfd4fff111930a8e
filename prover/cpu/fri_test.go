package cpu

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/fri"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/merkle"
)

// randomWord is the values on the FRI domain of a random polynomial of 2^terms coefficients.
func randomWord(t *testing.T, r *rand.Rand, s *session, terms, log int) *codeword {
	t.Helper()
	word, err := buffer[field.Ext](s.arena, 1<<log)
	if err != nil {
		t.Fatal(err)
	}
	for c := range word[0] {
		coeff := randomColumn(r, 1<<terms)
		for j := range word {
			word[j][c] = horner(coeff, field.Pow(root(log), field.ReverseBits(uint64(j), log)))
		}
	}
	return &codeword{s, word}
}

// TestLowDegreeTest folds, commits and opens words of several heights, and the verifier accepts them.
func TestLowDegreeTest(t *testing.T) {
	r := rand.New(rand.NewPCG(101, 1))
	for _, c := range []struct {
		heights       []int
		blowup, final int
	}{{[]int{1}, 1, 6}, {[]int{4}, 2, 1}, {[]int{9, 7, 2}, 1, 6}, {[]int{7, 6, 5, 1}, 2, 0}, {[]int{11}, 1, 3}} {
		s := newSession(t, c.blowup)
		sched := fri.NewSchedule(c.heights, c.blowup, 3, c.final)
		var words []prover.Codeword
		for _, h := range sched.Heights {
			words = append(words, randomWord(t, r, s, h, h+c.blowup))
		}
		proof := fri.Proof{}
		var layers []prover.Layer
		word := words[0]
		for i, step := range sched.Steps {
			l, err := s.CommitLayer(word, sched.LogSize(i), step)
			if err != nil {
				t.Fatal(err)
			}
			beta := randomExt(r)
			layers, proof.Roots, proof.Betas = append(layers, l), append(proof.Roots, l.(*layer).tree.root()), append(proof.Betas, beta)
			var entering prover.Codeword
			if k := sched.Entering(i + 1); k > 0 {
				entering = words[k]
			}
			if word, err = s.Fold(word, sched.LogSize(i), step, beta, entering); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if proof.Final, err = s.Final(word, &sched); err != nil {
			t.Fatal(err)
		}
		if len(proof.Final) != 1<<sched.Final {
			t.Fatalf("%d final coefficients, want 2^%d", len(proof.Final), sched.Final)
		}
		size := 1 << sched.LogSize(0)
		for _, queries := range []int{1, 7, 20 * size} { // some positions, and nearly all
			var indices []uint32
			for range queries {
				indices = append(indices, uint32(r.IntN(size)))
			}
			slices.Sort(indices)
			indices = slices.Compact(indices)
			var codewords [][]field.Ext
			for k, h := range sched.Heights {
				var values []field.Ext
				for _, i := range merkle.Distinct(indices, sched.Heights[0]-h) {
					values = append(values, words[k].(*codeword).word[i])
				}
				codewords = append(codewords, values)
			}
			proof.Layers = nil
			known := indices
			for i, l := range layers {
				leaves := merkle.Distinct(known, sched.Steps[i])
				o, err := l.Open(leaves, known)
				if err != nil {
					t.Fatal(err)
				}
				proof.Layers, known = append(proof.Layers, o), leaves
			}
			if err := fri.Verify(hash.Blake3{}, &sched, indices, codewords, &proof); err != nil {
				t.Errorf("heights %v, %d queries: %v", c.heights, queries, err)
			}
		}
	}
}

// TestFinalRefusesHigherDegrees checks that a prover does not cut off what it cannot send.
func TestFinalRefusesHigherDegrees(t *testing.T) {
	r := rand.New(rand.NewPCG(102, 1))
	s := newSession(t, 2)
	sched := fri.NewSchedule([]int{4}, 2, 3, 4)
	for terms, ok := range map[int]bool{0: true, 4: true, 5: false} {
		final, err := s.Final(randomWord(t, r, s, terms, 6), &sched)
		if (err == nil) != ok {
			t.Errorf("2^%d coefficients: %v", terms, err)
		}
		for i := 1 << terms; i < len(final); i++ {
			if !final[i].IsZero() {
				t.Errorf("2^%d coefficients: coefficient %d is not zero", terms, i)
			}
		}
	}
}

// TestGrind compares with a search from zero, on several numbers of processors.
func TestGrind(t *testing.T) {
	suite := hash.Blake3{}
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for bits := range 15 {
		state := formats.Digest{1: byte(bits)}
		want := uint64(0)
		for suite.Grind(&state, want)&(1<<bits-1) != 0 {
			want++
		}
		for _, processors := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(processors)
			if got, err := newSession(t, 1).Grind(state, bits); err != nil || got != want {
				t.Errorf("%d bits on %d processors: %d, %v; want %d", bits, processors, got, err, want)
			}
		}
	}
}

// cancelling is a suite whose every nonce passes, and which cancels on the first hash.
type cancelling struct {
	hash.Blake3
	cancel context.CancelFunc
}

func (c cancelling) Grind(*formats.Digest, uint64) uint64 {
	c.cancel()
	return 0
}

// TestCancelledGrind checks that a nonce found while the search is cancelled is not returned: it may not be the lowest.
func TestCancelledGrind(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s, err := Backend{}.Open(ctx, prover.Job{Suite: cancelling{cancel: cancel}, LogBlowup: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if nonce, err := s.Grind(formats.Digest{}, 8); !errors.Is(err, context.Canceled) {
		t.Errorf("nonce %d, %v", nonce, err)
	}
}
