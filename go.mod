module github.com/ixprove/ixprove

go 1.26

require (
	github.com/fxamacker/cbor/v2 v2.9.6
	github.com/tetratelabs/wazero v1.12.0
	github.com/zeebo/blake3 v0.2.4
)

require (
	github.com/klauspost/cpuid/v2 v2.0.12 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	golang.org/x/sys v0.44.0 // indirect
)
