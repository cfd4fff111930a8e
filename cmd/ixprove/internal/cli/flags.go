package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/lang/syntax"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/systems"
	"github.com/ixprove/ixprove/verifier/security"
)

// flagError explains a mistake in the flags, with the flag that was perhaps meant.
func flagError(f *pflag.FlagSet, err error) error {
	var unknown *pflag.NotExistError
	next := "see ixprove help " + f.Name()
	if !errors.As(err, &unknown) {
		return usageError("flags", err.Error(), "", "", next)
	}
	var names []string
	f.VisitAll(func(flag *pflag.Flag) { names = append(names, "--"+flag.Name) })
	name := "--" + unknown.GetSpecifiedName()
	if near := nearest(name, names); near != "" {
		next = near
	}
	return usageError("flags", "there is no such flag", strings.Join(names, ", "), name, next)
}

// noneEmpty refuses a flag or an operand that is given and empty, as a script's variable is that was not set: taken for absent, it would demand nothing where the caller meant to.
func noneEmpty(f *pflag.FlagSet) (err error) {
	refuse := func(what string) {
		err = usageError(what, "it is empty", "a value, or nothing at all", `""`, "a variable that is not set is empty")
	}
	f.Visit(func(flag *pflag.Flag) {
		if flag.Value.Type() == "string" && flag.Value.String() == "" && flag.Name != "gpu" { // whose empty value is no device, and no absence
			refuse("--" + flag.Name)
		}
	})
	if f.NArg() > 0 && f.Arg(0) == "" {
		refuse("operand")
	}
	return err
}

// nearest asks for the names that are close to a mistyped one; it is empty if none is.
func nearest(name string, names []string) string {
	var near []string
	for _, n := range names {
		if syntax.Distance(name, n, 3) <= 2 || strings.HasPrefix(n, name) {
			near = append(near, n)
		}
	}
	if near == nil {
		return ""
	}
	return "did you mean " + strings.Join(near, " or ") + "?"
}

// size is a flag of an amount of memory, such as 8GiB.
type size prover.Bytes

var units = []struct {
	name  string
	bytes prover.Bytes
}{{"GiB", prover.GiB}, {"MiB", prover.MiB}, {"KiB", prover.KiB}, {"B", 1}}

// String implements pflag.Value.
func (s *size) String() string {
	if *s == 0 {
		return ""
	}
	return bytesText(prover.Bytes(*s))
}

// Type implements pflag.Value.
func (s *size) Type() string { return "size" }

// Set implements pflag.Value.
func (s *size) Set(text string) error {
	for _, u := range units {
		digits, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 1 || n > math.MaxInt64/int64(u.bytes) {
			break
		}
		*s = size(n * int64(u.bytes))
		return nil
	}
	return fmt.Errorf("expected an amount such as 8GiB, 512MiB or 1024B, got %q", text)
}

// bytesText renders an amount with three digits or so.
func bytesText(b prover.Bytes) string {
	for _, u := range units {
		if b >= u.bytes && u.bytes > 1 {
			return strconv.FormatFloat(float64(b)/float64(u.bytes), 'f', 1, 64) + " " + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10) + " B"
}

func profileNames() string {
	var names []string
	for _, p := range security.Profiles() {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

func suiteNames() []string {
	var names []string
	for _, s := range suites {
		names = append(names, s.Name())
	}
	return names
}

// profileFlag finds a profile that a flag names.
func profileFlag(name string) (security.Profile, error) {
	p, ok := security.ProfileByName(name)
	if !ok {
		return p, usageError("--profile", "there is no such profile", "one of "+profileNames(), strconv.Quote(name), nearest(name, strings.Split(profileNames(), ", ")))
	}
	return p, nil
}

// systemFlag finds a system that a flag names.
func systemFlag(name string) (*systems.System, error) {
	s, ok := systems.ByName(name)
	if !ok {
		return nil, usageError("--system", "there is no such system", "one of "+systems.Names(), strconv.Quote(name), nearest(name, strings.Split(systems.Names(), ", ")))
	}
	return s, nil
}
