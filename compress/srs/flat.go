package srs

import (
	"bytes"
	"context"
	"encoding/binary"
	"strconv"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/kzg"
)

// readFlat reads Aztec's g1.dat: points of 64 bytes, big-endian, a prefix of the file being as good as all of it. Files are about that start at the generator and such that start at
// [tau]1; both are taken. [tau]2 is the companion g2.dat, or that of Aztec's ceremony if there is none; the structure check refuses a wrong one.
func readFlat(ctx context.Context, f Source, want int64, companion func() ([]byte, error)) (*SRS, error) {
	s := &SRS{Tau: ignitionTau()}
	if companion != nil {
		b, err := companion()
		if err != nil {
			return nil, err
		}
		if b != nil && (len(b) != sizeG2 || !decodeG2(fpBigEndian)(b, &s.Tau)) {
			return nil, malformed("g2.dat", "this is no point of G2", strconv.Itoa(sizeG2)+" bytes, of order r", strconv.Itoa(len(b))+" bytes")
		}
	}
	_, _, generator, _ := bn254.Generators()
	points, err := readPoints(ctx, f, "points", 0, min(want, f.Size()/sizeG1), sizeG1, decodeG1(fpBigEndian))
	if err != nil {
		return nil, err
	}
	s.G1 = points
	if !points[0].Equal(&generator) {
		s.G1 = append([]bn254.G1Affine{generator}, points[:min(want-1, int64(len(points)))]...)
	}
	return s, nil
}

// vkBytes is the length of a kzg.VerifyingKey as gnark-crypto v0.21.0 writes it: [1]2, [tau]2, [1]1 and 264 pairs of line coefficients, which are not read but computed.
const (
	linesBytes  = 2 * 2 * len(bn254.LoopCounter) * 2 * 2 * fp.Bytes
	vkBytes     = 2*bn254.SizeOfG2AffineCompressed + bn254.SizeOfG1AffineCompressed + linesBytes
	vkRawBytes  = 2*sizeG2 + sizeG1 + linesBytes
	dumpHead    = vkRawBytes + 8 + 8 // the verifying key, a marker, the number of points
	dumpMarker  = 0xdeadbeef
	gnarkHead   = 4 // the number of points, big-endian
	compressed1 = bn254.SizeOfG1AffineCompressed
)

// isDump recognises kzg.SRS.WriteDump by what it starts with: the generator of G2.
func isDump(head []byte) bool {
	_, _, _, g2 := bn254.Generators()
	raw := g2.RawBytes()
	return bytes.Equal(head[:sizeG2], raw[:])
}

// readDump reads what kzg.SRS.WriteDump wrote on a little-endian machine.
func readDump(ctx context.Context, f Source, want int64, _ func() ([]byte, error)) (*SRS, error) {
	var h [dumpHead]byte
	if n, _ := f.ReadAt(h[:], 0); n < len(h) {
		return nil, malformed("header", "the file is cut short", strconv.Itoa(dumpHead)+" bytes", strconv.Itoa(n))
	}
	if m := binary.LittleEndian.Uint64(h[vkRawBytes:]); m != dumpMarker {
		return nil, malformed("header", "this is no dump of a little-endian machine", "0xdeadbeef", "0x"+strconv.FormatUint(m, 16))
	}
	n := binary.LittleEndian.Uint64(h[vkRawBytes+8:])
	if n > uint64(f.Size()-int64(dumpHead))/sizeG1 {
		return nil, malformed("points", "the file is cut short", strconv.FormatUint(n, 10)+" points", strconv.FormatInt(f.Size(), 10)+" bytes")
	}
	s := &SRS{}
	if _, err := s.Tau.SetBytes(h[sizeG2 : 2*sizeG2]); err != nil {
		return nil, malformed("header", "[tau]2 is no point of G2", "a point of order r", err.Error())
	}
	points, err := readPoints(ctx, f, "points", int64(dumpHead), min(want, int64(n)), sizeG1, decodeG1(fpMontgomery))
	s.G1 = points
	return s, err
}

// form is how kzg.SRS.WriteTo (compressed) and WriteRawTo (not) lay points out.
type form struct {
	n, size int64
	decode  func([]byte, *bn254.G1Affine) bool
	g2      int64
}

// gnarkForm recognises what kzg.SRS wrote by the number of points and the file's size, nil if it did not.
func gnarkForm(f Source, head []byte) *form {
	n := int64(binary.BigEndian.Uint32(head))
	for _, form := range []form{
		{n, compressed1, func(b []byte, p *bn254.G1Affine) bool {
			read, err := p.SetBytes(b)
			return err == nil && read == len(b)
		}, bn254.SizeOfG2AffineCompressed},
		{n, sizeG1, decodeG1(fpBigEndian), sizeG2},
	} {
		vk := int64(vkBytes)
		if form.size == sizeG1 {
			vk = int64(vkRawBytes)
		}
		if f.Size() == gnarkHead+n*form.size+vk {
			return &form
		}
	}
	return nil
}

func readGnark(ctx context.Context, f Source, want int64, _ func() ([]byte, error)) (*SRS, error) {
	var head [gnarkHead]byte
	if n, err := f.ReadAt(head[:], 0); n < len(head) {
		return nil, err
	}
	form := gnarkForm(f, head[:])
	s := &SRS{}
	var err error
	if s.G1, err = readPoints(ctx, f, "points", gnarkHead, min(want, form.n), form.size, form.decode); err != nil {
		return nil, err
	}
	b := make([]byte, 2*form.g2)
	if n, err := f.ReadAt(b, gnarkHead+form.n*form.size); n < len(b) {
		return nil, err
	}
	var generator bn254.G2Affine
	for i, p := range []*bn254.G2Affine{&generator, &s.Tau} {
		part := b[int64(i)*form.g2 : int64(i+1)*form.g2]
		if read, err := p.SetBytes(part); err != nil || read != len(part) {
			return nil, malformed("verifying key", "a point is not one of G2", "a point of order r", "point "+strconv.Itoa(i))
		}
	}
	if _, _, _, g2 := bn254.Generators(); !generator.Equal(&g2) {
		return nil, malformed("verifying key", "it is over another generator of G2", "the generator", "another point")
	}
	return s, nil
}

// KZG is the string as gnark takes it, with n powers; the caller has made sure that there are so many.
func (s *SRS) KZG(n int) kzg.SRS {
	return kzg.SRS{Pk: kzg.ProvingKey{G1: s.G1[:n]}, Vk: VerifyingKey(&s.Tau)}
}

// VerifyingKey is the KZG verifying key of a tau, over the standard generators.
func VerifyingKey(tau *bn254.G2Affine) kzg.VerifyingKey {
	_, _, g1, g2 := bn254.Generators()
	vk := kzg.VerifyingKey{G1: g1, G2: [2]bn254.G2Affine{g2, *tau}}
	for i := range vk.Lines {
		vk.Lines[i] = bn254.PrecomputeLines(vk.G2[i])
	}
	return vk
}
