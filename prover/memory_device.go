package prover

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/merkle"
)

// DevicePlan is the memory that a proof takes on a device. Peak is the one block that is allocated.
type DevicePlan struct {
	Memory
	Small Bytes // the part of the block for tables, lists and small scratch
}

// LargeScratch is the size from which a kernel's own passing buffers lie among the matrices and are terms of their stage. Smaller ones share DevicePlan.Small.
const LargeScratch = 1 * MiB

// DeviceMemory is the memory that a proof takes on a device with so many processors, from its shapes alone. It follows the proof buffer by buffer
// with the Layout by which prover/cuda places them, so it is exact. What the CUDA context itself takes is not in it.
func DeviceMemory(j Job, processors int) *DevicePlan {
	m := &deviceModel{job: j, blowup: j.LogBlowup, processors: processors, out: &DevicePlan{}, names: map[Span]string{}, programs: map[verifier.Table]working{}}
	fixed := map[int]bool{}
	for i, s := range j.Shapes {
		for k := range s.Tables {
			if t := &s.Tables[k]; t.FixedColumns() > 0 && !fixed[t.Index] {
				fixed[t.Index] = true
				m.begin(StageCommit, i)
				m.take(Low, "fixed columns", trace(t, verifier.Fixed))
				m.commit(s, s.Tree(verifier.Fixed, k), new(deviceShard))
			}
		}
	}
	shards := make([]deviceShard, len(j.Shapes))
	for i, s := range j.Shapes {
		m.mainRound(s, i, &shards[i])
		if j.Regenerate {
			m.forget(&shards[i])
		}
	}
	for i, s := range j.Shapes {
		m.pins(s, i, &shards[i])
	}
	for i, s := range j.Shapes {
		d := &shards[i]
		if j.Regenerate {
			m.mainRound(s, i, d)
		}
		m.lookups(s, i, d)
		m.quotients(s, i, d)
		m.finish(s, i, d)
	}
	m.out.Small = m.tables() + m.small
	for i := range m.out.Stages {
		s := &m.out.Stages[i]
		s.Total += m.out.Small
		s.Terms = append(s.Terms, MemoryTerm{"tables, lists and small scratch", m.out.Small})
		m.out.Peak = max(m.out.Peak, s.Total)
	}
	return m.out
}

// tables is what the kernels look up in, and what else lasts.
func (m *deviceModel) tables() (n Bytes) {
	for _, size := range kernels.TablesMemory() {
		n += alignUp(Bytes(size))
	}
	return n + alignUp(Bytes(len(m.job.Shapes))*digestBytes) // roots of trees that are forgotten
}

// deviceModel follows a proof.
type deviceModel struct {
	job        Job
	blowup     int
	processors int
	out        *DevicePlan
	small      Bytes // the most that is needed at a time besides tables
	layout     Layout
	names      map[Span]string // of the live spans
	programs   map[verifier.Table]working
}

// working is the working memory of the kernels that run a circuit.
type working struct{ lookups, quotient []int64 }

func (m *deviceModel) working(t *verifier.Table) working {
	w, ok := m.programs[*t]
	if !ok {
		w.lookups = kernels.LookupsMemory(t.Circuit, t.LogHeight, m.job.MessageElements, m.processors)
		w.quotient = kernels.QuotientMemory(t.Circuit, t.LogHeight, m.job.MessageElements, m.processors)
		m.programs[*t] = w
	}
	return w
}

// deviceShard is the live buffers of a shard.
type deviceShard struct {
	traces, main, pins, rest []Span
}

// begin enters a stage of a shard.
func (m *deviceModel) begin(stage Stage, shard int) {
	if n := len(m.out.Stages); n > 0 && m.out.Stages[n-1].Stage == stage && m.out.Stages[n-1].Shard == shard {
		return
	}
	m.out.Stages = append(m.out.Stages, StageMemory{Stage: stage, Shard: shard})
	m.note()
}

// note records the live buffers if the stage never had as many.
func (m *deviceModel) note() {
	s := &m.out.Stages[len(m.out.Stages)-1]
	if m.layout.Extent() <= s.Total {
		return
	}
	s.Total, s.Terms = m.layout.Extent(), s.Terms[:0]
	add := func(name string, b Bytes) {
		for i := range s.Terms {
			if s.Terms[i].Name == name {
				s.Terms[i].Bytes += b
				return
			}
		}
		if b > 0 {
			s.Terms = append(s.Terms, MemoryTerm{name, b})
		}
	}
	for _, spans := range m.layout.spans {
		for _, span := range spans {
			add(m.names[span], span.Size)
		}
	}
	add("gaps", m.layout.Extent()-m.layout.Live())
}

