package cpu

import (
	"errors"
	"slices"
	"sync"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/fri"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/transcript"
)

// layer is a committed word and its tree.
type layer struct {
	s    *session
	word []field.Ext
	step int
	tree *tree
}

// CommitLayer implements prover.Session. The layer refers to the word, which must outlive it.
func (s *session) CommitLayer(word prover.Codeword, logSize, step int) (prover.Layer, error) {
	l := &layer{s: s, word: word.(*codeword).word, step: step}
	shape := fri.LayerTree(s.suite, logSize, step)
	var err error
	suite := batchOf(s.suite)
	l.tree, err = hashTree(s.ctx, s.arena, suite, shape, func(out []hash.Digest, level, first int) {
		const many = 32 // rows at a time
		buffer := make([]byte, 0, many*formats.ExtElementBytes<<step)
		for i := 0; i < len(out); i += many {
			end := min(i+many, len(out))
			data := appendExts(buffer[:0], l.word[(first+i)<<step:(first+end)<<step])
			suite.Rows(out[i:end], shape.Levels[level].Shape(), data, formats.ExtElementBytes<<step)
		}
	})
	return l, err
}

func appendExts(b []byte, xs []field.Ext) []byte {
	e := formats.Elements(slices.Grow(b, len(xs)*formats.ExtElementBytes))
	for _, x := range xs {
		e = e.Append(uint64(x[0])).Append(uint64(x[1])).Append(uint64(x[2]))
	}
	return e
}

// Open implements prover.Layer.
func (l *layer) Open(leaves, known []uint32) (formats.Opening, error) {
	var o formats.Opening
	k := 0
	for _, leaf := range leaves {
		for i := leaf << l.step; i < (leaf+1)<<l.step; i++ {
			if k < len(known) && known[k] == i {
				k++
			} else {
				o.Rows = appendExts(o.Rows, l.word[i:i+1])
			}
		}
	}
	o.Siblings = l.tree.siblings(leaves)
	return o, nil
}

// Free implements prover.Layer.
func (l *layer) Free() { l.tree.free(l.s.arena) }

// Sponge implements prover.Session.
func (s *session) Sponge(tr *transcript.Transcript, _ int) (prover.Sponge, error) {
	return prover.NewHostSponge(tr, func(l prover.Layer) formats.Digest { return l.(*layer).tree.root() }), nil
}

// Fold implements prover.Session.
func (s *session) Fold(word prover.Codeword, logSize, step int, scalar prover.Scalar, entering prover.Codeword) (prover.Codeword, error) {
	beta := scalar.(field.Ext)
	power := field.SquareExtTimes(beta, step)
	in := word.(*codeword).word
	log := logSize - step
	out, err := buffer[field.Ext](s.arena, 1<<log)
	if err != nil {
		return nil, err
	}
	var add []field.Ext
	if entering != nil {
		add = entering.(*codeword).word
	}
	w, _ := field.RootOfUnity(logSize)
	inverse, _ := field.Inverse(w)
	arity := 1 << step
	folder := fri.NewFolder(step)
	err = parallel(s.ctx, len(out), 1<<10, func(_, first, last int) error {
		values := make([]field.Ext, arity)
		for i := first; i < last; i++ {
			copy(values, in[i*arity:])
			y := field.Pow(inverse, field.ReverseBits(uint64(i), log))
			v := folder.Fold(values, field.ScaleExt(beta, y))
			if add != nil {
				v = field.AddExt(v, field.MulExt(power, add[i]))
			}
			out[i] = v
		}
		return nil
	})
	if err != nil {
		release(s.arena, out)
		return nil, err
	}
	return &codeword{s, out}, nil
}

// Final implements prover.Session.
func (s *session) Final(word prover.Codeword, sched *fri.Schedule) ([]field.Ext, error) {
	in := word.(*codeword).word
	out := make([]field.Ext, 1<<sched.Final)
	column := make([]field.Element, len(in))
	for c := range out[0] {
		for i := range in {
			column[i] = in[i][c]
		}
		coefficients(column)
		for i, v := range column {
			if i < len(out) {
				out[i][c] = v
			} else if v != 0 {
				return nil, errors.New("the last word has too high a degree: a bug in the prover")
			}
		}
	}
	return out, nil
}

// Grind implements prover.Session: ranges are searched in order, so the lowest nonce of the first range that has one is the lowest of all.
func (s *session) Grind(state formats.Digest, bits int) (uint64, error) {
	if bits == 0 {
		return 0, nil
	}
	const span, grain = 1 << 30, 1 << 12
	var (
		mu   sync.Mutex
		best = ^uint64(0)
	)
	stop := errors.New("found")
	suite := batchOf(s.suite)
	for base := uint64(0); ; base += span {
		err := parallel(s.ctx, span, grain, func(_, first, last int) error {
			from := base + uint64(first)
			i := suite.FindNonce(&state, from, last-first, bits)
			if i == last-first {
				return nil
			}
			mu.Lock()
			best = min(best, from+uint64(i))
			mu.Unlock()
			return stop
		})
		if cancelled := s.ctx.Err(); cancelled != nil { // a lower range may have been left out
			return 0, cancelled
		}
		if err == stop {
			return best, nil
		}
	}
}
