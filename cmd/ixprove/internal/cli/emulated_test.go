//go:build emulated

package cli

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/kernels/emulated"
)

// emulatedCard is a machine whose card is emulated.
type emulatedCard struct{}

func (emulatedCard) built() bool { return true }
func (emulatedCard) list() ([]kernels.Info, error) {
	return []kernels.Info{emulated.NewDriver().Info()}, nil
}
func (emulatedCard) open(int) (kernels.Driver, error) { return emulated.NewDriver(), nil }
func (emulatedCard) check(int) error                  { return nil }

// prove --gpu writes the bytes that prove writes, and says what the device did.
func TestProveOnDevice(t *testing.T) {
	devFolder(t)
	o := with(emulatedCard{}, "prove", "--gpu", "0", "-o", "device.cbor", "--json")
	if o.exit != exitDone {
		t.Fatalf("exit %d: %s", o.exit, o.stderr)
	}
	if !bytes.Equal(get(t, "device.cbor"), get(t, "proof.cbor")) {
		t.Error("the proof differs")
	}
	var r proveResult
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
		t.Fatal(err)
	}
	if r.Backend != "cuda: emulated" || r.Device == nil || r.Device.Name != "emulated" {
		t.Errorf("%+v", r)
	}
	if len(r.Rows) != 1 || r.Rows[0].Circuit != "fibonacci" || r.Rows[0].By != "host" || r.Rows[0].BytesUp == 0 {
		t.Errorf("rows: %+v", r.Rows)
	}
	launched := false
	for _, s := range r.Stages {
		launched = launched || s.Device != nil && s.Device.Kernels > 0
	}
	if !launched {
		t.Error("no stage ran on the device")
	}
}

// smallCard is an emulated card that is said to have little memory, so that measurements are of small shapes.
type smallCard struct{ emulatedCard }

func (smallCard) list() ([]kernels.Info, error) {
	info := emulated.NewDriver().Info()
	info.MemoryBytes = 1 << 20
	return []kernels.Info{info}, nil
}

func TestBenchGPU(t *testing.T) {
	measure := func(more ...string) (r benchResult) {
		t.Helper()
		o := with(smallCard{}, append([]string{"bench", "gpu", "--runs", "1", "--profile", "dev", "--size", "1B", "--json"}, more...)...)
		if err := json.Unmarshal([]byte(o.stdout), &r); err != nil || len(r.Devices) != 1 {
			t.Fatalf("%v, exit %d: %s", err, o.exit, o.stderr)
		}
		return r
	}
	r := measure("--vram", "1GiB")
	for _, m := range r.Rows {
		if m.Name == "constraints, compiled" && m.Status == statusSkipped && m.Reason != "" {
			continue // there is no compiler
		}
		if m.MedianNs <= 0 || m.FloorNs <= 0 || m.Ratio <= 0 || m.TargetNs != 0 || m.Status != statusReduced && m.Status != statusMeasured {
			t.Errorf("%+v", m)
		}
	}
	proof := r.Rows[len(r.Rows)-1]
	if proof.Status != statusMeasured || proof.BusyNs <= 0 || proof.BusyNs > proof.MedianNs || proof.Timeline[0].Stage != "witness" {
		t.Errorf("%+v", proof)
	}
	var sum time.Duration
	for _, s := range proof.Timeline {
		sum += s.Ns
	}
	if sum != proof.MedianNs {
		t.Errorf("the stages took %v of %v", sum, proof.MedianNs)
	}
	// A proof that does not fit is reported, not left out.
	r = measure()
	if proof := r.Rows[len(r.Rows)-1]; proof.Status != statusSkipped || proof.Reason == "" {
		t.Errorf("%+v", proof)
	}
	if o := with(emulatedCard{}, "bench", "gpu", "--gpu", "1"); o.exit != exitResource {
		t.Errorf("exit %d", o.exit)
	}
}
