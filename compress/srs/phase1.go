package srs

import (
	"context"
	"strconv"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	tau "github.com/consensys/gnark-crypto/ecc/bn254/mpcsetup"
	"github.com/consensys/gnark/backend/groth16/bn254/mpcsetup"

	"github.com/ixprove/ixprove/formats"
)

// ReadPhase1 reads from a .ptau file all that phase 2 of a Groth16 ceremony starts from, for a domain of 2^logSize, and checks it: every point in its group, all five sequences of
// one tau, the alpha and beta of G1 not zero, and beta in G2 that of G1. Memory is about 0.5 KiB a point. Errors are those of Read.
func ReadPhase1(ctx context.Context, f Source, logSize int) (*mpcsetup.SrsCommons, formats.Setup, error) {
	fail := func(err error) (*mpcsetup.SrsCommons, formats.Setup, error) { return nil, formats.Setup{}, err }
	if logSize < 1 || logSize > MaxLogSize {
		return fail((&formats.Error{Class: formats.Limit, Place: "powers of tau", What: "there is no domain of this size"}).Mismatch(MaxLogSize, uint64(max(logSize, 0))))
	}
	p, err := openPtau(f)
	if err != nil {
		return fail(err)
	}
	if logSize > p.power {
		return fail(&formats.Error{Class: formats.Invalid, Place: "powers of tau", What: "there are too few of them for this circuit", Expected: "a file of 2^" + strconv.Itoa(logSize),
			Got: "2^" + strconv.Itoa(p.power), Next: "use a file of more powers"})
	}
	n := int64(1) << logSize
	s := &SRS{}
	if s.G1, err = p.g1(ctx, ptauTauG1, 0, 2*n-1); err != nil {
		return fail(err)
	}
	c := &mpcsetup.SrsCommons{}
	c.G1.Tau = s.G1
	if c.G1.AlphaTau, err = p.g1(ctx, ptauAlphaTau, 0, n); err != nil {
		return fail(err)
	}
	if c.G1.BetaTau, err = p.g1(ctx, ptauBetaTau, 0, n); err != nil {
		return fail(err)
	}
	if c.G2.Tau, err = p.g2(ctx, ptauTauG2, n); err != nil {
		return fail(err)
	}
	beta, err := p.g2(ctx, ptauBetaG2, 1)
	if err != nil {
		return fail(err)
	}
	c.G2.Beta, s.Tau = beta[0], c.G2.Tau[1]
	if err := s.check(ctx); err != nil {
		return fail(err)
	}
	if err := s.refuseDev(); err != nil {
		return fail(err)
	}
	if err := checkPhase1(c); err != nil {
		return fail(err)
	}
	name, err := knownFile(ctx, f)
	if err != nil {
		return fail(err)
	}
	if name == "" {
		name = knownTau(&s.Tau)
	}
	return c, formats.Setup{Mode: formats.SetupCeremony, Source: Digest(&s.G1[1], &s.Tau), Name: name}, nil
}

func checkPhase1(c *mpcsetup.SrsCommons) error {
	invalid := func(what, expected string) error {
		return &formats.Error{Class: formats.Invalid, Place: "powers of tau", What: what, Expected: expected, Got: "another", Next: "do not use this file: it is no setup, or was damaged"}
	}
	_, _, g1, g2 := bn254.Generators()
	if !c.G2.Tau[0].Equal(&g2) {
		return invalid("the powers do not start at the generator of G2", "the generator")
	}
	if c.G1.AlphaTau[0].IsInfinity() || c.G1.BetaTau[0].IsInfinity() {
		return invalid("alpha or beta is zero", "a random value")
	}
	if err := tau.SameRatioMany(c.G1.Tau, c.G2.Tau, c.G1.AlphaTau, c.G1.BetaTau); err != nil {
		return invalid("the sequences are not of one tau", "one ratio")
	}
	// e([beta]1, [1]2) = e([1]1, [beta]2)
	var minus bn254.G1Affine
	minus.Neg(&g1)
	ok, err := bn254.PairingCheck([]bn254.G1Affine{c.G1.BetaTau[0], minus}, []bn254.G2Affine{g2, c.G2.Beta})
	if err != nil {
		return err
	}
	if !ok {
		return invalid("beta in G2 is not that of G1", "one beta")
	}
	return nil
}
