package cli

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/compress"
	"github.com/ixprove/ixprove/compress/srs"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
)

// ceremonyResult says what a part of a ceremony did.
type ceremonyResult struct {
	Schema        string         `json:"schema"`
	Action        string         `json:"action"`
	Folder        string         `json:"folder"`
	File          string         `json:"file,omitempty"`
	SHA256        string         `json:"sha256,omitempty"` // of the file
	Contributions int            `json:"contributions"`
	Phase1        *setupObject   `json:"phase1,omitempty"`
	Circuit       string         `json:"circuit,omitempty"`
	Constraints   int            `json:"constraints,omitempty"`
	Transcript    string         `json:"transcript,omitempty"`
	Key           *rootKeyObject `json:"key,omitempty"`
	KeyFile       string         `json:"key_file,omitempty"`

	next string
}

func (r *ceremonyResult) text(w io.Writer) {
	if r.File != "" {
		fmt.Fprintf(w, "wrote          %s\nSHA-256        %s\n", r.File, r.SHA256)
	}
	fmt.Fprintf(w, "contributions  %d\n", r.Contributions)
	if r.Phase1 != nil {
		fmt.Fprintf(w, "phase 1        %s, %s\ncircuit        %s, %d constraints\n", printable(r.Phase1.Name), r.Phase1.Source, r.Circuit, r.Constraints)
	}
	if r.Transcript != "" {
		fmt.Fprintf(w, "transcript     %s\n", r.Transcript)
	}
	if r.Key != nil {
		fmt.Fprintf(w, "key            %s\nprogram        %s\n", r.Key.Digest, r.Key.Program)
	}
	if r.KeyFile != "" {
		fmt.Fprintf(w, "wrote          %s\n", r.KeyFile)
	}
	if r.next != "" {
		fmt.Fprintf(w, "\n%s\n", r.next)
	}
}

// maxPhase2Bytes bounds the file of a contribution: 32 bytes a wire and a point of the domain.
const maxPhase2Bytes = 1 << 30

type ceremonyFlags struct {
	folder, srs, beacon, out, progress *string
	source                             rootSource
}

// ceremonyActions are the parts of a ceremony and the flags that they need.
var ceremonyActions = map[string]struct {
	srs bool
	do  func(c *ceremonyFlags, t *tool, do *steps) (*ceremonyResult, error)
}{
	"init":       {true, (*ceremonyFlags).init},
	"contribute": {false, (*ceremonyFlags).contribute},
	"verify":     {true, (*ceremonyFlags).verify},
	"finish":     {true, (*ceremonyFlags).finish},
}

const ceremonyNames = "init, contribute, verify or finish"

func prepareCeremony(f *pflag.FlagSet) action {
	c := &ceremonyFlags{
		folder:   f.String("folder", "ceremony", "`FOLDER` of the contributions, 0000.phase2 and on"),
		srs:      f.String("srs", "", "powers of tau that are phase 1, a .ptau `FILE`"),
		beacon:   f.String("beacon", "", "finish: public random value in `HEX` that was not known when the last contribution was made"),
		out:      f.StringP("output", "o", "", "finish: write the key of compressed proofs to `FILE`, for those who verify"),
		progress: progressFlag(f),
	}
	c.source.declare(f)
	return func(t *tool) (result, error) {
		a, ok := ceremonyActions[t.operand]
		if !ok {
			return nil, usageError("ceremony", "say which part of a ceremony to do", ceremonyNames, strconv.Quote(t.operand), nearest(t.operand, []string{"init", "contribute", "verify", "finish"}))
		}
		if a.srs && *c.srs == "" {
			return nil, usageError("--srs", "a ceremony builds on powers of tau", "--srs FILE", "nothing", "")
		}
		show, end, err := t.progress(*c.progress)
		if err != nil {
			return nil, err
		}
		defer end()
		r, err := a.do(c, t, newSteps(show, 3))
		if err != nil {
			return nil, err
		}
		r.Schema, r.Action, r.Folder = "ixprove/ceremony/1", t.operand, *c.folder
		return r, nil
	}
}

func phase2Name(folder string, i int) string {
	return filepath.Join(folder, fmt.Sprintf("%04d.phase2", i))
}

// count is the number of files in the folder, which are numbered without a gap.
func (c *ceremonyFlags) count() int {
	for i := 0; ; i++ {
		if !exists(phase2Name(*c.folder, i)) {
			return i
		}
	}
}

