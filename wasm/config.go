package wasm

import "runtime"

// MiB is a mebibyte in bytes.
const MiB = 1 << 20

// MaxMemoryBytes is the memory that an instance has at most: the module says so itself. It holds the largest inputs that the module takes.
const MaxMemoryBytes = 64 * MiB

// Config says how a Verifier runs the module. It is immutable: each With method returns a changed copy. The zero value is not valid; start from NewConfig.
type Config struct {
	instances     int
	memoryBytes   int
	retainedBytes int
	cacheDir      string
	interruptible bool
	interpreter   bool
}

// NewConfig is the default: an instance for each processor, MaxMemoryBytes of memory, no cache on disk, compiled where wazero can compile.
func NewConfig() Config {
	return Config{instances: runtime.GOMAXPROCS(0), memoryBytes: MaxMemoryBytes, retainedBytes: 32 * MiB}
}

// WithInstances sets how many verifications run at once; others wait. It is at least 1. An idle instance keeps its memory, about 9 MiB after a proof of 1 MB.
func (c Config) WithInstances(n int) Config {
	c.instances = max(n, 1)
	return c
}

// WithMemoryLimit sets the most memory of an instance in bytes, in whole pages of 64 KiB and at most MaxMemoryBytes. A verification that needs more ends with an error of class
// formats.Limit. With less than 32 MiB proofs of a few MB no longer fit.
func (c Config) WithMemoryLimit(bytes int) Config {
	c.memoryBytes = min(max(bytes, 0), MaxMemoryBytes)
	return c
}

// WithRetainedMemory sets how much memory in bytes an idle instance may keep: memory of a module never shrinks, so an instance that has grown past it is given up after its
// call. The default is 32 MiB.
func (c Config) WithRetainedMemory(bytes int) Config {
	c.retainedBytes = max(bytes, 0)
	return c
}

// WithCacheDir keeps the compiled module in a folder, which makes New take some 50 ms instead of a second. It is created when missing, and passed over when what it holds cannot be used. Whoever can write there can replace the
// verifier: choose a folder of the user's own.
func (c Config) WithCacheDir(dir string) Config {
	c.cacheDir = dir
	return c
}

// WithInterruption makes the module itself stop when the context of a call ends. Its code then runs 2 to 4 times slower. Without it the call returns as soon as the context ends and the
// instance finishes in the background; work is bounded by the sizes of key and proof.
func (c Config) WithInterruption(on bool) Config {
	c.interruptible = on
	return c
}

// WithInterpreter runs the module without compiling it, some 100 times slower: for machines that forbid executable memory, and to compare.
func (c Config) WithInterpreter(on bool) Config {
	c.interpreter = on
	return c
}
