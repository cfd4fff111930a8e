package toy

import (
	"bytes"
	"context"
	"os"

	"github.com/ixprove/ixprove/compress"
	"github.com/ixprove/ixprove/compress/srs"
	"github.com/ixprove/ixprove/formats"
)

// Names of Provers.
const (
	Plonk      = "plonk"
	PlonkDev   = "plonk dev"
	Groth16    = "groth16"
	Groth16Dev = "groth16 dev"
)

// Provers are one for each kind of keys. ptau is a file of at least 2^5 powers.
func Provers(ctx context.Context, ptau string) (map[string]*compress.Prover, error) {
	data, err := os.ReadFile(ptau)
	if err != nil {
		return nil, err
	}
	out := map[string]*compress.Prover{}
	for name, make := range map[string]func() (*compress.Prover, error){
		Plonk: func() (*compress.Prover, error) {
			s, err := Compile(ctx, formats.BackendPlonk, true)
			if err != nil {
				return nil, err
			}
			powers, err := srs.Read(ctx, bytes.NewReader(data), s.LogDomain, nil)
			if err != nil {
				return nil, err
			}
			return s.SetupPlonk(ctx, powers)
		},
		PlonkDev: func() (*compress.Prover, error) {
			s, err := Compile(ctx, formats.BackendPlonk, true)
			if err != nil {
				return nil, err
			}
			powers, err := srs.Dev(ctx, s.LogDomain)
			if err != nil {
				return nil, err
			}
			return s.SetupPlonk(ctx, powers)
		},
		Groth16: func() (*compress.Prover, error) {
			c, err := Ceremony(ctx, data)
			if err != nil {
				return nil, err
			}
			first, err := c.Initial(ctx)
			if err != nil {
				return nil, err
			}
			second, err := compress.Contribute(ctx, first)
			if err != nil {
				return nil, err
			}
			p, _, err := c.Finish(ctx, [][]byte{first, second}, []byte("a public random value"))
			return p, err
		},
		Groth16Dev: func() (*compress.Prover, error) {
			s, err := Compile(ctx, formats.BackendGroth16, true)
			if err != nil {
				return nil, err
			}
			return s.SetupGroth16Dev(ctx)
		},
	} {
		if out[name], err = make(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Ceremony is one for the circuit without commitments, on top of a .ptau file.
func Ceremony(ctx context.Context, ptau []byte) (*compress.Ceremony, error) {
	s, err := Compile(ctx, formats.BackendGroth16, false)
	if err != nil {
		return nil, err
	}
	common, phase1, err := srs.ReadPhase1(ctx, bytes.NewReader(ptau), s.LogDomain)
	if err != nil {
		return nil, err
	}
	return compress.NewCeremony(s, common, phase1)
}
