// Package systems lists the built-in systems. One entry of its table is all that the command line needs to know of a system.
package systems

//go:generate go run ./internal/writekeys keys

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/formats/claims"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/systems/fibonacci"
	"github.com/ixprove/ixprove/systems/keys"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// System is a built-in system.
type System struct {
	Name  string
	About string             // one line
	Build func() *air.System // the circuits
	Files bool               // whether each claim is about a private file
	// Sample are the files that start a new folder. One is SampleClaims.
	Sample []Sample
	// witness claims what the statements say, in order; results are its own.
	witness func(statements []statement, shards Shards, minLogHeight int) (*prover.Witness, error)
}

// Sample is a file of a new folder.
type Sample struct{ Name, Content string }

// SampleClaims is the name of a folder's claims file.
const SampleClaims = "claims.json"

// statement is a claim without its results.
type statement struct {
	entry int
	args  formats.Elements
	file  []byte
}

var table = []System{
	{
		Name:  blake3.Name,
		About: "the BLAKE3 digest and the length of a file that stays private",
		Build: blake3.System,
		Files: true,
		Sample: []Sample{
			{"hello.txt", "Hello from ixprove.\n"},
			{SampleClaims, `{
  "format": "` + claims.Format + `",
  "system": "blake3",
  "profile": "standard",
  "claims": [
    {"entry": "blake3", "file": "hello.txt"}
  ]
}
`},
		},
		witness: func(statements []statement, shards Shards, minLogHeight int) (*prover.Witness, error) {
			files := make([][]byte, len(statements))
			for i, s := range statements {
				files[i] = s.file
			}
			if shards.Heights != nil {
				return blake3.Witness(files, shards.Heights, minLogHeight)
			}
			return blake3.WitnessOver(files, shards.count(), minLogHeight)
		},
	},
	{
		Name:  fibonacci.Name,
		About: "a Fibonacci number modulo 2^64 - 2^32 + 1, the circuit of the tutorial",
		Build: fibonacci.System,
		Sample: []Sample{
			{SampleClaims, `{
  "format": "` + claims.Format + `",
  "system": "fibonacci",
  "profile": "standard",
  "claims": [
    {"entry": "fibonacci", "args": {"n": 90}},
    {"entry": "fibonacci", "args": {"n": 10}, "results": {"value": 55}}
  ]
}
`},
		},
		witness: func(statements []statement, shards Shards, minLogHeight int) (*prover.Witness, error) {
			if shards.Heights != nil {
				return nil, &formats.Error{Class: formats.Invalid, Place: "shards", What: "the heights of fibonacci's tables follow from the claims",
					Expected: "a number of shards", Got: "heights"}
			}
			indices := make([]uint32, len(statements))
			for i, s := range statements {
				indices[i] = uint32(s.args.At(0))
			}
			return fibonacci.Witness(indices, shards.count(), minLogHeight)
		},
	},
}

// All lists the built-in systems.
func All() []System { return table }

// ByName returns the system of that name, and false if there is none.
func ByName(name string) (*System, bool) {
	for i := range table {
		if table[i].Name == name {
			return &table[i], true
		}
	}
	return nil, false
}

// Names lists the systems' names, separated by commas.
func Names() string {
	var names []string
	for i := range table {
		names = append(names, table[i].Name)
	}
	return strings.Join(names, ", ")
}

// Request is what a witness is made from.
type Request struct {
	Claims       []claims.Claim
	Read         func(name string) ([]byte, error) // reads a private file; its errors are returned as they are
	Shards       Shards
	MinLogHeight int // of the profile
}