func (m *deviceModel) take(end End, name string, n Bytes) Span {
	s := m.layout.Take(end, n)
	m.names[s] = name
	m.note()
	return s
}

func (m *deviceModel) give(spans ...Span) {
	for _, s := range spans {
		m.layout.Give(s)
		delete(m.names, s)
	}
}

// call is a call of a kernel: lists that are uploaded for it, and its own buffers. All are given back at its end.
func (m *deviceModel) call(lists []Bytes, own ...int64) {
	small := Bytes(0)
	for _, n := range lists {
		small += alignUp(n)
	}
	var large []Span
	for _, size := range own {
		if n := Bytes(size); n >= LargeScratch {
			large = append(large, m.take(High, "scratch", n))
		} else {
			small += alignUp(n)
		}
	}
	m.small = max(m.small, small)
	m.give(large...)
}

// callUpTo is call for buffers that may turn out smaller, so that a large one may end up among the small.
func (m *deviceModel) callUpTo(lists []Bytes, own ...int64) {
	m.call(lists, own...)
	for i, size := range own {
		own[i] = min(size, int64(LargeScratch)-1)
	}
	m.call(lists, own...)
}

// terms are a list of columns and their coefficients.
func terms(columns int) []Bytes { return []Bytes{Bytes(columns) * 8, Bytes(columns) * extBytes} }

// sums is the values of columns of 2^logHeight rows at a point.
func (m *deviceModel) sums(columns, logHeight int) {
	weights := m.take(High, "barycentric weights", extBytes<<logHeight)
	m.call([]Bytes{Bytes(columns) * 8}, kernels.SumsMemory(columns, 1<<logHeight)...)
	m.give(weights)
}

func (m *deviceModel) gather(columns, rows int) {
	m.callUpTo([]Bytes{Bytes(columns) * 8}, kernels.GatherMemory(columns, rows)...)
}

func (m *deviceModel) siblings(logRows, leaves int) {
	n := 0
	for log := range logRows {
		n += min(leaves, 1<<log) // of two nodes with one parent at most one is a sibling of a multiproof
	}
	m.callUpTo(nil, kernels.GatherDigestsMemory(n)...)
}

func (m *deviceModel) forget(d *deviceShard) {
	m.give(append(d.traces, d.main...)...)
	d.traces, d.main = nil, nil
}

// trace is the columns of a kind before extension.
func trace(t *verifier.Table, k verifier.Kind) Bytes {
	return Bytes(t.Columns(k)) * elementBytes << t.LogHeight
}

func (m *deviceModel) traces(s *verifier.Shape, shard int, d *deviceShard) {
	m.begin(StageTrace, shard)
	for i := range s.Tables {
		d.traces = append(d.traces, m.take(High, "main trace", trace(&s.Tables[i], verifier.Main)))
		for _, n := range m.job.Seeds[shard][i] {
			m.give(m.take(High, "seeds", n))
		}
	}
}

func (m *deviceModel) mainRound(s *verifier.Shape, shard int, d *deviceShard) {
	m.traces(s, shard, d)
	m.begin(StageCommit, shard)
	m.commit(s, s.Tree(verifier.Main, 0), d)
	d.main, d.rest = d.rest, nil
}

// commit takes the extensions of a tree's matrices and its nodes, into d.rest.
func (m *deviceModel) commit(s *verifier.Shape, tree *verifier.Tree, d *deviceShard) {
	for _, i := range tree.Tables {
		d.rest = append(d.rest, m.take(Low, tree.Kind.String()+" extension", trace(&s.Tables[i], tree.Kind)<<m.blowup))
	}
	d.rest = append(d.rest, m.nodes(tree.Tree, tree.Kind.String()+" tree"))
	var entering []Span
	for i, l := range tree.Levels {
		if i > 0 {
			entering = append(entering, m.take(High, "hashes of entering rows", digestBytes<<l.LogRows))
		}
		m.call([]Bytes{Bytes(l.RowBytes())})
	}
	m.give(entering...)
}

// nodes takes a tree's nodes.
func (m *deviceModel) nodes(tree *merkle.Tree, name string) Span {
	return m.take(Low, name, 2*digestBytes<<tree.LogRows())
}

