// Package cpu is the portable backend: scalar Go on all cores, buffers outside the garbage-collected heap.
package cpu

import (
	"context"
	"fmt"
	"runtime"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/internal/vector"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/logup"
	"github.com/ixprove/ixprove/verifier/merkle"
)

// Backend proves on the processors that GOMAXPROCS allows.
type Backend struct{}

// Name returns "cpu".
func (Backend) Name() string { return "cpu" }

// Open starts a session.
func (Backend) Open(ctx context.Context, j prover.Job) (prover.Session, error) {
	return &session{ctx: ctx, suite: j.Suite, logBlowup: j.LogBlowup, arena: &arena{}, cosets: map[int]*cosets{}}, nil
}

type session struct {
	ctx       context.Context
	suite     hash.Suite
	logBlowup int
	arena     *arena
	cosets    map[int]*cosets
}

// Close frees all buffers.
func (s *session) Close() { s.arena.close() }

// PeakBytes implements prover.Session.
func (s *session) PeakBytes() int64 { return s.arena.peak }

// matrix is columns on a trace domain in row order.
type matrix struct {
	s       *session
	columns [][]field.Element
}

// Free gives the columns back.
func (m *matrix) Free() {
	for i, c := range m.columns {
		release(m.s.arena, c)
		m.columns[i] = nil
	}
}

func (s *session) newMatrix(width, height int) (*matrix, error) {
	m := &matrix{s, make([][]field.Element, width)}
	for i := range m.columns {
		var err error
		if m.columns[i], err = s.arena.elements(height); err != nil {
			m.Free()
			return nil, err
		}
	}
	return m, nil
}

// Trace implements prover.Session.
func (s *session) Trace(t *verifier.Table, w prover.TraceWriter) (prover.Matrix, error) {
	height := 1 << t.LogHeight
	m, err := s.newMatrix(t.Columns(verifier.Main), height)
	if err != nil {
		return nil, err
	}
	grain := max(prover.RowAlign, min(1<<12, height/(4*runtime.GOMAXPROCS(0))/prover.RowAlign*prover.RowAlign))
	err = parallel(s.ctx, height, grain, func(_, first, last int) error {
		part := make([][]field.Element, len(m.columns))
		for i, c := range m.columns {
			part[i] = c[first:last:last]
		}
		if err := w.WriteRows(part, first); err != nil {
			return err
		}
		for i, c := range part {
			for r, v := range c {
				if v >= field.Modulus {
					return fmt.Errorf("the trace writer wrote a value that is no field element: column %d, row %d, value %#x", i, first+r, uint64(v))
				}
			}
		}
		return nil
	})
	if err != nil {
		m.Free()
		return nil, err
	}
	return m, nil
}

// Fixed implements prover.Session. The columns are used where they are.
func (s *session) Fixed(columns [][]field.Element) (prover.Matrix, error) {
	return &matrix{s, append([][]field.Element(nil), columns...)}, nil
}

func (s *session) cosetsOf(logHeight int) (*cosets, error) {
	if c := s.cosets[logHeight]; c != nil {
		return c, nil
	}
	c, err := newCosets(s.arena, logHeight, s.logBlowup)
	if err == nil {
		s.cosets[logHeight] = c
	}
	return c, err
}

// commitment is extended matrices and their tree.
type commitment struct {
	s        *session
	matrices [][][]field.Element // matrix, column, point
	levels   [][]int             // per tree level, the matrices in it
	tree     *tree
	root     formats.Digest
}

// Commit implements prover.Session.
func (s *session) Commit(t *merkle.Tree, traces []prover.Matrix) (prover.Commitment, error) {
	return s.commit(t, traces, func(c *cosets, out, in, scratch []field.Element) { c.extendTrace(out, in, scratch) })
}

// CommitSlices implements prover.Session.
func (s *session) CommitSlices(t *merkle.Tree, slices []prover.Matrix) (prover.Commitment, error) {
	return s.commit(t, slices, func(c *cosets, out, in, _ []field.Element) { c.extend(out, in) })
}

