//go:build emulated || cuda

package kernels_test

import (
	"math/rand/v2"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/fri"
)

// matrix draws columns and puts them on the device.
func matrix(t *testing.T, d *kernels.Device, r *rand.Rand, columns, rows int) ([][]field.Element, kernels.Array[uint64]) {
	t.Helper()
	values := elements(r, columns*rows)
	host := make([][]field.Element, columns)
	for c := range host {
		host[c] = values[c*rows : (c+1)*rows]
	}
	list, err := kernels.Columns(nil).Add(from(t, d, values), columns, rows)
	check(t, err)
	return host, from(t, d, []uint64(list))
}

func combined(columns [][]field.Element, coefficients []field.Ext, row int) (v field.Ext) {
	for c := range columns {
		v = field.AddExt(v, field.ScaleExt(coefficients[c], columns[c][row]))
	}
	return v
}

func TestCombine(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(15, 16))
	for _, s := range [][2]int{{1, 1}, {3, 127}, {70, 300}, {200, 8}} {
		host, columns := matrix(t, d, r, s[0], s[1])
		coefficients := exts(r, s[0])
		out := alloc[field.Element](t, d, 3*s[1])
		check(t, d.Combine(out, columns, from(t, d, coefficients), s[1]))
		got := download(t, out)
		for i := range s[1] {
			if v := (field.Ext{got[i], got[s[1]+i], got[2*s[1]+i]}); v != combined(host, coefficients, i) {
				t.Fatalf("%v: row %d is %v", s, i, v)
			}
		}
	}
}

func TestDeep(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for _, log := range []int{1, 4, 9} {
		d := open(t)
		w, _ := field.RootOfUnity(log)
		want := make([]field.Ext, 1<<log)
		word := alloc[field.Ext](t, d, 1<<log)
		for round := range 3 {
			host, columns := matrix(t, d, r, 1+7*round, 1<<log)
			coefficients, z, claimed := exts(r, len(host)), ext(r), ext(r)
			check(t, d.Deep(word, log, columns, from(t, d, coefficients), z, claimed, round > 0))
			for i := range want {
				x := field.Mul(field.Shift, field.Pow(w, field.ReverseBits(uint64(i), log)))
				inverse, _ := field.InverseExt(field.SubExt(field.FromBase(x), z))
				want[i] = field.AddExt(want[i], field.MulExt(field.SubExt(combined(host, coefficients, i), claimed), inverse))
			}
		}
		for i, got := range download(t, word) {
			if got != want[i] {
				t.Fatalf("2^%d: value %d is %v, want %v", log, i, got, want[i])
			}
		}
		_, columns := matrix(t, d, r, 1, 1<<log)
		check(t, d.Flagged("test"))
		check(t, d.Deep(word, log, columns, from(t, d, exts(r, 1)), field.FromBase(field.Shift), field.Ext{}, false))
		if d.Flagged("test") == nil {
			t.Fatal("a point of the domain passed")
		}
	}
}

func TestBarycentricSums(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(19, 20))
	for _, s := range [][2]int{{1, 0}, {1, 1}, {5, 3}, {4, 8}, {9, 10}, {2, 14}} {
		width, log := s[0], s[1]
		for _, shifted := range []bool{false, true} {
			var values []field.Element
			var want []field.Ext
			z := ext(r)
			for range width {
				c := elements(r, 1<<log)
				var v field.Ext
				for i := len(c) - 1; i >= 0; i-- {
					v = field.AddExt(field.MulExt(v, z), field.FromBase(c[i]))
				}
				want = append(want, v)
				if shifted {
					values = append(values, extension(c, log, 0)...)
				} else {
					w, _ := field.RootOfUnity(log)
					values = append(values, transform(c, w)...)
				}
			}
			list, err := kernels.Columns(nil).Add(from(t, d, values), width, 1<<log)
			check(t, err)
			weights := alloc[field.Ext](t, d, 1<<log)
			check(t, d.Weights(weights, log, z, shifted))
			got, err := d.Sums(from(t, d, []uint64(list)), weights, 1<<log)
			check(t, err)
			for c := range want {
				if got[c] != want[c] {
					t.Fatalf("%v, shifted %v: column %d is %v, want %v", s, shifted, c, got[c], want[c])
				}
			}
		}
	}
	_, list := matrix(t, d, r, 1, 8)
	weights := alloc[field.Ext](t, d, 8)
	check(t, d.Weights(weights, 3, field.FromBase(1), false))
	if _, err := d.Sums(list, weights, 8); err == nil {
		t.Fatal("a point of the domain passed")
	}
}

