package kernels

// SetPassLog makes transforms take passes of at most 2^log until the returned function is called: more passes for small transforms.
func SetPassLog(log int) (restore func()) {
	was := passLog
	passLog = log
	return func() { passLog = was }
}

// SetSharedRegisters makes programs keep up to so many bytes of registers in shared memory until the returned function is called.
func SetSharedRegisters(bytes int) (restore func()) {
	was := maxSharedRegisters
	maxSharedRegisters = bytes
	return func() { maxSharedRegisters = was }
}
