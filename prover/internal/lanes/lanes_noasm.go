//go:build !amd64 || purego

package lanes

import (
	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/verifier/field"
)

func columnsMany([]formats.Digest, *[32]byte, [][]field.Element, int) int { return 0 }
func rowsMany([]formats.Digest, *[32]byte, []byte, int) int               { return 0 }
func digestsMany([]formats.Digest, *[32]byte, []formats.Digest, int) int  { return 0 }

// Width is the number of inputs that are hashed at once.
func Width() int { return 1 }
