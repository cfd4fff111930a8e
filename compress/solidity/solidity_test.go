package solidity_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/ixprove/ixprove/compress"
	"github.com/ixprove/ixprove/compress/circuit"
	"github.com/ixprove/ixprove/compress/snark"
	"github.com/ixprove/ixprove/compress/solidity"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/internal/toy"
)

var onEVM = flag.Bool("evm", false, "compile the contracts and call them, with what npm install puts into the folder evm")

var ctx = context.Background()

func provers(t *testing.T) map[string]*compress.Prover {
	t.Helper()
	list, err := toy.Provers(ctx, filepath.Join("..", "srs", "testdata", "snarkjs-5.ptau"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func prove(t *testing.T, p *compress.Prover) *formats.Root {
	t.Helper()
	data, err := toy.Prove(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	root, err := formats.DecodeRoot(data)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestExport(t *testing.T) {
	for name, p := range provers(t) {
		a, errA := solidity.Export(p.Key)
		b, errB := solidity.Export(p.Key)
		if err := errors.Join(errA, errB); err != nil || a != b {
			t.Errorf("%s: %v", name, err)
		}
		dev := p.Key.Setup.Mode == formats.SetupInsecureDev
		for _, text := range []string{"contract " + solidity.ContractName(p.Key) + " is ", "bytes32 public constant PROGRAM = 0xff0506", "Entry 0, toy: n u8 (1), value field (1), small u32 (1); 3 elements"} {
			if !strings.Contains(a, text) {
				t.Errorf("%s: no %q", name, text)
			}
		}
		if got := strings.Contains(a, "ANYBODY CAN FORGE"); got != dev || dev != strings.Contains(solidity.ContractName(p.Key), "InsecureDev") {
			t.Errorf("%s: a development setup %v, said %v", name, dev, got)
		}
		raw := p.Key.RootKey
		raw.Bits = 127
		weak, err := snark.NewKey(&raw)
		if err != nil {
			t.Fatal(err)
		}
		c, err := solidity.Export(weak)
		if err != nil || !strings.Contains(c, "INSECURE: 127 bits are proven of the batch proofs") || strings.Contains(a, "bits are proven") {
			t.Errorf("%s: a key of 127 bits is not marked, or one of 128 is (%v)", name, err)
		}
		root := prove(t, p)
		root.Proof = root.Proof[1:]
		if _, err := solidity.Calldata(p.Key, root); !errors.Is(err, formats.Malformed) {
			t.Errorf("%s: a short proof: %v", name, err)
		}
	}
}

// TestCall compares with an encoding made by hand.
func TestCall(t *testing.T) {
	w := func(last ...byte) []byte { return append(make([]byte, 32-len(last)), last...) }
	want := slices.Concat([]byte{0xf7, 0xe8, 0x3a, 0xee}, w(64), w(128), w(3), append([]byte{1, 2, 3}, make([]byte, 29)...), w(32), bytes.Repeat([]byte{9}, 32))
	if got := solidity.Call([]byte{1, 2, 3}, bytes.Repeat([]byte{9}, 32)); !bytes.Equal(got, want) {
		t.Errorf("got\n%x, want\n%x", got, want)
	}
}

// report is what evm/run.mjs prints.
type report struct {
	Deployed bool
	Warnings []string
	Bytes    int
	Deploy   int
	Results  []struct {
		Value  string
		Gas    int
		Failed bool
	}
}

// execute deploys a contract and calls it, on a chain without the precompiles at the addresses that are missing.
func execute(t *testing.T, source, contract string, calls [][]byte, missing ...int) *report {
	t.Helper()
	job := map[string]any{"source": source, "contract": contract}
	if len(missing) > 0 {
		job["missing"] = missing
	}
	var list []string
	for _, c := range calls {
		list = append(list, hex.EncodeToString(c))
	}
	job["calls"] = list
	in, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("node", "run.mjs")
	c.Dir = "evm"
	c.Stdin = bytes.NewReader(in)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	r := new(report)
	if err := json.Unmarshal(out, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// precompiles are those that a backend's contract calls: SHA-256, modular powers, and addition, multiplication and pairing of BN254.
var precompiles = map[string][]int{formats.BackendPlonk: {2, 5, 6, 7, 8}, formats.BackendGroth16: {2, 6, 7, 8}}

// TestMissingPrecompiles deploys each kind of contract on chains that lack a precompile. A call to one succeeds there and writes nothing, so the verifier would read what it had written for it: without the
// pairing, the answer of Groth16 is the lowest bit of the proof's first word.
func TestMissingPrecompiles(t *testing.T) {
	for name, p := range provers(t) {
		source, err := solidity.Export(p.Key)
		if err != nil {
			t.Fatal(err)
		}
		for _, address := range precompiles[p.Key.Backend] {
			if text := "answers(" + strconv.Itoa(address) + ", "; !strings.Contains(source, text) {
				t.Errorf("%s: no %q", name, text)
			}
			if !*onEVM {
				continue
			}
			proof := make([]byte, p.Key.ProofBytes())
			if p.Key.Backend == formats.BackendPlonk {
				proof = proof[32:]
			}
			proof[31] = 1
			if r := execute(t, source, solidity.ContractName(p.Key), [][]byte{solidity.Call([]byte("anything"), proof)}, address); r.Deployed {
				t.Errorf("%s: deployed without precompile %d; to a proof of zeros and a one it says %+v", name, address, r.Results)
			}
		}
	}
}

// careless calls a contract's code on itself and says nothing of failures, so that any call of itself succeeds.
const careless = `
contract Careless {
    address private immutable target = address(new NAME());
    fallback(bytes calldata data) external returns (bytes memory) {
        (, bytes memory answer) = target.delegatecall(data);
        return answer;
    }
}
`

// TestDelegated calls each kind of contract as the code of a careless one, which must not answer for it.
func TestDelegated(t *testing.T) {
	if !*onEVM {
		t.Log("with -evm the contracts are executed")
		return
	}
	for name, p := range provers(t) {
		source, err := solidity.Export(p.Key)
		if err != nil {
			t.Fatal(err)
		}
		root := prove(t, p)
		good, err := solidity.Calldata(p.Key, root)
		if err != nil {
			t.Fatal(err)
		}
		forged := slices.Clone(good)
		forged[len(forged)-1] ^= 1
		r := execute(t, source+strings.ReplaceAll(careless, "NAME", solidity.ContractName(p.Key)), "Careless", [][]byte{good, forged})
		if !strings.HasSuffix(r.Results[0].Value, "01") || strings.HasSuffix(r.Results[1].Value, "1") {
			t.Errorf("%s: %+v", name, r.Results)
		}
	}
}

// TestOnEVM deploys each kind of contract. It accepts the proof, and rejects other claims, each word of the proof changed or not reduced, wrong lengths, and proofs for other keys.
func TestOnEVM(t *testing.T) {
	if !*onEVM {
		t.Log("with -evm the contracts are executed")
		return
	}
	list := provers(t)
	for name, p := range list {
		t.Run(name, func(t *testing.T) {
			source, err := solidity.Export(p.Key)
			if err != nil {
				t.Fatal(err)
			}
			root := prove(t, p)
			good, err := solidity.Calldata(p.Key, root)
			if err != nil {
				t.Fatal(err)
			}
			claims := circuit.ClaimBytes(root.Claims)
			proof := root.Proof
			if p.Key.Backend == formats.BackendPlonk {
				proof = proof[:len(proof)-32]
			}
			calls, names := [][]byte{good}, []string{"the proof"}
			try := func(name string, claims, proof []byte) {
				calls, names = append(calls, solidity.Call(claims, proof)), append(names, name)
			}
			changed := func(b []byte, at int) []byte {
				b = slices.Clone(b)
				b[at] ^= 1
				return b
			}
			for at := 7; at < len(claims); at += 8 {
				try("a changed claim", changed(claims, at), proof)
			}
			try("a claim of no bytes", nil, proof)
			try("a claim too long", append(slices.Clone(claims), 0), proof)
			for at := 0; at < len(proof); at += 32 {
				try("a changed word of the proof", claims, changed(proof, at+31))
				for _, m := range [][]byte{fr.Modulus().FillBytes(make([]byte, 32)), fp.Modulus().FillBytes(make([]byte, 32))} {
					more := slices.Clone(proof)
					carry := 0
					for i := 31; i >= 0; i-- {
						carry += int(more[at+i]) + int(m[i])
						more[at+i] = byte(carry)
						carry >>= 8
					}
					try("an unreduced word of the proof", claims, more)
				}
			}
			try("no proof", claims, nil)
			try("a short proof", claims, proof[:len(proof)-1])
			try("a long proof", claims, append(slices.Clone(proof), 0))
			for other, q := range list {
				if other != name {
					r := prove(t, q)
					try("a proof for another key", claims, r.Proof[:min(len(proof), len(r.Proof))])
				}
			}
			r := execute(t, source, solidity.ContractName(p.Key), calls)
			for i, got := range r.Results {
				want := "0x" + strings.Repeat("0", 63) + map[bool]string{true: "1", false: "0"}[i == 0]
				if got.Failed || got.Value != want {
					t.Errorf("%s: %+v", names[i], got)
				}
			}
			t.Logf("%d calls; verify %d gas; contract of %d bytes, deployed for %d gas", len(calls), r.Results[0].Gas, r.Bytes, r.Deploy)
			// The constants are public inputs: with another program or protocol the proof is nobody's.
			for _, constant := range []string{"PROGRAM = 0x", "PROTOCOL = 0x"} {
				at := strings.Index(source, constant) + len(constant)
				for _, digit := range []int{1, 63} { // in the high and in the low half
					b := []byte(source)
					b[at+digit] = map[bool]byte{true: '1', false: '0'}[b[at+digit] == '0']
					if r := execute(t, string(b), solidity.ContractName(p.Key), calls[:1]); r.Results[0].Value != "0x"+strings.Repeat("0", 64) {
						t.Errorf("a contract with another %s accepts the proof", constant)
					}
				}
			}
		})
	}
}
