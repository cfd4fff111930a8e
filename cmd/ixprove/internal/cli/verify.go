package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/compress/snark"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/systems"
	"github.com/ixprove/ixprove/systems/keys"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/security"
)

type verifyResult struct {
	Schema       string          `json:"schema"`
	Valid        bool            `json:"valid"`
	Proof        string          `json:"proof"`
	Bytes        int             `json:"bytes"`
	Key          keyObject       `json:"key"`
	Claims       []claimObject   `json:"claims"`
	Shards       [][]tableObject `json:"shards"`
	ProvenBits   int             `json:"proven_bits"`
	UniqueBits   int             `json:"unique_decoding_bits"`
	Conjectured  int             `json:"conjectured_bits"`
	DigestBits   int             `json:"digest_bits"`   // work for a collision of digests
	ClaimsPinned bool            `json:"claims_pinned"` // whether the caller said which claims to expect
	Engine       string          `json:"engine,omitempty"`
	ElapsedNs    time.Duration   `json:"elapsed_ns"`

	key    *verifier.Key
	report *verifier.Report
	texts  []string // of the claims, where their program is known
}

func (r *verifyResult) text(w io.Writer) {
	fmt.Fprintf(w, "valid, with %d bits of security proven%s:\n", r.ProvenBits, digestText(r.DigestBits))
	claimLines(w, r.key, r.report.Claims, r.texts)
	fmt.Fprintf(w, "proof   %s, %d bytes\nkey     %s\ntime    %s\n", printable(r.Proof), r.Bytes, r.Key, timeText(r.ElapsedNs))
	if r.ProvenBits < verifier.DefaultMinBits {
		fmt.Fprintf(w, "Insecure: accepted with fewer than %d bits because you said so.\n", verifier.DefaultMinBits)
	}
}

// rootDigestBits is what the digests of every compressed proof's batch proof are worth: it is a root, and roots have one suite.
const rootDigestBits = 126

// digestText says what digests are worth where that is less than the argument's target.
func digestText(bits int) string {
	if bits >= security.Target {
		return ""
	}
	return fmt.Sprintf(", digests %d bits collision resistant", bits)
}

func prepareVerify(f *pflag.FlagSet) action {
	var k keyFlags
	k.declare(f)
	var calls []string
	f.StringArrayVar(&calls, "call", nil, "with --program: `CALL` that the proof must be of, such as 'fib(90)', and of no others; may be given several times")
	claims := f.String("claims", "", "claims `FILE` whose claims the proof must make, and no others")
	bits := f.Int("min-bits", verifier.DefaultMinBits, "least proven bits of security")
	digests := f.Int("min-digest-bits", verifier.DefaultMinDigestBits, "least bits of work for a collision of digests")
	insecure := f.Bool("insecure", false, "accept any number of bits, for tests")
	setup := f.Bool("allow-insecure-setup", false, "accept a compressed proof under a development setup, which anybody can forge, for tests")
	engine := f.String("engine", engineNative, "`ENGINE` that verifies: "+engineNative+", or "+engineWasm+", the WebAssembly module")
	return func(t *tool) (result, error) {
		for _, least := range []struct {
			flag string
			bits int
		}{{"--min-bits", *bits}, {"--min-digest-bits", *digests}} {
			if least.bits < 1 {
				return nil, usageError(least.flag, "the number is out of range", "at least 1", fmt.Sprint(least.bits), "use --insecure to accept any")
			}
		}
		verify, ok := engines[*engine]
		if !ok {
			return nil, usageError("--engine", "the engine is unknown", engineNative+" or "+engineWasm, *engine, "")
		}
		path := cmp.Or(t.operand, defaultProof)
		if len(calls) > 0 && k.program == "" {
			return nil, usageError("--call", "calls are of a program", "--program FILE", "no --program", "")
		}
		proof, err := t.readProofFile(path)
		if err != nil {
			return nil, err
		}
		if formats.Kind(proof) == formats.KindRoot {
			if *engine != engineNative {
				return nil, usageError("--engine", "compressed proofs are verified natively", engineNative, *engine, "leave --engine out")
			}
			if *digests > rootDigestBits && !*insecure {
				return nil, &formats.Error{Class: formats.Rejected, Check: "R-9", Place: path + ", bits", What: "the digests of the batch proof collide for less work", Expected: fmt.Sprintf("at least %d bits", *digests),
					Got: fmt.Sprint(rootDigestBits), Next: "demand less of compressed proofs, or verify a batch proof under another suite"}
			}
			return t.verifyRoot(path, proof, &k, snark.Policy{MinBits: *bits, Insecure: *insecure, AllowInsecureSetup: *setup}, *claims, calls)
		}
		key, err := t.keyOf(path, proof, &k)
		if err != nil {
			return nil, err
		}
		policy := verifier.Policy{MinBits: *bits, MinDigestBits: *digests, Insecure: *insecure}
		if *claims != "" {
			if policy.Claims, err = t.expected(*claims, key); err != nil {
				return nil, err
			}
		}
		report, elapsed, err := verify(t.ctx, key, proof, policy)
		if err != nil {
			return nil, inFile(path, explain(err, key))
		}
		if len(calls) > 0 {
			if err := k.compiled.checkCalls(calls, report.Claims); err != nil {
				return nil, inFile(path, err)
			}
			policy.Claims = report.Claims
		}
		r := newVerifyResult(path, key, report, policy, elapsed)
		r.Engine = *engine
		if k.compiled != nil {
			r.texts = k.compiled.claimTexts(report.Claims)
		}
		return r, nil
	}
}

