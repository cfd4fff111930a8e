package prover_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/fri"
	"github.com/ixprove/ixprove/verifier/hash"
)

// TestBytesChecks reaches the checks on a proof's bytes, before it is decoded.
func TestBytesChecks(t *testing.T) {
	const (
		kindAt    = 3  // "ixprove-proof" follows the map's head, key 0 and its own head
		versionAt = 17 // after key 1
	)
	for _, c := range []struct {
		check, name string
		class       formats.Class
		change      func(data []byte) []byte
	}{
		{"P-1", "longer than the policy allows", formats.Limit, func(b []byte) []byte { return append(b, 0) }},
		{"P-2", "not a map", formats.Malformed, func([]byte) []byte { return []byte{0x80} }},
		{"P-2", "another number of fields", formats.Malformed, func(b []byte) []byte { b[0]++; return b }},
		{"P-2", "a map too small for a kind", formats.Malformed, func(b []byte) []byte { b[0] = 0xa1; return b[:versionAt-1] }},
		{"P-2", "nothing", formats.Malformed, func([]byte) []byte { return nil }},
		{"P-2", "a key out of order", formats.Malformed, func(b []byte) []byte { b[versionAt+1] = 3; return b }},
		{"P-2", "a digest of 31 bytes", formats.Malformed, func(b []byte) []byte {
			b[versionAt+3] = 31
			return append(b[:versionAt+4+31], b[versionAt+4+32:]...)
		}},
		{"P-2", "the shortest head is not used", formats.Malformed, func(b []byte) []byte {
			return append(append(bytes.Clone(b[:versionAt]), 0x18, 1), b[versionAt+1:]...)
		}},
		{"P-2", "a head is cut", formats.Malformed, func(b []byte) []byte { return append(b[:versionAt], 0x1b, 1) }},
		{"P-2", "an item of the wrong type", formats.Malformed, func(b []byte) []byte { b[versionAt] = 0x21; return b }},
		{"P-2", "something follows", formats.Malformed, func(b []byte) []byte { return append(b[:len(b)-1], b[len(b)-1], 0)[:len(b)+1] }},
		{"P-2", "a claim more than the limit", formats.Malformed, func(b []byte) []byte {
			p, _ := formats.DecodeProof(bytes.Clone(b), len(b))
			p.Claims = nil
			rest, _ := encodeProof(p)
			claims := bytes.Repeat([]byte{0x83, 0, 0x40, 0x40}, formats.MaxClaims+1)
			return slices.Concat(b[:claimsAt], []byte{0x9a, 0, 1, 0, 1}, claims, rest[claimsAt+1:])
		}},
		{"P-2", "a list longer than the data", formats.Malformed, func(b []byte) []byte { b[claimsAt] = 0x98; b[claimsAt+1] = 0xff; return b[:claimsAt+9] }},
		{"P-2", "a string longer than the data", formats.Malformed, func(b []byte) []byte { return b[:versionAt+20] }},
		{"P-2", "a name with an unprintable byte", formats.Malformed, func(b []byte) []byte { b[kindAt] = '\n'; return b }},
		{"P-2", "a name with a delete", formats.Malformed, func(b []byte) []byte { b[kindAt] = 0x7f; return b }},
		{"P-2", "a name that is too long", formats.Malformed, func(b []byte) []byte {
			return slices.Concat(b[:kindAt-1], []byte{0x78, formats.MaxNameBytes + 1}, bytes.Repeat([]byte("x"), formats.MaxNameBytes+1), b[versionAt-1:])
		}},
		{"P-2", "an empty name", formats.Malformed, func(b []byte) []byte { return slices.Concat(b[:kindAt-1], []byte{0x60}, b[versionAt-1:]) }},
		{"P-2", "a digest of 33 bytes", formats.Malformed, func(b []byte) []byte {
			return slices.Concat(b[:versionAt+3], []byte{33}, b[versionAt+4:versionAt+4+32], []byte{0}, b[versionAt+4+32:])
		}},
		{"P-2", "an integer above its limit", formats.Malformed, func(b []byte) []byte {
			return append(append(bytes.Clone(b[:claimsAt+2]), 0x1b, 0, 0, 0, 1, 0, 0, 0, 0), b[claimsAt+3:]...)
		}},
		{"P-3", "another kind", formats.Incompatible, func(b []byte) []byte { b[kindAt] = 'j'; return b }},
		{"P-3", "another version", formats.Incompatible, func(b []byte) []byte { b[versionAt]++; return b }},
	} {
		t.Run(c.check+" "+c.name, func(t *testing.T) {
			s := samples()["toy"]
			limit := policy
			limit.MaxProofBytes = len(s.data)
			if c.check != "P-1" {
				limit.MaxProofBytes = 1 << 20
			}
			_, err := verify(t, s.pk.Key, c.change(append(make([]byte, 0, len(s.data)+8), s.data...)), limit)
			refused(t, err, c.check, c.class)
		})
	}
}