func (m *deviceModel) pins(s *verifier.Shape, shard int, d *deviceShard) {
	if m.job.Regenerate {
		m.traces(s, shard, d)
	}
	m.begin(StagePin, shard)
	for i := range s.Tables {
		t := &s.Tables[i]
		d.pins = append(d.pins, m.take(Low, "pins", 3*elementBytes<<t.LogHeight))
		m.call(terms(t.Columns(verifier.Main)))
		m.sums(3, t.LogHeight)
	}
	if m.job.Regenerate {
		m.forget(d)
	}
}

// lookups has auxiliary traces at the low end, since they outlive the main traces at the high end. What they leave there is large enough for the quotient's extension.
func (m *deviceModel) lookups(s *verifier.Shape, shard int, d *deviceShard) {
	m.begin(StageLookup, shard)
	var aux []Span
	for i := range s.Tables {
		if t := &s.Tables[i]; t.HasLookups() {
			aux = append(aux, m.take(Low, "auxiliary trace", trace(t, verifier.Aux)))
			m.call(nil, m.working(t).lookups...)
		}
		m.give(d.traces[i])
	}
	d.traces = nil
	if tree := s.Tree(verifier.Aux, 0); tree != nil {
		m.commit(s, tree, d)
	}
	m.give(aux...)
}

func (m *deviceModel) quotients(s *verifier.Shape, shard int, d *deviceShard) {
	m.begin(StageQuotient, shard)
	var slices []Span
	for i := range s.Tables {
		t := &s.Tables[i]
		slices = append(slices, m.take(High, "quotient slices", trace(t, verifier.Quotient)))
		m.call(nil, m.working(t).quotient...)
	}
	m.commit(s, s.Tree(verifier.Quotient, 0), d)
	m.give(slices...)
}

// finish opens, folds and queries, then frees the shard.
func (m *deviceModel) finish(s *verifier.Shape, shard int, d *deviceShard) {
	m.begin(StageOpen, shard)
	for i := range s.Tables {
		t := &s.Tables[i]
		here, next := openings(t)
		m.sums(here, t.LogHeight)
		if next > 0 {
			m.sums(next, t.LogHeight)
		}
	}
	m.begin(StageDeep, shard)
	for _, h := range s.Schedule.Heights {
		d.rest = append(d.rest, m.take(Low, "codewords", extBytes<<(h+m.blowup)))
		m.deep(s, h)
	}
	m.begin(StageFRI, shard)
	for i, step := range s.Schedule.Steps {
		tree := s.Schedule.Tree(m.job.Suite, i)
		d.rest = append(d.rest, m.nodes(tree, "FRI trees"), m.take(Low, "FRI layers", extBytes<<(s.Schedule.LogSize(i)-step)))
	}
	m.call([]Bytes{digestBytes * Bytes(1+len(s.Schedule.Steps)), extBytes}, kernels.FinalMemory(s.Schedule.Final+m.blowup)...) // beside the transcript
	m.begin(StageGrind, shard)
	m.call(nil, kernels.GrindMemory()...)
	m.begin(StageQuery, shard)
	for _, t := range s.Trees {
		for _, l := range t.Levels {
			m.gather(l.RowBytes()/formats.ElementBytes, min(m.job.Queries, 1<<l.LogRows))
		}
		m.siblings(t.LogRows(), m.job.Queries)
	}
	for i, step := range s.Schedule.Steps {
		m.gather(3, min(m.job.Queries<<step, 1<<s.Schedule.LogSize(i)))
		m.siblings(s.Schedule.LogSize(i)-step, m.job.Queries)
	}
	m.forget(d)
	m.give(append(d.pins, d.rest...)...)
	d.pins, d.rest = nil, nil
}

// openings is the number of a table's columns, and of those that are opened in the next row too.
func openings(t *verifier.Table) (here, next int) {
	for k := range verifier.NumKinds {
		here += t.Columns(k)
		next += len(t.NextColumns(k))
	}
	return here, next
}

// deep is the quotients of the tables of one height, one point after the other.
func (m *deviceModel) deep(s *verifier.Shape, logHeight int) {
	here, next, tables := 0, 0, 0
	for i := range s.Tables {
		t := &s.Tables[i]
		if t.LogHeight != logHeight {
			continue
		}
		tables++
		h, n := openings(t)
		here, next = here+h, next+n
	}
	m.call(terms(here))
	if next > 0 {
		m.call(terms(next))
	}
	pins := m.take(High, "combined pins", extBytes<<logHeight)
	m.call(terms(3 * tables))
	extended := m.take(High, "extended pins", extBytes<<(logHeight+m.blowup))
	m.give(pins)
	m.call(terms(3))
	m.give(extended)
}
