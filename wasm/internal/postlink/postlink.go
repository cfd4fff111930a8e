// Package postlink turns a Go wasip1 reactor into a module without imports: WASI becomes a few stub functions inside it.
//
// The result runs in any WebAssembly runtime, cannot reach its host, and is a pure function of its inputs. The binary format is that of the WebAssembly core specification 2.0, section 5.
package postlink

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// PageBytes is the size of a WebAssembly memory page.
const PageBytes = 64 << 10

// Section numbers (core specification, section 5.5.2).
const (
	sectionCustom   = 0
	sectionType     = 1
	sectionImport   = 2
	sectionFunction = 3
	sectionMemory   = 5
	sectionStart    = 8
	sectionCode     = 10
	sectionData     = 11
)

var header = []byte("\x00asm\x01\x00\x00\x00")

// Options say what the module is allowed and told.
type Options struct {
	MaxMemoryPages int      // memory never grows past it
	Environment    []string // variables, "NAME=value", that the Go runtime reads at its start
}

// Link returns the module without imports and custom sections. Imports must be functions of WASI preview 1 that a stub exists for; the module must have been written by the Go linker.
//
// Imported functions have the lowest indices. Stubs defined in their order take the same indices, so that no reference changes. A table that can be computed becomes a start
// function, whose index is the highest.
func Link(module []byte, o Options) ([]byte, error) {
	sections, err := split(module)
	if err != nil {
		return nil, err
	}
	imports, err := readImports(sections[sectionImport])
	if err != nil {
		return nil, err
	}
	delete(sections, sectionImport)
	var first, last functions
	for _, i := range imports {
		body, ok := stub(i.name, o.Environment)
		if !ok {
			return nil, fmt.Errorf("postlink: no stub for the import %s", i.name)
		}
		first.add(i.typeIndex, body)
	}
	segments, err := readSegments(sections[sectionData])
	if err != nil {
		return nil, err
	}
	if t, ok := findRamp(segments); ok {
		plain, err := plainType(sections[sectionType])
		if err != nil {
			return nil, err
		}
		last.add(plain, t.body())
		sections[sectionData] = appendSegments(nil, t.without(segments))
		defined := &reader{rest: sections[sectionFunction]}
		sections[sectionStart] = appendUint(nil, uint64(len(imports))+defined.uint())
	}
	if sections[sectionFunction], err = extend(sections[sectionFunction], first.types, last.types); err != nil {
		return nil, err
	}
	if sections[sectionCode], err = extend(sections[sectionCode], first.bodies, last.bodies); err != nil {
		return nil, err
	}
	if sections[sectionMemory], err = limitMemory(sections[sectionMemory], o.MaxMemoryPages); err != nil {
		return nil, err
	}
	out := bytes.Clone(header)
	for _, id := range order {
		if content, ok := sections[id]; ok {
			out = appendUint(append(out, id), uint64(len(content)))
			out = append(out, content...)
		}
	}
	return out, nil
}

// functions are entries of the function section and of the code section.
type functions struct{ types, bodies [][]byte }

func (f *functions) add(typeIndex uint64, body []byte) {
	f.types = append(f.types, appendUint(nil, typeIndex))
	f.bodies = append(f.bodies, append(appendUint(nil, uint64(len(body))), body...))
}

// plainType is the index of the type of functions without parameters and results.
func plainType(section []byte) (uint64, error) {
	r := &reader{rest: section}
	for i, n := uint64(0), r.uint(); i < n && r.err == nil; i++ {
		form := r.byte()
		params, results := r.take(r.uint()), r.take(r.uint())
		if form == typeFunction && len(params)+len(results) == 0 {
			return i, r.err
		}
	}
	return 0, errors.New("postlink: the module has no type for a start function")
}

// order is that of the sections in a module: 12, the data count, comes before the code.
var order = [...]byte{sectionType, sectionFunction, 4, sectionMemory, 6, 7, sectionStart, 9, 12, sectionCode, sectionData}

