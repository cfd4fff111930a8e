package postlink

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// section is a section of a module.
func section(id byte, content ...byte) []byte {
	return append(appendUint([]byte{id}, uint64(len(content))), content...)
}

// vector is a vector of encoded items.
func vector(items ...[]byte) []byte {
	return append(appendUint(nil, uint64(len(items))), bytes.Join(items, nil)...)
}

func name(s string) []byte { return append(appendUint(nil, uint64(len(s))), s...) }

// toy is a module as the Go linker might write it: imports, a memory, a table of count records from base on with other data around it, and for each import an export that calls it.
func toy(imports []function, types [][]byte, base, count int) []byte {
	var entries, exports, callers, bodies [][]byte
	for i, f := range imports {
		entries = append(entries, append(append(append(name("wasi_snapshot_preview1"), name(f.name)...), 0), appendUint(nil, f.typeIndex)...))
		exports = append(exports, append(append(name(f.name), 0), byte(len(imports)+i)))
		callers = append(callers, appendUint(nil, f.typeIndex))
		body := []byte{0}
		for k := range types[f.typeIndex][1] { // parameters
			body = append(body, local(k)...)
		}
		body = append(body, 0x10, byte(i), opEnd)
		bodies = append(bodies, append(appendUint(nil, uint64(len(body))), body...))
	}
	exports = append(exports, append(name("memory"), 2, 0))
	segments := []segment{{8, []byte("before")}}
	for i := range count {
		var record [4]byte
		binary.LittleEndian.PutUint32(record[:], uint32(i>>rampShift))
		at := base + i*rampStride
		if s := bytes.Trim(record[:], "\x00"); len(s) > 0 {
			segments = append(segments, segment{at + bytes.Index(record[:], s), s})
		}
	}
	segments = append(segments, segment{base + count*rampStride, []byte("after")})
	return bytes.Join([][]byte{
		header, section(sectionType, vector(types...)...), section(sectionImport, vector(entries...)...), section(sectionFunction, vector(callers...)...),
		section(sectionMemory, vector([]byte{0, 4})...), section(7, vector(exports...)...), section(sectionCode, vector(bodies...)...),
		section(sectionData, appendSegments(nil, segments)...), section(sectionCustom, name("name")...),
	}, nil)
}

func signature(params, results string) []byte {
	encode := func(s string) []byte {
		return append(appendUint(nil, uint64(len(s))), strings.NewReplacer("i", "\x7f", "l", "\x7e").Replace(s)...)
	}
	return append(append([]byte{typeFunction}, encode(params)...), encode(results)...)
}

var (
	toyTypes   = [][]byte{signature("", ""), signature("i", ""), signature("ii", "i"), signature("iiii", "i"), signature("ili", "i"), signature("", "i")}
	toyImports = []function{{"sched_yield", 5}, {"proc_exit", 1}, {"args_get", 2}, {"args_sizes_get", 2}, {"clock_time_get", 4}, {"environ_get", 2}, {"environ_sizes_get", 2},
		{"fd_write", 3}, {"random_get", 2}, {"poll_oneoff", 3}}
)

// instantiate runs a module.
func instantiate(t *testing.T, module []byte) api.Module {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() { r.Close(ctx) })
	m, err := r.Instantiate(ctx, module)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestStubs links a module and calls what was imported.
