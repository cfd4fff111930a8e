package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/compress"
	"github.com/ixprove/ixprove/compress/circuit"
	"github.com/ixprove/ixprove/compress/snark"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/formats/encode"
	"github.com/ixprove/ixprove/internal/toy"
)

// toyCompressor compress by the small circuit, which proves nothing of the batch proof but has its statement.
type toyCompressor struct{}

func (toyCompressor) compile(ctx context.Context, p *compress.Program, backend string, commitments bool) (*compress.System, error) {
	return compress.CompileCircuit(ctx, toy.New(commitments), p.Template(backend), commitments)
}

func (toyCompressor) compress(ctx context.Context, p *compress.Prover, root *rootProof) ([]byte, error) {
	s, err := circuit.StatementOf(root.key, root.program.Tables, root.claims)
	if err != nil {
		return nil, err
	}
	return p.Prove(ctx, toy.Assign(s, p.System.Commitments), s, root.claims)
}

// small runs a command line with the small circuit.
func small(ctx context.Context, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	code := run(&tool{ctx: ctx, stdin: strings.NewReader(""), stderr: &stderr, disk: realDisk{}, cards: realCards{}, compressor: toyCompressor{}}, args, &stdout)
	return outcome{exit(code), stdout.String(), stderr.String()}
}

func mustSmall(t *testing.T, args ...string) outcome {
	t.Helper()
	o := small(context.Background(), args...)
	if o.exit != exitDone {
		t.Fatalf("ixprove %s: exit %d\n%s%s", strings.Join(args, " "), o.exit, o.stdout, o.stderr)
	}
	return o
}

func expectSmall(t *testing.T, want exit, mention string, args ...string) {
	t.Helper()
	o := small(context.Background(), args...)
	if o.exit != want || !strings.Contains(o.stderr, mention) || o.stdout != "" {
		t.Errorf("ixprove %s: exit %d, want %d and mention of %q\n%s%s", strings.Join(args, " "), o.exit, want, mention, o.stdout, o.stderr)
	}
}

// compressFolder makes the current folder one with a small root proof and powers of tau, and gives this test a cache of its own.
func compressFolder(t *testing.T) {
	t.Helper()
	ptau, err := filepath.Abs(filepath.Join("..", "..", "..", "..", "compress", "srs", "testdata", "snarkjs-5.ptau"))
	if err != nil {
		t.Fatal(err)
	}
	data := get(t, ptau)
	rootFolder(t)
	put(t, "tau.ptau", string(data))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "cache"))
}

func TestCompressPlonk(t *testing.T) {
	compressFolder(t)
	// Before a setup, it says what to type, and --plan says it too.
	expectSmall(t, exitUsage, "ixprove setup plonk --srs", "compress-root", "--plonk")
	if o := mustSmall(t, "compress-root", "--plan"); !strings.Contains(o.stdout, "first: ixprove setup plonk --srs") || !strings.Contains(o.stdout, "21 constraints of plonk, domain 2^5") {
		t.Errorf("got\n%s", o.stdout)
	}
	only(t, "claims.json", "proof.cbor", "tau.ptau")
	if o := mustSmall(t, "setup", "plonk", "--srs", "tau.ptau", "-o", "root.vk"); !strings.Contains(o.stdout, "unknown provenance") || !strings.Contains(o.stdout, "this program cannot tell") {
		t.Errorf("got\n%s", o.stdout)
	}
	if o := mustSmall(t, "compress-root", "--plan"); !strings.Contains(o.stdout, "setup    universal, unknown provenance") {
		t.Errorf("got\n%s", o.stdout)
	}
	o := mustSmall(t, "compress-root", "--plonk", "--progress=json")
	for _, text := range []string{"fibonacci(n 10) = value 55", "of which 896 are the plonk proof"} {
		if !strings.Contains(o.stdout, text) {
			t.Errorf("got\n%s", o.stdout)
		}
	}
	for _, stage := range []string{"check", "compile", "keys", "prove"} {
		if !strings.Contains(o.stderr, `"stage":"`+stage+`"`) {
			t.Errorf("no stage %s:\n%s", stage, o.stderr)
		}
	}
	only(t, "claims.json", "proof.cbor", "root.plonk.cbor", "root.vk", "tau.ptau")
	// The batch proof is under the insecure profile root-dev.
	expectSmall(t, exitRejected, "R-9", "verify", "root.plonk.cbor")
	expectSmall(t, exitRejected, "R-9", "verify", "root.plonk.cbor", "--min-bits", "1", "--min-digest-bits", "127")
	mustSmall(t, "verify", "root.plonk.cbor", "--min-bits", "1", "--min-digest-bits", "126")
	if o := mustSmall(t, "verify", "root.plonk.cbor", "--insecure", "--claims", "claims.json"); !strings.Contains(o.stdout, "fibonacci(n 90)") || !strings.Contains(o.stdout, "Insecure") {
		t.Errorf("got\n%s", o.stdout)
	}
	if o := mustSmall(t, "inspect", "root.plonk.cbor"); !strings.Contains(o.stdout, "valid compressed proof") || !strings.Contains(o.stdout, "fibonacci root-dev") {
		t.Errorf("got\n%s", o.stdout)
	}
	if o := mustSmall(t, "inspect", "root.vk"); !strings.Contains(o.stdout, "key of compressed proofs") || !strings.Contains(o.stdout, "fibonacci(n u32) = value field") {
		t.Errorf("got\n%s", o.stdout)
	}
	if o := mustSmall(t, "export-solidity", "--calldata", "call.hex"); !strings.Contains(o.stdout, "contract IxproveRootVerifier,") || !strings.Contains(o.stdout, "Insecure: ") {
		t.Errorf("got\n%s", o.stdout)
	}
	if !strings.Contains(string(get(t, "IxproveRootVerifier.sol")), "contract IxproveRootVerifier is PlonkVerifier") || !strings.HasPrefix(string(get(t, "call.hex")), "f7e83aee") {
		t.Error("another contract or call")
	}
	// A second machine has the key's file alone.
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	expectSmall(t, exitIncompatible, "--key FILE", "verify", "root.plonk.cbor", "--insecure")
	mustSmall(t, "verify", "root.plonk.cbor", "--insecure", "--key", "root.vk")
	key, err := snark.ParseKey(get(t, "root.vk"))
	if err != nil {
		t.Fatal(err)
	}
	digest := key.Digest()
	mustSmall(t, "verify", "root.plonk.cbor", "--insecure", "--key", "root.vk", "--key-digest", hex.EncodeToString(digest[:]))
	digest[0] ^= 1
	expectSmall(t, exitIncompatible, "--key-digest pins", "verify", "root.plonk.cbor", "--insecure", "--key", "root.vk", "--key-digest", hex.EncodeToString(digest[:]))
	expectSmall(t, exitIncompatible, "--key-digest pins", "inspect", "root.vk", "--key-digest", hex.EncodeToString(digest[:]))
	expectSmall(t, exitIncompatible, "--key-digest pins", "export-solidity", "--key", "root.vk", "--key-digest", hex.EncodeToString(digest[:]))
	mustSmall(t, "export-solidity", "--key", "root.vk", "-o", "again.sol")
	if !bytes.Equal(get(t, "again.sol"), get(t, "IxproveRootVerifier.sol")) {
		t.Error("the contract differs without the proof")
	}
}

// listProgram has memory, whose claim is in its proofs, and no numbers of bounded size, whose table is slow to hash for roots.
const listProgram = `enum List {
    Nil,
    Cons(field, &List),
}

fn count(n: field) -> List {
    match n {
        0 => List::Nil,
        _ => List::Cons(n, &count(n - 1)),
    }
}

fn total(l: List) -> field {
    match l {
        List::Nil => 0,
        List::Cons(x, rest) => x + total(*rest),
    }
}

pub fn sum(n: field) -> field {
    total(count(n))
}
`

