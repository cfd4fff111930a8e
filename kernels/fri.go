package kernels

import (
	"strconv"

	"github.com/ixprove/ixprove/verifier/field"
)

// Fold writes to out a word of 2^logSize values folded by 2^step, step 1 to 3, with the first value of beta, plus beta^(2^step)·entering where entering is not empty. Words are in
// bit-reversed order. out must not overlap the others.
func (d *Device) Fold(out, word Array[field.Ext], logSize, step int, beta, entering Array[field.Ext]) error {
	const place = "fold"
	if step < 1 || step > 3 || logSize < step || logSize > field.TwoAdicity {
		return outOfRange(place, "log size %d, step %d", logSize, step)
	}
	if err := need(place, "the word", word, 1<<logSize); err != nil {
		return err
	}
	if err := need(place, "the output", out, 1<<(logSize-step)); err != nil {
		return err
	}
	if err := need(place, "beta", beta, 1); err != nil {
		return err
	}
	if entering.n > 0 {
		if err := need(place, "the entering word", entering, 1<<(logSize-step)); err != nil {
			return err
		}
	}
	tables, err := d.powerTables()
	if err != nil {
		return err
	}
	grid, block := linear(1<<(logSize-step), 128)
	return Start(d, "fri_fold_"+strconv.Itoa(step), grid, block, 0, &struct {
		word, entering, out Address
		tables              tableParams
		logOut              uint64
		beta                Address
	}{word.at, entering.at, out.at, tables, uint64(logSize - step), beta.at})
}

// Final returns the coefficients, constant first, of the polynomial with the values of a word on the subgroup of order 2^logSize, in bit-reversed order.
func (d *Device) Final(word Array[field.Ext], logSize int) ([]field.Ext, error) {
	const place = "final polynomial"
	if logSize < 0 || logSize > maxLogSize {
		return nil, outOfRange(place, "log size %d", logSize)
	}
	if err := need(place, "the word", word, 1<<logSize); err != nil {
		return nil, err
	}
	n := 1 << logSize
	columns, err := Alloc[field.Element](d, 3*n)
	if err != nil {
		return nil, err
	}
	defer columns.Free()
	grid, block := linear(uint64(n), 128)
	err = Start(d, "fri_split", grid, block, 0, &struct {
		word, out Address
		n         uint64
	}{word.at, columns.at, uint64(n)})
	if err == nil {
		err = d.interpolateOn(columns, 3, logSize, false)
	}
	if err != nil {
		return nil, err
	}
	values, out := make([]field.Element, 3*n), make([]field.Ext, n)
	if err := columns.Download(values); err != nil {
		return nil, err
	}
	for i := range out {
		out[i] = field.Ext{values[i], values[n+i], values[2*n+i]}
	}
	return out, nil
}
