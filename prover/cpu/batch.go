package cpu

import (
	"encoding/binary"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/prover/internal/lanes"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
)

// Batch is a hash suite that hashes many inputs at a time. Its digests are the suite's. A hash.Suite that implements it too is used through it. Slices do not
// overlap, and may be empty.
type Batch interface {
	// Leaves sets out[i] to the leaf of row first + i of columns.
	Leaves(out []hash.Digest, shape *hash.Digest, columns [][]field.Element, first int)
	// Rows sets out[i] to the leaf of row i of data, rows of size bytes.
	Rows(out []hash.Digest, shape *hash.Digest, data []byte, size int)
	// Nodes sets out[i] to the parent of below[2i] and below[2i+1].
	Nodes(out, below []hash.Digest)
	// Injections is Nodes at a level where rows enter.
	Injections(out, below, rows []hash.Digest)
	// FindNonce returns the first of n nonces from first on whose hash with state has its low bits zero, 1 to 64 of them, and n for none.
	FindNonce(state *hash.Digest, first uint64, n, bits int) int
}

// batchOf returns the fastest form of a suite.
func batchOf(s hash.Suite) Batch {
	if b, ok := s.(Batch); ok {
		return b
	}
	if b, ok := s.(hash.Blake3); ok {
		return blake3Batch{oneByOne{b}}
	}
	return oneByOne{s}
}

// oneByOne serves every suite.
type oneByOne struct{ hash.Suite }

func (s oneByOne) Leaves(out []hash.Digest, shape *hash.Digest, columns [][]field.Element, first int) {
	s.Rows(out, shape, gather(nil, columns, first, first+len(out)), len(columns)*formats.ElementBytes)
}

func (s oneByOne) Rows(out []hash.Digest, shape *hash.Digest, data []byte, n int) {
	for i := range out {
		out[i] = s.Leaf(shape, data[i*n:(i+1)*n])
	}
}

func (s oneByOne) Nodes(out, below []hash.Digest) {
	for i := range out {
		out[i] = s.Node(&below[2*i], &below[2*i+1])
	}
}

func (s oneByOne) Injections(out, below, rows []hash.Digest) {
	for i := range out {
		out[i] = s.Inject(&below[2*i], &below[2*i+1], &rows[i])
	}
}

func (s oneByOne) FindNonce(state *hash.Digest, first uint64, n, bits int) int {
	for i := range n {
		if s.Grind(state, first+uint64(i))<<(64-bits) == 0 {
			return i
		}
	}
	return n
}

// blake3Batch is the suite "blake3" in lanes.
type blake3Batch struct{ oneByOne }

// The suite's keys (docs/protocol.md section 3).
var (
	nodeKey   = [32]byte([]byte("ixprove/1 merkle node\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	injectKey = [32]byte([]byte("ixprove/1 merkle inject\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	grindKey  = [32]byte([]byte("ixprove/1 grind\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
)

func (blake3Batch) Leaves(out []hash.Digest, shape *hash.Digest, columns [][]field.Element, first int) {
	lanes.Columns(out, (*[32]byte)(shape), columns, first)
}

func (blake3Batch) Rows(out []hash.Digest, shape *hash.Digest, data []byte, n int) {
	lanes.Rows(out, (*[32]byte)(shape), data, n)
}

func (blake3Batch) Nodes(out, below []hash.Digest) { lanes.Digests(out, &nodeKey, below, 2) }

func (blake3Batch) Injections(out, below, rows []hash.Digest) {
	const many = 32
	var in [3 * many]hash.Digest
	for ; len(out) > 0; out, below, rows = out[min(many, len(out)):], below[min(2*many, len(below)):], rows[min(many, len(rows)):] {
		n := min(many, len(out))
		for i := range n {
			in[3*i], in[3*i+1], in[3*i+2] = below[2*i], below[2*i+1], rows[i]
		}
		lanes.Digests(out[:n], &injectKey, in[:3*n], 3)
	}
}

func (blake3Batch) FindNonce(state *hash.Digest, first uint64, n, bits int) int {
	const many, size = 128, formats.DigestBytes + 8
	var in [many * size]byte
	var out [many]hash.Digest
	for i := range many {
		copy(in[i*size:], state[:])
	}
	for start := 0; start < n; start += many {
		for i := range many {
			binary.LittleEndian.PutUint64(in[i*size+formats.DigestBytes:], first+uint64(start+i))
		}
		lanes.Rows(out[:], &grindKey, in[:], size)
		for i := range min(many, n-start) {
			if binary.LittleEndian.Uint64(out[i][:])<<(64-bits) == 0 {
				return start + i
			}
		}
	}
	return n
}
