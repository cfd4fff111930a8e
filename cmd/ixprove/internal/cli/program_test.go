package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const fibProgram = `pub fn fib(n: field) -> field {
    match n {
        0 => 0,
        1 => 1,
        _ => fib(n - 1) + fib(n - 2),
    }
}
`

// programFolder makes the current folder one with programs, and a keyring of its own.
func programFolder(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	put(t, "fib.ix", fibProgram)
}

func TestRunProgram(t *testing.T) {
	programFolder(t)
	o := must(t, "run", "fib.ix", "--call", "fib(90)")
	if !strings.HasPrefix(o.stdout, "fib(90) = 2880067194370816120\n") || !strings.Contains(o.stdout, "cells") {
		t.Errorf("got %s", o.stdout)
	}
	if o := must(t, "run", "fib.ix", "-q", "--call", "fib(2)", "--call", "fib(3)"); o.stdout != "fib(2) = 1\nfib(3) = 2\n" {
		t.Errorf("got %s", o.stdout)
	}
	var r runResult
	o = must(t, "run", "fib.ix", "--call", "fib(90)", "--json")
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Costs {
		if c.Name == "fib" && (c.Rows != 91 || c.Calls != 179 || c.Cells != c.Rows*c.Columns) {
			t.Errorf("the cost of fib: %+v", c)
		}
	}
	expect(t, exitUsage, "it is not said what to call", "run", "fib.ix")
	expect(t, exitUsage, "this is no program", "run", "claims.json", "--call", "fib(1)")
	expect(t, exitUsage, "no --witness", "run", "fib.ix", "--call", "fib(1)", "--witness", "w.json")
	expect(t, exitMalformed, "no such entry", "run", "fib.ix", "--call", "fob(1)")
	expect(t, exitMalformed, "more operations", "run", "fib.ix", "--call", "fib(1000)", "--max-steps", "100")
	expect(t, exitMalformed, "more memory", "run", "fib.ix", "--call", "fib(100000)", "--memory", "1MiB")
	expect(t, exitMalformed, "cannot be read", "run", "none.ix", "--call", "fib(1)")
	put(t, "bad.ix", "pub fn bad(x: u32) -> u32 { x + true }")
	expect(t, exitMalformed, "bad.ix:1:", "run", "bad.ix", "--call", "bad(1)")
	put(t, "over.ix", "pub fn over(x: u32) -> u32 {\n    x + 1\n}\n")
	expect(t, exitMalformed, "over.ix:2:", "run", "over.ix", "--call", "over(4294967295)")
	put(t, "ever.ix", "pub fn ever(x: field) -> field { ever(x) }")
	expect(t, exitMalformed, "does not end", "run", "ever.ix", "--call", "ever(1)")
}

