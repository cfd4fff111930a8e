package cli

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/systems/keys"
)

// rootFolder makes the current folder one with a small claims file and an insecure root of it.
func rootFolder(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	put(t, "claims.json", strings.Replace(devClaims, `"dev"`, `"root-dev"`, 1))
	must(t, "prove")
}

// TestRoot takes a root through the commands.
func TestRoot(t *testing.T) {
	rootFolder(t)
	proof := get(t, "proof.cbor")
	r := new(proveResult)
	oneObject(t, must(t, "prove", "--threads", "1", "--json").stdout, r)
	if !bytes.Equal(proof, get(t, "proof.cbor")) {
		t.Error("the proof depends on the number of threads")
	}
	if len(r.Shards) != 1 || len(r.Shards[0]) != 1 || r.Shards[0][0] != (tableObject{"fibonacci", 8}) || r.DigestBits != 126 || r.Key.Profile != "root-dev" || !r.Key.BuiltIn {
		t.Errorf("%+v", r)
	}
	const digests = "digests 126 bits collision resistant"
	for _, args := range [][]string{{"verify", "--insecure"}, {"verify", "--min-bits", "1", "--claims", "claims.json"}, {"inspect"}, {"prove"}} {
		if o := must(t, args...); !strings.Contains(o.stdout, digests) || !strings.Contains(o.stdout, "fibonacci(n 10) = value 55") {
			t.Errorf("%v: got\n%s", args, o.stdout)
		}
	}
	v, i := new(verifyResult), new(inspectResult)
	oneObject(t, must(t, "verify", "--insecure", "--json").stdout, v)
	oneObject(t, must(t, "inspect", "--json").stdout, i)
	if v.DigestBits != rootDigestBits || i.Profile.Suite != "poseidon2-bn254" || i.Security[0].Digest != 126 {
		t.Errorf("%+v, %+v", v, i)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, c := range []struct {
		exit    exit
		mention string
		args    []string
	}{
		{exitRejected, "P-17", []string{"verify"}},
		{exitRejected, "P-17", []string{"verify", "--min-bits", "1", "--min-digest-bits", "127"}},
		{exitUsage, "--min-digest-bits", []string{"verify", "--min-digest-bits", "0"}},
		{exitIncompatible, "K-3", []string{"verify", "--insecure", "--engine", "wasm"}},
		{exitUsage, "has no kernels", []string{"prove", "--profile", "root", "--gpu", "0"}},
		{exitUsage, "--shards", []string{"prove", "--shards", "2"}},
		{exitUsage, "--max-hash-time", []string{"prove", "--max-hash-time", "0s"}},
		{exitMalformed, "--max-hash-time", []string{"prove", "--max-hash-time", "1ns"}},
		{exitMalformed, "about", []string{"prove", "--profile", "root", "--max-hash-time", "1ns"}},
	} {
		expect(t, c.exit, c.mention, c.args...)
		expectJSON(t, c.exit, c.args...)
	}
	k, data, _ := keys.Encoded("fibonacci", "root-dev")
	must(t, "keygen", "--system", "fibonacci", "--profile", "root-dev", "-o", "key")
	if !bytes.Equal(get(t, "key"), data) {
		t.Error("the key is not the built-in one")
	}
	must(t, "verify", "--insecure", "--key", "key", "--key-digest", hex.EncodeToString(k.Digest[:]))
	if o := must(t, "inspect", "key"); !strings.Contains(o.stdout, "suite poseidon2-bn254") {
		t.Errorf("got\n%s", o.stdout)
	}
}

// TestRootPlan has the hashing of a root in its plan, whether it is allowed or not, and of no other proof.
func TestRootPlan(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "claims.json", devClaims)
	for _, c := range []struct {
		args []string
		fits bool
		text string
	}{
		{[]string{"prove", "--plan", "--profile", "root", "--max-hash-time", "100h"}, true, "nonces: about "},
		{[]string{"prove", "--plan", "--profile", "root", "--max-hash-time", "1ns"}, false, "more than 1ns (--max-hash-time)"},
	} {
		p := new(planResult)
		oneObject(t, must(t, append(c.args, "--json")...).stdout, p)
		h := p.Hashing
		// Three trees of 2^13 leaves of 4, 3 and 3 elements, a layer of 2^11 leaves of 12, and grinding. A leaf of at most 12 elements is one permutation.
		if h == nil || h.Fits != c.fits || h.Rows != 3<<13+1<<11 || h.Elements != 10<<13+12<<11 || h.Nodes != h.Rows-4 || h.Nonces != 1<<20 || h.Permutations != h.Rows+h.Nodes+h.Nonces || h.EstimateNs <= 0 {
			t.Errorf("%v: %+v", c.args, h)
		}
		if o := must(t, c.args...); !strings.Contains(o.stdout, c.text) {
			t.Errorf("%v: got\n%s", c.args, o.stdout)
		}
	}
	p := new(planResult)
	oneObject(t, must(t, "prove", "--plan", "--json").stdout, p)
	if p.Hashing != nil {
		t.Errorf("%+v", p.Hashing)
	}
}
