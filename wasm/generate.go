package wasm

//go:generate go run ./internal/build
