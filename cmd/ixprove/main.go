// Ixprove proves computations and verifies proofs of them: see ixprove help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/ixprove/ixprove/cmd/ixprove/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
