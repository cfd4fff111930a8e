package systems

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/ixprove/ixprove/compress/poseidon2"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/formats/claims"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/keys"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// A circuit or profile that changes changes keys, which must be deliberate: go generate ./systems.
func TestKeysAreThoseOfTheSystems(t *testing.T) {
	made, err := Keys(context.Background(), cpu.Backend{}, hash.Blake3{}, poseidon2.Suite{})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range made {
		committed, err := os.ReadFile("keys/" + name)
		if err != nil || !bytes.Equal(data, committed) {
			t.Errorf("keys/%s is not what its system gives (%v): run go generate ./systems", name, err)
		}
	}
	entries, err := fs.Glob(os.DirFS("keys"), "*.key")
	if err != nil || len(entries) != len(made)-1 {
		t.Errorf("%d key files for %d keys (%v)", len(entries), len(made)-1, err)
	}
}

func TestKeysAreFound(t *testing.T) {
	all := keys.All()
	if len(all) != len(All())*len(security.Profiles()) {
		t.Fatalf("%d keys", len(all))
	}
	for _, want := range all {
		k, data, ok := keys.Find(want.Digest)
		if !ok || k != want {
			t.Fatalf("%v is not found", want)
		}
		key, err := verifier.ParseKey(data, hash.Blake3{}, poseidon2.Suite{})
		if err != nil {
			t.Fatal(err)
		}
		if key.Digest() != want.Digest || key.Name != want.System || key.Profile.Name != want.Profile {
			t.Errorf("%v is another key", want)
		}
	}
	if _, _, ok := keys.Find(formats.Digest{}); ok {
		t.Error("an unknown key is found")
	}
}

// reader serves private files from memory.
func reader(name string) ([]byte, error) {
	files := map[string][]byte{"empty": {}, "short": []byte("short"), "long": bytes.Repeat([]byte("0123456789"), 500)}
	data, ok := files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return data, nil
}

func TestWitnessOverShards(t *testing.T) {
	requests := map[string][]claims.Claim{
		"blake3":    {{Entry: "blake3", File: "long"}, {Entry: "blake3", File: "empty"}, {Entry: "blake3", File: "short"}},
		"fibonacci": {{Entry: "fibonacci", Args: []claims.Value{{Name: "n", Text: "9"}}}, {Entry: "fibonacci", Args: []claims.Value{{Name: "n", Text: "90"}}}, {Entry: "fibonacci", Args: []claims.Value{{Name: "n", Text: "0"}}}},
	}
	if len(requests) != len(All()) {
		t.Fatal("a system is not tested")
	}
	for name, list := range requests {
		s, ok := ByName(name)
		if !ok {
			t.Fatal(name)
		}
		for _, shards := range []int{0, 1, 2, 3} {
			w, err := s.Witness(Request{Claims: list, Read: reader, Shards: Shards{Count: shards}, MinLogHeight: 1})
			if err != nil {
				t.Fatal(err)
			}
			if len(w.Shards) != max(1, shards) || len(w.Claims) != len(list) {
				t.Errorf("%s: %d shards and %d claims, want %d and %d", name, len(w.Shards), len(w.Claims), shards, len(list))
			}
		}
	}
}