func (s *session) commit(t *merkle.Tree, in []prover.Matrix, extend func(c *cosets, out, in, scratch []field.Element)) (prover.Commitment, error) {
	c := &commitment{s: s, levels: make([][]int, len(t.Levels))}
	ok := false
	defer func() {
		if !ok {
			c.Free()
		}
	}()
	for i, handle := range in {
		m := handle.(*matrix)
		n := len(m.columns[0])
		log := log2(n)
		for l := range t.Levels {
			if t.Levels[l].LogRows == log+s.logBlowup {
				c.levels[l] = append(c.levels[l], i)
			}
		}
		co, err := s.cosetsOf(log)
		if err != nil {
			return nil, err
		}
		extended := make([][]field.Element, len(m.columns))
		c.matrices = append(c.matrices, extended)
		scratch := make([][]field.Element, maxWorkers)
		err = parallel(s.ctx, len(m.columns), 1, func(worker, column, _ int) error {
			if scratch[worker] == nil {
				scratch[worker] = make([]field.Element, n)
			}
			out, err := s.arena.elements(n << s.logBlowup)
			if err != nil {
				return err
			}
			extended[column] = out
			extend(co, out, m.columns[column], scratch[worker])
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	var err error
	levels := make([][][]field.Element, len(c.levels))
	for l := range levels {
		levels[l] = c.columns(l)
	}
	suite := batchOf(s.suite)
	leaves := func(out []hash.Digest, level, first int) {
		suite.Leaves(out, t.Levels[level].Shape(), levels[level], first)
	}
	if c.tree, err = hashTree(s.ctx, s.arena, suite, t, leaves); err != nil {
		return nil, err
	}
	c.root = c.tree.root()
	ok = true
	return c, nil
}

// columns lists the columns of a tree level.
func (c *commitment) columns(level int) (columns [][]field.Element) {
	for _, i := range c.levels[level] {
		columns = append(columns, c.matrices[i]...)
	}
	return columns
}

// Root implements prover.Commitment.
func (c *commitment) Root() (formats.Digest, error) { return c.root, nil }

// Open implements prover.Commitment.
func (c *commitment) Open(indices []uint32) (formats.Opening, error) {
	var o formats.Opening
	shape := c.tree.shape
	for l := range shape.Levels {
		columns, last := c.columns(l), -1
		for _, i := range indices {
			if at := int(i >> (shape.LogRows() - shape.Levels[l].LogRows)); at != last {
				o.Rows = gather(o.Rows, columns, at, at+1)
				last = at
			}
		}
	}
	o.Siblings = c.tree.siblings(indices)
	return o, nil
}

// Free implements prover.Commitment.
func (c *commitment) Free() {
	for _, m := range c.matrices {
		for i, column := range m {
			release(c.s.arena, column)
			m[i] = nil
		}
	}
	if c.tree != nil {
		c.tree.free(c.s.arena)
	}
}

// extended returns the columns of a committed matrix, nil for none.
func extended(c prover.Columns) [][]field.Element {
	if c.In == nil {
		return nil
	}
	return c.In.(*commitment).matrices[c.Index]
}

// Pin implements prover.Session.
func (s *session) Pin(t *verifier.Table, main prover.Matrix, z, fold field.Ext) (prover.Matrix, field.Ext, error) {
	m := main.(*matrix)
	n := 1 << t.LogHeight
	out, err := s.newMatrix(3, n)
	if err != nil {
		return nil, field.Ext{}, err
	}
	factors := make([]field.Ext, len(m.columns))
	for i, p := 0, (field.Ext{1}); i < len(factors); i, p = i+1, field.MulExt(p, fold) {
		factors[i] = p
	}
	k := vector.NewCoefficients(factors)
	err = parallel(s.ctx, n, 1<<10, func(_, first, last int) error {
		vector.Combine([3][]field.Element{out.columns[0][first:last], out.columns[1][first:last], out.columns[2][first:last]}, k, m.columns, first)
		return nil
	})
	if err != nil {
		return nil, field.Ext{}, err
	}
	values, err := newEvaluator(t.LogHeight, z, 1).evaluate(s, out.columns)
	if err != nil {
		return nil, field.Ext{}, err
	}
	var value field.Ext
	for c := 2; c >= 0; c-- {
		value = field.AddExt(field.MulX(value), values[c])
	}
	return out, value, nil
}

// Quotient implements prover.Session.
func (s *session) Quotient(t *verifier.Table, fixed, main, aux prover.Columns, ch *logup.Challenges, sum, delta field.Ext) (prover.Matrix, error) {
	columns, err := quotient(s.ctx, s.arena, &quotientJob{
		t: t, fixed: extended(fixed), main: extended(main), aux: extended(aux), ch: newFingerprints(t.Circuit, ch),
		perRow: field.ScaleExt(sum, field.InverseOfTwoPower(t.LogHeight)), logBlowup: s.logBlowup,
	}, delta)
	if err != nil {
		return nil, err
	}
	return &matrix{s, columns}, nil
}
