package cli

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/kernels/ptx"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cpu"
	"github.com/ixprove/ixprove/prover/cuda"
	"github.com/ixprove/ixprove/systems/blake3"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/logup"
)

// gpuBench measures one device. Kernels are timed by the device's clock, and each is compared with a floor: the time in which the device copies as many bytes as the kernel has to
// read and write, or does its arithmetic, whichever is longer.
type gpuBench struct {
	*bench
	device *kernels.Device
	budget int64
	copied float64 // bytes a second, read and written
}

// What a multiprocessor does in a second, on the 132 of an H200.
const (
	compressionRate = 2.9e10 / 132  // BLAKE3 compressions, measured
	levelRate       = 2.57e12 / 132 // values through a level of a transform, with 13 instructions each for both pipes
)

// benchTarget is what a measurement should reach on some devices.
type benchTarget struct {
	device, name, shape string
	time                time.Duration
}

var targets = []benchTarget{
	{"H200", "extension", "2^20 x 533, blowup 4", 38 * time.Millisecond},
	{"H200", "extension", "2^24 x 6, blowup 4", 8200 * time.Microsecond},
	{"H200", "extension", "2^22 x 2, blowup 4", 650 * time.Microsecond},
	{"H200", "extension", "2^18 x 128, blowup 2", 1500 * time.Microsecond},
	{"H200", "extension", "2^16 x 925, blowup 2", 2600 * time.Microsecond},
	{"H200", "tree leaves", "2^22 rows of 533 elements", 12 * time.Millisecond},
	{"H200", "tree levels", "2^22 leaves", 250 * time.Microsecond},
	{"H200", "FRI layers", "2^22 by 8", time.Millisecond},
	{"H200", "prove blake3 on the device", "16.0 MiB, standard", time.Second},
	{"H200", "prove blake3 on the device", "64.0 MiB, standard", 4500 * time.Millisecond},
}

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
		if err := b.onDevice(info); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) onDevice(info kernels.Info) (err error) {
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
	for _, f := range []func() error{g.transfers, g.extensions, g.hashes, g.openings, g.layers, g.constraints} {
		if err := f(); err != nil {
			return err
		}
	}
	return g.proofs(info)
}

// busy is the time that the device spent in kernels.
func (g *gpuBench) busy() (t time.Duration, err error) {
	c, err := g.device.Counters()
	for _, s := range c.Stages {
		t += s.Busy
	}
	return t, err
}

// direct is how many programs kernels of their own ran.
func (g *gpuBench) direct() (n int, err error) {
	c, err := g.device.Counters()
	for _, s := range c.Stages {
		n += s.Code.Direct
	}
	return n, err
}

// cost is what a measurement has to do at least.
type cost struct {
	bytes, blocks, levels float64 // read and written; compressed; values times levels of transforms
}

func (c cost) plus(o cost) cost {
	return cost{c.bytes + o.bytes, c.blocks + o.blocks, c.levels + o.levels}
}

// extensionCost is the cost of the coset extension of columns.
func extensionCost(columns, log, logBlowup int) cost {
	cells := float64(columns) * float64(int64(1)<<log)
	cosets := float64(int(1) << logBlowup)
	return cost{8 * cells * (1 + cosets), 0, cells * float64(log) * (1 + cosets)}
}

// leavesCost is the cost of the hashes of rows.
func leavesCost(columns, log int) cost {
	rows, bytes := float64(int64(1)<<log), columns*8
	return cost{rows * float64(bytes+32), rows * float64((bytes+63)/64+(bytes+1023)/1024-1), 0} // with the parents of chunks
}

// floor is the time that a cost takes: its parts one after the other where there are several, each part's arithmetic beside its bytes.
func (g *gpuBench) floor(parts ...cost) (t time.Duration) {
	processors := float64(max(1, g.device.Info().Processors))
	for _, c := range parts {
		t += time.Duration(1e9 * max(c.bytes/g.copied, c.blocks/(compressionRate*processors)+c.levels/(levelRate*processors)))
	}
	return max(1, t)
}

