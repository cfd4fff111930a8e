package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/compress"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier"
)

// rootName is the default name of a compressed proof.
func rootName(backend string) string { return "root." + backend + ".cbor" }

type compressResult struct {
	Schema      string        `json:"schema"`
	Proof       string        `json:"proof"`
	Bytes       int           `json:"bytes"`
	SnarkBytes  int           `json:"snark_bytes"`
	Key         rootKeyObject `json:"key"`
	Claims      []claimObject `json:"claims"`
	Constraints int           `json:"constraints"`
	LogDomain   int           `json:"log_domain"`
	Stages      []stageTime   `json:"stages"`
	ElapsedNs   time.Duration `json:"elapsed_ns"`

	key    *verifier.Key
	claims []formats.Claim
}

func (r *compressResult) text(w io.Writer) {
	fmt.Fprint(w, "compressed:\n")
	claimLines(w, r.key, r.claims, nil)
	fmt.Fprintf(w, "proof    %s, %d bytes, of which %d are the %s proof\n", r.Proof, r.Bytes, r.SnarkBytes, r.Key.Backend)
	r.Key.lines(w)
	fmt.Fprintf(w, "circuit  %d constraints, domain 2^%d\ntime     %s:", r.Constraints, r.LogDomain, timeText(r.ElapsedNs))
	for _, s := range r.Stages {
		fmt.Fprintf(w, " %s %s,", s.Stage, timeText(s.Ns))
	}
	fmt.Fprint(w, " written\n")
}

// compressPlan is what compressing would take.
type compressPlan struct {
	Schema      string        `json:"schema"`
	Backend     string        `json:"backend"`
	Program     programObject `json:"program"`
	Circuit     string        `json:"circuit"`
	Commitments bool          `json:"commitments"`
	Constraints int           `json:"constraints"`
	LogDomain   int           `json:"log_domain"`
	Bytes       int64         `json:"memory_bytes"`
	EstimateNs  time.Duration `json:"estimate_ns"`
	Threads     int           `json:"threads"`
	Setup       *setupObject  `json:"setup,omitempty"`
	Needs       string        `json:"needs,omitempty"` // the command to give first, if there is no setup
}

func (p *compressPlan) text(w io.Writer) {
	fmt.Fprintf(w, "program  %s\ncircuit  %d constraints of %s, domain 2^%d\nmemory   about %s\ntime     about %s to prove, on %d threads\n", p.Program, p.Constraints, p.Backend, p.LogDomain,
		bytesText(prover.Bytes(p.Bytes)), p.EstimateNs.Round(time.Second/10), p.Threads)
	if p.Setup != nil {
		fmt.Fprintf(w, "setup    %s\n", p.Setup)
	} else {
		fmt.Fprintf(w, "setup    none; first: %s\n", p.Needs)
	}
}

type compressFlags struct {
	out, progress        *string
	plonk, groth16, plan *bool
	key                  keyFlags
}

func prepareCompressRoot(f *pflag.FlagSet) action {
	c := &compressFlags{
		plonk:    f.Bool("plonk", false, "make a Plonk proof (what is made if nothing else is said)"),
		groth16:  f.Bool("groth16", false, "make a Groth16 proof"),
		out:      f.StringP("output", "o", "", "write the compressed proof to `FILE`; "+rootName("plonk")+" or "+rootName("groth16")+" if not given"),
		plan:     f.Bool("plan", false, "print the circuit's size, the memory, the time and the setup that it takes, and prove nothing"),
		progress: progressFlag(f),
	}
	c.key.declare(f)
	return func(t *tool) (result, error) {
		if *c.plonk && *c.groth16 {
			return nil, usageError("flags", "one proof is of one proof system", "--plonk or --groth16", "both", "")
		}
		return c.compress(t)
	}
}

// needs are the commands that make a setup.
var needs = map[string]string{
	formats.BackendPlonk:   "ixprove setup plonk --srs powersOfTau28_hez_final_21.ptau (or another file of powers of tau; for development, ixprove setup plonk --insecure-dev)",
	formats.BackendGroth16: "ixprove ceremony init --srs powersOfTau28_hez_final_21.ptau (for development, ixprove setup groth16 --insecure-dev)",
}

