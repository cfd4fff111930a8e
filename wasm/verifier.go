// Package wasm verifies proofs with the verifier's WebAssembly module, inside the wazero runtime.
//
// It gives the verdicts of package verifier, some times more slowly, for callers that pin a verifier by its hash or run it in a sandbox: the module imports nothing, so it can
// compute and nothing else. The module is embedded and its SHA-256 is Digest. Its interface to hosts in other languages is docs/wasm.md.
package wasm

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // for the module
	"encoding/hex"
	"errors"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/wasm/message"
)

//go:embed verifier.wasm
var embedded []byte

// Module returns a copy of the embedded module.
func Module() []byte { return bytes.Clone(embedded) }

// Limits of what the module takes, in bytes.
const (
	MaxProofBytes  = message.MaxProofBytes
	MaxKeyBytes    = message.MaxKeyBytes
	MaxPolicyBytes = message.MaxPolicyBytes
)

const abi = 1

// ErrClosed is returned by Verify after Close.
var ErrClosed = errors.New("ixprove: the wasm verifier is closed")

// Policy is what a caller demands of a proof, as for verifier.Verify, and of its key. MaxProofBytes beyond the module's has no effect.
type Policy struct {
	verifier.Policy
	Key *formats.Digest // the digest that the key must have; nil accepts the key as it is
}

// Verifier runs the module in a pool of instances. It is safe for concurrent use.
type Verifier struct {
	config  Config
	runtime wazero.Runtime
	cache   wazero.CompilationCache // nil without one
	module  wazero.CompiledModule
	slots   chan *instance // one for each instance that may run; nil stands for one not made yet
	closing chan struct{}  // closed by Close
	once    sync.Once
	closed  error // what Close returned
}

// instance is one instance of the module: one call at a time.
type instance struct {
	module                                     api.Module
	alloc, free, verify, resultPtr, resultSize api.Function
}

// New checks the embedded module against Digest and compiles it. Compiling takes about a second without WithCacheDir. The caller owns the verifier and closes it.
func New(ctx context.Context, c Config) (*Verifier, error) {
	if sum := sha256.Sum256(embedded); hex.EncodeToString(sum[:]) != Digest {
		return nil, &formats.Error{Class: formats.Internal, Place: "embedded module", What: "the module is not the one that was released", Expected: Digest, Got: hex.EncodeToString(sum[:]), Next: "run go generate ./wasm, or take the release again"}
	}
	rc := wazero.NewRuntimeConfig()
	if c.interpreter {
		rc = wazero.NewRuntimeConfigInterpreter()
	}
	rc = rc.WithMemoryLimitPages(uint32(c.memoryBytes / pageBytes)).WithCloseOnContextDone(c.interruptible).WithDebugInfoEnabled(false)
	v := &Verifier{config: c, slots: make(chan *instance, c.instances), closing: make(chan struct{})}
	if c.cacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(c.cacheDir)
		if err != nil {
			return nil, &formats.Error{Class: formats.Invalid, Place: "cache folder", What: "the compilation cache cannot be used", Got: err.Error(), Next: "choose a folder that can be written to"}
		}
		v.cache = cache
		rc = rc.WithCompilationCache(cache)
	}
	v.runtime = wazero.NewRuntimeWithConfig(ctx, rc)
	var err error
	if v.module, err = v.runtime.CompileModule(ctx, embedded); err != nil && v.cache != nil { // a damaged file there, or a full disk: the cache only saves time
		if err := v.release(ctx); err != nil {
			return nil, err
		}
		return New(ctx, c.WithCacheDir(""))
	}
	if err != nil {
		return nil, errors.Join(&formats.Error{Class: formats.Internal, Place: "embedded module", What: "the module does not compile", Got: err.Error()}, v.release(ctx))
	}
	for range c.instances {
		v.slots <- nil
	}
	return v, nil
}

const pageBytes = 64 << 10

// Close waits for running verifications, unless ctx ends first, and frees everything. Later calls wait for the first and return what it returned.
func (v *Verifier) Close(ctx context.Context) error {
	v.once.Do(func() {
		close(v.closing)
		for range v.config.instances {
			select {
			case <-v.slots:
			case <-ctx.Done():
				v.closed = ctx.Err() // what runs keeps the runtime; it cannot be freed
				return
			}
		}
		v.closed = v.release(ctx)
	})
	return v.closed
}

func (v *Verifier) release(ctx context.Context) error {
	err := v.runtime.Close(ctx)
	if v.cache != nil {
		err = errors.Join(err, v.cache.Close(ctx))
	}
	return err
}

