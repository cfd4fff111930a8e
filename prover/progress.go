package prover

import (
	"context"
	"runtime/pprof"
	"time"
)

// Stage names a part of a proof, in the order in which a shard goes through them.
type Stage string

// The stages.
const (
	StageTrace    Stage = "trace"    // main columns written
	StageCommit   Stage = "commit"   // main columns extended and hashed
	StagePin      Stage = "pin"      // main traces pinned
	StageLookup   Stage = "lookup"   // auxiliary columns computed, extended and hashed
	StageQuotient Stage = "quotient" // constraints evaluated, quotients extended and hashed
	StageOpen     Stage = "open"     // out-of-domain values
	StageDeep     Stage = "deep"     // DEEP quotients
	StageFRI      Stage = "fri"      // layers folded and hashed
	StageGrind    Stage = "grind"    // proof of work
	StageQuery    Stage = "query"    // multiproofs collected
	StageCheck    Stage = "check"    // the finished proof verified
)

// Event tells how far a proof is. Done counts up to Total over the whole proof; both are in steps of unequal length.
type Event struct {
	Stage       Stage
	Shard       int // from 0
	Shards      int
	Done, Total int
	Elapsed     time.Duration
}

// StageTime is the wall time that a stage took, over all shards.
type StageTime struct {
	Stage Stage
	Time  time.Duration
}

// StageRun is one stage of one shard as it ran.
type StageRun struct {
	Stage       Stage
	Shard       int           // from 0
	Start, Time time.Duration // Start counts from that of the proof
}

// clock reports progress, times stages, and labels the profiles of their goroutines with "stage".
type clock struct {
	ctx    context.Context
	report func(Event)
	start  time.Time
	event  Event
	since  time.Time
	runs   []StageRun
}

func newClock(ctx context.Context, report func(Event), shards, total int) *clock {
	now := time.Now()
	return &clock{ctx: ctx, report: report, start: now, since: now, event: Event{Shards: shards, Total: total}}
}

// enter ends the stage in progress and starts another, for a shard.
func (c *clock) enter(stage Stage, shard int) {
	c.leave()
	c.event.Stage, c.event.Shard = stage, shard
	pprof.SetGoroutineLabels(pprof.WithLabels(c.ctx, pprof.Labels("stage", string(stage))))
	c.send()
}

// step counts a step of the stage in progress.
func (c *clock) step() {
	c.event.Done++
	c.send()
}

func (c *clock) send() {
	if c.report != nil {
		e := c.event
		e.Elapsed = time.Since(c.start)
		c.report(e)
	}
}

// leave ends the stage in progress.
func (c *clock) leave() {
	now := time.Now()
	if c.event.Stage != "" {
		c.runs = append(c.runs, StageRun{c.event.Stage, c.event.Shard, c.since.Sub(c.start), now.Sub(c.since)})
		pprof.SetGoroutineLabels(c.ctx)
	}
	c.since, c.event.Stage = now, ""
}

// stages adds up the runs of each stage, in the order of their first.
func stages(runs []StageRun) (out []StageTime) {
next:
	for _, s := range runs {
		for i := range out {
			if out[i].Stage == s.Stage {
				out[i].Time += s.Time
				continue next
			}
		}
		out = append(out, StageTime{s.Stage, s.Time})
	}
	return out
}
