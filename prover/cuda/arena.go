package cuda

import (
	"fmt"

	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/prover"
)

// arena is a driver that gives out one block of device memory, so that a proof takes what its model says and the order of its buffers decides where they are. All work of
// a proof is on one stream: a buffer may be given out again as soon as it is given back.
type arena struct {
	kernels.Driver
	base     kernels.Address
	size     prover.Bytes
	small    prover.Bytes // of size, at the base, for what the model calls scratch
	separate bool         // give each buffer its own device allocation
	layouts  [2]prover.Layout
	spans    map[kernels.Address]place
	next     region // where the next buffer belongs
	keeping  bool   // the next buffer is a table
}

// Keep implements kernels.Keeper. Were tables taken among the buffers that pass, these would leave gaps.
func (a *arena) Keep(lasting bool) { a.keeping = lasting }

// region says what a buffer is for, and so which part of which layout it belongs in.
type region struct {
	layout int
	end    prover.End
}

var (
	tables   = region{0, prover.Low}  // what kernels look up
	internal = region{0, prover.High} // the kernels' own buffers, which pass with a call
	list     = region{0, prover.High} // columns and coefficients
	lasting  = region{1, prover.Low}
	passing  = region{1, prover.High}
)

type place struct {
	region
	span prover.Span
}

// newArena gives out a block of that size. Without a block (base 0) buffers are separate; without a model (size 0) they are as large as the device allows.
func newArena(d kernels.Driver, base kernels.Address, size, small prover.Bytes) *arena {
	return &arena{Driver: d, base: base, next: internal, size: size, small: small, separate: base == 0, spans: map[kernels.Address]place{}}
}

// Alloc implements kernels.Driver.
func (a *arena) Alloc(bytes int64) (kernels.Address, error) {
	r := a.next
	switch {
	case a.keeping:
		r = tables
	case r == internal && prover.Bytes(bytes) >= prover.LargeScratch:
		r = passing
	}
	p := place{r, a.layouts[r.layout].Take(r.end, prover.Bytes(bytes))}
	size := a.small
	if p.layout == 1 {
		size = a.size - a.small
	}
	if extent := a.layouts[p.layout].Extent(); a.size > 0 && extent > size {
		a.layouts[p.layout].Give(p.span)
		return 0, &kernels.Error{Kind: kernels.NoMemory, Place: "arena", What: fmt.Sprintf("%d bytes more would make %d of the %d that the model allows", bytes, extent, size),
			Next: "report this with the shape that was proven: the memory model is wrong"}
	}
	at := a.base
	switch {
	case a.separate:
		var err error
		if at, err = a.Driver.Alloc(bytes); err != nil {
			a.layouts[p.layout].Give(p.span)
			return 0, err
		}
	case p.layout == 1 && p.end == prover.High:
		at += kernels.Address(a.size - p.span.At - p.span.Size)
	case p.end == prover.High:
		at += kernels.Address(a.small - p.span.At - p.span.Size)
	case p.layout == 1:
		at += kernels.Address(a.small + p.span.At)
	default:
		at += kernels.Address(p.span.At)
	}
	a.spans[at] = p
	return at, nil
}

// Free implements kernels.Driver.
func (a *arena) Free(at kernels.Address) error {
	p, ok := a.spans[at]
	if !ok {
		return &kernels.Error{Kind: kernels.BadRange, Place: "arena", What: fmt.Sprintf("%#x is no buffer", uint64(at))}
	}
	a.layouts[p.layout].Give(p.span)
	delete(a.spans, at)
	if a.separate {
		return a.Driver.Free(at)
	}
	return nil
}

// peak is the most that was in use at a time.
func (a *arena) peak() prover.Bytes { return a.layouts[0].Peak() + a.layouts[1].Peak() }

// Close implements kernels.Driver. It leaves the driver open, and the block with its owner.
func (a *arena) Close() error { return nil }
