//go:build cuda

package driver

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

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
func (d *driver) Compile(ctx context.Context, sources []kernels.Source, compile bool) (out kernels.Compilation, err error) {
	d.compiling.Lock()
	defer d.compiling.Unlock()
	var missing []*made
	d.mu.Lock()
	for i := range sources {
		if d.functions[sources[i].Kernel] == nil {
			missing = append(missing, &made{source: &sources[i]})
		}
	}
	d.mu.Unlock()
	if len(missing) == 0 {
		out.Ready = true
		return out, nil
	}
	start := time.Now()
	defer func() { out.Elapsed = time.Since(start) }()
	cache, note := codecache.Default()
	var absent atomic.Bool
	if cache == nil {
		absent.Store(true)
	} else if err = each(ctx, missing, func(m *made) error {
		m.image, m.note = cache.Load(d.key(m.source))
		if m.cached = m.note == nil; !m.cached {
			absent.Store(true)
		}
		return nil
	}); err != nil {
		return out, err
	}
	if absent.Load() && !compile {
		return out, nil
	}
	if err = each(ctx, missing, func(m *made) error { return d.do(func() error { return d.install(m, cache) }) }); err != nil {
		return out, err
	}
	for _, m := range missing {
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

// each calls f for kernels side by side and returns the error of the first of those that fail, or the context's if that ends.
func each(ctx context.Context, list []*made, f func(*made) error) error {
	var wait sync.WaitGroup
	var next atomic.Int64
	errs := make([]error, len(list))
	for range min(len(list), runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(list) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				errs[i] = f(list[i])
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (d *driver) key(s *kernels.Source) codecache.Key {
	return codecache.Key{Kernel: s.Kernel, Architecture: 10*d.info.Major + d.info.Minor, Driver: d.info.DriverVersion, Level: compileLevel}
}

// install has the context load a kernel, which is compiled unless there is an image. An image from disk that the context refuses is made again.
func (d *driver) install(m *made, cache *codecache.Cache) error {
	f, err := unsafe.Pointer(nil), error(nil)
	if m.cached {
		if f, err = m.load(); err != nil {
			m.cached, m.note = false, err
		}
	}
	if !m.cached {
		if m.image, err = compile(m.source); err != nil {
			return err
		}
		if cache != nil {
			if stored := cache.Store(d.key(m.source), m.image); stored != nil {
				m.note = stored
			}
		}
		if f, err = m.load(); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	name := m.source.Kernel
	d.kernels[name], d.functions[name] = entry{argBytes: m.source.ArgBytes}, &loaded{f, defaultSharedBytes}
	return nil
}

func (m *made) load() (unsafe.Pointer, error) {
	place := "code of " + m.source.Kernel
	module, err := module(place, m.image)
	if err != nil {
		return nil, err
	}
	return function(place, module, m.source.Kernel)
}
