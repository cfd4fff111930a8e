package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/ixprove/ixprove/compress/snark"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/systems/keys"
	"github.com/ixprove/ixprove/verifier"
)

type verifyRootResult struct {
	Schema       string        `json:"schema"`
	Valid        bool          `json:"valid"`
	Proof        string        `json:"proof"`
	Bytes        int           `json:"bytes"`
	SnarkBytes   int           `json:"snark_bytes"`
	Key          rootKeyObject `json:"key"`
	Claims       []claimObject `json:"claims"`
	ClaimsPinned bool          `json:"claims_pinned"`
	ElapsedNs    time.Duration `json:"elapsed_ns"`

	key   *snark.Key
	root  *formats.Root
	texts []string // of the claims, where their program is known
}

func (r *verifyRootResult) text(w io.Writer) {
	fmt.Fprintf(w, "valid, with %d bits of security proven of the batch proof:\n", r.Key.Bits)
	claimLines(w, r.key.ClaimReader(), r.root.Claims, r.texts)
	fmt.Fprintf(w, "proof    %s, %d bytes, of which %d are the %s proof\n", printable(r.Proof), r.Bytes, r.SnarkBytes, r.Key.Backend)
	r.Key.lines(w)
	fmt.Fprintf(w, "time     %s\n", timeText(r.ElapsedNs))
	if r.Key.Bits < verifier.DefaultMinBits {
		fmt.Fprintf(w, "Insecure: accepted with fewer than %d bits because you said so.\n", verifier.DefaultMinBits)
	}
	if r.Key.Setup.Insecure {
		fmt.Fprint(w, "Insecure: accepted under a development setup because you said so.\n")
	}
}