func (c *compressFlags) compress(t *tool) (result, error) {
	backend := formats.BackendPlonk
	if *c.groth16 {
		backend = formats.BackendGroth16
	}
	show, end, err := t.progress(*c.progress)
	if err != nil {
		return nil, err
	}
	defer end()
	out := cmp.Or(*c.out, rootName(backend))
	path := cmp.Or(t.operand, defaultProof)
	if !*c.plan {
		if err := t.writable(out, path, c.key.file); err != nil {
			return nil, err
		}
	}
	root, err := t.readRoot(path, &c.key)
	if err != nil {
		return nil, err
	}
	setups, err := t.setups()
	if err != nil {
		return nil, err
	}
	setup, commitments, err := findSetup(t, setups, backend, root.program)
	if err != nil {
		return nil, err
	}
	if setup == nil && !*c.plan {
		return nil, usageError("setup", "there is no setup of "+backend+" for this proof yet", "a setup, which is done once", "none in "+setups.Folder(), needs[backend])
	}
	do := newSteps(show, 4)
	do.next(stageCheck)
	if _, err := verifier.Verify(root.key, root.data, verifier.Policy{Insecure: true}); err != nil {
		return nil, inFile(root.path, err)
	}
	do.next(stageCompile)
	system, err := t.compressor.compile(t.ctx, root.program, backend, commitments)
	if err != nil {
		return nil, err
	}
	if *c.plan {
		plan := system.Plan(runtime.GOMAXPROCS(0))
		r := &compressPlan{Schema: "ixprove/compress-plan/1", Backend: backend, Program: newProgramObject(root.key.Digest()), Circuit: verifier.Hex(system.ID), Commitments: commitments,
			Constraints: plan.Constraints, LogDomain: plan.LogDomain, Bytes: plan.Bytes, EstimateNs: plan.Time, Threads: runtime.GOMAXPROCS(0), Needs: needs[backend]}
		if setup != nil {
			o := newSetupObject(*setup)
			r.Setup, r.Needs = &o, ""
		}
		return r, nil
	}
	defer lessGarbage()()
	do.next(stageKeys)
	load := setups.Plonk
	if backend == formats.BackendGroth16 {
		load = setups.Groth16
	}
	p, err := load(t.ctx, system, *setup)
	if errors.Is(err, fs.ErrNotExist) { // keys of the protocol, but of another circuit
		return nil, usageError("setup", "the setup of "+backend+" is for a circuit of another version", "keys of circuit "+verifier.Hex(system.ID), "none in "+setups.Folder(), needs[backend])
	}
	if err != nil {
		return nil, kept(setups, err)
	}
	do.next(stageProve)
	data, err := t.compressor.compress(t.ctx, p, root)
	if err != nil {
		return nil, inFile(root.path, err)
	}
	do.finish()
	if err := t.write(out, data); err != nil {
		return nil, err
	}
	return &compressResult{Schema: "ixprove/compress-root/1", Proof: out, Bytes: len(data), SnarkBytes: p.Key.ProofBytes(), Key: newRootKeyObject(p.Key), Claims: claimObjects(root.key, root.claims),
		Constraints: system.Constraints, LogDomain: system.LogDomain, Stages: do.stages, ElapsedNs: time.Since(do.start), key: root.key, claims: root.claims}, nil
}

// lessGarbage lets the heap grow by a quarter between collections instead of doubling, unless the user says how: a third less memory at its peak, for 5% more time. It returns what ends it.
func lessGarbage() func() {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(25)
	return func() { debug.SetGCPercent(before) }
}

// findSetup finds the best setup that is kept, nil if there is none, and whether its circuit makes commitments: those of Groth16 ceremonies do not.
func findSetup(t *tool, setups *compress.Setups, backend string, program *compress.Program) (*formats.Setup, bool, error) {
	if backend == formats.BackendPlonk {
		list, err := setups.Powers()
		if err != nil || len(list) == 0 {
			return nil, true, kept(setups, err)
		}
		return &list[0], true, nil
	}
	list, err := setups.Keys(t.ctx)
	if err != nil {
		return nil, false, kept(setups, err)
	}
	for _, k := range list {
		if k.Backend == backend && k.Protocol == program.Protocol() {
			return &k.Setup, k.Setup.Mode == formats.SetupInsecureDev, nil
		}
	}
	return nil, false, nil
}
