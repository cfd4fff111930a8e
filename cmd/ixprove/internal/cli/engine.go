package cli

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/ixprove/ixprove/formats/encode"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/wasm"
)

// What verifies. Both say the same of every proof.
const (
	engineNative = "native"
	engineWasm   = "wasm"
)

var engines = map[string]func(context.Context, *verifier.Key, []byte, verifier.Policy) (*verifier.Report, time.Duration, error){
	engineNative: verifyNatively,
	engineWasm:   verifyInWasm,
}

func verifyNatively(_ context.Context, key *verifier.Key, proof []byte, policy verifier.Policy) (*verifier.Report, time.Duration, error) {
	start := time.Now()
	report, err := verifier.Verify(key, proof, policy)
	return report, time.Since(start), err
}

// verifyInWasm runs the module, compiled by the first call on a machine and kept in the user's cache folder. The time is that of the verification alone.
func verifyInWasm(ctx context.Context, key *verifier.Key, proof []byte, policy verifier.Policy) (*verifier.Report, time.Duration, error) {
	encoded, err := encode.Key(key.Raw())
	if err != nil {
		return nil, 0, err
	}
	config := wasm.NewConfig().WithInstances(1)
	if folder, err := os.UserCacheDir(); err == nil {
		config = config.WithCacheDir(filepath.Join(folder, "ixprove", "wazero"))
	}
	v, err := wasm.New(ctx, config)
	if err != nil { // the folder may not be one to write to; then the module is compiled again
		v, err = wasm.New(ctx, config.WithCacheDir(""))
	}
	if err != nil {
		return nil, 0, err
	}
	defer v.Close(context.WithoutCancel(ctx))
	start := time.Now()
	report, err := v.Verify(ctx, encoded, proof, wasm.Policy{Policy: policy})
	elapsed := time.Since(start)
	if err != nil {
		return nil, 0, err
	}
	native, err := report.Native(key)
	return native, elapsed, err
}
