package prover

import (
	"context"

	"github.com/ixprove/ixprove/formats/encode"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/merkle"
	"github.com/ixprove/ixprove/verifier/security"
)

// ProvingKey is a verifying key with what only a prover needs.
type ProvingKey struct {
	*verifier.Key
	Encoded []byte              // the verifying key as it travels
	Fixed   [][][]field.Element // per circuit, its fixed columns
}

// Keygen compiles a system for a suite and a profile and commits to its fixed columns. It refuses a system that cannot be proven, with the check of
// docs/protocol.md that fails and what to change. The key depends on nothing but its arguments' values.
func Keygen(ctx context.Context, system *air.System, suite hash.Suite, profile security.Profile, backend Backend) (*ProvingKey, error) {
	raw, err := system.Compile(suite.Name(), verifier.RawProfile(profile), profile.MinLogHeight)
	if err != nil {
		return nil, err
	}
	session, err := backend.Open(ctx, Job{Suite: suite, LogBlowup: profile.LogBlowup})
	if err != nil {
		return nil, err
	}
	defer session.Close()
	pk := &ProvingKey{}
	for i, b := range system.Circuits {
		pk.Fixed = append(pk.Fixed, b.FixedValues)
		if len(b.FixedValues) == 0 {
			continue
		}
		f := &raw.Circuits[i].Fixed[0]
		m, err := session.Fixed(b.FixedValues)
		if err != nil {
			return nil, err
		}
		tree := merkle.NewTree(suite, []merkle.Matrix{{LogRows: int(f.LogHeight) + profile.LogBlowup, Width: int(f.Columns)}})
		c, err := session.Commit(tree, []Matrix{m})
		if err != nil {
			return nil, err
		}
		if f.Root, err = c.Root(); err != nil {
			return nil, err
		}
		c.Free()
	}
	if pk.Encoded, err = encode.Key(raw); err != nil {
		return nil, err
	}
	pk.Key, err = verifier.ParseKey(pk.Encoded, suite)
	return pk, err
}
