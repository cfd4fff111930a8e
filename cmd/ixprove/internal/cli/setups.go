package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/compress"
	"github.com/ixprove/ixprove/compress/snark"
	"github.com/ixprove/ixprove/compress/srs"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/systems/keys"
	"github.com/ixprove/ixprove/verifier"
)

// setups are the setups of this user.
func (t *tool) setups() (*compress.Setups, error) {
	folder, err := os.UserCacheDir()
	if err != nil {
		return nil, &failure{exitResource, classOutput, detail{Place: "key store", What: "there is no folder to keep setups in", Got: plain(err), Next: "set XDG_CACHE_HOME"}}
	}
	return compress.NewSetups(filepath.Join(folder, "ixprove", "compress")), nil
}

// compressor is what proofs are compressed with; tests put a small one in their place.
type compressor interface {
	compile(ctx context.Context, p *compress.Program, backend string, commitments bool) (*compress.System, error)
	compress(ctx context.Context, p *compress.Prover, root *rootProof) ([]byte, error)
}

type realCompressor struct{}

func (realCompressor) compile(ctx context.Context, p *compress.Program, backend string, commitments bool) (*compress.System, error) {
	return p.Compile(ctx, backend, commitments)
}

func (realCompressor) compress(ctx context.Context, p *compress.Prover, root *rootProof) ([]byte, error) {
	return p.Compress(ctx, root.key, root.data)
}

// kept explains an error of the file system: about the folder of setups, or about an input.
func kept(s *compress.Setups, err error) error {
	var path *fs.PathError
	var link *os.LinkError
	name := ""
	switch {
	case errors.As(err, &path):
		name = path.Path
	case errors.As(err, &link):
		name = link.Old
	default:
		return err
	}
	if !strings.HasPrefix(name, s.Folder()) {
		return cannotRead(name, err)
	}
	return &failure{exitResource, classOutput, detail{Place: name, What: "the folder of setups cannot be used", Got: plain(err), Next: "make room or set XDG_CACHE_HOME to another folder"}}
}

// Stages of compressing, as events name them.
const (
	stageRead    prover.Stage = "read"    // powers of tau read and checked
	stageCheck   prover.Stage = "check"   // the batch proof verified
	stageCompile prover.Stage = "compile" // the circuit generated and compiled
	stageKeys    prover.Stage = "keys"    // keys loaded or made
	stageProve   prover.Stage = "prove"   // the circuit solved and proven
	stageCollect prover.Stage = "ceremony"
)

// steps tells of stages one after the other, and keeps their times.
type steps struct {
	show   func(prover.Event)
	total  int
	start  time.Time
	last   time.Time
	name   prover.Stage
	stages []stageTime
}

type stageTime struct {
	Stage prover.Stage  `json:"stage"`
	Ns    time.Duration `json:"ns"`
}

func newSteps(show func(prover.Event), total int) *steps {
	now := time.Now()
	return &steps{show: show, total: total, start: now, last: now}
}

// next ends the stage before and begins one.
func (s *steps) next(stage prover.Stage) {
	s.finish()
	s.name = stage
	if s.show != nil {
		s.show(prover.Event{Stage: stage, Shards: 1, Done: len(s.stages), Total: s.total, Elapsed: time.Since(s.start)})
	}
}

// finish ends the last stage.
func (s *steps) finish() {
	now := time.Now()
	if s.name != "" {
		s.stages = append(s.stages, stageTime{s.name, now.Sub(s.last)})
	}
	s.name, s.last = "", now
}

// sourceFile is a file of powers of tau.
type sourceFile struct {
	*os.File
	size int64
}

func (f *sourceFile) Size() int64 { return f.size }

func openSource(path string) (*sourceFile, error) {
	size, err := regularSize(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, cannotRead(path, err)
	}
	return &sourceFile{f, size}, nil
}

// companions are where the point of G2 of a flat file may be.
var companions = []string{"g2.dat", "bn254_g2.dat"}

// companionOf reads the point of G2 that belongs to a flat file of powers: the caller's file, or one beside it; nil if there is none.
func companionOf(srsPath, g2 string) func() ([]byte, error) {
	return func() ([]byte, error) {
		const most = 1 << 10
		if g2 != "" {
			return readFile(g2, most)
		}
		for _, name := range companions {
			if path := filepath.Join(filepath.Dir(srsPath), name); exists(path) {
				return readFile(path, most)
			}
		}
		return nil, nil
	}
}

