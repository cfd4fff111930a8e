package circuits

import (
	"math/bits"
	"runtime"
	"sync"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/field"
)

// Witness arranges the rows of an execution in tables and says how to write them. shards is at least 1; tables are at least 2^minLogHeight rows high. The record must not change while
// the witness is in use. Errors are *formats.Error of class Limit for too many rows, and Internal.
func (s *System) Witness(r *exec.Record, shards, minLogHeight int) (*prover.Witness, error) {
	return s.witness(r, cut{shards: shards, least: minLogHeight})
}

// RootWitness is Witness for a root: one shard with one table of each circuit, whether it has rows or not. All tables but the fixed one have the log height of prover.RootLogHeight that
// holds the most rows of a circuit. So the shape is one of six of the program, and depends on the order of magnitude of the execution alone.
func (s *System) RootWitness(r *exec.Record) (*prover.Witness, error) {
	most := 1
	for g := range s.groups {
		most = max(most, s.groups[g].rows(r, nil).len())
	}
	for _, width := range s.widths {
		most = max(most, r.Cells(width))
	}
	for _, kind := range s.accels {
		most = max(most, acceleratorCircuits[kind].heightOf(r.Accelerated(kind)))
	}
	return s.witness(r, cut{shards: 1, least: prover.RootLogHeight(bits.Len(uint(most - 1))), all: true})
}

// cut says how rows are arranged in tables.
type cut struct {
	shards int
	least  int  // log height of the lowest tables
	all    bool // whether a circuit without rows has a table too
}

// tables are the log heights of tables, none lower than 2^least rows, for rows of a circuit. Low tables are worth it: a proof opens no more rows of a table than its extension has.
func (c cut) tables(rows, least int) []int {
	if c.all {
		rows = max(rows, 1)
	}
	return prover.TableHeights(rows, max(least, c.least), 0)
}

func (s *System) witness(r *exec.Record, c cut) (*prover.Witness, error) {
	shards := c.shards
	w := &prover.Witness{Shards: make([]prover.Shard, shards)}
	claims := map[claimKey]uint64{}
	for _, made := range r.Claims {
		e := &s.Module.Program.Entries[made.Entry]
		claims[claimKey{int(e.Function), uint32(made.Row)}]++
		claim := formats.Claim{Entry: uint32(made.Entry)}
		for _, v := range r.Entry(int(e.Function), made.Row).Args {
			claim.Args = claim.Args.Append(uint64(v))
		}
		for _, v := range made.Results {
			claim.Results = claim.Results.Append(uint64(v))
		}
		w.Claims = append(w.Claims, claim)
	}
	var users []func(*counts) error // tables that use facts about words
	for g := range s.groups {
		rows := s.groups[g].rows(r, claims)
		users = append(users, rows.count)
		n := rows.len()
		for k := range shards {
			from, to := k*n/shards, (k+1)*n/shards
			for _, h := range c.tables(to-from, 0) {
				end := min(to, from+1<<h)
				w.Shards[k].Tables = append(w.Shards[k].Tables, prover.Table{Circuit: g, LogHeight: h, Trace: callTable{rows, from, end}})
				from = end
			}
		}
	}
	s.memoryTables(r, w, c)
	users = append(users, s.acceleratorTables(r, w, c)...)
	if len(s.facts) > 0 {
		first := &w.Shards[0].Tables
		*first = append(*first, prover.Table{Circuit: s.first.words, LogHeight: wordsLog, Trace: newWordsTable(s.facts, users)})
	}
	for k := range w.Shards {
		if len(w.Shards[k].Tables) == 0 {
			return nil, (&formats.Error{Class: formats.Invalid, Place: "shards", What: "there are more shards than rows to fill them"}).Mismatch(uint64(k), uint64(shards))
		}
	}
	return w, nil
}

type claimKey struct {
	function int
	entry    uint32
}

// groupRows are the rows of a group: those of its functions, one function after the other.
type groupRows struct {
	group  *group
	record *exec.Record
	claims map[claimKey]uint64
	rows   [][]uint32 // entries, of each function
}

func (g *group) rows(r *exec.Record, claims map[claimKey]uint64) *groupRows {
	out := &groupRows{group: g, record: r, claims: claims}
	for _, f := range g.Functions {
		out.rows = append(out.rows, r.Rows(f))
	}
	return out
}

