package compress

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strconv"

	"github.com/consensys/gnark-crypto/ecc/bn254"

	"github.com/ixprove/ixprove/compress/keys"
	"github.com/ixprove/ixprove/compress/snark"
	"github.com/ixprove/ixprove/compress/srs"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
)

// Setups keeps powers of tau and keys in a folder, so that a setup is done once:
//
//	srs/<source>/powers               powers of tau
//	srs/<source>/lagrange-<log size>  Lagrange points of a domain
//	plonk/<circuit>/<source>          the key of compressed proofs
//	groth16/<circuit>/<source>        that key and the proving key
type Setups struct{ store *keys.Store }

// NewSetups keeps setups in a folder, which need not be there yet.
func NewSetups(folder string) *Setups { return &Setups{keys.New(folder)} }

// Folder is where they are kept.
func (s *Setups) Folder() string { return s.store.Folder() }

const (
	filePowers   = "powers"
	fileTau      = "tau"
	fileLagrange = "points"
	fileKey      = "root-vk"
	filePk       = "pk"
)

func lagrangeName(logSize int) string { return "lagrange-" + strconv.Itoa(logSize) }

func powersPath(source formats.Digest) keys.Path {
	return keys.Path{"srs", verifier.Hex(source), "powers"}
}

// KeepPowers keeps powers of tau, unless as many of them are kept already, undamaged. One tau has one origin: if that of the kept powers is known, it becomes that of p.
func (s *Setups) KeepPowers(ctx context.Context, p *srs.SRS) error {
	path := powersPath(p.Setup.Source)
	if e, err := s.store.Open(path); err == nil && e.Setup.Mode == p.Setup.Mode && e.Setup.Source == p.Setup.Source {
		if rank(e.Setup) < rank(p.Setup) {
			p.Setup = e.Setup
		}
		if e.Setup == p.Setup && keptPowers(ctx, e) >= len(p.G1) {
			return nil
		}
	}
	tau := p.Tau.RawBytes()
	return s.store.Put(ctx, path, p.Setup, keys.Files{
		filePowers: func(w io.Writer) error { return srs.WritePoints(w, p.G1) }, fileTau: keys.Bytes(tau[:])})
}

// keptPowers is the number of powers in an entry, 0 if it is damaged.
func keptPowers(ctx context.Context, e *keys.Entry) int {
	if _, err := e.Read(ctx, fileTau, bn254.SizeOfG2AffineUncompressed); err != nil {
		return 0
	}
	f, err := e.File(ctx, filePowers)
	if err != nil {
		return 0
	}
	defer f.Close()
	return int(f.Size() / bn254.SizeOfG1AffineUncompressed)
}

// KeepLagrange computes or reads the Lagrange points of a domain and keeps them, unless they are kept already.
func (s *Setups) KeepLagrange(ctx context.Context, p *srs.SRS, logSize int) error {
	path := keys.Path{"srs", verifier.Hex(p.Setup.Source), lagrangeName(logSize)}
	if _, err := s.store.Open(path); err == nil {
		return nil
	}
	points, err := p.Lagrange(ctx, logSize)
	if err != nil {
		return err
	}
	return s.store.Put(ctx, path, p.Setup, keys.Files{fileLagrange: func(w io.Writer) error { return srs.WritePoints(w, points) }})
}

// Powers lists the powers of tau that are kept, the best first: real ones before the development setup, known ceremonies before unknown ones. What is damaged is left out.
func (s *Setups) Powers() ([]formats.Setup, error) {
	sources, err := s.store.List("srs")
	if err != nil {
		return nil, err
	}
	var list []formats.Setup
	for _, source := range sources {
		if e, err := s.store.Open(keys.Path{"srs", source, "powers"}); err == nil && verifier.Hex(e.Setup.Source) == source {
			list = append(list, e.Setup)
		}
	}
	slices.SortStableFunc(list, func(a, b formats.Setup) int { return cmp.Compare(rank(a), rank(b)) })
	return list, nil
}

func rank(s formats.Setup) int {
	switch {
	case s.Mode == formats.SetupInsecureDev:
		return 2
	case s.Name == srs.Unknown:
		return 1
	}
	return 0
}

// LoadPowers loads kept powers of tau for domains of up to 2^logSize, with Lagrange points that are kept or, if not, made and then kept. Of the development setup, more are made where
// fewer were kept. Errors are *formats.Error of class Malformed for a damaged file and Invalid for too few powers, or that of ctx.
func (s *Setups) LoadPowers(ctx context.Context, setup formats.Setup, logSize int) (*srs.SRS, error) {
	e, err := s.store.Open(powersPath(setup.Source))
	if err != nil {
		return nil, err
	}
	tauBytes, err := e.Read(ctx, fileTau, bn254.SizeOfG2AffineUncompressed)
	if err != nil {
		return nil, err
	}
	var tau bn254.G2Affine
	if n, err := tau.SetBytes(tauBytes); err != nil || n != bn254.SizeOfG2AffineUncompressed {
		return nil, e.Damaged(fileTau, errors.New("it is no point of G2"))
	}
	f, err := e.File(ctx, filePowers)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	there, want := f.Size()/bn254.SizeOfG1AffineUncompressed, int64(1)<<logSize+srs.Extra
	if there < want && srs.IsDev(setup) {
		more, err := srs.Dev(ctx, logSize)
		if err != nil {
			return nil, err
		}
		return more, s.KeepPowers(ctx, more)
	}
	g1, err := srs.ReadPoints(ctx, f, 0, min(want, there))
	if err != nil {
		return nil, err
	}
	var powers *srs.SRS
	powers, err = srs.Kept(g1, tau, setup, false, func(ctx context.Context, logSize int) ([]bn254.G1Affine, error) {
		return s.loadLagrange(ctx, powers, logSize)
	})
	if err != nil {
		return nil, e.Damaged(filePowers, err)
	}
	return powers, nil
}

