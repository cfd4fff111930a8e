module github.com/ixprove/ixprove

go 1.26

require (
	github.com/fxamacker/cbor/v2 v2.9.6
	github.com/zeebo/blake3 v0.2.4
	gorgonia.org/cu v0.9.6
)

require (
	github.com/google/uuid v1.1.1 // indirect
	github.com/klauspost/cpuid/v2 v2.0.12 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	github.com/x448/float16 v0.8.4 // indirect
)
