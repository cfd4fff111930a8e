package postlink

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// The Go linker writes a table that maps code addresses to functions (runtime.findfuncbucket): a record of 20 bytes for each 4096 addresses, 4 for the first function there and 16
// for finer steps. On wasm each function has 65,536 addresses, so record i holds i/16 and nothing else. As data segments, 24,000 of them, this takes a tenth of the module. A
// start function computes it instead.
const (
	rampStride = 20
	rampShift  = 4 // record i holds i >> rampShift
	rampLeast  = 1000
)

// ramp is such a table: count records from address base on.
type ramp struct{ base, count int }

func (t ramp) end() int { return t.base + t.count*rampStride }

// segment is a piece of a module's initial memory.
type segment struct {
	at   int
	data []byte
}

func readSegments(section []byte) ([]segment, error) {
	r := &reader{rest: section}
	var out []segment
	for n := r.uint(); n > 0 && r.err == nil; n-- {
		kind, op := r.byte(), r.byte()
		at := r.signed()
		end := r.byte()
		data := r.take(r.uint())
		if r.err == nil && (kind != 0 || op != opI32Const || end != opEnd || at < 0) {
			return nil, errors.New("postlink: a data segment is not of the form that the Go linker writes")
		}
		out = append(out, segment{int(at), data})
	}
	return out, r.err
}

func appendSegments(out []byte, segments []segment) []byte {
	out = appendUint(out, uint64(len(segments)))
	for _, s := range segments {
		out = append(append(append(out, 0), constant(uint32(s.at))...), opEnd)
		out = append(appendUint(out, uint64(len(s.data))), s.data...)
	}
	return out
}

// findRamp looks for the table in the memory that the segments make, and checks every byte of what it returns.
func findRamp(segments []segment) (ramp, bool) {
	size := 0
	for _, s := range segments {
		size = max(size, s.at+len(s.data))
	}
	memory := make([]byte, size)
	for _, s := range segments {
		copy(memory[s.at:], s.data)
	}
	for _, s := range segments {
		// The first record that is not zero holds 1.
		t := ramp{base: s.at - rampStride<<rampShift}
		if !bytes.Equal(s.data, []byte{1}) || t.base < 0 {
			continue
		}
		var want [rampStride]byte
		for ; t.end()+rampStride <= size; t.count++ {
			binary.LittleEndian.PutUint32(want[:], uint32(t.count>>rampShift))
			if !bytes.Equal(memory[t.end():t.end()+rampStride], want[:]) {
				break
			}
		}
		if t.count >= rampLeast {
			return t, true
		}
	}
	return ramp{}, false
}

// without returns the segments less what lies in the table.
func (t ramp) without(segments []segment) []segment {
	var out []segment
	for _, s := range segments {
		end := s.at + len(s.data)
		if s.at < t.base && end > s.at {
			out = append(out, segment{s.at, s.data[:min(end, t.base)-s.at]})
		}
		if end > t.end() {
			from := max(s.at, t.end())
			out = append(out, segment{from, s.data[from-s.at:]})
		}
	}
	return out
}

// body is the function that fills the table.
func (t ramp) body() []byte {
	out := []byte{1, 1, typeI32} // one local: the record
	out = append(out, opLoop, typeEmpty)
	out = append(append(append(out, local(0)...), constant(rampStride)...), opI32Mul)
	out = append(append(append(out, local(0)...), constant(rampShift)...), opI32ShrU)
	out = appendUint(append(out, opI32Store, 2), uint64(t.base))
	out = append(append(append(out, local(0)...), constant(1)...), opI32Add, opLocalTee, 0)
	out = append(append(out, constant(uint32(t.count))...), opI32LtU, opBrIf, 0)
	return append(out, opEnd, opEnd)
}
