//go:build !amd64 || purego

package vector

import "testing"

func everyLevel(t *testing.T, f func(t *testing.T)) { t.Run(Kernels(), f) }
