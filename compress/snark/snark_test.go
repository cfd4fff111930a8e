package snark_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/ixprove/ixprove/compress/snark"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/formats/encode"
	"github.com/ixprove/ixprove/internal/toy"
)

var ctx = context.Background()

type sample struct {
	key  *snark.Key
	data []byte
}

// samples are a key and a proof of each kind.
var samples = sync.OnceValues(func() (map[string]sample, error) {
	provers, err := toy.Provers(ctx, filepath.Join("..", "srs", "testdata", "snarkjs-5.ptau"))
	if err != nil {
		return nil, err
	}
	out := map[string]sample{}
	for name, p := range provers {
		data, err := toy.Prove(ctx, p)
		if err != nil {
			return nil, err
		}
		out[name] = sample{p.Key, data}
	}
	return out, nil
})

func each(t *testing.T, do func(t *testing.T, s sample)) {
	t.Helper()
	list, err := samples()
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range list {
		t.Run(name, func(t *testing.T) { do(t, s) })
	}
}

var anything = snark.Policy{AllowInsecureSetup: true}

// changed is the proof after a change, encoded.
func (s sample) changed(t *testing.T, change func(r *formats.Root)) []byte {
	t.Helper()
	root, err := formats.DecodeRoot(s.data)
	if err != nil {
		t.Fatal(err)
	}
	root.Proof = slices.Clone(root.Proof)
	change(root)
	data, err := encode.Root(root)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func refused(t *testing.T, name string, err error, class formats.Class, check string) {
	t.Helper()
	var e *formats.Error
	if !errors.As(err, &e) || e.Class != class || e.Check != check {
		t.Errorf("%s: %v, want %v by %s", name, err, class, check)
	}
}

// TestChecks makes one change for each check of docs/compress.md, which only that check refuses.
func TestChecks(t *testing.T) {
	elements := func(v ...uint64) (e formats.Elements) {
		for _, x := range v {
			e = e.Append(x)
		}
		return e
	}
	each(t, func(t *testing.T, s sample) {
		if _, err := snark.Verify(s.key, s.data, anything); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name, check string
			class       formats.Class
			change      func(r *formats.Root)
		}{
			{"another backend", "R-4", formats.Incompatible, func(r *formats.Root) { r.Backend = "fflonk" }},
			{"another curve", "R-4", formats.Incompatible, func(r *formats.Root) { r.Curve = "bls12-381" }},
			{"another program", "R-5", formats.Incompatible, func(r *formats.Root) { r.Program[3] ^= 1 }},
			{"another protocol", "R-5", formats.Incompatible, func(r *formats.Root) { r.Protocol[3] ^= 1 }},
			{"another mode of setup", "R-6", formats.Incompatible, func(r *formats.Root) { r.Setup.Mode = "trusted" }},
			{"another source of the setup", "R-6", formats.Incompatible, func(r *formats.Root) { r.Setup.Source[0] ^= 1 }},
			{"another name of the setup", "R-6", formats.Incompatible, func(r *formats.Root) { r.Setup.Name = "Aztec Ignition" }},
			{"another key", "R-7", formats.Incompatible, func(r *formats.Root) { r.Key[0] ^= 1 }},
			{"a claim more", "R-10", formats.Rejected, func(r *formats.Root) { r.Claims = append(r.Claims, r.Claims[0]) }},
			{"no claim", "R-10", formats.Rejected, func(r *formats.Root) { r.Claims = nil }},
			{"an entry that is not there", "P-6", formats.Rejected, func(r *formats.Root) { r.Claims[0].Entry = 1 }},
			{"results among the arguments", "P-7", formats.Rejected, func(r *formats.Root) {
				r.Claims[0].Args, r.Claims[0].Results = append(slices.Clone(r.Claims[0].Args), r.Claims[0].Results...), nil
			}},
			{"a result out of range", "P-8", formats.Rejected, func(r *formats.Root) { r.Claims[0].Results = elements(2880067194370816120, 1<<32) }},
			{"another claim", "R-11", formats.Rejected, func(r *formats.Root) { r.Claims[0].Args = elements(91) }},
			{"another statement", "R-11", formats.Rejected, func(r *formats.Root) { r.Statement[31] ^= 1 }},
			{"a longer proof", "R-13", formats.Malformed, func(r *formats.Root) { r.Proof = append(r.Proof, 0) }},
			{"a shorter proof", "R-13", formats.Malformed, func(r *formats.Root) { r.Proof = r.Proof[1:] }},
			{"a point off the curve", "R-14", formats.Malformed, func(r *formats.Root) { r.Proof[63] ^= 1 }},
			{"a coordinate that is not reduced", "R-14", formats.Malformed, func(r *formats.Root) { add(r.Proof[:32], fp.Modulus().FillBytes(make([]byte, 32))) }},
			{"a compressed point", "R-14", formats.Malformed, func(r *formats.Root) { r.Proof[0] |= 0x80 }},
			{"another point", "R-15", formats.Rejected, func(r *formats.Root) {
				_, _, g, _ := bn254.Generators()
				raw := g.RawBytes()
				copy(r.Proof, raw[:])
			}},
		} {
			_, err := snark.Verify(s.key, s.changed(t, c.change), anything)
			refused(t, c.name, err, c.class, c.check)
		}
		// A statement about other claims, consistent with them: only the proof can tell.
		other := toy.Statement()
		other.Claims[31] ^= 1
		root, err := formats.DecodeRoot(s.data)
		if err != nil {
			t.Fatal(err)
		}
		refused(t, "another statement", s.key.VerifyProof(other, root.Proof), formats.Rejected, "R-15")
		if err := s.key.VerifyProof(toy.Statement(), root.Proof); err != nil {
			t.Error(err)
		}
		policy := anything
		policy.Claims = []formats.Claim{{Args: elements(89), Results: elements(1, 2)}}
		_, err = snark.Verify(s.key, s.data, policy)
		refused(t, "claims that were not expected", err, formats.Rejected, "R-12")
		policy = anything
		policy.MinBits = 129
		_, err = snark.Verify(s.key, s.data, policy)
		refused(t, "too few bits", err, formats.Rejected, "R-9")
		policy.Insecure = true
		if _, err = snark.Verify(s.key, s.data, policy); err != nil {
			t.Error(err)
		}
		_, err = snark.Verify(s.key, s.data, snark.Policy{})
		if s.key.Setup.Mode == formats.SetupInsecureDev {
			refused(t, "a development setup", err, formats.Rejected, "R-8")
		} else if err != nil {
			t.Error(err)
		}
	})
}

