// Package lanes computes keyed BLAKE3 digests of many inputs of equal length side by side: 16 at a time with AVX-512 (F, BW, VL), 8 with AVX2, with kernels that the module internal/asm
// generates; elsewhere, and under the build tag purego, one after the other with package verifier/blake3, to which the tests compare every kernel.
//
// References are to "BLAKE3: one function, fast everywhere" (O'Connor, Aumasson, Neves, Wilcox-O'Hearn; version 20211102). Not audited.
package lanes

import (
	"encoding/binary"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/blake3"
	"github.com/ixprove/ixprove/verifier/field"
)

// Columns sets out[i] to the digest of row first + i of column-major matrices: the row's elements, one a column, as canonical little-endian words.
func Columns(out []formats.Digest, key *[32]byte, columns [][]field.Element, first int) {
	for _, c := range columns {
		_ = c[first : first+len(out)]
	}
	done := columnsMany(out, key, columns, first)
	var row []byte
	for i := done; i < len(out); i++ {
		row = row[:0]
		for _, c := range columns {
			row = binary.LittleEndian.AppendUint64(row, uint64(c[first+i]))
		}
		out[i] = blake3.KeyedSum256(key, row)
	}
}

// Rows sets out[i] to the digest of bytes n·i to n·(i+1)-1 of data.
func Rows(out []formats.Digest, key *[32]byte, data []byte, n int) {
	data = data[:n*len(out)]
	for i := rowsMany(out, key, data, n); i < len(out); i++ {
		out[i] = blake3.KeyedSum256(key, data[n*i:n*(i+1)])
	}
}

// Digests sets out[i] to the digest of digests each·i to each·(i+1)-1 of in, concatenated.
func Digests(out []formats.Digest, key *[32]byte, in []formats.Digest, each int) {
	in = in[:each*len(out)]
	done := digestsMany(out, key, in, each)
	var b []byte
	for i := done; i < len(out); i++ {
		b = b[:0]
		for k := range each {
			b = append(b, in[each*i+k][:]...)
		}
		out[i] = blake3.KeyedSum256(key, b)
	}
}

// elementsPerChunk is the number of field elements in a chunk.
const elementsPerChunk = blake3.ChunkSize / 8

// blocks is the number of blocks of n bytes, one for none, and the length of the last.
func blocks(n int) (count int, last uint32) {
	if n == 0 {
		return 1, 0
	}
	return (n + blake3.BlockSize - 1) / blake3.BlockSize, uint32((n-1)%blake3.BlockSize + 1)
}
