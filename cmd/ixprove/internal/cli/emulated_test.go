//go:build emulated

package cli

import (
	"bytes"
	"encoding/json"
	"testing"

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
	launched := false
	for _, s := range r.Stages {
		launched = launched || s.Device != nil && s.Device.Kernels > 0
	}
	if !launched {
		t.Error("no stage ran on the device")
	}
}
