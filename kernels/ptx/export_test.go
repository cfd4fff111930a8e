package ptx

// SetChunkOperations bounds the operations of chunks until the returned function is called.
func SetChunkOperations(n int) (restore func()) {
	was := chunkOperations
	chunkOperations = n
	return func() { chunkOperations = was }
}

// ChunkOperations is the bound.
const ChunkOperations = 400
