package kernels

//go:generate sh cu/compile.sh
