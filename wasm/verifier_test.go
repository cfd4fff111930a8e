package wasm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/wasm"
	"github.com/ixprove/ixprove/wasm/message"
	"github.com/ixprove/ixprove/wasm/wasmtest"
)

var fixtures = []string{"fibonacci-fast-v1", "fibonacci-standard-v1", "blake3-dev-v1"}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "prover", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// cache is a compilation cache that the tests share.
var cache string

func TestMain(m *testing.M) {
	var err error
	if cache, err = os.MkdirTemp("", "ixprove-wazero"); err != nil {
		panic(err)
	}
	code := m.Run()
	wasmtest.Close()
	os.RemoveAll(cache)
	os.Exit(code)
}

func newVerifier(t testing.TB, c wasm.Config) *wasm.Verifier {
	t.Helper()
	v, err := wasm.New(context.Background(), c.WithCacheDir(cache))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return v
}

// TestVerdicts compares reports and errors with those of the native verifier.
func TestVerdicts(t *testing.T) {
	v := newVerifier(t, wasm.NewConfig().WithInstances(1))
	type call struct {
		name       string
		key, proof []byte
		policy     wasm.Policy
	}
	var calls []call
	for _, name := range fixtures {
		key, proof := read(t, name+".key"), read(t, name+".proof")
		k, err := verifier.ParseKey(key)
		if err != nil {
			t.Fatal(err)
		}
		p, err := formats.DecodeProof(proof, len(proof))
		if err != nil {
			t.Fatal(err)
		}
		d := k.Digest()
		open := verifier.Policy{Insecure: true}
		flipped := bytes.Clone(proof)
		flipped[len(flipped)-100] ^= 1
		calls = append(calls,
			call{name, key, proof, wasm.Policy{Policy: open}},
			call{name + " with its claims", key, proof, wasm.Policy{Policy: verifier.Policy{Insecure: true, Claims: p.Claims}, Key: &d}},
			call{name + " without claims", key, proof, wasm.Policy{Policy: verifier.Policy{Insecure: true, Claims: []formats.Claim{}}}},
			call{name + " with fewer claims", key, proof, wasm.Policy{Policy: verifier.Policy{Insecure: true, Claims: p.Claims[1:]}}},
			call{name + " under a demanding policy", key, proof, wasm.Policy{Policy: verifier.Policy{MinBits: 200}}},
			call{name + " under a policy that asks more of digests", key, proof, wasm.Policy{Policy: verifier.Policy{MinBits: 1, MinDigestBits: 129}}},
			call{name + " under a small limit", key, proof, wasm.Policy{Policy: verifier.Policy{MaxProofBytes: 1000}}},
			call{name + " changed", key, flipped, wasm.Policy{Policy: open}},
			call{name + " cut", key, proof[:len(proof)/2], wasm.Policy{}},
			call{name + " longer", key, append(bytes.Clone(proof), 0), wasm.Policy{}},
			call{name + " as its key", proof, key, wasm.Policy{}},
			call{name + " without a key", nil, proof, wasm.Policy{}},
			call{name + " without a proof", key, nil, wasm.Policy{}},
			call{name + " under another key", read(t, fixtures[0]+".key"), proof, wasm.Policy{Policy: open}},
		)
	}
	// The module has no suite but blake3 (K-3).
	calls = append(calls, call{"a root", read(t, "fibonacci-root-dev-v1.key"), read(t, "fibonacci-root-dev-v1.proof"), wasm.Policy{}})
	for _, c := range calls {
		got, err := v.Verify(t.Context(), c.key, c.proof, c.policy)
		var report *Report
		key, want := verifier.ParseKey(c.key)
		if want == nil {
			var native *verifier.Report
			if native, want = verifier.Verify(key, c.proof, c.policy.Policy); want == nil {
				report = new(Report)
				if back, err := got.Native(key); err != nil || !reflect.DeepEqual(back, native) {
					t.Errorf("%s: %+v, %v\nnatively: %+v", c.name, back, err, native)
				}
				if err := json.Unmarshal(message.AppendReport(nil, key, native), report); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !reflect.DeepEqual(err, want) {
			t.Errorf("%s: %v\nnatively: %v", c.name, err, want)
		}
		if !reflect.DeepEqual(got, report) {
			t.Errorf("%s: %+v\nnatively: %+v", c.name, got, report)
		}
	}
}

// Report is a report of the module.
type Report = wasm.Report

func TestPinnedKey(t *testing.T) {
	v := newVerifier(t, wasm.NewConfig().WithInstances(1))
	other := formats.Digest{1}
	_, err := v.Verify(t.Context(), read(t, fixtures[0]+".key"), read(t, fixtures[0]+".proof"), wasm.Policy{Key: &other})
	if e := new(formats.Error); !errors.As(err, &e) || e.Class != formats.Incompatible || e.Expected != verifier.Hex(other) {
		t.Error(err)
	}
}

func TestInputsBeyondTheLimits(t *testing.T) {
	v := newVerifier(t, wasm.NewConfig().WithInstances(1))
	key, proof := read(t, fixtures[0]+".key"), read(t, fixtures[0]+".proof")
	for check, in := range map[string][2][]byte{"K-1": {make([]byte, wasm.MaxKeyBytes+1), proof}, "P-1": {key, make([]byte, wasm.MaxProofBytes+1)}} {
		_, err := v.Verify(t.Context(), in[0], in[1], wasm.Policy{})
		if e := new(formats.Error); !errors.As(err, &e) || e.Class != formats.Limit || e.Check != check {
			t.Errorf("%s: %v", check, err)
		}
	}
	claims := make([]formats.Claim, formats.MaxClaims)
	for i := range claims {
		claims[i].Args = formats.Elements{}.Append(1).Append(2)
	}
	if _, err := v.Verify(t.Context(), key, proof, wasm.Policy{Policy: verifier.Policy{Claims: claims}}); !errors.Is(err, formats.Limit) {
		t.Error(err)
	}
	if _, err := v.Verify(t.Context(), key, proof, wasm.Policy{Policy: verifier.Policy{MinBits: -1}}); !errors.Is(err, formats.Invalid) {
		t.Error(err)
	}
}

func TestConcurrentCalls(t *testing.T) {
	v := newVerifier(t, wasm.NewConfig().WithInstances(3))
	key, proof := read(t, fixtures[0]+".key"), read(t, fixtures[0]+".proof")
	var group sync.WaitGroup
	for i := range 12 {
		group.Go(func() {
			p := bytes.Clone(proof)
			if i%3 == 0 {
				p[len(p)/2] ^= 1
			}
			_, err := v.Verify(t.Context(), key, p, wasm.Policy{})
			if (err != nil) != (i%3 == 0) {
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	group.Wait()
}

// TestCancelledCalls ends calls before they start, while they wait, and while they run; the verifier goes on.
func TestCancelledCalls(t *testing.T) {
	key, proof := read(t, fixtures[0]+".key"), read(t, fixtures[0]+".proof")
	for _, interruptible := range []bool{false, true} {
		v := newVerifier(t, wasm.NewConfig().WithInstances(1).WithInterruption(interruptible))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := v.Verify(ended, key, proof, wasm.Policy{}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		// Calls race with the end of their context: each is either accepted or cancelled.
		for range 5 {
			ctx, cancel := context.WithCancel(t.Context())
			var group sync.WaitGroup
			for range 3 {
				group.Go(func() {
					if _, err := v.Verify(ctx, key, proof, wasm.Policy{}); err != nil && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				})
			}
			group.Go(cancel)
			group.Wait()
		}
		if _, err := v.Verify(t.Context(), key, proof, wasm.Policy{}); err != nil {
			t.Error(err)
		}
	}
}

func TestClosedVerifier(t *testing.T) {
	v, err := wasm.New(t.Context(), wasm.NewConfig().WithInterpreter(true).WithInstances(2))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := v.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if _, err := v.Verify(t.Context(), nil, nil, wasm.Policy{}); !errors.Is(err, wasm.ErrClosed) {
		t.Error(err)
	}
}

// TestMemoryLimit gives too little memory: an error of class Limit, and every later call has a new instance.
func TestMemoryLimit(t *testing.T) {
	v := newVerifier(t, wasm.NewConfig().WithInstances(1).WithMemoryLimit(6*wasm.MiB))
	key, proof := read(t, fixtures[0]+".key"), read(t, fixtures[0]+".proof")
	long := append(bytes.Clone(proof), make([]byte, 4<<20)...)
	for range 2 {
		if _, err := v.Verify(t.Context(), key, long, wasm.Policy{}); !errors.Is(err, formats.Limit) {
			t.Error(err)
		}
		if _, err := v.Verify(t.Context(), key, proof, wasm.Policy{}); err != nil {
			t.Error(err)
		}
	}
}

func TestCacheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "cache")
	verify := func() {
		t.Helper()
		v, err := wasm.New(t.Context(), wasm.NewConfig().WithInstances(1).WithCacheDir(dir))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Verify(t.Context(), read(t, fixtures[0]+".key"), read(t, fixtures[0]+".proof"), wasm.Policy{}); err != nil {
			t.Error(err)
		}
		if err := v.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	verify()
	verify()
	kept, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("%q, %v", kept, err)
	}
	if err := os.Truncate(kept[0], 1000); err != nil {
		t.Fatal(err)
	}
	verify()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := wasm.New(t.Context(), wasm.NewConfig().WithCacheDir(file)); !errors.Is(err, formats.Invalid) {
		t.Error(err)
	}
}

func TestInterpreter(t *testing.T) {
	v := newVerifier(t, wasm.NewConfig().WithInterpreter(true).WithInstances(1))
	if _, err := v.Verify(t.Context(), read(t, fixtures[0]+".key"), read(t, fixtures[0]+".proof"), wasm.Policy{}); err != nil {
		t.Error(err)
	}
}

// TestConfigIsImmutable derives configurations from one.
func TestConfigIsImmutable(t *testing.T) {
	base := wasm.NewConfig()
	_ = base.WithInstances(7).WithMemoryLimit(1).WithRetainedMemory(1).WithCacheDir("x").WithInterruption(true).WithInterpreter(true)
	if base != wasm.NewConfig() {
		t.Error("a derived configuration changed its base")
	}
}
