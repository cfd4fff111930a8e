package wasm_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/ixprove/ixprove/wasm"
	"github.com/ixprove/ixprove/wasm/message"
	"github.com/ixprove/ixprove/wasm/wasmtest"
)

// guest is an instance of the module, used as a host in another language would.
type guest struct {
	testing.TB
	api.Module
}

func newGuest(t testing.TB) guest {
	t.Helper()
	ctx := t.Context()
	c, err := wazero.NewCompilationCacheWithDir(cache)
	if err != nil {
		t.Fatal(err)
	}
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(c))
	t.Cleanup(func() { r.Close(ctx) })
	m, err := r.InstantiateWithConfig(ctx, wasm.Module(), wazero.NewModuleConfig().WithStartFunctions("_initialize"))
	if err != nil {
		t.Fatal(err)
	}
	return guest{t, m}
}

func (g guest) call(name string, args ...uint64) uint32 {
	g.Helper()
	out, err := g.ExportedFunction(name).Call(g.Context(), args...)
	if err != nil {
		g.Fatalf("%s: %v", name, err)
	}
	if len(out) == 0 {
		return 0
	}
	return uint32(out[0])
}

func (g guest) put(data []byte) (at, n uint64) {
	g.Helper()
	at, n = uint64(g.call("alloc", uint64(len(data)))), uint64(len(data))
	if at == 0 || !g.Memory().Write(uint32(at), data) {
		g.Fatal("no memory for an input")
	}
	return at, n
}

func (g guest) result() string {
	g.Helper()
	data, ok := g.Memory().Read(g.call("result_ptr"), g.call("result_len"))
	if !ok {
		g.Fatal("the result lies outside the memory")
	}
	return string(data)
}

func TestBothWaysToVerify(t *testing.T) {
	g := newGuest(t)
	for _, name := range fixtures {
		key, proof := read(t, name+".key"), read(t, name+".proof")
		for _, policy := range []string{`{"insecure":true}`, `{"insecure":true,"claims":[]}`} {
			status, want := message.Verify(proof, key, []byte(policy))
			p, pn := g.put(proof)
			k, kn := g.put(key)
			q, qn := g.put([]byte(policy))
			if got := g.call("verify_with", p, pn, k, kn, q, qn); got != uint32(status) || g.result() != string(want) {
				t.Errorf("verify_with: %d %s", got, g.result())
			}
			for _, at := range []uint64{p, k, q} {
				g.call("free", at)
			}
			f, fn := g.put(wasmtest.Frame(proof, key, []byte(policy)))
			if got := g.call("verify", f, fn); got != uint32(status) || g.result() != string(want) {
				t.Errorf("verify: %d %s", got, g.result())
			}
			g.call("free", f)
		}
	}
}

