// Package cuda is the backend of a CUDA device: a proof's matrices stay there from the upload of the traces to the openings, and only roots, sums, values at points, the final
// polynomial, nonces and openings come back.
//
// It runs on any kernels.Driver: a card (package kernels/driver), or the emulated device on which tests compare its proofs with those of the CPU backend.
package cuda

import (
	"context"

	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/verifier/hash"
)

// Backend proves on one device. Proofs take turns: Open waits for the session before. The block of device memory stays for the next proof until Close, unless a proof failed on the
// device. After a session that could not give its memory back, Open says why.
type Backend struct {
	// Budget is the most device memory that a proof may take; 0 stands for 90% of the device's.
	Budget prover.Bytes
	// Separate gives each buffer its own allocation, so that a sanitizer sees where it ends and which of its values nobody wrote. It is slow.
	Separate bool
	// Code says how circuits are run. Its zero value compiles for large tables.
	Code kernels.CodePolicy

	driver kernels.Driver
	code   *kernels.Library // what was written for circuits
	turn   chan struct{}    // holds a value while a session is open
	block  kernels.Address  // of device memory, for the proofs one after the other: giving it back takes longer than some proofs do
	size   prover.Bytes     // of the block
	staged []byte           // page-locked staging memory for traces and seeds, made when it is first needed
	broken error            // why a session could not give everything back
}

// New makes a backend of a driver, which belongs to it.
func New(d kernels.Driver) *Backend {
	return &Backend{driver: d, code: kernels.NewLibrary(), turn: make(chan struct{}, 1)}
}

// Name returns "cuda" and the device's name.
func (b *Backend) Name() string { return "cuda: " + b.driver.Info().Name }

// Info says what the device is.
func (b *Backend) Info() kernels.Info { return b.driver.Info() }

// budgetShare is the part of a device's memory that proofs may take by default: the rest is for the CUDA context, the code, and what draws the screen.
const budgetShare = 90

// DefaultBudget is the budget on a device with so much memory.
func DefaultBudget(memoryBytes int64) prover.Bytes {
	return prover.Bytes(memoryBytes / 100 * budgetShare)
}

// Open implements prover.Backend. A job that does not fit the budget is refused with *prover.MemoryError before anything is allocated.
func (b *Backend) Open(ctx context.Context, j prover.Job) (prover.Session, error) {
	if (j.Suite != hash.Blake3{}) {
		return nil, &kernels.Error{Kind: kernels.Unsupported, Place: "session", What: "the device hashes with blake3 only, not with " + j.Suite.Name(), Next: "prove on the CPU"}
	}
	var size, small prover.Bytes
	if j.Shapes != nil {
		m := prover.DeviceMemory(j, b.driver.Info().Processors)
		budget := b.Budget
		if budget == 0 {
			budget = DefaultBudget(b.driver.Info().MemoryBytes)
		}
		if err := m.Admit(budget); err != nil {
			return nil, err
		}
		size, small = m.Peak, m.Small
	}
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	err := b.broken
	if err == nil {
		err = b.fit(size)
	}
	if err != nil {
		<-b.turn
		return nil, &Error{Stage: prover.StageTrace, What: "allocation of the proof's memory", Err: err}
	}
	a := newArena(b.driver, b.block, size, small)
	d := kernels.New(a)
	d.SetCode(b.Code, b.code)
	for _, s := range j.Shapes {
		for i := range s.Tables {
			d.Prepare(s.Tables[i].Circuit, s.Tables[i].LogHeight)
		}
	}
	stop := context.AfterFunc(ctx, d.Interrupt)
	return &session{ctx: ctx, stop: stop, backend: b, suite: j.Suite, logBlowup: j.LogBlowup, arena: a, device: d, stage: prover.StageTrace, shards: len(j.Shapes)}, nil
}

// fit has a block of that size ready, none for 0. The one that is there serves if it is large enough and within the budget.
func (b *Backend) fit(size prover.Bytes) (err error) {
	if b.Separate || size == 0 {
		return b.release()
	}
	if b.size >= size && (b.Budget == 0 || b.size <= b.Budget) {
		return nil
	}
	if err := b.release(); err != nil {
		return err
	}
	if b.block, err = b.driver.Alloc(int64(size)); err == nil {
		b.size = size
	}
	return err
}

// release gives the block back.
func (b *Backend) release() error {
	if b.size == 0 {
		return nil
	}
	at := b.block
	b.block, b.size = 0, 0
	return b.driver.Free(at)
}

// Close gives the device back. It waits for the session that is open.
func (b *Backend) Close() error {
	b.turn <- struct{}{}
	defer func() { <-b.turn }()
	first := b.release()
	if b.staged != nil {
		if err := b.driver.FreeHost(b.staged); err != nil && first == nil {
			first = err
		}
		b.staged = nil
	}
	if err := b.driver.Close(); err != nil && first == nil {
		first = err
	}
	return first
}

// staging returns the staging memory.
func (b *Backend) staging() (_ []byte, err error) {
	if b.staged == nil {
		b.staged, err = b.driver.AllocHost(stagingSlots * int64(slotBytes))
	}
	return b.staged, err
}

// Error is a failure of a proof on a device.
type Error struct {
	Stage prover.Stage
	What  string // the operation, with its table and shape
	Err   error  // *kernels.Error, or the context's or trace writer's
}

// Error implements error.
func (e *Error) Error() string {
	return "ixprove: stage " + string(e.Stage) + ", " + e.What + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