// TestNotOurFile asks for an error that says what to do, where any other item than a map was given.
func TestNotOurFile(t *testing.T) {
	_, err := verifier.Verify(samples()["toy"].pk.Key, []byte("%PDF-1.7"), policy)
	refused(t, err, "P-2", formats.Malformed)
	if !strings.Contains(err.Error(), "not a batch proof") || !strings.Contains(err.Error(), "right file") {
		t.Error(err)
	}
}

// TestDeclaredLengths declares lists that the data cannot hold: nothing is allocated for them.
func TestDeclaredLengths(t *testing.T) {
	data := append(bytes.Clone(samples()["toy"].data[:claimsAt]), 0x9a, 0, 1, 0, 0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := formats.DecodeProof(data, len(data))
	runtime.ReadMemStats(&after)
	refused(t, err, "P-2", formats.Malformed)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<16 {
		t.Errorf("%d bytes allocated for %d bytes of data", used, len(data))
	}
}

// claimsAt is where the list of claims starts: kind, version and key take 1 + 15 + 2 + 35 bytes, and the list's own key one.
const claimsAt = 1 + 15 + 2 + 35 + 1

// TestNonCanonicalElements replaces each small element v of a proof by v + p, which its 8 bytes can hold.
func TestNonCanonicalElements(t *testing.T) {
	s := samples()["toy"]
	p := s.proof(t)
	shard := &p.Shards[0]
	for name, e := range map[string]formats.Elements{
		"claim": p.Claims[0].Args, "pins": shard.Pins, "sums": shard.Sums, "openings": shard.Openings, "final": shard.Final,
		"rows": shard.Trees[1].Rows, "layer": shard.Layers[0].Rows,
	} {
		for i := range min(e.Len(), 40) {
			was := e.At(i)
			binary.LittleEndian.PutUint64(e[8*i:], was%math.MaxUint32+formats.Modulus)
			at := bytes.Index(s.data, binary.LittleEndian.AppendUint64(nil, was))
			data := bytes.Clone(s.data)
			copy(data[at:], e[8*i:8*i+8])
			binary.LittleEndian.PutUint64(e[8*i:], was)
			if was > math.MaxUint32 || name == "claim" { // zero and others may occur elsewhere first
				_, err := verify(t, s.pk.Key, data, policy)
				refused(t, err, "P-2", formats.Malformed)
			}
		}
	}
}

// TestProofChecks changes a decoded proof, encodes it again, and expects the one check that the change is made for.
func TestProofChecks(t *testing.T) {
	for _, c := range []struct {
		check, name string
		sample      string
		change      func(p *formats.Proof)
	}{
		{"P-5", "no claim", "toy", func(p *formats.Proof) { p.Claims = nil }},
		{"P-6", "the next entry", "toy", func(p *formats.Proof) { p.Claims[0].Entry = 2 }},
		{"P-6", "the last number", "toy", func(p *formats.Proof) { p.Claims[0].Entry = math.MaxUint32 }},
		{"P-7", "an argument more", "toy", func(p *formats.Proof) { p.Claims[0].Args = elements(1, 2) }},
		{"P-7", "a result less", "toy", func(p *formats.Proof) { p.Claims[0].Results = nil }},
		{"P-7", "a result moved to the arguments", "toy", func(p *formats.Proof) {
			c := &p.Claims[0]
			c.Args, c.Results = append(bytes.Clone(c.Args), c.Results...), nil
		}},
		{"P-8", "2^32 for a u32", "toy", func(p *formats.Proof) { p.Claims[0].Args = elements(1 << 32) }},
		{"P-8", "half of a u64", "toy", func(p *formats.Proof) { p.Claims[2].Args = elements(5+1<<32, 0) }},
		{"P-10", "no shard", "toy", func(p *formats.Proof) { p.Shards = nil }},
		{"P-11", "no table", "shards", func(p *formats.Proof) { p.Shards[1].Tables = nil }},
		{"P-12", "the next circuit", "toy", func(p *formats.Proof) { p.Shards[0].Tables[5].Circuit = 5 }},
		{"P-12", "the last number", "toy", func(p *formats.Proof) { p.Shards[0].Tables[5].Circuit = math.MaxUint32 }},
		{"P-13", "circuits out of order", "toy", func(p *formats.Proof) { s := p.Shards[0].Tables; s[3], s[4] = s[4], s[3] }},
		{"P-13", "heights out of order", "toy", func(p *formats.Proof) { s := p.Shards[0].Tables; s[1], s[2] = s[2], s[1] }},
		{"P-13", "a fixed table twice", "toy", func(p *formats.Proof) { s := p.Shards[0].Tables; s[1] = s[0] }},
		{"P-14", "below the circuit's minimum", "toy", func(p *formats.Proof) { p.Shards[0].Tables[2].LogHeight = 1 }},
		{"P-14", "a single row", "toy", func(p *formats.Proof) { p.Shards[0].Tables[5].LogHeight = 0 }},
		{"P-15", "a taller fixed table", "toy", func(p *formats.Proof) { p.Shards[0].Tables[0].LogHeight++ }},
		{"P-15", "a lower fixed table", "toy", func(p *formats.Proof) { p.Shards[0].Tables[0].LogHeight-- }},
		{"P-18", "no auxiliary root", "toy", func(p *formats.Proof) { p.Shards[0].Aux = nil }},
		{"P-18", "an auxiliary root without lookups", "shards", func(p *formats.Proof) { p.Shards[2].Aux = make([]formats.Digest, 1) }},
		{"P-19", "a sum less", "toy", func(p *formats.Proof) { s := &p.Shards[0]; s.Sums = s.Sums[24:] }},
		{"P-19", "a sum more", "toy", func(p *formats.Proof) { s := &p.Shards[0]; s.Sums = append(s.Sums, make([]byte, 24)...) }},
		{"P-19", "a sum without lookups", "shards", func(p *formats.Proof) { p.Shards[2].Sums = elements(0, 0, 0) }},
		{"P-20", "an opening less", "toy", func(p *formats.Proof) { s := &p.Shards[0]; s.Openings = s.Openings[24:] }},
		{"P-20", "an opening more", "toy", func(p *formats.Proof) { s := &p.Shards[0]; s.Openings = append(s.Openings, make([]byte, 24)...) }},
		{"P-20", "a pin less", "toy", func(p *formats.Proof) { s := &p.Shards[0]; s.Pins = s.Pins[24:] }},
		{"P-20", "a pin more", "toy", func(p *formats.Proof) { s := &p.Shards[0]; s.Pins = append(s.Pins, make([]byte, 24)...) }},
		{"P-20", "a table taken for another circuit", "toy", func(p *formats.Proof) { p.Shards[0].Tables[3].Circuit = circuitEcho }},
		{"P-21", "a layer root less", "toy", func(p *formats.Proof) { s := &p.Shards[0]; s.LayerRoot = s.LayerRoot[1:] }},
		{"P-21", "a layer root more", "toy", func(p *formats.Proof) { s := &p.Shards[0]; s.LayerRoot = append(s.LayerRoot, s.LayerRoot[0]) }},
		{"P-21", "a height that needs another schedule", "toy", func(p *formats.Proof) { p.Shards[0].Tables[1].LogHeight = 15 }},
		{"P-22", "half of the final polynomial", "toy", func(p *formats.Proof) { s := &p.Shards[0]; s.Final = s.Final[24:] }},
		{"P-22", "a final polynomial twice as long", "toy", func(p *formats.Proof) { s := &p.Shards[0]; s.Final = append(s.Final, make([]byte, len(s.Final))...) }},
		{"P-23", "a multiproof less", "toy", func(p *formats.Proof) { s := &p.Shards[0]; s.Trees = s.Trees[1:] }},
		{"P-23", "a multiproof more", "toy", func(p *formats.Proof) { s := &p.Shards[0]; s.Trees = append(s.Trees, formats.Opening{}) }},
		{"P-23", "a layer's multiproof less", "toy", func(p *formats.Proof) { s := &p.Shards[0]; s.Layers = s.Layers[1:] }},
		{"P-23", "a layer's multiproof more", "toy", func(p *formats.Proof) { s := &p.Shards[0]; s.Layers = append(s.Layers, formats.Opening{}) }},
		{"P-25", "a sum changed", "toy", func(p *formats.Proof) { bump(p.Shards[0].Sums, 4) }},
		{"P-25", "a claim's argument changed", "toy", func(p *formats.Proof) { bump(p.Claims[0].Args, 0) }},
		{"P-25", "a claim's result changed", "toy", func(p *formats.Proof) { bump(p.Claims[3].Results, 0) }},
		{"P-25", "claims in another order", "toy", func(p *formats.Proof) { p.Claims[0], p.Claims[1] = p.Claims[1], p.Claims[0] }},
		{"P-25", "a claim less", "toy", func(p *formats.Proof) { p.Claims = p.Claims[1:] }},
		{"P-25", "a claim twice", "toy", func(p *formats.Proof) { p.Claims = append(p.Claims, p.Claims[0]) }},
		{"P-25", "a shard less", "shards", func(p *formats.Proof) { p.Shards = p.Shards[:2] }},
		{"P-25", "a shard twice", "shards", func(p *formats.Proof) { p.Shards = append(p.Shards, p.Shards[2]) }},
		{"P-25", "shards in another order", "shards", func(p *formats.Proof) { p.Shards[0], p.Shards[1] = p.Shards[1], p.Shards[0] }},
		{"P-25", "another main root", "toy", func(p *formats.Proof) { p.Shards[0].Main[0]++ }},
		{"P-25", "another pin", "toy", func(p *formats.Proof) { bump(p.Shards[0].Pins, 7) }},
		{"P-27", "another auxiliary root", "toy", func(p *formats.Proof) { p.Shards[0].Aux[0][31]++ }},
		{"P-27", "another quotient root", "toy", func(p *formats.Proof) { p.Shards[0].Quotient[0]++ }},
		{"P-27", "an opening changed", "toy", func(p *formats.Proof) { bump(p.Shards[0].Openings, 100) }},
		{"P-27", "openings of two columns swapped", "toy", func(p *formats.Proof) {
			e := p.Shards[0].Openings
			a, b := bytes.Clone(e[:24]), bytes.Clone(e[24:48])
			copy(e, b)
			copy(e[24:], a)
		}},
		{"P-27", "sums of two tables swapped", "toy", func(p *formats.Proof) {
			e := p.Shards[0].Sums
			a := bytes.Clone(e[:24])
			copy(e, e[24:48])
			copy(e[24:], a)
		}},
		{"P-28", "a nonce that is not ground", "toy", func(p *formats.Proof) { p.Shards[0].Nonce = unground(p) }},
		{"P-29", "a row more", "toy", func(p *formats.Proof) { o := &p.Shards[0].Trees[1]; o.Rows = append(o.Rows, o.Rows...) }},
		{"P-29", "an element less", "toy", func(p *formats.Proof) { o := &p.Shards[0].Trees[0]; o.Rows = o.Rows[8:] }},
		{"P-29", "no row", "toy", func(p *formats.Proof) { p.Shards[0].Trees[3].Rows = nil }},
		{"P-30", "a sibling less", "toy", func(p *formats.Proof) { o := &p.Shards[0].Trees[1]; o.Siblings = o.Siblings[32:] }},
		{"P-30", "no sibling", "toy", func(p *formats.Proof) { p.Shards[0].Trees[2].Siblings = nil }},
		{"P-30", "a sibling more", "toy", func(p *formats.Proof) {
			o := &p.Shards[0].Trees[3]
			o.Siblings = append(o.Siblings, make([]byte, 32)...)
		}},
		{"P-31", "a fixed element changed", "toy", func(p *formats.Proof) { bump(p.Shards[0].Trees[0].Rows, 0) }},
		{"P-31", "a main element changed", "toy", func(p *formats.Proof) { bump(p.Shards[0].Trees[1].Rows, 0) }},
		{"P-31", "a sibling changed", "toy", func(p *formats.Proof) { p.Shards[0].Trees[2].Siblings[40]++ }},
		{"P-31", "two quotient rows swapped", "toy", func(p *formats.Proof) {
			e := p.Shards[0].Trees[3].Rows
			n := 12 * 8
			a := bytes.Clone(e[:n])
			copy(e, e[n:2*n])
			copy(e[n:], a)
		}},
		{"P-37", "the main root under another name", "root", func(p *formats.Proof) { alias(p.Shards[0].Main[:]) }},
		{"P-37", "the auxiliary root under another name", "root", func(p *formats.Proof) { alias(p.Shards[0].Aux[0][:]) }},
		{"P-37", "the quotient root under another name", "root", func(p *formats.Proof) { alias(p.Shards[0].Quotient[:]) }},
		{"P-37", "a layer root under another name", "root", func(p *formats.Proof) { alias(p.Shards[0].LayerRoot[1][:]) }},
		{"P-37", "a sibling under another name", "root", func(p *formats.Proof) { alias(p.Shards[0].Trees[1].Siblings[32:64]) }},
		{"P-37", "the last sibling of a tree under another name", "root", func(p *formats.Proof) { s := p.Shards[0].Trees[3].Siblings; alias(s[len(s)-32:]) }},
		{"P-37", "a sibling of a layer under another name", "root", func(p *formats.Proof) { alias(p.Shards[0].Layers[0].Siblings[:32]) }},
		{"P-37", "ones", "root", func(p *formats.Proof) { copy(p.Shards[0].Trees[1].Siblings, bytes.Repeat([]byte{255}, 32)) }},
		{"P-31", "a sibling of the other suite", "root", func(p *formats.Proof) { p.Shards[0].Trees[1].Siblings[0] ^= 1 }},
		{"P-31", "an element moved into the next row", "toy", func(p *formats.Proof) {
			e := p.Shards[0].Trees[1].Rows
			first := bytes.Clone(e[:8])
			copy(e, e[8:])
			copy(e[len(e)-8:], first)
		}},
		{"P-32", "a value more", "toy", func(p *formats.Proof) { o := &p.Shards[0].Layers[0]; o.Rows = append(o.Rows, o.Rows[:24]...) }},
		{"P-32", "a coefficient less", "toy", func(p *formats.Proof) { o := &p.Shards[0].Layers[1]; o.Rows = o.Rows[8:] }},
		{"P-33", "a sibling less", "toy", func(p *formats.Proof) { o := &p.Shards[0].Layers[0]; o.Siblings = o.Siblings[32:] }},
		{"P-33", "a sibling more", "toy", func(p *formats.Proof) {
			o := &p.Shards[0].Layers[2]
			o.Siblings = append(o.Siblings, make([]byte, 32)...)
		}},
		{"P-34", "a value changed", "toy", func(p *formats.Proof) { bump(p.Shards[0].Layers[1].Rows, 1) }},
		{"P-34", "a sibling changed", "toy", func(p *formats.Proof) { p.Shards[0].Layers[0].Siblings[3]++ }},
	} {
		t.Run(c.check+" "+c.name, func(t *testing.T) {
			s := samples()[c.sample]
			p := s.proof(t)
			c.change(p)
			_, err := verify(t, s.pk.Key, encoded(t, p), policy)
			refused(t, err, c.check, formats.Rejected)
		})
	}
}

// alias adds r, the order of BN254, to a digest of poseidon2-bn254: the same element in other bytes.
func alias(d []byte) {
	r := fr.Modulus().FillBytes(make([]byte, 32))
	carry := 0
	for i := range d {
		carry += int(d[i]) + int(r[31-i])
		d[i], carry = byte(carry), carry>>8
	}
}

// TestLimitChecks reaches limits that no encoding can exceed, at the functions that provers call with what was never encoded.
func TestLimitChecks(t *testing.T) {
	key := samples()["toy"].pk.Key
	tables := func(tables ...formats.Table) error {
		_, err := verifier.CheckTables(key, 0, tables)
		return err
	}
	for _, c := range []struct {
		check, name string
		err         error
	}{
		{"P-5", "more claims than the limit", verifier.CheckClaims(key, make([]formats.Claim, formats.MaxClaims+1))},
		{"P-11", "more tables than the limit", tables(slices.Repeat([]formats.Table{{Circuit: circuitQuiet, LogHeight: 1}}, formats.MaxTables+1)...)},
		{"P-14", "a height above the limit", tables(formats.Table{Circuit: circuitQuiet, LogHeight: formats.MaxLogHeight + 1})},
	} {
		t.Run(c.check+" "+c.name, func(t *testing.T) { refused(t, c.err, c.check, formats.Rejected) })
	}
}

// bump adds 1 to an element of a vector that the caller owns.
func bump(e formats.Elements, i int) {
	binary.LittleEndian.PutUint64(e[8*i:], uint64(field.Add(field.Element(e.At(i)), 1)))
}

// unground is a nonce that P-28 refuses: one in four passes at the two bits of the profile dev.
func unground(p *formats.Proof) uint64 {
	s := samples()["toy"]
	q := *p
	q.Shards = append([]formats.Shard(nil), p.Shards...)
	for nonce := p.Shards[0].Nonce + 1; ; nonce++ {
		q.Shards[0].Nonce = nonce
		data, err := encodeProof(&q)
		if err != nil {
			return 0
		}
		if _, err := verifier.Verify(s.pk.Key, data, policy); err != nil && err.(*formats.Error).Check == "P-28" {
			return nonce
		}
	}
}

// TestPolicyChecks reaches the checks that depend on what the caller demands.
func TestPolicyChecks(t *testing.T) {
	s := samples()["toy"]
	changed := func(change func(c []formats.Claim) []formats.Claim) []formats.Claim { return change(s.proof(t).Claims) }
	for _, c := range []struct {
		check, name string
		class       formats.Class
		key         *verifier.Key
		policy      verifier.Policy
	}{
		{"P-4", "the key of another system", formats.Incompatible, samples()["fibonacci"].pk.Key, policy},
		{"P-9", "a claim more than expected", formats.Rejected, s.pk.Key, verifier.Policy{Insecure: true, Claims: s.witness.Claims[1:]}},
		{"P-9", "no claim was expected", formats.Rejected, s.pk.Key, verifier.Policy{Insecure: true, Claims: []formats.Claim{}}},
		{"P-9", "another result", formats.Rejected, s.pk.Key, verifier.Policy{Insecure: true, Claims: changed(func(c []formats.Claim) []formats.Claim {
			bump(c[3].Results, 0)
			return c
		})}},
		{"P-9", "another argument", formats.Rejected, s.pk.Key, verifier.Policy{Insecure: true, Claims: changed(func(c []formats.Claim) []formats.Claim {
			bump(c[0].Args, 0)
			return c
		})}},
		{"P-9", "another entry", formats.Rejected, s.pk.Key, verifier.Policy{Insecure: true, Claims: changed(func(c []formats.Claim) []formats.Claim {
			c[0].Entry++
			return c
		})}},
		{"P-9", "another order", formats.Rejected, s.pk.Key, verifier.Policy{Insecure: true, Claims: changed(func(c []formats.Claim) []formats.Claim {
			c[0], c[1] = c[1], c[0]
			return c
		})}},
		{"P-17", "the default policy on profile dev", formats.Rejected, s.pk.Key, verifier.Policy{}},
		{"P-17", "a few bits are still too many", formats.Rejected, s.pk.Key, verifier.Policy{MinBits: 40}},
	} {
		t.Run(c.check+" "+c.name, func(t *testing.T) {
			_, err := verify(t, c.key, s.data, c.policy)
			refused(t, err, c.check, c.class)
		})
	}
}

// TestP17Digests asks more of digests than a suite has. By default they need what both suites have.
func TestP17Digests(t *testing.T) {
	for name, most := range map[string]int{"toy": 128, "root": 126} {
		s := samples()[name]
		for bits, ok := range map[int]bool{0: true, most: true, most + 1: false} {
			r, err := verifier.Verify(s.pk.Key, s.data, verifier.Policy{MinBits: 1, MinDigestBits: bits})
			if ok && (err != nil || r.DigestBits != most) {
				t.Errorf("%s, %d bits: %v", name, bits, err)
			}
			if !ok {
				refused(t, err, "P-17", formats.Rejected)
			}
		}
	}
}

// TestP36Work has a key whose constraints take long, in many tables.
func TestP36Work(t *testing.T) {
	s := air.NewSystem("busy")
	ch := s.Channel("entry", 1)
	s.Entry("entry", ch, []formats.Value{{Name: "x", Type: formats.TypeField}}, nil)
	c := s.Circuit("busy")
	x := c.Column("x")
	sum := x
	for i := range field.Element(1 << 14) {
		sum = sum.Add(c.Const(i + 1))
	}
	c.Pull(ch, c.First(), sum.Sub(sum))
	pk := keygen(t, s, hash.Blake3{})
	w := &prover.Witness{
		Claims: []formats.Claim{{Args: elements(0)}},
		Shards: []prover.Shard{{Tables: []prover.Table{{LogHeight: 4, Trace: newTrace(1, 4)}}}},
	}
	data := proveWith(t, cpu.Backend{}, pk, w)
	if _, err := verify(t, pk.Key, data, policy); err != nil {
		t.Fatal(err)
	}
	// 2^15 operations a table.
	p, err := formats.DecodeProof(bytes.Clone(data), len(data))
	if err != nil {
		t.Fatal(err)
	}
	p.Shards[0].Tables = make([]formats.Table, formats.MaxTables)
	for i := range p.Shards[0].Tables {
		p.Shards[0].Tables[i].LogHeight = 4
	}
	for range 4 {
		p.Shards = append(p.Shards, p.Shards[0])
	}
	_, err = verify(t, pk.Key, encoded(t, p), policy)
	refused(t, err, "P-36", formats.Limit)
	for range formats.MaxTables {
		w.Shards = append(w.Shards, w.Shards[0])
	}
	for i := range w.Shards[:5] {
		w.Shards[i].Tables = slices.Repeat(w.Shards[0].Tables[:1], formats.MaxTables)
	}
	if _, err := prover.Shapes(pk.Key, &prover.Witness{Claims: w.Claims, Shards: w.Shards[:5]}); err == nil {
		t.Error("the prover takes a witness that no verifier accepts")
	}
}

// TestP2BatchLimits has a table, and a tree, more in all shards than a proof may have. The encoder refuses to write such a proof, so one that is allowed is lengthened by a shard.
func TestP2BatchLimits(t *testing.T) {
	for name, change := range map[string]func(s *formats.Shard){
		"tables": func(s *formats.Shard) { s.Tables = make([]formats.Table, formats.MaxTables) },
		"trees":  func(s *formats.Shard) { s.Trees = make([]formats.Opening, formats.MaxOpeningSets) },
	} {
		const most = formats.MaxBatchTables / formats.MaxTables
		s := samples()["toy"]
		p := s.proof(t)
		change(&p.Shards[0])
		shards := func(n int) []byte {
			p.Shards = slices.Repeat(p.Shards[:1], n)
			return encoded(t, p)
		}
		fewer, full := shards(most-1), shards(most)
		shard := full[len(fewer):]
		data := bytes.Clone(full)
		for n := most; n < most+3; n++ { // trees have some room above that of tables
			head := []byte{0x98, byte(n)}
			at := len(full) - most*len(shard) - len(head)
			if !bytes.Equal(data[at:at+2], head) {
				t.Fatalf("%s: the list of shards starts with %x", name, data[at:at+2])
			}
			data[at+1]++
			data = append(data, shard...)
		}
		_, err := verify(t, s.pk.Key, data, policy)
		refused(t, err, "P-2", formats.Malformed)
	}
}

// TestP16Weights proves nothing: a system whose weights reach p in a batch that is small enough to state.
func TestP16Weights(t *testing.T) {
	s := air.NewSystem("heavy")
	ch, entry := s.Channel("noise", 0), s.Channel("entry", 1)
	s.Entry("entry", entry, []formats.Value{{Name: "x", Type: formats.TypeField}}, nil)
	c := s.Circuit("heavy")
	x := c.Column("x")
	for range 64 {
		c.Push(ch, c.Const(0), formats.MaxLookupWeight)
	}
	c.Pull(ch, c.Const(0))
	c.Pull(entry, c.First(), x)
	pk := keygen(t, s, hash.Blake3{})
	w := &prover.Witness{
		Claims: []formats.Claim{{Args: elements(0)}},
		Shards: []prover.Shard{{Tables: []prover.Table{{LogHeight: 4, Trace: newTrace(1, 4)}}}},
	}
	data := proveWith(t, cpu.Backend{}, pk, w)
	if _, err := verify(t, pk.Key, data, policy); err != nil {
		t.Fatal(err)
	}
	for _, tables := range [][]formats.Table{
		{{LogHeight: 26}},                                   // 2^26 · 2^38 = 2^64
		{{LogHeight: 27}},                                   // a product beyond 64 bits
		{{LogHeight: 25}, {LogHeight: 25}},                  // a sum that reaches p
		{{LogHeight: 25}, {LogHeight: 24}, {LogHeight: 24}}, // and in parts
	} {
		p, err := formats.DecodeProof(bytes.Clone(data), len(data))
		if err != nil {
			t.Fatal(err)
		}
		p.Shards[0].Tables = tables
		_, err = verify(t, pk.Key, encoded(t, p), policy)
		refused(t, err, "P-16", formats.Rejected)
		// The same tables spread over shards.
		p.Shards[0].Tables = tables[:1]
		for _, table := range tables[1:] {
			more := p.Shards[0]
			more.Tables = []formats.Table{table}
			p.Shards = append(p.Shards, more)
		}
		_, err = verify(t, pk.Key, encoded(t, p), policy)
		refused(t, err, "P-16", formats.Rejected)
	}
	w.Shards[0].Tables[0].LogHeight = 26
	if _, err := prover.Shapes(pk.Key, w); err == nil {
		t.Error("the prover takes a witness that no verifier accepts")
	}
}

// rigged is blake3 but for the output of chosen challenges: the first elements of the n-th squeezed state are words of ours.
type rigged struct {
	hash.Blake3
	states *[]hash.Digest // in the order in which they were first squeezed
	words  map[int][]uint64
}

func rig(words map[int][]uint64) rigged { return rigged{states: new([]hash.Digest), words: words} }

func (r rigged) Squeeze(state *hash.Digest, block uint64) ([4]uint64, int) {
	n := 0
	for n < len(*r.states) && (*r.states)[n] != *state {
		n++
	}
	if n == len(*r.states) {
		*r.states = append(*r.states, *state)
	}
	out, count := r.Blake3.Squeeze(state, block)
	if words, ok := r.words[n]; ok && 4*int(block) < len(words) {
		copy(out[:], words[4*block:])
	}
	return out, count
}

// The order of the challenges: pins, lookups, then of each shard delta, zeta, lambda, a beta a layer, and the queries.
const (
	challengePin = iota
	challengeLookup
	challengeFold
	challengeZeta
)

// verifyRigged verifies the sample under a suite whose challenges are ours. The checks before the one expected must not depend on the challenges.
func verifyRigged(t *testing.T, data []byte, words map[int][]uint64) error {
	t.Helper()
	key, err := verifier.ParseKey(samples()["toy"].pk.Encoded, rig(words))
	if err != nil {
		t.Fatal(err)
	}
	_, err = verify(t, key, data, policy)
	return err
}

// TestP24ZeroDenominator draws gamma = 0 and alpha = -1, so that messages of channel 1 have the fingerprint 0.
func TestP24ZeroDenominator(t *testing.T) {
	err := verifyRigged(t, samples()["toy"].data, map[int][]uint64{challengeLookup: {field.Modulus - 1, 0, 0, 0, 0, 0}})
	refused(t, err, "P-24", formats.Rejected)
}

// TestP26PinInField draws a pinning point in F.
func TestP26PinInField(t *testing.T) {
	err := verifyRigged(t, samples()["toy"].data, map[int][]uint64{challengePin: {49, 0, 0, 1, 2, 3}})
	refused(t, err, "P-26", formats.Rejected)
}

// TestP26ZetaInField draws an evaluation point in F: the honest proof of a prover whose challenges are as honest until then.
func TestP26ZetaInField(t *testing.T) {
	err := verifyRigged(t, samples()["toy"].data, map[int][]uint64{challengeZeta: {49, 0, 0, 0}})
	refused(t, err, "P-26", formats.Rejected)
}

// TestChallengesBelowModulus draws words that are no elements: they are skipped.
func TestChallengesBelowModulus(t *testing.T) {
	words := map[int][]uint64{challengeLookup: {field.Modulus, field.Modulus - 1, math.MaxUint64, 0, 0, 0, 0, 0}}
	refused(t, verifyRigged(t, samples()["toy"].data, words), "P-24", formats.Rejected)
}

// TestP28FreeNonce asks a verifier without proof of work, whose key no profile gives, whether the nonce is free.
func TestP28FreeNonce(t *testing.T) {
	s := samples()["toy"]
	key := *s.pk.Key
	key.Profile.GrindingBits = 0
	p := s.proof(t)
	p.Shards[0].Nonce = 1
	_, err := verify(t, &key, encoded(t, p), policy)
	refused(t, err, "P-28", formats.Rejected)
	// At 0 bits the nonce 0 passes, and the queries are others.
	p.Shards[0].Nonce = 0
	_, err = verify(t, &key, encoded(t, p), policy)
	if s.proof(t).Shards[0].Nonce != 0 {
		refused(t, err, "P-29", formats.Rejected)
	}
}

// TestP35FinalPolynomial needs a prover that lies about the last polynomial.
func TestP35FinalPolynomial(t *testing.T) {
	for _, name := range []string{"toy", "fibonacci"} {
		s := samples()[name]
		data := proveWith(t, cheat{hooks{final: func(f []field.Ext, _ *fri.Schedule) []field.Ext {
			f[0][0] = field.Add(f[0][0], 1)
			return f
		}}}, s.pk, s.witness)
		_, err := verify(t, s.pk.Key, data, policy)
		refused(t, err, "P-35", formats.Rejected)
	}
}

// TestDegenerateShapes proves and verifies at the edges: one table of the least height, all of one height, no layers.
func TestDegenerateShapes(t *testing.T) {
	pk := samples()["toy"].pk
	quiet := func(log int) prover.Table {
		return prover.Table{Circuit: circuitQuiet, LogHeight: log, Trace: newTrace(2, log)}
	}
	w := toyWitness(3)
	w.Shards[2].Tables = []prover.Table{quiet(1)}
	for _, tables := range [][]prover.Table{{quiet(1)}, {quiet(3), quiet(3)}, {quiet(6), quiet(6), quiet(6)}, {quiet(7), quiet(1)}, {quiet(2), quiet(1)}} {
		w.Shards[2].Tables = tables
		r, err := prover.Prove(context.Background(), pk, w, prover.Options{Backend: cpu.Backend{}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := formats.DecodeProof(r.Proof, len(r.Proof))
		if err != nil {
			t.Fatal(err)
		}
		s := &p.Shards[2]
		bump(s.Trees[0].Rows, 0)
		_, err = verify(t, pk.Key, encoded(t, p), policy)
		refused(t, err, "P-31", formats.Rejected)
	}
}

// TestClaimsAreAccounted states claims whose messages are longer than those of any table present: the lookup term counts their length.
func TestClaimsAreAccounted(t *testing.T) {
	key := samples()["toy"].pk.Key
	tables, err := verifier.CheckTables(key, 0, []formats.Table{{Circuit: circuitRange, LogHeight: rangeLog}})
	if err != nil {
		t.Fatal(err)
	}
	shape := verifier.Security([]*verifier.Shape{verifier.NewShape(key, tables)}, 1)
	if got := shape.Shards[0][0].LookupWidth; got != 5 { // low, high, y, the channel and the zero
		t.Errorf("%d coordinates, want 5", got)
	}
}
