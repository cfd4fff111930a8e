package cli

import (
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"
	"time"

	"github.com/ixprove/ixprove/compress/poseidon2"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/security"
)

// planResult is what a proof would take.
type planResult struct {
	Schema     string          `json:"schema"`
	Key        keyObject       `json:"key"`
	Claims     int             `json:"claims"`
	Shards     [][]tableObject `json:"shards"`
	ProvenBits int             `json:"proven_bits"`
	Budget     prover.Bytes    `json:"budget_bytes,omitempty"`
	Fits       bool            `json:"fits"`
	Regenerate bool            `json:"regenerate"` // shards are computed again in the second round
	Device     string          `json:"device"`     // "cpu", "cuda", or the UUID of a CUDA device
	Peak       prover.Bytes    `json:"peak_bytes"`
	Stages     []memoryObject  `json:"stages"`
	Hashing    *hashingObject  `json:"hashing,omitempty"` // of roots alone

	machine machine
	worst   prover.StageMemory
}

// hashingObject is what hashing the trees of a root takes, which is most of its time.
type hashingObject struct {
	Rows         uint64        `json:"rows"`     // of all trees
	Elements     uint64        `json:"elements"` // in these rows
	Nodes        uint64        `json:"nodes"`
	Nonces       uint64        `json:"nonces"` // that grinding tries, on average
	Permutations uint64        `json:"permutations"`
	Threads      int           `json:"threads"`
	EstimateNs   time.Duration `json:"estimate_ns"` // at the rate measured on this machine now
	LimitNs      time.Duration `json:"limit_ns"`
	Fits         bool          `json:"fits"`
}

func newHashing(key *verifier.Key, shapes []*verifier.Shape, limit time.Duration) *hashingObject {
	work, threads := poseidon2.Hashing(key, shapes), runtime.GOMAXPROCS(0)
	for _, s := range shapes { // the key is made first: fixed columns are hashed twice
		for i := range s.Trees {
			if s.Trees[i].Kind == verifier.Fixed {
				work.Tree(s.Trees[i].Tree)
			}
		}
	}
	estimate := work.Time(poseidon2.MeasureRates(), threads)
	return &hashingObject{work.Rows, work.Words, work.Nodes, work.Nonces, work.Permutations(), threads, estimate, limit, estimate <= limit}
}

func (h *hashingObject) String() string {
	return fmt.Sprintf("%d permutations for %d rows of %d elements together, %d nodes and %d nonces: about %s on %d threads", h.Permutations, h.Rows, h.Elements, h.Nodes, h.Nonces,
		h.EstimateNs.Round(time.Second), h.Threads)
}

// admit refuses a root that takes too long to hash.
func (h *hashingObject) admit() error {
	if h == nil || h.Fits {
		return nil
	}
	return &formats.Error{Class: formats.Limit, Place: "--max-hash-time", What: "the root is too large for trees of " + poseidon2.Name, Expected: "at most " + h.LimitNs.String() + " of hashing",
		Got: h.String(), Next: "prove a smaller input, or allow " + ((h.EstimateNs + h.EstimateNs/2).Truncate(time.Minute) + time.Minute).String() + " with --max-hash-time"}
}

type memoryObject struct {
	Stage prover.Stage `json:"stage"`
	Shard int          `json:"shard"`
	Terms []termObject `json:"terms"`
	Total prover.Bytes `json:"total_bytes"`
}

type termObject struct {
	Name  string       `json:"name"`
	Bytes prover.Bytes `json:"bytes"`
}

// newPlan computes the memory of a proof. Regeneration is planned when only it fits the budget.
func newPlan(key *verifier.Key, shapes []*verifier.Shape, w *prover.Witness, on machine) *planResult {
	budget := on.budget
	p := &planResult{Schema: "ixprove/plan/1", Key: newKeyObject(key), Claims: len(w.Claims), Shards: shapeObjects(shapes), Budget: budget, Device: "cpu", machine: on,
		ProvenBits: security.Level(security.Terms(key.Profile, verifier.Security(shapes, len(w.Claims)), security.Johnson))}
	memory := func(regenerate bool) *prover.Memory { return prover.EstimateMemory(key, shapes, regenerate) }
	if on.gpu {
		p.Device = "cuda"
		if on.device != nil {
			p.Device = on.device.UUID
		}
		memory = func(regenerate bool) *prover.Memory { return on.memory(prover.NewJob(key, shapes, w, regenerate)) }
	}
	m := memory(false)
	if budget > 0 && m.Peak > budget {
		if again := memory(true); again.Peak < m.Peak {
			m, p.Regenerate = again, true
		}
	}
	p.worst = m.Worst()
	p.Peak, p.Fits = m.Peak, budget == 0 || m.Peak <= budget
	for _, s := range m.Stages {
		o := memoryObject{Stage: s.Stage, Shard: s.Shard, Total: s.Total}
		for _, t := range s.Terms {
			o.Terms = append(o.Terms, termObject{t.Name, t.Bytes})
		}
		p.Stages = append(p.Stages, o)
	}
	return p
}

// admit refuses a plan that does not fit its budget, with the terms of its worst stage.
func (p *planResult) admit() error {
	if p.Fits {
		return p.Hashing.admit()
	}
	return overBudget(p.machine.flag, &prover.MemoryError{Budget: p.Budget, Worst: p.worst})
}

func overBudget(place string, e *prover.MemoryError) *failure {
	got := fmt.Sprintf("%s in stage %s of shard %d:", bytesText(e.Worst.Total), e.Worst.Stage, e.Worst.Shard)
	for _, t := range e.Worst.Terms {
		got += fmt.Sprintf(" %s %s,", t.Name, bytesText(t.Bytes))
	}
	return &failure{exitResource, classMemory, detail{Place: place, What: "the proof does not fit the memory", Expected: "at most " + bytesText(e.Budget), Got: got[:len(got)-1],
		Next: "allow more, or prove in more shards with --shards"}}
}

func (p *planResult) text(w io.Writer) {
	fmt.Fprintf(w, "key     %s\nshape   %s\nclaims  %d, to be proven with %d bits of security\n\n", p.Key, shapeText(p.Shards), p.Claims, p.ProvenBits)
	worst := p.worst
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "stage\tshard\tmemory\t\n")
	for _, s := range p.Stages {
		fmt.Fprintf(t, "%s\t%d\t%s\t\n", s.Stage, s.Shard, bytesText(s.Total))
	}
	t.Flush()
	fmt.Fprintf(w, "\nThe most is %s, in stage %s of shard %d:\n\n", bytesText(worst.Total), worst.Stage, worst.Shard)
	for _, term := range worst.Terms {
		fmt.Fprintf(t, "%s\t%s\t\n", term.Name, bytesText(term.Bytes))
	}
	t.Flush()
	if p.Hashing != nil {
		fmt.Fprintf(w, "\nHashing takes %s", p.Hashing)
		if p.Hashing.Fits {
			fmt.Fprint(w, ".\n")
		} else {
			fmt.Fprintf(w, ", more than %s (--max-hash-time).\n", p.Hashing.LimitNs)
		}
	}
	switch {
	case p.Budget == 0:
	case !p.Fits:
		fmt.Fprintf(w, "\nThis does not fit %s.\n", bytesText(p.Budget))
	case p.Regenerate:
		fmt.Fprintf(w, "\nThis fits %s because shards are computed twice.\n", bytesText(p.Budget))
	default:
		fmt.Fprintf(w, "\nThis fits %s.\n", bytesText(p.Budget))
	}
}
