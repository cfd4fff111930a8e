package prover_test

import (
	"context"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/fri"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/logup"
	"github.com/ixprove/ixprove/verifier/merkle"
	"github.com/ixprove/ixprove/verifier/transcript"
)

// hooks are where a prover may cheat. Those that are nil are honest.
type hooks struct {
	fixed    func(columns [][]field.Element) [][]field.Element
	extend   func(c *plainCommit)                                       // words, before they are hashed
	root     func(c *plainCommit, honest formats.Digest) formats.Digest // what is said to be the root
	open     func(c *plainCommit, indices []uint32) []uint32            // what is opened instead
	pin      func(t *verifier.Table, value field.Ext) field.Ext         // the value that is sent
	pinned   func(t *verifier.Table, m *plainMatrix) *plainMatrix       // the trace that is pinned
	lookups  func(s *plain, t *verifier.Table, ch *logup.Challenges, m prover.Matrix, sum field.Ext) (prover.Matrix, field.Ext)
	quotient func(s *plain, t *verifier.Table, main prover.Columns) prover.Columns // the trace that the quotient is computed from
	slices   func(s *plain, slices []prover.Matrix) []prover.Matrix
	evaluate func(c prover.Columns, logHeight int, z field.Ext, which []int, values []field.Ext) // the values that are sent
	deep     func(logHeight int, word []field.Ext)
	beta     func(layer int, beta field.Ext) field.Ext
	folded   func(layer int, word []field.Ext)
	final    func(f []field.Ext, s *fri.Schedule) []field.Ext
	grind    func(suite hash.Suite, state formats.Digest, bits int, nonce uint64) uint64
}

// cheat is a backend that does in plain Go, on words that can be changed, what follows the traces; it takes traces, lookups and quotients from the CPU.
type cheat struct{ hooks }

func (cheat) Name() string { return "cheat" }

func (c cheat) Open(ctx context.Context, j prover.Job) (prover.Session, error) {
	inner, err := cpu.Backend{}.Open(ctx, j)
	return &plain{Session: inner, hooks: c.hooks, suite: j.Suite, logBlowup: j.LogBlowup}, err
}

type plain struct {
	prover.Session
	hooks
	suite     hash.Suite
	logBlowup int
	commits   []*plainCommit // in order: one a fixed table, main, auxiliary, quotient in a batch of one shard
	layers    int
}

type plainMatrix struct {
	prover.Matrix
	log   int
	in    *plainCommit
	index int
}

func unwrap(m prover.Matrix) prover.Matrix {
	if p, ok := m.(*plainMatrix); ok {
		return p.Matrix
	}
	return m
}

// plainCommit is the words of committed matrices, each column's values in bit-reversed order, and the tree over them.
type plainCommit struct {
	s        *plain
	number   int
	inner    prover.Commitment
	shape    *merkle.Tree
	logs     []int               // per matrix, log2 of its rows before extension
	matrices [][][]field.Element // matrix, column, point
	tree     [][]hash.Digest
}

func (s *plain) Trace(t *verifier.Table, w prover.TraceWriter) (prover.Matrix, error) {
	m, err := s.Session.Trace(t, w)
	return &plainMatrix{Matrix: m, log: t.LogHeight}, err
}

func (s *plain) Fixed(columns [][]field.Element) (prover.Matrix, error) {
	if s.fixed != nil {
		columns = s.fixed(columns)
	}
	return s.columns(columns)
}

// columns is a matrix of any columns.
func (s *plain) columns(columns [][]field.Element) (prover.Matrix, error) {
	m, err := s.Session.Fixed(columns)
	log := 0
	for 1<<log < len(columns[0]) {
		log++
	}
	return &plainMatrix{Matrix: m, log: log}, err
}

func (s *plain) Commit(tree *merkle.Tree, traces []prover.Matrix) (prover.Commitment, error) {
	return s.commit(tree, traces, s.Session.Commit)
}

func (s *plain) CommitSlices(tree *merkle.Tree, slices []prover.Matrix) (prover.Commitment, error) {
	if s.slices != nil {
		slices = s.slices(s, slices)
	}
	return s.commit(tree, slices, s.Session.CommitSlices)
}

