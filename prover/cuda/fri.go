package cuda

import (
	"errors"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/fri"
	"github.com/ixprove/ixprove/verifier/merkle"
	"github.com/ixprove/ixprove/verifier/transcript"
)

// layer is a committed word and its tree.
type layer struct {
	s    *session
	word kernels.Array[field.Ext]
	step int
	tree *tree
}

// CommitLayer implements prover.Session. The layer refers to the word, which must outlive it.
func (s *session) CommitLayer(word prover.Codeword, logSize, step int) (_ prover.Layer, err error) {
	defer s.explain(&err, "FRI layer of 2^%d values", logSize)
	l := &layer{s: s, word: word.(*codeword).word, step: step}
	l.tree, err = s.grow(fri.LayerTree(s.suite, logSize, step), func(out kernels.Array[formats.Digest], level *merkle.Level) error {
		return s.device.WordLeaves(out, l.word, step, level.Shape())
	})
	return l, err
}

// sponge is a transcript on the device: its state, followed by the roots that it absorbed, and the challenge drawn last.
type sponge struct {
	s       *session
	digests kernels.Array[formats.Digest]
	drawn   kernels.Array[field.Ext]
	roots   int
}

// Sponge implements prover.Session.
func (s *session) Sponge(tr *transcript.Transcript, layers int) (_ prover.Sponge, err error) {
	defer s.explain(&err, "transcript")
	state, all := tr.State()
	if !all {
		return nil, errors.New("the transcript has messages that it did not draw from: a bug in the prover")
	}
	digests := make([]formats.Digest, 1+layers)
	digests[0] = state
	t := &sponge{s: s}
	if t.digests, err = upload(s, digests); err != nil {
		return nil, err
	}
	if t.drawn, err = take[field.Ext](s, list, 1); err != nil {
		t.Free()
		return nil, err
	}
	return t, nil
}

// Draw implements prover.Sponge.
func (t *sponge) Draw(l prover.Layer, root, challenge transcript.Tag) (_ prover.Scalar, err error) {
	defer t.s.explain(&err, "challenge of a FRI layer")
	top, err := l.(*layer).tree.nodes.Slice(1, 2)
	if err != nil {
		return nil, err
	}
	seen, err := t.digests.Slice(1+t.roots, 2+t.roots)
	if err != nil {
		return nil, err
	}
	t.roots++
	return t.drawn, t.s.device.Draw(t.drawn, t.digests, seen, top, uint64(root), uint64(challenge))
}

// Roots implements prover.Sponge.
func (t *sponge) Roots() (_ []formats.Digest, err error) {
	defer t.s.explain(&err, "roots of FRI layers")
	digests := make([]formats.Digest, 1+t.roots)
	err = t.digests.Download(digests)
	return digests[1:], err
}

// Free implements prover.Sponge.
func (t *sponge) Free() {
	give(t.s, &t.digests)
	give(t.s, &t.drawn)
}

// Open implements prover.Layer.
func (l *layer) Open(leaves, known []uint32) (o formats.Opening, err error) {
	defer l.s.explain(&err, "opening of %d leaves of a FRI layer", len(leaves))
	var places []uint64
	k := 0
	for _, leaf := range leaves {
		for i := leaf << l.step; i < (leaf+1)<<l.step; i++ {
			if k < len(known) && known[k] == i {
				k++
			} else {
				places = append(places, uint64(i))
			}
		}
	}
	if o.Rows, err = l.s.gather(nil, kernels.Columns(nil).AddExts(l.word, 1), places, 3); err != nil {
		return o, err
	}
	o.Siblings, err = l.tree.siblings(leaves)
	return o, err
}

// Free implements prover.Layer.
func (l *layer) Free() { l.tree.free() }

// Fold implements prover.Session.
func (s *session) Fold(word prover.Codeword, logSize, step int, beta prover.Scalar, entering prover.Codeword) (_ prover.Codeword, err error) {
	defer s.explain(&err, "fold of 2^%d values", logSize)
	out, err := take[field.Ext](s, lasting, 1<<(logSize-step))
	if err != nil {
		return nil, err
	}
	var add kernels.Array[field.Ext]
	if entering != nil {
		add = entering.(*codeword).word
	}
	if err := s.device.Fold(out, word.(*codeword).word, logSize, step, beta.(kernels.Array[field.Ext]), add); err != nil {
		give(s, &out)
		return nil, err
	}
	return &codeword{s, out}, nil
}

// Final implements prover.Session.
func (s *session) Final(word prover.Codeword, sched *fri.Schedule) (_ []field.Ext, err error) {
	defer s.explain(&err, "final polynomial of 2^%d coefficients", sched.Final)
	if err := s.ready(); err != nil {
		return nil, err
	}
	if err := s.device.Flagged("DEEP quotients"); err != nil {
		return nil, err
	}
	all, err := s.device.Final(word.(*codeword).word, sched.Final+sched.LogBlowup)
	if err != nil {
		return nil, err
	}
	for _, c := range all[1<<sched.Final:] {
		if !c.IsZero() {
			return nil, errors.New("the last word has too high a degree: a bug in the prover")
		}
	}
	return all[:1<<sched.Final], nil
}

// Grind implements prover.Session.
func (s *session) Grind(state formats.Digest, bits int) (_ uint64, err error) {
	defer s.explain(&err, "search for a nonce of %d bits", bits)
	if err := s.ready(); err != nil || bits == 0 {
		return 0, err
	}
	return s.device.Grind(&state, bits)
}
