//go:build emulated || cuda

package kernels_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/verifier/field"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB) *kernels.Device {
	t.Helper()
	d, err := openDevice()
	check(t, err)
	t.Cleanup(func() { check(t, d.Close()) })
	return d
}

func alloc[T kernels.Value](t testing.TB, d *kernels.Device, n int) kernels.Array[T] {
	t.Helper()
	a, err := kernels.Alloc[T](d, n)
	check(t, err)
	return a
}

func from[T kernels.Value](t testing.TB, d *kernels.Device, v []T) kernels.Array[T] {
	t.Helper()
	a, err := kernels.From(d, v)
	check(t, err)
	return a
}

func download[T kernels.Value](t testing.TB, a kernels.Array[T]) []T {
	t.Helper()
	v := make([]T, a.Len())
	check(t, a.Download(v))
	return v
}

// elements draws canonical elements of which many are extreme.
func elements(r *rand.Rand, n int) []field.Element {
	v := make([]field.Element, n)
	for i := range v {
		v[i] = field.New(edgy(r))
	}
	return v
}

func ext(r *rand.Rand) field.Ext { return field.Ext(elements(r, 3)) }

func exts(r *rand.Rand, n int) []field.Ext {
	v := make([]field.Ext, n)
	for i := range v {
		v[i] = ext(r)
	}
	return v
}

func TestArrays(t *testing.T) {
	d := open(t)
	a := from(t, d, []uint64{1, 2, 3, 4, 5})
	part, err := a.Slice(1, 4)
	check(t, err)
	if got := download(t, part); got[0] != 2 || got[2] != 4 {
		t.Fatalf("part is %v", got)
	}
	b := alloc[uint64](t, d, 3)
	check(t, b.Copy(part))
	check(t, part.Clear())
	if got := download(t, a); got[0] != 1 || got[1] != 0 || got[3] != 0 || got[4] != 5 {
		t.Fatalf("after clearing: %v", got)
	}
	if got := download(t, b); got[0] != 2 || got[2] != 4 {
		t.Fatalf("copy is %v", got)
	}
	c, err := d.Counters()
	check(t, err)
	if c.BytesUp != 40 || c.BytesDown != 24+40+24 || c.Now != 64 || c.Peak != 64 {
		t.Fatalf("counters %+v", c)
	}
	for name, err := range map[string]error{
		"free of a part":   part.Free(),
		"long upload":      b.Upload(make([]uint64, 4)),
		"long download":    b.Download(make([]uint64, 4)),
		"long copy":        b.Copy(a),
		"slice":            func() error { _, err := a.Slice(3, 6); return err }(),
		"negative size":    func() error { _, err := kernels.Alloc[uint64](d, -1); return err }(),
		"grid of nothing":  kernels.Start(d, "field_check", [3]uint32{0, 1, 1}, [3]uint32{1, 1, 1}, 0, &[4]uint64{}),
		"extension":        d.Extend(kernels.Array[field.Element]{}, kernels.Array[field.Element]{}, 1, 3, 1),
		"too large a size": d.Interpolate(kernels.Array[field.Element]{}, 1, 31),
	} {
		var e *kernels.Error
		if !errors.As(err, &e) || e.Kind != kernels.BadRange {
			t.Errorf("%s: %v", name, err)
		}
	}
	check(t, a.Free())
	if a.Free() == nil {
		t.Error("freed twice")
	}
}

func TestUnknownKernelsAndParametersAreErrors(t *testing.T) {
	d := open(t)
	one := [3]uint32{1, 1, 1}
	for name, err := range map[string]error{
		"name":   kernels.Start(d, "no_such_kernel", one, one, 0, &[1]uint64{}),
		"params": kernels.Start(d, "field_check", one, one, 0, &[5]uint64{}),
	} {
		var e *kernels.Error
		if !errors.As(err, &e) || e.Kind != kernels.Failed {
			t.Errorf("%s: %v", name, err)
		}
	}
}
