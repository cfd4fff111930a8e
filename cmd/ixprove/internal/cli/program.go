package cli

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang"
	"github.com/ixprove/ixprove/lang/circuits"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/lang/values"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/security"
)

// programExt is how the names of programs end.
const programExt = ".ix"

func isProgram(path string) bool { return strings.HasSuffix(path, programExt) }

// program is a compiled program and its circuits.
type program struct {
	*lang.Program
	path   string
	module *exec.Module
	system *circuits.System
}

// readProgram compiles a program. What it imports lies in its folder or below.
func (t *tool) readProgram(path string) (*program, error) {
	if _, err := regularSize(path); err != nil {
		return nil, err
	}
	compiled, err := lang.Compile(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		return nil, err
	}
	p := &program{Program: compiled, path: path}
	if p.module, err = exec.Load(compiled.Bytecode); err != nil {
		return nil, err
	}
	p.system, err = circuits.Build(p.module)
	return p, err
}

// keygen makes the program's key under a profile.
func (p *program) keygen(t *tool, profile security.Profile) (*prover.ProvingKey, error) {
	return prover.Keygen(t.ctx, p.system.Air, suiteOf(profile), profile, cpu.Backend{})
}

// callFlags say what to execute.
type callFlags struct {
	calls   []string
	witness string
	steps   uint64
}

func (c *callFlags) declare(f *pflag.FlagSet) {
	f.StringArrayVar(&c.calls, "call", nil, "`CALL` of an entry of the program, such as 'fib(90)'; may be given several times")
	f.StringVar(&c.witness, "witness", "", "`FILE` with the private arguments of the entries called: a JSON object")
	f.Uint64Var(&c.steps, "max-steps", 0, "most operations to execute; no limit if 0")
}