// Verify checks a batch proof against an encoded key (verifier.ParseKey, then verifier.Verify). An error is a *formats.Error with class, check and place of the native verifier;
// ErrClosed; or the error of ctx. Inputs beyond the module's limits are errors of class formats.Limit. key and proof must not change before it returns.
func (v *Verifier) Verify(ctx context.Context, key, proof []byte, p Policy) (*Report, error) {
	policy, err := p.JSON()
	if err != nil {
		return nil, err
	}
	result, err := v.VerifyJSON(ctx, key, proof, policy)
	if err != nil {
		return nil, err
	}
	return decodeResult(result)
}

// VerifyJSON is Verify with policy and result as docs/wasm.md has them. A proof that is not accepted is a result; errors are those of Verify that have another reason.
func (v *Verifier) VerifyJSON(ctx context.Context, key, proof, policy []byte) ([]byte, error) {
	if result := message.CheckLengths(proof, key, policy); result != nil {
		return result, nil
	}
	select {
	case <-v.closing:
		return nil, ErrClosed
	default:
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var in *instance
	select {
	case <-v.closing:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	case in = <-v.slots:
	}
	inputs := [3][]byte{proof, key, policy}
	if ctx.Done() == nil {
		result, kept, err := v.run(ctx, in, inputs)
		v.slots <- kept
		return result, err
	}
	for i := range inputs { // the call may outlive this function, and then the caller's promise not to change them
		inputs[i] = bytes.Clone(inputs[i])
	}
	type outcome struct {
		result []byte
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		result, kept, err := v.run(ctx, in, inputs)
		v.slots <- kept
		done <- outcome{result, err}
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// run performs one call, on a new instance if in is nil. It returns the instance if that may serve again.
func (v *Verifier) run(ctx context.Context, in *instance, inputs [3][]byte) (result []byte, kept *instance, err error) {
	if !v.config.interruptible {
		ctx = context.WithoutCancel(ctx)
	}
	if in == nil {
		if in, err = v.instantiate(ctx); err != nil {
			return nil, nil, v.trapped(ctx, err)
		}
	}
	defer func() {
		if kept == nil {
			err = errors.Join(err, in.module.Close(context.WithoutCancel(ctx)))
		}
	}()
	var args [6]uint64
	for i, data := range inputs {
		if len(data) == 0 {
			continue
		}
		at, err := in.alloc.Call(ctx, uint64(len(data)))
		if err != nil {
			return nil, nil, v.trapped(ctx, err)
		}
		if at[0] == 0 || !in.module.Memory().Write(uint32(at[0]), data) {
			return nil, nil, &formats.Error{Class: formats.Internal, Place: "module", What: "the module gave no memory for an input within its limits"}
		}
		args[2*i], args[2*i+1] = at[0], uint64(len(data))
	}
	if _, err := in.verify.Call(ctx, args[:]...); err != nil {
		return nil, nil, v.trapped(ctx, err)
	}
	for i := range inputs {
		if _, err := in.free.Call(ctx, args[2*i]); err != nil {
			return nil, nil, v.trapped(ctx, err)
		}
	}
	at, err1 := in.resultPtr.Call(ctx)
	n, err2 := in.resultSize.Call(ctx)
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, v.trapped(ctx, err)
	}
	memory := in.module.Memory()
	view, ok := memory.Read(uint32(at[0]), uint32(n[0]))
	if !ok {
		return nil, nil, &formats.Error{Class: formats.Internal, Place: "module", What: "the module's result lies outside its memory"}
	}
	result = bytes.Clone(view)
	if int(memory.Size()) > v.config.retainedBytes {
		return result, nil, nil
	}
	return result, in, nil
}

func (v *Verifier) instantiate(ctx context.Context) (*instance, error) {
	m, err := v.runtime.InstantiateModule(ctx, v.module, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
	if err != nil {
		return nil, err
	}
	in := &instance{module: m, alloc: m.ExportedFunction("alloc"), free: m.ExportedFunction("free"), verify: m.ExportedFunction("verify_with"),
		resultPtr: m.ExportedFunction("result_ptr"), resultSize: m.ExportedFunction("result_len")}
	version, err := m.ExportedFunction("abi_version").Call(ctx)
	if err == nil && version[0] != abi {
		err = &formats.Error{Class: formats.Internal, Place: "module", What: "the module has another interface", Expected: "1"}
	}
	if err != nil {
		return nil, errors.Join(err, m.Close(ctx))
	}
	return in, nil
}

// trapped explains the end of an instance: the caller's context, or memory that did not suffice, or a fault of ours.
func (v *Verifier) trapped(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil {
		return cause
	}
	e := &formats.Error{Class: formats.Internal, Place: "module", What: "the module trapped", Got: err.Error(), Next: "please report this with the proof and its key"}
	if v.config.memoryBytes < MaxMemoryBytes {
		e.Class, e.What = formats.Limit, "the module ended early, as it does when its memory does not suffice"
		e.Next = "raise the memory limit, and report this if it stays"
	}
	return e
}
