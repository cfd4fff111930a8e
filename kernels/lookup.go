package kernels

import (
	"github.com/ixprove/ixprove/kernels/ptx"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
)

const (
	lookupTile        = 1 << 10
	divideThreads     = 128
	divideBatch       = 8
	startsThreads     = 256
	accumulateThreads = 256
)

// denominatorWords bounds the denominators that are held at a time, 256 MiB: fewer are too little work for a large device. Only tests change it.
var denominatorWords = 1 << 25

// Lookups writes to out a table's auxiliary trace, three columns of 2^logHeight values a group of lookups, and returns the sum of its lookups. main and fixed are columns in
// row order, fixed empty where there are none. Without lookups the sum is zero and nothing is written. A zero denominator is an error of kind Failed. Working memory is
// denominators of up to 256 MiB, or of one tile of 1,024 rows where that is more, three values for each tile, and the program.
func (d *Device) Lookups(out Array[field.Element], c *air.Circuit, logHeight int, main, fixed Array[field.Element], ch *logup.Challenges) (field.Ext, error) {
	const place = "lookups"
	if err := checkTable(place, c, logHeight, 0, main, fixed, ch); err != nil {
		return field.Ext{}, err
	}
	groups, n := len(c.Groups), uint64(1)<<logHeight
	if groups == 0 {
		return field.Ext{}, nil
	}
	if err := need(place, "the auxiliary trace", out, uint64(c.AuxColumns())*n); err != nil {
		return field.Ext{}, err
	}
	tiles := max(1, int(n/lookupTile))
	chunk := lookupChunk(groups, n)
	code, err := d.compile(c, false, logHeight, n)
	if err != nil {
		return field.Ext{}, err
	}
	e := encode(c, domain{main: main.at, fixed: fixed.at, logColumn: logHeight, periodic: func(i int) periodicTable {
		return periodicTable{natural(c.Periodic[i]), 0, uint64(c.Periodic[i].Len() - 1)}
	}}, ch, nil)
	program, err := d.load(e, logHeight, chunk, code != nil)
	if err != nil {
		return field.Ext{}, err
	}
	defer program.free()
	denominators, err := Alloc[field.Element](d, 3*groups*int(chunk))
	if err != nil {
		return field.Ext{}, err
	}
	defer denominators.Free()
	totals, err := Alloc[field.Ext](d, tiles+2)
	if err != nil {
		return field.Ext{}, err
	}
	defer totals.Free()
	failed, err := From(d, []uint64{0})
	if err != nil {
		return field.Ext{}, err
	}
	defer failed.Free()

	for first := uint64(0); first < n; first += chunk {
		count := min(chunk, n-first)
		if code != nil {
			err = d.run(code, e, program, &ptx.Parameters{
				Main: uint64(main.at), Fixed: uint64(fixed.at), Out: uint64(out.at), Denominators: uint64(denominators.at), Count: uint32(count), FirstRow: uint32(first),
				LogHeight: uint32(logHeight), Pitch: 8 << logHeight, OutPitch: 8 << logHeight, DenominatorPitch: uint32(8 * count),
			}, field.Ext{}, ch)
		} else {
			err = Start(d, "lookup_fractions_"+program.kind, program.grid, [3]uint32{airThreads, 1, 1}, program.sharedBytes, &struct {
				program                  programParams
				numerators, denominators Address
				first, count             uint64
			}{program.programParams, out.at, denominators.at, first, count})
		}
		if err != nil {
			return field.Ext{}, err
		}
		grid := [3]uint32{uint32((count + lookupTile - 1) / lookupTile), 1, 1}
		err = Start(d, "lookup_divide", grid, [3]uint32{divideThreads, 1, 1}, 24*divideThreads*divideBatch, &struct {
			values, denominators, totals Address
			rows, first, count, groups   uint64
			failed                       Address
		}{out.at, denominators.at, totals.at, n, first, count, uint64(groups), failed.at})
		if err != nil {
			return field.Ext{}, err
		}
	}
	err = Start(d, "lookup_starts", [3]uint32{1, 1, 1}, [3]uint32{startsThreads, 1, 1}, 24*startsThreads, &struct {
		totals             Address
		count, inverseRows uint64
	}{totals.at, uint64(tiles), uint64(field.InverseOfTwoPower(logHeight))})
	if err != nil {
		return field.Ext{}, err
	}
	err = Start(d, "lookup_accumulate", [3]uint32{uint32(tiles), 1, 1}, [3]uint32{accumulateThreads, 1, 1}, 24*accumulateThreads/32, &struct {
		values, starts, perRow Address
		rows, groups           uint64
	}{out.at, totals.at, totals.at + Address(24*(tiles+1)), n, uint64(groups)})
	if err != nil {
		return field.Ext{}, err
	}
	word, sum := []uint64{0}, make([]field.Ext, 1)
	if err := failed.Download(word); err != nil {
		return field.Ext{}, err
	}
	if word[0] != 0 {
		return field.Ext{}, &Error{Kind: Failed, Place: place, What: "a lookup's denominator is zero: this happens with negligible probability", Next: "prove again with other claims"}
	}
	last, err := totals.Slice(tiles, tiles+1)
	if err != nil {
		return field.Ext{}, err
	}
	err = last.Download(sum)
	return sum[0], err
}

// lookupChunk is the number of rows whose denominators are held at a time.
func lookupChunk(groups int, n uint64) uint64 {
	return min(n, uint64(max(1, denominatorWords/(3*groups)/lookupTile)*lookupTile))
}
