package kernels

// SetPassLog makes transforms take passes of at most 2^log until the returned function is called: more passes for small transforms.
func SetPassLog(log int) (restore func()) {
	was := passLog
	passLog = log
	return func() { passLog = was }
}

// SetSharedRegisters makes programs of more than n registers keep them in global memory until the returned function is called.
func SetSharedRegisters(n int) (restore func()) {
	was := sharedRegisters
	sharedRegisters = n
	return func() { sharedRegisters = was }
}

// SetDenominatorWords bounds the denominators that lookups hold at a time, to at least a tile of rows, until the returned function is called.
func SetDenominatorWords(n int) (restore func()) {
	was := denominatorWords
	denominatorWords = n
	return func() { denominatorWords = was }
}

// SetCompiledLimits has only circuits of so many operations and columns of up to 2^log values compiled, until the returned function is called.
func SetCompiledLimits(operations, log int) (restore func()) {
	wasOperations, wasLog := maxCompiledOperations, maxCompiledLog
	maxCompiledOperations, maxCompiledLog = operations, log
	return func() { maxCompiledOperations, maxCompiledLog = wasOperations, wasLog }
}