// TestCompressProgram compresses calls of a program: one key for all of like size.
func TestCompressProgram(t *testing.T) {
	programFolder(t)
	put(t, "list.ix", listProgram)
	put(t, "other.ix", strings.Replace(listProgram, "0 => List::Nil", "1 => List::Nil", 1))
	expect(t, exitUsage, "--shards", "prove", "list.ix", "--call", "sum(10)", "--profile", "root-dev", "--shards", "2")
	expect(t, exitMalformed, "--max-hash-time", "prove", "list.ix", "--call", "sum(10)", "--profile", "root-dev", "--max-hash-time", "1ns")
	expect(t, exitUsage, "has no kernels", "prove", "list.ix", "--call", "sum(10)", "--profile", "root-dev", "--gpu", "0")
	if o := must(t, "prove", "list.ix", "--call", "sum(10)", "--profile", "root-dev", "--plan"); !strings.Contains(o.stdout, "permutations") {
		t.Errorf("got\n%s", o.stdout)
	}
	must(t, "prove", "list.ix", "--call", "sum(10)", "--profile", "root-dev")
	must(t, "verify", "--insecure") // the key is on the keyring
	must(t, "verify", "--insecure", "--program", "list.ix", "--call", "sum(10)")
	mustSmall(t, "setup", "plonk", "--insecure-dev", "-o", "root.vk")
	for _, call := range []string{"sum(10)", "sum(200)", "sum(0)"} {
		must(t, "prove", "list.ix", "--call", call, "--profile", "root-dev")
		mustSmall(t, "compress-root", "--plonk")
		verify := []string{"verify", "root.plonk.cbor", "--insecure", "--allow-insecure-setup", "--key", "root.vk"}
		mustSmall(t, verify...)
		if o := mustSmall(t, append(verify, "--program", "list.ix", "--call", call)...); !strings.Contains(o.stdout, "  "+call+" = ") {
			t.Errorf("got\n%s", o.stdout)
		}
		expectSmall(t, exitRejected, "not the call ", append(verify, "--program", "list.ix", "--call", "sum(11)")...)
		expectSmall(t, exitRejected, "not the calls", append(verify, "--program", "list.ix", "--call", call, "--call", call)...)
		expectSmall(t, exitIncompatible, "not of this program", append(verify, "--program", "other.ix")...)
	}
	expectSmall(t, exitIncompatible, "not of this program", "export-solidity", "--key", "root.vk", "--program", "other.ix")
	expectSmall(t, exitIncompatible, "not of this program", "inspect", "root.vk", "--program", "other.ix")
	mustSmall(t, "export-solidity", "--key", "root.vk", "--program", "list.ix")
	mustSmall(t, "export-solidity", "--calldata", "call.hex")
	// Two claims: entry 0 with its argument 0 and result 0, and entry 1, the memory, which has neither.
	const claims = "0000000000000002" + "0000000000000000" + "0000000000000002" + "0000000000000000" + "0000000000000000" + "0000000000000001" + "0000000000000000"
	if !strings.Contains(string(get(t, "call.hex")), claims) {
		t.Errorf("the call has other claims: %s", get(t, "call.hex"))
	}
	// More rows than tables of 2^8 hold are another circuit.
	shape := new(proveResult)
	oneObject(t, must(t, "prove", "list.ix", "--call", "sum(300)", "--profile", "root-dev", "--json").stdout, shape)
	for _, table := range shape.Shards[0] {
		if table.LogHeight != 12 {
			t.Errorf("%+v", shape.Shards)
		}
	}
	expectSmall(t, exitUsage, "no --key", "verify", "--insecure", "--program", "list.ix", "--key", "root.vk")
}

