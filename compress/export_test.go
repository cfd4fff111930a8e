package compress

import (
	"context"
	"testing"

	"github.com/ixprove/ixprove/compress/keys"
)

// Rewrite puts a proving key into a folder with the digests that belong to it.
func Rewrite(t testing.TB, folder string, p *Prover, pk []byte) {
	t.Helper()
	if err := keys.New(folder).Put(context.Background(), p.System.path(p.Key.Setup.Source), p.Key.Setup, keys.Files{fileKey: keys.Bytes(p.Key.Encoded()), filePk: keys.Bytes(pk)}); err != nil {
		t.Fatal(err)
	}
}
