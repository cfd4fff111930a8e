package kernels

import (
	"github.com/ixprove/ixprove/verifier/field"
)

// tables holds what kernels look up, made and uploaded when it is first needed and kept until the device is closed.
type tables struct {
	roots, shifts, inverseShifts, ones Array[field.Element]
	flag                               Array[uint64] // not zero once an evaluation point lay in a domain
	weights                            map[weightsKey]Array[field.Element]
}

type weightsKey struct {
	logHeight, logBlowup int
	values               bool
}

// tableParams is the kernels' Tables.
type tableParams struct{ roots, shifts, inverseShifts Address }

// windows lists base^(2^s i) for i < 2^k, one window after the other.
func windows(base field.Element, sizes ...[2]int) []field.Element {
	var out []field.Element
	for _, size := range sizes {
		step, p := field.Pow(base, 1<<size[0]), field.Element(1)
		for range 1 << size[1] {
			out = append(out, p)
			p = field.Mul(p, step)
		}
	}
	return out
}

// Keeper is a driver that places lasting buffers apart from those that pass with a call. Keep says that what is taken from now on lasts until the device is closed, or no
// longer does.
type Keeper interface{ Keep(lasting bool) }

// keep is From for an array that lasts.
func keep[T Value](d *Device, values []T) (Array[T], error) {
	if k, ok := d.driver.(Keeper); ok {
		k.Keep(true)
		defer k.Keep(false)
	}
	return From(d, values)
}

// powerTables returns the tables of roots and shifts.
func (d *Device) powerTables() (tableParams, error) {
	d.mu.Lock()
	t := d.tables
	d.mu.Unlock()
	if t.roots.n == 0 {
		root, _ := field.RootOfUnity(field.TwoAdicity)
		inverse, _ := field.Inverse(field.Shift)
		shift := [][2]int{{0, 10}, {10, 10}, {20, 10}}
		for _, table := range []struct {
			to     *Array[field.Element]
			values []field.Element
		}{
			{&t.roots, windows(root, [2]int{0, 10}, [2]int{10, 11}, [2]int{21, 11})},
			{&t.shifts, windows(field.Shift, shift...)},
			{&t.inverseShifts, windows(inverse, shift...)},
			{&t.ones, windows(1, shift...)},
		} {
			var err error
			if *table.to, err = keep(d, table.values); err != nil {
				for _, made := range []Array[field.Element]{t.roots, t.shifts, t.inverseShifts, t.ones} {
					made.Free()
				}
				return tableParams{}, err
			}
		}
		var err error
		if t.flag, err = keep(d, []uint64{0}); err != nil {
			for _, made := range []Array[field.Element]{t.roots, t.shifts, t.inverseShifts, t.ones} {
				made.Free()
			}
			return tableParams{}, err
		}
		t.weights = map[weightsKey]Array[field.Element]{}
		d.mu.Lock()
		d.tables = t
		d.mu.Unlock()
	}
	return tableParams{t.roots.at, t.shifts.at, t.inverseShifts.at}, nil
}

// passWeights returns, for each slab s of an extension, factor·x^(r·stride) for r < 2^k, where x is the slab's first point: the weights of the first of the passes.
// The factor is 1/n for coefficients that come from values by an inverse without factor, else 1.
func (d *Device) passWeights(key weightsKey, k int) (Array[field.Element], error) {
	d.mu.Lock()
	w, ok := d.tables.weights[key]
	d.mu.Unlock()
	if ok {
		return w, nil
	}
	root, _ := field.RootOfUnity(key.logHeight + key.logBlowup)
	values := make([]field.Element, 0, 1<<(k+key.logBlowup))
	for s := range 1 << key.logBlowup {
		x := field.Mul(field.Shift, field.Pow(root, field.ReverseBits(uint64(s), key.logBlowup)))
		step, p := field.Pow(x, 1<<(key.logHeight-k)), field.Element(1)
		if key.values {
			p = field.InverseOfTwoPower(key.logHeight)
		}
		for range 1 << k {
			values = append(values, p)
			p = field.Mul(p, step)
		}
	}
	w, err := keep(d, values)
	if err != nil {
		return w, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tables.weights[key] = w
	return w, nil
}
