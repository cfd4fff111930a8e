package cli

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/hash"
)

// defaultProof is the proof that prove writes and verify reads.
const defaultProof = "proof.cbor"

type proveResult struct {
	Schema      string          `json:"schema"`
	Proof       string          `json:"proof"`
	Bytes       int             `json:"bytes"`
	Key         keyObject       `json:"key"`
	Claims      []claimObject   `json:"claims"`
	Shards      [][]tableObject `json:"shards"`
	ProvenBits  int             `json:"proven_bits"`
	Backend     string          `json:"backend"`
	Threads     int             `json:"threads"`
	ElapsedNs   time.Duration   `json:"elapsed_ns"`
	Stages      []stageObject   `json:"stages"`
	BufferBytes int64           `json:"peak_buffer_bytes"`

	key    *verifier.Key
	claims []formats.Claim
}

// tableObject is a table as JSON.
type tableObject struct {
	Circuit   string `json:"circuit"`
	LogHeight int    `json:"log_height"`
}

type stageObject struct {
	Stage prover.Stage  `json:"stage"`
	Ns    time.Duration `json:"elapsed_ns"`
}

func (r *proveResult) text(w io.Writer) {
	fmt.Fprintf(w, "proven with %d bits of security:\n", r.ProvenBits)
	claimLines(w, r.key, r.claims)
	fmt.Fprintf(w, "proof   %s, %d bytes\nkey     %s\n", r.Proof, r.Bytes, r.Key)
	fmt.Fprintf(w, "shape   %s\n", shapeText(r.Shards))
	fmt.Fprintf(w, "time    %s on %s with %d threads, %s of buffers\n", timeText(r.ElapsedNs), r.Backend, r.Threads, bytesText(prover.Bytes(r.BufferBytes)))
	if r.ProvenBits < verifier.DefaultMinBits {
		fmt.Fprintf(w, "Insecure: verify refuses fewer than %d bits unless told otherwise.\n", verifier.DefaultMinBits)
	}
}

func shapeObjects(shapes []*verifier.Shape) [][]tableObject {
	out := make([][]tableObject, len(shapes))
	for i, s := range shapes {
		out[i] = tableObjects(s.Tables)
	}
	return out
}

func tableObjects(tables []verifier.Table) []tableObject {
	var out []tableObject
	for _, t := range tables {
		out = append(out, tableObject{t.Name, t.LogHeight})
	}
	return out
}

// shapeText lists the tables of each shard.
func shapeText(shards [][]tableObject) string {
	s := ""
	for i, tables := range shards {
		if i > 0 {
			s += " | "
		}
		if i == shown {
			return s + fmt.Sprintf("and %d more shards", len(shards)-shown)
		}
		for k, t := range tables {
			if k > 0 {
				s += ", "
			}
			s += fmt.Sprintf("%s 2^%d", t.Circuit, t.LogHeight)
		}
	}
	return s
}

func timeText(d time.Duration) string {
	if d < time.Second {
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

type proveFlags struct {
	out, profile, shards, progress, gpu *string
	threads                             *int
	plan                                *bool
	memory                              size
}

func prepareProve(f *pflag.FlagSet) action {
	p := &proveFlags{
		out:      f.StringP("output", "o", defaultProof, "write the proof to `FILE`"),
		profile:  f.String("profile", "", "security profile, "+profileNames()+"; that of the claims file if not given"),
		plan:     f.Bool("plan", false, "print the shape and the memory it takes, and prove nothing"),
		threads:  f.Int("threads", 0, "processors to use; all if 0"),
		shards:   f.String("shards", "", "`SPEC`: a number of shards, or the log heights of each shard's tables such as 15,12/14"),
		gpu:      f.String("gpu", "", "prove on the CUDA device of this `NUMBER`"),
		progress: progressFlag(f),
	}
	f.Var(&p.memory, "memory", "most memory to take, such as 8GiB; shards are recomputed where that saves enough")
	return func(t *tool) (result, error) {
		if f.Changed("gpu") {
			return nil, &failure{exitResource, classDevice, detail{Place: "--gpu", What: "this build has no CUDA support", Expected: "a build with it", Got: "--gpu " + *p.gpu,
				Next: "leave --gpu out to prove on the CPU"}}
		}
		return p.prove(t)
	}
}

func (p *proveFlags) prove(t *tool) (result, error) {
	show, end, err := t.progress(*p.progress)
	if err != nil {
		return nil, err
	}
	var shards systems.Shards
	if *p.shards != "" {
		if shards, err = systems.ParseShards(*p.shards); err != nil {
			e := classify(err)
			return nil, usageError("--shards", e.What, e.Expected, e.Got, e.Next)
		}
	}
	if *p.threads < 0 {
		return nil, usageError("--threads", "the number is negative", "0 or more", fmt.Sprint(*p.threads), "")
	}
	if *p.threads > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(*p.threads))
	}
	path := cmp.Or(t.operand, systems.SampleClaims)
	c, err := t.readClaims(path)
	if err != nil {
		return nil, err
	}
	if *p.profile != "" {
		if c.profile, err = profileFlag(*p.profile); err != nil {
			return nil, err
		}
	}
	read := c.readPrivate()
	if *p.plan {
		read = c.sizePrivate()
		for i := range c.Claims { // results of zeros are nobody's
			c.Claims[i].Results = nil
		}
	} else if err := t.writable(*p.out); err != nil {
		return nil, err
	}
	w, err := c.system.Witness(systems.Request{Claims: c.Claims, Read: read, Shards: shards, MinLogHeight: c.profile.MinLogHeight})
	if err != nil {
		return nil, inFile(path, err)
	}
	key, err := prover.Keygen(t.ctx, c.system.Build(), hash.Blake3{}, c.profile, cpu.Backend{})
	if err != nil {
		return nil, err
	}
	shapes, err := prover.Shapes(key.Key, w)
	if err != nil {
		return nil, err
	}
	plan := newPlan(key.Key, shapes, len(w.Claims), prover.Bytes(p.memory))
	if *p.plan {
		return plan, nil
	}
	if err := plan.admit(); err != nil {
		return nil, err
	}
	r, err := prover.Prove(t.ctx, key, w, prover.Options{Backend: cpu.Backend{}, Progress: show, Regenerate: plan.Regenerate})
	end()
	if err != nil {
		return nil, err
	}
	if err := t.write(*p.out, r.Proof); err != nil {
		return nil, err
	}
	out := &proveResult{Schema: "ixprove/prove/1", Proof: *p.out, Bytes: len(r.Proof), Key: newKeyObject(key.Key), Claims: claimObjects(key.Key, w.Claims), Shards: shapeObjects(shapes),
		ProvenBits: r.Report.ProvenBits, Backend: cpu.Backend{}.Name(), Threads: runtime.GOMAXPROCS(0), ElapsedNs: r.Elapsed, BufferBytes: r.PeakBytes, key: key.Key, claims: w.Claims}
	for _, s := range r.Stages {
		out.Stages = append(out.Stages, stageObject{s.Stage, s.Time})
	}
	return out, nil
}
