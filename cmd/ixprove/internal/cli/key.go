package cli

import (
	"encoding/hex"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/compress/poseidon2"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/systems/keys"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// suites are the hash suites of this program: those of all profiles.
var suites = []hash.Suite{hash.Blake3{}, poseidon2.Suite{}}

// suiteOf is the suite of a profile.
func suiteOf(p security.Profile) hash.Suite {
	s, _ := hash.Named(p.Suite, suites)
	return s
}

// isRoot reports whether proofs under a profile are roots, made to be compressed.
func isRoot(p security.Profile) bool { return p.Suite == poseidon2.Name }

// builtIn is the built-in key of a system under a profile.
func builtIn(system string, p security.Profile) (*verifier.Key, error) {
	_, data, ok := keys.Encoded(system, p.Name)
	if !ok {
		return nil, &formats.Error{Class: formats.Internal, Place: "key", What: "a system has no built-in key", Expected: system + " " + p.Name}
	}
	return verifier.ParseKey(data, suites...)
}

// keyFlags are the ways to choose a verifying key.
type keyFlags struct {
	file, digest, program string
	compiled              *program // once chosen
}

func (k *keyFlags) declare(f *pflag.FlagSet) {
	f.StringVar(&k.file, "key", "", "verifying key `FILE`; the built-in systems' keys, and those of your own setups, are known without it")
	f.StringVar(&k.program, "program", "", "program `FILE` (.ix) of which the key is made")
	f.StringVar(&k.digest, "key-digest", "", "`HEX` digest that the key must have")
}

// choose finds the key to check a proof against: the caller's file, or a built-in key that the caller names or that the proof was made under. A proof never
// brings its own.
func (k *keyFlags) choose(t *tool, proof formats.Digest) (*verifier.Key, error) {
	want, err := k.wanted(proof)
	if err != nil {
		return nil, err
	}
	if k.program != "" {
		if k.file != "" {
			return nil, usageError("--program", "a key is made of a program, or read from a file", "no --key", strconv.Quote(k.file), "")
		}
		return k.ofProgram(t, want, false, true) // keys of roots take longest
	}
	if k.file == "" {
		_, data, ok := keys.Find(want)
		if !ok {
			if key, ok := t.remembered(want); ok {
				return key, nil
			}
			return nil, &formats.Error{Class: formats.Incompatible, Place: "key", What: "the key is none of the built-in systems'",
				Expected: "a built-in key, or --key FILE", Got: verifier.Hex(want),
				Next: "if you trust the program that this key is of, get its key file, pass it with --key, and pin it with --key-digest " + verifier.Hex(want)}
		}
		return verifier.ParseKey(data, suites...)
	}
	key, err := t.readKey(k.file)
	if err != nil {
		return nil, err
	}
	return key, k.pinned(k.file, want, key.Digest())
}

// wanted is the digest of the key that is looked for: the one that the caller pins, or else the one that the proof names.
func (k *keyFlags) wanted(proof formats.Digest) (formats.Digest, error) {
	if k.digest == "" {
		return proof, nil
	}
	raw, err := hex.DecodeString(k.digest)
	if err != nil || len(raw) != len(proof) {
		return formats.Digest{}, usageError("--key-digest", "this is no digest", "64 hexadecimal digits", strconv.Quote(k.digest), "")
	}
	return formats.Digest(raw), nil
}

// pinned holds a key that was read from a file to the digest that is wanted, if the caller pins one.
func (k *keyFlags) pinned(path string, want, got formats.Digest) error {
	if k.digest == "" || got == want {
		return nil
	}
	return &formats.Error{Class: formats.Incompatible, Place: path, What: "the key is not the one that --key-digest pins", Expected: verifier.Hex(want), Got: verifier.Hex(got),
		Next: "use the key file that the digest is of"}
}

// holdBatch makes sure that a key that stands for itself has the digest that the caller pins and is of the program that the caller names, if any.
func (k *keyFlags) holdBatch(t *tool, path string, key *verifier.Key) error {
	want, err := k.wanted(key.Digest())
	if err != nil {
		return err
	}
	if err := k.pinned(path, want, key.Digest()); err != nil || k.program == "" {
		return err
	}
	_, err = k.ofProgram(t, key.Digest(), isRoot(key.Profile))
	return err
}

// ofProgram makes the key with that digest of the program, under whichever profile it is: first of roots or of others, as the list says.
func (k *keyFlags) ofProgram(t *tool, want formats.Digest, roots ...bool) (*verifier.Key, error) {
	if !isProgram(k.program) {
		return nil, usageError("--program", "this is no program", "a file whose name ends in "+programExt, strconv.Quote(k.program), "")
	}
	var err error
	if k.compiled, err = t.readProgram(k.program); err != nil {
		return nil, err
	}
	for _, root := range roots {
		for _, p := range security.Profiles() {
			if isRoot(p) != root {
				continue
			}
			key, err := k.compiled.keygen(t, p)
			if err != nil {
				return nil, err
			}
			if key.Digest() == want {
				return key.Key, nil
			}
		}
	}
	return nil, &formats.Error{Class: formats.Incompatible, Place: k.program, What: "the key is not of this program, under any profile", Expected: "a key of " + k.program, Got: verifier.Hex(want),
		Next: "get the source that was proven, or the release of ixprove that proved it"}
}

func (t *tool) readKey(path string) (*verifier.Key, error) {
	return readKeyFile(t, path, formats.MaxKeyBytes, func(data []byte) (*verifier.Key, error) { return verifier.ParseKey(data, suites...) })
}

// readKeyFile reads a key of either kind.
func readKeyFile[K any](t *tool, path string, limit int, parse func([]byte) (K, error)) (K, error) {
	var none K
	data, err := t.read(path, limit)
	if err != nil {
		return none, err
	}
	key, err := parse(data)
	if err != nil {
		return none, inFile(path, err)
	}
	return key, nil
}

// keyObject is a key as JSON.
type keyObject struct {
	Digest  string `json:"digest"`
	System  string `json:"system"`
	Profile string `json:"profile"`
	BuiltIn bool   `json:"built_in"`
}

func newKeyObject(key *verifier.Key) keyObject {
	_, _, builtIn := keys.Find(key.Digest())
	return keyObject{verifier.Hex(key.Digest()), key.Name, key.Profile.Name, builtIn}
}

// String is the key for people.
func (k keyObject) String() string {
	s := k.Digest + ", " + k.System + " " + k.Profile
	if !k.BuiltIn {
		s += ", not built in"
	}
	return s
}