// verifyRoot checks a compressed proof, and that it is of the program that the key flags name and of the calls, if there are any.
func (t *tool) verifyRoot(path string, data []byte, k *keyFlags, policy snark.Policy, claims string, calls []string) (*verifyRootResult, error) {
	root, err := formats.DecodeRoot(data)
	if err != nil {
		return nil, inFile(path, err)
	}
	key, err := k.chooseRoot(t, root.Key)
	if err != nil {
		return nil, err
	}
	if claims != "" {
		if policy.Claims, err = t.expectedOf(claims, key.Program); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	if root, err = snark.Verify(key, data, policy); err != nil {
		return nil, inFile(path, err)
	}
	r := &verifyRootResult{Schema: "ixprove/verify-root/1", Valid: true, Proof: path, Bytes: len(data), SnarkBytes: len(root.Proof), Key: newRootKeyObject(key),
		Claims: claimObjects(key.ClaimReader(), root.Claims), ClaimsPinned: policy.Claims != nil || len(calls) > 0, ElapsedNs: time.Since(start), key: key, root: root}
	if len(calls) > 0 {
		if err := k.compiled.checkCalls(calls, root.Claims); err != nil {
			return nil, inFile(path, err)
		}
	}
	if k.compiled != nil {
		r.texts = k.compiled.claimTexts(root.Claims)
	}
	return r, nil
}

// expectedOf is the claims that a claims file makes of a built-in program.
func (t *tool) expectedOf(path string, program formats.Digest) ([]formats.Claim, error) {
	_, data, ok := keys.Find(program)
	if !ok {
		return nil, &formats.Error{Class: formats.Incompatible, Place: path, What: "the claims are read by a built-in system, and the proof's program is none", Got: verifier.Hex(program),
			Next: "leave --claims out and compare the claims that are printed"}
	}
	key, err := verifier.ParseKey(data, suites...)
	if err != nil {
		return nil, err
	}
	return t.expected(path, key)
}

// chooseRoot finds the key to check a compressed proof against: the caller's file, or one that a setup of this user made, named by the caller or by the proof. It is of the program that the
// caller names, if any.
func (k *keyFlags) chooseRoot(t *tool, proof formats.Digest) (*snark.Key, error) {
	want, err := k.wanted(proof)
	if err != nil {
		return nil, err
	}
	var key *snark.Key
	if k.file != "" {
		key, err = readKeyFile(t, k.file, formats.MaxRootKeyBytes, snark.ParseKey)
	} else {
		key, err = t.keptRootKey(want)
	}
	if err != nil {
		return nil, err
	}
	return key, k.hold(t, k.file, want, key)
}

// hold makes sure that a key has the digest that the caller pins and is of the program that the caller names, if any.
func (k *keyFlags) hold(t *tool, path string, want formats.Digest, key *snark.Key) error {
	if err := k.pinned(path, want, key.Digest()); err != nil || k.program == "" {
		return err
	}
	_, err := k.ofProgram(t, key.Program, true)
	return err
}

// keptRootKey is the key with that digest among those of this user's setups.
func (t *tool) keptRootKey(want formats.Digest) (*snark.Key, error) {
	setups, err := t.setups()
	if err != nil {
		return nil, err
	}
	list, err := setups.Keys(t.ctx)
	if err != nil {
		return nil, kept(setups, err)
	}
	for _, key := range list {
		if key.Digest() == want {
			return key, nil
		}
	}
	return nil, &formats.Error{Class: formats.Incompatible, Place: "key", What: "the key of this compressed proof is none of this user's setups", Expected: "--key FILE", Got: verifier.Hex(want),
		Next: "make the key yourself with ixprove setup or a ceremony's files, or get its file from somebody you trust, pass it with --key, and pin it with --key-digest " + verifier.Hex(want)}
}

// inspectRootResult describes a compressed proof or a key of such.
type inspectRootResult struct {
	Schema string        `json:"schema"`
	Kind   string        `json:"kind"`
	File   string        `json:"file"`
	Bytes  int           `json:"bytes"`
	Key    rootKeyObject `json:"key"`
	// Of a proof alone.
	SnarkBytes int           `json:"snark_bytes,omitempty"`
	Statement  string        `json:"statement,omitempty"`
	Claims     []claimObject `json:"claims,omitempty"`
	Entries    []entryObject `json:"entries"`

	key  *snark.Key
	root *formats.Root
}

func (r *inspectRootResult) text(w io.Writer) {
	titles := map[string]string{formats.KindRoot: "valid compressed proof", formats.KindRootKey: "key of compressed proofs"}
	fmt.Fprintf(w, "%s: %s, %d bytes\n", printable(r.File), titles[r.Kind], r.Bytes)
	r.Key.lines(w)
	fmt.Fprintf(w, "protocol %s\ncircuit  %s\nproven   %d bits of the batch proof\n\n", r.Key.Protocol, r.Key.Circuit, r.Key.Bits)
	if r.root != nil {
		fmt.Fprintf(w, "statement  SHA-256 of the claims, %s\nproof      %d bytes\n\nclaims\n", r.Statement, r.SnarkBytes)
		claimLines(w, r.key.ClaimReader(), r.root.Claims, nil)
		return
	}
	fmt.Fprintf(w, "claims   %d\ntables  ", r.Key.Claims)
	for _, t := range r.Key.Tables {
		fmt.Fprintf(w, " circuit %d 2^%d", t.Circuit, t.LogHeight)
	}
	fmt.Fprint(w, "\n\nentries\n")
	for _, e := range r.Entries {
		fmt.Fprintf(w, "  %s(%s) = %s\n", e.Name, typingText(e.Args), typingText(e.Results))
	}
}

// inspectRoot describes a compressed proof, which is verified whatever its setup, or a key.
func (t *tool) inspectRoot(path string, data []byte, kind string, k *keyFlags) (*inspectRootResult, error) {
	r := &inspectRootResult{Schema: "ixprove/inspect-root/1", Kind: kind, File: path, Bytes: len(data)}
	if kind == formats.KindRootKey {
		want, err := k.wanted(formats.Digest{})
		if err != nil {
			return nil, err
		}
		if r.key, err = snark.ParseKey(data); err != nil {
			return nil, inFile(path, err)
		}
		if err := k.hold(t, path, want, r.key); err != nil {
			return nil, err
		}
	} else {
		v, err := t.verifyRoot(path, data, k, snark.Policy{Insecure: true, AllowInsecureSetup: true}, "", nil)
		if err != nil {
			return nil, err
		}
		r.key, r.root, r.SnarkBytes, r.Statement, r.Claims = v.key, v.root, v.SnarkBytes, verifier.Hex(v.root.Statement), v.Claims
	}
	r.Key = newRootKeyObject(r.key)
	for _, e := range r.key.Entries {
		r.Entries = append(r.Entries, entryObject{e.Name, typings(e.Args), typings(e.Results)})
	}
	return r, nil
}
