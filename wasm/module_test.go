package wasm_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/ixprove/ixprove/wasm"
	"github.com/ixprove/ixprove/wasm/internal/module"
	"github.com/ixprove/ixprove/wasm/internal/postlink"
)

// maxModuleBytes is what users have been promised. What it takes compressed is tested where brotli is: in npm/test.
const maxModuleBytes = 2_200_000

func TestModuleIsSmall(t *testing.T) {
	if n := len(wasm.Module()); n > maxModuleBytes {
		t.Errorf("the module has %d bytes, %d are allowed", n, maxModuleBytes)
	}
}

func TestModuleImportsNothingAndExportsItsInterface(t *testing.T) {
	imports, err := postlink.Imports(wasm.Module())
	if err != nil || len(imports) != 0 {
		t.Errorf("the module imports %q, %v", imports, err)
	}
	ctx := t.Context()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	m, err := r.CompileModule(ctx, wasm.Module())
	if err != nil {
		t.Fatal(err)
	}
	const i32 = "i"
	var got []string
	for name, f := range m.ExportedFunctions() {
		got = append(got, name+" "+strings.Repeat(i32, len(f.ParamTypes()))+">"+strings.Repeat(i32, len(f.ResultTypes())))
	}
	slices.Sort(got)
	want := []string{"_initialize >", "abi_version >i", "alloc i>i", "free i>", "result_len >i", "result_ptr >i", "verify ii>i", "verify_with iiiiii>i"}
	if !slices.Equal(got, want) {
		t.Errorf("functions %q, want %q", got, want)
	}
	memory := m.ExportedMemories()["memory"]
	if most, ok := memory.Max(); !ok || most != module.MaxMemoryPages || most*postlink.PageBytes != wasm.MaxMemoryBytes {
		t.Errorf("the memory grows to %d pages, %v", most, ok)
	}
}

// TestModuleIsReproducible builds the module from another folder with an empty cache: the same bytes. It is also what says that the committed module is that of these sources.
func TestModuleIsReproducible(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "elsewhere")
	for _, name := range []string{"go.mod", "go.sum", "formats", "verifier", "wasm/guest", "wasm/message"} {
		copyTree(t, filepath.Join(root, name), filepath.Join(other, name))
	}
	for dir, cache := range map[string]string{"guest": "", filepath.Join(other, "wasm", "guest"): filepath.Join(t.TempDir(), "cache")} {
		built, err := module.Build(dir, cache)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(built, wasm.Module()) {
			sum := sha256.Sum256(built)
			t.Errorf("%s gives %s, committed is %s: run go generate ./wasm", dir, hex.EncodeToString(sum[:]), wasm.Digest)
		}
	}
	for name, data := range module.Files(wasm.Module()) {
		written, err := os.ReadFile(name)
		if name == "npm/verifier.wasm" && errors.Is(err, fs.ErrNotExist) {
			continue // a copy that git ignores, written for `npm pack`
		}
		if err != nil || !bytes.Equal(written, data) {
			t.Errorf("%s is not that of the module (%v): run go generate ./wasm", name, err)
		}
	}
}

// copyTree copies Go sources and module files.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || !strings.HasSuffix(path, ".go") && path != from {
			return err
		}
		rest, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rest)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestImportTree lists all that the module is made of: nothing that reads types at run time, and nothing of the system.
func TestImportTree(t *testing.T) {
	c := exec.Command("go", "list", "-deps", "./guest")
	c.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	const this = "github.com/ixprove/ixprove/"
	allowed := []string{"errors", "iter", "math", "math/bits", "runtime", "strconv", "structs", "sync", "sync/atomic", "unicode", "unicode/utf8", "unsafe", "cmp", "slices"}
	for _, p := range strings.Fields(string(out)) {
		switch {
		case strings.HasPrefix(p, this+"formats"), strings.HasPrefix(p, this+"verifier"), p == this+"wasm/guest", p == this+"wasm/message":
		case strings.HasPrefix(p, "internal/"), slices.Contains(allowed, p): // the runtime's own
		default:
			t.Errorf("the module's import tree has %s", p)
		}
	}
}
