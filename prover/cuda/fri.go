package cuda

import (
	"errors"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/fri"
	"github.com/ixprove/ixprove/verifier/merkle"
)

// layer is a committed word and its tree.
type layer struct {
	s    *session
	word kernels.Array[field.Ext]
	step int
	tree *tree
	root formats.Digest
}

// CommitLayer implements prover.Session. The layer refers to the word, which must outlive it.
func (s *session) CommitLayer(word prover.Codeword, logSize, step int) (_ prover.Layer, err error) {
	defer s.explain(&err, "FRI layer of 2^%d values", logSize)
	l := &layer{s: s, word: word.(*codeword).word, step: step}
	width := 3 << step
	shape := merkle.NewTree(s.suite, []merkle.Matrix{{LogRows: logSize - step, Width: width}})
	l.tree, err = s.hash(shape, width, func(int) (kernels.Columns, error) { return kernels.Columns(nil).AddExts(l.word, 1<<step), nil })
	if err == nil {
		l.root, err = l.tree.top()
	}
	return l, err
}

// Root implements prover.Layer.
func (l *layer) Root() formats.Digest { return l.root }

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
func (s *session) Fold(word prover.Codeword, logSize, step int, beta field.Ext, entering prover.Codeword, power field.Ext) (_ prover.Codeword, err error) {
	defer s.explain(&err, "fold of 2^%d values", logSize)
	out, err := take[field.Ext](s, lasting, 1<<(logSize-step))
	if err != nil {
		return nil, err
	}
	var add kernels.Array[field.Ext]
	if entering != nil {
		add = entering.(*codeword).word
	}
	if err := s.device.Fold(out, word.(*codeword).word, logSize, step, beta, add, power); err != nil {
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
