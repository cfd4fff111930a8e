// Package snark checks compressed batch proofs (formats.Root) against a key that the caller chose (formats.RootKey): Plonk and Groth16 over BN254, by gnark's verifiers. It needs neither
// the circuit nor any setup. The checks are those of docs/compress.md.
package snark

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"strconv"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/logger"

	"github.com/ixprove/ixprove/compress/circuit"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/formats/encode"
	"github.com/ixprove/ixprove/verifier"
)

// Publics is the number of public inputs: circuit.Statement.Publics.
const Publics = 5

// Quiet silences gnark's own log, which goes to standard output. Every entry point of the packages under compress calls it.
var Quiet = sync.OnceFunc(logger.Disable)

// Key is a checked key of compressed proofs. It is immutable and safe for concurrent use.
type Key struct {
	formats.RootKey

	encoded []byte
	digest  formats.Digest
	system  system
}

// system is one SNARK's verifying key.
type system interface {
	proofBytes() int
	// verify takes a proof of exactly proofBytes.
	verify(publics fr.Vector, proof []byte) error
	solidity() (string, error)
}

// systems decode a SNARK's verifying key; nil stands for bytes that are none.
var systems = map[string]func([]byte) system{formats.BackendPlonk: decodePlonkKey, formats.BackendGroth16: decodeGroth16Key}

var modes = map[string]bool{formats.SetupInsecureDev: true, formats.SetupUniversal: true, formats.SetupCeremony: true}

// ParseKey decodes and checks a key of compressed proofs (S-1 to S-6). Errors are *formats.Error of class Malformed, Incompatible, Limit or Invalid.
func ParseKey(data []byte) (*Key, error) {
	raw, err := formats.DecodeRootKey(data)
	if err != nil {
		return nil, err
	}
	k := &Key{RootKey: *raw, encoded: bytes.Clone(data)}
	incompatible := func(place, expected, got string) error {
		return &formats.Error{Class: formats.Incompatible, Check: "S-3", Place: place, What: "the key is of another kind than this version verifies", Expected: expected, Got: formats.Quote(got),
			Next: "use a version that knows it"}
	}
	decode, ok := systems[k.Backend]
	switch {
	case !ok:
		return nil, incompatible("backend", formats.BackendPlonk+" or "+formats.BackendGroth16, k.Backend)
	case k.Curve != formats.CurveBN254:
		return nil, incompatible("curve", formats.CurveBN254, k.Curve)
	case !modes[k.Setup.Mode]:
		return nil, incompatible("setup", formats.SetupInsecureDev+", "+formats.SetupUniversal+" or "+formats.SetupCeremony, k.Setup.Mode)
	case k.Backend == formats.BackendGroth16 && k.Setup.Mode == formats.SetupUniversal:
		return nil, &formats.Error{Class: formats.Invalid, Check: "S-4", Place: "setup", What: "powers of tau alone are no setup of Groth16", Expected: formats.SetupCeremony, Got: k.Setup.Mode}
	case k.Protocol[0]>>5 != 0:
		return nil, &formats.Error{Class: formats.Invalid, Check: "S-5", Place: "protocol", What: "the protocol id is no public input", Expected: "a number below 2^253", Got: verifier.Hex(k.Protocol)}
	}
	if k.system = decode(k.RootKey.Key); k.system == nil {
		return nil, &formats.Error{Class: formats.Invalid, Check: "S-6", Place: "key", What: "this is no verifying key of " + k.Backend + " with five public inputs",
			Expected: "the layout of docs/compress.md, points in their groups", Got: strconv.Itoa(len(k.RootKey.Key)) + " bytes", Next: "fetch or make the key again"}
	}
	k.digest = keyDigest(data)
	return k, nil
}

// NewKey is the key of the given parts. Errors are those of ParseKey.
func NewKey(raw *formats.RootKey) (*Key, error) {
	data, err := encode.RootKey(raw)
	if err != nil {
		return nil, err
	}
	return ParseKey(data)
}

// keyDigest is SHA-256 of a domain and the encoded key.
func keyDigest(data []byte) formats.Digest {
	return sha256.Sum256(append([]byte("ixprove/1 root key"), data...))
}

// Digest names the key: it is what a verifier pins.
func (k *Key) Digest() formats.Digest { return k.digest }

// Encoded is the key as it travels. It must not be changed.
func (k *Key) Encoded() []byte { return k.encoded }

// ProofBytes is the length of every proof under the key.
func (k *Key) ProofBytes() int { return k.system.proofBytes() }

// ClaimReader reads the claims of proofs under the key: it renders and checks them as the batch proof's own key would.
func (k *Key) ClaimReader() *verifier.Key { return &verifier.Key{Entries: k.Entries} }

// Solidity is the source of gnark's verifying contract for the key.
func (k *Key) Solidity() (string, error) {
	Quiet()
	return k.system.solidity()
}

// Policy is what a caller demands of a compressed proof beyond its validity.
type Policy struct {
	Claims             []formats.Claim // the claims that it must make and no others; nil for any
	MinBits            int             // least security proven of the batch proof; 0 stands for verifier.DefaultMinBits
	Insecure           bool            // accept any number of bits, for tests
	AllowInsecureSetup bool            // accept proofs that anybody could have forged, for development
}

