package lang_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/ixprove/ixprove/lang"
	"github.com/ixprove/ixprove/lang/circuits"
	"github.com/ixprove/ixprove/lang/exec"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
)

// A program from its source to a verified proof of a call.
func Example() {
	ctx := context.Background()
	folder := fstest.MapFS{"power.ix": {Data: []byte("pub fn power(x: field, n: u32) -> field { match n { 0 => 1, _ => x * power(x, n - 1) } }")}}
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}

	// Once for each program: the circuits, and the key under a profile.
	program, err := lang.Compile(folder, "power.ix")
	check(err)
	module, err := exec.Load(program.Bytecode)
	check(err)
	system, err := circuits.Build(module)
	check(err)
	profile, _ := security.ProfileByName("dev") // insecure: for tests
	key, err := prover.Keygen(ctx, system.Air, hash.Blake3{}, profile, cpu.Backend{})
	check(err)

	// Once for each proof.
	call, err := program.ParseCall("power(3, 20)")
	check(err)
	record, err := module.Execute(ctx, []exec.Call{{Entry: call.Entry, Args: call.Words}}, nil, exec.Limits{})
	check(err)
	witness, err := system.Witness(record, 1, profile.MinLogHeight)
	check(err)
	result, err := prover.Prove(ctx, key, witness, prover.Options{Backend: cpu.Backend{}})
	check(err)

	// The verifier has the key, and learns the claim.
	report, err := verifier.Verify(key.Key, result.Proof, verifier.Policy{Insecure: true})
	check(err)
	fmt.Println(key.ClaimText(&report.Claims[0]))
	// Output: power(x 3, n 20) = result 3486784401
}
