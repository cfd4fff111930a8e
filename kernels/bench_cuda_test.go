//go:build cuda

package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"testing"
	"time"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
	"github.com/ixprove/ixprove/verifier/security"
)

// measure reports the median time that the device is busy with f, in milliseconds, and the device and shape in the benchmark's log.
func measure(b *testing.B, d *kernels.Device, shape string, f func() error) {
	check(b, f()) // compiles
	busy := func() (t time.Duration) {
		c, err := d.Counters()
		check(b, err)
		for _, s := range c.Stages {
			t += s.Busy
		}
		return t
	}
	var times []float64
	for b.Loop() {
		before := busy()
		check(b, f())
		times = append(times, float64((busy()-before).Microseconds())/1000)
	}
	sort.Float64s(times)
	b.ReportMetric(times[len(times)/2], "busy-ms")
	info := d.Info()
	b.Logf("%s: median %.3f ms of %d, best %.3f; %s, driver %d", shape, times[len(times)/2], len(times), times[0], info.Name, info.DriverVersion)
}

// columns makes a matrix of one random column, over and over.
func columns(b *testing.B, d *kernels.Device, width, logHeight int) kernels.Array[field.Element] {
	a := alloc[field.Element](b, d, width<<logHeight)
	column := from(b, d, elements(rand.New(rand.NewPCG(1, 1)), 1<<logHeight))
	for c := range width {
		part, err := a.Slice(c<<logHeight, (c+1)<<logHeight)
		check(b, err)
		check(b, part.Copy(column))
	}
	check(b, column.Free())
	return a
}

func BenchmarkExtend(b *testing.B) {
	for _, s := range [][3]int{{20, 533, 2}, {24, 6, 2}, {22, 2, 2}, {18, 128, 1}, {16, 925, 1}, {21, 64, 2}, {14, 1000, 2}} {
		shape := fmt.Sprintf("2^%dx%d blowup %d", s[0], s[1], 1<<s[2])
		b.Run(shape, func(b *testing.B) {
			d := open(b)
			in, out := columns(b, d, s[1], s[0]), alloc[field.Element](b, d, s[1]<<(s[0]+s[2]))
			measure(b, d, shape, func() error { return d.Extend(out, in, s[1], s[0], s[2]) })
		})
	}
}

func BenchmarkLeaves(b *testing.B) {
	for _, s := range [][2]int{{22, 533}, {22, 8}, {20, 64}} {
		shape := fmt.Sprintf("2^%dx%d", s[0], s[1])
		b.Run(shape, func(b *testing.B) {
			d := open(b)
			in, out := columns(b, d, s[1], s[0]), alloc[formats.Digest](b, d, 1<<s[0])
			list, err := kernels.Columns(nil).Add(in, s[1], 1<<s[0])
			check(b, err)
			at := from(b, d, []uint64(list))
			measure(b, d, shape, func() error { return d.Leaves(out, at, 1<<s[0], 1, &formats.Digest{1}) })
		})
	}
}

func BenchmarkTree(b *testing.B) {
	d := open(b)
	nodes := alloc[formats.Digest](b, d, 2<<22)
	check(b, nodes.Clear())
	measure(b, d, "2^22 leaves", func() error { return d.Tree(nodes, 22, nil) })
}

func BenchmarkOpen(b *testing.B) {
	d := open(b)
	r := rand.New(rand.NewPCG(2, 2))
	const width, log, logBlowup = 128, 20, 2
	in := columns(b, d, width, log+logBlowup)
	list, err := kernels.Columns(nil).Add(in, width, 1<<(log+logBlowup))
	check(b, err)
	at, coefficients := from(b, d, []uint64(list)), from(b, d, exts(r, width))
	weights, word := alloc[field.Ext](b, d, 1<<log), alloc[field.Ext](b, d, 1<<(log+logBlowup))
	z := ext(r)
	b.Run("weights", func(b *testing.B) {
		measure(b, d, "2^20", func() error { return d.Weights(weights, log, z, true) })
	})
	b.Run("sums", func(b *testing.B) {
		measure(b, d, "2^20x128", func() error { _, err := d.Sums(at, weights, 1<<log); return err })
	})
	b.Run("deep", func(b *testing.B) {
		measure(b, d, "2^22x128", func() error { return d.Deep(word, log+logBlowup, at, coefficients, z, z, false) })
	})
	b.Run("fold", func(b *testing.B) {
		out := alloc[field.Ext](b, d, 1<<(log+logBlowup-3))
		measure(b, d, "2^22 by 8", func() error { return d.Fold(out, word, log+logBlowup, 3, coefficients, kernels.Array[field.Ext]{}) })
		check(b, out.Free())
	})
}

func BenchmarkGrind(b *testing.B) {
	d := open(b)
	measure(b, d, "20 bits", func() error { _, err := d.Grind(&formats.Digest{7}, 20); return err })
}

// BenchmarkConstraints interprets and compiles the widest circuit of BLAKE3 on traces of noise.
func BenchmarkConstraints(b *testing.B) {
	d := open(b)
	r := rand.New(rand.NewPCG(3, 3))
	profile, _ := security.ProfileByName("standard")
	key, err := blake3.System().Compile("blake3", verifier.RawProfile(profile), profile.MinLogHeight)
	check(b, err)
	c, err := air.CheckCircuit(&key.Circuits[0], key.Channels, profile.LogBlowup, profile.MinLogHeight)
	check(b, err)
	const log = 19
	width := int(c.Circuit.Columns)
	main, extended := columns(b, d, width, log), columns(b, d, width, log+profile.LogBlowup)
	aux := alloc[field.Element](b, d, c.AuxColumns()<<log)
	auxExtended := columns(b, d, c.AuxColumns(), log+profile.LogBlowup)
	out := alloc[field.Element](b, d, c.QuotientColumns()<<log)
	ch := logup.NewChallenges(ext(r), ext(r), formats.MaxLookupArgs)
	none := kernels.Array[field.Element]{}
	shape := fmt.Sprintf("%s 2^%d x %d, %d groups, %d slices", c.Name, log, width, len(c.Groups), c.Slices())
	sum, delta := ext(r), ext(r)
	for name, p := range map[string]kernels.CodePolicy{"interpreted": kernels.CodeInterpret, "compiled": kernels.CodeCompile} {
		d.SetCode(p, nil)
		b.Run("lookups/"+name, func(b *testing.B) {
			measure(b, d, shape, func() error { _, err := d.Lookups(aux, c, log, main, none, ch); return err })
		})
		b.Run("quotient/"+name, func(b *testing.B) {
			measure(b, d, shape, func() error {
				return d.Quotient(out, c, log, profile.LogBlowup, extended, none, auxExtended, ch, sum, delta)
			})
		})
		counters, err := d.Counters()
		check(b, err)
		b.Logf("%+v", counters.Stages[0].Code)
	}
}
