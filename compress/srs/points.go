package srs

import (
	"context"
	"encoding/binary"
	"io"
	"runtime"
	"strconv"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
)

// Sizes of uncompressed points in bytes.
const (
	sizeG1 = bn254.SizeOfG1AffineUncompressed
	sizeG2 = bn254.SizeOfG2AffineUncompressed
)

// decodeFp reads a coordinate of 32 bytes and reports whether it is below p.
type decodeFp func(b []byte, e *fp.Element) bool

// fpMontgomery reads little-endian limbs in Montgomery form with R = 2^256: how snarkjs stores coordinates, and how gnark has them in memory.
func fpMontgomery(b []byte, e *fp.Element) bool {
	for i := range e {
		e[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	for i := len(e) - 1; i >= 0; i-- {
		if m := modulusLimbs[i]; e[i] != m {
			return e[i] < m
		}
	}
	return false
}

// fpBigEndian reads a canonical big-endian integer: Aztec's form.
func fpBigEndian(b []byte, e *fp.Element) bool { return e.SetBytesCanonical(b[:fp.Bytes]) == nil }

var modulusLimbs = func() (m [4]uint64) {
	b := fp.Modulus().Bytes()
	for i := range m {
		m[i] = binary.BigEndian.Uint64(b[24-8*i:])
	}
	return m
}()

// decodeG1 reads an affine point, (0, 0) being infinity, and reports whether it is on the curve: for G1 of BN254 that is the subgroup.
func decodeG1(field decodeFp) func(b []byte, p *bn254.G1Affine) bool {
	return func(b []byte, p *bn254.G1Affine) bool {
		return field(b, &p.X) && field(b[fp.Bytes:], &p.Y) && p.IsOnCurve()
	}
}

// decodeG2 reads an affine point with the coefficients of each coordinate in rising order and reports whether it is in the subgroup of order r.
func decodeG2(field decodeFp) func(b []byte, p *bn254.G2Affine) bool {
	return func(b []byte, p *bn254.G2Affine) bool {
		return coordinatesG2(field, b, p) && p.IsInSubGroup()
	}
}

func coordinatesG2(field decodeFp, b []byte, p *bn254.G2Affine) bool {
	return field(b, &p.X.A0) && field(b[fp.Bytes:], &p.X.A1) && field(b[2*fp.Bytes:], &p.Y.A0) && field(b[3*fp.Bytes:], &p.Y.A1)
}

// chunkBytes is read at once by each processor.
const chunkBytes = 1 << 20

// readPoints reads n points of size bytes from off on. That the file has them was checked before, so what is allocated is bounded by its size.
func readPoints[P any](ctx context.Context, f io.ReaderAt, place string, off, n, size int64, decode func([]byte, *P) bool) ([]P, error) {
	points := make([]P, n)
	per := chunkBytes / size
	chunks := make(chan int64)
	var once sync.Once
	var failed error
	stop := make(chan struct{})
	fail := func(err error) { once.Do(func() { failed = err; close(stop) }) }
	var done sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		done.Go(func() {
			buf := make([]byte, per*size)
			for at := range chunks {
				b := buf[:min(per, n-at)*size]
				if read, err := f.ReadAt(b, off+at*size); read < len(b) {
					fail(malformed(place, "the file cannot be read", strconv.FormatInt(n, 10)+" points", err.Error()))
					return
				}
				for i := int64(0); i*size < int64(len(b)); i++ {
					if !decode(b[i*size:(i+1)*size], &points[at+i]) {
						fail(malformed(place, "a point is not one of its group", "reduced coordinates of a point of order r", "point "+strconv.FormatInt(at+i, 10)))
						return
					}
				}
			}
		})
	}
send:
	for at := int64(0); at < n; at += per {
		select {
		case chunks <- at:
		case <-stop:
			break send
		case <-ctx.Done():
			fail(ctx.Err())
			break send
		}
	}
	close(chunks)
	done.Wait()
	return points, failed
}

// WritePoints writes points as ReadPoints reads them: little-endian Montgomery limbs, 64 bytes a point.
func WritePoints(w io.Writer, points []bn254.G1Affine) error {
	return writePoints(w, points, func(p *bn254.G1Affine) []*fp.Element { return []*fp.Element{&p.X, &p.Y} })
}

// WriteG2 writes points of G2 as ReadG2 reads them: 128 bytes a point, coefficients in rising order.
func WriteG2(w io.Writer, points []bn254.G2Affine) error {
	return writePoints(w, points, func(p *bn254.G2Affine) []*fp.Element {
		return []*fp.Element{&p.X.A0, &p.X.A1, &p.Y.A0, &p.Y.A1}
	})
}

func writePoints[P any](w io.Writer, points []P, coordinates func(*P) []*fp.Element) error {
	buf := make([]byte, 0, chunkBytes)
	for i := range points {
		for _, e := range coordinates(&points[i]) {
			for _, limb := range e {
				buf = binary.LittleEndian.AppendUint64(buf, limb)
			}
		}
		if len(buf) == cap(buf) || i == len(points)-1 {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	return nil
}

// ReadPoints reads n points that WritePoints wrote, from off on. Points off the curve are refused. Errors are *formats.Error of class Malformed, or that of ctx.
func ReadPoints(ctx context.Context, f Source, off, n int64) ([]bn254.G1Affine, error) {
	if off < 0 || n < 0 || off > f.Size() || n > (f.Size()-off)/sizeG1 {
		return nil, malformed("points", "the file is cut short", strconv.FormatInt(n, 10)+" points", strconv.FormatInt(f.Size(), 10)+" bytes")
	}
	return readPoints(ctx, f, "points", off, n, sizeG1, decodeG1(fpMontgomery))
}

// ReadG2 reads n points that WriteG2 wrote, from off on. Points off the curve are refused; that they are of order r is not checked, which would take a minute a million points: it is for
// proving keys, whose proofs are verified. Errors are those of ReadPoints.
func ReadG2(ctx context.Context, f Source, off, n int64) ([]bn254.G2Affine, error) {
	if off < 0 || n < 0 || off > f.Size() || n > (f.Size()-off)/sizeG2 {
		return nil, malformed("points", "the file is cut short", strconv.FormatInt(n, 10)+" points of G2", strconv.FormatInt(f.Size(), 10)+" bytes")
	}
	return readPoints(ctx, f, "points", off, n, sizeG2, func(b []byte, p *bn254.G2Affine) bool { return coordinatesG2(fpMontgomery, b, p) && p.IsOnCurve() })
}
