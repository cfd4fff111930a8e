package kernels

import (
	"cmp"
	"math/bits"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"github.com/ixprove/ixprove/kernels/ptx"
	"github.com/ixprove/ixprove/verifier/air"
	"github.com/ixprove/ixprove/verifier/field"
	"github.com/ixprove/ixprove/verifier/logup"
)

// CodePolicy says how circuits are run: by an interpreter, or by kernels that are written for them (package ptx) and compiled by the device's driver. Both give the same words.
type CodePolicy int

// The policies.
const (
	CodeAuto      CodePolicy = iota // compile for compileFrom points or more; for fewer, take what was compiled before by the same driver
	CodeInterpret                   // never compile
	CodeCompile                     // compile for all tables, as far as kernels can be written for them and the driver has a compiler
)

// compileFrom is the number of points, rows of a table or of a quotient's domain, from which a circuit is compiled: where a hundred proofs pay for it. On an H200 with 16 cores compilation takes about
// 100 µs of an operation, and interpretation 1 ps more of an operation and point than compiled code (docs/performance.md); operations cancel. Images that are on disk take a fiftieth of that, so that from
// about as many points on they pay in the first proof of a process.
const compileFrom = 1 << 20

// What is compiled at most; only tests change it.
var (
	maxCompiledOperations = 1 << 17 // of a point: twenty seconds
	maxCompiledLog        = 28      // of columns' heights: their pitches are 32-bit numbers of bytes
)

// CodeCounters counts how circuits were run.
type CodeCounters struct {
	Interpreted, Direct            int           // programs run by the interpreter and by kernels of their own
	CompiledKernels, CachedKernels int           // compiled, and taken from disk
	Elapsed                        time.Duration // of both
	Note                           string        // the last of Compilation's
}

// Add adds up counters; the later note stays.
func (c CodeCounters) Add(o CodeCounters) CodeCounters {
	return CodeCounters{c.Interpreted + o.Interpreted, c.Direct + o.Direct, c.CompiledKernels + o.CompiledKernels, c.CachedKernels + o.CachedKernels, c.Elapsed + o.Elapsed, cmp.Or(o.Note, c.Note)}
}

// SetCode sets how circuits are run, and takes kernels that were written before from a library, in which it leaves those that it writes.
func (d *Device) SetCode(p CodePolicy, l *Library) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.code = p; l != nil {
		d.written = l
	}
}

// Library holds the kernels that were written for circuits.
type Library struct {
	mu       sync.Mutex
	programs map[libraryKey]*program
}

type libraryKey struct {
	circuit  *air.Circuit
	quotient bool
}

// program is a circuit's kernels, nil where none can be written.
type program struct {
	once sync.Once
	*ptx.Program
	sources []Source
}

// NewLibrary makes an empty library.
func NewLibrary() *Library { return &Library{programs: map[libraryKey]*program{}} }

// wants says whether a circuit is to be compiled for so many points.
func (p CodePolicy) wants(points uint64) bool {
	return p == CodeCompile || p == CodeAuto && points >= compileFrom
}

// of returns a circuit's kernels, which it writes, once, if that is wanted. Otherwise there may be none: nil.
func (l *Library) of(c *air.Circuit, quotient, wanted bool) *program {
	l.mu.Lock()
	p := l.programs[libraryKey{c, quotient}]
	if p == nil && wanted {
		p = &program{}
		l.programs[libraryKey{c, quotient}] = p
	}
	l.mu.Unlock()
	if p == nil {
		return nil
	}
	p.once.Do(func() {
		if ptx.Operations(c, quotient) > maxCompiledOperations {
			return
		}
		if quotient {
			p.Program = ptx.Quotient(c)
		} else {
			p.Program = ptx.Fractions(c)
		}
		if p.Program == nil {
			return
		}
		for i := range p.Chunks {
			k := &p.Chunks[i]
			p.sources = append(p.sources, Source{k.Kernel, k.Text, k.ArgBytes})
		}
	})
	return p
}

// preparation is the making of a circuit's kernels beside other work.
type preparation struct {
	done chan struct{}
	made Compilation
	err  error
}

// Prepare begins to make, beside what follows, the kernels that a table of 2^logHeight rows will want.
func (d *Device) Prepare(c *air.Circuit, logHeight int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, quotient := range []bool{false, true} {
		log, key := logHeight, libraryKey{c, quotient}
		if quotient {
			log += bits.Len(uint(c.Slices() - 1))
		}
		if !d.code.wants(1<<log) || !quotient && !c.HasLookups() || d.preparing[key] != nil {
			continue
		}
		p, library := &preparation{done: make(chan struct{})}, d.written
		d.preparing[key] = p
		go func() {
			defer close(p.done)
			if w := library.of(c, quotient, true); w.Program != nil {
				p.made, p.err = d.driver.Compile(d.compiling, w.sources, true)
			}
		}()
	}
}

// prepared waits for a preparation, of which it tells once.
func (d *Device) prepared(key libraryKey) (Compilation, error) {
	d.mu.Lock()
	p := d.preparing[key]
	delete(d.preparing, key)
	d.mu.Unlock()
	if p == nil {
		return Compilation{}, nil
	}
	<-p.done
	return p.made, p.err
}

// compile returns a circuit's kernels, ready to be launched, or nil where it is to be interpreted.
func (d *Device) compile(c *air.Circuit, quotient bool, logColumn int, points uint64) (*program, error) {
	before, err := d.prepared(libraryKey{c, quotient})
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	policy, library := d.code, d.written
	d.mu.Unlock()
	var p *program
	var made Compilation
	if policy != CodeInterpret && logColumn <= maxCompiledLog {
		wanted := policy.wants(points)
		if p = library.of(c, quotient, wanted); p != nil && p.Program != nil {
			if made, err = d.driver.Compile(d.compiling, p.sources, wanted); err != nil {
				return nil, err
			}
		}
	}
	counted := CodeCounters{
		CompiledKernels: before.Compiled + made.Compiled, CachedKernels: before.Cached + made.Cached, Elapsed: before.Elapsed + made.Elapsed, Note: cmp.Or(made.Note, before.Note),
	}
	if made.Ready {
		counted.Direct = 1
	} else {
		counted.Interpreted, p = 1, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	stage := &d.total.Stages[d.stage]
	stage.Code = stage.Code.Add(counted)
	return p, nil
}

// run runs a circuit's kernels. header is complete but for what the device looks up.
func (d *Device) run(p *program, e *encoder, l *loaded, header *ptx.Parameters, delta field.Ext, ch *logup.Challenges) error {
	w, _ := field.RootOfUnity(int(header.LogHeight))
	back, _ := field.Inverse(w)
	header.Back, header.Roots = uint64(back), uint64(l.tables.roots)
	grid, block := linear(uint64(header.Count), ptx.Threads)
	for i := range p.Chunks {
		k := &p.Chunks[i]
		args := k.Arguments(header, func(column int) ptx.Table {
			t := e.periods[uint64(column)]
			return ptx.Table{At: uint64(l.words.at) + uint64(8*e.places[uint64(column)]), Shift: uint32(t.shift), Mask: uint32(min(t.mask, 1<<32-1))}
		}, delta, ch)
		if err := d.start(k.Kernel, grid, block, 0, unsafe.Pointer(unsafe.SliceData(args)), len(args)); err != nil {
			return err
		}
		runtime.KeepAlive(args)
	}
	return nil
}
