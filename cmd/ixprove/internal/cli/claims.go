package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/formats/claims"
	"github.com/ixprove/ixprove/systems"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/security"
)

// claimsFile is a decoded claims file whose system and profile exist.
type claimsFile struct {
	*claims.File
	path    string
	system  *systems.System
	profile security.Profile
}

// defaultProfile is the profile of claims files that name none.
const defaultProfile = "standard"

func (t *tool) readClaims(path string) (*claimsFile, error) {
	data, err := t.read(path, claims.MaxBytes)
	if err != nil {
		if f := new(failure); errors.As(err, &f) && path == systems.SampleClaims {
			f.Next = "ixprove init starts a folder with a claims file"
		}
		return nil, err
	}
	decoded, err := claims.Decode(data)
	if err != nil {
		return nil, inFile(path, err)
	}
	c := &claimsFile{File: decoded, path: path}
	var ok bool
	if c.system, ok = systems.ByName(c.System); !ok {
		return nil, &formats.Error{Class: formats.Invalid, Place: path + ", system", What: "there is no such system", Expected: "one of " + systems.Names(), Got: strconv.Quote(c.System)}
	}
	if c.Profile == "" {
		c.Profile = defaultProfile
	}
	if c.profile, ok = security.ProfileByName(c.Profile); !ok {
		return nil, &formats.Error{Class: formats.Invalid, Place: path + ", profile", What: "there is no such profile", Expected: "one of " + profileNames(), Got: strconv.Quote(c.Profile)}
	}
	return c, nil
}

// locate finds a private file: paths are relative to the folder of the claims file.
func (c *claimsFile) locate(name string) string {
	if filepath.IsAbs(name) || c.path == stream {
		return name
	}
	return filepath.Join(filepath.Dir(c.path), name)
}

// readPrivate reads a private file.
func (c *claimsFile) readPrivate() func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		path := c.locate(name)
		if _, err := regularSize(path); err != nil {
			return nil, err
		}
		return readFile(path, blake3.MaxBytes)
	}
}

// sizePrivate stands zeros in for a private file: a witness's shape depends on its length alone.
func (c *claimsFile) sizePrivate() func(string) ([]byte, error) {
	var zeros []byte
	return func(name string) ([]byte, error) {
		n, err := regularSize(c.locate(name))
		if err != nil {
			return nil, err
		}
		n = min(n, blake3.MaxBytes+1)
		if int(n) > len(zeros) {
			zeros = make([]byte, n)
		}
		return zeros[:n], nil
	}
}

// claimObject is a claim as JSON: values by name, numbers of at most 32 bits as numbers, larger ones in quotes.
type claimObject struct {
	Entry   string         `json:"entry"`
	Args    map[string]any `json:"args"`
	Results map[string]any `json:"results"`
}

func claimObjects(key *verifier.Key, list []formats.Claim) []claimObject {
	out := make([]claimObject, len(list))
	for i, c := range list {
		e := &key.Entries[c.Entry]
		out[i] = claimObject{e.Name, valueObject(e.Args, c.Args), valueObject(e.Results, c.Results)}
	}
	return out
}

func valueObject(types []formats.Value, e formats.Elements) map[string]any {
	out := make(map[string]any, len(types))
	for _, t := range types {
		n := t.Type.Elements() * formats.ElementBytes
		text := verifier.ValueText(t.Type, e[:n])
		e = e[n:]
		if t.Type == formats.TypeU8 || t.Type == formats.TypeU32 {
			out[t.Name] = json.Number(text)
		} else {
			out[t.Name] = text
		}
	}
	return out
}

// shown is the most claims that are listed for people.
const shown = 20

func claimLines(w io.Writer, key *verifier.Key, list []formats.Claim) {
	list = slices.DeleteFunc(slices.Clone(list), func(c formats.Claim) bool { return len(c.Args)+len(c.Results) == 0 }) // they state nothing
	for i := range list {
		if i == shown {
			fmt.Fprintf(w, "  and %d more (--json lists all)\n", len(list)-shown)
			return
		}
		fmt.Fprintf(w, "  %s\n", key.ClaimText(&list[i]))
	}
}