// kernel times f by the device's clock, after a first run in which kernels are compiled, and adds a row. reduced says that the shape is smaller than was asked for.
func (g *gpuBench) kernel(name, shape string, c cost, reduced bool, f func() error) error {
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
	g.add(name, shape, times[1:], c.bytes/1e9, "GB", g.floor(c), reduced)
	return nil
}

// add adds a row with a floor, and with a target where there is one.
func (g *gpuBench) add(name, shape string, times []time.Duration, work float64, unit string, floor time.Duration, reduced bool) *benchRow {
	r := g.row(name, shape, work, unit, times)
	r.FloorNs, r.Ratio = floor, float64(r.MedianNs)/float64(max(1, floor))
	for _, t := range targets {
		if strings.Contains(g.device.Info().Name, t.device) && t.name == name && strings.HasPrefix(shape, t.shape) {
			g.aim(r, t.time)
		}
	}
	if reduced {
		r.Status = statusReduced
	}
	return r
}

// aim compares a row with a target.
func (g *gpuBench) aim(r *benchRow, target time.Duration) {
	r.TargetNs, r.Status = target, statusReached
	if r.MedianNs > target {
		r.Status = statusMissed
	}
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
	g.add("copy", bytesText(prover.Bytes(size))+" read and written", times, 2*float64(size)/1e9, "GB", times[0], size < copyBytes)
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
	g.add("upload", bytesText(uploadBytes)+" from page-locked memory", times, float64(uploadBytes)/1e9, "GB", time.Duration(uploadBytes/rate*1e9), false)
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
		asked := s.log
		s.log = g.height(s.log, s.columns+s.columns<<s.logBlowup)
		shape := fmt.Sprintf("2^%d x %d, blowup %d", s.log, s.columns, 1<<s.logBlowup)
		in, err := g.matrix(s.columns, s.log)
		if err != nil {
			return err
		}
		out, err := kernels.Alloc[field.Element](g.device, s.columns<<(s.log+s.logBlowup))
		if err != nil {
			return err
		}
		err = g.kernel("extension", shape, extensionCost(s.columns, s.log, s.logBlowup), s.log < asked, func() error { return g.device.Extend(out, in, s.columns, s.log, s.logBlowup) })
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
		rows := float64(int(1) << log)
		err = g.kernel("tree leaves", shape, leavesCost(columns, log), log < s[0], func() error {
			return g.device.Leaves(leaves, list, 1<<log, 1, &formats.Digest{1})
		})
		if err == nil && columns == 8 {
			err = g.kernel("tree levels", fmt.Sprintf("2^%d leaves", log), cost{bytes: rows * 96, blocks: rows}, log < s[0], func() error { return g.device.Tree(nodes, log, nil) })
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
		if err := g.kernel(k.name, k.shape, cost{bytes: k.bytes}, log+logBlowup < 22, k.run); err != nil {
			return err
		}
	}
	return nil
}

// layers measures FRI from a word to its final polynomial: trees of leaves of eight, folds by eight by challenges that the device draws, and the roots. Its floor is the words read and
// written once and the leaves and nodes hashed.
func (g *gpuBench) layers() error {
	const step, logFinal = 3, 8
	log := g.height(22, 16)
	var words []kernels.Array[field.Ext]
	var nodes []kernels.Array[formats.Digest]
	defer func() {
		for i := range words {
			words[i].Free()
		}
		for i := range nodes {
			nodes[i].Free()
		}
	}()
	var c cost
	for at := log; ; at -= step {
		word, err := kernels.Alloc[field.Ext](g.device, 1<<at)
		if err != nil {
			return err
		}
		words = append(words, word)
		if at-step < logFinal {
			break
		}
		leaves, err := kernels.Alloc[formats.Digest](g.device, 2<<(at-step))
		if err != nil {
			return err
		}
		nodes = append(nodes, leaves)
		rows := float64(int(1) << (at - step))
		c = c.plus(leavesCost(3<<step, at-step)).plus(cost{bytes: rows * (64 + 24*9), blocks: rows})
	}
	if err := words[0].Clear(); err != nil {
		return err
	}
	roots := make([]formats.Digest, 1+len(nodes))
	transcript, err := kernels.From(g.device, roots)
	if err != nil {
		return err
	}
	defer transcript.Free()
	beta, err := kernels.Alloc[field.Ext](g.device, 1)
	if err != nil {
		return err
	}
	defer beta.Free()
	times, err := g.wall(func() error {
		for i := range nodes {
			logRows := log - step*(i+1)
			leaves, err := nodes[i].Slice(1<<logRows, 2<<logRows)
			if err != nil {
				return err
			}
			top, err := nodes[i].Slice(1, 2)
			if err != nil {
				return err
			}
			seen, err := transcript.Slice(1+i, 2+i)
			if err != nil {
				return err
			}
			for _, f := range []func() error{
				func() error { return g.device.WordLeaves(leaves, words[i], step, &formats.Digest{1}) },
				func() error { return g.device.Tree(nodes[i], logRows, nil) },
				func() error { return g.device.Draw(beta, transcript, seen, top, 1, 2) },
				func() error {
					return g.device.Fold(words[i+1], words[i], logRows+step, step, beta, kernels.Array[field.Ext]{})
				},
			} {
				if err := f(); err != nil {
					return err
				}
			}
		}
		if _, err := g.device.Final(words[len(words)-1], log-step*len(nodes)); err != nil {
			return err
		}
		return transcript.Download(roots)
	})
	if err != nil {
		return err
	}
	g.add("FRI layers", fmt.Sprintf("2^%d by 8", log), times, c.bytes/1e9, "GB", g.floor(c), log < 22)
	return nil
}