// TestCompressLater sets up before there is a proof: the keys of its circuit are made when they are needed.
func TestCompressLater(t *testing.T) {
	compressFolder(t)
	proof := get(t, "proof.cbor")
	if err := os.Remove("proof.cbor"); err != nil {
		t.Fatal(err)
	}
	expectSmall(t, exitUsage, "ixprove prove --profile root", "setup", "plonk", "--srs", "tau.ptau", "-o", "root.vk")
	expectSmall(t, exitUsage, "ixprove prove --profile root", "setup", "groth16", "--insecure-dev")
	mustSmall(t, "setup", "plonk", "--insecure-dev") // more powers are made when it is known how many
	put(t, "proof.cbor", string(proof))
	mustSmall(t, "compress-root", "-o", "dev.cbor")
	mustSmall(t, "verify", "dev.cbor", "--insecure", "--allow-insecure-setup")
	if err := os.Remove("proof.cbor"); err != nil {
		t.Fatal(err)
	}
	mustSmall(t, "setup", "plonk", "--srs", "tau.ptau", "--log-size", "3")
	put(t, "proof.cbor", string(proof))
	expectSmall(t, exitMalformed, "too few", "compress-root")
	mustSmall(t, "setup", "plonk", "--srs", "tau.ptau")
	mustSmall(t, "compress-root")
	first := get(t, "root.plonk.cbor")
	mustSmall(t, "compress-root", "-o", "again.cbor") // with the keys that were kept
	a, errA := formats.DecodeRoot(first)
	b, errB := formats.DecodeRoot(get(t, "again.cbor"))
	if err := errors.Join(errA, errB); err != nil || a.Key != b.Key {
		t.Errorf("the key is not kept (%v)", err)
	}
	// A real setup is preferred to one for development, whichever is newer.
	mustSmall(t, "setup", "plonk", "--insecure-dev")
	mustSmall(t, "compress-root", "-o", "again.cbor")
	if b, err := formats.DecodeRoot(get(t, "again.cbor")); err != nil || b.Setup.Mode != formats.SetupUniversal {
		t.Errorf("a proof under %+v (%v)", b, err)
	}
}

func TestCompressDev(t *testing.T) {
	for _, backend := range []string{"plonk", "groth16"} {
		t.Run(backend, func(t *testing.T) {
			compressFolder(t)
			expectSmall(t, exitUsage, "ixprove", "compress-root", "--"+backend)
			if o := mustSmall(t, "setup", backend, "--insecure-dev"); !strings.Contains(o.stdout, "INSECURE") {
				t.Errorf("got\n%s", o.stdout)
			}
			if o := mustSmall(t, "compress-root", "--"+backend); !strings.Contains(o.stdout, "INSECURE") {
				t.Errorf("got\n%s", o.stdout)
			}
			name := "root." + backend + ".cbor"
			expectSmall(t, exitRejected, "R-8", "verify", name)
			expectSmall(t, exitRejected, "R-8", "verify", name, "--insecure")
			expectSmall(t, exitRejected, "R-9", "verify", name, "--allow-insecure-setup")
			if o := mustSmall(t, "verify", name, "--insecure", "--allow-insecure-setup"); !strings.Contains(o.stdout, "INSECURE") {
				t.Errorf("got\n%s", o.stdout)
			}
			v := new(verifyRootResult)
			oneObject(t, mustSmall(t, "verify", name, "--insecure", "--allow-insecure-setup", "--json").stdout, v)
			if !v.Valid || !v.Key.Setup.Insecure || v.Key.Backend != backend || v.Key.Program.System != "fibonacci" || len(v.Claims) != 2 {
				t.Errorf("%+v", v)
			}
			if o := mustSmall(t, "export-solidity", name); !strings.Contains(o.stdout, "IxproveRootInsecureDevVerifier.sol") {
				t.Errorf("got\n%s", o.stdout)
			}
		})
	}
}