// TestRootWitness checks that a root's tables have the heights of few shapes, fixed ones apart.
func TestRootWitness(t *testing.T) {
	n := func(list ...string) (out []claims.Claim) {
		for _, text := range list {
			out = append(out, claims.Claim{Entry: "fibonacci", Args: []claims.Value{{Name: "n", Text: text}}})
		}
		return out
	}
	sized := func(size int) func(string) ([]byte, error) {
		return func(string) ([]byte, error) { return make([]byte, size), nil }
	}
	file := []claims.Claim{{Entry: "blake3", File: "any"}}
	for _, c := range []struct {
		system string
		list   []claims.Claim
		read   func(string) ([]byte, error)
		want   int
	}{
		{"fibonacci", n("0"), nil, 8},
		{"fibonacci", n("255", "3"), nil, 8},
		{"fibonacci", n("256"), nil, 12},
		{"fibonacci", n("1", "4095"), nil, 12},
		{"fibonacci", n("4096"), nil, 16},
		{"fibonacci", n("65536", "5"), nil, 20},
		{"fibonacci", n("16777216"), nil, 27},
		{"blake3", file, sized(0), 8},
		{"blake3", file, sized(32 * 64), 12},  // 32 compressions of chunks and one of their parent: 264 rows
		{"blake3", file, sized(30 * 64), 8},   // 30 and one
		{"blake3", file, sized(600 * 64), 16}, // 637 compressions, 5,096 rows
	} {
		s, ok := ByName(c.system)
		if !ok {
			t.Fatal(c.system)
		}
		w, err := s.RootWitness(Request{Claims: c.list, Read: c.read, Shards: Shards{Count: 3}, MinLogHeight: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(w.Shards) != 1 || len(w.Claims) != len(c.list) {
			t.Fatalf("%s: %d shards, %d claims", c.system, len(w.Shards), len(w.Claims))
		}
		built, used := s.Build(), map[int]bool{}
		for _, table := range w.Shards[0].Tables {
			if used[table.Circuit] {
				t.Errorf("%s: several tables of circuit %d", c.system, table.Circuit)
			}
			used[table.Circuit] = true
			if len(built.Circuits[table.Circuit].FixedValues) == 0 && table.LogHeight != c.want {
				t.Errorf("%s: a table of 2^%d rows, want 2^%d", c.system, table.LogHeight, c.want)
			}
		}
	}
	s, _ := ByName("fibonacci")
	if _, err := s.RootWitness(Request{Claims: n("4294967296")}); err == nil {
		t.Error("an index that is too large is taken")
	}
}

func TestWitnessWithHeights(t *testing.T) {
	s, _ := ByName("blake3")
	shards, err := ParseShards("9,3/10")
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Witness(Request{Claims: []claims.Claim{{Entry: "blake3", File: "long"}}, Read: reader, Shards: shards, MinLogHeight: 1})
	if err != nil {
		t.Fatal(err)
	}
	var heights [][]int
	for _, shard := range w.Shards {
		var of []int
		for _, table := range shard.Tables {
			if table.Circuit == 0 {
				of = append(of, table.LogHeight)
			}
		}
		heights = append(heights, of)
	}
	if !slices.EqualFunc(heights, [][]int{{9, 3}, {10}}, slices.Equal) {
		t.Errorf("heights are %v", heights)
	}
}

func TestRefusedClaims(t *testing.T) {
	n := func(text string) []claims.Value { return []claims.Value{{Name: "n", Text: text}} }
	for _, c := range []struct {
		system, place string
		claim         claims.Claim
	}{
		{"fibonacci", "claims[0].entry", claims.Claim{Entry: "fibonacy", Args: n("1")}},
		{"fibonacci", "claims[0].args.n", claims.Claim{Entry: "fibonacci"}},
		{"fibonacci", "claims[0].args.n", claims.Claim{Entry: "fibonacci", Args: n("4294967296")}},
		{"fibonacci", "claims[0].args.n", claims.Claim{Entry: "fibonacci", Args: n("-1")}},
		{"fibonacci", "claims[0].args.m", claims.Claim{Entry: "fibonacci", Args: append(n("1"), claims.Value{Name: "m", Text: "1"})}},
		{"fibonacci", "claims[0].file", claims.Claim{Entry: "fibonacci", Args: n("1"), File: "short"}},
		{"fibonacci", "claims[0].results", claims.Claim{Entry: "fibonacci", Args: n("10"), Results: []claims.Value{{Name: "value", Text: "56"}}}},
		{"fibonacci", "claims[0].results.value", claims.Claim{Entry: "fibonacci", Args: n("10"), Results: []claims.Value{}}},
		{"blake3", "claims[0].file", claims.Claim{Entry: "blake3"}},
		{"blake3", "claims[0].args.n", claims.Claim{Entry: "blake3", File: "short", Args: n("1")}},
		{"blake3", "claims[0].results.length", claims.Claim{Entry: "blake3", File: "short", Results: []claims.Value{{Name: "digest", Text: "0b9e45f65dac10f5a3e4e60b7390cb2711990208b825e29915f2bc0ac87a701d"}}}},
		{"blake3", "claims[0].results.digest", claims.Claim{Entry: "blake3", File: "short", Results: []claims.Value{{Name: "digest", Text: "0b"}, {Name: "length", Text: "5"}}}},
	} {
		s, _ := ByName(c.system)
		_, err := s.Witness(Request{Claims: []claims.Claim{c.claim}, Read: reader, MinLogHeight: 1})
		var e *formats.Error
		if !errors.As(err, &e) || e.Class != formats.Invalid || e.Place != c.place {
			t.Errorf("%+v: %v, want a complaint about %s", c.claim, err, c.place)
		}
	}
	s, _ := ByName("blake3")
	if _, err := s.Witness(Request{Claims: []claims.Claim{{Entry: "blake3", File: "none"}}, Read: reader}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	s, _ = ByName("fibonacci")
	if _, err := s.Witness(Request{Claims: []claims.Claim{{Entry: "fibonacci", Args: n("1")}}, Shards: Shards{Heights: [][]int{{3}}}}); !errors.Is(err, formats.Invalid) {
		t.Errorf("heights of fibonacci: %v", err)
	}
}

func TestSamples(t *testing.T) {
	for _, s := range All() {
		files := map[string]string{}
		for _, f := range s.Sample {
			files[f.Name] = f.Content
		}
		c, err := claims.Decode([]byte(files[SampleClaims]))
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if c.System != s.Name {
			t.Errorf("the sample of %s is of %s", s.Name, c.System)
		}
		_, err = s.Witness(Request{Claims: c.Claims, MinLogHeight: 1, Read: func(name string) ([]byte, error) {
			if _, ok := files[name]; !ok {
				t.Errorf("%s: the sample lacks %s, but has %v", s.Name, name, slices.Collect(maps.Keys(files)))
			}
			return []byte(files[name]), nil
		}})
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}

func TestParseShards(t *testing.T) {
	for text, want := range map[string]Shards{
		"1": {Count: 1}, "1024": {Count: 1024}, "15,12/14": {Heights: [][]int{{15, 12}, {14}}}, "15/": {Heights: [][]int{{15}}}, "9,9": {Heights: [][]int{{9, 9}}},
	} {
		got, err := ParseShards(text)
		if err != nil || got.Count != want.Count || !slices.EqualFunc(got.Heights, want.Heights, slices.Equal) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "1025", "x", "1,,2", "/", "3//4", "28/", "1,-2", "99999999999999999999"} {
		if s, err := ParseShards(text); !errors.Is(err, formats.Invalid) {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
}
