package compress

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	groth16 "github.com/consensys/gnark/backend/groth16/bn254"
	"github.com/consensys/gnark/backend/groth16/bn254/mpcsetup"
	cs "github.com/consensys/gnark/constraint/bn254"

	"github.com/ixprove/ixprove/compress/snark"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
)

// Ceremony is phase 2 of a Groth16 setup (eprint 2017/1050) for one circuit, on top of the powers of tau of a ceremony that served as phase 1. Contributions are files that follow each
// other: everyone multiplies the secret delta by a number that only they know and proves it. If a single contributor forgets theirs, nobody knows delta.
type Ceremony struct {
	System *System
	phase1 formats.Setup
	common *mpcsetup.SrsCommons
}

// A contribution is a head and gnark's encoding of mpcsetup.Phase2 without commitments.
const (
	phase2Magic = "ixprove-phase2/1"
	phase2Head  = len(phase2Magic) + 2*formats.DigestBytes
)

// NewCeremony is the ceremony of a circuit, which must be one of Groth16 without commitments, on top of phase 1. Errors are *formats.Error.
func NewCeremony(s *System, common *mpcsetup.SrsCommons, phase1 formats.Setup) (*Ceremony, error) {
	if s.Backend != formats.BackendGroth16 || s.Commitments {
		return nil, &formats.Error{Class: formats.Internal, Place: "ceremony", What: "this circuit needs no ceremony", Got: s.Backend}
	}
	if n := len(common.G1.AlphaTau); n != 1<<s.LogDomain {
		return nil, (&formats.Error{Class: formats.Invalid, Place: "ceremony", What: "phase 1 was read for another domain"}).Mismatch(1<<s.LogDomain, uint64(n))
	}
	return &Ceremony{s, phase1, common}, nil
}

// Initial is what the first contributor starts from. It tosses no coins, so everyone can make it. Errors are that of ctx.
func (c *Ceremony) Initial(ctx context.Context) ([]byte, error) {
	return await(ctx, func() ([]byte, error) {
		var p mpcsetup.Phase2
		p.Initialize(c.System.cs.(*cs.R1CS), c.common)
		return encodePhase2(c.System.ID, c.phase1.Source, &p)
	})
}

func encodePhase2(circuit, source formats.Digest, p *mpcsetup.Phase2) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(phase2Magic)
	b.Write(circuit[:])
	b.Write(source[:])
	if _, err := p.WriteTo(&b); err != nil {
		return nil, internal("ceremony", err)
	}
	return b.Bytes(), nil
}

// contribution is a file whose layout was checked. Its points take twice the file's length, so they are decoded only when they are needed.
type contribution struct {
	circuit, source formats.Digest
	lengths         [2]int // of the lists PKK and Z
	body            []byte
}

func badContribution(what string, length int) error {
	return &formats.Error{Class: formats.Malformed, Place: "contribution", What: what, Expected: "a file of ixprove ceremony", Got: strconv.Itoa(length) + " bytes", Next: "fetch the contribution again"}
}

// readPhase2 checks a contribution's layout. The lengths inside are compared with the file's before gnark, which allocates what they say, sees them.
func readPhase2(data []byte) (*contribution, error) {
	if len(data) < phase2Head || string(data[:len(phase2Magic)]) != phase2Magic {
		return nil, badContribution("this is no contribution", len(data))
	}
	c := &contribution{body: data[phase2Head:]}
	copy(c.circuit[:], data[len(phase2Magic):])
	copy(c.source[:], data[len(phase2Magic)+formats.DigestBytes:])
	// Number of commitments, delta; the lists PKK and Z; delta of G2; the proof of the update; the challenge. gnark also reads uncompressed points, which would put its lengths elsewhere.
	rest := c.body
	skip := func(n int) bool {
		if n < 0 || n > len(rest) {
			return false
		}
		rest = rest[n:]
		return true
	}
	points := func(n, size int) bool {
		for range n {
			if len(rest) == 0 || rest[0]>>6 == 0 || !skip(size) {
				return false
			}
		}
		return true
	}
	const g1, g2 = bn254.SizeOfG1AffineCompressed, bn254.SizeOfG2AffineCompressed
	list := func(length *int) bool {
		if len(rest) < 4 {
			return false
		}
		n := binary.BigEndian.Uint32(rest)
		if !skip(4) || uint64(n) > uint64(len(rest)/g1) {
			return false
		}
		*length = int(n)
		return points(*length, g1)
	}
	if len(rest) < 2 || binary.BigEndian.Uint16(rest) != 0 || !skip(2) || !points(1, g1) || !list(&c.lengths[0]) || !list(&c.lengths[1]) || !points(1, g2) || !points(1, g1) || !points(1, g2) ||
		len(rest) == 0 || len(rest) != 1+int(rest[0]) {
		return nil, badContribution("the contribution is cut short or of another circuit", len(data))
	}
	return c, nil
}

func (c *contribution) decode() (*mpcsetup.Phase2, error) {
	p := new(mpcsetup.Phase2)
	if _, err := p.ReadFrom(bytes.NewReader(c.body)); err != nil {
		return nil, badContribution("a point of the contribution is not in its group", phase2Head+len(c.body))
	}
	return p, nil
}

// Contribute adds a contribution of secret randomness to the latest one and returns the file that follows it. The randomness is forgotten with this process. Errors are *formats.Error of
// class Malformed, or that of ctx.
func Contribute(ctx context.Context, latest []byte) ([]byte, error) {
	snark.Quiet()
	c, err := readPhase2(latest)
	if err != nil {
		return nil, err
	}
	return await(ctx, func() ([]byte, error) {
		p, err := c.decode()
		if err != nil {
			return nil, err
		}
		p.Contribute()
		return encodePhase2(c.circuit, c.source, p)
	})
}

