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

func (s *traceSource) column(dst []field.Element, op formats.Op, index int, next bool) {
	at := s.first
	if next {
		at++
	}
	if op == formats.OpPeriodic {
		values := s.periodic[index]
		for r := range dst {
			dst[r] = field.Element(values.At((at + r) & (values.Len() - 1)))
		}
		return
	}
	columns := s.main
	if op == formats.OpFixed {
		columns = s.fixed
	}
	n := copy(dst, columns[index][min(at, s.height):])
	copy(dst[n:], columns[index]) // the row after the last is the first
}

func (s *traceSource) selector(dst []field.Element, op formats.Op) {
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
	next        []uint32          // position of the next row within a slab
	slab, first int               // the slab's offset, and the block's first point within it
	selectors   [3][]field.Element
	periodicAt  func(dst []field.Element, index int, next bool)
}

func (s *cosetSource) column(dst []field.Element, op formats.Op, index int, next bool) {
	if op == formats.OpPeriodic {
		s.periodicAt(dst, index, next)
		return
	}
	columns := s.main
	if op == formats.OpFixed {
		columns = s.fixed
	}
	column := columns[index][s.slab : s.slab+len(s.next)]
	if !next {
		copy(dst, column[s.first:])
		return
	}
	for r, at := range s.next[s.first : s.first+len(dst)] {
		dst[r] = column[at]
	}
}

func (s *cosetSource) selector(dst []field.Element, op formats.Op) {
	copy(dst, s.selectors[op-formats.OpFirst])
}