// Verify checks a compressed proof against the key and returns it. It takes a few milliseconds. Errors are *formats.Error: Malformed or Limit for bytes that are no such
// proof, Incompatible for one of another kind or under another key, Rejected for one that does not prove its claims or has a development setup that the policy does not allow.
func Verify(key *Key, data []byte, policy Policy) (*formats.Root, error) {
	Quiet()
	root, err := formats.DecodeRoot(data)
	if err != nil {
		return nil, err
	}
	if err := key.checkHead(root, policy); err != nil {
		return nil, err
	}
	if err := key.checkClaims(root, policy.Claims); err != nil {
		return nil, err
	}
	statement := circuit.Statement{Program: key.Program, Claims: root.Statement, Protocol: key.Protocol}
	return root, key.VerifyProof(statement, root.Proof)
}

// checkHead compares what a proof says of itself with the key.
func (k *Key) checkHead(root *formats.Root, policy Policy) error {
	for _, c := range []struct{ check, place, what, expected, got, next string }{
		{"R-4", "backend", "the proof is of another proof system than the key", k.Backend, root.Backend, "verify it with a key of that system"},
		{"R-4", "curve", "the proof is over another curve than the key", k.Curve, root.Curve, "verify it with a key over that curve"},
		{"R-5", "program", "the proof is of another program than the key", verifier.Hex(k.Program), verifier.Hex(root.Program), "verify it with that program's key, if that is the program you mean"},
		{"R-5", "protocol", "the proof is of another protocol than the key", verifier.Hex(k.Protocol), verifier.Hex(root.Protocol), "verify it with a key of that protocol, if that is the one you mean"},
		{"R-6", "setup", "the proof's setup is not the key's", setupText(k.Setup), setupText(root.Setup), "verify it with the key that was made in that setup, if you trust it"},
		{"R-7", "key", "the proof was made for another key", verifier.Hex(k.digest), verifier.Hex(root.Key), "verify it with that key, if you trust it"},
	} {
		if c.expected != c.got {
			return &formats.Error{Class: formats.Incompatible, Check: c.check, Place: c.place, What: c.what, Expected: c.expected, Got: c.got, Next: c.next}
		}
	}
	if k.Setup.Mode == formats.SetupInsecureDev && !policy.AllowInsecureSetup {
		return &formats.Error{Class: formats.Rejected, Check: "R-8", Place: "setup", What: "the setup is for development: anybody can forge proofs under it", Expected: formats.SetupUniversal + " or " +
			formats.SetupCeremony, Got: formats.SetupInsecureDev, Next: "demand a proof under a real setup; --allow-insecure-setup accepts this one, for tests"}
	}
	if least := cmp.Or(policy.MinBits, verifier.DefaultMinBits); int(k.Bits) < least && !policy.Insecure {
		e := &formats.Error{Class: formats.Rejected, Check: "R-9", Place: "bits", What: "the batch proof proves too little", Next: "demand a proof under a stronger profile, or accept it with --min-bits or --insecure if this is a test"}
		e = e.Mismatch(uint64(least), uint64(k.Bits))
		e.Expected += " proven bits"
		return e
	}
	return nil
}

func setupText(s formats.Setup) string { return s.Mode + ", " + s.Name + ", " + verifier.Hex(s.Source) }

// checkClaims makes sure that the claims are of the key's entries, that the statement is their digest, and that they are those expected.
func (k *Key) checkClaims(root *formats.Root, expected []formats.Claim) error {
	rejected := func(check, what, want, got string) error {
		return &formats.Error{Class: formats.Rejected, Check: check, Place: "claims", What: what, Expected: want, Got: got, Next: "do not believe the claims"}
	}
	if len(root.Claims) != int(k.RootKey.Claims) {
		return rejected("R-10", "the number of claims is not that of the key", strconv.Itoa(int(k.RootKey.Claims)), strconv.Itoa(len(root.Claims)))
	}
	if err := verifier.CheckClaims(k.ClaimReader(), root.Claims); err != nil {
		return err
	}
	encoded := circuit.ClaimBytes(root.Claims)
	if digest := formats.Digest(sha256.Sum256(encoded)); digest != root.Statement {
		return rejected("R-11", "the claims are not those of the statement", verifier.Hex(root.Statement), verifier.Hex(digest))
	}
	if expected != nil && !bytes.Equal(circuit.ClaimBytes(expected), encoded) {
		return rejected("R-12", "these are not the claims that were expected", strconv.Itoa(len(expected))+" claims of the caller", "others")
	}
	return nil
}

// VerifyProof checks a SNARK's proof of a statement. Errors are *formats.Error of class Malformed or Rejected.
func (k *Key) VerifyProof(s circuit.Statement, proof []byte) error {
	Quiet()
	if n := k.system.proofBytes(); len(proof) != n {
		return (&formats.Error{Class: formats.Malformed, Check: "R-13", Place: "proof", What: "the proof's length is not that of the key", Next: "fetch or make the proof again"}).
			Mismatch(uint64(n), uint64(len(proof)))
	}
	publics := make(fr.Vector, Publics)
	for i, v := range s.Publics() {
		publics[i].SetBigInt(v)
	}
	return k.system.verify(publics, proof)
}

func badPoint() error {
	return &formats.Error{Class: formats.Malformed, Check: "R-14", Place: "proof", What: "a value of the proof is not reduced, or a point is not in its group", Expected: "canonical values and points of order r",
		Got: "others", Next: "fetch or make the proof again"}
}

func notProven(err error) error {
	return &formats.Error{Class: formats.Rejected, Check: "R-15", Place: "proof", What: "the proof does not prove the statement", Expected: "a valid proof", Got: err.Error(), Next: "do not believe the claims"}
}
