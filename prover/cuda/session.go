package cuda

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/merkle"
)

type session struct {
	ctx       context.Context
	stop      func() bool // has the context's end no longer end compilations
	backend   *Backend
	suite     hash.Suite
	logBlowup int
	arena     *arena
	device    *kernels.Device
	stage     prover.Stage
	broken    error // the first error of a free
	failed    bool  // something went wrong on the device
	closed    bool
	staging   staging
	rows      []prover.RowWork
	shards    int                           // of the proof
	roots     kernels.Array[formats.Digest] // of trees that are gone: one of each shard at most
	kept      int                           // of roots
}

// Close implements prover.Session. It waits for the device, and the next session may be opened.
func (s *session) Close() {
	if !s.closed {
		s.closed = true
		s.stop()
		err := errors.Join(s.staging.close(s.arena), s.device.Close())
		if err != nil || s.failed {
			err = errors.Join(err, s.backend.release())
		}
		s.backend.broken = err
		<-s.backend.turn
	}
}

// PeakBytes implements prover.Session.
func (s *session) PeakBytes() int64 { return int64(s.arena.peak()) }

// Enter implements prover.Meter.
func (s *session) Enter(stage prover.Stage) {
	s.stage = stage
	s.device.Enter(string(stage))
}

// Work implements prover.Meter.
func (s *session) Work() ([]prover.StageWork, error) {
	c, err := s.device.Counters()
	if err != nil {
		s.failed = true
		return nil, &Error{s.stage, "counters", err}
	}
	var out []prover.StageWork
	for _, st := range c.Stages[1:] { // the first is what came before any stage: nothing
		out = append(out, prover.StageWork{Stage: prover.Stage(st.Label), BytesUp: st.BytesUp, BytesDown: st.BytesDown, Launches: st.Launches, Busy: st.Busy, Code: st.Code})
	}
	return out, nil
}

// ready says why no more work can be done: the context ended, or a buffer could not be given back.
func (s *session) ready() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	return s.broken
}

// explain adds to an error where it happened.
func (s *session) explain(err *error, format string, args ...any) {
	s.failed = s.failed || *err != nil
	if *err != nil && s.ctx.Err() == nil {
		*err = &Error{s.stage, fmt.Sprintf(format, args...), *err}
	} else if *err != nil {
		*err = s.ctx.Err()
	}
}

// take allocates values.
func take[T kernels.Value](s *session, r region, n int) (kernels.Array[T], error) {
	if err := s.ready(); err != nil {
		return kernels.Array[T]{}, err
	}
	s.arena.next = r
	defer func() { s.arena.next = internal }()
	return kernels.Alloc[T](s.device, n)
}

// upload allocates a list.
func upload[T kernels.Value](s *session, values []T) (kernels.Array[T], error) {
	a, err := take[T](s, list, len(values))
	if err != nil {
		return a, err
	}
	if err := a.Upload(values); err != nil {
		give(s, &a)
		return a, err
	}
	return a, nil
}

// give frees an array, once.
func give[T kernels.Value](s *session, a *kernels.Array[T]) {
	if err := a.Free(); err != nil && s.broken == nil {
		s.broken = err
	}
	*a = kernels.Array[T]{}
}

// matrix is columns on a trace domain, in row order.
type matrix struct {
	s         *session
	values    kernels.Array[field.Element]
	columns   int
	logHeight int
}

// Free implements prover.Matrix.
func (m *matrix) Free() { give(m.s, &m.values) }

func (s *session) newMatrix(r region, columns, logHeight int) (*matrix, error) {
	values, err := take[field.Element](s, r, columns<<logHeight)
	return &matrix{s, values, columns, logHeight}, err
}

// Fixed implements prover.Session.
func (s *session) Fixed(columns [][]field.Element) (_ prover.Matrix, err error) {
	log := log2(len(columns[0]))
	defer s.explain(&err, "upload of %d fixed columns of 2^%d rows", len(columns), log)
	m, err := s.newMatrix(lasting, len(columns), log)
	if err != nil {
		return nil, err
	}
	return m, s.sendRows(m, fixed(columns))
}