// parse reads the calls.
func (c *callFlags) parse(p *program) ([]*lang.Call, error) {
	if len(c.calls) == 0 {
		return nil, usageError("--call", "it is not said what to call", "--call 'ENTRY(ARGUMENTS)' with an entry of the program: "+p.entryNames(), "nothing", "")
	}
	out := make([]*lang.Call, len(c.calls))
	for i, text := range c.calls {
		var err error
		if out[i], err = p.ParseCall(text); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (p *program) entryNames() string {
	var names []string
	for i := range p.Entries {
		names = append(names, p.Entries[i].Name)
	}
	return strings.Join(names, ", ")
}

// execute executes the calls within an amount of memory, the default if 0.
func (c *callFlags) execute(t *tool, p *program, memory int64) (*exec.Record, error) {
	list, err := c.parse(p)
	if err != nil {
		return nil, err
	}
	calls := make([]exec.Call, len(list))
	inputs := make([][]field.Element, len(p.Bytecode.Inputs))
	var read []int // entries whose private arguments were read
	for i, call := range list {
		calls[i] = exec.Call{Entry: call.Entry, Args: call.Words}
		e := &p.Entries[call.Entry]
		if len(e.Private) == 0 || slices.Contains(read, call.Entry) {
			continue
		}
		if c.witness == "" {
			return nil, usageError("--witness", "the entry "+e.Name+" has private arguments", "a file with them", "no --witness", "")
		}
		data, err := t.read(c.witness, maxWitness)
		if err != nil {
			return nil, err
		}
		private, err := values.Witness(e, data, c.private)
		if err != nil {
			return nil, inFile(c.witness, err)
		}
		for k, elements := range p.Inputs(call.Entry, private) {
			if elements != nil {
				inputs[k] = elements
			}
		}
		read = append(read, call.Entry)
	}
	if c.witness != "" && read == nil {
		return nil, usageError("--witness", "no entry that is called has private arguments", "no --witness", c.witness, "")
	}
	return p.module.Execute(t.ctx, calls, inputs, exec.Limits{Memory: memory, Steps: c.steps})
}

// maxWitness is the most that a witness file may have.
const maxWitness = 1 << 30

// private reads a file that the witness names: relative to the witness's folder.
func (c *callFlags) private(name string) ([]byte, error) {
	if !filepath.IsAbs(name) && c.witness != stream {
		name = filepath.Join(filepath.Dir(c.witness), name)
	}
	if _, err := regularSize(name); err != nil {
		return nil, err
	}
	return readFile(name, maxWitness)
}

// callText is a call and its result as the program writes them.
func (p *program) callText(entry int, args, results []field.Element) string {
	e := &p.Entries[entry]
	var texts []string
	for _, a := range e.Args {
		var v values.Value
		v, args = values.FromWords(a.Type, args)
		texts = append(texts, values.Text(a.Type, v))
	}
	return e.Name + "(" + strings.Join(texts, ", ") + ") = " + values.Text(e.Result, p.Result(entry, results))
}

// claimTexts are the claims of a proof of the program as it writes them.
func (p *program) claimTexts(claims []formats.Claim) []string {
	elements := func(e formats.Elements) (out []field.Element) {
		for i := range e.Len() {
			out = append(out, field.Element(e.At(i)))
		}
		return out
	}
	var out []string
	for i := range claims {
		if c := &claims[i]; int(c.Entry) < len(p.Entries) {
			out = append(out, p.callText(int(c.Entry), elements(c.Args), elements(c.Results)))
		}
	}
	return out
}

// source is what prove proves: the claims of a file, or calls of a program.
type source struct {
	profile   security.Profile
	witness   func(systems.Shards) (*prover.Witness, error)
	verifying func() (*verifier.Key, error)
	proving   func() (*prover.ProvingKey, error)
	texts     func([]formats.Claim) []string // of claims; nil for those of the key
}

// programSource executes the calls.
func (p *proveFlags) programSource(t *tool, path string) (*source, error) {
	profile, err := profileFlag(orDefault(*p.profile))
	if err != nil {
		return nil, err
	}
	if err := p.rootShards(profile); err != nil {
		return nil, err
	}
	prog, err := t.readProgram(path)
	if err != nil {
		return nil, err
	}
	keygen := sync.OnceValues(func() (*prover.ProvingKey, error) { return prog.keygen(t, profile) })
	if _, err := keygen(); err != nil {
		return nil, err
	}
	record, err := p.calls.execute(t, prog, int64(p.memory))
	if err != nil {
		return nil, err
	}
	return &source{
		profile: profile, proving: keygen, texts: prog.claimTexts,
		verifying: func() (*verifier.Key, error) {
			key, err := keygen()
			if err != nil {
				return nil, err
			}
			t.remember(key)
			return key.Key, nil
		},
		witness: func(s systems.Shards) (*prover.Witness, error) {
			if s.Heights != nil {
				return nil, usageError("--shards", "the heights of a program's tables follow from its execution", "a number of shards", "heights", "")
			}
			if isRoot(profile) {
				return prog.system.RootWitness(record)
			}
			return prog.system.Witness(record, max(1, s.Count), profile.MinLogHeight)
		},
	}, nil
}

func orDefault(profile string) string {
	if profile == "" {
		return defaultProfile
	}
	return profile
}

// keyring is the folder of the keys that this user made of programs.
func keyring() (string, error) {
	folder, err := os.UserCacheDir()
	return filepath.Join(folder, "ixprove", "keys"), err
}

// remember puts a key on the keyring, so that verify finds it. A keyring that cannot be written stays as it is: verify will ask for the key then.
func (t *tool) remember(key *prover.ProvingKey) {
	folder, err := keyring()
	if err != nil || os.MkdirAll(folder, 0o755) != nil {
		return
	}
	digest := key.Digest()
	if _, ok := t.remembered(digest); !ok { // or damaged
		_ = t.write(filepath.Join(folder, hex.EncodeToString(digest[:])+".key"), key.Encoded)
	}
}

// remembered finds a key on the keyring. It is false without one; one whose digest is another is refused.
func (t *tool) remembered(digest formats.Digest) (*verifier.Key, bool) {
	folder, err := keyring()
	if err != nil {
		return nil, false
	}
	key, err := t.readKey(filepath.Join(folder, hex.EncodeToString(digest[:])+".key"))
	if err != nil || key.Digest() != digest {
		return nil, false
	}
	return key, true
}

// checkCalls demands that a proof's claims are these calls of the program, in order.
func (p *program) checkCalls(texts []string, claims []formats.Claim) error {
	calls, err := (&callFlags{calls: texts}).parse(p)
	if err != nil {
		return err
	}
	rejected := func(place, what, expected, got string) error {
		return &formats.Error{Class: formats.Rejected, Check: "P-9", Place: place, What: what, Expected: expected, Got: got}
	}
	claims = slices.DeleteFunc(slices.Clone(claims), func(c formats.Claim) bool { return int(c.Entry) >= len(p.Entries) })
	if len(claims) != len(calls) {
		return rejected("claims", "these are not the calls that were expected", strconv.Itoa(len(calls)), strconv.Itoa(len(claims)))
	}
	for i, c := range calls {
		var args formats.Elements
		for _, w := range c.Words {
			args = args.Append(uint64(w))
		}
		if int(claims[i].Entry) != c.Entry || string(claims[i].Args) != string(args) {
			return rejected("claim "+strconv.Itoa(i), "this is not the call that was expected", p.Entries[c.Entry].Name, "")
		}
	}
	return nil
}