// operationTarget is what 10^9 constraint operations should take on an H200.
const operationTarget = 1200 * time.Microsecond

// constraints measures the quotient of the largest circuit of blake3, by kernels of its own and by the interpreter. Operations are those of the base field that its constraints and lookups take at each
// point (ptx.Operations). The floor is reading each column and writing the quotient once.
func (g *gpuBench) constraints() error {
	const asked = 18
	raw, err := blake3.System().Compile(hash.Blake3{}.Name(), verifier.RawProfile(g.profile), g.profile.MinLogHeight)
	if err != nil {
		return err
	}
	c, err := air.CheckCircuit(&raw.Circuits[0], raw.Channels, g.profile.LogBlowup, g.profile.MinLogHeight)
	if err != nil {
		return err
	}
	main, aux := int(c.Circuit.Columns), c.AuxColumns()
	log := g.height(asked, (main+aux+c.QuotientColumns())<<g.profile.LogBlowup)
	var matrices []kernels.Array[field.Element]
	defer func() {
		for _, m := range matrices {
			m.Free()
		}
	}()
	for _, columns := range []int{main, aux} {
		m, err := g.matrix(columns, log+g.profile.LogBlowup)
		if err != nil {
			return err
		}
		matrices = append(matrices, m)
	}
	out, err := kernels.Alloc[field.Element](g.device, c.QuotientColumns()<<log)
	if err != nil {
		return err
	}
	matrices = append(matrices, out)
	z := field.Ext{3, 5, 7}
	ch := logup.NewChallenges(z, z, formats.MaxLookupArgs)
	points := float64(int(1) << (log + bits.Len(uint(c.Slices()-1))))
	operations := ptx.Operations(c, true)
	shape := fmt.Sprintf("blake3 compress, 2^%d x %d, %d operations a point", log, main+aux, operations)
	work := float64(operations) * points
	defer g.device.SetCode(kernels.CodeAuto, nil)
	for _, by := range []struct {
		name   string
		policy kernels.CodePolicy
	}{{"constraints, compiled", kernels.CodeCompile}, {"constraints, interpreted", kernels.CodeInterpret}} {
		g.device.SetCode(by.policy, nil)
		times := make([]time.Duration, g.out.Runs+1)
		for i := range times {
			before, err := g.busy()
			if err == nil {
				err = g.device.Quotient(out, c, log, g.profile.LogBlowup, matrices[0], kernels.Array[field.Element]{}, matrices[1], ch, z, z)
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
		if n, err := g.direct(); err != nil {
			return err
		} else if n == 0 && by.policy == kernels.CodeCompile {
			g.out.Rows = append(g.out.Rows, benchRow{Name: by.name, Shape: shape, Status: statusSkipped, Reason: "the device has no compiler"})
			continue
		}
		r := g.add(by.name, shape, times[1:], work, "operation", g.floor(cost{bytes: 8 * points * float64(main+aux+3)}), log < asked)
		if by.policy == kernels.CodeCompile && log == asked && strings.Contains(g.device.Info().Name, "H200") {
			g.aim(r, time.Duration(float64(operationTarget)*work/1e9))
		}
	}
	return nil
}

// proofCost is what a proof has to extend and hash at least.
func proofCost(shapes []*verifier.Shape, logBlowup int) (parts []cost) {
	for _, s := range shapes {
		for _, t := range s.Trees {
			for _, i := range t.Tables {
				table := &s.Tables[i]
				columns := table.Columns(t.Kind)
				parts = append(parts, extensionCost(columns, table.LogHeight, logBlowup), leavesCost(columns, table.LogHeight+logBlowup))
			}
		}
	}
	return parts
}

// proofs measures whole proofs from the bytes of a file to the verified proof, each with what its stages took and the device did in them. Their floor is that of extending and hashing
// what they commit to.
func (g *gpuBench) proofs(info kernels.Info) (err error) {
	d, err := g.t.cards.open(info.Index)
	if err != nil {
		return err
	}
	backend := cuda.New(d)
	defer func() {
		if closed := backend.Close(); err == nil {
			err = closed
		}
	}()
	backend.Budget = cmp.Or(g.vram, cuda.DefaultBudget(info.MemoryBytes))
	key, err := prover.Keygen(g.t.ctx, blake3.System(), hash.Blake3{}, g.profile, cpu.Backend{})
	if err != nil {
		return err
	}
	for _, n := range g.sizes {
		if err := g.proof(backend, key, n, &info); err != nil {
			return err
		}
	}
	return nil
}

func (g *gpuBench) proof(backend *cuda.Backend, key *prover.ProvingKey, n int, info *kernels.Info) error {
	const name = "prove blake3 on the device"
	file := benchFile(n)
	witness := func(shards int) (*prover.Witness, error) {
		return blake3.WitnessOver([][]byte{file}, shards, g.profile.MinLogHeight)
	}
	shape := fmt.Sprintf("%s, %s", bytesText(prover.Bytes(n)), g.profile.Name)
	w, err := witness(1)
	if err != nil {
		return err
	}
	w, plan, err := fitting(key.Key, w, []machine{{flag: "--vram", device: info, gpu: true, budget: backend.Budget, automatic: true}}, witness)
	if err != nil {
		return err
	}
	if !plan.Fits {
		g.out.Rows = append(g.out.Rows, benchRow{Name: name, Shape: shape, Status: statusSkipped, Reason: fmt.Sprintf("it takes %s of %s", bytesText(plan.Peak), bytesText(plan.Budget))})
		return nil
	}
	shapes, err := prover.Shapes(key.Key, w)
	if err != nil {
		return err
	}
	shape += ": " + shapeText(plan.Shards)
	if plan.Regenerate {
		shape += ", shards computed twice"
	}
	type run struct {
		time, witness time.Duration
		result        *prover.Result
	}
	runs := make([]run, g.out.Runs+1)
	for i := range runs {
		start := time.Now()
		w, err := witness(len(w.Shards))
		if err != nil {
			return err
		}
		written := time.Since(start)
		r, err := prover.Prove(g.t.ctx, key, w, prover.Options{Backend: backend, Regenerate: plan.Regenerate})
		if err != nil {
			return err
		}
		runs[i] = run{time.Since(start), written, r}
	}
	runs = runs[1:] // kernels were compiled in the first
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.time, b.time) })
	var times []time.Duration
	for _, r := range runs {
		times = append(times, r.time)
	}
	row := g.add(name, shape, times, float64(n), "byte", g.floor(proofCost(shapes, g.profile.LogBlowup)...), false)
	median := runs[(len(runs)-1)/2]
	rest := median.time - median.witness
	row.Timeline = append([]stageObject{{Stage: "witness", Ns: median.witness}}, stageObjects(median.result)...)
	for _, s := range median.result.Stages {
		rest -= s.Time
	}
	for _, s := range median.result.Work {
		row.BusyNs += s.Busy
	}
	row.Timeline = append(row.Timeline, stageObject{Stage: "memory", Ns: rest})
	return nil
}
