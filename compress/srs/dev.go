package srs

import (
	"context"
	"math/big"
	"runtime"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/ixprove/ixprove/formats"
)

// Dev makes the powers of a tau that everybody knows, for domains of up to 2^logSize: the same on every machine, so that keys made from it are too. Whoever reads this can forge proofs
// under it. Errors are that of ctx, and of class Limit for a size beyond MaxLogSize.
func Dev(ctx context.Context, logSize int) (*SRS, error) {
	if logSize < 1 || logSize > MaxLogSize {
		return nil, (&formats.Error{Class: formats.Limit, Place: "powers of tau", What: "there is no domain of this size"}).Mismatch(MaxLogSize, uint64(max(logSize, 0)))
	}
	tau := devTau()
	scalars := make([]fr.Element, 1<<logSize+Extra)
	scalars[0].SetOne()
	for i := 1; i < len(scalars); i++ {
		scalars[i].Mul(&scalars[i-1], &tau)
	}
	_, _, g1, _ := bn254.Generators()
	s := &SRS{}
	var err error
	if s.G1, err = multiples(ctx, &g1, scalars); err != nil {
		return nil, err
	}
	s.Tau = devTauG2()
	s.Setup = formats.Setup{Mode: formats.SetupInsecureDev, Source: Digest(&s.G1[1], &s.Tau), Name: DevName}
	s.Prepared, s.lagrange = true, devLagrange
	return s, nil
}

// DevName is the name of the development setup.
const DevName = "the tau that everybody knows"

func devTau() (tau fr.Element) {
	h, err := fr.Hash([]byte("tau"), []byte("ixprove/1 insecure dev setup"), 1)
	if err != nil {
		panic(err) // impossible: the domain is short
	}
	return h[0]
}

func devTauG2() (p bn254.G2Affine) {
	_, _, _, g2 := bn254.Generators()
	tau := devTau()
	return *p.ScalarMultiplication(&g2, tau.BigInt(new(big.Int)))
}

// refuseDev refuses the development setup's powers in a file, where they would pass for somebody's ceremony.
func (s *SRS) refuseDev() error {
	if dev := devTauG2(); s.Tau.Equal(&dev) {
		return &formats.Error{Class: formats.Invalid, Place: "powers of tau", What: "they are of the tau that everybody knows", Expected: "a setup whose secret is not known", Got: DevName,
			Next: "use the file of a ceremony; for development, ixprove setup plonk --insecure-dev"}
	}
	return nil
}

// devLagrange computes L_i(tau) = w^i (tau^n - 1) / (n (tau - w^i)) and multiplies the generator.
func devLagrange(ctx context.Context, logSize int) ([]bn254.G1Affine, error) {
	n := uint64(1) << logSize
	w, err := fr.Generator(n)
	if err != nil {
		return nil, err
	}
	tau := devTau()
	powers, scalars := make([]fr.Element, n), make([]fr.Element, n)
	powers[0].SetOne()
	for i := range powers {
		if i > 0 {
			powers[i].Mul(&powers[i-1], &w)
		}
		scalars[i].Sub(&tau, &powers[i])
	}
	scalars = fr.BatchInvert(scalars)
	var scale, one fr.Element
	one.SetOne()
	scale.Exp(tau, new(big.Int).SetUint64(n)).Sub(&scale, &one)
	var size fr.Element
	size.SetUint64(n).Inverse(&size)
	scale.Mul(&scale, &size)
	for i := range scalars {
		scalars[i].Mul(&scalars[i], &powers[i]).Mul(&scalars[i], &scale)
	}
	_, _, g1, _ := bn254.Generators()
	return multiples(ctx, &g1, scalars)
}

// window is the width in bits of the digits that scalars are cut into; digits is their number.
const (
	window = 12
	digits = (fr.Bits + window - 1) / window
)

// multiples multiplies a point by scalars, with a table of the multiples d 2^(window i) of the point for every digit d: one addition a digit and no doubling, some ten times as fast as
// gnark-crypto's, which keeps no table for each digit.
func multiples(ctx context.Context, p *bn254.G1Affine, scalars []fr.Element) ([]bn254.G1Affine, error) {
	const row = 1<<window - 1 // no entry for the digit 0
	jacobian := make([]bn254.G1Jac, digits*row)
	var base bn254.G1Jac
	base.FromAffine(p)
	for i := 0; i < len(jacobian); i += row {
		jacobian[i] = base
		for d := 1; d < row; d++ {
			jacobian[i+d] = jacobian[i+d-1]
			jacobian[i+d].AddAssign(&base)
		}
		base.AddAssign(&jacobian[i+row-1])
	}
	table := bn254.BatchJacobianToAffineG1(jacobian)
	const portion = 1 << 14
	out := make([]bn254.G1Affine, len(scalars))
	starts := make(chan int)
	var done sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		done.Go(func() {
			sums := make([]bn254.G1Jac, portion)
			for at := range starts {
				n := min(portion, len(scalars)-at)
				for i := range n {
					bits := scalars[at+i].Bits()
					sum := bn254.G1Jac{}
					for k := range digits {
						if d := digit(&bits, k); d != 0 {
							sum.AddMixed(&table[k*row+d-1])
						}
					}
					sums[i] = sum
				}
				copy(out[at:], bn254.BatchJacobianToAffineG1(sums[:n]))
			}
		})
	}
	err := error(nil)
	for at := 0; at < len(scalars) && err == nil; at += portion {
		select {
		case starts <- at:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	close(starts)
	done.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return out, err
}

// digit is digit k of a number of four little-endian limbs.
func digit(bits *[4]uint64, k int) int {
	at := k * window
	limb, shift := at/64, at%64
	v := bits[limb] >> shift
	if shift > 64-window && limb < 3 {
		v |= bits[limb+1] << (64 - shift)
	}
	return int(v & (1<<window - 1))
}