// setupObject is a setup as JSON.
type setupObject struct {
	Mode     string `json:"mode"`
	Source   string `json:"source"`
	Name     string `json:"name"`
	Insecure bool   `json:"insecure"`
}

func newSetupObject(s formats.Setup) setupObject {
	return setupObject{s.Mode, verifier.Hex(s.Source), s.Name, s.Mode == formats.SetupInsecureDev}
}

// String is the setup for people.
func (s setupObject) String() string {
	if s.Insecure {
		return "INSECURE, for development: anybody can forge proofs under it (" + printable(s.Name) + ")"
	}
	return s.Mode + ", " + printable(s.Name) + ", " + s.Source
}

// rootKeyObject is a key of compressed proofs as JSON.
type rootKeyObject struct {
	Digest   string        `json:"digest"`
	Backend  string        `json:"backend"`
	Curve    string        `json:"curve"`
	Protocol string        `json:"protocol"`
	Circuit  string        `json:"circuit"`
	Program  programObject `json:"program"`
	Bits     int           `json:"proven_bits"`
	Setup    setupObject   `json:"setup"`
	Tables   []rootTable   `json:"tables"`
	Claims   int           `json:"claims"`
}

type rootTable struct {
	Circuit   uint32 `json:"circuit"`
	LogHeight uint8  `json:"log_height"`
}

// programObject names a program: by the digest of its verifying key, and by its system's name if it is built in.
type programObject struct {
	Digest  string `json:"digest"`
	System  string `json:"system,omitempty"`
	Profile string `json:"profile,omitempty"`
}

func newProgramObject(digest formats.Digest) programObject {
	k, _, _ := keys.Find(digest)
	return programObject{verifier.Hex(digest), k.System, k.Profile}
}

// String is the program for people.
func (p programObject) String() string {
	if p.System == "" {
		return p.Digest + ", not built in"
	}
	return p.Digest + ", " + p.System + " " + p.Profile
}

func newRootKeyObject(k *snark.Key) rootKeyObject {
	o := rootKeyObject{Digest: verifier.Hex(k.Digest()), Backend: k.Backend, Curve: k.Curve, Protocol: verifier.Hex(k.Protocol), Circuit: verifier.Hex(k.Circuit), Program: newProgramObject(k.Program),
		Bits: int(k.Bits), Setup: newSetupObject(k.Setup), Claims: int(k.RootKey.Claims)}
	for _, t := range k.Tables {
		o.Tables = append(o.Tables, rootTable{t.Circuit, t.LogHeight})
	}
	return o
}

func (k rootKeyObject) lines(w io.Writer) {
	fmt.Fprintf(w, "key      %s, %s over %s\nprogram  %s\nsetup    %s\n", k.Digest, k.Backend, k.Curve, k.Program, k.Setup)
}

// rootSource are the flags that say which proof a circuit is for.
type rootSource struct {
	proof string
	key   keyFlags
}

func (r *rootSource) declare(f *pflag.FlagSet) {
	f.StringVar(&r.proof, "proof", "", "root proof `FILE` whose program and shape the keys are for ("+defaultProof+")")
	r.key.declare(f)
}

// read reads the root proof; nil if there is none and none was named.
func (r *rootSource) read(t *tool) (*compress.Program, error) {
	path := cmp.Or(r.proof, defaultProof)
	if r.proof == "" && !exists(path) {
		return nil, nil
	}
	root, err := t.readRoot(path, &r.key)
	if err != nil {
		return nil, err
	}
	return root.program, nil
}

// rootProof is a batch proof that can be compressed.
type rootProof struct {
	path    string
	data    []byte
	key     *verifier.Key
	program *compress.Program
	claims  []formats.Claim
}

// readRoot reads a batch proof, which is not verified.
func (t *tool) readRoot(path string, k *keyFlags) (*rootProof, error) {
	data, key, err := t.readProof(path, k)
	if err != nil {
		return nil, err
	}
	if !isRoot(key.Profile) {
		return nil, &formats.Error{Class: formats.Incompatible, Place: path, What: "only a root can be compressed", Expected: "a proof under the profile root", Got: "one under " + key.Profile.Name,
			Next: "ixprove prove --profile root"}
	}
	program, claims, err := compress.Decode(key, data)
	if err != nil {
		return nil, inFile(path, err)
	}
	return &rootProof{path, data, key, program, claims}, nil
}

