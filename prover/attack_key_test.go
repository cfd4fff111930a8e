package prover_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/formats/encode"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/hash"
)

func encodeProof(p *formats.Proof) ([]byte, error) { return encode.Proof(p) }

// toyKey returns the toy system's key, decoded, to be changed.
func toyKey(t testing.TB) *formats.Key {
	t.Helper()
	k, err := formats.DecodeKey(bytes.Clone(samples()["toy"].pk.Encoded))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestKeyChecksOfSuites is about keys of the other suite, to a verifier that has both, or blake3 alone.
func TestKeyChecksOfSuites(t *testing.T) {
	for _, c := range []struct {
		check, name string
		sample      string
		class       formats.Class
		suites      []hash.Suite
		change      func(k *formats.Key)
	}{
		{"K-3", "a verifier without the suite", "root", formats.Incompatible, nil, func(*formats.Key) {}},
		{"K-4", "a root under blake3", "root", formats.Incompatible, suites, func(k *formats.Key) { k.Suite = "blake3" }},
		{"K-4", "the profile dev under the other suite", "toy", formats.Incompatible, suites, func(k *formats.Key) { k.Suite = "poseidon2-bn254" }},
		{"K-12", "a fixed root under another name", "root", formats.Invalid, suites, func(k *formats.Key) { alias(k.Circuits[0].Fixed[0].Root[:]) }},
	} {
		t.Run(c.check+" "+c.name, func(t *testing.T) {
			k, err := formats.DecodeKey(bytes.Clone(samples()[c.sample].pk.Encoded))
			if err != nil {
				t.Fatal(err)
			}
			c.change(k)
			data, err := encode.Key(k)
			if err != nil {
				t.Fatal(err)
			}
			_, err = verifier.ParseKey(data, c.suites...)
			refused(t, err, c.check, c.class)
		})
	}
}

// TestKeyChecks changes a decoded key, encodes it again, and expects the one check that the change is made for.
func TestKeyChecks(t *testing.T) {
	find := func(c *formats.Circuit, op formats.Op) *formats.Node {
		for i := range c.Nodes {
			if c.Nodes[i].Op == op {
				return &c.Nodes[i]
			}
		}
		return nil
	}
	const invalid, incompatible = formats.Invalid, formats.Incompatible
	for _, c := range []struct {
		check, name string
		class       formats.Class
		change      func(k *formats.Key)
	}{
		{"K-3", "another suite", incompatible, func(k *formats.Key) { k.Suite = "sha256" }},
		{"K-4", "fewer queries", incompatible, func(k *formats.Key) { k.Profile.Queries = 7 }},
		{"K-4", "no queries", incompatible, func(k *formats.Key) { k.Profile.Queries = 0 }},
		{"K-4", "less work", incompatible, func(k *formats.Key) { k.Profile.GrindingBits-- }},
		{"K-4", "another blowup", incompatible, func(k *formats.Key) { k.Profile.LogBlowup = 3 }},
		{"K-4", "a fold by one", incompatible, func(k *formats.Key) { k.Profile.LogArity = 0 }},
		{"K-4", "a fold by 2^64", incompatible, func(k *formats.Key) { k.Profile.LogArity = 64 }},
		{"K-4", "a longer final polynomial", incompatible, func(k *formats.Key) { k.Profile.LogFinal++ }},
		{"K-4", "another multiplicity", incompatible, func(k *formats.Key) { k.Profile.Multiplicity = 3 }},
		{"K-5", "channels of one name", invalid, func(k *formats.Key) { k.Channels[1].Name = k.Channels[0].Name }},
		{"K-5", "circuits of one name", invalid, func(k *formats.Key) { k.Circuits[1].Name = k.Circuits[0].Name }},
		{"K-5", "entries of one name", invalid, func(k *formats.Key) { k.Entries[1].Name = k.Entries[0].Name }},
		{"K-6", "no entry", invalid, func(k *formats.Key) { k.Entries = nil }},
		{"K-6", "a channel that does not exist", invalid, func(k *formats.Key) { k.Entries[0].Channel = 4 }},
		{"K-6", "the last channel number", invalid, func(k *formats.Key) { k.Entries[0].Channel = math.MaxUint32 }},
		{"K-6", "the channel of another entry", invalid, func(k *formats.Key) {
			k.Entries[1] = k.Entries[0]
			k.Entries[1].Name = "again"
		}},
		{"K-6", "another arity", invalid, func(k *formats.Key) { k.Entries[0].Args[0].Type = formats.TypeU64 }},
		{"K-7", "a main column that does not exist", invalid, func(k *formats.Key) { find(&k.Circuits[1], formats.OpMain).A = 4 }},
		{"K-7", "a fixed column that does not exist", invalid, func(k *formats.Key) { find(&k.Circuits[0], formats.OpFixed).A = 1 }},
		{"K-7", "a periodic column that does not exist", invalid, func(k *formats.Key) { find(&k.Circuits[1], formats.OpPeriodic).A = 2 }},
		{"K-7", "a column of no fixed trace", invalid, func(k *formats.Key) { find(&k.Circuits[1], formats.OpMain).Op = formats.OpFixed }},
		{"K-7", "the row after the next", invalid, func(k *formats.Key) { find(&k.Circuits[1], formats.OpMain).B = 2 }},
		{"K-7", "a left operand that comes later", invalid, func(k *formats.Key) {
			c := &k.Circuits[1]
			find(c, formats.OpMul).A = uint64(len(c.Nodes))
		}},
		{"K-7", "a right operand that comes later", invalid, func(k *formats.Key) { find(&k.Circuits[1], formats.OpMul).B = math.MaxUint32 }},
		{"K-7", "a node that refers to itself", invalid, func(k *formats.Key) {
			c := &k.Circuits[1]
			for i := range c.Nodes {
				if c.Nodes[i].Op == formats.OpMul {
					c.Nodes[i].A = uint64(i)
					break
				}
			}
		}},
		{"K-7", "a selector with an operand", invalid, func(k *formats.Key) { find(&k.Circuits[1], formats.OpFirst).A = 1 }},
		{"K-7", "a selector of the next row", invalid, func(k *formats.Key) { find(&k.Circuits[1], formats.OpTransition).B = 1 }},
		{"K-7", "a constant with an operand", invalid, func(k *formats.Key) { find(&k.Circuits[1], formats.OpConst).B = 1 }},
		{"K-7", "a degree that overflows", invalid, func(k *formats.Key) {
			c := &k.Circuits[1]
			at := uint32(len(c.Nodes))
			c.Nodes = append(c.Nodes, formats.Node{Op: formats.OpMain})
			for range 70 {
				c.Nodes = append(c.Nodes, formats.Node{Op: formats.OpMul, A: uint64(at), B: at})
				at++
			}
		}},
		{"K-7", "a degree in transition that overflows", invalid, func(k *formats.Key) {
			c := &k.Circuits[1]
			at := uint32(len(c.Nodes))
			c.Nodes = append(c.Nodes, formats.Node{Op: formats.OpTransition})
			for range 70 {
				c.Nodes = append(c.Nodes, formats.Node{Op: formats.OpMul, A: uint64(at), B: at})
				at++
			}
		}},
		{"K-8", "a degree bound beyond the blowup", invalid, func(k *formats.Key) { k.Circuits[1].Degree = 6 }},
		{"K-8", "a degree bound of 1", invalid, func(k *formats.Key) { k.Circuits[4].Degree = 1 }},
		{"K-8", "a constraint that is no node", invalid, func(k *formats.Key) { c := &k.Circuits[1]; c.Constraints[0] = uint32(len(c.Nodes)) }},
		{"K-8", "the last constraint number", invalid, func(k *formats.Key) { k.Circuits[1].Constraints[0] = math.MaxUint32 }},
		{"K-8", "a constraint of too high a degree", invalid, func(k *formats.Key) { power(&k.Circuits[4], formats.OpMain, 3, 2) }},
		{"K-8", "transition twice in a constraint of degree 1", invalid, func(k *formats.Key) { power(&k.Circuits[4], formats.OpTransition, 2, 5) }},
		{"K-9", "a channel that does not exist", invalid, func(k *formats.Key) { k.Circuits[1].Lookups[0].Channel = 4 }},
		{"K-9", "the last channel number", invalid, func(k *formats.Key) { k.Circuits[1].Lookups[0].Channel = math.MaxUint32 }},
		{"K-9", "an argument less", invalid, func(k *formats.Key) { l := &k.Circuits[1].Lookups[0]; l.Args = l.Args[1:] }},
		{"K-9", "an argument that is no node", invalid, func(k *formats.Key) { k.Circuits[1].Lookups[0].Args[1] = math.MaxUint32 }},
		{"K-9", "a multiplicity that is no node", invalid, func(k *formats.Key) { c := &k.Circuits[1]; c.Lookups[0].Multiplicity = uint32(len(c.Nodes)) }},
		{"K-9", "a push without weight", invalid, func(k *formats.Key) { k.Circuits[1].Lookups[1].Weight = 0 }},
		{"K-9", "a pull with a weight", invalid, func(k *formats.Key) { k.Circuits[1].Lookups[0].Weight = 1 }},
		{"K-9", "a lookup of too high a degree", invalid, func(k *formats.Key) {
			c := &k.Circuits[3]
			c.Constraints = nil
			c.Nodes = append(c.Nodes, formats.Node{Op: formats.OpMain})
			at := uint32(len(c.Nodes) - 1)
			for range 3 {
				c.Nodes = append(c.Nodes, formats.Node{Op: formats.OpMul, A: uint64(at), B: at})
				at++
			}
			c.Lookups[0].Multiplicity = at
		}},
		{"K-10", "a period that is no power of two", invalid, func(k *formats.Key) { k.Circuits[1].Periodic[0] = elements(1, 2, 3) }},
		{"K-10", "a period longer than the least height", invalid, func(k *formats.Key) { k.Circuits[1].Periodic[0] = elements(make([]uint64, 8)...) }},
		{"K-10", "a single row", invalid, func(k *formats.Key) { k.Circuits[4].MinLogHeight = 0 }},
		{"K-10", "a fixed trace below the least height", invalid, func(k *formats.Key) { k.Circuits[0].MinLogHeight = 5 }},
		{"K-11", "no main column", invalid, func(k *formats.Key) { k.Circuits[0].Columns = 0 }},
		{"K-11", "a fixed trace without columns", invalid, func(k *formats.Key) { k.Circuits[0].Fixed[0].Columns = 0 }},
		{"K-11", "nothing to prove", invalid, func(k *formats.Key) { k.Circuits[4].Constraints = nil }},
	} {
		t.Run(c.check+" "+c.name, func(t *testing.T) {
			k := toyKey(t)
			c.change(k)
			data, err := encode.Key(k)
			if err != nil {
				t.Fatal(err)
			}
			_, err = verifier.ParseKey(data)
			refused(t, err, c.check, c.class)
		})
	}
}

// power replaces a circuit's first constraint by a power of a column or selector, under a bound.
func power(c *formats.Circuit, op formats.Op, exponent int, bound uint8) {
	c.Degree = bound
	c.Nodes = append(c.Nodes, formats.Node{Op: op})
	base := uint32(len(c.Nodes) - 1)
	at := base
	for range exponent - 1 {
		c.Nodes = append(c.Nodes, formats.Node{Op: formats.OpMul, A: uint64(at), B: base})
		at = uint32(len(c.Nodes) - 1)
	}
	c.Constraints[0] = at
}

// TestKeyBytesChecks reaches the checks on a key's bytes, before it is decoded.
func TestKeyBytesChecks(t *testing.T) {
	for _, c := range []struct {
		check, name string
		class       formats.Class
		change      func(data []byte) []byte
	}{
		{"K-1", "longer than 16 MiB", formats.Limit, func(b []byte) []byte { return append(b, make([]byte, formats.MaxKeyBytes)...) }},
		{"K-1", "something follows", formats.Malformed, func(b []byte) []byte { return append(b, 0) }},
		{"K-1", "cut short", formats.Malformed, func(b []byte) []byte { return b[:len(b)-1] }},
		{"K-2", "another kind", formats.Incompatible, func(b []byte) []byte { b[3] = 'j'; return b }},
		{"K-2", "another version", formats.Incompatible, func(b []byte) []byte { b[15] = 2; return b }},
	} {
		t.Run(c.check+" "+c.name, func(t *testing.T) {
			_, err := verifier.ParseKey(c.change(bytes.Clone(samples()["toy"].pk.Encoded)))
			refused(t, err, c.check, c.class)
		})
	}
}

// TestCircuitChecks hands circuits to the check that no encoding can carry.
func TestCircuitChecks(t *testing.T) {
	for _, c := range []struct {
		check, name string
		change      func(c *formats.Circuit)
	}{
		{"K-7", "a constant that is not canonical", func(c *formats.Circuit) { c.Nodes[0] = formats.Node{Op: formats.OpConst, A: formats.Modulus} }},
		{"K-7", "an unknown operation", func(c *formats.Circuit) { c.Nodes[0] = formats.Node{Op: formats.NumOps} }},
		{"K-10", "a least height above the limit", func(c *formats.Circuit) { c.MinLogHeight = formats.MaxLogHeight + 1 }},
		{"K-10", "a fixed height above the limit", func(c *formats.Circuit) {
			c.Fixed = []formats.Fixed{{Columns: 1, LogHeight: formats.MaxLogHeight + 1}}
		}},
		{"K-10", "a periodic column without values", func(c *formats.Circuit) { c.Periodic = []formats.Elements{nil} }},
		{"K-10", "a period above the limit", func(c *formats.Circuit) {
			c.Periodic, c.MinLogHeight = []formats.Elements{make(formats.Elements, 16<<formats.MaxPeriodLog)}, formats.MaxLogHeight
		}},
		{"K-9", "a weight above the limit", func(c *formats.Circuit) {
			c.Lookups = []formats.Lookup{{Push: true, Channel: 2, Weight: formats.MaxLookupWeight + 1, Args: []uint32{0}}}
		}},
		{"K-11", "too many main columns", func(c *formats.Circuit) { c.Columns = formats.MaxColumns + 1 }},
		{"K-11", "too many fixed columns", func(c *formats.Circuit) { c.Fixed = []formats.Fixed{{Columns: formats.MaxColumns + 1, LogHeight: 4}} }},
	} {
		t.Run(c.check+" "+c.name, func(t *testing.T) {
			k := toyKey(t)
			c.change(&k.Circuits[circuitQuiet])
			_, err := air.CheckCircuit(&k.Circuits[circuitQuiet], k.Channels, 2, 1)
			refused(t, err, c.check, formats.Invalid)
		})
	}
}

// TestToyHasEverything keeps the toy system rich enough for the attacks.
func TestToyHasEverything(t *testing.T) {
	c := samples()["toy"].pk.Circuits
	ladder := c[circuitLadder]
	if len(c[circuitRange].NextFixed) == 0 || len(ladder.NextMain) == 0 || len(ladder.Periodic) == 0 || ladder.LogPeriod != 2 || c[circuitQuiet].HasLookups() {
		t.Error("the toy system lost something")
	}
	several := false
	for _, g := range ladder.Groups {
		several = several || g.End-g.First > 1
	}
	if !several || len(ladder.Groups) < 2 {
		t.Errorf("lookups are grouped as %v", ladder.Groups)
	}
	for i := range c {
		t.Logf("%s: degree %d, %d slices, groups %v", c[i].Name, c[i].Degree, c[i].Slices(), c[i].Groups)
	}
}