// Verify checks a ceremony so far: that the first file is Initial and that every other contributes to the one before. It returns the transcript's digest, SHA-256 of the files' digests in
// order. Errors are *formats.Error of class Malformed for a damaged file, Incompatible for one of another circuit or phase 1, Rejected for one that contributes to something else.
func (c *Ceremony) Verify(ctx context.Context, files [][]byte) (formats.Digest, error) {
	list, transcript, err := c.read(files)
	if err != nil {
		return formats.Digest{}, err
	}
	return await(ctx, func() (formats.Digest, error) {
		first := new(mpcsetup.Phase2)
		first.Initialize(c.System.cs.(*cs.R1CS), c.common)
		_, err := c.follow(first, files[0], list)
		return transcript, err
	})
}

// read checks the files' layouts, that they are of the circuit and phase 1, and hashes them.
func (c *Ceremony) read(files [][]byte) ([]*contribution, formats.Digest, error) {
	if len(files) == 0 {
		return nil, formats.Digest{}, &formats.Error{Class: formats.Invalid, Place: "ceremony", What: "there is no contribution", Next: "ixprove ceremony init starts a ceremony"}
	}
	shape := c.System.groth16Shape()
	h := sha256.New()
	h.Write([]byte("ixprove/1 ceremony"))
	var list []*contribution
	for i, data := range files {
		one, err := readPhase2(data)
		if err != nil {
			return nil, formats.Digest{}, at(i, err)
		}
		for _, d := range []struct {
			what      string
			want, got formats.Digest
		}{{"circuit", c.System.ID, one.circuit}, {"phase 1", c.phase1.Source, one.source}} {
			if d.want != d.got {
				return nil, formats.Digest{}, at(i, &formats.Error{Class: formats.Incompatible, Place: "contribution", What: "the contribution is of another " + d.what, Expected: verifier.Hex(d.want), Got: verifier.Hex(d.got),
					Next: "use the proof and the powers of tau that the ceremony was started with"})
			}
		}
		if one.lengths != [2]int{shape.private, shape.domain - 1} { // so that what is decoded later is no larger than the circuit's
			return nil, formats.Digest{}, at(i, badContribution("the contribution is cut short or of another circuit", len(data)))
		}
		digest := sha256.Sum256(data)
		h.Write(digest[:])
		list = append(list, one)
	}
	return list, formats.Digest(h.Sum(nil)), nil
}

func at(i int, err error) error {
	if e, ok := err.(*formats.Error); ok {
		about := *e
		about.Place += " " + strconv.Itoa(i)
		return &about
	}
	return err
}

// follow checks that the first file is first, and that each contribution follows the one before. It returns the last; two are in memory at a time.
func (c *Ceremony) follow(first *mpcsetup.Phase2, file []byte, list []*contribution) (*mpcsetup.Phase2, error) {
	if want, err := encodePhase2(c.System.ID, c.phase1.Source, first); err != nil {
		return nil, err
	} else if !bytes.Equal(want, file) {
		return nil, at(0, &formats.Error{Class: formats.Rejected, Place: "contribution", What: "the ceremony does not start where it must", Expected: "what ixprove ceremony init makes", Got: "another file",
			Next: "do not use this ceremony"})
	}
	previous := first
	for i, one := range list[1:] {
		next, err := one.decode()
		if err != nil {
			return nil, at(i+1, err)
		}
		if err := previous.Verify(next); err != nil {
			return nil, at(i+1, &formats.Error{Class: formats.Rejected, Place: "contribution", What: "this does not contribute to the file before it", Expected: "a proof of the contributor's update", Got: err.Error(),
				Next: "leave it out, and all that follow"})
		}
		previous = next
	}
	return previous, nil
}

// Finish checks a ceremony with at least one contribution, adds the beacon, a public random value that nobody knew when the last contribution was made, and makes the keys. The setup's
// source is the digest of transcript and beacon. The transcript's digest is that of Verify. Errors are those of Verify, and of class Invalid if there is no contribution or no beacon.
func (c *Ceremony) Finish(ctx context.Context, files [][]byte, beacon []byte) (p *Prover, transcript formats.Digest, err error) {
	list, transcript, err := c.read(files)
	if err != nil {
		return nil, transcript, err
	}
	const leastBeacon = 16
	switch {
	case len(list) < 2:
		return nil, transcript, &formats.Error{Class: formats.Invalid, Place: "ceremony", What: "nobody has contributed, so the secret is public", Expected: "at least one contribution", Got: "none", Next: "ixprove ceremony contribute"}
	case len(beacon) < leastBeacon:
		return nil, transcript, (&formats.Error{Class: formats.Invalid, Place: "beacon", What: "the beacon is too short", Next: "take a public random value of a time after the last contribution"}).Mismatch(leastBeacon, uint64(len(beacon)))
	}
	p, err = await(ctx, func() (*Prover, error) {
		first := new(mpcsetup.Phase2)
		evaluations := first.Initialize(c.System.cs.(*cs.R1CS), c.common)
		last, err := c.follow(first, files[0], list)
		if err != nil {
			return nil, err
		}
		pk, vk := last.Seal(c.common, &evaluations, beacon)
		k := groth16Keys{*pk.(*groth16.ProvingKey), *vk.(*groth16.VerifyingKey)}
		source := sha256.Sum256(slices.Concat([]byte("ixprove/1 ceremony beacon"), transcript[:], beacon))
		return c.System.newGroth16(k, formats.Setup{Mode: formats.SetupCeremony, Source: source, Name: c.phase1.Name})
	})
	return p, transcript, err
}