func (s *plain) commit(tree *merkle.Tree, in []prover.Matrix, commit func(*merkle.Tree, []prover.Matrix) (prover.Commitment, error)) (prover.Commitment, error) {
	c := &plainCommit{s: s, number: len(s.commits), shape: tree}
	s.commits = append(s.commits, c)
	var inner []prover.Matrix
	for i, m := range in {
		p := m.(*plainMatrix)
		p.in, p.index = c, i
		inner = append(inner, p.Matrix)
		c.logs = append(c.logs, p.log)
	}
	var err error
	if c.inner, err = commit(tree, inner); err != nil {
		return nil, err
	}
	all := make([]uint32, 1<<tree.LogRows())
	for i := range all {
		all[i] = uint32(i)
	}
	o, err := c.inner.Open(all)
	if err != nil {
		return nil, err
	}
	c.matrices = make([][][]field.Element, len(in))
	at := 0
	for l := range tree.Levels {
		level, width := &tree.Levels[l], 0
		for i, log := range c.logs {
			if log+s.logBlowup != level.LogRows {
				continue
			}
			c.matrices[i] = make([][]field.Element, level.Widths[width])
			width++
			for k := range c.matrices[i] {
				c.matrices[i][k] = make([]field.Element, 1<<level.LogRows)
			}
		}
		for r := range 1 << level.LogRows {
			for i, log := range c.logs {
				if log+s.logBlowup != level.LogRows {
					continue
				}
				for k := range c.matrices[i] {
					c.matrices[i][k][r] = field.Element(o.Rows.At(at))
					at++
				}
			}
		}
	}
	if s.extend != nil {
		s.extend(c)
	}
	c.tree = hashRows(s.suite, tree, c.row)
	return c, nil
}

// row is a row of a level.
func (c *plainCommit) row(level, r int) []byte {
	var row formats.Elements
	for i, log := range c.logs {
		if log+c.s.logBlowup == c.shape.Levels[level].LogRows {
			for _, column := range c.matrices[i] {
				row = row.Append(uint64(column[r]))
			}
		}
	}
	return row
}

// hashRows hashes a tree; the result's k-th level has 2^k digests.
func hashRows(suite hash.Suite, shape *merkle.Tree, row func(level, r int) []byte) [][]hash.Digest {
	tree := make([][]hash.Digest, shape.LogRows()+1)
	level := 0
	for log := shape.LogRows(); log >= 0; log-- {
		tree[log] = make([]hash.Digest, 1<<log)
		has := level < len(shape.Levels) && shape.Levels[level].LogRows == log
		for i := range tree[log] {
			var leaf hash.Digest
			if has {
				leaf = suite.Leaf(shape.Levels[level].Shape(), row(level, i))
			}
			switch {
			case log == shape.LogRows():
				tree[log][i] = leaf
			case has:
				tree[log][i] = suite.Inject(&tree[log+1][2*i], &tree[log+1][2*i+1], &leaf)
			default:
				tree[log][i] = suite.Node(&tree[log+1][2*i], &tree[log+1][2*i+1])
			}
		}
		if has {
			level++
		}
	}
	return tree
}

func siblings(shape *merkle.Tree, tree [][]hash.Digest, indices []uint32) (out []byte) {
	shape.VisitSiblings(indices, func(log int, i uint32) { out = append(out, tree[log][i][:]...) })
	return out
}

func (c *plainCommit) Root() (formats.Digest, error) {
	if c.s.root != nil {
		return c.s.root(c, c.tree[0][0]), nil
	}
	return c.tree[0][0], nil
}

func (c *plainCommit) Open(indices []uint32) (o formats.Opening, err error) {
	if c.s.open != nil {
		indices = c.s.open(c, indices)
	}
	for l := range c.shape.Levels {
		for _, r := range merkle.Distinct(indices, c.shape.LogRows()-c.shape.Levels[l].LogRows) {
			o.Rows = append(o.Rows, c.row(l, int(r))...)
		}
	}
	o.Siblings = siblings(c.shape, c.tree, indices)
	return o, nil
}

func (c *plainCommit) Free() { c.inner.Free() }

// points are those of a domain of 2^log points, in bit-reversed order.
func points(log int) []field.Element {
	w, _ := field.RootOfUnity(log)
	x := make([]field.Element, 1<<log)
	for i := range x {
		x[i] = field.Mul(field.Shift, field.Pow(w, field.ReverseBits(uint64(i), log)))
	}
	return x
}