func log2(n int) (log int) {
	for 1<<log < n {
		log++
	}
	return log
}

// commitment is extended matrices and their tree.
type commitment struct {
	s        *session
	matrices []matrix // extended
	levels   [][]int  // per tree level, the matrices in it
	tree     *tree
}

// Commit implements prover.Session.
func (s *session) Commit(t *merkle.Tree, traces []prover.Matrix) (prover.Commitment, error) {
	return s.commit(t, traces, s.device.Extend)
}

// CommitSlices implements prover.Session.
func (s *session) CommitSlices(t *merkle.Tree, slices []prover.Matrix) (prover.Commitment, error) {
	return s.commit(t, slices, s.device.ExtendCoefficients)
}

func (s *session) commit(t *merkle.Tree, in []prover.Matrix, extend func(out, in kernels.Array[field.Element], columns, logHeight, logBlowup int) error) (_ prover.Commitment, err error) {
	defer s.explain(&err, "commitment to %d matrices, the tallest of 2^%d extended rows", len(in), t.LogRows())
	c := &commitment{s: s, levels: make([][]int, len(t.Levels))}
	defer func() {
		if err != nil {
			c.Free()
		}
	}()
	for i, handle := range in {
		m := handle.(*matrix)
		for l := range t.Levels {
			if t.Levels[l].LogRows == m.logHeight+s.logBlowup {
				c.levels[l] = append(c.levels[l], i)
			}
		}
		extended, err := s.newMatrix(lasting, m.columns, m.logHeight+s.logBlowup)
		if err != nil {
			return nil, err
		}
		c.matrices = append(c.matrices, *extended)
		if err := extend(extended.values, m.values, m.columns, m.logHeight, s.logBlowup); err != nil {
			return nil, err
		}
	}
	c.tree, err = s.hash(t, c.columns)
	return c, err
}