// read reads the files of the folder, which must have them all: a ceremony that ended at a gap would be one without those who came after it.
func (c *ceremonyFlags) read() ([][]byte, error) {
	latest, err := c.latest()
	if err != nil {
		return nil, err
	}
	files := make([][]byte, c.count())
	if len(files) <= latest {
		return nil, &failure{exitMalformed, classInput, detail{Place: *c.folder, What: "a contribution is missing", Expected: filepath.Base(phase2Name("", len(files))),
			Got: "none, and " + filepath.Base(phase2Name("", latest)), Next: "fetch it from whoever published it"}}
	}
	for i := range files {
		if files[i], err = readFile(phase2Name(*c.folder, i), maxPhase2Bytes); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// open compiles the circuit and reads phase 1.
func (c *ceremonyFlags) open(t *tool, do *steps) (*compress.Ceremony, *ceremonyResult, error) {
	program, err := c.source.read(t)
	if err != nil {
		return nil, nil, err
	}
	if program == nil {
		return nil, nil, usageError("--proof", "there is no root proof to make keys for", "a proof under the profile root", "none", "ixprove prove --profile root")
	}
	do.next(stageCompile)
	system, err := t.compressor.compile(t.ctx, program, formats.BackendGroth16, false)
	if err != nil {
		return nil, nil, err
	}
	do.next(stageRead)
	f, err := openSource(*c.srs)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	common, phase1, err := srs.ReadPhase1(t.ctx, f, system.LogDomain)
	if err != nil {
		return nil, nil, inFile(*c.srs, err)
	}
	ceremony, err := compress.NewCeremony(system, common, phase1)
	if err != nil {
		return nil, nil, err
	}
	do.next(stageCollect)
	o := newSetupObject(phase1)
	return ceremony, &ceremonyResult{Phase1: &o, Circuit: verifier.Hex(system.ID), Constraints: system.Constraints}, nil
}

// put writes a contribution.
func (c *ceremonyFlags) put(t *tool, r *ceremonyResult, i int, data []byte) error {
	r.File, r.Contributions = phase2Name(*c.folder, i), i
	digest := sha256.Sum256(data)
	r.SHA256 = hex.EncodeToString(digest[:])
	return t.write(r.File, data)
}

func (c *ceremonyFlags) init(t *tool, do *steps) (*ceremonyResult, error) {
	first := phase2Name(*c.folder, 0)
	if exists(first) {
		return nil, usageError(first, "there is a ceremony in this folder already, and it is not overwritten", "a folder without one", "a file", "choose another folder with --folder")
	}
	ceremony, r, err := c.open(t, do)
	if err != nil {
		return nil, err
	}
	data, err := ceremony.Initial(t.ctx)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(*c.folder, 0o755); err != nil {
		return nil, cannotWrite(*c.folder, err)
	}
	r.next = "Everyone who takes part, one after the other: ixprove ceremony contribute"
	return r, c.put(t, r, 0, data)
}

func (c *ceremonyFlags) contribute(t *tool, do *steps) (*ceremonyResult, error) {
	// A contributor needs the latest file alone, whose number says where it stands.
	latest, err := c.latest()
	if err != nil {
		return nil, err
	}
	name := phase2Name(*c.folder, latest)
	data, err := readFile(name, maxPhase2Bytes)
	if err != nil {
		return nil, err
	}
	do.next(stageCollect)
	next, err := compress.Contribute(t.ctx, data)
	if err != nil {
		return nil, inFile(name, err)
	}
	r := &ceremonyResult{next: "Publish the file and its SHA-256. The secret is forgotten when this program ends.\nThen the next one contributes, or: ixprove ceremony finish --srs FILE --beacon HEX"}
	return r, c.put(t, r, latest+1, next)
}

// latest is the highest number of a file in the folder.
func (c *ceremonyFlags) latest() (int, error) {
	found, err := os.ReadDir(*c.folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, cannotRead(*c.folder, err)
	}
	latest := -1
	for _, e := range found {
		var i int
		if n, err := fmt.Sscanf(e.Name(), "%04d.phase2", &i); n == 1 && err == nil && e.Name() == filepath.Base(phase2Name("", i)) {
			latest = max(latest, i)
		}
	}
	if latest < 0 {
		return 0, &failure{exitMalformed, classInput, detail{Place: *c.folder, What: "there is no ceremony in this folder", Expected: "0000.phase2", Got: "none", Next: "ixprove ceremony init --srs FILE starts one"}}
	}
	return latest, nil
}

// reopen is open for a ceremony that has begun, with its files.
func (c *ceremonyFlags) reopen(t *tool, do *steps) (*compress.Ceremony, [][]byte, *ceremonyResult, error) {
	files, err := c.read()
	if err != nil {
		return nil, nil, nil, err
	}
	ceremony, r, err := c.open(t, do)
	if err != nil {
		return nil, nil, nil, err
	}
	r.Contributions = len(files) - 1
	return ceremony, files, r, nil
}

func (c *ceremonyFlags) verify(t *tool, do *steps) (*ceremonyResult, error) {
	ceremony, files, r, err := c.reopen(t, do)
	if err != nil {
		return nil, err
	}
	transcript, err := ceremony.Verify(t.ctx, files)
	if err != nil {
		return nil, inFile(*c.folder, err)
	}
	r.Transcript = verifier.Hex(transcript)
	return r, nil
}

func (c *ceremonyFlags) finish(t *tool, do *steps) (*ceremonyResult, error) {
	beacon, err := hex.DecodeString(*c.beacon)
	if err != nil || len(beacon) == 0 {
		return nil, usageError("--beacon", "a ceremony ends with a public random value of a time after the last contribution", "hexadecimal digits", strconv.Quote(*c.beacon), "")
	}
	if *c.out != "" {
		if err := t.writable(*c.out, *c.srs, cmp.Or(c.source.proof, defaultProof)); err != nil {
			return nil, err
		}
	}
	setups, err := t.setups()
	if err != nil {
		return nil, err
	}
	ceremony, files, r, err := c.reopen(t, do)
	if err != nil {
		return nil, err
	}
	p, transcript, err := ceremony.Finish(t.ctx, files, beacon)
	if err != nil {
		return nil, inFile(*c.folder, err)
	}
	if err := setups.Keep(t.ctx, p); err != nil {
		return nil, kept(setups, err)
	}
	if *c.out != "" {
		if err := t.write(*c.out, p.Key.Encoded()); err != nil {
			return nil, err
		}
	}
	o := newRootKeyObject(p.Key)
	r.Transcript, r.Key, r.KeyFile = verifier.Hex(transcript), &o, *c.out
	r.next = "Publish all files of " + *c.folder + " and the beacon: everyone can make the same keys of them.\nixprove compress-root --groth16 uses them."
	return r, nil
}