// setupResult says what a setup did.
type setupResult struct {
	Schema string      `json:"schema"`
	Setup  setupObject `json:"setup"`
	Powers int         `json:"powers,omitempty"`
	// Of a setup for a circuit.
	Constraints int            `json:"constraints,omitempty"`
	LogDomain   int            `json:"log_domain,omitempty"`
	Key         *rootKeyObject `json:"key,omitempty"`
	File        string         `json:"file,omitempty"`
	Folder      string         `json:"folder"`
	Stages      []stageTime    `json:"stages"`
}

func (r *setupResult) text(w io.Writer) {
	fmt.Fprintf(w, "setup    %s\n", r.Setup)
	if r.Setup.Name == srs.Unknown {
		fmt.Fprint(w, "         The structure is valid. Who made it, and who knows its secret, this program cannot tell.\n")
	}
	if r.Powers > 0 {
		fmt.Fprintf(w, "powers   %d, for circuits of up to 2^%d gates\n", r.Powers, logOf(r.Powers-srs.Extra))
	}
	if r.Key != nil {
		fmt.Fprintf(w, "circuit  %d constraints, domain 2^%d\nkey      %s\nprogram  %s\n", r.Constraints, r.LogDomain, r.Key.Digest, r.Key.Program)
	}
	if r.File != "" {
		fmt.Fprintf(w, "wrote    %s\n", r.File)
	}
	fmt.Fprintf(w, "kept in  %s\n", r.Folder)
}

func logOf(n int) int {
	log := 0
	for n > 1 {
		n, log = n/2, log+1
	}
	return log
}

// defaultLogSize is how many powers are kept if nothing says more: those of the largest circuit that two processors prove in minutes.
const defaultLogSize = 21

// preparedSizes is the number of domains, from the largest down, whose Lagrange points are kept at once where the file has them.
const preparedSizes = 4

type setupFlags struct {
	srs, g2, out *string
	dev          *bool
	logSize      *int
	progress     *string
	source       rootSource
}

func prepareSetup(f *pflag.FlagSet) action {
	s := &setupFlags{
		srs:      f.String("srs", "", "powers of tau: a .ptau, a flat g1.dat, or what gnark wrote, in `FILE`"),
		dev:      f.Bool("insecure-dev", false, "a setup whose secret is known, for development: proofs under it can be forged by anybody and say so"),
		g2:       f.String("g2", "", "`FILE` with the point of G2 of a g1.dat; g2.dat beside it if not given"),
		logSize:  f.Int("log-size", 0, "keep powers for circuits of up to 2^`N` gates; "+strconv.Itoa(defaultLogSize)+" if not given, or what the proof's circuit needs"),
		out:      f.StringP("output", "o", "", "write the key of compressed proofs to `FILE`, for those who verify"),
		progress: progressFlag(f),
	}
	s.source.declare(f)
	return func(t *tool) (result, error) {
		switch {
		case t.operand != formats.BackendPlonk && t.operand != formats.BackendGroth16:
			return nil, usageError("setup", "say what to set up", "plonk or groth16", strconv.Quote(t.operand), nearest(t.operand, []string{formats.BackendPlonk, formats.BackendGroth16}))
		case (*s.srs == "") == !*s.dev:
			return nil, usageError("flags", "a setup comes from one place", "--srs FILE or --insecure-dev", map[bool]string{true: "both", false: "neither"}[*s.dev],
				"ixprove setup "+t.operand+" --srs FILE, or --insecure-dev for development")
		case t.operand == formats.BackendGroth16 && *s.srs != "":
			return nil, usageError("--srs", "powers of tau alone are no setup of Groth16: each circuit has a ceremony of its own on top of them", "--insecure-dev", "--srs", "ixprove ceremony init --srs "+*s.srs)
		case *s.logSize < 0 || *s.logSize > srs.MaxLogSize:
			return nil, usageError("--log-size", "the number is out of range", "1 to "+strconv.Itoa(srs.MaxLogSize), strconv.Itoa(*s.logSize), "")
		}
		return s.setup(t)
	}
}

