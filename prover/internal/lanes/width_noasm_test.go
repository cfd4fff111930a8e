//go:build !amd64 || purego

package lanes

import "testing"

func everyWidth(t *testing.T, f func(t *testing.T)) { t.Run("portable", f) }
