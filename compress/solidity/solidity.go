// Package solidity writes contracts that check compressed batch proofs (formats.Root) on an EVM chain: gnark's verifier for the SNARK, and around it one of ours that has the program and the
// protocol built in and computes the claims' digest itself. Neither has been audited.
package solidity

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"text/template"

	"golang.org/x/crypto/sha3"

	"github.com/ixprove/ixprove/compress/circuit"
	"github.com/ixprove/ixprove/compress/snark"
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
)

// Contract names. One for a development setup says so wherever it is used.
const (
	Name    = "IxproveRootVerifier"
	DevName = "IxproveRootInsecureDevVerifier"
)

// ContractName is the name of a key's contract.
func ContractName(key *snark.Key) string {
	if key.Setup.Mode == formats.SetupInsecureDev {
		return DevName
	}
	return Name
}

// backend is what depends on the SNARK: the contract that gnark writes, and how it is called with the proof and the public inputs.
type backend struct {
	base, publics, call string
	modexp              bool // it computes powers modulo r
}

var backends = map[string]backend{
	formats.BackendPlonk:   {"PlonkVerifier", "uint256[] memory publics = new uint256[](5);", "Verify(proof, publics) returns (bool valid) {\n            return valid;", true},
	formats.BackendGroth16: {"Verifier", "uint256[5] memory publics;", "verifyProof(proof, publics) {\n            return true;", false},
}

var contract = template.Must(template.New("contract").Parse(`
/// @title Checks compressed ixprove proofs of one program.
/// @notice Program: the batch proofs' verifying key {{.Program}}.
/// Setup: {{.Setup}}.
{{- if .Dev}}
/// INSECURE: the setup's secret is known, so that ANYBODY CAN FORGE PROOFS. For development alone.
{{- end}}
{{- if .Weak}}
/// INSECURE: {{.Bits}} bits are proven of the batch proofs, so that FORGERIES CAN BE FOUND. For development alone.
{{- end}}
/// @dev Written by ixprove for the key {{.Key}} of {{.Backend}} proofs. Not audited.
contract {{.Name}} is {{.Base}} {
    /// Digest of the verifying key of the batch proofs: it names the program.
    bytes32 public constant PROGRAM = 0x{{.Program}};
    /// Digest of what the circuit checks: key, parameters, shape.
    bytes32 public constant PROTOCOL = 0x{{.Protocol}};
    /// Digest of the key of compressed proofs that this contract was written for.
    bytes32 public constant KEY = 0x{{.Key}};
    /// Claims of each proof.
    uint64 public constant CLAIMS = {{.Claims}};

    /// Where the SNARK's verifier is: not at whoever uses this code as theirs, whose answer might be anybody's.
    address private immutable self = address(this);

    /// Refuses a chain that lacks a precompile. A call to one succeeds there and writes nothing, and then the verifier would read, as the answer, what the proof says.
    constructor() {
        answers(2, "", abi.encode(bytes32(0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855))); // SHA-256 of nothing
{{- if .Modexp}}
        answers(5, abi.encode(32, 32, 32, 3, 2, 5), abi.encode(4)); // 3^2 mod 5
{{- end}}
        answers(6, abi.encode(1, 2, 0, 0), abi.encode(1, 2)); // the generator of BN254, and the same plus infinity
        answers(7, abi.encode(1, 2, 1), abi.encode(1, 2)); // and times one
        answers(8, "", abi.encode(1)); // the product of no pairings
    }

    function answers(uint160 precompile, bytes memory question, bytes memory answer) private view {
        (, bytes memory got) = address(precompile).staticcall(question);
        require(keccak256(got) == keccak256(answer), "the chain lacks a precompile");
    }

    /// Says whether a proof proves the claims.
    /// @param claims numbers of 8 bytes, big-endian: {{.Claims}}, the number of claims; for each its entry, its number of elements, its arguments and results.
    /// abi.encodePacked of uint64 makes them.
{{- range .Entries}}
    /// Entry {{.}}.
{{- end}}
    /// @param proof the {{.Backend}} proof, {{.ProofBytes}} bytes.
    function verify(bytes calldata claims, bytes calldata proof) external view returns (bool) {
        uint256 statement = uint256(sha256(claims));
        {{.Publics}}
        publics[0] = uint256(PROGRAM) >> 128;
        publics[1] = uint256(PROGRAM) & type(uint128).max;
        publics[2] = statement >> 128;
        publics[3] = statement & type(uint128).max;
        publics[4] = uint256(PROTOCOL);
        try {{.Name}}(self).{{.Call}}
        } catch {
            return false;
        }
    }
}
`))

