//go:build !amd64 || purego

package vector

func everyLevel[T interface{ Run(string, func(T)) bool }](t T, f func(T)) { t.Run(Kernels(), f) }