func newVerifyResult(path string, key *verifier.Key, report *verifier.Report, policy verifier.Policy, elapsed time.Duration) *verifyResult {
	r := &verifyResult{Schema: "ixprove/verify/1", Valid: true, Proof: path, Bytes: report.Sizes.Total, Key: newKeyObject(key), Claims: claimObjects(key, report.Claims),
		ProvenBits: report.ProvenBits, UniqueBits: report.UniqueBits, Conjectured: report.Conjectured, DigestBits: report.DigestBits, ClaimsPinned: policy.Claims != nil, ElapsedNs: elapsed, key: key, report: report}
	for _, s := range report.Shards {
		r.Shards = append(r.Shards, tableObjects(s.Tables))
	}
	return r
}

// explain names the flags that change what a policy demands.
func explain(err error, key *verifier.Key) error {
	var e *formats.Error
	if !errors.As(err, &e) || e.Check != "P-17" {
		return err
	}
	more := *e
	more.Next = "the proof is under the profile " + key.Profile.Name + "; demand a stronger one, or accept it with --min-bits, --min-digest-bits or --insecure if this is a test"
	return &more
}

// readProof reads a batch proof and chooses the key to check it against.
func (t *tool) readProof(path string, k *keyFlags) ([]byte, *verifier.Key, error) {
	proof, err := t.readProofFile(path)
	if err != nil {
		return nil, nil, err
	}
	key, err := t.keyOf(path, proof, k)
	return proof, key, err
}

// readProofFile reads a proof of any kind.
func (t *tool) readProofFile(path string) ([]byte, error) {
	proof, err := t.read(path, formats.MaxProofBytes)
	if f := new(failure); errors.As(err, &f) && path == defaultProof {
		f.Next = "ixprove prove makes a proof"
	}
	return proof, err
}

// keyOf chooses the key to check a batch proof against, which is decoded to learn its key's digest only.
func (t *tool) keyOf(path string, proof []byte, k *keyFlags) (*verifier.Key, error) {
	decoded, err := formats.DecodeProof(proof, formats.MaxProofBytes)
	if err != nil {
		return nil, inFile(path, err)
	}
	return k.choose(t, decoded.Key)
}

// expected is the claims that a claims file makes. Those without results have them computed, from private files where there are some.
func (t *tool) expected(path string, key *verifier.Key) ([]formats.Claim, error) {
	c, err := t.readClaims(path)
	if err != nil {
		return nil, err
	}
	// By the digest: a program may have any name.
	if k, _, ok := keys.Find(key.Digest()); !ok || k.System != c.System {
		return nil, &formats.Error{Class: formats.Incompatible, Place: path + ", system", What: "the claims are of another system than the key", Expected: "a built-in key of the system " + c.System,
			Got: newKeyObject(key).String(), Next: "check proofs of programs with --program and --call"}
	}
	list, complete, err := c.system.Expected(c.Claims)
	if err == nil && !complete {
		w, e := c.system.Witness(systems.Request{Claims: c.Claims, Read: c.readPrivate(), MinLogHeight: key.Profile.MinLogHeight})
		if err = e; err == nil {
			list = w.Claims
		}
	}
	return list, inFile(path, err)
}
