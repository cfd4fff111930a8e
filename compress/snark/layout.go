package snark

import (
	"encoding/binary"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
)

// Sizes of uncompressed points in bytes.
const (
	sizeG1 = bn254.SizeOfG1AffineUncompressed
	sizeG2 = bn254.SizeOfG2AffineUncompressed
)

// layout reads or writes fixed sequences of values: big-endian, points uncompressed as in the EVM's precompiles. A value that is not canonical or not in its group makes it bad, so
// that what is read has one encoding.
type layout struct {
	b       []byte
	writing bool
	bad     bool
}

func (l *layout) take(n int) []byte {
	if l.bad || len(l.b) < n {
		l.bad = true
		return make([]byte, n)
	}
	b := l.b[:n]
	l.b = l.b[n:]
	return b
}

func (l *layout) g1(points ...*bn254.G1Affine) {
	for _, p := range points {
		if l.writing {
			raw := p.RawBytes()
			l.b = append(l.b, raw[:]...)
		} else if n, err := p.SetBytes(l.take(sizeG1)); err != nil || n != sizeG1 {
			l.bad = true
		}
	}
}

func (l *layout) g2(points ...*bn254.G2Affine) {
	for _, p := range points {
		if l.writing {
			raw := p.RawBytes()
			l.b = append(l.b, raw[:]...)
		} else if n, err := p.SetBytes(l.take(sizeG2)); err != nil || n != sizeG2 {
			l.bad = true
		}
	}
}

func (l *layout) scalars(list ...*fr.Element) {
	for _, e := range list {
		if l.writing {
			raw := e.Bytes()
			l.b = append(l.b, raw[:]...)
		} else if e.SetBytesCanonical(l.take(fr.Bytes)) != nil {
			l.bad = true
		}
	}
}

func (l *layout) number(v *uint64) {
	if l.writing {
		l.b = binary.BigEndian.AppendUint64(l.b, *v)
	} else {
		*v = binary.BigEndian.Uint64(l.take(8))
	}
}

// whole reports whether everything was read and good.
func (l *layout) whole() bool { return !l.bad && len(l.b) == 0 }