func (g *groupRows) len() (n int) {
	for _, rows := range g.rows {
		n += len(rows)
	}
	return n
}

// each calls f for rows from to end.
func (g *groupRows) each(from, end int, f func(p *Plan, e exec.Entry, claims uint64) error) error {
	before := 0
	for k, rows := range g.rows {
		for i := max(from-before, 0); i < min(end-before, len(rows)); i++ {
			p, claims := g.group.Plans[k], uint64(0)
			if p.Claims != none {
				claims = g.claims[claimKey{p.Function, rows[i]}]
			}
			if err := f(p, g.record.Entry(p.Function, int(rows[i])), claims); err != nil {
				return err
			}
		}
		before += len(rows)
	}
	return nil
}

// count adds the facts that the rows use, counted by as many workers as there are processors and work for.
func (g *groupRows) count(total *counts) error {
	const least = 1 << 12 // rows that are worth a worker's counts
	n := g.len()
	workers := max(1, min(runtime.GOMAXPROCS(0), n/least))
	parts, errs := make([]*counts, workers), make([]error, workers)
	var wait sync.WaitGroup
	for i := range workers {
		wait.Go(func() {
			parts[i] = new(counts)
			for f := range total {
				parts[i][f] = make([]uint64, len(total[f]))
			}
			w := &writer{record: g.record, counts: parts[i]}
			errs[i] = g.each(i*n/workers, (i+1)*n/workers, w.row)
		})
	}
	wait.Wait()
	for i := range parts {
		if errs[i] != nil {
			return errs[i]
		}
		total.merge(parts[i])
	}
	return nil
}

// callTable is a table of rows from to end; the rest is padding, zeros.
type callTable struct {
	*groupRows
	from, end int
}

// WriteRows implements prover.TraceWriter.
func (t callTable) WriteRows(columns [][]field.Element, first int) error {
	w := &writer{record: t.record, columns: columns}
	defer w.flush()
	from := t.from + first
	return t.each(from, min(t.end, from+len(columns[0])), func(p *Plan, e exec.Entry, claims uint64) error {
		err := w.row(p, e, claims)
		w.at++
		return err
	})
}

// memoryTables adds the tables of cells and the anchor. The cells of each width follow each other from table to table, padding included.
func (s *System) memoryTables(r *exec.Record, w *prover.Witness, c cut) {
	if len(s.widths) == 0 {
		return
	}
	shards := len(w.Shards)
	ends := make([]int, len(s.widths))
	for i, width := range s.widths {
		n := r.Cells(width)
		for k := range shards {
			for _, h := range c.tables(max(0, (k+1)*n/shards-ends[i]), 0) {
				w.Shards[k].Tables = append(w.Shards[k].Tables, prover.Table{Circuit: s.first.memory + i, LogHeight: h, Trace: cellTable{r, width, ends[i]}})
				ends[i] += 1 << h
			}
		}
	}
	w.Shards[0].Tables = append(w.Shards[0].Tables, prover.Table{Circuit: s.first.anchor, LogHeight: max(c.least, 1), Trace: anchorTable(ends)})
	w.Claims = append(w.Claims, formats.Claim{Entry: uint32(len(s.Module.Program.Entries))})
}

// cellTable is a table of the cells from a pointer on.
type cellTable struct {
	record      *exec.Record
	width, from int
}

// WriteRows implements prover.TraceWriter.
func (t cellTable) WriteRows(columns [][]field.Element, first int) error {
	for i := range columns[0] {
		pointer := t.from + first + i
		columns[1][i] = field.Element(pointer)
		if pointer < t.record.Cells(t.width) {
			values, uses := t.record.Cell(t.width, pointer)
			columns[0][i] = field.Element(uses)
			for k, v := range values {
				columns[2+k][i] = v
			}
		}
	}
	return nil
}

// anchorTable is the one anchor and padding: the number of cells of each width.
type anchorTable []int

// WriteRows implements prover.TraceWriter.
func (t anchorTable) WriteRows(columns [][]field.Element, first int) error {
	if first == 0 {
		columns[0][0] = 1
		for i, n := range t {
			columns[1+i][0] = field.Element(n)
		}
	}
	return nil
}
