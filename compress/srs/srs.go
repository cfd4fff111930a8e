// Package srs reads powers of tau over BN254, the setup of KZG commitments, from the files of public ceremonies: snarkjs' .ptau (Perpetual Powers of Tau, Hermez), Aztec's flat
// g1.dat, and what gnark writes. It checks their structure and names their origin only where it can tell.
//
// [tau^i]1 is tau^i times the generator of G1, [tau]2 is tau times that of G2. A file's structure is right if it holds these for one tau. That says nothing of who knows tau: only a
// known ceremony does, and it is recognised by published digests and points (pins.go).
package srs

import (
	"context"
	"crypto/sha256"
	"io"
	"math/bits"
	"strconv"

	"github.com/consensys/gnark-crypto/ecc/bn254"

	"github.com/ixprove/ixprove/formats"
)

// MaxLogSize bounds the domains that are served: 2^27 gates are the most that formats.MaxLogHeight would ever lead to, and more than any machine proves.
const MaxLogSize = 27

// Extra is the number of powers beyond a domain's size that Plonk's blinded polynomials need (gnark, backend/plonk).
const Extra = 3

// Unknown is the name of a setup whose structure is valid and whose origin is not known.
const Unknown = "unknown provenance"

// SRS is a checked structured reference string.
type SRS struct {
	G1    []bn254.G1Affine // [tau^i]1 from i = 0
	Tau   bn254.G2Affine   // [tau]2
	Setup formats.Setup

	// Prepared says that Lagrange points are read or cheap to make.
	Prepared bool
	lagrange func(ctx context.Context, logSize int) ([]bn254.G1Affine, error)
	kept     bool // Lagrange points were checked before
}

// Source is a file. *os.File with its size is one.
type Source interface {
	io.ReaderAt
	Size() int64
}

// LogSize is the log of the largest domain that the powers serve, -1 if they serve none.
func (s *SRS) LogSize() int { return bits.Len(uint(max(len(s.G1)-Extra, 0))) - 1 }

// Lagrange is [L_i(tau)]1 for the Lagrange polynomials of the subgroup of order 2^logSize, i in natural order. They are read where the file has them and computed otherwise, which
// takes about 0.5 ms a point on two cores. Errors are *formats.Error, or that of ctx.
func (s *SRS) Lagrange(ctx context.Context, logSize int) ([]bn254.G1Affine, error) {
	if logSize < 1 || logSize > s.LogSize() {
		return nil, tooSmall(s, logSize)
	}
	if s.lagrange == nil {
		return s.ComputeLagrange(ctx, logSize)
	}
	points, err := s.lagrange(ctx, logSize)
	if err != nil || s.kept {
		return points, err
	}
	return points, checkLagrange(s.G1, points)
}

// ComputeLagrange is Lagrange from the powers, whatever else there is. For the development setup that is quick.
func (s *SRS) ComputeLagrange(ctx context.Context, logSize int) ([]bn254.G1Affine, error) {
	if logSize < 1 || logSize > s.LogSize() {
		return nil, tooSmall(s, logSize)
	}
	if IsDev(s.Setup) {
		return devLagrange(ctx, logSize)
	}
	return toLagrange(ctx, s.G1[:1<<logSize])
}

func tooSmall(s *SRS, logSize int) error {
	return &formats.Error{Class: formats.Invalid, Place: "powers of tau", What: "there are too few of them for this circuit", Expected: "2^" + strconv.Itoa(logSize) + " + " + strconv.Itoa(Extra),
		Got: strconv.Itoa(len(s.G1)), Next: "set up with a file of more powers"}
}

// Digest identifies tau: SHA-256 of a domain, [tau]1 and [tau]2 as uncompressed points. The checked structure ties everything else to these two, so it does not depend on how many
// powers were read, nor on the file's format.
func Digest(g1 *bn254.G1Affine, g2 *bn254.G2Affine) formats.Digest {
	a, b := g1.RawBytes(), g2.RawBytes()
	return sha256.Sum256(append(append([]byte("ixprove/1 powers of tau"), a[:]...), b[:]...))
}

// Read reads the powers for domains of up to 2^logSize from a file of any known format, all that there are if those are fewer, and checks them. companion opens the file beside a
// flat g1.dat that has [tau]2; it may be nil. f is read again for Lagrange points. Memory is bounded by the file's size. Errors are *formats.Error of class Malformed or Invalid, or that of ctx.
func Read(ctx context.Context, f Source, logSize int, companion func() ([]byte, error)) (*SRS, error) {
	if logSize < 1 || logSize > MaxLogSize {
		return nil, (&formats.Error{Class: formats.Limit, Place: "powers of tau", What: "there is no domain of this size"}).Mismatch(MaxLogSize, uint64(max(logSize, 0)))
	}
	want := int64(1)<<logSize + Extra
	read, err := sniff(f)
	if err != nil {
		return nil, err
	}
	s, err := read(ctx, f, want, companion)
	if err != nil {
		return nil, err
	}
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	if err := s.refuseDev(); err != nil {
		return nil, err
	}
	s.Setup.Mode, s.Setup.Source = formats.SetupUniversal, Digest(&s.G1[1], &s.Tau)
	if s.Setup.Name == "" {
		s.Setup.Name = knownTau(&s.Tau)
	}
	return s, nil
}

// reader reads one format: at most want powers.
type reader func(ctx context.Context, f Source, want int64, companion func() ([]byte, error)) (*SRS, error)

func sniff(f Source) (reader, error) {
	var head [128]byte
	n, err := f.ReadAt(head[:], 0)
	if n < len(head) {
		if err == io.EOF {
			return nil, malformed("file", "the file is cut short", "at least 128 bytes", strconv.Itoa(n))
		}
		return nil, err
	}
	switch {
	case string(head[:4]) == ptauMagic:
		return readPtau, nil
	case isDump(head[:]):
		return readDump, nil
	case gnarkForm(f, head[:4]) != nil:
		return readGnark, nil
	case f.Size()%sizeG1 == 0:
		return readFlat, nil
	}
	return nil, malformed("file", "this is no file of powers of tau", "a .ptau, a flat g1.dat, or a KZG setup written by gnark", "none of them")
}

func malformed(place, what, expected, got string) *formats.Error {
	return &formats.Error{Class: formats.Malformed, Place: place, What: what, Expected: expected, Got: got, Next: "check that the right file was given, and that it is complete"}
}

// Kept is a string that was checked before and kept, with a way to get Lagrange points, which were checked and kept too or are computed. Only what is cheap is checked again: that the powers start as they should and
// are those of the setup's source. Errors are *formats.Error of class Malformed.
func Kept(g1 []bn254.G1Affine, tau bn254.G2Affine, setup formats.Setup, prepared bool, lagrange func(ctx context.Context, logSize int) ([]bn254.G1Affine, error)) (*SRS, error) {
	_, _, generator, _ := bn254.Generators()
	if len(g1) < 2+Extra || !g1[0].Equal(&generator) || Digest(&g1[1], &tau) != setup.Source {
		return nil, malformed("powers of tau", "these are not the powers that were kept", "those of the setup's source", "others")
	}
	return &SRS{G1: g1, Tau: tau, Setup: setup, Prepared: prepared, lagrange: lagrange, kept: true}, nil
}

// IsDev reports whether a setup's tau is the one that everybody knows.
func IsDev(setup formats.Setup) bool { return setup.Mode == formats.SetupInsecureDev }
