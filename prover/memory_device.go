package prover

import "github.com/ixprove/ixprove/verifier"

// DeviceMemory is the memory that a proof takes on a device, from its shapes alone. It follows the proof buffer by buffer with the Layout by which prover/cuda places them,
// so the peak is the very block that is allocated; what the CUDA context itself takes is not in it.
func DeviceMemory(j Job) *Memory {
	shapes, regenerate := j.Shapes, j.Regenerate
	m := &deviceModel{blowup: j.LogBlowup, out: &Memory{}, names: map[Span]string{}, small: DeviceScratch(j)}
	fixed := map[int]bool{}
	for i, s := range shapes {
		for k := range s.Tables {
			if t := &s.Tables[k]; t.FixedColumns() > 0 && !fixed[t.Index] {
				fixed[t.Index] = true
				m.begin(StageCommit, i)
				m.take(Low, "fixed columns", trace(t, verifier.Fixed))
				m.commit(s, s.Tree(verifier.Fixed, k), new(deviceShard))
			}
		}
	}
	shards := make([]deviceShard, len(shapes))
	for i, s := range shapes {
		m.mainRound(s, i, &shards[i])
		if regenerate {
			m.forget(&shards[i])
		}
	}
	for i, s := range shapes {
		d := &shards[i]
		if regenerate {
			m.traces(s, i, d)
		}
		m.begin(StagePin, i)
		for k := range s.Tables {
			n := elementBytes << s.Tables[k].LogHeight
			d.pins = append(d.pins, m.take(Low, "pins", 3*n))
			m.passing("barycentric weights", 3*n)
		}
		if regenerate {
			m.forget(d)
		}
	}
	for i, s := range shapes {
		d := &shards[i]
		if regenerate {
			m.mainRound(s, i, d)
		}
		m.lookups(s, i, d)
		m.quotients(s, i, d)
		m.finish(s, i, d)
	}
	return m.out
}

// deviceModel follows a proof.
type deviceModel struct {
	out    *Memory
	blowup int
	small  Bytes
	layout Layout
	names  map[Span]string // of the live spans
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
	total := m.small + m.layout.Extent()
	if total <= s.Total {
		return
	}
	s.Total = total
	m.out.Peak = max(m.out.Peak, total)
	s.Terms = append(s.Terms[:0], MemoryTerm{"tables, lists and scratch", m.small})
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

// passing is a buffer that is given back at once.
func (m *deviceModel) passing(name string, n Bytes) { m.give(m.take(High, name, n)) }

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
	}
}

func (m *deviceModel) mainRound(s *verifier.Shape, shard int, d *deviceShard) {
	m.traces(s, shard, d)
	m.begin(StageCommit, shard)
	tree := s.Tree(verifier.Main, 0)
	m.commit(s, tree, d)
	d.main, d.rest = d.rest, nil
}

// commit takes the extensions of a tree's matrices and its nodes, into d.rest.
func (m *deviceModel) commit(s *verifier.Shape, tree *verifier.Tree, d *deviceShard) {
	for _, i := range tree.Tables {
		d.rest = append(d.rest, m.take(Low, tree.Kind.String()+" extension", trace(&s.Tables[i], tree.Kind)<<m.blowup))
	}
	d.rest = append(d.rest, m.take(Low, tree.Kind.String()+" tree", 2*digestBytes<<tree.LogRows()))
	var entering []Span
	for _, l := range tree.Levels[1:] {
		entering = append(entering, m.take(High, "hashes of entering rows", digestBytes<<l.LogRows))
	}
	m.give(entering...)
}