// Export is the source of a key's contract, in one file that needs no other. It is the same each time. Errors are *formats.Error.
func Export(key *snark.Key) (string, error) {
	base, err := key.Solidity()
	if err != nil {
		return "", &formats.Error{Class: formats.Internal, Place: "contract", What: "the proof system failed", Got: err.Error()}
	}
	b, ok := backends[key.Backend]
	if !ok || !strings.Contains(base, "\ncontract "+b.base+" {") {
		return "", &formats.Error{Class: formats.Internal, Place: "contract", What: "gnark writes another contract than expected", Expected: b.base, Got: key.Backend}
	}
	var out bytes.Buffer
	out.WriteString(strings.TrimSpace(base) + "\n")
	err = contract.Execute(&out, map[string]any{
		"Name": ContractName(key), "Base": b.base, "Publics": b.publics, "Call": b.call, "Modexp": b.modexp, "Dev": key.Setup.Mode == formats.SetupInsecureDev, "Weak": key.Bits < verifier.DefaultMinBits, "Bits": key.Bits, "Backend": key.Backend,
		"Setup": key.Setup.Mode + ", " + comment(key.Setup.Name), "Program": verifier.Hex(key.Program), "Protocol": verifier.Hex(key.Protocol), "Key": verifier.Hex(key.Digest()), "Claims": key.Claims,
		"ProofBytes": proofBytes(key), "Entries": entries(key),
	})
	return out.String(), err
}

// comment keeps a name, which is printable ASCII, from ending a comment or being read as an escape.
func comment(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("*/\\@", r) {
			return ' '
		}
		return r
	}, s)
}

func entries(key *snark.Key) (out []string) {
	for i, e := range key.Entries {
		s, n := strconv.Itoa(i)+", "+comment(e.Name)+":", 0
		for _, v := range append(append([]formats.Value(nil), e.Args...), e.Results...) {
			s += " " + comment(v.Name) + " " + v.Type.String() + " (" + strconv.Itoa(v.Type.Elements()) + "),"
			n += v.Type.Elements()
		}
		out = append(out, strings.TrimSuffix(s, ",")+"; "+strconv.Itoa(n)+" elements")
	}
	return out
}

// proofBytes is the length of a proof as the contract takes it: for Plonk without the last value of formats.Root, which the contract computes.
func proofBytes(key *snark.Key) int {
	if key.Backend == formats.BackendPlonk {
		return key.ProofBytes() - 32
	}
	return key.ProofBytes()
}

// signature is the method of the contract.
const signature = "verify(bytes,bytes)"

// Calldata is the call of a key's contract for a proof: verify(claims, proof), encoded by the ABI. The proof is not checked; errors are of class Malformed if it is not as long as the key's.
func Calldata(key *snark.Key, root *formats.Root) ([]byte, error) {
	if len(root.Proof) != key.ProofBytes() {
		return nil, (&formats.Error{Class: formats.Malformed, Check: "R-13", Place: "proof", What: "the proof's length is not that of the key"}).Mismatch(uint64(key.ProofBytes()), uint64(len(root.Proof)))
	}
	return Call(circuit.ClaimBytes(root.Claims), root.Proof[:proofBytes(key)]), nil
}

// Call encodes verify(claims, proof).
func Call(claims, proof []byte) []byte {
	h := sha3.NewLegacyKeccak256()
	h.Write([]byte(signature))
	out := h.Sum(nil)[:4]
	padded := func(b []byte) []byte {
		all := append(word(len(b)), b...)
		return append(all, make([]byte, -len(b)&31)...)
	}
	first := padded(claims)
	out = append(append(out, word(64)...), word(64+len(first))...)
	return append(append(out, first...), padded(proof)...)
}

func word(n int) []byte { return binary.BigEndian.AppendUint64(make([]byte, 24, 32), uint64(n)) }
