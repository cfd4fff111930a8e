package prover

import (
	"fmt"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/fri"
)

// Bytes is an amount of memory.
type Bytes int64

// Sizes in bytes.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
)

// Memory is what a proof will take on a host, computed from shapes alone, before anything is allocated.
type Memory struct {
	Stages []StageMemory // of all shards, in order
	Peak   Bytes         // the largest stage's total
}

// StageMemory is the memory that is in use at the height of a stage.
type StageMemory struct {
	Stage Stage
	Shard int
	Terms []MemoryTerm
	Total Bytes
}

// MemoryTerm is one cause of a stage's memory.
type MemoryTerm struct {
	Name  string
	Bytes Bytes
}

// processBytes is what a proving process takes besides buffers: code, runtime, worker scratch and the witness's bookkeeping. Measured: 34 to 42 MiB.
const processBytes = 40 * MiB

const (
	elementBytes = Bytes(formats.ElementBytes)
	extBytes     = Bytes(formats.ExtElementBytes)
	digestBytes  = Bytes(formats.DigestBytes)
)

// EstimateMemory is the memory that the cpu backend takes for shards of the given shapes. Every term is a buffer that the backend makes, so the
// figure is exact up to processBytes.
func EstimateMemory(key *verifier.Key, shapes []*verifier.Shape, regenerate bool) *Memory {
	e := &estimate{blowup: key.Profile.LogBlowup, out: &Memory{}}
	e.hold("process", processBytes)
	heights := map[int]bool{}
	fixed := map[int]bool{}
	for _, s := range shapes {
		for i := range s.Tables {
			t := &s.Tables[i]
			if !heights[t.LogHeight] {
				heights[t.LogHeight] = true
				// Factors of every coset, and twiddles of the trace and quotient domains in both directions.
				e.hold("coset factors and twiddles", e.extended(t, 1)+elementBytes<<t.LogHeight+elementBytes<<(t.LogHeight+quotientLog(t)))
			}
			if t.FixedColumns() > 0 && !fixed[t.Index] {
				fixed[t.Index] = true
				e.hold("fixed columns", e.trace(t, t.FixedColumns())+e.extended(t, t.FixedColumns())+e.tree(t.LogHeight))
			}
		}
	}
	for i, s := range shapes {
		e.begin(s, i)
		e.mainRound(StageCommit)
		if regenerate {
			e.drop("main trace", "main extension", "main tree")
		}
	}
	for i, s := range shapes {
		e.begin(s, i)
		e.add("pins", sum(s, func(t *verifier.Table) Bytes { return 3 * elementBytes << t.LogHeight }))
		if regenerate {
			e.add("main trace", e.traces(s))
		}
		e.peak(StagePin)
		if regenerate {
			e.drop("main trace")
		}
	}
	for i, s := range shapes {
		e.begin(s, i)
		if regenerate {
			e.mainRound(StageCommit)
		}
		e.lookups()
		e.quotients()
		e.finish()
	}
	return e.out
}

// estimate follows a proof, holding what is live.
type estimate struct {
	out    *Memory
	blowup int
	held   []heldTerm
	shape  *verifier.Shape
	shard  int
}

type heldTerm struct {
	shard int // -1 for all
	MemoryTerm
}

func (e *estimate) begin(s *verifier.Shape, shard int) { e.shape, e.shard = s, shard }

func (e *estimate) hold(name string, b Bytes) {
	e.held = append(e.held, heldTerm{-1, MemoryTerm{name, b}})
}

func (e *estimate) add(name string, b Bytes) {
	if b > 0 {
		e.held = append(e.held, heldTerm{e.shard, MemoryTerm{name, b}})
	}
}

// drop frees the shard's terms of these names, all of them without names.
func (e *estimate) drop(names ...string) {
	kept := e.held[:0]
	for _, h := range e.held {
		gone := h.shard == e.shard && len(names) == 0
		for _, n := range names {
			gone = gone || h.shard == e.shard && h.Name == n
		}
		if !gone {
			kept = append(kept, h)
		}
	}
	e.held = kept
}

// peak records a stage with what is held and what it needs for a while.
func (e *estimate) peak(stage Stage, extra ...MemoryTerm) {
	s := StageMemory{Stage: stage, Shard: e.shard}
	add := func(t MemoryTerm) {
		s.Total += t.Bytes
		for i := range s.Terms {
			if s.Terms[i].Name == t.Name {
				s.Terms[i].Bytes += t.Bytes
				return
			}
		}
		s.Terms = append(s.Terms, t)
	}
	for _, h := range e.held {
		add(h.MemoryTerm)
	}
	for _, t := range extra {
		if t.Bytes > 0 {
			add(t)
		}
	}
	e.out.Stages = append(e.out.Stages, s)
	e.out.Peak = max(e.out.Peak, s.Total)
}

