// Package wasmtest runs verifications on several engines and compares their results, byte for byte.
package wasmtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ixprove/ixprove/formats/encode"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/wasm"
	"github.com/ixprove/ixprove/wasm/message"
)

var node = flag.Bool("node", false, "compare with Node, too")

// Engine verifies: policy and result are those of docs/wasm.md.
type Engine struct {
	Name   string
	Verify func(key, proof, policy []byte) ([]byte, error)
}

// Native is the verifier without WebAssembly.
var Native = Engine{"native", func(key, proof, policy []byte) ([]byte, error) {
	_, result := message.Verify(proof, key, policy)
	return result, nil
}}

// tagged starts the engines that build tags add: Chromium under browser.
var tagged []func() (Engine, error)

// Engines are wazero where it compiles; under the flag -node, Node; under the build tag browser, Chromium. They live until Close.
var Engines = sync.OnceValues(func() (engines []Engine, err error) {
	start := slices.Clone(tagged)
	if *node {
		start = append(start, startNode)
	}
	// Elsewhere wazero interprets, which takes a hundred times as long: there the others stand for it.
	if runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" || len(start) == 0 {
		start = append(start, startWazero)
	}
	for _, s := range start {
		e, err := s()
		if err != nil {
			return nil, err
		}
		engines = append(engines, e)
	}
	return engines, nil
})

// closers end what engines have started.
var closers []func()

// Close ends the engines, if any were started: for the end of a TestMain.
func Close() {
	for _, c := range closers {
		c()
	}
}

func startWazero() (Engine, error) {
	v, err := wasm.New(context.Background(), wasm.NewConfig().WithInstances(1))
	return Engine{"wazero", func(key, proof, policy []byte) ([]byte, error) {
		return v.VerifyJSON(context.Background(), key, proof, policy)
	}}, err
}

// Totals counts what Compare has compared, by verdict.
var Totals = map[string]int{}

// Summary says what Compare has compared, and on what.
func Summary() string {
	names := []string{Native.Name + " " + runtime.GOARCH}
	if engines, err := Engines(); err == nil {
		for _, e := range engines {
			names = append(names, e.Name)
		}
	}
	return fmt.Sprintf("verified alike by %s: %v", strings.Join(names, ", "), Totals)
}

// Compare verifies on every engine, asks for one result, and returns it. It is not for concurrent use.
func Compare(t testing.TB, key, proof, policy []byte) []byte {
	t.Helper()
	engines, err := Engines()
	if err != nil {
		t.Fatal(err)
	}
	want, _ := Native.Verify(key, proof, policy)
	for _, e := range engines {
		got, err := e.Verify(key, proof, policy)
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %s\nnative: %s", e.Name, got, want)
		}
	}
	verdict, _, _ := bytes.Cut(bytes.TrimPrefix(want, []byte(`{"verdict":"`)), []byte(`"`))
	Totals[string(verdict)]++
	return want
}

// CompareKey is Compare for a key and policy of package verifier. What is under a suite that the module does not have, or a
// key that a test has tampered with after decoding it, is left out.
func CompareKey(t testing.TB, key *verifier.Key, proof []byte, p verifier.Policy) {
	t.Helper()
	if _, ok := key.Suite.(hash.Blake3); !ok {
		return
	}
	encoded, err := encode.Key(key.Raw())
	if err != nil || hash.KeyDigest(encoded) != key.Digest() {
		return
	}
	policy, err := wasm.Policy{Policy: p}.JSON()
	if err != nil {
		t.Fatal(err)
	}
	Compare(t, encoded, proof, policy)
}

// Frame joins inputs as the module's export verify takes them.
func Frame(proof, key, policy []byte) []byte {
	var out []byte
	for _, part := range [][]byte{proof, key, policy} {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(part)))
		out = append(out, part...)
	}
	return out
}

// Folder is where the npm package lies.
func Folder() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "npm")
}

// startNode starts the package's engine script, which answers framed inputs with framed results.
func startNode() (Engine, error) {
	c := exec.Command("node", filepath.Join(Folder(), "scripts", "engine.js"), filepath.Join(Folder(), "..", "verifier.wasm"))
	in, err1 := c.StdinPipe()
	out, err2 := c.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return Engine{}, err
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return Engine{}, err
	}
	closers = append(closers, func() { in.Close(); c.Wait() })
	answers := bufio.NewReader(out)
	return Engine{"node", func(key, proof, policy []byte) ([]byte, error) {
		frame := Frame(proof, key, policy)
		var size [4]byte
		binary.LittleEndian.PutUint32(size[:], uint32(len(frame)))
		if _, err := in.Write(append(size[:], frame...)); err != nil {
			return nil, err
		}
		if _, err := io.ReadFull(answers, size[:]); err != nil {
			return nil, err
		}
		result := make([]byte, binary.LittleEndian.Uint32(size[:]))
		_, err := io.ReadFull(answers, result)
		return result, err
	}}, nil
}