func (s *Setups) loadLagrange(ctx context.Context, p *srs.SRS, logSize int) ([]bn254.G1Affine, error) {
	path := keys.Path{"srs", verifier.Hex(p.Setup.Source), lagrangeName(logSize)}
	e, err := s.store.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		points, err := p.ComputeLagrange(ctx, logSize)
		if err != nil {
			return nil, err
		}
		return points, s.store.Put(ctx, path, p.Setup, keys.Files{fileLagrange: func(w io.Writer) error { return srs.WritePoints(w, points) }})
	}
	if err != nil {
		return nil, err
	}
	f, err := e.File(ctx, fileLagrange)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return srs.ReadPoints(ctx, f, 0, 1<<logSize)
}

func (s *System) path(source formats.Digest) keys.Path {
	return keys.Path{s.Backend, verifier.Hex(s.ID), verifier.Hex(source)}
}

// Keep keeps a prover's keys.
func (s *Setups) Keep(ctx context.Context, p *Prover) error {
	files := keys.Files{fileKey: keys.Bytes(p.Key.Encoded())}
	if p.groth16 != nil {
		files[filePk] = func(w io.Writer) error { return writeGroth16(w, p.groth16) }
	}
	return s.store.Put(ctx, p.System.path(p.Key.Setup.Source), p.Key.Setup, files)
}

// Plonk is the prover of a circuit under kept powers of tau: with the key that was kept, or with one made now and kept, also in place of one from before the powers' origin was known. Errors are those of LoadPowers and SetupPlonk.
func (s *Setups) Plonk(ctx context.Context, system *System, setup formats.Setup) (*Prover, error) {
	powers, err := s.LoadPowers(ctx, setup, system.LogDomain)
	if err != nil {
		return nil, err
	}
	e, err := s.store.Open(system.path(setup.Source))
	if errors.Is(err, fs.ErrNotExist) || err == nil && e.Setup != setup {
		p, err := system.SetupPlonk(ctx, powers)
		if err != nil {
			return nil, err
		}
		return p, s.Keep(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	key, err := readKey(ctx, e)
	if err != nil {
		return nil, err
	}
	return system.LoadPlonk(ctx, powers, key)
}

// Groth16 is the prover of a circuit with kept keys; without any it returns an error that is fs.ErrNotExist. Errors are *formats.Error of class Malformed for damaged files and
// Incompatible for those of another circuit, or that of ctx.
func (s *Setups) Groth16(ctx context.Context, system *System, setup formats.Setup) (*Prover, error) {
	e, err := s.store.Open(system.path(setup.Source))
	if err != nil {
		return nil, err
	}
	key, err := readKey(ctx, e)
	if err != nil {
		return nil, err
	}
	if err := system.matches(key, setup); err != nil {
		return nil, err
	}
	f, err := e.File(ctx, filePk)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	pk, err := readGroth16(ctx, f, system.groth16Shape())
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, e.Damaged(filePk, err)
	}
	return system.groth16Prover(key, pk), nil
}

func readKey(ctx context.Context, e *keys.Entry) (*snark.Key, error) {
	data, err := e.Read(ctx, fileKey, formats.MaxRootKeyBytes)
	if err != nil {
		return nil, err
	}
	key, err := snark.ParseKey(data)
	if err != nil {
		return nil, e.Damaged(fileKey, err)
	}
	return key, nil
}

// Keys lists the kept keys of compressed proofs, real setups first. What is damaged is left out.
func (s *Setups) Keys(ctx context.Context) ([]*snark.Key, error) {
	var list []*snark.Key
	for _, backend := range []string{formats.BackendPlonk, formats.BackendGroth16} {
		circuits, err := s.store.List(backend)
		if err != nil {
			return nil, err
		}
		for _, circuit := range circuits {
			sources, err := s.store.List(backend, circuit)
			if err != nil {
				return nil, err
			}
			for _, source := range sources {
				e, err := s.store.Open(keys.Path{backend, circuit, source})
				if err != nil {
					continue
				}
				key, err := readKey(ctx, e)
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				if err == nil && verifier.Hex(key.Circuit) == circuit && key.Setup == e.Setup {
					list = append(list, key)
				}
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *snark.Key) int { return cmp.Compare(rank(a.Setup), rank(b.Setup)) })
	return list, nil
}