func TestCompressCeremony(t *testing.T) {
	compressFolder(t)
	expectSmall(t, exitUsage, "ixprove ceremony init", "compress-root", "--groth16")
	expectSmall(t, exitUsage, "ixprove ceremony init --srs tau.ptau", "setup", "groth16", "--srs", "tau.ptau")
	expectSmall(t, exitMalformed, "no ceremony", "ceremony", "contribute")
	expectSmall(t, exitMalformed, "no ceremony", "ceremony", "verify", "--srs", "tau.ptau")
	mustSmall(t, "ceremony", "init", "--srs", "tau.ptau")
	expectSmall(t, exitUsage, "not overwritten", "ceremony", "init", "--srs", "tau.ptau")
	const beacon = "00112233445566778899aabbccddeeff"
	expectSmall(t, exitMalformed, "nobody has contributed", "ceremony", "finish", "--srs", "tau.ptau", "--beacon", beacon)
	mustSmall(t, "ceremony", "contribute")
	// A contributor elsewhere has the latest file alone.
	if err := os.Mkdir("elsewhere", 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join("elsewhere", "0001.phase2"), string(get(t, filepath.Join("ceremony", "0001.phase2"))))
	mustSmall(t, "ceremony", "contribute", "--folder", "elsewhere")
	put(t, filepath.Join("ceremony", "0002.phase2"), string(get(t, filepath.Join("elsewhere", "0002.phase2"))))
	if o := mustSmall(t, "ceremony", "verify", "--srs", "tau.ptau"); !strings.Contains(o.stdout, "contributions  2") || !strings.Contains(o.stdout, "transcript") {
		t.Errorf("got\n%s", o.stdout)
	}
	verified := new(ceremonyResult)
	oneObject(t, mustSmall(t, "ceremony", "verify", "--srs", "tau.ptau", "--json").stdout, verified)
	expectSmall(t, exitUsage, "--beacon", "ceremony", "finish", "--srs", "tau.ptau")
	// Nobody's contribution is dropped for one that is missing before it.
	gap := filepath.Join("ceremony", "0001.phase2")
	if err := os.Rename(gap, "away"); err != nil {
		t.Fatal(err)
	}
	expectSmall(t, exitMalformed, "0001.phase2", "ceremony", "verify", "--srs", "tau.ptau")
	expectSmall(t, exitMalformed, "a contribution is missing", "ceremony", "finish", "--srs", "tau.ptau", "--beacon", beacon)
	if err := os.Rename("away", gap); err != nil {
		t.Fatal(err)
	}
	later := filepath.Join("ceremony", "0004.phase2")
	put(t, later, string(get(t, gap)))
	expectSmall(t, exitMalformed, "0003.phase2", "ceremony", "finish", "--srs", "tau.ptau", "--beacon", beacon)
	if err := os.Remove(later); err != nil {
		t.Fatal(err)
	}
	expectSmall(t, exitMalformed, "too short", "ceremony", "finish", "--srs", "tau.ptau", "--beacon", "00")
	if o := mustSmall(t, "ceremony", "finish", "--srs", "tau.ptau", "--beacon", beacon, "-o", "root.vk"); !strings.Contains(o.stdout, "compress-root --groth16") || !strings.Contains(o.stdout, verified.Transcript) {
		t.Errorf("got\n%s", o.stdout)
	}
	if o := mustSmall(t, "compress-root", "--groth16"); !strings.Contains(o.stdout, "of which 256 are the groth16 proof") || strings.Contains(o.stdout, "INSECURE") {
		t.Errorf("got\n%s", o.stdout)
	}
	mustSmall(t, "verify", "root.groth16.cbor", "--insecure", "--key", "root.vk")
	put(t, filepath.Join("ceremony", "0001.phase2"), string(get(t, filepath.Join("ceremony", "0002.phase2"))))
	expectSmall(t, exitRejected, "does not contribute", "ceremony", "verify", "--srs", "tau.ptau")
	put(t, filepath.Join("ceremony", "0001.phase2"), "ixprove-phase2/1")
	expectSmall(t, exitMalformed, "contribution", "ceremony", "verify", "--srs", "tau.ptau")
}

