//go:build cuda

package driver

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/kernels/codecache"
)

// made is a kernel on its way.
type made struct {
	source *kernels.Source
	image  []byte
	cached bool  // the image is from disk
	note   error // why it was not taken from disk, or is not there now
}

// Compile implements kernels.Driver. Kernels are compiled side by side, one on each thread that Go may use; images that were compiled before are taken from disk (package codecache). A kernel that
// the driver's compiler refuses is an error; what is wrong with the disk is a note.
func (d *driver) Compile(sources []kernels.Source, compile bool) (out kernels.Compilation, err error) {
	d.compiling.Lock()
	defer d.compiling.Unlock()
	start := time.Now()
	defer func() { out.Elapsed = time.Since(start) }()
	var missing []*made
	err = d.do(func() error {
		for i := range sources {
			if d.functions[sources[i].Kernel] == nil {
				missing = append(missing, &made{source: &sources[i]})
			}
		}
		return nil
	})
	if err != nil || len(missing) == 0 {
		out.Ready = err == nil
		return out, err
	}
	cache, note := codecache.Default()
	absent := false
	for _, m := range missing {
		if cache != nil {
			m.image, m.note = cache.Load(d.key(m.source))
			m.cached = m.note == nil
		}
		absent = absent || m.image == nil
	}
	if absent && !compile {
		return out, nil
	}
	if err = d.compileMissing(missing, cache); err != nil {
		return out, err
	}
	for _, m := range missing {
		if err = d.install(m, cache); err != nil {
			return out, err
		}
		if m.cached {
			out.Cached++
		} else {
			out.Compiled++
		}
		if m.note != nil && !errors.Is(m.note, os.ErrNotExist) {
			note = m.note
		}
	}
	if note != nil {
		out.Note = note.Error()
	}
	out.Ready = true
	return out, nil
}

func (d *driver) key(s *kernels.Source) codecache.Key {
	return codecache.Key{Kernel: s.Kernel, Architecture: 10*d.info.Major + d.info.Minor, Driver: d.info.DriverVersion, Level: compileLevel}
}

// compileMissing compiles the kernels without image.
func (d *driver) compileMissing(missing []*made, cache *codecache.Cache) error {
	var wait sync.WaitGroup
	var next atomic.Int64
	errs := make([]error, len(missing))
	for range min(len(missing), runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			runtime.LockOSThread() // the thread ends with the goroutine, and its current context with it
			current := cu.SetCurrentContext(d.context)
			for i := int(next.Add(1)) - 1; i < len(missing); i = int(next.Add(1)) - 1 {
				switch m := missing[i]; {
				case m.image != nil:
				case current != nil:
					errs[i] = failed("compilation of "+m.source.Kernel, current)
				default:
					errs[i] = d.make(m, cache)
				}
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// make compiles a kernel and keeps it on disk. The current thread has a context.
func (d *driver) make(m *made, cache *codecache.Cache) (err error) {
	if m.image, err = compile(m.source); err != nil {
		return err
	}
	m.cached = false
	if cache != nil {
		if stored := cache.Store(d.key(m.source), m.image); stored != nil {
			m.note = stored
		}
	}
	return nil
}

// install has the context load a kernel. One from disk that it refuses is compiled again.
func (d *driver) install(m *made, cache *codecache.Cache) error {
	return d.do(func() error {
		f, err := m.load()
		if err != nil && m.cached {
			m.note = err
			if err = d.make(m, cache); err == nil {
				f, err = m.load()
			}
		}
		if err != nil {
			return err
		}
		name := m.source.Kernel
		d.kernels[name], d.functions[name] = entry{argBytes: m.source.ArgBytes}, &loaded{f, defaultSharedBytes}
		return nil
	})
}

func (m *made) load() (unsafe.Pointer, error) {
	place := "code of " + m.source.Kernel
	module, err := module(place, m.image)
	if err != nil {
		return nil, err
	}
	return function(place, module, m.source.Kernel)
}
