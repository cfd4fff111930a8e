package lanes

//go:generate go run -C ../asm ./lanes -out ../lanes/kernels_amd64.s -stubs ../lanes/kernels_amd64.go -pkg lanes