// valueAt evaluates at z the polynomials, of any degree below the domain's size, with these words.
func valueAt(columns [][]field.Element, log int, z field.Ext) []field.Ext {
	x := points(log)
	weights := make([]field.Ext, len(x))
	for i := range weights {
		weights[i] = field.SubExt(z, field.FromBase(x[i]))
	}
	field.BatchInverseExt(weights, make([]field.Ext, len(x)))
	sn := field.Pow(field.Shift, uint64(len(x)))
	inverse, _ := field.Inverse(sn)
	factor := field.ScaleExt(field.SubExt(field.SquareExtTimes(z, log), field.FromBase(sn)), field.Mul(inverse, field.InverseOfTwoPower(log)))
	out := make([]field.Ext, len(columns))
	for c, column := range columns {
		for i, v := range column {
			out[c] = field.AddExt(out[c], field.ScaleExt(weights[i], field.Mul(x[i], v)))
		}
		out[c] = field.MulExt(out[c], factor)
	}
	return out
}

// plainPin is a pinned trace: where its words are, and how they are combined.
type plainPin struct {
	main *plainMatrix
	fold field.Ext
}

func (plainPin) Free() {}

func (s *plain) Pin(t *verifier.Table, main prover.Matrix, z, fold field.Ext) (prover.Matrix, field.Ext, error) {
	m := main.(*plainMatrix)
	if s.pinned != nil {
		m = s.pinned(t, m)
	}
	values := valueAt(m.in.matrices[m.index], m.log+s.logBlowup, z)
	var value field.Ext
	for c := len(values) - 1; c >= 0; c-- {
		value = field.AddExt(field.MulExt(value, fold), values[c])
	}
	if s.pin != nil {
		value = s.pin(t, value)
	}
	return plainPin{m, fold}, value, nil
}

func (s *plain) Lookups(t *verifier.Table, fixed, main prover.Matrix, ch *logup.Challenges) (prover.Matrix, field.Ext, error) {
	m, sum, err := s.Session.Lookups(t, unwrap(fixed), unwrap(main), ch)
	out := prover.Matrix(&plainMatrix{Matrix: m, log: t.LogHeight})
	if err == nil && s.lookups != nil {
		out, sum = s.hooks.lookups(s, t, ch, out, sum)
	}
	return out, sum, err
}

func (s *plain) Quotient(t *verifier.Table, fixed, main, aux prover.Columns, ch *logup.Challenges, sum, delta field.Ext) (prover.Matrix, error) {
	if s.quotient != nil {
		main = s.hooks.quotient(s, t, main)
	}
	m, err := s.Session.Quotient(t, innerColumns(fixed), innerColumns(main), innerColumns(aux), ch, sum, delta)
	return &plainMatrix{Matrix: m, log: t.LogHeight}, err
}

func innerColumns(c prover.Columns) prover.Columns {
	if p, ok := c.In.(*plainCommit); ok {
		c.In = p.inner
	}
	return c
}

func (s *plain) Evaluate(selections []prover.Selection, logHeight int, z field.Ext) (out []field.Ext, err error) {
	for _, c := range selections {
		columns := words(c.Columns)
		if c.Which != nil {
			columns = nil
			for _, i := range c.Which {
				columns = append(columns, words(c.Columns)[i])
			}
		}
		values := valueAt(columns, logHeight+s.logBlowup, z)
		if s.evaluate != nil {
			s.evaluate(c.Columns, logHeight, z, c.Which, values)
		}
		out = append(out, values...)
	}
	return out, nil
}

func words(c prover.Columns) [][]field.Element { return c.In.(*plainCommit).matrices[c.Index] }

// plainWord is a codeword.
type plainWord struct{ values []field.Ext }

func (*plainWord) Free() {}

func (s *plain) Deep(logHeight int, at []prover.DeepPoint) (prover.Codeword, error) {
	x := points(logHeight + s.logBlowup)
	word := make([]field.Ext, len(x))
	for _, p := range at {
		sums, denominators := make([]field.Ext, len(x)), make([]field.Ext, len(x))
		add := func(column []field.Element, f field.Ext) {
			for i, v := range column {
				sums[i] = field.AddExt(sums[i], field.ScaleExt(f, v))
			}
		}
		for _, t := range p.Terms {
			for i, f := range t.Coefficients {
				c := i
				if t.Which != nil {
					c = t.Which[i]
				}
				add(words(t.Columns)[c], f)
			}
		}
		for _, pin := range p.Pins {
			trace := pin.Trace.(plainPin)
			f := pin.Coefficient
			for _, column := range trace.main.in.matrices[trace.main.index] {
				add(column, f)
				f = field.MulExt(f, trace.fold)
			}
		}
		for i := range x {
			denominators[i] = field.SubExt(field.FromBase(x[i]), p.Z)
		}
		field.BatchInverseExt(denominators, make([]field.Ext, len(x)))
		for i := range x {
			word[i] = field.AddExt(word[i], field.MulExt(field.SubExt(sums[i], p.Claimed), denominators[i]))
		}
	}
	if s.deep != nil {
		s.deep(logHeight, word)
	}
	return &plainWord{word}, nil
}

