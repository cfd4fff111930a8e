//go:build !amd64 || purego

package lanes

func everyWidth[T interface{ Run(string, func(T)) bool }](t T, f func(T)) { t.Run("portable", f) }