// TestCompressUsage makes mistakes in command lines.
func TestCompressUsage(t *testing.T) {
	compressFolder(t)
	put(t, "standard.json", devClaims)
	must(t, "prove", "standard.json", "-o", "standard.cbor")
	put(t, "g1.dat", strings.Repeat("\xff", 640))
	for _, c := range []struct {
		exit    exit
		mention string
		args    []string
	}{
		{exitUsage, "plonk or groth16", []string{"setup"}},
		{exitUsage, "did you mean plonk?", []string{"setup", "plonc", "--insecure-dev"}},
		{exitUsage, "--srs FILE or --insecure-dev", []string{"setup", "plonk"}},
		{exitUsage, "--srs FILE or --insecure-dev", []string{"setup", "plonk", "--srs", "tau.ptau", "--insecure-dev"}},
		{exitUsage, "--log-size", []string{"setup", "plonk", "--insecure-dev", "--log-size", "40"}},
		{exitMalformed, "cannot be read", []string{"setup", "plonk", "--srs", "none.ptau"}},
		{exitMalformed, "not a regular file", []string{"setup", "plonk", "--srs", "."}},
		{exitMalformed, "not one of its group", []string{"setup", "plonk", "--srs", "g1.dat"}},
		{exitMalformed, "no file of powers of tau", []string{"setup", "plonk", "--srs", "claims.json"}},
		{exitUsage, "--output", []string{"setup", "plonk", "--srs", "tau.ptau", "-o", "-"}},
		{exitResource, "no such file", []string{"setup", "plonk", "--srs", "tau.ptau", "-o", "none/root.vk"}},
		{exitUsage, "init, contribute, verify or finish", []string{"ceremony"}},
		{exitUsage, "did you mean finish?", []string{"ceremony", "finsh"}},
		{exitUsage, "--srs", []string{"ceremony", "init"}},
		{exitUsage, "--plonk or --groth16", []string{"compress-root", "--plonk", "--groth16"}},
		{exitUsage, "--progress", []string{"compress-root", "--progress", "loud"}},
		{exitMalformed, "cannot be read", []string{"compress-root", "none.cbor"}},
		{exitIncompatible, "only a root", []string{"compress-root", "standard.cbor"}},
		{exitMalformed, "compress-root makes", []string{"export-solidity"}},
		{exitIncompatible, "batch proof", []string{"export-solidity", "proof.cbor"}},
		{exitIncompatible, "not a key of compressed proofs", []string{"export-solidity", "--key", "proof.cbor"}},
	} {
		expectSmall(t, c.exit, c.mention, c.args...)
		o := small(context.Background(), append(c.args, "--json")...)
		var e errorObject
		if err := json.Unmarshal([]byte(o.stdout), &e); err != nil || e.Exit != c.exit || e.Schema != "ixprove/error/1" {
			t.Errorf("%v: %v, %+v", c.args, err, e)
		}
	}
	for _, args := range [][]string{{"setup", "plonk", "--srs", "tau.ptau", "--json"}, {"compress-root", "--json"}, {"inspect", "root.plonk.cbor", "--json"}, {"export-solidity", "--json"},
		{"compress-root", "--plan", "--json"}, {"ceremony", "init", "--srs", "tau.ptau", "--json"}, {"ceremony", "contribute", "--json"}} {
		var r struct{ Schema string }
		if err := json.Unmarshal([]byte(mustSmall(t, args...).stdout), &r); err != nil || !strings.HasPrefix(r.Schema, "ixprove/") {
			t.Errorf("%v: %v, %+v", args, err, r)
		}
	}
	expectSmall(t, exitUsage, "natively", "verify", "root.plonk.cbor", "--engine", "wasm")
	expectSmall(t, exitUsage, "batch proof", "inspect", "root.plonk.cbor", "--soundcalc")
}

