//go:build wasip1

// Command guest is the verifier as a WebAssembly reactor: the exports of docs/wasm.md. It becomes the module ../verifier.wasm by ../internal/build.
//
// An instance serves one call at a time. Nothing in its import tree uses reflection, and it calls no host.
package main

import (
	"runtime"
	"unsafe"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/wasm/message"
)

// abi is the version of the exports and of the JSON that they take and give.
const abi = 1

// Limits of what a host can allocate: the inputs of one call, framed or not.
const (
	frameBytes         = 4
	maxAllocationBytes = message.MaxProofBytes + message.MaxKeyBytes + message.MaxPolicyBytes + 3*frameBytes
	maxAllocations     = 16
)

// allocations holds what a host has allocated, by address: a pointer that is not in it is never followed. There are few, so a slice does.
var (
	allocations []allocation
	allocated   int // bytes
)

type allocation struct {
	at   uint32
	data []byte
}

var result []byte

func address(b []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

//go:wasmexport abi_version
func abiVersion() int32 { return abi }

// alloc returns the address of n zero bytes, or 0 if n is 0 or more than the limits leave.
//
//go:wasmexport alloc
func alloc(n uint32) uint32 {
	if n == 0 || n > uint32(maxAllocationBytes-allocated) || len(allocations) == maxAllocations {
		return 0
	}
	b := make([]byte, n)
	allocations = append(allocations, allocation{address(b), b})
	allocated += len(b)
	return address(b)
}

// free releases what alloc returned. Any other address is ignored.
//
//go:wasmexport free
func free(at uint32) {
	for i, a := range allocations {
		if a.at == at {
			allocated -= len(a.data)
			last := len(allocations) - 1
			allocations[i] = allocations[last]
			allocations[last] = allocation{}
			allocations = allocations[:last]
			return
		}
	}
}

// input is n bytes from the start of an allocation. No bytes need no allocation.
func input(at, n uint32) ([]byte, bool) {
	if n == 0 {
		return nil, true
	}
	for _, a := range allocations {
		if a.at == at && n <= uint32(len(a.data)) {
			return a.data[:n:n], true
		}
	}
	return nil, false
}

// verify checks a proof, key and policy that lie one after another in one allocation, each after its length in four little-endian bytes.
//
//go:wasmexport verify
func verify(at, n uint32) int32 {
	return run(func() (message.Status, []byte) {
		rest, ok := input(at, n)
		var parts [3][]byte
		for i := range parts {
			if !ok || len(rest) < frameBytes {
				return misuse("the frame is no allocation, or shorter than its lengths say")
			}
			size := uint32(rest[0]) | uint32(rest[1])<<8 | uint32(rest[2])<<16 | uint32(rest[3])<<24
			if rest = rest[frameBytes:]; uint64(size) > uint64(len(rest)) {
				return misuse("the frame is no allocation, or shorter than its lengths say")
			}
			parts[i], rest = rest[:size:size], rest[size:]
		}
		if len(rest) > 0 {
			return misuse("something follows the frame's policy")
		}
		return message.Verify(parts[0], parts[1], parts[2])
	})
}

// verifyWith checks a proof, key and policy that lie in three allocations.
//
//go:wasmexport verify_with
func verifyWith(proof, proofLen, key, keyLen, policy, policyLen uint32) int32 {
	return run(func() (message.Status, []byte) {
		p, ok1 := input(proof, proofLen)
		k, ok2 := input(key, keyLen)
		q, ok3 := input(policy, policyLen)
		if !ok1 || !ok2 || !ok3 {
			return misuse("an input does not lie in an allocation")
		}
		return message.Verify(p, k, q)
	})
}

// run keeps the result, and makes one of a panic.
func run(call func() (message.Status, []byte)) (status int32) {
	result = nil
	defer func() {
		if p := recover(); p != nil {
			e := &formats.Error{Class: formats.Internal, What: "the verifier met an impossible state", Next: "please report this with the proof and its key"}
			if err, ok := p.(runtime.Error); ok {
				e.Got = err.Error()
			}
			s, r := message.Failure("", e)
			status, result = int32(s), r
		}
	}()
	s, r := call()
	result = r
	return int32(s)
}

// misuse is a host's mistake.
func misuse(what string) (message.Status, []byte) {
	return message.Failure("", &formats.Error{Class: formats.Internal, Place: "host", What: what, Next: "see docs/wasm.md for how to call the module"})
}

//go:wasmexport result_ptr
func resultPtr() uint32 { return address(result) }

//go:wasmexport result_len
func resultLen() uint32 { return uint32(len(result)) }

func main() {}
