//go:build cuda

package driver

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"gorgonia.org/cu"

	"github.com/ixprove/ixprove/kernels"
)

// TestErrors has errors of gorgonia.org/cu, by which kernels that failed are told of at the next wait, say the same as those of this package's own calls.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		kind kernels.Kind
		next string
	}{
		{cu.OutOfMemory, kernels.NoMemory, "--vram"},
		{cu.IllegalAddress, kernels.Failed, "context is lost"},
		{cu.LaunchFailed, kernels.Failed, "context is lost"},
		{cu.MisalignedAddress, kernels.Failed, "context is lost"},
		{cu.InvalidValue, kernels.Failed, ""},
		{errors.New("another"), kernels.Failed, ""},
	} {
		var e *kernels.Error
		if err := failed("wait", c.err); !errors.As(err, &e) || !errors.Is(err, c.err) || e.Kind != c.kind || !strings.Contains(e.Next, c.next) || (c.next == "") != (e.Next == "") {
			t.Errorf("%v: %v", c.err, err)
		}
	}
	if err := failed("wait", nil); err != nil {
		t.Error(err)
	}
}

// TestInterruptedCompilation ends after the kernels that are being compiled.
func TestInterruptedCompilation(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var begun atomic.Int32
	list := make([]*made, 1000)
	err := each(ctx, list, func(*made) error {
		begun.Add(1)
		cancel()
		return nil
	})
	if n := begun.Load(); !errors.Is(err, context.Canceled) || int(n) > runtime.GOMAXPROCS(0) {
		t.Errorf("%d kernels, %v", n, err)
	}
}