// TestWrongRoots verifies compressed proofs that are not what they should be: another program, claim, key, setup or curve, and cut or foreign files.
func TestWrongRoots(t *testing.T) {
	compressFolder(t)
	mustSmall(t, "setup", "plonk", "--srs", "tau.ptau", "-o", "root.vk")
	mustSmall(t, "compress-root")
	good := get(t, "root.plonk.cbor")
	changed := func(change func(r *formats.Root)) []byte {
		r, err := formats.DecodeRoot(good)
		if err != nil {
			t.Fatal(err)
		}
		r.Proof = slices.Clone(r.Proof)
		change(r)
		data, err := encode.Root(r)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	put(t, "other.json", strings.Replace(devClaims, `"n":10},"results":{"value":55}`, `"n":11},"results":{"value":89}`, 1))
	for name, c := range map[string]struct {
		exit    exit
		mention string
		data    []byte
		args    []string
	}{
		"another program":        {exitIncompatible, "R-5", changed(func(r *formats.Root) { r.Program[0] ^= 1 }), nil},
		"another claim":          {exitRejected, "R-11", changed(func(r *formats.Root) { r.Claims[1].Results = formats.Elements{}.Append(56) }), nil},
		"claims not expected":    {exitRejected, "R-12", good, []string{"--claims", "other.json"}},
		"another key":            {exitIncompatible, "R-7", changed(func(r *formats.Root) { r.Key[0] ^= 1 }), []string{"--key", "root.vk"}},
		"a key that is not kept": {exitIncompatible, "--key FILE", changed(func(r *formats.Root) { r.Key[0] ^= 1 }), nil},
		"another setup":          {exitIncompatible, "R-6", changed(func(r *formats.Root) { r.Setup.Name = "Aztec Ignition" }), nil},
		"another curve":          {exitIncompatible, "R-4", changed(func(r *formats.Root) { r.Curve = "bls12-381" }), nil},
		"another proof system":   {exitIncompatible, "R-4", changed(func(r *formats.Root) { r.Backend = "groth16" }), nil},
		"another proof":          {exitRejected, "R-15", changed(func(r *formats.Root) { copy(r.Proof[64:128], r.Proof[:64]) }), nil},
		"no point":               {exitMalformed, "R-14", changed(func(r *formats.Root) { r.Proof[0] ^= 1 }), nil},
		"a short proof":          {exitMalformed, "R-13", changed(func(r *formats.Root) { r.Proof = r.Proof[:800] }), nil},
		"a cut file":             {exitMalformed, "R-2", good[:len(good)-1], nil},
		"more after it":          {exitMalformed, "R-2", append(slices.Clone(good), 0), nil},
		"a key":                  {exitIncompatible, "P-3", get(t, "root.vk"), nil},
		"another version":        {exitIncompatible, "R-3", bytes.Replace(good, []byte("ixprove-root\x01\x01"), []byte("ixprove-root\x01\x02"), 1), nil},
	} {
		put(t, "changed.cbor", string(c.data))
		args := append([]string{"verify", "changed.cbor", "--insecure"}, c.args...)
		o := small(context.Background(), args...)
		if o.exit != c.exit || !strings.Contains(o.stderr, c.mention) || o.stdout != "" {
			t.Errorf("%s: exit %d, want %d and mention of %q\n%s%s", name, o.exit, c.exit, c.mention, o.stdout, o.stderr)
		}
	}
	put(t, "cut.vk", string(get(t, "root.vk")[:100]))
	expectSmall(t, exitMalformed, "S-1", "verify", "root.plonk.cbor", "--key", "cut.vk")
	// A batch proof that proves nothing is refused before anything is made of it.
	proof := get(t, "proof.cbor")
	proof[len(proof)-40] ^= 1
	put(t, "false.cbor", string(proof))
	expectSmall(t, exitRejected, "P-", "compress-root", "false.cbor", "-o", "false.root")
	if exists("false.root") {
		t.Error("something was written")
	}
}

// TestCompressInterrupted is stopped before each of its commands: nothing is written, and the code says that it can be given again.
func TestCompressInterrupted(t *testing.T) {
	compressFolder(t)
	mustSmall(t, "ceremony", "init", "--srs", "tau.ptau")
	mustSmall(t, "ceremony", "contribute")
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	try := func(args ...string) {
		t.Helper()
		if o := small(stopped, args...); o.exit != exitInterrupted || o.stdout != "" {
			t.Errorf("%v: exit %d\n%s", args, o.exit, o.stderr)
		}
	}
	try("setup", "plonk", "--srs", "tau.ptau", "-o", "root.vk")
	try("setup", "plonk", "--insecure-dev")
	try("setup", "groth16", "--insecure-dev")
	try("ceremony", "contribute")
	try("ceremony", "verify", "--srs", "tau.ptau")
	try("ceremony", "finish", "--srs", "tau.ptau", "--beacon", "00112233445566778899aabbccddeeff")
	mustSmall(t, "setup", "plonk", "--srs", "tau.ptau")
	try("compress-root")
	only(t, "ceremony", "claims.json", "proof.cbor", "tau.ptau")
	mustSmall(t, "compress-root")
}

// stopAt ends a context when progress tells of a stage.
type stopAt struct {
	bytes.Buffer
	stage string
	stop  func()
}

func (s *stopAt) Write(b []byte) (int, error) {
	if strings.Contains(string(b), `"stage":"`+s.stage+`"`) {
		s.stop()
	}
	return s.Buffer.Write(b)
}

// TestCompressInterruptedInside is stopped at each stage of each command.
func TestCompressInterruptedInside(t *testing.T) {
	compressFolder(t)
	mustSmall(t, "ceremony", "init", "--srs", "tau.ptau")
	mustSmall(t, "ceremony", "contribute")
	mustSmall(t, "setup", "plonk", "--srs", "tau.ptau")
	for _, c := range []struct {
		stages []string
		args   []string
	}{
		{[]string{"check", "compile", "keys", "prove"}, []string{"compress-root"}},
		{[]string{"compile", "read", "keys"}, []string{"setup", "plonk", "--srs", "tau.ptau", "-o", "root.vk"}},
		{[]string{"compile", "keys"}, []string{"setup", "groth16", "--insecure-dev", "-o", "root.vk"}},
		{[]string{"ceremony"}, []string{"ceremony", "contribute"}},
		{[]string{"compile", "read", "ceremony"}, []string{"ceremony", "verify", "--srs", "tau.ptau"}},
		{[]string{"compile", "read", "ceremony"}, []string{"ceremony", "finish", "--srs", "tau.ptau", "--beacon", "00112233445566778899aabbccddeeff", "-o", "root.vk"}},
	} {
		for _, stage := range c.stages {
			ctx, cancel := context.WithCancel(context.Background())
			stderr := &stopAt{stage: stage, stop: cancel}
			var stdout bytes.Buffer
			code := run(&tool{ctx: ctx, stdin: strings.NewReader(""), stderr: stderr, disk: realDisk{}, cards: realCards{}, compressor: toyCompressor{}}, append(c.args, "--progress=json"), &stdout)
			if exit(code) != exitInterrupted || stdout.Len() > 0 || ctx.Err() == nil {
				t.Errorf("%v at %s: exit %d\n%s%s", c.args, stage, code, stdout.String(), stderr.String())
			}
			cancel()
		}
	}
	only(t, "ceremony", "claims.json", "proof.cbor", "tau.ptau")
	if found, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "ixprove", "compress", "groth16", "*", "*")); err != nil || found != nil {
		t.Errorf("left over: %v (%v)", found, err)
	}
}