// split returns a module's sections by number, without custom ones.
func split(module []byte) (map[byte][]byte, error) {
	if !bytes.HasPrefix(module, header) {
		return nil, errors.New("postlink: this is no WebAssembly module of version 1")
	}
	r := &reader{rest: module[len(header):]}
	sections := map[byte][]byte{}
	for len(r.rest) > 0 && r.err == nil {
		id := r.byte()
		content := r.take(r.uint())
		if id != sectionCustom {
			sections[id] = content
		}
	}
	for _, id := range []byte{sectionType, sectionImport, sectionFunction, sectionMemory, sectionCode, sectionData} {
		if _, ok := sections[id]; !ok && r.err == nil {
			r.err = fmt.Errorf("postlink: the module has no section %d", id)
		}
	}
	return sections, r.err
}

type function struct {
	name      string
	typeIndex uint64
}

func readImports(section []byte) ([]function, error) {
	r := &reader{rest: section}
	var out []function
	for n := r.uint(); n > 0 && r.err == nil; n-- {
		module, name, kind := string(r.take(r.uint())), string(r.take(r.uint())), r.byte()
		if r.err == nil && (module != "wasi_snapshot_preview1" || kind != 0) {
			return nil, fmt.Errorf("postlink: %s.%s is no function of WASI preview 1", module, name)
		}
		out = append(out, function{name, r.uint()})
	}
	return out, r.err
}

// extend puts items before and after those of a vector.
func extend(vector []byte, before, after [][]byte) ([]byte, error) {
	r := &reader{rest: vector}
	out := appendUint(nil, r.uint()+uint64(len(before)+len(after)))
	out = append(out, bytes.Join(before, nil)...)
	out = append(out, r.rest...)
	return append(out, bytes.Join(after, nil)...), r.err
}

// limitMemory sets the maximum of a module's one memory.
func limitMemory(section []byte, pages int) ([]byte, error) {
	r := &reader{rest: section}
	count, flags, least := r.uint(), r.byte(), r.uint()
	if r.err != nil || count != 1 || flags > 1 || least > uint64(pages) {
		return nil, fmt.Errorf("postlink: expected one memory of at most %d pages to start with, got %d of %d", pages, count, least)
	}
	return appendUint(appendUint([]byte{1, 1}, least), uint64(pages)), nil
}

// Imports lists a module's imports as "module.name"; it is empty for a linked one.
func Imports(module []byte) ([]string, error) {
	var out []string
	if !bytes.HasPrefix(module, header) {
		return nil, errors.New("postlink: this is no WebAssembly module of version 1")
	}
	r := &reader{rest: module[len(header):]}
	for len(r.rest) > 0 && r.err == nil {
		id := r.byte()
		s := &reader{rest: r.take(r.uint())}
		if id != sectionImport {
			continue
		}
		for n := s.uint(); n > 0 && s.err == nil; n-- {
			out = append(out, string(s.take(s.uint()))+"."+string(s.take(s.uint())))
			s.byte()
			s.uint()
		}
		r.err = errors.Join(r.err, s.err)
	}
	return out, r.err
}

// reader reads the binary format; after the first failure it returns zeros.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) byte() byte {
	b := r.take(1)
	if r.err != nil {
		return 0
	}
	return b[0]
}

func (r *reader) take(n uint64) []byte {
	if r.err != nil {
		return nil
	}
	if n > uint64(len(r.rest)) {
		r.err = errors.New("postlink: the module is cut short")
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// uint reads an unsigned LEB128 number.
func (r *reader) uint() uint64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.err = errors.New("postlink: a number is malformed")
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// signed reads a signed LEB128 number of at most 32 bits.
func (r *reader) signed() int64 {
	var v int64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			if b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	r.err = errors.New("postlink: a number is malformed")
	return 0
}

func appendUint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }
