// Command engines measures verification of one proof on every engine at hand: native, wazero, and Node through the npm package. It first proves the digest of a 1 MiB
// file under the standard profile, which takes half a minute and is kept in the user's cache folder.
//
//	go run ./wasm/internal/engines
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
	"github.com/ixprove/ixprove/wasm"
)

func main() {
	if err := measure(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func measure() error {
	fileBytes := flag.Int("bytes", 1<<20, "bytes of the file whose digest is proven")
	runs := flag.Int("runs", 15, "warm verifications")
	node := flag.String("node", "wasm/npm/scripts/measure.js", "script that measures Node")
	flag.Parse()
	folder, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	folder = filepath.Join(folder, "ixprove")
	keyFile := filepath.Join(folder, fmt.Sprintf("blake3-standard-%d.key", *fileBytes))
	proofFile := strings.TrimSuffix(keyFile, ".key") + ".proof"
	key, err1 := os.ReadFile(keyFile)
	proof, err2 := os.ReadFile(proofFile)
	if err := errors.Join(err1, err2); err != nil {
		if key, proof, err = prove(*fileBytes); err != nil {
			return err
		}
		if err := errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(keyFile, key, 0o644), os.WriteFile(proofFile, proof, 0o644)); err != nil {
			return err
		}
	}
	fmt.Printf("%s/%s, %d processors, %s; proof of %d bytes, key of %d bytes; module %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), len(proof), len(key), wasm.Digest)
	fmt.Printf("%-28s %10s %10s %8s\n", "engine", "cold ms", "warm ms", "ratio")
	base, err := row("native", 0, *runs, func() (func() error, error) {
		return func() error {
			k, err := verifier.ParseKey(key)
			if err == nil {
				_, err = verifier.Verify(k, proof, verifier.Policy{})
			}
			return err
		}, nil
	})
	if err != nil {
		return err
	}
	cache, err := os.MkdirTemp("", "ixprove-cache")
	if err != nil {
		return err
	}
	defer os.RemoveAll(cache)
	ctx := context.Background()
	for _, e := range []struct {
		name   string
		config wasm.Config
	}{
		{"wazero, compiling", wasm.NewConfig().WithCacheDir(cache)},
		{"wazero, from its cache", wasm.NewConfig().WithCacheDir(cache)},
		{"wazero, interruptible", wasm.NewConfig().WithInterruption(true)},
	} {
		_, err := row(e.name, base, *runs, func() (func() error, error) {
			v, err := wasm.New(ctx, e.config)
			return func() error {
				_, err := v.Verify(ctx, key, proof, wasm.Policy{})
				return err
			}, err
		})
		if err != nil {
			return err
		}
	}
	script := exec.Command("node", *node, keyFile, proofFile, fmt.Sprint(*runs), fmt.Sprint(base.Microseconds()))
	script.Stdout, script.Stderr = os.Stdout, os.Stderr
	return script.Run()
}

// row times the first call, with what has to be prepared for it, and the median of more.
func row(name string, base time.Duration, runs int, prepare func() (func() error, error)) (time.Duration, error) {
	start := time.Now()
	verify, err := prepare()
	if err != nil {
		return 0, err
	}
	if err := verify(); err != nil {
		return 0, err
	}
	cold := time.Since(start)
	warm := make([]time.Duration, runs)
	for i := range warm {
		start := time.Now()
		if err := verify(); err != nil {
			return 0, err
		}
		warm[i] = time.Since(start)
	}
	slices.Sort(warm)
	median := warm[runs/2]
	if base == 0 {
		base = median
	}
	fmt.Printf("%-28s %10.1f %10.1f %8.2f\n", name, float64(cold.Microseconds())/1e3, float64(median.Microseconds())/1e3, float64(median)/float64(base))
	return median, nil
}

func prove(n int) (key, proof []byte, err error) {
	ctx := context.Background()
	profile, _ := security.ProfileByName("standard")
	pk, err := prover.Keygen(ctx, blake3.System(), hash.Blake3{}, profile, cpu.Backend{})
	if err != nil {
		return nil, nil, err
	}
	file := make([]byte, n)
	for i := range file {
		file[i] = byte(i % 251)
	}
	w, err := blake3.Witness([][]byte{file}, nil, profile.MinLogHeight)
	if err != nil {
		return nil, nil, err
	}
	r, err := prover.Prove(ctx, pk, w, prover.Options{Backend: cpu.Backend{}})
	if err != nil {
		return nil, nil, err
	}
	return pk.Encoded, r.Proof, nil
}
