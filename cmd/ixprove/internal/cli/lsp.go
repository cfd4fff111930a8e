package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang/lsp"
)

// lspResult is of a session that ended as it should: there is nothing to say, standard output being the client's.
type lspResult struct {
	Schema string `json:"schema"`
}

func (*lspResult) text(io.Writer) {}

func prepareLSP(f *pflag.FlagSet) action {
	f.Bool("stdio", false, "what some editors pass: the server speaks over standard input and output, with or without it")
	return func(t *tool) (result, error) {
		o := lsp.Options{Version: newVersion().Version}
		if folder, err := os.UserCacheDir(); err == nil {
			o.Cache = filepath.Join(folder, "ixprove")
		}
		err := lsp.Serve(t.ctx, t.stdin, t.stdout, o)
		var e *formats.Error
		switch {
		case err == nil:
			return &lspResult{"ixprove/lsp/1"}, nil
		case errors.Is(err, lsp.ErrNoShutdown): // LSP wants code 1
			return nil, &failure{exitInternal, classInput, detail{Place: "standard input", What: "the client ended the session without shutdown"}}
		case errors.As(err, &e), errors.Is(err, context.Canceled):
			return nil, err
		}
		return nil, cannotRead("standard input", err)
	}
}
