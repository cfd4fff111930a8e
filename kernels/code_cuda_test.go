//go:build cuda

package kernels_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/kernels/codecache"
	"github.com/ixprove/ixprove/kernels/driver"
)

// TestCodeOnDisk compiles a circuit, finds it on disk from another process's point of view, and recovers from files that are damaged or hold another kernel's image.
func TestCodeOnDisk(t *testing.T) {
	root := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", root)
	r := rand.New(rand.NewPCG(91, 92))
	x := randomInstance(t, r, 5, 5, 9)
	files := func() []string {
		list, err := filepath.Glob(filepath.Join(root, "ixprove", "kernels", "*.cubin"))
		check(t, err)
		return list
	}
	run := func(p kernels.CodePolicy) kernels.CodeCounters {
		t.Helper()
		d, err := openDevice()
		check(t, err)
		d.SetCode(p, nil)
		compareTable(t, d, r, x, 2)
		c, err := d.Counters()
		check(t, err)
		check(t, d.Close())
		var code kernels.CodeCounters
		for _, s := range c.Stages {
			code = code.Add(s.Code)
		}
		return code
	}
	if c := run(kernels.CodeAuto); c.Interpreted != 2 || c.CompiledKernels != 0 || len(files()) != 0 {
		t.Fatalf("a small table was compiled: %+v", c)
	}
	first := run(kernels.CodeCompile)
	if first.Direct != 2 || first.Interpreted != 0 || first.CompiledKernels == 0 || first.CachedKernels != 0 || first.Note != "" || len(files()) != first.CompiledKernels {
		t.Fatalf("the first run: %+v, %d files", first, len(files()))
	}
	if c := run(kernels.CodeCompile); c.Direct != 2 || c.CompiledKernels != 0 || c.CachedKernels != first.CompiledKernels || c.Note != "" {
		t.Fatalf("the second run: %+v", c)
	}
	one := files()[0]
	content, err := os.ReadFile(one)
	check(t, err)
	check(t, os.WriteFile(one, content[:len(content)-1], 0o600))
	if c := run(kernels.CodeCompile); c.CompiledKernels != 1 || c.CachedKernels != first.CompiledKernels-1 || !strings.Contains(c.Note, "damaged") {
		t.Fatalf("with a damaged file: %+v", c)
	}
	// An image with a right digest that the driver does not take.
	cache, err := codecache.Open(filepath.Dir(one))
	check(t, err)
	d := open(t)
	name, _, _ := strings.Cut(filepath.Base(one), ".")
	key := codecache.Key{Kernel: name, Architecture: 10*d.Info().Major + d.Info().Minor, Driver: d.Info().DriverVersion, Level: 2}
	_, err = cache.Load(key)
	check(t, err)
	check(t, cache.Store(key, []byte("no image")))
	if c := run(kernels.CodeCompile); c.CompiledKernels != 1 || c.CachedKernels != first.CompiledKernels-1 || c.Note == "" {
		t.Fatalf("with a wrong image: %+v", c)
	}
	// A folder to which others may write is neither read nor written.
	check(t, os.Chmod(filepath.Dir(one), 0o777))
	if c := run(kernels.CodeCompile); c.CompiledKernels != first.CompiledKernels || c.CachedKernels != 0 || !strings.Contains(c.Note, "others may write") {
		t.Fatalf("with an open folder: %+v", c)
	}
	check(t, os.Chmod(filepath.Dir(one), 0o700))
}

// TestRefusedCode has text that the driver's compiler does not take.
func TestRefusedCode(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	d, err := driver.NewDriver(0)
	check(t, err)
	defer func() { check(t, d.Close()) }()
	const name = "refused_0"
	text := ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry " + name + "(.param .align 8 .b8 p[8]) {\nadd.u33 %r1,%r1,%r1;\nret;\n}\n"
	made, err := d.Compile(context.Background(), []kernels.Source{{Kernel: name, Text: text, ArgBytes: 8}}, true)
	var e *kernels.Error
	if made.Ready || !errors.As(err, &e) || !strings.Contains(e.Place, name) || !strings.Contains(e.What, ".u33") {
		t.Fatalf("%+v, %v", made, err)
	}
}