func TestProveProgram(t *testing.T) {
	programFolder(t)
	expect(t, exitMalformed, "over.ix:2:", "prove", writeProgram(t, "over.ix", "pub fn over(x: u32) -> u32 {\n    x + 1\n}\n"), "--call", "over(4294967295)")
	if exists(defaultProof) {
		t.Error("a program that fails leaves a proof")
	}
	must(t, "prove", "fib.ix", "--call", "fib(100)", "--call", "fib(7)", "--profile", "dev", "--shards", "2")
	first := string(get(t, defaultProof))
	must(t, "prove", "fib.ix", "--call", "fib(100)", "--call", "fib(7)", "--profile", "dev", "--shards", "2")
	if first != string(get(t, defaultProof)) {
		t.Error("two proofs of one execution differ")
	}
	if o := must(t, "verify", "--insecure"); !strings.Contains(o.stdout, "fib(n 7) = result 13") { // the key is on the keyring
		t.Errorf("got %s", o.stdout)
	}
	must(t, "verify", "--insecure", "--program", "fib.ix", "--call", "fib(100)", "--call", "fib(7)")
	expect(t, exitRejected, "not the calls", "verify", "--insecure", "--program", "fib.ix", "--call", "fib(100)")
	expect(t, exitRejected, "not the call ", "verify", "--insecure", "--program", "fib.ix", "--call", "fib(7)", "--call", "fib(100)")
	expect(t, exitUsage, "calls are of a program", "verify", "--insecure", "--call", "fib(100)")
	put(t, "other.ix", strings.Replace(fibProgram, "1 => 1", "1 => 2", 1))
	expect(t, exitIncompatible, "not of this program", "verify", "--insecure", "--program", "other.ix")
	must(t, "keygen", "fib.ix", "--profile", "dev", "-o", "fib.key")
	must(t, "inspect", "fib.key", "--program", "fib.ix")
	expect(t, exitIncompatible, "not of this program", "inspect", "fib.key", "--program", "other.ix")
	must(t, "verify", "--insecure", "--key", "fib.key")
	folder, err := keyring()
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadDir(folder)
	if err != nil || len(list) != 1 {
		t.Fatalf("the keyring has %d keys, %v", len(list), err)
	}
	path := filepath.Join(folder, list[0].Name())
	must(t, "keygen", "other.ix", "--profile", "dev", "-o", path) // another key under this name
	expect(t, exitIncompatible, "none of the built-in", "verify", "--insecure")
	must(t, "keygen", "fib.ix", "--profile", "dev", "--digest") // puts it back
	must(t, "verify", "--insecure")
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	expect(t, exitIncompatible, "none of the built-in", "verify", "--insecure")
	expect(t, exitUsage, "for programs", "prove", "--call", "fib(1)")
	expect(t, exitUsage, "a key is of a program", "keygen", "fib.key", "-o", "x")
}

// TestClaimsOfANamesake proves a false claim of a built-in system by a program of its name, whose key is on the keyring.
func TestClaimsOfANamesake(t *testing.T) {
	programFolder(t)
	put(t, "fibonacci.ix", "pub fn fibonacci(n: u32) -> field {\n    7\n}\n")
	put(t, "claims.json", `{"format":"ixprove-claims/1","system":"fibonacci","claims":[{"entry":"fibonacci","args":{"n":90},"results":{"value":7}}]}`)
	must(t, "prove", "fibonacci.ix", "--call", "fibonacci(90)", "--profile", "dev")
	must(t, "keygen", "fibonacci.ix", "--profile", "dev", "-o", "fibonacci.key")
	if o := must(t, "verify", "--insecure"); !strings.Contains(o.stdout, "fibonacci dev, not built in") {
		t.Errorf("got %s", o.stdout)
	}
	for _, more := range [][]string{{}, {"--engine", "wasm"}, {"--key", "fibonacci.key"}, {"--program", "fibonacci.ix"}} {
		expect(t, exitIncompatible, "another system", append([]string{"verify", "--insecure", "--claims", "claims.json"}, more...)...)
	}
}

func writeProgram(t *testing.T, name, text string) string {
	t.Helper()
	put(t, name, text)
	return name
}

// TestPrivateArguments proves a sum of private numbers, read from files as well.
func TestPrivateArguments(t *testing.T) {
	programFolder(t)
	put(t, "sum.ix", "pub fn sum(n: u32, private a: [u32; 2], private b: [u8; 3]) -> u32 {\n    assert(n < 10);\n    a[0] + a[1] + (b[2] as u32)\n}\n")
	put(t, "b.bin", "\x01\x02\x03")
	put(t, "w.json", `{"a": [5, 6], "b": {"file": "b.bin"}}`)
	if o := must(t, "prove", "sum.ix", "--call", "sum(1)", "--witness", "w.json", "--profile", "dev"); !strings.Contains(o.stdout, "  sum(1) = 14\n") {
		t.Errorf("got %s", o.stdout)
	}
	if o := must(t, "verify", "--insecure", "--program", "sum.ix", "--call", "sum(1)"); !strings.Contains(o.stdout, "  sum(1) = 14\n") {
		t.Errorf("got %s", o.stdout)
	}
	expect(t, exitUsage, "has private arguments", "prove", "sum.ix", "--call", "sum(1)")
	put(t, "w.json", `{"a": [5]}`)
	expect(t, exitMalformed, "w.json", "prove", "sum.ix", "--call", "sum(1)", "--witness", "w.json")
}