func TestStubs(t *testing.T) {
	linked, err := Link(toy(toyImports, toyTypes, 1000, 5), Options{MaxMemoryPages: 9, Environment: []string{"A=1", "BC=23"}})
	if err != nil {
		t.Fatal(err)
	}
	if imports, err := Imports(linked); err != nil || len(imports) > 0 {
		t.Errorf("imports %v, %v", imports, err)
	}
	if bytes.Contains(linked, name("name")) {
		t.Error("a custom section is left")
	}
	m := instantiate(t, linked)
	if most, ok := m.ExportedMemory("memory").Definition().Max(); !ok || most != 9 {
		t.Errorf("at most %d pages", most)
	}
	memory := m.Memory()
	call := func(f string, args ...uint64) uint64 {
		t.Helper()
		out, err := m.ExportedFunction(f).Call(t.Context(), args...)
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		return out[0]
	}
	word := func(at uint32) uint32 {
		v, _ := memory.ReadUint32Le(at)
		return v
	}
	memory.Write(2000, bytes.Repeat([]byte{0xff}, 100))
	for _, f := range toyImports {
		switch f.name {
		case "sched_yield":
			call(f.name)
		case "args_get":
			call(f.name, 2000, 2000)
		case "args_sizes_get":
			if call(f.name, 2000, 2004); word(2000) != 0 || word(2004) != 0 {
				t.Error("there are arguments")
			}
		case "clock_time_get":
			call(f.name, 0, 0, 2000)
			if v, _ := memory.ReadUint64Le(2000); v != 1e9 {
				t.Errorf("the clock says %d", v)
			}
		case "environ_sizes_get":
			if call(f.name, 2000, 2004); word(2000) != 2 || word(2004) != 10 {
				t.Errorf("%d variables of %d bytes", word(2000), word(2004))
			}
		case "environ_get":
			call(f.name, 2000, 2100)
			text, _ := memory.Read(2100, 10)
			if word(2000) != 2100 || word(2004) != 2104 || string(text) != "A=1\x00BC=23\x00" {
				t.Errorf("environment %q at %d and %d", text, word(2000), word(2004))
			}
		case "fd_write":
			if got := call(f.name, 1, 2000, 1, 2004); got != 0 {
				t.Errorf("a write ends with %d: the runtime would write about it for ever", got)
			}
		case "random_get":
			call(f.name, 2000, 5)
			if b, _ := memory.Read(2000, 6); !bytes.Equal(b, []byte{0, 0, 0, 0, 0, b[5]}) {
				t.Errorf("random bytes %x", b)
			}
		case "poll_oneoff":
			memory.WriteUint64Le(3000+clockTimeout, 0)
			memory.WriteUint32Le(2000, 7)
			if got := call(f.name, 3000, 0, 1, 2000); got != 0 || word(2000) != 0 {
				t.Errorf("a poll ends with %d and %d events", got, word(2000))
			}
			memory.WriteUint64Le(3000+clockTimeout, 1)
			if _, err := m.ExportedFunction(f.name).Call(t.Context(), 3000, 0, 1, 2000); err == nil {
				t.Error("a wait ends")
			}
		case "proc_exit":
			if _, err := m.ExportedFunction(f.name).Call(t.Context(), 0); err == nil {
				t.Error("an exit is no trap")
			}
		}
	}
}

// TestRamp links modules with tables of many sizes and places: the memory is that of the module as it was.
func TestRamp(t *testing.T) {
	for _, c := range []struct{ base, count int }{{320, 0}, {320, rampLeast - 1}, {320, rampLeast}, {1003, 5000}, {4096, 8191}} {
		module := toy(nil, toyTypes, c.base, c.count)
		before, _ := instantiate(t, module).Memory().Read(0, 4*PageBytes)
		linked, err := Link(module, Options{MaxMemoryPages: 4})
		if err != nil {
			t.Fatal(err)
		}
		after, _ := instantiate(t, linked).Memory().Read(0, 4*PageBytes)
		if !bytes.Equal(before, after) {
			t.Errorf("%+v: the memory differs", c)
		}
		if small := len(linked) < len(module)/10; small != (c.count >= rampLeast) {
			t.Errorf("%+v: %d bytes of %d", c, len(linked), len(module))
		}
	}
}

func TestRefusals(t *testing.T) {
	good := toy(toyImports, toyTypes, 1000, 5)
	for what, c := range map[string]struct {
		module []byte
		pages  int
	}{
		"a text":              {[]byte("hello, world"), 4},
		"an unknown import":   {toy([]function{{"sock_accept", 2}}, toyTypes, 1000, 5), 4},
		"too little memory":   {good, 3},
		"another host":        {bytes.Replace(good, []byte("wasi_snapshot_preview1"), []byte("wasi_snapshot_preview2"), 1), 4},
		"no type for a start": {toy(nil, toyTypes[1:], 1000, 5000), 4},
		"no sections":         {header, 4},
	} {
		if _, err := Link(c.module, Options{MaxMemoryPages: c.pages}); err == nil {
			t.Errorf("%s: linked", what)
		}
	}
	for n := range good {
		if linked, err := Link(good[:n], Options{MaxMemoryPages: 4}); err == nil && n < len(good)-7 { // all but the last, custom section
			t.Errorf("%d of %d bytes: linked to %d", n, len(good), len(linked))
		}
	}
}

func TestSigned(t *testing.T) {
	for _, v := range []int64{0, 1, 63, 64, 127, 128, 8191, 8192, 1<<31 - 1, -1, -64, -65, -1 << 31} {
		r := &reader{rest: signed(v)}
		if got := r.signed(); got != v || r.err != nil || len(r.rest) > 0 {
			t.Errorf("%d: %d, %v", v, got, r.err)
		}
	}
}
