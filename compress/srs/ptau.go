package srs

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"io"
	"strconv"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"golang.org/x/crypto/blake2b"

	"github.com/ixprove/ixprove/formats"
)

const ptauMagic = "ptau"

// Sections of a .ptau file (snarkjs 0.7.5, src/powersoftau_new.js and powersoftau_preparephase2.js). With N = 2^power: 2N-1 powers in section 2, N in the sections 3 to 5. A prepared
// file has in section 12 the Lagrange points of every domain 2^0 … 2^(power+1), one domain after the other in natural order, the largest computed with a zero for its last power.
const (
	ptauHeader   = 1
	ptauTauG1    = 2
	ptauTauG2    = 3
	ptauAlphaTau = 4
	ptauBetaTau  = 5
	ptauBetaG2   = 6
	ptauLagrange = 12
)

// maxSections bounds the table of contents; there are 11 in a prepared file.
const maxSections = 64

type section struct{ off, size int64 }

// ptau is an opened .ptau file.
type ptau struct {
	f        Source
	power    int
	sections map[uint32]section
}

func openPtau(f Source) (*ptau, error) {
	p := &ptau{f: f, sections: map[uint32]section{}}
	var head [12]byte
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, f.Size()), head[:]); err != nil || string(head[:4]) != ptauMagic {
		return nil, malformed("header", "this is no .ptau file", ptauMagic, strconv.Quote(string(head[:4])))
	}
	if v := binary.LittleEndian.Uint32(head[4:]); v != 1 {
		return nil, &formats.Error{Class: formats.Incompatible, Place: "header", What: "this is a .ptau file of another version", Expected: "1", Got: strconv.FormatUint(uint64(v), 10)}
	}
	count := binary.LittleEndian.Uint32(head[8:])
	if count > maxSections {
		return nil, malformed("header", "there are too many sections", "at most "+strconv.Itoa(maxSections), strconv.FormatUint(uint64(count), 10))
	}
	off := int64(len(head))
	for range count {
		var h [12]byte
		if n, _ := f.ReadAt(h[:], off); n < len(h) {
			return nil, malformed("sections", "the file is cut short", "the head of a section", strconv.Itoa(n)+" bytes")
		}
		off += int64(len(h))
		id, size := binary.LittleEndian.Uint32(h[:]), binary.LittleEndian.Uint64(h[4:])
		place := "section " + strconv.FormatUint(uint64(id), 10)
		if size > uint64(f.Size()-off) {
			return nil, malformed(place, "the file is cut short", strconv.FormatUint(size, 10)+" bytes", strconv.FormatInt(f.Size()-off, 10))
		}
		if _, twice := p.sections[id]; twice {
			return nil, malformed(place, "the section is there twice", "once", "twice")
		}
		p.sections[id] = section{off, int64(size)}
		off += int64(size)
	}
	return p, p.header()
}

func (p *ptau) header() error {
	const size = 4 + fp.Bytes + 4 + 4
	at, ok := p.sections[ptauHeader]
	if !ok || at.size != size {
		return malformed("section 1", "there is no header of a curve like BN254", strconv.Itoa(size)+" bytes", strconv.FormatInt(at.size, 10))
	}
	var h [size]byte
	if n, err := p.f.ReadAt(h[:], at.off); n < len(h) {
		return err
	}
	if n := binary.LittleEndian.Uint32(h[:]); n != fp.Bytes {
		return malformed("section 1", "coordinates have another length", strconv.Itoa(fp.Bytes), strconv.FormatUint(uint64(n), 10))
	}
	for i, b := range fp.Modulus().FillBytes(make([]byte, fp.Bytes)) {
		if h[4+fp.Bytes-1-i] != b {
			return &formats.Error{Class: formats.Incompatible, Place: "section 1", What: "the powers are over another curve", Expected: "BN254", Got: "another base field", Next: "use a file of bn128"}
		}
	}
	power := binary.LittleEndian.Uint32(h[4+fp.Bytes:])
	if power < 1 || power > 28 {
		return malformed("section 1", "the power is out of range", "1 to 28", strconv.FormatUint(uint64(power), 10))
	}
	p.power = int(power)
	return nil
}

// need finds a section that must hold at least n points of size bytes.
func (p *ptau) need(id uint32, n, size int64) (off int64, err error) {
	at, ok := p.sections[id]
	if !ok || at.size/size < n {
		return 0, malformed("section "+strconv.FormatUint(uint64(id), 10), "the section is missing or cut short", strconv.FormatInt(n, 10)+" points", strconv.FormatInt(at.size/size, 10))
	}
	return at.off, nil
}

func (p *ptau) g1(ctx context.Context, id uint32, from, n int64) ([]bn254.G1Affine, error) {
	off, err := p.need(id, from+n, sizeG1)
	if err != nil {
		return nil, err
	}
	return readPoints(ctx, p.f, "section "+strconv.FormatUint(uint64(id), 10), off+from*sizeG1, n, sizeG1, decodeG1(fpMontgomery))
}

func (p *ptau) g2(ctx context.Context, id uint32, n int64) ([]bn254.G2Affine, error) {
	off, err := p.need(id, n, sizeG2)
	if err != nil {
		return nil, err
	}
	return readPoints(ctx, p.f, "section "+strconv.FormatUint(uint64(id), 10), off, n, sizeG2, decodeG2(fpMontgomery))
}

func readPtau(ctx context.Context, f Source, want int64, _ func() ([]byte, error)) (*SRS, error) {
	p, err := openPtau(f)
	if err != nil {
		return nil, err
	}
	s := &SRS{}
	if s.G1, err = p.g1(ctx, ptauTauG1, 0, min(want, 2<<p.power-1)); err != nil {
		return nil, err
	}
	g2, err := p.g2(ctx, ptauTauG2, 2)
	if err != nil {
		return nil, err
	}
	if _, _, _, generator := bn254.Generators(); !g2[0].Equal(&generator) {
		return nil, malformed("section 3", "the powers do not start at the generator of G2", "the generator", "another point")
	}
	s.Tau = g2[1]
	if _, prepared := p.sections[ptauLagrange]; prepared {
		s.Prepared = true
		s.lagrange = func(ctx context.Context, logSize int) ([]bn254.G1Affine, error) {
			return p.g1(ctx, ptauLagrange, 1<<logSize-1, 1<<logSize)
		}
	}
	s.Setup.Name, err = knownFile(ctx, f)
	return s, err
}

// knownFile names the ceremony of a file with a published digest, which is BLAKE2b-512 of all of it.
func knownFile(ctx context.Context, f Source) (string, error) {
	h, err := blake2b.New512(nil)
	if err != nil {
		return "", err
	}
	if _, err := io.Copy(h, &stoppable{ctx, io.NewSectionReader(f, 0, f.Size())}); err != nil {
		return "", err
	}
	return pinnedFiles[hex.EncodeToString(h.Sum(nil))], nil
}

// stoppable ends a long read when ctx does.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s *stoppable) Read(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(b)
}
