package formats

import "math"

// Kinds of a compressed batch proof and of the key that it is checked against.
const (
	KindRoot    = "ixprove-root"
	KindRootKey = "ixprove-root-key"
)

// Limits of these two objects.
const (
	MaxRootBytes       = 16 << 20
	MaxRootKeyBytes    = 1 << 20
	MaxSnarkProofBytes = 2 << 10
	MaxSnarkKeyBytes   = 32 << 10
)

// Names of the SNARKs and of the curve. A decoded object may have other names, which no verifier of this version accepts.
const (
	BackendPlonk   = "plonk"
	BackendGroth16 = "groth16"
	CurveBN254     = "bn254"
)

// Modes of a setup. Whoever knows the secret of a setup can prove anything, so they say who might.
const (
	SetupInsecureDev = "insecure-dev" // its secret is public, or was on one machine: for development alone
	SetupUniversal   = "universal"    // powers of tau from a ceremony, for any circuit
	SetupCeremony    = "ceremony"     // a circuit's own ceremony on top of powers of tau
)

// Root is a batch proof compressed into one SNARK: what a contract or a second machine checks against a RootKey.
type Root struct {
	Backend   string  // 2: one of the Backend names
	Curve     string  // 3
	Protocol  Digest  // 4: of the verifying key, parameters and shape that the circuit has built in
	Program   Digest  // 5: digest of the batch proof's verifying key
	Statement Digest  // 6: digest of the claims, as the circuit computes it
	Claims    []Claim // 7: 0 to MaxClaims
	Setup     Setup   // 8
	Key       Digest  // 9: digest of the RootKey
	Proof     []byte  // 10: 1 to MaxSnarkProofBytes
}

// RootKey is what a verifier of compressed proofs holds: the SNARK's verifying key and what it is the key of.
type RootKey struct {
	Backend  string  // 2
	Curve    string  // 3
	Protocol Digest  // 4
	Program  Digest  // 5
	Circuit  Digest  // 6: SHA-256 of the compiled constraint system
	Tables   []Table // 7: the shape of the batch proofs that can be compressed, 0 to MaxTables
	Claims   uint32  // 8: the number of their claims, at most MaxClaims
	Bits     uint8   // 9: bits of security proven of these batch proofs (docs/security.md)
	Entries  []Entry // 10: those of the batch proof's key, by which claims are read
	Setup    Setup   // 11
	Key      []byte  // 12: the SNARK's verifying key (docs/compress.md), 1 to MaxSnarkKeyBytes
}

// Setup says where a SNARK's keys come from. Encoded as [mode, source, name].
type Setup struct {
	Mode   string // one of the Setup names
	Source Digest // of the powers of tau, or of the circuit's ceremony; zero for a local one
	Name   string // the ceremony if it is a known one
}

var (
	rootObject    = object{KindRoot, 11, "R-1", "R-2", "R-3"}
	rootKeyObject = object{KindRootKey, 13, "S-1", "S-1", "S-2"}
)

// DecodeRoot decodes a compressed proof: checks of docs/compress.md, in the words of formats/root.cddl. Sharing, memory and errors are those of DecodeProof.
func DecodeRoot(data []byte) (*Root, error) {
	return decode(data, MaxRootBytes, rootObject, (*reader).root)
}

// DecodeRootKey decodes the key of compressed proofs: checks S-1 and S-2 of docs/compress.md, in the words of formats/root-key.cddl. Sharing, memory and errors are those of DecodeProof.
func DecodeRootKey(data []byte) (*RootKey, error) {
	return decode(data, MaxRootKeyBytes, rootKeyObject, (*reader).rootKey)
}

func (r *reader) root() (p Root) {
	p.Backend = r.key(2, "backend").name()
	p.Curve = r.key(3, "curve").name()
	p.Protocol = r.key(4, "protocol").digest()
	p.Program = r.key(5, "program").digest()
	p.Statement = r.key(6, "statement").digest()
	p.Claims = list(r.key(7, "claims"), MaxClaims, leastClaim, (*reader).claim)
	p.Setup = one(r.key(8, "setup"), (*reader).setup)
	p.Key = r.key(9, "key").digest()
	p.Proof = r.key(10, "proof").bytes(1, 1, MaxSnarkProofBytes)
	return p
}

func (r *reader) rootKey() (k RootKey) {
	k.Backend = r.key(2, "backend").name()
	k.Curve = r.key(3, "curve").name()
	k.Protocol = r.key(4, "protocol").digest()
	k.Program = r.key(5, "program").digest()
	k.Circuit = r.key(6, "circuit").digest()
	k.Tables = list(r.key(7, "tables"), MaxTables, leastTable, (*reader).table)
	k.Claims = uint32(r.key(8, "claims").uint(MaxClaims))
	k.Bits = uint8(r.key(9, "bits").uint(math.MaxUint8))
	k.Entries = list(r.key(10, "entries"), MaxEntries, leastEntry, (*reader).entry)
	k.Setup = one(r.key(11, "setup"), (*reader).setup)
	k.Key = r.key(12, "key").bytes(1, 1, MaxSnarkKeyBytes)
	return k
}

func (r *reader) setup() (s Setup) {
	r.exactly(majorArray, 3)
	s.Mode = r.at("mode").name()
	s.Source = r.at("source").digest()
	s.Name = r.at("name").name()
	return s
}

// Kind is the kind that data says it is of, or empty if it says none: enough to choose a decoder, and no promise that it will accept.
func Kind(data []byte) string {
	r := &reader{data: data}
	if len(data) == 0 || data[0]>>5 != majorMap {
		return ""
	}
	r.head(majorMap)
	kind := r.key(0, "kind").name()
	if r.err != nil {
		return ""
	}
	return kind
}