// plainLayer is a committed codeword.
type plainLayer struct {
	values []field.Ext
	step   int
	shape  *merkle.Tree
	tree   [][]hash.Digest
}

func (s *plain) CommitLayer(word prover.Codeword, logSize, step int) (prover.Layer, error) {
	l := &plainLayer{values: word.(*plainWord).values, step: step}
	l.shape = merkle.NewTree(s.suite, []merkle.Matrix{{LogRows: logSize - step, Width: 3 << step}})
	l.tree = hashRows(s.suite, l.shape, func(_, r int) []byte { return packed(l.values[r<<step : (r+1)<<step]) })
	return l, nil
}

func packed(values []field.Ext) (e formats.Elements) {
	for _, v := range values {
		for _, c := range v {
			e = e.Append(uint64(c))
		}
	}
	return e
}

func (s *plain) Sponge(tr *transcript.Transcript, _ int) (prover.Sponge, error) {
	return prover.NewHostSponge(tr, func(l prover.Layer) formats.Digest { return l.(*plainLayer).tree[0][0] }), nil
}

func (l *plainLayer) Free() {}

func (l *plainLayer) Open(leaves, known []uint32) (o formats.Opening, err error) {
	for _, leaf := range leaves {
		for i := leaf << l.step; i < (leaf+1)<<l.step; i++ {
			if len(known) > 0 && known[0] == i {
				known = known[1:]
			} else {
				o.Rows = append(o.Rows, packed(l.values[i:i+1])...)
			}
		}
	}
	o.Siblings = siblings(l.shape, l.tree, leaves)
	return o, nil
}

func (s *plain) Fold(word prover.Codeword, logSize, step int, scalar prover.Scalar, entering prover.Codeword) (prover.Codeword, error) {
	beta := scalar.(field.Ext)
	if s.beta != nil {
		beta = s.beta(s.layers, beta)
	}
	power := field.SquareExtTimes(beta, step)
	in := word.(*plainWord).values
	w, _ := field.RootOfUnity(logSize)
	inverse, _ := field.Inverse(w)
	folder := fri.NewFolder(step)
	out := make([]field.Ext, len(in)>>step)
	for i := range out {
		y := field.Pow(inverse, field.ReverseBits(uint64(i), logSize-step))
		out[i] = folder.Fold(append([]field.Ext(nil), in[i<<step:(i+1)<<step]...), field.ScaleExt(beta, y))
		if entering != nil {
			out[i] = field.AddExt(out[i], field.MulExt(power, entering.(*plainWord).values[i]))
		}
	}
	if s.folded != nil {
		s.folded(s.layers, out)
	}
	s.layers++
	return &plainWord{out}, nil
}

// Final interpolates the word and drops what exceeds the degree bound.
func (s *plain) Final(word prover.Codeword, schedule *fri.Schedule) ([]field.Ext, error) {
	in := word.(*plainWord).values
	f := interpolate(in)[:1<<schedule.Final]
	if s.final != nil {
		f = s.final(f, schedule)
	}
	s.layers = 0
	return f, nil
}

// interpolate returns the coefficients, in y = x/g, of the polynomial with this word.
func interpolate(word []field.Ext) []field.Ext {
	log := 0
	for 1<<log < len(word) {
		log++
	}
	w, _ := field.RootOfUnity(log)
	inverse, _ := field.Inverse(w)
	out := make([]field.Ext, len(word))
	for k := range out {
		for i, v := range word {
			e := field.ReverseBits(uint64(i), log) * uint64(k)
			out[k] = field.AddExt(out[k], field.ScaleExt(v, field.Pow(inverse, e%uint64(len(word)))))
		}
		out[k] = field.ScaleExt(out[k], field.InverseOfTwoPower(log))
	}
	return out
}

func (s *plain) Grind(state formats.Digest, bits int) (uint64, error) {
	nonce, err := s.Session.Grind(state, bits)
	if s.grind != nil {
		nonce = s.grind(s.suite, state, bits, nonce)
	}
	return nonce, err
}