// TestMisuse calls the module as a host should not: a status and a result each time, and the instance goes on.
func TestMisuse(t *testing.T) {
	g := newGuest(t)
	const internal = uint32(message.Internal)
	for _, n := range []uint64{0, wasm.MaxProofBytes + wasm.MaxKeyBytes + wasm.MaxPolicyBytes + 13, 1 << 31, 1<<32 - 1} {
		if at := g.call("alloc", n); at != 0 {
			t.Errorf("%d bytes at %d", n, at)
		}
	}
	for _, at := range []uint64{0, 1, 1 << 20, 1<<32 - 1} {
		g.call("free", at)
		if got := g.call("verify_with", at, 100, at, 100, 0, 0); got != internal {
			t.Errorf("no allocation at %d: status %d", at, got)
		}
		if got := g.call("verify", at, 100); got != internal {
			t.Errorf("no allocation at %d: status %d", at, got)
		}
	}
	at, n := g.put(make([]byte, 100))
	for _, in := range [][2]uint64{{at, n + 1}, {at + 1, n - 1}, {at, 1<<32 - 1}} {
		if got := g.call("verify_with", in[0], in[1], at, n, 0, 0); got != internal {
			t.Errorf("an allocation of 100 bytes read as %d: status %d", in, got)
		}
	}
	g.call("free", at)
	g.call("free", at)
	if got := g.call("verify_with", at, n, at, n, 0, 0); got != internal {
		t.Errorf("an allocation after its end: status %d", got)
	}
	whole := wasmtest.Frame([]byte{1}, []byte{2}, []byte{3})
	for i := 1; i < len(whole); i++ {
		at, n := g.put(whole[:i])
		if got := g.call("verify", at, n); got != internal {
			t.Errorf("a frame cut to %d bytes: status %d", i, got)
		}
		g.call("free", at)
	}
	long := bytes.Clone(whole)
	binary.LittleEndian.PutUint32(long, 1<<32-1)
	for _, frame := range [][]byte{long, append(bytes.Clone(whole), 0)} {
		at, n := g.put(frame)
		if got := g.call("verify", at, n); got != internal {
			t.Errorf("frame %x: status %d", frame, got)
		}
		g.call("free", at)
	}
	// All that may be had at once, twice.
	for range 2 {
		var all []uint64
		for _, n := range []int{wasm.MaxProofBytes, wasm.MaxKeyBytes, wasm.MaxPolicyBytes, 12} {
			at, _ := g.put(make([]byte, n))
			all = append(all, at)
		}
		if at := g.call("alloc", 1); at != 0 {
			t.Error("the limits left a byte")
		}
		for _, at := range all {
			g.call("free", at)
		}
	}
	for i := range 17 {
		if at := g.call("alloc", 1); (at == 0) != (i == 16) {
			t.Errorf("allocation %d at %d", i, at)
		}
	}
}

// TestResultIsThatOfTheLastCall looks for what an earlier call has left.
func TestResultIsThatOfTheLastCall(t *testing.T) {
	g := newGuest(t)
	if n := g.call("result_len"); n != 0 {
		t.Errorf("a result of %d bytes before any call", n)
	}
	at, n := g.put(wasmtest.Frame(read(t, fixtures[0]+".proof"), read(t, fixtures[0]+".key"), nil))
	if got := g.call("verify", at, n); got != 0 {
		t.Errorf("status %d: %s", got, g.result())
	}
	g.call("verify", 0, 0)
	var r struct{ Verdict, Place string }
	if err := json.Unmarshal([]byte(g.result()), &r); err != nil || r.Verdict != "internal" || r.Place != "host" {
		t.Errorf("%v %s", err, g.result())
	}
}

// TestMemoryIsTheSameInNode compares the whole memory after a verification.
func TestMemoryIsTheSameInNode(t *testing.T) {
	for _, name := range fixtures {
		inputs := [3][]byte{read(t, name+".proof"), read(t, name+".key"), []byte(`{"insecure":true}`)}
		g := newGuest(t)
		g.call("abi_version")
		var args []uint64
		for _, data := range inputs {
			at, n := g.put(data)
			args = append(args, at, n)
		}
		if got := g.call("verify_with", args...); got != 0 {
			t.Fatal(g.result())
		}
		for i := range inputs {
			g.call("free", args[2*i])
		}
		g.call("result_ptr")
		g.call("result_len")
		memory, _ := g.Memory().Read(0, g.Memory().Size())
		want := sha256.Sum256(memory)

		frame := wasmtest.Frame(inputs[0], inputs[1], inputs[2])
		c := exec.CommandContext(t.Context(), "node", filepath.Join(wasmtest.Folder(), "scripts", "engine.js"), "verifier.wasm", "--memory")
		c.Stdin = bytes.NewReader(append(binary.LittleEndian.AppendUint32(nil, uint32(len(frame))), frame...))
		got, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got[4:], want[:]) {
			t.Errorf("%s: memory %x in wazero, %x in Node", name, want, got[4:])
		}
		t.Logf("%s: %d KiB of memory, SHA-256 %x", name, len(memory)>>10, want)
	}
}
