//go:build !unix

package cpu

import "unsafe"

// Where there is no mmap the heap serves; memory then returns when the collector runs.
func mapMemory(size int) ([]byte, error) {
	words := make([]uint64, (size+7)/8) // aligned for every element type
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size), nil
}

func unmapMemory([]byte) {}
