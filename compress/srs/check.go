package srs

import (
	"context"
	"crypto/rand"
	"strconv"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
	"github.com/consensys/gnark-crypto/ecc/bn254/kzg"
	"github.com/consensys/gnark-crypto/utils"

	"github.com/ixprove/ixprove/formats"
)

// randomBits is the length of the coefficients of random combinations: a wrong string passes with probability 2^-128.
const randomBits = 128

// check makes sure that G1 and Tau are the powers of one tau that is usable: neither 0 nor a root of unity, on which every Lagrange polynomial but one vanishes. That all points are in
// their groups was checked when they were read.
func (s *SRS) check(ctx context.Context) error {
	invalid := func(what, expected, got string) error {
		return &formats.Error{Class: formats.Invalid, Place: "powers of tau", What: what, Expected: expected, Got: got, Next: "do not use this file: it is no setup, or was damaged"}
	}
	_, _, g1, g2 := bn254.Generators()
	switch {
	case len(s.G1) < 2+Extra:
		return invalid("there are too few powers for any circuit", "at least "+strconv.Itoa(2+Extra), strconv.Itoa(len(s.G1)))
	case !s.G1[0].Equal(&g1):
		return invalid("the powers do not start at the generator of G1", "the generator", "another point")
	case s.Tau.IsInfinity() || !s.Tau.IsInSubGroup():
		return invalid("[tau]2 is no generator of its group", "a point of order r", "another point")
	}
	for i := 1; i < len(s.G1); i *= 2 {
		if s.G1[i].Equal(&g1) {
			return invalid("tau is a root of unity", "a random tau", "one of order at most "+strconv.Itoa(i))
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r, err := randomScalars(len(s.G1) - 1)
	if err != nil {
		return err
	}
	low, err := combine(s.G1[:len(r)], r)
	if err != nil {
		return err
	}
	high, err := combine(s.G1[1:], r)
	if err != nil {
		return err
	}
	// e(sum r_i [tau^(i+1)]1, [1]2) = e(sum r_i [tau^i]1, [tau]2)
	low.Neg(&low)
	ok, err := bn254.PairingCheck([]bn254.G1Affine{high, low}, []bn254.G2Affine{g2, s.Tau})
	if err != nil {
		return err
	}
	if !ok {
		return invalid("these are not the powers of the tau in G2", "e(sum r_i [tau^(i+1)]1, [1]2) = e(sum r_i [tau^i]1, [tau]2)", "two values")
	}
	return nil
}

func combine(points []bn254.G1Affine, r []fr.Element) (sum bn254.G1Affine, err error) {
	_, err = sum.MultiExp(points, r, ecc.MultiExpConfig{})
	return sum, err
}

func randomScalars(n int) ([]fr.Element, error) {
	b := make([]byte, n*randomBits/8)
	if _, err := rand.Read(b); err != nil {
		return nil, err
	}
	r := make([]fr.Element, n)
	for i := range r {
		r[i].SetBytes(b[i*randomBits/8 : (i+1)*randomBits/8])
	}
	return r, nil
}

// checkLagrange makes sure that a file's Lagrange points are those of its powers: a random vector has the same commitment as values and as coefficients.
func checkLagrange(powers, lagrange []bn254.G1Affine) error {
	values, err := randomScalars(len(lagrange))
	if err != nil {
		return err
	}
	byValues, err := combine(lagrange, values)
	if err != nil {
		return err
	}
	fft.NewDomain(uint64(len(values))).FFTInverse(values, fft.DIF)
	utils.BitReverse(values)
	byCoefficients, err := combine(powers[:len(values)], values)
	if err != nil {
		return err
	}
	if !byValues.Equal(&byCoefficients) {
		return &formats.Error{Class: formats.Invalid, Place: "Lagrange points", What: "they are not those of the powers of tau", Expected: "the commitment of a random polynomial",
			Got: "another", Next: "do not use this file: it was damaged or is of another order"}
	}
	return nil
}

// toLagrange computes Lagrange points from powers. gnark-crypto cannot be stopped, so when ctx ends its work is left behind, for a process that is about to end.
func toLagrange(ctx context.Context, powers []bn254.G1Affine) ([]bn254.G1Affine, error) {
	type outcome struct {
		points []bn254.G1Affine
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		points, err := kzg.ToLagrangeG1(append([]bn254.G1Affine(nil), powers...))
		done <- outcome{points, err}
	}()
	select {
	case o := <-done:
		return o.points, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
