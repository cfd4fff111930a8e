// Package verifier checks batch proofs of ixprove against a verifying key that the caller chose. It is the protocol: docs/protocol.md in Go, check after check.
//
// The package and all below it are pure Go without third-party imports, cgo, assembly, unsafe, goroutines or init work, and return errors on any input.
// They have not been audited by an outside party.
package verifier

import (
	"strconv"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// Error is the type of every error of this package.
type Error = formats.Error

// Key is a checked verifying key. It is immutable and safe for concurrent use.
type Key struct {
	Name     string
	Channels []formats.Channel
	Circuits []*air.Circuit
	Entries  []formats.Entry
	Profile  security.Profile
	Suite    hash.Suite

	digest      formats.Digest
	messageSize int // arguments of the longest message
}

// ParseKey decodes a verifying key and checks it (K-1 to K-12). suites are those that the caller accepts; without any it is blake3 alone. data must not change
// afterwards. Errors are *Error of class Malformed, Incompatible, Limit or Invalid.
func ParseKey(data []byte, suites ...hash.Suite) (*Key, error) {
	raw, err := formats.DecodeKey(data)
	if err != nil {
		return nil, err
	}
	k := &Key{Name: raw.Name, Channels: raw.Channels, Entries: raw.Entries, digest: hash.KeyDigest(data)}
	for _, check := range []func(*Key, *formats.Key, []hash.Suite) error{checkSuite, checkProfile, checkNames, checkEntries, checkCircuits} {
		if err := check(k, raw, suites); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// Digest names the key: it is what a verifier pins.
func (k *Key) Digest() formats.Digest { return k.digest }

// Raw is the key as it travels: its one encoding has the key's digest.
func (k *Key) Raw() *formats.Key {
	raw := &formats.Key{Name: k.Name, Suite: k.Suite.Name(), Profile: RawProfile(k.Profile), Channels: k.Channels, Entries: k.Entries}
	for _, c := range k.Circuits {
		raw.Circuits = append(raw.Circuits, c.Circuit)
	}
	return raw
}

// Entry is the index of the entry of that name.
func (k *Key) Entry(name string) (int, bool) {
	for i := range k.Entries {
		if k.Entries[i].Name == name {
			return i, true
		}
	}
	return 0, false
}

// MessageElements is the largest number of arguments of a message: the arity of the widest channel.
func (k *Key) MessageElements() int { return k.messageSize }

func checkSuite(k *Key, raw *formats.Key, suites []hash.Suite) error {
	if len(suites) == 0 {
		suites = []hash.Suite{hash.Blake3{}}
	}
	if s, ok := hash.Named(raw.Suite, suites); ok {
		k.Suite = s
		return nil
	}
	names := ""
	for _, s := range suites {
		names += " " + s.Name()
	}
	return &Error{Class: formats.Incompatible, Check: "K-3", Place: "suite", What: "the key's hash suite is not one of this verifier's",
		Expected: "one of" + names, Got: raw.Suite, Next: "use a verifier that is built with this suite"}
}

// RawProfile is a profile as a key carries it.
func RawProfile(p security.Profile) formats.Profile {
	return formats.Profile{LogBlowup: uint8(p.LogBlowup), Queries: uint16(p.Queries), GrindingBits: uint8(p.GrindingBits),
		LogArity: uint8(p.LogArity), LogFinal: uint8(p.LogFinal), Multiplicity: uint8(p.Multiplicity)}
}

func checkProfile(k *Key, raw *formats.Key, _ []hash.Suite) error {
	for _, p := range security.Profiles() {
		if RawProfile(p) != raw.Profile {
			continue
		}
		if p.Suite != raw.Suite {
			return &Error{Class: formats.Incompatible, Check: "K-4", Place: "profile", What: "the profile " + p.Name + " is for another hash suite",
				Expected: p.Suite, Got: raw.Suite, Next: "use a key made by this version"}
		}
		k.Profile = p
		return nil
	}
	return &Error{Class: formats.Incompatible, Check: "K-4", Place: "profile", What: "the key's parameters are not those of a known profile",
		Expected: "the numbers of a profile of docs/security.md",
		Got:      strconv.Itoa(int(raw.Profile.Queries)) + " queries at blowup 2^" + strconv.Itoa(int(raw.Profile.LogBlowup)),
		Next:     "use a key made by this version"}
}

func checkNames(_ *Key, raw *formats.Key, _ []hash.Suite) error {
	kinds := []struct {
		kind string
		n    int
		name func(int) string
	}{
		{"channel", len(raw.Channels), func(i int) string { return raw.Channels[i].Name }},
		{"circuit", len(raw.Circuits), func(i int) string { return raw.Circuits[i].Name }},
		{"entry", len(raw.Entries), func(i int) string { return raw.Entries[i].Name }},
	}
	for _, k := range kinds {
		seen := make(map[string]bool, k.n)
		for i := range k.n {
			if seen[k.name(i)] {
				return &Error{Class: formats.Invalid, Check: "K-5", Place: k.kind + " " + strconv.Itoa(i), What: "two have the same name", Got: formats.Quote(k.name(i)), Next: "rename one"}
			}
			seen[k.name(i)] = true
		}
	}
	return nil
}

func checkEntries(k *Key, raw *formats.Key, _ []hash.Suite) error {
	if len(raw.Entries) == 0 {
		return &Error{Class: formats.Invalid, Check: "K-6", Place: "entries", What: "the system has no entry, so nothing could be claimed", Next: "declare an entry"}
	}
	used := make([]bool, len(raw.Channels))
	for i := range raw.Entries {
		e := &raw.Entries[i]
		place := "entry " + formats.Quote(e.Name)
		if uint64(e.Channel) >= uint64(len(raw.Channels)) {
			return (&Error{Class: formats.Invalid, Check: "K-6", Place: place, What: "the channel does not exist"}).Mismatch(uint64(len(raw.Channels)), uint64(e.Channel))
		}
		if used[e.Channel] {
			return &Error{Class: formats.Invalid, Check: "K-6", Place: place, What: "the channel serves another entry already", Next: "give each entry a channel of its own"}
		}
		used[e.Channel] = true
		if args, results := EntryElements(e); args+results != int(raw.Channels[e.Channel].Arity) {
			return (&Error{Class: formats.Invalid, Check: "K-6", Place: place, What: "the entry's types need another arity than its channel has"}).
				Mismatch(uint64(raw.Channels[e.Channel].Arity), uint64(args+results))
		}
	}
	for _, c := range raw.Channels {
		k.messageSize = max(k.messageSize, int(c.Arity))
	}
	return nil
}

func checkCircuits(k *Key, raw *formats.Key, _ []hash.Suite) error {
	for i := range raw.Circuits {
		c, err := air.CheckCircuit(&raw.Circuits[i], raw.Channels, k.Profile.LogBlowup, k.Profile.MinLogHeight)
		if err != nil {
			return err
		}
		if len(c.Fixed) > 0 && !k.Suite.Canonical(c.Fixed[0].Root[:]) {
			return &Error{Class: formats.Invalid, Check: "K-12", Place: "circuit " + strconv.Itoa(i) + ", fixed columns", What: "the root is no digest of the suite", Expected: "a digest of " + k.Suite.Name(), Got: Hex(c.Fixed[0].Root)}
		}
		k.Circuits = append(k.Circuits, c)
	}
	return nil
}

// EntryElements is the number of field elements of an entry's arguments and of its results.
func EntryElements(e *formats.Entry) (args, results int) {
	for _, v := range e.Args {
		args += v.Type.Elements()
	}
	for _, v := range e.Results {
		results += v.Type.Elements()
	}
	return args, results
}
