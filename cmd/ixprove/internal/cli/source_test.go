package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/examples"
)

func TestCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	expect(t, exitMalformed, "cannot be read", "check")
	put(t, "main.ix", "pub fn main(x: u32) -> u64 { x as u64 }\n")
	if o := must(t, "check"); !strings.Contains(o.stdout, "fn main(x: u32) -> u64") {
		t.Errorf("got %s", o.stdout)
	}
	put(t, "main.ix", "pub fn main(x: u32) -> u64 { x }\nfn f() -> u8 { true }\n")
	expect(t, exitMalformed, "     1 | pub fn main(x: u32) -> u64 { x }\n       |                              ^", "check", "main.ix")
	expect(t, exitMalformed, "main.ix:2:16", "check", "main.ix")
	if o := ix("check", "--json"); !strings.Contains(o.stdout, `"line": 2,`) || strings.Count(o.stdout, `"end_column"`) != 2 || o.exit != exitMalformed {
		t.Errorf("got %s", o.stdout)
	}
	put(t, "main.ix", "pub fn main() -> u64 { for i in 0..100000 with s = 0 { s + f(i as u64) } }\nfn f(x: u64) -> u64 { for i in 0..100000 with s = 0 { s ^ x } }\n")
	expect(t, exitMalformed, "too large", "check")
	put(t, "lib.ix", "pub fn id<T>(x: T) -> T { x }\n")
	expect(t, exitMalformed, "no type parameters", "check", "lib.ix")
	must(t, "check", "--library", "lib.ix")
	only(t, "lib.ix", "main.ix")
}

func TestFormat(t *testing.T) {
	t.Chdir(t.TempDir())
	const want = "pub fn main(x: u32) -> u32 { x } // one\n"
	put(t, "main.ix", "pub fn main( x:u32 )->u32{x} // one")
	if o := must(t, "fmt"); o.stdout != want {
		t.Errorf("got %q", o.stdout)
	}
	expect(t, exitMalformed, "fmt -w", "fmt", "--check", ".")
	must(t, "fmt", "-w", ".")
	if got := string(get(t, "main.ix")); got != want {
		t.Errorf("got %q", got)
	}
	must(t, "fmt", "--check")
	expect(t, exitUsage, "exclude", "fmt", "--check", "-w")
	expect(t, exitUsage, "folder", "fmt", ".")
	put(t, "main.ix", "pub fn main( {")
	if err := os.MkdirAll("inner", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../main.ix", "inner/link.ix"); err == nil {
		must(t, "fmt", "-w", "inner")
	}
	if err := os.RemoveAll("inner"); err != nil {
		t.Fatal(err)
	}
	put(t, "long.ix", "pub fn main() -> u8 { "+strings.Repeat("x", 1<<20)+" }")
	if o := ix("check", "long.ix", "--json"); len(o.stdout) > 1<<14 || o.exit != exitMalformed {
		t.Errorf("%d bytes, exit %d", len(o.stdout), o.exit)
	}
	if err := os.Remove("long.ix"); err != nil {
		t.Fatal(err)
	}
	expect(t, exitMalformed, "main.ix:1:14", "fmt", "-w")
	only(t, "main.ix")
}

func TestInitProgram(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, e := range examples.All() {
		if o := must(t, "init", "--program", e.Name, e.Name); !strings.Contains(o.stdout, "ixprove prove "+e.Arguments()) {
			t.Errorf("got %s", o.stdout)
		}
		must(t, "check", e.Name+"/main.ix")
	}
	expect(t, exitUsage, "not overwritten", "init", "--program", "life", "life")
	expect(t, exitUsage, "did you mean life?", "init", "--program", "lief")
	expect(t, exitUsage, "exclude", "init", "--program", "life", "--system", "blake3")
}
