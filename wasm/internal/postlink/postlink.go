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
	sectionCode     = 10
)

var header = []byte("\x00asm\x01\x00\x00\x00")

// Options say what the module is allowed and told.
type Options struct {
	MaxMemoryPages int    // memory never grows past it
	Environment    string // one variable, "NAME=value", that the Go runtime reads at its start
}

// Link returns the module without imports and custom sections. Imports must be functions of wasi_snapshot_preview1 that [Stubs] knows; the module must have at least the sections of
// a Go program.
//
// Imported functions have the lowest indices. Stubs defined in their order take the same indices, so that no reference changes.
func Link(module []byte, o Options) ([]byte, error) {
	sections, err := split(module)
	if err != nil {
		return nil, err
	}
	imports, err := readImports(sections[sectionImport])
	if err != nil {
		return nil, err
	}
	var types, bodies [][]byte
	for _, i := range imports {
		body, ok := stub(i.name, o.Environment)
		if !ok {
			return nil, fmt.Errorf("postlink: no stub for the import %s", i.name)
		}
		types = append(types, appendUint(nil, i.typeIndex))
		bodies = append(bodies, append(appendUint(nil, uint64(len(body))), body...))
	}
	edits := map[byte]func([]byte) ([]byte, error){
		sectionFunction: func(b []byte) ([]byte, error) { return prepend(b, types) },
		sectionCode:     func(b []byte) ([]byte, error) { return prepend(b, bodies) },
		sectionMemory:   func(b []byte) ([]byte, error) { return limitMemory(b, o.MaxMemoryPages) },
	}
	out := bytes.Clone(header)
	for id := byte(1); int(id) < len(order); id++ {
		content, ok := sections[order[id]]
		if !ok || order[id] == sectionImport {
			continue
		}
		if edit, ok := edits[order[id]]; ok {
			if content, err = edit(content); err != nil {
				return nil, err
			}
		}
		out = append(out, order[id])
		out = appendUint(out, uint64(len(content)))
		out = append(out, content...)
	}
	return out, nil
}

// order is that of the sections in a module; 12, the data count, comes before the code.
var order = [...]byte{sectionCustom, sectionType, sectionImport, sectionFunction, 4, sectionMemory, 6, 7, 8, 9, 12, sectionCode, 11}

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
	for _, id := range []byte{sectionType, sectionImport, sectionFunction, sectionMemory, sectionCode} {
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

// prepend puts items before those of a vector.
func prepend(vector []byte, items [][]byte) ([]byte, error) {
	r := &reader{rest: vector}
	out := appendUint(nil, r.uint()+uint64(len(items)))
	for _, item := range items {
		out = append(out, item...)
	}
	return append(out, r.rest...), r.err
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

func appendUint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }
