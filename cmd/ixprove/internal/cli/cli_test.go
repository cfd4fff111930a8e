package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/systems/keys"
)

// outcome is what a command line did.
type outcome struct {
	exit           exit
	stdout, stderr string
}

// ix runs a command line in the current folder.
func ix(args ...string) outcome {
	var stdout, stderr bytes.Buffer
	code := Run(context.Background(), args, strings.NewReader(""), &stdout, &stderr)
	return outcome{exit(code), stdout.String(), stderr.String()}
}

// must runs a command line that has to succeed.
func must(t *testing.T, args ...string) outcome {
	t.Helper()
	o := ix(args...)
	if o.exit != exitDone {
		t.Fatalf("ixprove %s: exit %d\n%s%s", strings.Join(args, " "), o.exit, o.stdout, o.stderr)
	}
	return o
}

// expect runs a command line that has to fail, and mention something.
func expect(t *testing.T, want exit, mention string, args ...string) {
	t.Helper()
	o := ix(args...)
	if o.exit != want || !strings.Contains(o.stderr, mention) || o.stdout != "" {
		t.Errorf("ixprove %s: exit %d, want %d and mention of %q\n%s%s", strings.Join(args, " "), o.exit, want, mention, o.stdout, o.stderr)
	}
}

const devClaims = `{"format":"ixprove-claims/1","system":"fibonacci","profile":"dev","claims":[
	{"entry":"fibonacci","args":{"n":90}},{"entry":"fibonacci","args":{"n":10},"results":{"value":55}}]}`

// devFolder makes the current folder one with a small claims file and an insecure proof of it.
func devFolder(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	put(t, "claims.json", devClaims)
	must(t, "prove")
}

func put(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// only checks what is in the current folder: nothing partial, nothing temporary.
func only(t *testing.T, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, names) {
		t.Errorf("the folder has %v, want %v", got, names)
	}
}

func TestInitProveVerify(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, "init")
	only(t, "claims.json", "hello.txt")
	proven := must(t, "prove")
	only(t, "claims.json", "hello.txt", "proof.cbor")
	verified := must(t, "verify")
	const claim = "blake3() = digest 0b9e45f65dac10f5a3e4e60b7390cb2711990208b825e29915f2bc0ac87a701d, length 20"
	for _, o := range []outcome{proven, verified} {
		if !strings.Contains(o.stdout, claim) || !strings.Contains(o.stdout, "128 bits") || o.stderr != "" {
			t.Errorf("got\n%s%s", o.stdout, o.stderr)
		}
	}
	must(t, "verify", "--claims", "claims.json")
	// The user's cache folder is not this test's.
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if o := must(t, "verify", "--engine", "wasm", "--claims", "claims.json"); !strings.Contains(o.stdout, claim) || !strings.Contains(o.stdout, "128 bits") {
		t.Errorf("got\n%s%s", o.stdout, o.stderr)
	}
	put(t, "hello.txt", "Hello from somebody else.\n")
	expect(t, exitRejected, "P-9", "verify", "--claims", "claims.json")
	expect(t, exitRejected, "P-9", "verify", "--engine", "wasm", "--claims", "claims.json")
}

func TestInitProveVerifyOfEverySystem(t *testing.T) {
	for _, system := range []string{"blake3", "fibonacci"} {
		folder := filepath.Join(t.TempDir(), "new", system)
		must(t, "init", folder, "--system", system)
		t.Chdir(folder)
		must(t, "prove", "--profile", "dev", "--threads", "1")
		must(t, "verify", "--insecure", "--claims", "claims.json")
		expect(t, exitUsage, "not overwritten", "init", "--system", system)
	}
}

func TestUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		mention string
		args    []string
	}{
		{"Usage: ixprove", nil},
		{"did you mean verify?", []string{"verfy"}},
		{"did you mean --insecure?", []string{"verify", "--insecur"}},
		{"did you mean --memory?", []string{"prove", "--memroy", "1GiB"}},
		{"--threads", []string{"prove", "--threads", "many"}},
		{"--threads", []string{"prove", "--threads=-1"}},
		{"amount such as 8GiB", []string{"prove", "--memory", "8"}},
		{"--shards", []string{"prove", "--shards", "0"}},
		{"--progress", []string{"prove", "--progress", "loud"}},
		{"operand too many", []string{"prove", "a", "b"}},
		{"operand too many", []string{"version", "a"}},
		{"--key-digest", []string{"verify", "--key-digest", "12", "proof.cbor"}},
		{"--min-bits", []string{"verify", "--min-bits", "0"}},
		{"native or wasm", []string{"verify", "--engine", "cuda"}},
		{"--system", []string{"init", "--system", "blake2"}},
		{"nothing to do", []string{"keygen", "--system", "blake3"}},
		{"--system", []string{"keygen", "--digest"}},
		{"--profile", []string{"keygen", "--system", "blake3", "--digest", "--profile", "fastest"}},
		{"no such measurement", []string{"bench", "proof"}},
		{"--size", []string{"bench", "--size", "2GiB"}},
		{"--runs", []string{"bench", "--runs", "0"}},
		{"--output", []string{"prove", "-o", "-"}},
	} {
		if slices.Contains(c.args, "proof.cbor") {
			put(t, "claims.json", devClaims)
			must(t, "prove")
		}
		expect(t, exitUsage, c.mention, c.args...)
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"--help"}, {"-h"}} {
		if o := must(t, args...); !strings.Contains(o.stdout, "Exit codes") || o.stderr != "" {
			t.Errorf("%v: %s%s", args, o.stdout, o.stderr)
		}
	}
	for _, v := range verbs {
		for _, args := range [][]string{{"help", v.name}, {v.name, "--help"}} {
			if o := must(t, args...); !strings.Contains(o.stdout, v.about) || !strings.Contains(o.stdout, "--json") {
				t.Errorf("%v: %s", args, o.stdout)
			}
		}
	}
}

func TestBadInputs(t *testing.T) {
	devFolder(t)
	proof := get(t, "proof.cbor")
	changed := func(name string, change func(p []byte) []byte) string {
		put(t, name, string(change(slices.Clone(proof))))
		return name
	}
	claimsFile := func(name, content string) string {
		put(t, name, content)
		return name
	}
	replaced := func(name, old, new string) string { return claimsFile(name, strings.Replace(devClaims, old, new, 1)) }
	version := bytes.Index(proof, append([]byte(formats.KindProof), 1)) + len(formats.KindProof) + 1
	if version <= len(formats.KindProof) {
		t.Fatal("the version is not where it was")
	}
	must(t, "keygen", "--system", "fibonacci", "-o", "standard.key")
	must(t, "keygen", "--system", "blake3", "--profile", "dev", "-o", "blake3.key")
	must(t, "keygen", "--system", "fibonacci", "--profile", "dev", "-o", "dev.key")
	dev, _, _ := keys.Encoded("fibonacci", "dev")
	standard, _, _ := keys.Encoded("fibonacci", "standard")
	digest := func(k keys.Key) string { return hex.EncodeToString(k.Digest[:]) }
	if err := os.Mkdir("folder", 0o755); err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		exit    exit
		mention string
		args    []string
	}{
		// Inputs that are not there or not readable.
		{exitMalformed, "none.json", []string{"prove", "none.json"}},
		{exitMalformed, "folder", []string{"prove", "folder"}},
		{exitMalformed, "none.cbor", []string{"verify", "none.cbor"}},
		{exitMalformed, "none.key", []string{"verify", "--insecure", "--key", "none.key"}},
		{exitMalformed, "none.json", []string{"verify", "--insecure", "--claims", "none.json"}},
		{exitMalformed, "none.bin", []string{"prove", claimsFile("lost.json", `{"format":"ixprove-claims/1","system":"blake3","claims":[{"entry":"blake3","file":"none.bin"}]}`)}},
		{exitMalformed, "not a regular file", []string{"prove", claimsFile("dir.json", `{"format":"ixprove-claims/1","system":"blake3","claims":[{"entry":"blake3","file":"folder"}]}`)}},
		// Claims files.
		{exitMalformed, "trailing.json", []string{"prove", claimsFile("trailing.json", devClaims+"x")}},
		{exitMalformed, "\ufffd[2J", []string{"prove", claimsFile("escape.json", strings.Replace(devClaims, `"system"`, `"\u001b[2J":0,"system"`, 1))}},
		{exitMalformed, "system", []string{"prove", replaced("system.json", `"system":"fibonacci"`, `"system":"blake2"`)}},
		{exitMalformed, "profile", []string{"prove", replaced("profile.json", `"dev"`, `"slow"`)}},
		{exitMalformed, "claims[0].entry", []string{"prove", replaced("entry.json", `"entry":"fibonacci"`, `"entry":"fib"`)}},
		{exitMalformed, "expected  value 55", []string{"prove", replaced("results.json", `"value":55`, `"value":56`)}},
		{exitIncompatible, "ixprove-claims/2", []string{"prove", replaced("version.json", "claims/1", "claims/2")}},
		{exitMalformed, "each shard needs a claim", []string{"prove", "--shards", "3"}},
		// Proofs.
		{exitRejected, "P-17", []string{"verify"}},
		{exitRejected, "P-17", []string{"verify", "--min-bits", "100"}},
		{exitRejected, "P-", []string{"verify", "--insecure", changed("flipped.cbor", func(p []byte) []byte { p[len(p)-20] ^= 1; return p })}},
		{exitRejected, "P-", []string{"inspect", "flipped.cbor"}},
		{exitMalformed, "P-2", []string{"verify", "--insecure", changed("short.cbor", func(p []byte) []byte { return p[:len(p)-1] })}},
		{exitMalformed, "P-2", []string{"verify", "--insecure", changed("long.cbor", func(p []byte) []byte { return append(p, 0) })}},
		{exitMalformed, "P-2", []string{"inspect", changed("empty.cbor", func([]byte) []byte { return nil })}},
		{exitMalformed, "P-2", []string{"verify", "claims.json"}},
		{exitIncompatible, "P-3", []string{"verify", "--insecure", changed("later.cbor", func(p []byte) []byte { p[version]++; return p })}},
		{exitIncompatible, "P-3", []string{"verify", "dev.key"}},
		// Keys.
		{exitIncompatible, "P-4", []string{"verify", "--insecure", "--key", "standard.key"}},
		{exitIncompatible, "P-4", []string{"verify", "--insecure", "--key", "blake3.key"}},
		{exitIncompatible, "P-4", []string{"verify", "--insecure", "--key-digest", digest(standard)}},
		{exitIncompatible, "pins", []string{"verify", "--insecure", "--key", "dev.key", "--key-digest", digest(standard)}},
		{exitIncompatible, "pins", []string{"inspect", "dev.key", "--key-digest", digest(standard)}},
		{exitIncompatible, "--key FILE", []string{"verify", "--insecure", "--key-digest", strings.Repeat("00", 32)}},
		{exitIncompatible, "--key FILE", []string{"verify", "--insecure", changed("unknown.cbor", func(p []byte) []byte {
			return bytes.Replace(p, dev.Digest[:], bytes.Repeat([]byte{7}, len(dev.Digest)), 1)
		})}},
		{exitIncompatible, "K-2", []string{"verify", "--insecure", "--key", "proof.cbor"}},
		// What the caller expects.
		{exitRejected, "P-9", []string{"verify", "--insecure", "--claims", replaced("other.json", `"n":90`, `"n":91`)}},
		{exitIncompatible, "another system", []string{"verify", "--insecure", "--claims", "lost.json"}},
		{exitUsage, "--soundcalc", []string{"inspect", "--soundcalc", "dev.key"}},
		// Devices, memory and outputs.
		{exitResource, "no CUDA support", []string{"prove", "--gpu", "0"}},
		{exitResource, "does not fit", []string{"prove", "--memory", "1MiB"}},
		{exitResource, "cannot be written", []string{"prove", "-o", "nowhere/proof.cbor"}},
		{exitResource, "cannot be written", []string{"prove", "-o", "folder"}},
		{exitResource, "cannot be written", []string{"prove", "-o", filepath.Join(readOnly(t), "proof.cbor")}},
		{exitResource, "cannot be written", []string{"keygen", "--system", "fibonacci", "-o", "nowhere/key"}},
		{exitResource, "cannot be written", []string{"init", filepath.Join(readOnly(t), "new")}},
	} {
		expect(t, c.exit, c.mention, c.args...)
		expectJSON(t, c.exit, c.args...)
	}
	if !bytes.Equal(proof, get(t, "proof.cbor")) {
		t.Error("a command that failed changed the proof")
	}
	must(t, "verify", "--insecure", "--key", "dev.key", "--key-digest", digest(dev))
	must(t, "verify", "--min-bits", "1")
}

// readOnly is a folder in which nothing can be created, for whoever runs the test.
func readOnly(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o555); err != nil {
		t.Fatal(err)
	}
	if f, err := os.CreateTemp(folder, ""); err == nil { // the superuser
		f.Close()
		return "/proc"
	}
	return folder
}

// expectJSON runs a failing command line with --json: one object says what the exit code says.
func expectJSON(t *testing.T, want exit, args ...string) {
	t.Helper()
	o := ix(append(slices.Clone(args), "--json")...)
	var e errorObject
	oneObject(t, o.stdout, &e)
	if o.exit != want || e.Exit != want || e.Schema != "ixprove/error/1" || e.Class == "" || e.Place == "" || e.What == "" {
		t.Errorf("ixprove %s: exit %d, %+v", strings.Join(args, " "), o.exit, e)
	}
}

// oneObject decodes standard output, which must be one JSON object without unknown fields.
func oneObject(t *testing.T, stdout string, to any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		t.Errorf("%v in %q", err, stdout)
		return
	}
	if _, err := d.Token(); err != io.EOF {
		t.Errorf("something follows the object: %q", stdout)
	}
}

func TestJSON(t *testing.T) {
	devFolder(t)
	must(t, "keygen", "--system", "fibonacci", "-o", "key")
	for _, c := range []struct {
		args []string
		to   any
	}{
		{[]string{"init", "new"}, new(initResult)},
		{[]string{"prove"}, new(proveResult)},
		{[]string{"prove", "--plan"}, new(planResult)},
		{[]string{"verify", "--insecure"}, new(verifyResult)},
		{[]string{"inspect"}, new(inspectResult)},
		{[]string{"inspect", "key"}, new(inspectResult)},
		{[]string{"inspect", "--soundcalc"}, new(soundcalcResult)},
		{[]string{"keygen", "--system", "blake3", "--digest"}, new(keygenResult)},
		{[]string{"bench", "--runs", "1", "--profile", "dev", "--size", "1B"}, new(benchResult)},
		{[]string{"version"}, new(versionResult)},
	} {
		o := must(t, append(c.args, "--json")...)
		oneObject(t, o.stdout, c.to)
		var schema struct{ Schema string }
		json.Unmarshal([]byte(o.stdout), &schema)
		if !regexp.MustCompile(`^ixprove/[a-z]+/1$`).MatchString(schema.Schema) || o.stderr != "" {
			t.Errorf("%v: schema %q, %s", c.args, schema.Schema, o.stderr)
		}
	}
	v := new(verifyResult)
	oneObject(t, must(t, "verify", "--insecure", "--json").stdout, v)
	if !v.Valid || len(v.Claims) != 2 || v.Claims[0].Args["n"] != 90.0 || v.Claims[0].Results["value"] != "2880067194370816120" {
		t.Errorf("%+v", v.Claims)
	}
}

func TestProgress(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "claims.json", devClaims)
	o := must(t, "prove", "--shards", "2", "--progress", "json")
	done, shards := 0, map[int]bool{}
	for line := range strings.Lines(o.stderr) {
		var p progressLine
		oneObject(t, line, &p)
		if p.Stage == "" || p.Shards != 2 || p.Done < done || p.Done > p.Total || p.Elapsed <= 0 {
			t.Errorf("after %d: %+v", done, p)
		}
		done = p.Done
		shards[p.Shard] = true
	}
	if done == 0 || len(shards) != 2 {
		t.Errorf("%d steps in %d shards", done, len(shards))
	}
	if o := must(t, "prove", "--progress", "none"); o.stderr != "" {
		t.Errorf("got %q", o.stderr)
	}
}

func TestShardsAndMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "long", strings.Repeat("0123456789", 300))
	put(t, "claims.json", `{"format":"ixprove-claims/1","system":"blake3","profile":"dev","claims":[{"entry":"blake3","file":"long"},{"entry":"blake3","file":"claims.json"}]}`)
	for _, shards := range []string{"2", "9/7"} {
		plan, r := new(planResult), new(proveResult)
		oneObject(t, must(t, "prove", "--shards", shards, "--plan", "--json").stdout, plan)
		only(t, "claims.json", "long")
		oneObject(t, must(t, "prove", "--shards", shards, "--json").stdout, r)
		if !slices.EqualFunc(plan.Shards, r.Shards, slices.Equal) || plan.Key != r.Key {
			t.Errorf("planned %v, made %v", plan.Shards, r.Shards)
		}
		must(t, "verify", "--insecure", "--claims", "claims.json")
		if err := os.Remove("proof.cbor"); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, exitMalformed, "do not fit the plan", "prove", "--shards", "3/3")
}

// TestRegenerate proves under a budget that only the second computation of shards fits, and gets the same proof.
func TestRegenerate(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "long", strings.Repeat("0123456789", 300))
	put(t, "claims.json", `{"format":"ixprove-claims/1","system":"blake3","profile":"dev","claims":[{"entry":"blake3","file":"long"}]}`)
	must(t, "prove", "--shards", "5")
	want := get(t, "proof.cbor")
	p := new(planResult)
	oneObject(t, must(t, "prove", "--shards", "5", "--plan", "--json").stdout, p)
	flag, plan := fmt.Sprintf("%dB", p.Peak-1), new(planResult)
	oneObject(t, must(t, "prove", "--shards", "5", "--plan", "--json", "--memory", flag).stdout, plan)
	if !plan.Fits || !plan.Regenerate || plan.Peak >= p.Peak {
		t.Fatalf("fits %v, regenerates %v, %d of %d bytes", plan.Fits, plan.Regenerate, plan.Peak, p.Peak)
	}
	must(t, "prove", "--shards", "5", "--memory", flag)
	if !bytes.Equal(get(t, "proof.cbor"), want) {
		t.Error("the proof is another one")
	}
}

// fullDisk makes files that take a few bytes and then no more.
type fullDisk struct{}

type fullFile struct{ file }

func (fullDisk) temporary(folder string) (file, error) {
	f, err := realDisk{}.temporary(folder)
	return fullFile{f}, err
}

func (f fullFile) Write(b []byte) (int, error) {
	n, err := f.file.Write(b[:min(len(b), 100)])
	return n, errors.Join(err, syscall.ENOSPC)
}

func TestFullDisk(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "claims.json", devClaims)
	var stdout, stderr bytes.Buffer
	code := run(&tool{ctx: context.Background(), stderr: &stderr, disk: fullDisk{}}, []string{"prove"}, &stdout)
	if exit(code) != exitResource || !strings.Contains(stderr.String(), syscall.ENOSPC.Error()) {
		t.Errorf("exit %d: %s", code, &stderr)
	}
	only(t, "claims.json")
	if _, err := os.Stat("/dev/full"); err == nil {
		expect(t, exitResource, syscall.ENOSPC.Error(), "prove", "-o", "/dev/full")
	}
}

// failingWriter is a standard output that nobody reads any more.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestClosedStandardOutput(t *testing.T) {
	var stderr bytes.Buffer
	if code := Run(context.Background(), []string{"version"}, nil, failingWriter{}, &stderr); exit(code) != exitResource || !strings.Contains(stderr.String(), "standard output") {
		t.Errorf("exit %d: %s", code, &stderr)
	}
}

// canceller cancels when the first progress line is written.
type canceller struct{ cancel func() }

func (c canceller) Write(b []byte) (int, error) { c.cancel(); return len(b), nil }

func TestInterrupt(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "claims.json", devClaims)
	ctx, cancel := context.WithCancel(context.Background())
	var stdout bytes.Buffer
	if code := Run(ctx, []string{"prove", "--progress=json", "--json"}, nil, &stdout, canceller{cancel}); exit(code) != exitInterrupted {
		t.Errorf("exit %d: %s", code, &stdout)
	}
	e := new(errorObject)
	oneObject(t, stdout.String(), e)
	if e.Class != classInterrupted {
		t.Errorf("class %s", e.Class)
	}
	only(t, "claims.json")
}

// An existing proof is replaced whole, through a link too.
func TestOutputIsReplaced(t *testing.T) {
	devFolder(t)
	want := get(t, "proof.cbor")
	put(t, "real.cbor", "old")
	if err := os.Symlink("real.cbor", "link.cbor"); err != nil {
		t.Fatal(err)
	}
	must(t, "prove", "-o", "link.cbor")
	if info, err := os.Lstat("link.cbor"); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if !bytes.Equal(get(t, "real.cbor"), want) {
		t.Error("what the link leads to was not replaced")
	}
}

// TestNamesOfFiles prints names of files without what commands a terminal or turns its text around.
func TestNamesOfFiles(t *testing.T) {
	devFolder(t)
	const name = "a\x1b[2J\u202eb\n\u2066.cbor"
	put(t, name, string(get(t, defaultProof)))
	for _, args := range [][]string{{"verify", "--insecure", name}, {"inspect", name}} {
		if o := must(t, args...); strings.ContainsAny(o.stdout, "\x1b\u202e\u2066") || !strings.Contains(o.stdout, "a\ufffd[2J\ufffdb\ufffd\ufffd.cbor") {
			t.Errorf("%q: got %q", args, o.stdout)
		}
	}
}

// TestOutputIsNoInput keeps what a command reads, under whatever name it is given.
func TestOutputIsNoInput(t *testing.T) {
	devFolder(t)
	put(t, "p.ix", "pub fn p(private a: u32) -> u32 {\n    a\n}\n")
	put(t, "w.json", `{"a": 1}`)
	if err := os.Symlink("p.ix", "link"); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"prove", "-o", "claims.json"},
		{"prove", "claims.json", "-o", "./claims.json"},
		{"prove", "--trace", "claims.json"},
		{"prove", "p.ix", "--call", "p()", "--witness", "w.json", "-o", "w.json"},
		{"prove", "p.ix", "--call", "p()", "--witness", "w.json", "-o", "link"},
		{"keygen", "p.ix", "-o", "p.ix"},
		{"keygen", "p.ix", "-o", "link"},
		{"compress-root", "-o", "proof.cbor"},
		{"setup", "plonk", "--srs", "w.json", "-o", "w.json"},
		{"setup", "plonk", "--srs", "w.json", "-o", "proof.cbor"},
	} {
		expect(t, exitUsage, "would replace an input", args...)
	}
	expect(t, exitUsage, "standard output", "keygen", "p.ix", "-o", "-")
	only(t, "claims.json", "link", "p.ix", "proof.cbor", "w.json")
	if string(get(t, "claims.json")) != devClaims {
		t.Error("an input was replaced")
	}
}

// TestEmptyDemands gives what a script's variable gives that is not set: it must not be taken for no demand.
func TestEmptyDemands(t *testing.T) {
	devFolder(t)
	must(t, "verify", "--insecure")
	for _, args := range [][]string{
		{"--key-digest", ""}, {"--key-digest="}, {"--claims", ""}, {"--key", ""}, {"--program", ""}, {"--engine", ""}, {""}, {"--claims", "", "proof.cbor"}, {"--key", "x", "--key-digest", ""},
	} {
		args = append([]string{"verify", "--insecure"}, args...)
		expect(t, exitUsage, "it is empty", args...)
		expectJSON(t, exitUsage, args...)
	}
}

// TestEngineWithoutCache verifies in the module where its compiled form cannot be kept, or was damaged.
func TestEngineWithoutCache(t *testing.T) {
	devFolder(t)
	verify := []string{"verify", "--insecure", "--engine", "wasm"}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "file"))
	put(t, os.Getenv("XDG_CACHE_HOME"), "")
	must(t, verify...)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	must(t, verify...)
	kept, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "ixprove", "wazero", "*", "*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("%q, %v", kept, err)
	}
	whole := get(t, kept[0])
	half := bytes.Clone(whole)
	half[len(half)/2] ^= 1
	for _, damaged := range [][]byte{nil, whole[:1000], half} {
		if err := os.WriteFile(kept[0], damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		must(t, verify...)
	}
}