// TestDevProfile demands 128 bits unless told otherwise.
func TestDevProfile(t *testing.T) {
	list, err := samples()
	if err != nil {
		t.Fatal(err)
	}
	raw := list[toy.Plonk].key.RootKey
	raw.Bits = 127
	key, err := snark.NewKey(&raw)
	if err != nil {
		t.Fatal(err)
	}
	data := list[toy.Plonk].changed(t, func(r *formats.Root) { r.Key = key.Digest() })
	_, err = snark.Verify(key, data, snark.Policy{})
	refused(t, "127 bits", err, formats.Rejected, "R-9")
	if _, err := snark.Verify(key, data, snark.Policy{MinBits: 127}); err != nil {
		t.Error(err)
	}
}

// add adds big-endian numbers of equal length.
func add(to, v []byte) {
	carry := 0
	for i := len(to) - 1; i >= 0; i-- {
		carry += int(to[i]) + int(v[i])
		to[i] = byte(carry)
		carry >>= 8
	}
}

// TestEveryWordCounts changes each 32-byte word of a proof, once to another value and once to the same value not reduced.
func TestEveryWordCounts(t *testing.T) {
	each(t, func(t *testing.T, s sample) {
		root, err := formats.DecodeRoot(s.data)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(root.Proof); at += 32 {
			for name, change := range map[string]func(word []byte){
				"another value": func(w []byte) { w[31] ^= 1 },
				"r more":        func(w []byte) { add(w, fr.Modulus().FillBytes(make([]byte, 32))) },
				"p more":        func(w []byte) { add(w, fp.Modulus().FillBytes(make([]byte, 32))) },
				"zero":          func(w []byte) { clear(w) },
			} {
				proof := slices.Clone(root.Proof)
				if change(proof[at : at+32]); bytes.Equal(proof, root.Proof) {
					continue
				}
				if err := s.key.VerifyProof(toy.Statement(), proof); err == nil {
					t.Errorf("word %d, %s: accepted", at/32, name)
				}
			}
		}
	})
}