// TestDamagedCache changes what a setup kept.
func TestDamagedCache(t *testing.T) {
	compressFolder(t)
	mustSmall(t, "setup", "plonk", "--srs", "tau.ptau")
	found, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "ixprove", "compress", "srs", "*", "powers", "powers"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v (%v)", found, err)
	}
	data := get(t, found[0])
	data[100] ^= 1
	put(t, found[0], string(data))
	expectSmall(t, exitMalformed, "a kept file is damaged", "compress-root")
	mustSmall(t, "setup", "plonk", "--srs", "tau.ptau")
	mustSmall(t, "compress-root")
}

// TestCompressReally takes a small root through the real circuit, from the proof to the verification, with both proof systems.
func TestCompressReally(t *testing.T) {
	if testing.Short() {
		t.Log("without -short the circuit is proven")
		return
	}
	compressFolder(t)
	must(t, "setup", "groth16", "--insecure-dev")
	must(t, "compress-root", "--groth16")
	if o := must(t, "verify", "root.groth16.cbor", "--insecure", "--allow-insecure-setup", "--claims", "claims.json"); !strings.Contains(o.stdout, "fibonacci(n 90)") {
		t.Errorf("got\n%s", o.stdout)
	}
	must(t, "setup", "plonk", "--insecure-dev")
	must(t, "compress-root", "--plonk")
	must(t, "verify", "root.plonk.cbor", "--insecure", "--allow-insecure-setup", "--claims", "claims.json")
	// 2^5 powers are too few for it.
	expect(t, exitMalformed, "too few powers", "setup", "plonk", "--srs", "tau.ptau")
}
