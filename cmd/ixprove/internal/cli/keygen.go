package cli

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems"
	"github.com/ixprove/ixprove/verifier/security"
)

type keygenResult struct {
	Schema string    `json:"schema"`
	File   string    `json:"file,omitempty"`
	Bytes  int       `json:"bytes"`
	Key    keyObject `json:"key"`

	digestOnly bool
}

func (r *keygenResult) text(w io.Writer) {
	if r.digestOnly {
		fmt.Fprintln(w, r.Key.Digest)
		return
	}
	fmt.Fprintf(w, "wrote %s, %d bytes\nkey   %s\n", r.File, r.Bytes, r.Key)
}

func prepareKeygen(f *pflag.FlagSet) action {
	system := f.String("system", "", "built-in system: "+systems.Names())
	profile := f.String("profile", defaultProfile, "security profile: "+profileNames())
	out := f.StringP("output", "o", "", "write the key to `FILE`")
	digest := f.Bool("digest", false, "print the key's digest alone")
	return func(t *tool) (result, error) {
		if *out == "" && !*digest {
			return nil, usageError("flags", "there is nothing to do", "-o FILE, --digest or both", "neither", "")
		}
		p, err := profileFlag(*profile)
		if err != nil {
			return nil, err
		}
		if *out != "" {
			if err := t.writable(*out, t.operand); err != nil {
				return nil, err
			}
		}
		key, err := t.keygen(*system, p)
		if err != nil {
			return nil, err
		}
		if *out != "" {
			if err := t.write(*out, key.Encoded); err != nil {
				return nil, err
			}
		}
		return &keygenResult{"ixprove/keygen/1", *out, len(key.Encoded), newKeyObject(key.Key), *digest}, nil
	}
}

// keygen makes the key of the program that is the operand, or else of a built-in system.
func (t *tool) keygen(system string, p security.Profile) (*prover.ProvingKey, error) {
	if t.operand == "" {
		s, err := systemFlag(system)
		if err != nil {
			return nil, err
		}
		return prover.Keygen(t.ctx, s.Build(), suiteOf(p), p, cpu.Backend{})
	}
	if !isProgram(t.operand) || system != "" {
		return nil, usageError("PROGRAM", "a key is of a program or of a built-in system", "a file whose name ends in "+programExt+", or --system", strconv.Quote(t.operand), "")
	}
	prog, err := t.readProgram(t.operand)
	if err != nil {
		return nil, err
	}
	key, err := prog.keygen(t, p)
	if err == nil {
		t.remember(key)
	}
	return key, err
}
