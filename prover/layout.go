package prover

import "slices"

// Layout places buffers in one block of memory, in the order in which they are taken: each in the first gap that holds it, counted from one end of the block. Lasting
// buffers belong at the low end and passing ones at the high end, so that neither leaves holes among the others. Equal sequences give equal places: whoever follows
// the takes and gives of a proof knows, to the byte, the block that the proof needs. The zero Layout is empty.
type Layout struct {
	spans [2][]Span // by rising distance from their end
	live  Bytes
	peak  Bytes
}

// End is an end of a block.
type End int

// The ends.
const (
	Low End = iota
	High
)

// Span is a part of a block: Size bytes whose near edge is At bytes away from End.
type Span struct {
	End      End
	At, Size Bytes
}

// layoutAlign divides all places and sizes: what CUDA promises of an allocation, so that kernels may assume as much of a span.
const layoutAlign = 256

func alignUp(n Bytes) Bytes { return (n + layoutAlign - 1) &^ (layoutAlign - 1) }

// Take finds a place for n bytes, n > 0.
func (l *Layout) Take(end End, n Bytes) Span {
	s := Span{End: end, Size: alignUp(n)}
	spans := l.spans[end]
	at := slices.IndexFunc(spans, func(o Span) bool {
		if o.At-s.At >= s.Size {
			return true
		}
		s.At = o.At + o.Size
		return false
	})
	if at < 0 {
		at = len(spans)
	}
	l.spans[end] = slices.Insert(spans, at, s)
	l.live += s.Size
	l.peak = max(l.peak, l.Extent())
	return s
}

// Give frees a span that Take returned; it reports whether there was one.
func (l *Layout) Give(s Span) bool {
	at := slices.Index(l.spans[s.End], s)
	if at < 0 {
		return false
	}
	l.spans[s.End] = slices.Delete(l.spans[s.End], at, at+1)
	l.live -= s.Size
	return true
}

// Extent is the block that the present spans need: how far they reach from both ends.
func (l *Layout) Extent() (n Bytes) {
	for _, spans := range l.spans {
		if len(spans) > 0 {
			last := spans[len(spans)-1]
			n += last.At + last.Size
		}
	}
	return n
}

// Live is the sum of the present spans.
func (l *Layout) Live() Bytes { return l.live }

// Peak is the greatest Extent so far.
func (l *Layout) Peak() Bytes { return l.peak }