func TestFold(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(21, 22))
	for step := 1; step <= 3; step++ {
		for _, log := range []int{step, step + 1, 9} {
			word, beta := exts(r, 1<<log), ext(r)
			entering := exts(r, 1<<(log-step))
			in, add, by, out := from(t, d, word), from(t, d, entering), from(t, d, []field.Ext{beta}), alloc[field.Ext](t, d, 1<<(log-step))
			w, _ := field.RootOfUnity(log)
			w, _ = field.Inverse(w)
			folder := fri.NewFolder(step)
			for _, enters := range []bool{false, true} {
				e := kernels.Array[field.Ext]{}
				if enters {
					e = add
				}
				check(t, d.Fold(out, in, log, step, by, e))
				for i, got := range download(t, out) {
					values := append([]field.Ext(nil), word[i<<step:(i+1)<<step]...)
					want := folder.Fold(values, field.ScaleExt(beta, field.Pow(w, field.ReverseBits(uint64(i), log-step))))
					if enters {
						want = field.AddExt(want, field.MulExt(field.SquareExtTimes(beta, step), entering[i]))
					}
					if got != want {
						t.Fatalf("2^%d by 2^%d: value %d is %v, want %v", log, step, i, got, want)
					}
				}
			}
		}
	}
}

func TestFinal(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(23, 24))
	for _, log := range []int{0, 1, 5, 7, 11} {
		coefficients := exts(r, 1<<log)
		w, _ := field.RootOfUnity(log)
		word := make([]field.Ext, 1<<log)
		for c := range 3 {
			column := make([]field.Element, 1<<log)
			for i := range column {
				column[i] = coefficients[i][c]
			}
			for i, v := range transform(column, w) {
				word[field.ReverseBits(uint64(i), log)][c] = v
			}
		}
		got, err := d.Final(from(t, d, word), log)
		check(t, err)
		for i := range coefficients {
			if got[i] != coefficients[i] {
				t.Fatalf("2^%d: coefficient %d is %v, want %v", log, i, got[i], coefficients[i])
			}
		}
	}
}

func TestGather(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(25, 26))
	host, columns := matrix(t, d, r, 5, 90)
	rows := []uint64{0, 3, 44}
	got, err := d.Gather(columns, rows, 2)
	check(t, err)
	for i, row := range rows {
		for c := range host {
			if field.Element(got[5*i+c]) != host[c][2*row] {
				t.Fatalf("row %d, column %d is wrong", row, c)
			}
		}
	}
	// A layer's leaves are rows of extension elements.
	word := exts(r, 32)
	leaves, err := d.Gather(from(t, d, []uint64(kernels.Columns(nil).AddExts(from(t, d, word), 4))), []uint64{7}, 12)
	check(t, err)
	for i := range 12 {
		if field.Element(leaves[i]) != word[28+i/3][i%3] {
			t.Fatalf("leaf value %d is wrong", i)
		}
	}
	digests := []formats.Digest{{1}, {2}, {3}}
	places, err := d.GatherDigests(from(t, d, digests), []uint64{2, 0})
	check(t, err)
	if places[0] != digests[2] || places[1] != digests[0] {
		t.Fatal("digests are wrong")
	}
	if _, err := d.GatherDigests(from(t, d, digests), []uint64{3}); err == nil {
		t.Fatal("gathered outside")
	}
}
