package cpu

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
)

// traceSource reads a block of rows of a trace, in row order.
type traceSource struct {
	main, fixed [][]field.Element
	periodic    []formats.Elements
	height      int
	first       int // first row of the block
}

func (s *traceSource) column(dst []field.Element, op formats.Op, index int, next bool) []field.Element {
	at := s.first
	if next {
		at++
	}
	if op == formats.OpPeriodic {
		values := s.periodic[index]
		for r := range dst {
			dst[r] = field.Element(values.At((at + r) & (values.Len() - 1)))
		}
		return dst
	}
	columns := s.main
	if op == formats.OpFixed {
		columns = s.fixed
	}
	if column := columns[index][min(at, s.height):]; len(column) >= len(dst) {
		return column[:len(dst)]
	} else {
		copy(dst[copy(dst, column):], columns[index]) // the row after the last is the first
	}
	return dst
}

func (s *traceSource) selector(dst []field.Element, op formats.Op) []field.Element {
	clear(dst)
	switch row := s.height - 1 - s.first; op {
	case formats.OpFirst:
		if s.first == 0 {
			dst[0] = 1
		}
	case formats.OpLast:
		if row < len(dst) {
			dst[row] = 1
		}
	case formats.OpTransition:
		w, _ := field.RootOfUnity(log2(s.height))
		back, _ := field.Inverse(w)
		x := field.Pow(w, uint64(s.first))
		for r := range dst {
			dst[r] = field.Sub(x, back)
			x = field.Mul(x, w)
		}
	}
	return dst
}

func log2(n int) int {
	log := 0
	for 1<<log < n {
		log++
	}
	return log
}

// cosetSource reads a block of points of extended columns, inside one slab.
type cosetSource struct {
	main, fixed [][]field.Element // extended
	logHeight   int
	slab, first int // the slab's offset, and the block's first point within it: a multiple of the block's length, a power of two
	selectors   [3][]field.Element
	periodicAt  func(dst []field.Element, index int, next bool)
}

func (s *cosetSource) column(dst []field.Element, op formats.Op, index int, next bool) []field.Element {
	if op == formats.OpPeriodic {
		s.periodicAt(dst, index, next)
		return dst
	}
	columns := s.main
	if op == formats.OpFixed {
		columns = s.fixed
	}
	return s.read(dst, columns[index], next)
}

// read is the block of an extended column, at this row or the next. Block b of 2^k points holds the rows with rev(b) in their low bits, so the next rows are a block too, in the same order; after
// the last block comes the first, moved by one of its own rows.
func (s *cosetSource) read(dst, column []field.Element, next bool) []field.Element {
	column = column[s.slab : s.slab+1<<s.logHeight]
	if !next {
		return column[s.first : s.first+len(dst)]
	}
	k := log2(len(dst))
	blocks := s.logHeight - k
	if b := field.ReverseBits(uint64(s.first>>k), blocks) + 1; b < 1<<blocks {
		at := int(field.ReverseBits(b, blocks)) << k
		return column[at : at+len(dst)]
	}
	for r := range dst {
		dst[r] = column[field.ReverseBits((field.ReverseBits(uint64(r), k)+1)&(1<<k-1), k)]
	}
	return dst
}

func (s *cosetSource) selector(_ []field.Element, op formats.Op) []field.Element {
	return s.selectors[op-formats.OpFirst]
}
