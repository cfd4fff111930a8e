package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels/driver"
	"github.com/ixprove/ixprove/systems"
)

type versionResult struct {
	Schema   string   `json:"schema"`
	Version  string   `json:"version"`
	Commit   string   `json:"commit"`
	Modified bool     `json:"modified"` // whether the working tree differed from the commit
	Go       string   `json:"go"`
	Platform string   `json:"platform"`
	CUDA     bool     `json:"cuda"`
	Formats  int      `json:"formats"` // version of proofs and keys
	Suites   []string `json:"suites"`
	Profiles []string `json:"profiles"`
	Systems  []string `json:"systems"`
}

func newVersion() *versionResult {
	r := &versionResult{Schema: "ixprove/version/1", Version: "unknown", Commit: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		CUDA: driver.Built, Formats: formats.Version, Suites: suiteNames(), Profiles: strings.Split(profileNames(), ", "), Systems: strings.Split(systems.Names(), ", ")}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return r
	}
	r.Version = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			r.Commit = s.Value
		case "vcs.modified":
			r.Modified = s.Value == "true"
		}
	}
	return r
}

func (r *versionResult) text(w io.Writer) {
	commit, cuda := r.Commit, "no"
	if r.Modified {
		commit += ", modified"
	}
	if r.CUDA {
		cuda = "yes"
	}
	fmt.Fprintf(w, "ixprove   %s\ncommit    %s\ngo        %s %s\ncuda      %s\nformats   %d\nsuites    %s\nprofiles  %s\nsystems   %s\n", r.Version, commit, r.Go, r.Platform, cuda,
		r.Formats, strings.Join(r.Suites, ", "), strings.Join(r.Profiles, ", "), strings.Join(r.Systems, ", "))
}

func prepareVersion(*pflag.FlagSet) action {
	return func(*tool) (result, error) { return newVersion(), nil }
}
