package kernels

import (
	"github.com/ixprove/ixprove/verifier/field"
)

// tables holds what kernels look up, made and uploaded when it is first needed and kept until the device is closed.
type tables struct {
	roots, shifts, inverseShifts, ones Array[field.Element]
	between                            Array[field.Element]
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
				t.free()
				return tableParams{}, err
			}
		}
		var err error
		if t.between, err = keep(d, betweenRounds()); err != nil {
			t.free()
			return tableParams{}, err
		}
		d.mu.Lock()
		d.tables = t
		d.mu.Unlock()
	}
	return tableParams{t.roots.at, t.shifts.at, t.inverseShifts.at}, nil
}

func (t *tables) free() {
	for _, made := range []Array[field.Element]{t.roots, t.shifts, t.inverseShifts, t.ones} {
		made.Free()
	}
	t.between.Free()
}

// The smallest and largest pass of two rounds.
const minRounds, maxRounds = 5, 10

// betweenRounds lists the factors of the second rounds of passes of 2^k values, smallest first, of each the forward ones and the inverses: ω_(2^k)^(i j) at 2^k1 i + j for j < 2^k1.
func betweenRounds() []field.Element {
	var out []field.Element
	for k := minRounds; k <= maxRounds; k++ {
		w, _ := field.RootOfUnity(k)
		inverse, _ := field.Inverse(w)
		for _, w := range [...]field.Element{w, inverse} {
			step, s := field.Element(1), shapeOf(k)
			for range 1 << s.k2 {
				p := field.Element(1)
				for range 1 << s.k1 {
					out = append(out, p)
					p = field.Mul(p, step)
				}
				step = field.Mul(step, w)
			}
		}
	}
	return out
}

// between is where the factors of the second round of a pass are, and as many ones; a pass of one round has none.
func (d *Device) between(k int, inverse bool) (factors, ones Address) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if k < minRounds {
		return 0, d.tables.ones.at
	}
	n := 2 * (1<<k - 1<<minRounds)
	if inverse {
		n += 1 << k
	}
	return d.tables.between.at + Address(8*n), d.tables.ones.at
}