func TestStandardInput(t *testing.T) {
	devFolder(t)
	var stdout, stderr bytes.Buffer
	for _, c := range []struct {
		args  []string
		input []byte
	}{
		{[]string{"prove", "-", "-o", "again.cbor"}, []byte(devClaims)},
		{[]string{"verify", "-", "--insecure"}, get(t, "proof.cbor")},
		{[]string{"inspect", "-"}, get(t, "proof.cbor")},
	} {
		if code := Run(context.Background(), c.args, bytes.NewReader(c.input), &stdout, &stderr); exit(code) != exitDone {
			t.Errorf("%v: exit %d\n%s", c.args, code, &stderr)
		}
	}
	if !bytes.Equal(get(t, "again.cbor"), get(t, "proof.cbor")) {
		t.Error("the proof is another one")
	}
}

func TestInspect(t *testing.T) {
	devFolder(t)
	must(t, "keygen", "--system", "blake3", "-o", "key")
	for _, c := range []struct {
		args     []string
		mentions []string
	}{
		{[]string{"inspect"}, []string{"valid batch proof", "fibonacci(n 10) = value 55", "fibonacci 2^7", "FRI layers", "total", "Johnson", "unique decoding", "conjectured"}},
		{[]string{"inspect", "key"}, []string{"verifying key", "compress", "bytes", "blake3() = digest bytes32, length u64", "112 queries"}},
	} {
		o := must(t, c.args...)
		for _, m := range c.mentions {
			if !strings.Contains(o.stdout, m) {
				t.Errorf("%v: no %q in\n%s", c.args, m, o.stdout)
			}
		}
	}
	if toml := must(t, "inspect", "--soundcalc").stdout; !strings.HasPrefix(toml, "[zkevm]\n") {
		t.Errorf("got %s", toml)
	}
	r := new(inspectResult)
	oneObject(t, must(t, "inspect", "--json").stdout, r)
	total := 0
	for _, s := range r.Sizes[:len(r.Sizes)-1] {
		total += s.Bytes
	}
	if size := len(get(t, "proof.cbor")); total != size || r.Sizes[len(r.Sizes)-1].Bytes != size {
		t.Errorf("parts of %d bytes in a proof of %d", total, size)
	}
}

func TestKeygen(t *testing.T) {
	t.Chdir(t.TempDir())
	k, data, _ := keys.Encoded("fibonacci", "compact")
	must(t, "keygen", "--system", "fibonacci", "--profile", "compact", "-o", "key")
	if !bytes.Equal(get(t, "key"), data) {
		t.Error("the key is not the built-in one")
	}
	if got := must(t, "keygen", "--system", "fibonacci", "--profile", "compact", "--digest").stdout; got != hex.EncodeToString(k.Digest[:])+"\n" {
		t.Errorf("got %q", got)
	}
}

// Every class of error has a code of its own or a reason to share one.
func TestEveryClassHasACode(t *testing.T) {
	for class := formats.Internal; class <= formats.Invalid; class++ {
		if classExit[class] == exitDone {
			t.Errorf("%s has no code", class)
		}
	}
	for _, c := range []struct {
		err  error
		want exit
	}{
		{errors.New("surprise"), exitInternal}, {context.Canceled, exitInterrupted}, {errors.Join(errors.New("no memory"), syscall.ENOMEM), exitResource},
	} {
		if got := classify(c.err); got.exit != c.want {
			t.Errorf("%v: exit %d", c.err, got.exit)
		}
	}
}

func TestPanicIsInternal(t *testing.T) {
	var stderr bytes.Buffer
	code := run(&tool{ctx: context.Background(), stderr: &stderr, disk: nil}, []string{"keygen", "--system", "fibonacci", "-o", filepath.Join(t.TempDir(), "key")}, io.Discard)
	if exit(code) != exitInternal || !strings.Contains(stderr.String(), "panic") {
		t.Errorf("exit %d: %s", code, &stderr)
	}
}
