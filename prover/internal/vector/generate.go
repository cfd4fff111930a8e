package vector

//go:generate go run -C asm . -out ../kernels_amd64.s -stubs ../kernels_amd64.go -pkg vector