func (s *setupFlags) setup(t *tool) (result, error) {
	show, end, err := t.progress(*s.progress)
	if err != nil {
		return nil, err
	}
	defer end()
	if *s.out != "" {
		if err := t.writable(*s.out, *s.srs, *s.g2, cmp.Or(s.source.proof, defaultProof)); err != nil {
			return nil, err
		}
	}
	setups, err := t.setups()
	if err != nil {
		return nil, err
	}
	program, err := s.source.read(t)
	if err != nil {
		return nil, err
	}
	if program == nil && (t.operand == formats.BackendGroth16 || *s.out != "") {
		return nil, usageError("--proof", "there is no root proof to make keys for", "a proof under the profile root", "none", "ixprove prove --profile root")
	}
	defer lessGarbage()()
	r := &setupResult{Schema: "ixprove/setup/1", Folder: setups.Folder()}
	do := newSteps(show, 3)
	var system *compress.System
	if program != nil {
		do.next(stageCompile)
		if system, err = t.compressor.compile(t.ctx, program, t.operand, true); err != nil {
			return nil, err
		}
		r.Constraints, r.LogDomain = system.Constraints, system.LogDomain
	}
	var p *compress.Prover
	if t.operand == formats.BackendPlonk {
		do.next(stageRead)
		powers, closeFile, err := s.powers(t, system)
		if err != nil {
			return nil, err
		}
		defer closeFile()
		do.next(stageKeys)
		if err := s.keepPowers(t, setups, powers, system); err != nil {
			return nil, kept(setups, err)
		}
		r.Powers, r.Setup = len(powers.G1), newSetupObject(powers.Setup)
		if system != nil {
			if p, err = setups.Plonk(t.ctx, system, powers.Setup); err != nil {
				return nil, kept(setups, err)
			}
		}
	} else {
		do.next(stageKeys)
		if p, err = system.SetupGroth16Dev(t.ctx); err != nil {
			return nil, err
		}
		if err := setups.Keep(t.ctx, p); err != nil {
			return nil, kept(setups, err)
		}
		r.Setup = newSetupObject(p.Key.Setup)
	}
	do.finish()
	r.Stages = do.stages
	if p != nil {
		o := newRootKeyObject(p.Key)
		r.Key = &o
		if *s.out != "" {
			r.File = *s.out
			if err := t.write(*s.out, p.Key.Encoded()); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// powers reads powers of tau, or makes those of the development setup. The file is needed until their Lagrange points are kept.
func (s *setupFlags) powers(t *tool, system *compress.System) (powers *srs.SRS, closeFile func() error, err error) {
	need := 1
	if system != nil {
		need = system.LogDomain
	}
	if *s.dev {
		powers, err = srs.Dev(t.ctx, max(*s.logSize, need))
		return powers, func() error { return nil }, err
	}
	f, err := openSource(*s.srs)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if powers, err = srs.Read(t.ctx, f, max(cmp.Or(*s.logSize, defaultLogSize), need), companionOf(*s.srs, *s.g2)); err != nil {
		return nil, nil, inFile(*s.srs, err)
	}
	if powers.LogSize() < need {
		return nil, nil, &formats.Error{Class: formats.Invalid, Place: *s.srs, What: "there are too few powers for this circuit", Expected: "2^" + strconv.Itoa(need) + " + " + strconv.Itoa(srs.Extra),
			Got: strconv.Itoa(len(powers.G1)), Next: "use a file of more powers"}
	}
	return powers, f.Close, nil
}

func (s *setupFlags) keepPowers(t *tool, setups *compress.Setups, powers *srs.SRS, system *compress.System) error {
	if err := setups.KeepPowers(t.ctx, powers); err != nil {
		return err
	}
	largest := powers.LogSize()
	for k := largest; k > max(0, largest-preparedSizes) && powers.Prepared && !*s.dev; k-- {
		if err := setups.KeepLagrange(t.ctx, powers, k); err != nil {
			return err
		}
	}
	if system != nil && powers.Prepared {
		return setups.KeepLagrange(t.ctx, powers, system.LogDomain)
	}
	return nil
}
