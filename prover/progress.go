package prover

import "time"

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

// clock reports progress and times stages.
type clock struct {
	report func(Event)
	start  time.Time
	event  Event
	since  time.Time
	times  []StageTime
}

func newClock(report func(Event), shards, total int) *clock {
	now := time.Now()
	return &clock{report: report, start: now, since: now, event: Event{Shards: shards, Total: total}}
}

// enter ends the stage in progress and starts another, for a shard.
func (c *clock) enter(stage Stage, shard int) {
	c.leave()
	c.event.Stage, c.event.Shard = stage, shard
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

func (c *clock) leave() {
	now := time.Now()
	spent := now.Sub(c.since)
	c.since = now
	if c.event.Stage == "" {
		return
	}
	for i := range c.times {
		if c.times[i].Stage == c.event.Stage {
			c.times[i].Time += spent
			return
		}
	}
	c.times = append(c.times, StageTime{c.event.Stage, spent})
}
