package field_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestInlining asks the compiler whether what the speed of the Wasm module hangs on is inlined there: a call costs as much as a multiplication.
func TestInlining(t *testing.T) {
	c := exec.Command("go", "build", "-gcflags=-m=2", ".")
	c.Env = append(c.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, f := range []string{"MulLazy", "AddLazy", "SubLazy", "Sub", "New", "Lazy.Canonical"} {
		if !strings.Contains(string(out), "can inline "+f+" with cost ") {
			t.Errorf("%s is not inlined", f)
		}
	}
}
