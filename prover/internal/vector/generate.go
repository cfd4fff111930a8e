package vector

//go:generate go run -C ../asm ./vector -out ../vector/kernels_amd64.s -stubs ../vector/kernels_amd64.go -pkg vector
