//go:build !purego

package lanes

import (
	"math/bits"
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/blake3"
	"github.com/ixprove/ixprove/verifier/field"
)

// width is the number of lanes of the best kernels that this processor has: 16, 8, or 1 for none. Tests set it to less.
var width = detect()

func detect() int {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasAVX2:
		return 16
	case cpu.X86.HasAVX2:
		return 8
	}
	return 1
}

// Width is the number of inputs that are hashed at once.
func Width() int { return width }

// chaining is a chaining value of every lane, word by word.
type chaining [8][16]uint32

// hasher hashes one batch of lanes.
type hasher struct {
	key     [8]uint32
	columns [][]field.Element
	offset  int // of the batch's first row, in bytes
}

// columnsMany hashes as many whole batches as there are and returns the number of rows.
func columnsMany(out []formats.Digest, key *[32]byte, columns [][]field.Element, first int) int {
	if width == 1 || len(columns) == 0 {
		return 0
	}
	h := hasher{key: blake3.KeyWords(key), columns: columns}
	i := 0
	for ; i+width <= len(out); i += width {
		h.offset = 8 * (first + i)
		var cv chaining
		h.subtree(&cv, 0, (len(columns)+elementsPerChunk-1)/elementsPerChunk, blake3.Root)
		write(&out[i], &cv)
	}
	return i
}

// subtree sets cv to the chaining value of some chunks; root is blake3.Root for all of them and 0 below.
func (h *hasher) subtree(cv *chaining, first, count int, root uint32) {
	if count == 1 {
		columns := h.columns[first*elementsPerChunk : min((first+1)*elementsPerChunk, len(h.columns))]
		n, last := blocks(8 * len(columns))
		headers := (**uint64)(unsafe.Pointer(unsafe.SliceData(columns)))
		const later = blake3.KeyedHash
		if width == 16 {
			columnsAVX512((*[8][16]uint32)(cv), &h.key, headers, len(columns), h.offset, n, uint32(first), last, later|blake3.ChunkStart, later, blake3.ChunkEnd|root)
		} else {
			columnsAVX2((*[8][16]uint32)(cv), &h.key, headers, len(columns), h.offset, n, uint32(first), last, later|blake3.ChunkStart, later, blake3.ChunkEnd|root)
		}
		return
	}
	left := 1 << (bits.Len(uint(count-1)) - 1) // the largest power of two that leaves some (section 2.1)
	var right chaining
	h.subtree(cv, first, left, 0)
	h.subtree(&right, first+left, count-left, 0)
	l, r, flags := (*[8][16]uint32)(cv), (*[8][16]uint32)(&right), blake3.KeyedHash|blake3.Parent|root
	if width == 16 {
		parentAVX512(l, &h.key, l, r, flags)
	} else {
		parentAVX2(l, &h.key, l, r, flags)
	}
}

func write(out *formats.Digest, cv *chaining) {
	if width == 16 {
		digestsAVX512((*[32]byte)(out), (*[8][16]uint32)(cv))
	} else {
		digestsAVX2((*[32]byte)(out), (*[8][16]uint32)(cv))
	}
}

// rowsMany is columnsMany for rows of at most one chunk.
func rowsMany(out []formats.Digest, key *[32]byte, data []byte, n int) int {
	if width == 1 || n > blake3.ChunkSize {
		return 0
	}
	words := blake3.KeyWords(key)
	count, last := blocks(n)
	stride := count * blake3.BlockSize
	// The kernels read whole blocks.
	var padded []byte
	var small [16 * 2 * blake3.BlockSize]byte
	switch {
	case stride == n:
	case width*stride <= len(small):
		padded = small[:]
	default:
		padded = make([]byte, width*stride)
	}
	i := 0
	for ; i+width <= len(out); i += width {
		from := data[n*i:]
		if padded != nil {
			for k := range width {
				copy(padded[stride*k:], from[n*k:n*(k+1)])
			}
			from = padded
		}
		var cv chaining
		const later = blake3.KeyedHash
		if width == 16 {
			rowsAVX512((*[8][16]uint32)(&cv), &words, &from[0], stride, count, 0, last, later|blake3.ChunkStart, later, blake3.ChunkEnd|blake3.Root)
		} else {
			rowsAVX2((*[8][16]uint32)(&cv), &words, &from[0], stride, count, 0, last, later|blake3.ChunkStart, later, blake3.ChunkEnd|blake3.Root)
		}
		write(&out[i], &cv)
	}
	return i
}

func digestsMany(out []formats.Digest, key *[32]byte, in []formats.Digest, each int) int {
	if len(in) == 0 {
		return 0
	}
	return rowsMany(out, key, unsafe.Slice(&in[0][0], len(in)*formats.DigestBytes), each*formats.DigestBytes)
}
