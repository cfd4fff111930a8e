package circuit

import (
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"strconv"
	"strings"

	"github.com/ixprove/ixprove/compress/poseidon2"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/security"
)

// Version is the version of the circuit and of its statement. It is part of the protocol id and changes when a circuit of equal shape would check anything else.
const Version = 2

// Statement is what a compressed root proves: under the program whose verifying key has the digest Program, the claims with the digest Claims hold, as checked by the protocol
// Protocol.
type Statement struct {
	Program  formats.Digest // digest of the verifying key
	Claims   formats.Digest // SHA-256 of ClaimBytes
	Protocol formats.Digest // what the circuit checks and with which parameters, see ProtocolID; below 2^253, big-endian
}

// Publics are the public inputs of the circuit in their order: program digest high, low, claim digest high, low, protocol id. The halves of a digest are its first and last 16
// bytes, read big-endian.
func (s Statement) Publics() [5]*big.Int {
	number := func(b []byte) *big.Int { return new(big.Int).SetBytes(b) }
	return [5]*big.Int{number(s.Program[:16]), number(s.Program[16:]), number(s.Claims[:16]), number(s.Claims[16:]), number(s.Protocol[:])}
}

// ClaimBytes is the encoding of claims that the claim digest is of: the words of T-2 (docs/protocol.md section 5) without tag and length, 8 bytes big-endian each. They are the
// number of claims and for each its entry, its number of elements, its arguments and its results.
func ClaimBytes(claims []formats.Claim) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(len(claims)))
	for i := range claims {
		c := &claims[i]
		b = binary.BigEndian.AppendUint64(b, uint64(c.Entry))
		b = binary.BigEndian.AppendUint64(b, uint64(c.Args.Len()+c.Results.Len()))
		for _, e := range []formats.Elements{c.Args, c.Results} {
			for k := range e.Len() {
				b = binary.BigEndian.AppendUint64(b, e.At(k))
			}
		}
	}
	return b
}

// StatementOf is the statement that a root proof with one shard of the given tables makes of the claims. It does not say that there is such a proof. Errors are *formats.Error
// with the check of docs/protocol.md that fails.
func StatementOf(key *verifier.Key, tables []formats.Table, claims []formats.Claim) (Statement, error) {
	if err := verifier.CheckClaims(key, claims); err != nil {
		return Statement{}, err
	}
	shape, err := checkedShape(key, tables, len(claims))
	if err != nil {
		return Statement{}, err
	}
	if err := shape.checkOrder(claims); err != nil {
		return Statement{}, err
	}
	return Statement{Program: key.Digest(), Claims: sha256.Sum256(ClaimBytes(claims)), Protocol: shape.protocolID()}, nil
}

// shape is what a circuit is generated for.
type shape struct {
	*verifier.Shape
	key    *verifier.Key
	claims int
	label  string
	// Entries with elements, all of one number of them, and without. The claims of the latter, one each (P-38), come last, in the order of the entries.
	stating, silent []int
	elements        int
}

// stated is the number of claims that have elements.
func (s *shape) stated() int { return s.claims - len(s.silent) }

// The security labels.
const (
	labelProven   = "proven 128"   // every term of docs/security.md reaches 128 bits up to the Johnson bound
	labelInsecure = "insecure dev" // a development profile
)

// checkedShape makes the checks that concern the shape alone (P-5, P-10 to P-17, P-36, P-38).
func checkedShape(key *verifier.Key, tables []formats.Table, claims int) (*shape, error) {
	if claims < 1 || claims > formats.MaxClaims {
		e := rejected("P-5", "claims", "the number of claims is out of range").Mismatch(1, uint64(max(claims, 0)))
		e.Expected = "1 to " + strconv.Itoa(formats.MaxClaims)
		return nil, e
	}
	if key.Suite.Name() != poseidon2.Name {
		return nil, &formats.Error{Class: formats.Incompatible, Check: "K-3", Place: "suite", What: "a circuit needs a key of another hash suite", Expected: poseidon2.Name, Got: key.Suite.Name(),
			Next: "make the key and the proof with profile root"}
	}
	checked, err := verifier.CheckTables(key, 0, tables)
	if err != nil {
		return nil, err
	}
	s := &shape{Shape: verifier.NewShape(key, checked), key: key, claims: claims, label: labelProven}
	shapes := []*verifier.Shape{s.Shape}
	if err := verifier.CheckWeights(shapes, claims); err != nil {
		return nil, err
	}
	if err := verifier.CheckWork(shapes); err != nil {
		return nil, err
	}
	if err := s.checkEntries(); err != nil {
		return nil, err
	}
	if err := s.checkSize(); err != nil {
		return nil, err
	}
	terms := security.Terms(key.Profile, verifier.Security(shapes, claims), security.Johnson)
	if strings.HasSuffix(key.Profile.Name, "dev") {
		s.label = labelInsecure
		return s, nil
	}
	for _, c := range []struct {
		what        string
		least, bits int
	}{
		{"the proof's parameters prove too little", verifier.DefaultMinBits, security.Level(terms)},
		{"the digests collide for less work", verifier.DefaultMinDigestBits, security.DigestLevel(terms)},
	} {
		if c.bits < c.least {
			e := rejected("P-17", "shape", c.what).Mismatch(uint64(c.least), uint64(c.bits))
			e.Expected += " bits"
			e.Next = "prove fewer rows in one root"
			return nil, e
		}
	}
	return s, nil
}