// Witness makes the witness of the claims. Those whose results are given must have the results that are computed. Errors are *formats.Error of class Invalid or Limit, with the
// claim's place in the claims file.
func (s *System) Witness(r Request) (*prover.Witness, error) {
	built := s.Build()
	statements := make([]statement, len(r.Claims))
	for i := range r.Claims {
		c, st := &r.Claims[i], &statements[i]
		place := claimPlace(i)
		e, err := entryOf(built, place, c.Entry)
		if err != nil {
			return nil, err
		}
		st.entry = e
		if st.args, err = claims.Elements(place+".args", built.Entries[e].Args, c.Args); err != nil {
			return nil, err
		}
		if s.Files != (c.File != "") {
			wanted := map[bool]string{true: "a path", false: "no such field"}
			return nil, &formats.Error{Class: formats.Invalid, Place: place + ".file", What: "the system " + s.Name + " claims " + s.About,
				Expected: wanted[s.Files], Got: wanted[!s.Files]}
		}
		if s.Files {
			if st.file, err = r.Read(c.File); err != nil {
				return nil, err
			}
		}
	}
	w, err := s.witness(statements, r.Shards, r.MinLogHeight)
	if err != nil {
		return nil, err
	}
	for i := range r.Claims {
		if r.Claims[i].Results == nil {
			continue
		}
		types, place := built.Entries[statements[i].entry].Results, claimPlace(i)+".results"
		given, err := claims.Elements(place, types, r.Claims[i].Results)
		if err != nil {
			return nil, err
		}
		if got := w.Claims[i].Results; !bytes.Equal(given, got) {
			return nil, &formats.Error{Class: formats.Invalid, Place: place, What: "the claim is false: these are not the results",
				Expected: valuesText(types, got), Got: valuesText(types, given), Next: "correct the results, or leave them out to have them computed"}
		}
	}
	return w, nil
}

// Expected is the claims as a proof carries them, from their arguments and results alone. The second result is false if some claim gives no results.
func (s *System) Expected(file []claims.Claim) ([]formats.Claim, bool, error) {
	built := s.Build()
	out := make([]formats.Claim, len(file))
	for i := range file {
		c, place := &file[i], claimPlace(i)
		e, err := entryOf(built, place, c.Entry)
		if err != nil {
			return nil, false, err
		}
		if c.Results == nil {
			return nil, false, nil
		}
		out[i].Entry = uint32(e)
		if out[i].Args, err = claims.Elements(place+".args", built.Entries[e].Args, c.Args); err != nil {
			return nil, false, err
		}
		if out[i].Results, err = claims.Elements(place+".results", built.Entries[e].Results, c.Results); err != nil {
			return nil, false, err
		}
	}
	return out, true, nil
}

// valuesText renders an entry's values for people.
func valuesText(types []formats.Value, e formats.Elements) string {
	var texts []string
	for _, t := range types {
		n := t.Type.Elements() * formats.ElementBytes
		texts = append(texts, t.Name+" "+verifier.ValueText(t.Type, e[:n]))
		e = e[n:]
	}
	return strings.Join(texts, ", ")
}

func claimPlace(i int) string { return "claims[" + strconv.Itoa(i) + "]" }

func entryOf(s *air.System, place, name string) (int, error) {
	var names []string
	for i := range s.Entries {
		if s.Entries[i].Name == name {
			return i, nil
		}
		names = append(names, s.Entries[i].Name)
	}
	return 0, &formats.Error{Class: formats.Invalid, Place: place + ".entry", What: "the system " + s.Name + " has no such entry",
		Expected: strings.Join(names, ", "), Got: strconv.Quote(name)}
}

// Keys makes the files of package keys: the verifying keys of all systems under all profiles, and the list of their digests. suites are those of the profiles.
func Keys(ctx context.Context, backend prover.Backend, suites ...hash.Suite) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, s := range table {
		for _, p := range security.Profiles() {
			suite, ok := hash.Named(p.Suite, suites)
			if !ok {
				return nil, &formats.Error{Class: formats.Invalid, Place: "profile " + p.Name, What: "its hash suite was not given", Expected: p.Suite}
			}
			pk, err := prover.Keygen(ctx, s.Build(), suite, p, backend)
			if err != nil {
				return nil, err
			}
			k := keys.Key{Digest: pk.Digest(), System: s.Name, Profile: p.Name}
			files[k.FileName()] = pk.Encoded
			files[keys.Index] = append(files[keys.Index], k.Line()...)
		}
	}
	return files, nil
}
