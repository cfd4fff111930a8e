//go:build emulated

package emulated_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/kernels/emulated"
)

// Each kernel of faulty_kernels.hpp ends in an error, at its launch or when its result is read, and the device goes on working.
func TestFaultsAreFound(t *testing.T) {
	d, err := emulated.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	const n = 64
	run := func(kernel string, blocks uint32, length uint64) error {
		a, err := kernels.Alloc[uint64](d, n)
		if err != nil {
			return err
		}
		defer a.Free()
		params := struct {
			at kernels.Address
			n  uint64
		}{a.Address(), length}
		if err := kernels.Start(d, kernel, [3]uint32{blocks, 1, 1}, [3]uint32{64, 1, 1}, 64*8, &params); err != nil {
			return err
		}
		return a.Download(make([]uint64, n))
	}
	for _, c := range []struct {
		kernel string
		blocks uint32
		text   string
	}{
		{"faulty_overrun", 2, "0 bytes after the end of one of 512 bytes"},
		{"faulty_null", 1, "outside of every allocation"},
		{"faulty_gap", 1, "word 63 of 64 was never written"},
		{"faulty_shared", 1, "word 0 of 64 was never written"},
		{"faulty_block_barrier", 1, "barrier of a block that not all"},
		{"faulty_warp_barrier", 1, "of a warp that not all"},
		{"faulty_race", 1, "never written"},
	} {
		var e *kernels.Error
		err := run(c.kernel, c.blocks, n)
		if !errors.As(err, &e) || e.Kind != kernels.Failed || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %q", c.kernel, err, c.text)
		}
		if err := run("faulty_gap", 1, n+1); err != nil {
			t.Fatalf("after %s: %v", c.kernel, err)
		}
	}
}