// TestForeignProofs checks each proof with each key.
func TestForeignProofs(t *testing.T) {
	list, err := samples()
	if err != nil {
		t.Fatal(err)
	}
	for a, s := range list {
		for b, other := range list {
			if _, err := snark.Verify(other.key, s.data, anything); (err == nil) != (a == b) || err != nil && !errors.Is(err, formats.Incompatible) {
				t.Errorf("%s under the key of %s: %v", a, b, err)
			}
		}
	}
}

func TestKeyChecks(t *testing.T) {
	each(t, func(t *testing.T, s sample) {
		for _, c := range []struct {
			name, check string
			class       formats.Class
			change      func(k *formats.RootKey)
		}{
			{"another backend", "S-3", formats.Incompatible, func(k *formats.RootKey) { k.Backend = "fflonk" }},
			{"another curve", "S-3", formats.Incompatible, func(k *formats.RootKey) { k.Curve = "bls12-381" }},
			{"another mode of setup", "S-3", formats.Incompatible, func(k *formats.RootKey) { k.Setup.Mode = "trusted" }},
			{"a protocol id beyond the field", "S-5", formats.Invalid, func(k *formats.RootKey) { k.Protocol[0] |= 0x20 }},
			{"a longer key", "S-6", formats.Invalid, func(k *formats.RootKey) { k.Key = append(k.Key, 0) }},
			{"a shorter key", "S-6", formats.Invalid, func(k *formats.RootKey) { k.Key = k.Key[:len(k.Key)-1] }},
			{"a key of one byte", "S-6", formats.Invalid, func(k *formats.RootKey) { k.Key = k.Key[:1] }},
			{"a point off the curve", "S-6", formats.Invalid, func(k *formats.RootKey) { k.Key[len(k.Key)-1] ^= 1 }},
			{"too many commitments", "S-6", formats.Invalid, func(k *formats.RootKey) {
				at := map[string]int{formats.BackendPlonk: 8, formats.BackendGroth16: 0}[k.Backend]
				clear(k.Key[at : at+8])
				k.Key[at+7] = 5
			}},
			{"endless commitments", "S-6", formats.Invalid, func(k *formats.RootKey) {
				at := map[string]int{formats.BackendPlonk: 8, formats.BackendGroth16: 0}[k.Backend]
				copy(k.Key[at:at+8], bytes.Repeat([]byte{0xff}, 8))
			}},
		} {
			raw := s.key.RootKey
			raw.Key = slices.Clone(raw.Key)
			c.change(&raw)
			_, err := snark.NewKey(&raw)
			refused(t, c.name, err, c.class, c.check)
		}
		data := s.key.Encoded()
		for _, n := range []int{0, 1, 20, len(data) - 1} {
			if _, err := snark.ParseKey(data[:n]); !errors.Is(err, formats.Malformed) {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
		if _, err := snark.ParseKey(s.data); !errors.Is(err, formats.Incompatible) {
			t.Errorf("a proof for a key: %v", err)
		}
		if _, err := snark.Verify(s.key, data, anything); !errors.Is(err, formats.Incompatible) {
			t.Errorf("a key for a proof: %v", err)
		}
		again, err := snark.ParseKey(data)
		if err != nil || again.Digest() != s.key.Digest() || !bytes.Equal(again.Encoded(), data) {
			t.Errorf("the key changes when it is read (%v)", err)
		}
	})
	list, err := samples()
	if err != nil {
		t.Fatal(err)
	}
	universal := list[toy.Groth16].key.RootKey
	universal.Setup.Mode = formats.SetupUniversal
	_, err = snark.NewKey(&universal)
	refused(t, "Groth16 without a ceremony", err, formats.Invalid, "S-4")
	for _, index := range []byte{0, 6, 0xff} { // of a public input in a commitment: there are 1 to 5
		raw := list[toy.Groth16Dev].key.RootKey
		raw.Key = slices.Concat(raw.Key[:15], []byte{1}, make([]byte, 7), []byte{index}, raw.Key[16:])
		_, err := snark.NewKey(&raw)
		refused(t, "an index that is not there", err, formats.Invalid, "S-6")
		raw.Key[23] = 5
		if _, err := snark.NewKey(&raw); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		name   string
		kind   string
		change func(k []byte)
	}{
		{"a domain that is no power of two", toy.Plonk, func(k []byte) { k[7] = 33 }},
		{"a domain of one", toy.Plonk, func(k []byte) { k[7] = 1 }},
		{"a domain without room for the public inputs", toy.Plonk, func(k []byte) { k[7] = 4 }},
		{"an endless domain", toy.Plonk, func(k []byte) { k[0], k[7] = 0x80, 0 }},
		{"a commitment beyond the domain", toy.Plonk, func(k []byte) { k[23] = 40 }},
		{"a commitment at an endless index", toy.Plonk, func(k []byte) { k[16] = 0xff }},
		{"tau at infinity", toy.Plonk, func(k []byte) { clear(k[len(k)-128:]) }},
		{"alpha at infinity", toy.Groth16, func(k []byte) { clear(k[8:72]) }},
		{"gamma at infinity", toy.Groth16, func(k []byte) { clear(k[72+128 : 72+256]) }},
		{"a public input at infinity", toy.Groth16, func(k []byte) { clear(k[72+384+64 : 72+384+128]) }},
		{"the last public input at infinity", toy.Groth16, func(k []byte) { clear(k[72+384+320 : 72+384+384]) }},
		{"a commitment's key at infinity", toy.Groth16Dev, func(k []byte) { clear(k[len(k)-128:]) }},
		{"a commitment's generator at infinity", toy.Groth16Dev, func(k []byte) { clear(k[len(k)-256 : len(k)-128]) }},
		{"endless public inputs in a commitment", toy.Groth16Dev, func(k []byte) { k[8] = 0xff }},
	} {
		raw := list[c.kind].key.RootKey
		raw.Key = slices.Clone(raw.Key)
		c.change(raw.Key)
		_, err := snark.NewKey(&raw)
		refused(t, c.name, err, formats.Invalid, "S-6")
	}
}

// TestSolidity makes sure that gnark's contract is exported for each kind of key, the same each time.
func TestSolidity(t *testing.T) {
	each(t, func(t *testing.T, s sample) {
		a, errA := s.key.Solidity()
		b, errB := s.key.Solidity()
		if err := errors.Join(errA, errB); err != nil || a != b || !strings.Contains(a, "pragma solidity") {
			t.Errorf("%d and %d bytes (%v)", len(a), len(b), err)
		}
		if _, err := snark.Verify(s.key, s.data, anything); err != nil {
			t.Errorf("the export changed the key: %v", err)
		}
	})
}

func FuzzVerifyRoot(f *testing.F) {
	list, err := samples()
	if err != nil {
		f.Fatal(err)
	}
	var keys []*snark.Key
	for _, name := range []string{toy.Plonk, toy.Groth16, toy.Groth16Dev} {
		keys = append(keys, list[name].key)
		f.Add(list[name].data)
		f.Add(list[name].key.Encoded())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, k := range keys {
			if root, err := snark.Verify(k, data, anything); err == nil && len(root.Proof) != k.ProofBytes() {
				t.Error("a proof of another length")
			}
		}
		if k, err := snark.ParseKey(data); err == nil && !bytes.Equal(k.Encoded(), data) {
			t.Error("a key with two encodings")
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	list, err := samples()
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{toy.Plonk, toy.Groth16, toy.Groth16Dev} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := snark.Verify(list[name].key, list[name].data, anything); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