// checkSize bounds what a key and a shape can make a compiler do, some ten million constraints each: a real root stays far below.
func (s *shape) checkSize() error {
	operations, values, nodes := uint64(0), 0, 0
	for _, t := range s.trees() {
		nodes += s.key.Profile.Queries * t.LogRows()
	}
	for i := range s.Tables {
		t := &s.Tables[i]
		operations += t.Work
		for k := range verifier.NumKinds {
			values += t.Columns(k)
		}
	}
	for _, c := range []struct {
		place, what string
		most, got   uint64
	}{
		{"claims", "the words of the claims are too many for a circuit", 1 << 12, uint64(s.claims) * uint64(2+s.elements)},
		{"tables", "the constraints take too many operations for a circuit", 1 << 18, operations},
		{"tables", "the columns are too many for a circuit", 1 << 15, uint64(values)},
		{"tables", "the nodes on the queries' paths are too many for a circuit", 1 << 16, uint64(nodes)},
	} {
		if c.got > c.most {
			e := (&formats.Error{Class: formats.Limit, Place: c.place, What: c.what}).Mismatch(c.most, c.got)
			e.Expected = "at most " + e.Expected
			e.Next = "prove less in one root"
			return e
		}
	}
	return nil
}

// checkEntries sorts the entries, and refuses keys whose entries have different numbers of elements, but for those that have none: the words of T-2 would have no fixed places.
func (s *shape) checkEntries() error {
	for i := range s.key.Entries {
		e := &s.key.Entries[i]
		args, results := verifier.EntryElements(e)
		switch n := args + results; {
		case n == 0:
			s.silent = append(s.silent, i)
		case len(s.stating) > 0 && n != s.elements:
			return (&formats.Error{Class: formats.Invalid, Place: "entry " + formats.Quote(e.Name), What: "a circuit needs entries of one number of elements",
				Next: "pad the entries' arguments or results to one length"}).Mismatch(uint64(s.elements), uint64(n))
		default:
			s.stating, s.elements = append(s.stating, i), n
		}
	}
	if s.stated() < 0 || s.stated() > 0 && len(s.stating) == 0 {
		return rejected("P-38", "claims", "an entry that states nothing is claimed once").Mismatch(uint64(len(s.silent)), uint64(s.claims))
	}
	return nil
}

// protocolID binds what the circuit checks: SHA-256 of the name, version, key digest, suite, profile, security label, tables and number of claims, with the highest three bits
// cleared so that it is a number below r. Numbers are 8 bytes big-endian, texts follow their length.
func (s *shape) protocolID() formats.Digest {
	var b []byte
	number := func(n int) { b = binary.BigEndian.AppendUint64(b, uint64(n)) }
	text := func(t string) {
		number(len(t))
		b = append(b, t...)
	}
	text("ixprove/1 root circuit")
	number(Version)
	digest := s.key.Digest()
	b = append(b, digest[:]...)
	text(s.key.Suite.Name())
	p := s.key.Profile
	for _, n := range []int{p.LogBlowup, p.Queries, p.GrindingBits, p.LogArity, p.LogFinal, p.Multiplicity} {
		number(n)
	}
	text(s.label)
	number(len(s.Tables))
	for i := range s.Tables {
		number(s.Tables[i].Index)
		number(s.Tables[i].LogHeight)
	}
	number(s.claims)
	d := formats.Digest(sha256.Sum256(b))
	d[0] &= 0x1f
	return d
}

func rejected(check, place, what string) *formats.Error {
	return &formats.Error{Class: formats.Rejected, Check: check, Place: place, What: what}
}
