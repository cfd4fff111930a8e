package wasm_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/wasm"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "prover", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func newVerifier(t testing.TB, c wasm.Config) *wasm.Verifier {
	t.Helper()
	v, err := wasm.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return v
}

func TestSmoke(t *testing.T) {
	ctx := context.Background()
	v, err := wasm.New(ctx, wasm.NewConfig().WithCacheDir("/tmp/w/cache"))
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close(ctx)
	for _, n := range []string{"blake3-dev-v1", "fibonacci-fast-v1", "fibonacci-standard-v1"} {
		r, err := v.Verify(ctx, read(t, n+".key"), read(t, n+".proof"), wasm.Policy{Policy: verifier.Policy{Insecure: true}})
		t.Logf("%+v %v", r, err)
		_, err = v.Verify(ctx, read(t, n+".key"), read(t, n+".proof")[:1000], wasm.Policy{})
		t.Log(err)
	}
}
