package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/prover"
)

// twoCards is a machine with two cards whose driver opens neither.
type twoCards struct{ err error }

func (twoCards) built() bool { return true }

func (c twoCards) list() ([]kernels.Info, error) {
	var out []kernels.Info
	for i := range 2 {
		out = append(out, kernels.Info{Index: i, Name: "Card", UUID: fmt.Sprintf("GPU-%d000", i+1), MemoryBytes: int64(i+1) << 30, Major: 9, DriverVersion: 13000, Processors: 132})
	}
	return out, c.err
}

func (c twoCards) open(int) (kernels.Driver, error) {
	return nil, &kernels.Error{Kind: kernels.NoDevice, Place: "device", What: "it fell off the bus", Next: "put it back"}
}

func (c twoCards) check(index int) error {
	if index == 1 {
		return &kernels.Error{Kind: kernels.Unsupported, Place: "compilation", What: "the card is too old"}
	}
	return nil
}

// with runs a command line on a machine with some cards.
func with(c cards, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	code := run(&tool{ctx: context.Background(), stdin: strings.NewReader(""), stderr: &stderr, disk: realDisk{}, cards: c}, args, &stdout)
	return outcome{exit(code), stdout.String(), stderr.String()}
}

func TestDevices(t *testing.T) {
	o := with(twoCards{}, "devices", "--json")
	var r devicesResult
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil || len(r.Devices) != 2 || r.Devices[0].Kernels != "load" || r.Devices[1].Kernels != "the card is too old" ||
		r.Devices[1].Driver != "13.0" || r.Devices[0].Capability != "9.0" {
		t.Fatalf("%v, %+v\n%s", err, r, o.stderr)
	}
	if o := with(twoCards{}, "devices"); o.exit != exitDone || !strings.Contains(o.stdout, "GPU-2000") {
		t.Errorf("exit %d: %s", o.exit, o.stdout)
	}
	old := &kernels.Error{Kind: kernels.Unsupported, Place: "CUDA", What: "the driver lacks cuLaunchKernel", Next: "update the driver"}
	if o := with(twoCards{old}, "devices"); o.exit != exitResource || !strings.Contains(o.stderr, "update the driver") {
		t.Errorf("exit %d: %s", o.exit, o.stderr)
	}
}

func TestGPUFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "claims.json", devClaims)
	for _, c := range []struct {
		exit    exit
		mention string
		args    []string
	}{
		{exitResource, "there is no such device", []string{"--gpu", "2"}},
		{exitResource, "0 (GPU-1000), 1 (GPU-2000)", []string{"--gpu", "0,GPU-7"}},
		{exitResource, "there is no such device", []string{"--gpu", "GPU-"}},
		{exitResource, "there is no such device", []string{"--gpu", ""}},
		{exitResource, "put it back", []string{"--gpu", "0"}},
		{exitResource, "put it back", []string{"--gpu", "GPU-2,0"}},
		{exitResource, "the device has less memory", []string{"--gpu", "0", "--vram", "2GiB"}},
		{exitResource, "main extension", []string{"--gpu", "0", "--vram", "100KiB"}},
		{exitUsage, "--vram", []string{"--vram", "2GiB"}},
		{exitUsage, "--memory", []string{"--gpu", "0", "--memory", "2GiB"}},
	} {
		if o := with(twoCards{}, append([]string{"prove"}, c.args...)...); o.exit != c.exit || !strings.Contains(o.stderr, c.mention) || o.stdout != "" {
			t.Errorf("%v: exit %d, want %d and mention of %q\n%s", c.args, o.exit, c.exit, c.mention, o.stderr)
		}
	}
}

func planned(t *testing.T, c cards, args ...string) planResult {
	t.Helper()
	o := with(c, append([]string{"prove", "--plan", "--json"}, args...)...)
	var r planResult
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, o.stderr)
	}
	return r
}

// A plan for a device needs neither the device nor CUDA support once --vram is given.
func TestDevicePlan(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "claims.json", `{"format":"ixprove-claims/1","system":"blake3","profile":"dev","claims":[{"entry":"blake3","file":"a"}]}`)
	put(t, "a", strings.Repeat("a", 100000))
	whole := planned(t, realCards{}, "--gpu", "0", "--vram", "20GiB")
	if !whole.Fits || len(whole.Shards) != 1 || whole.Device != "cuda" || whole.Budget != 20*prover.GiB {
		t.Fatalf("%+v", whole)
	}
	cut := planned(t, realCards{}, "--gpu", "0", "--vram", fmt.Sprintf("%dB", whole.Peak*3/4))
	if !cut.Fits || len(cut.Shards) < 2 || cut.Peak > whole.Peak*3/4 {
		t.Fatalf("fits: %v, %d shards, %d of %d", cut.Fits, len(cut.Shards), cut.Peak, whole.Peak)
	}
	if r := planned(t, realCards{}, "--gpu", "0", "--vram", "1MiB"); r.Fits {
		t.Fatal("this fits nowhere")
	}
	if r := planned(t, realCards{}, "--gpu", "0", "--shards", "1", "--vram", fmt.Sprintf("%dB", whole.Peak-1)); r.Fits && len(r.Shards) != 1 {
		t.Fatal("the number of shards was given")
	}
	// Of several devices, the first with enough memory.
	if r := planned(t, twoCards{}, "--gpu", "0,1"); r.Device != "GPU-1000" || r.Budget != prover.Bytes(1<<30)/100*90 {
		t.Fatalf("%+v", r)
	}
}