func (m *deviceModel) lookups(s *verifier.Shape, shard int, d *deviceShard) {
	m.begin(StageLookup, shard)
	var aux []Span
	for i := range s.Tables {
		if t := &s.Tables[i]; t.HasLookups() {
			aux = append(aux, m.take(High, "auxiliary trace", trace(t, verifier.Aux)))
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
		values := m.take(High, "quotients", 3*elementBytes<<(t.LogHeight+quotientLog(t)))
		slices = append(slices, m.take(High, "quotient slices", trace(t, verifier.Quotient)))
		m.give(values)
	}
	m.commit(s, s.Tree(verifier.Quotient, 0), d)
	m.give(slices...)
}

// finish opens, folds and queries, then frees the shard.
func (m *deviceModel) finish(s *verifier.Shape, shard int, d *deviceShard) {
	m.begin(StageOpen, shard)
	for i := range s.Tables {
		m.passing("barycentric weights", extBytes<<s.Tables[i].LogHeight)
	}
	m.begin(StageDeep, shard)
	for _, h := range s.Schedule.Heights {
		d.rest = append(d.rest, m.take(Low, "codewords", extBytes<<(h+m.blowup)))
		pins, extended := m.take(High, "combined pins", extBytes<<h), m.take(High, "extended pins", extBytes<<(h+m.blowup))
		m.give(pins, extended)
	}
	m.begin(StageFRI, shard)
	for i, step := range s.Schedule.Steps {
		leaves := s.Schedule.LogSize(i) - step
		d.rest = append(d.rest, m.take(Low, "FRI trees", 2*digestBytes<<leaves), m.take(Low, "FRI layers", extBytes<<leaves))
	}
	m.begin(StageGrind, shard)
	m.begin(StageQuery, shard)
	m.forget(d)
	m.give(append(d.pins, d.rest...)...)
	d.pins, d.rest = nil, nil
}

// DeviceScratch is the part of DeviceMemory for what is small: the tables that kernels look up, lists of columns and coefficients, and the kernels' own passing buffers.
func DeviceScratch(j Job) Bytes {
	// Windows of powers of the root of unity, the shift, its inverse and 1 (kernels/tables.go).
	tables := Bytes(1<<10+2<<11+3*3<<10) * elementBytes
	worst := Bytes(layoutAlign)
	need := func(sizes ...Bytes) {
		total := Bytes(0)
		for _, n := range sizes {
			total += alignUp(n)
		}
		worst = max(worst, total)
	}
	const flag = Bytes(8)
	gather := func(rows, width int) {
		need(Bytes(width)*8, Bytes(rows)*8, Bytes(rows*width)*8)
	}
	heights := map[int]bool{}
	for _, s := range j.Shapes {
		for i := range s.Tables {
			t := &s.Tables[i]
			if h := t.LogHeight; !heights[h] {
				heights[h] = true
				tables += 2 * firstPassWeights(h, j.LogBlowup) // for values and for coefficients
			}
			parts := Bytes(min((1<<t.LogHeight+sumsRows-1)/sumsRows, maxSumsParts))
			for k := range verifier.NumKinds {
				columns := Bytes(max(t.Columns(k), 3))
				need(columns*8, columns*extBytes, flag)                         // pin
				need(columns*8, flag, parts*columns*extBytes, columns*extBytes) // values at a point
			}
		}
		for i := range s.Trees {
			tree := &s.Trees[i]
			rows := j.Queries
			for l := range tree.Levels {
				gather(rows, tree.Levels[l].RowBytes()/8)
			}
			need(Bytes(rows*tree.LogRows())*8, Bytes(rows*tree.LogRows())*digestBytes)
		}
		for _, h := range s.Schedule.Heights {
			here, next, pins := 0, 0, 0
			for i := range s.Tables {
				if t := &s.Tables[i]; t.LogHeight == h {
					pins += 3
					for k := range verifier.NumKinds {
						here += t.Columns(k)
						next += len(t.NextColumns(k))
					}
				}
			}
			columns := Bytes(max(here, next, pins))
			need(columns*8, columns*extBytes, flag)
		}
		for i, step := range s.Schedule.Steps {
			gather(j.Queries<<step, 3)
			depth := j.Queries * (s.Schedule.LogSize(i) - step)
			need(Bytes(depth)*8, Bytes(depth)*digestBytes)
		}
		need(extBytes << (s.Schedule.Final + j.LogBlowup))
	}
	return tables + worst
}

// Of kernels/open.go: the rows that a block of the summing kernel adds up, and its most blocks a column.
const (
	sumsRows     = 1 << 13
	maxSumsParts = 1 << 10
)

// firstPassWeights is the table of coset weights of a transform of 2^log values, whose passes are of at most 2^10 (kernels/ntt.go).
func firstPassWeights(log, logBlowup int) Bytes {
	if log == 0 {
		return 0
	}
	passes := (log + 9) / 10
	return alignUp(elementBytes << (log/passes + logBlowup))
}