func sum(s *verifier.Shape, f func(*verifier.Table) Bytes) (b Bytes) {
	for i := range s.Tables {
		b += f(&s.Tables[i])
	}
	return b
}

func (e *estimate) trace(t *verifier.Table, columns int) Bytes {
	return Bytes(columns) * elementBytes << t.LogHeight
}

func (e *estimate) extended(t *verifier.Table, columns int) Bytes {
	return e.trace(t, columns) << e.blowup
}

// tree is the digests of a tree whose tallest matrices have 2^logHeight rows before extension.
func (e *estimate) tree(logHeight int) Bytes { return 2 * digestBytes << (logHeight + e.blowup) }

func (e *estimate) traces(s *verifier.Shape) Bytes {
	return sum(s, func(t *verifier.Table) Bytes { return e.trace(t, t.Columns(verifier.Main)) })
}

// committed adds a commitment to a kind of matrix.
func (e *estimate) committed(kind verifier.Kind) {
	tallest := -1
	for i := range e.shape.Tables {
		if t := &e.shape.Tables[i]; t.Columns(kind) > 0 {
			tallest = max(tallest, t.LogHeight)
		}
	}
	if tallest < 0 {
		return
	}
	e.add(kind.String()+" extension", sum(e.shape, func(t *verifier.Table) Bytes { return e.extended(t, t.Columns(kind)) }))
	e.add(kind.String()+" tree", e.tree(tallest))
}

func (e *estimate) mainRound(stage Stage) {
	e.add("main trace", e.traces(e.shape))
	e.peak(StageTrace)
	e.committed(verifier.Main)
	e.peak(stage)
}

// lookups frees each table's trace when its auxiliary trace is there, then commits to the latter.
func (e *estimate) lookups() {
	e.drop("main trace")
	left, done, worst := e.traces(e.shape), Bytes(0), Bytes(0)
	for i := range e.shape.Tables {
		t := &e.shape.Tables[i]
		done += e.trace(t, t.Columns(verifier.Aux))
		worst = max(worst, left+done)
		left -= e.trace(t, t.Columns(verifier.Main))
	}
	e.peak(StageLookup, MemoryTerm{"main and auxiliary traces", worst})
	e.committed(verifier.Aux)
	e.peak(StageLookup, MemoryTerm{"auxiliary trace", done})
}

// quotientLog is log2 of the size of a table's quotient domain over its height.
func quotientLog(t *verifier.Table) int {
	log := 0
	for 1<<log < t.Slices() {
		log++
	}
	return log
}

func (e *estimate) quotients() {
	done, worst := Bytes(0), Bytes(0)
	for i := range e.shape.Tables {
		t := &e.shape.Tables[i]
		done += e.trace(t, t.Columns(verifier.Quotient))
		worst = max(worst, done+e.trace(t, 3)<<quotientLog(t))
	}
	e.peak(StageQuotient, MemoryTerm{"quotients and their slices", worst})
	e.committed(verifier.Quotient)
	e.peak(StageQuotient, MemoryTerm{"quotient slices", done})
}

// finish opens, folds and queries, then frees the shard.
func (e *estimate) finish() {
	s := &e.shape.Schedule
	e.peak(StageOpen)
	for _, h := range s.Heights {
		word := extBytes << (h + e.blowup)
		e.add("codewords", word)
		e.peak(StageDeep, MemoryTerm{"extended pins", word}, MemoryTerm{"combined pins", extBytes << h})
	}
	e.add("FRI layers", layerBytes(s))
	e.peak(StageFRI)
	e.drop()
}

// layerBytes is the folded words and the trees of all layers.
func layerBytes(s *fri.Schedule) (b Bytes) {
	for i, step := range s.Steps {
		leaves := s.LogSize(i) - step
		b += extBytes<<leaves + 2*digestBytes<<leaves
	}
	return b
}

// MemoryError says that a proof does not fit a budget, with all terms of its worst stage.
type MemoryError struct {
	Budget Bytes
	Worst  StageMemory
}

// Error implements error.
func (e *MemoryError) Error() string {
	s := fmt.Sprintf("ixprove: the proof takes %d bytes in stage %s of shard %d, %d are allowed:", e.Worst.Total, e.Worst.Stage, e.Worst.Shard, e.Budget)
	for i, t := range e.Worst.Terms {
		if i > 0 {
			s += ","
		}
		s += fmt.Sprintf(" %s %d", t.Name, t.Bytes)
	}
	return s
}

// Worst is the stage that takes most, the first of several.
func (m *Memory) Worst() (worst StageMemory) {
	for _, s := range m.Stages {
		if s.Total > worst.Total {
			worst = s
		}
	}
	return worst
}

// Admit refuses a proof that does not fit a budget, with *MemoryError.
func (m *Memory) Admit(budget Bytes) error {
	if m.Peak <= budget {
		return nil
	}
	return &MemoryError{budget, m.Worst()}
}