// columns lists the columns of a tree level.
func (c *commitment) columns(level int) (list kernels.Columns, err error) {
	for _, i := range c.levels[level] {
		m := &c.matrices[i]
		if list, err = list.Add(m.values, m.columns, 1<<m.logHeight); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Root implements prover.Commitment.
func (c *commitment) Root() (_ formats.Digest, err error) {
	defer c.s.explain(&err, "root of a tree of 2^%d", c.tree.shape.LogRows())
	return c.tree.top()
}

// Open implements prover.Commitment.
func (c *commitment) Open(indices []uint32) (o formats.Opening, err error) {
	s, shape := c.s, c.tree.shape
	defer s.explain(&err, "opening of %d rows of a tree of 2^%d", len(indices), shape.LogRows())
	for l := range shape.Levels {
		columns, err := c.columns(l)
		if err != nil {
			return o, err
		}
		var rows []uint64
		for _, i := range merkle.Distinct(indices, shape.LogRows()-shape.Levels[l].LogRows) {
			rows = append(rows, uint64(i))
		}
		if o.Rows, err = s.gather(o.Rows, columns, rows, 1); err != nil {
			return o, err
		}
	}
	o.Siblings, err = c.tree.siblings(indices)
	return o, err
}

// gather appends the values of columns at some rows.
func (s *session) gather(to formats.Elements, columns kernels.Columns, rows []uint64, stride int) (formats.Elements, error) {
	list, err := upload(s, []uint64(columns))
	if err != nil {
		return to, err
	}
	defer give(s, &list)
	values, err := s.device.Gather(list, rows, stride)
	to = slices.Grow(to, formats.ElementBytes*len(values))
	for _, v := range values {
		to = to.Append(v)
	}
	return to, err
}

// Free implements prover.Commitment. A root that was not asked for is kept.
func (c *commitment) Free() {
	for i := range c.matrices {
		c.matrices[i].Free()
	}
	if c.tree != nil {
		if err := c.tree.keep(); err != nil && c.s.broken == nil {
			c.s.broken = err
		}
		c.tree.free()
	}
}

// tree holds the nodes of a Merkle tree: level k's 2^k digests from place 2^k on.
type tree struct {
	s     *session
	shape *merkle.Tree
	nodes kernels.Array[formats.Digest]
	kept  kernels.Array[formats.Digest] // the root, when the nodes are gone
	root  *formats.Digest               // once it is known
}

// top returns the root. It waits for the device the first time.
func (t *tree) top() (formats.Digest, error) {
	if t.root == nil {
		at := t.kept
		var err error
		if t.nodes.Len() > 0 {
			if at, err = t.nodes.Slice(1, 2); err != nil {
				return formats.Digest{}, err
			}
		}
		root := make([]formats.Digest, 1)
		if err := at.Download(root); err != nil {
			return formats.Digest{}, err
		}
		t.root = &root[0]
	}
	return *t.root, nil
}

// keep copies the root to where it stays, if it is not known.
func (t *tree) keep() (err error) {
	s := t.s
	if t.root != nil || t.nodes.Len() == 0 {
		return nil
	}
	if s.roots.Len() == 0 {
		if s.roots, err = take[formats.Digest](s, tables, s.shards); err != nil {
			return err
		}
	}
	from, err := t.nodes.Slice(1, 2)
	if err != nil {
		return err
	}
	if t.kept, err = s.roots.Slice(s.kept, s.kept+1); err != nil {
		return err
	}
	s.kept++
	return t.kept.Copy(from)
}

func (t *tree) free() { give(t.s, &t.nodes) }

// hash makes a tree: columns lists the columns of a level.
func (s *session) hash(shape *merkle.Tree, columns func(level int) (kernels.Columns, error)) (*tree, error) {
	level := 0
	return s.grow(shape, func(out kernels.Array[formats.Digest], l *merkle.Level) error {
		list, err := columns(level)
		if err != nil {
			return err
		}
		level++
		on, err := upload(s, []uint64(list))
		if err != nil {
			return err
		}
		defer give(s, &on)
		return s.device.Leaves(out, on, 1<<l.LogRows, 1, l.Shape())
	})
}

// grow makes a tree's nodes: leaves hashes the rows of a level, the tallest first.
func (s *session) grow(shape *merkle.Tree, leaves func(out kernels.Array[formats.Digest], level *merkle.Level) error) (_ *tree, err error) {
	t := &tree{s: s, shape: shape}
	entering := map[int]kernels.Array[formats.Digest]{}
	defer func() {
		for _, a := range entering {
			give(s, &a)
		}
		if err != nil {
			t.free()
		}
	}()
	if t.nodes, err = take[formats.Digest](s, lasting, 2<<shape.LogRows()); err != nil {
		return nil, err
	}
	for l := range shape.Levels {
		level := &shape.Levels[l]
		out, err := t.nodes.Slice(1<<level.LogRows, 2<<level.LogRows)
		if err == nil && l > 0 {
			out, err = take[formats.Digest](s, passing, 1<<level.LogRows)
			entering[level.LogRows] = out
		}
		if err != nil {
			return nil, err
		}
		if err := leaves(out, level); err != nil {
			return nil, err
		}
	}
	return t, s.device.Tree(t.nodes, shape.LogRows(), entering)
}

// siblings returns the digests of a multiproof.
func (t *tree) siblings(indices []uint32) ([]byte, error) {
	var places []uint64
	t.shape.VisitSiblings(indices, func(log int, index uint32) { places = append(places, 1<<log+uint64(index)) })
	digests, err := t.s.device.GatherDigests(t.nodes, places)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(digests)*formats.DigestBytes)
	for i := range digests {
		out = append(out, digests[i][:]...)
	}
	return out, nil
}
