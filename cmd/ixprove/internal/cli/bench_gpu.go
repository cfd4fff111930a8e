package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cuda"
	"github.com/ixprove/ixprove/verifier/field"
)

// gpuBench measures one device. Kernels are timed by the device's clock, and each is compared with a floor: the time in which the device copies as many bytes as the kernel has to
// read and write, or compresses as many BLAKE3 blocks, whichever is longer.
type gpuBench struct {
	*bench
	device *kernels.Device
	budget int64
	copied float64 // bytes a second, read and written
}

// compressionRate is BLAKE3 compressions a second and multiprocessor: 2.9e10 measured on the 132 of an H200.
const compressionRate = 2.9e10 / 132

// gpu measures the kernels, and whole proofs of BLAKE3.
func (b *bench) gpu() error {
	if !b.t.cards.built() {
		return withoutCUDA(b.cards)
	}
	infos, err := chosen(b.t.cards, b.cards)
	if err != nil {
		return err
	}
	for _, info := range infos {
		o := newDeviceObject(info)
		o.Kernels = "load"
		b.out.Devices = append(b.out.Devices, o)
		if err := b.kernels(info); err != nil {
			return err
		}
		if err := b.proofs(info); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) kernels(info kernels.Info) (err error) {
	d, err := b.t.cards.open(info.Index)
	if err != nil {
		return err
	}
	g := &gpuBench{bench: b, device: kernels.New(d), budget: int64(cuda.DefaultBudget(info.MemoryBytes))}
	defer func() {
		if closed := g.device.Close(); err == nil {
			err = closed
		}
	}()
	for _, f := range []func() error{g.transfers, g.extensions, g.hashes, g.openings} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// busy is the time that the device spent in kernels.
func (g *gpuBench) busy() (t time.Duration, err error) {
	c, err := g.device.Counters()
	for _, s := range c.Stages {
		t += s.Busy
	}
	return t, err
}

// kernel times f by the device's clock, after a first run in which kernels are compiled, and adds a row for so many bytes read and written and blocks compressed.
func (g *gpuBench) kernel(name, shape string, bytes, blocks float64, f func() error) error {
	times := make([]time.Duration, g.out.Runs+1)
	for i := range times {
		if err := g.t.ctx.Err(); err != nil {
			return err
		}
		before, err := g.busy()
		if err == nil {
			err = f()
		}
		if err != nil {
			return err
		}
		after, err := g.busy()
		if err != nil {
			return err
		}
		times[i] = after - before
	}
	seconds := max(bytes/g.copied, blocks/(compressionRate*float64(max(1, g.device.Info().Processors))))
	g.add(name, shape, times[1:], bytes/1e9, "GB", time.Duration(seconds*1e9))
	return nil
}

// add adds a row with a floor.
func (b *bench) add(name, shape string, times []time.Duration, work float64, unit string, floor time.Duration) {
	slices.Sort(times)
	median := max(1, (times[(len(times)-1)/2]+times[len(times)/2])/2)
	b.out.Rows = append(b.out.Rows, benchRow{name, shape, median, work, unit, work / median.Seconds(), floor, float64(median) / float64(max(1, floor))})
}

// wall times f by the host's clock, the device's work included.
func (g *gpuBench) wall(f func() error) (times []time.Duration, err error) {
	for i := range g.out.Runs + 1 {
		start := time.Now()
		if err := f(); err != nil {
			return nil, err
		}
		if err := g.device.Synchronize(); err != nil {
			return nil, err
		}
		if i > 0 {
			times = append(times, time.Since(start))
		}
	}
	return times, nil
}

const (
	copyBytes   = 1 << 30
	uploadBytes = 32 << 20
	pcieRate    = 55e9 // bytes a second of a fifth-generation bus of 16 lanes, measured
)

// transfers measures copies on the device, whose rate is the floor of all kernels, and from page-locked memory.
func (g *gpuBench) transfers() error {
	size := min(copyBytes, int(g.budget)/4) &^ 7
	from, err := kernels.Alloc[uint64](g.device, size/8)
	if err != nil {
		return err
	}
	defer from.Free()
	to, err := kernels.Alloc[uint64](g.device, size/8)
	if err != nil {
		return err
	}
	defer to.Free()
	if err := from.Clear(); err != nil {
		return err
	}
	times, err := g.wall(func() error { return to.Copy(from) })
	if err != nil {
		return err
	}
	slices.Sort(times)
	g.copied = 2 * float64(size) / times[0].Seconds()
	g.add("copy", bytesText(prover.Bytes(size))+" read and written", times, 2*float64(size)/1e9, "GB", times[0])
	staging, err := g.device.AllocHost(uploadBytes)
	if err != nil {
		return err
	}
	defer g.device.FreeHost(staging)
	whole, err := kernels.Alloc[uint8](g.device, uploadBytes)
	if err != nil {
		return err
	}
	defer whole.Free()
	if times, err = g.wall(func() error { return whole.Upload(staging) }); err != nil {
		return err
	}
	rate := float64(pcieRate)
	g.add("upload", bytesText(uploadBytes)+" from page-locked memory", times, float64(uploadBytes)/1e9, "GB", time.Duration(uploadBytes/rate*1e9))
	return nil
}

// matrix is columns of noise, each the same.
func (g *gpuBench) matrix(columns, logHeight int) (kernels.Array[field.Element], error) {
	a, err := kernels.Alloc[field.Element](g.device, columns<<logHeight)
	if err != nil {
		return a, err
	}
	values := make([]field.Element, 1<<logHeight)
	x := uint64(1)
	for i := range values {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		values[i] = field.New(x)
	}
	first, err := a.Slice(0, 1<<logHeight)
	if err == nil {
		err = first.Upload(values)
	}
	for c := 1; c < columns && err == nil; c++ {
		var to kernels.Array[field.Element]
		if to, err = a.Slice(c<<logHeight, (c+1)<<logHeight); err == nil {
			err = to.Copy(first)
		}
	}
	return a, err
}

// height is the log2 of a number of rows, less where so many elements a row would not fit the device.
func (g *gpuBench) height(log, elements int) int {
	for log > 4 && int64(8*elements) > g.budget>>log {
		log--
	}
	return log
}

// extensions measures coset extensions, of shapes with which other libraries were measured: tall and narrow, short and wide.
func (g *gpuBench) extensions() error {
	for _, s := range []struct{ log, columns, logBlowup int }{{20, 533, 2}, {24, 6, 2}, {22, 2, 2}, {18, 128, 1}, {16, 925, 1}} {
		s.log = g.height(s.log, s.columns+s.columns<<s.logBlowup)
		shape := fmt.Sprintf("2^%d x %d, blowup %d", s.log, s.columns, 1<<s.logBlowup)
		cells := int64(s.columns) << s.log
		in, err := g.matrix(s.columns, s.log)
		if err != nil {
			return err
		}
		out, err := kernels.Alloc[field.Element](g.device, s.columns<<(s.log+s.logBlowup))
		if err != nil {
			return err
		}
		err = g.kernel("extension", shape, 8*float64(cells+cells<<s.logBlowup), 0, func() error { return g.device.Extend(out, in, s.columns, s.log, s.logBlowup) })
		if err != nil {
			return err
		}
		if err := in.Free(); err != nil {
			return err
		}
		if err := out.Free(); err != nil {
			return err
		}
	}
	return nil
}

// hashes measures tree leaves and levels.
func (g *gpuBench) hashes() error {
	for _, s := range [][2]int{{22, 8}, {22, 64}, {22, 533}} {
		log, columns := g.height(s[0], s[1]+8), s[1]
		shape := fmt.Sprintf("2^%d rows of %d elements", log, columns)
		in, err := g.matrix(columns, log)
		if err != nil {
			return err
		}
		list, err := g.list(in, columns, log)
		if err != nil {
			return err
		}
		nodes, err := kernels.Alloc[formats.Digest](g.device, 2<<log)
		if err != nil {
			return err
		}
		leaves, err := nodes.Slice(1<<log, 2<<log)
		if err != nil {
			return err
		}
		rows, bytes := float64(int(1)<<log), columns*8
		blocks := (bytes+63)/64 + (bytes+1023)/1024 - 1 // with the parents of chunks
		err = g.kernel("tree leaves", shape, rows*float64(bytes+32), rows*float64(blocks), func() error {
			return g.device.Leaves(leaves, list, 1<<log, 1, &formats.Digest{1})
		})
		if err == nil && columns == 8 {
			err = g.kernel("tree levels", fmt.Sprintf("2^%d leaves", log), rows*96, rows, func() error { return g.device.Tree(nodes, log, nil) })
		}
		for _, free := range []func() error{in.Free, list.Free, nodes.Free} {
			if freed := free(); err == nil {
				err = freed
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *gpuBench) list(in kernels.Array[field.Element], columns, log int) (kernels.Array[uint64], error) {
	list, err := kernels.Columns(nil).Add(in, columns, 1<<log)
	if err != nil {
		return kernels.Array[uint64]{}, err
	}
	return kernels.From(g.device, []uint64(list))
}

// openings measures sums at a point, DEEP quotients and folds.
func (g *gpuBench) openings() error {
	const columns, logBlowup = 128, 2
	log := g.height(22, columns+8) - logBlowup
	shape := fmt.Sprintf("2^%d x %d", log+logBlowup, columns)
	in, err := g.matrix(columns, log+logBlowup)
	if err != nil {
		return err
	}
	defer in.Free()
	list, err := g.list(in, columns, log+logBlowup)
	if err != nil {
		return err
	}
	defer list.Free()
	z := field.Ext{3, 5, 7}
	coefficients, err := kernels.From(g.device, slices.Repeat([]field.Ext{z}, columns))
	if err != nil {
		return err
	}
	defer coefficients.Free()
	word, err := kernels.Alloc[field.Ext](g.device, 1<<(log+logBlowup))
	if err != nil {
		return err
	}
	defer word.Free()
	folded, err := kernels.Alloc[field.Ext](g.device, 1<<(log+logBlowup-3))
	if err != nil {
		return err
	}
	defer folded.Free()
	weights, err := word.Slice(0, 1<<log)
	if err != nil {
		return err
	}
	rows := float64(int(1) << (log + logBlowup))
	for _, k := range []struct {
		name, shape string
		bytes       float64
		run         func() error
	}{
		{"barycentric weights", fmt.Sprintf("2^%d", log), 24 * rows / 4, func() error { return g.device.Weights(weights, log, z, true) }},
		{"values at a point", fmt.Sprintf("2^%d x %d", log, columns), (8*columns + 24) * rows / 4, func() error { _, err := g.device.Sums(list, weights, 1<<log); return err }},
		{"DEEP quotients", shape, (8*columns + 24) * rows, func() error { return g.device.Deep(word, log+logBlowup, list, coefficients, z, z, false) }},
		{"fold by 8", fmt.Sprintf("2^%d", log+logBlowup), 27 * rows, func() error {
			return g.device.Fold(folded, word, log+logBlowup, 3, coefficients, kernels.Array[field.Ext]{})
		}},
	} {
		if err := g.kernel(k.name, k.shape, k.bytes, 0, k.run); err != nil {
			return err
		}
	}
	return nil
}

// proofs measures whole proofs; their floor is the time that the device was busy.
func (b *bench) proofs(info kernels.Info) (err error) {
	d, err := b.t.cards.open(info.Index)
	if err != nil {
		return err
	}
	backend := cuda.New(d)
	defer func() {
		if closed := backend.Close(); err == nil {
			err = closed
		}
	}()
	return b.each(func(n int, key *prover.ProvingKey, w *prover.Witness, shape string) error {
		var times []time.Duration
		var floor time.Duration
		for i := range b.out.Runs + 1 {
			r, err := prover.Prove(b.t.ctx, key, w, prover.Options{Backend: backend})
			if err != nil {
				return err
			}
			if i == 0 {
				continue // kernels are compiled
			}
			times = append(times, r.Elapsed)
			floor = 0
			for _, s := range r.Work {
				floor += s.Busy
			}
		}
		b.add("prove blake3 on the device", shape, times, float64(n), "byte", floor)
		return nil
	})
}
