package kernels

import (
	"github.com/ixprove/ixprove/verifier/field"
)

// tables holds what kernels look up, made and uploaded when it is first needed and kept until the device is closed.
type tables struct {
	roots, shifts, inverseShifts, ones Array[field.Element]
	between                            Array[uint64]
	flag                               Array[uint64] // not zero once an evaluation point lay in a domain
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
		if t.flag, err = keep(d, []uint64{0}); err != nil {
			t.free()
			return tableParams{}, err
		}
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
	t.flag.Free()
	t.between.Free()
}

// The smallest and largest pass of two rounds.
const minRounds, maxRounds = 5, 10

// betweenRounds lists the factors between the rounds of passes of 2^k values, smallest first, of each the forward ones and the inverses: between rounds 1 and 2 ω_(2^k)^(i j) for i < 2^r1 and j below
// 2^(r2+r3), and between rounds 2 and 3, where there is one, the same for r2 and r3. A factor w is four words (cu/limbs.cuh): w 2^(24 l) as a low and a high signed half. A row, of equal i, has
// the first two words of all its factors before the other two.
func betweenRounds() []uint64 {
	var out []uint64
	list := func(log, rows int, inverse bool) {
		w, _ := field.RootOfUnity(log)
		if inverse {
			w, _ = field.Inverse(w)
		}
		step := field.Element(1)
		for range 1 << rows {
			for _, p := range [...]field.Element{1, 1 << 48} {
				for range 1 << (log - rows) {
					out = append(out, signedHalves(p), signedHalves(field.Mul(p, 1<<24)))
					p = field.Mul(p, step)
				}
			}
			step = field.Mul(step, w)
		}
	}
	for k := minRounds; k <= maxRounds; k++ {
		s := passShapes[k]
		for _, inverse := range [...]bool{false, true} {
			list(k, s.r1, inverse)
			if s.r3 > 0 {
				list(s.r2+s.r3, s.r2, inverse)
			}
		}
	}
	return out
}

// signedHalves is lo mod 2^32 + 2^32 (hi mod 2^32), where v = lo + 2^32 hi modulo p and both are from -2^31 to 2^31 - 1.
func signedHalves(v field.Element) uint64 {
	w := uint64(v)
	if w >= 1<<63-1<<31 {
		w -= field.Modulus
	}
	return w&(1<<32-1) | (w+1<<31)>>32<<32
}

// factorBytes is the size of the factors between the rounds of a pass of 2^k values in one direction, and where those after round 2 begin.
func factorBytes(k int) (size, second int) {
	s := passShapes[k]
	second = 32 << k
	if size = second; s.r3 > 0 {
		size += 32 << (s.r2 + s.r3)
	}
	return size, second
}

// between is where the factors between the rounds of a pass are; one of one round has none.
func (d *Device) between(k int, inverse bool) (first, second Address) {
	d.mu.Lock()
	defer d.mu.Unlock()
	first = d.tables.between.at
	for j := minRounds; j < k; j++ {
		size, _ := factorBytes(j)
		first += Address(2 * size)
	}
	size, after := factorBytes(max(k, minRounds))
	if inverse {
		first += Address(size)
	}
	return first, first + Address(after)
}
