package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"unicode"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/kernels"
	"github.com/ixprove/ixprove/prover"
	"github.com/ixprove/ixprove/prover/cuda"
)

// exit is an exit code. The codes are stable.
type exit int

const (
	exitDone exit = iota
	exitInternal
	exitUsage
	exitRejected
	exitMalformed
	exitResource
	exitInterrupted
	exitIncompatible
)

// exitAbout says what each code means.
var exitAbout = [...]string{
	exitDone:         "done; the proof is valid",
	exitInternal:     "a bug in this program",
	exitUsage:        "the command line is wrong",
	exitRejected:     "the proof is rejected: it does not prove its claims, or less securely than demanded",
	exitMalformed:    "an input cannot be read, is malformed, is too large, or claims what cannot be proven",
	exitResource:     "no such device, not enough memory, or an output cannot be written",
	exitInterrupted:  "interrupted; nothing was written, and the same command can be given again",
	exitIncompatible: "an input is of another kind or version, or under another key",
}

// classExit maps the classes of errors to codes. A claim that is false is a malformed input of prove (Invalid): code 3 is a verdict on a proof and on nothing else.
var classExit = map[formats.Class]exit{
	formats.Internal:     exitInternal,
	formats.Malformed:    exitMalformed,
	formats.Incompatible: exitIncompatible,
	formats.Rejected:     exitRejected,
	formats.Limit:        exitMalformed,
	formats.Invalid:      exitMalformed,
}

// failure is an error with its exit code. Class is one of formats, or one of those that only a program has.
type failure struct {
	exit  exit
	class string
	detail
}

// detail is what there is to say of an error, whatever its class.
type detail = formats.Error

// Error implements error.
func (f *failure) Error() string { return f.class + ": " + f.What }

// Classes beyond those of formats.
const (
	classUsage       = "usage"
	classInput       = "input"
	classOutput      = "output"
	classDevice      = "device"
	classMemory      = "memory"
	classInterrupted = "interrupted"
)

func usageError(place, what, expected, got, next string) error {
	if next == "" {
		next = "see ixprove help"
	}
	return &failure{exitUsage, classUsage, detail{Place: place, What: what, Expected: expected, Got: got, Next: next}}
}

func cannotRead(path string, err error) error {
	return &failure{exitMalformed, classInput, detail{Place: path, What: "the input cannot be read", Got: plain(err)}}
}

func cannotWrite(path string, err error) error {
	return &failure{exitResource, classOutput, detail{Place: path, What: "the output cannot be written", Got: plain(err), Next: "nothing was left there; write to another place"}}
}

// plain is the cause of a file system's error without the path, which is named already.
func plain(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	return err.Error()
}

// inFile says which file an error of formats is about.
func inFile(path string, err error) error {
	var e *formats.Error
	if !errors.As(err, &e) {
		return err
	}
	about := *e
	about.Place = path
	if e.Place != "" {
		about.Place += ", " + e.Place
	}
	return &about
}

// classify finds the exit code of any error.
func classify(err error) *failure {
	var f *failure
	var e *formats.Error
	var memory *prover.MemoryError
	var onDevice *cuda.Error
	var device *kernels.Error
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &memory):
		return overBudget("device", memory)
	case errors.As(err, &device):
		place := "device"
		if errors.As(err, &onDevice) {
			place = "stage " + string(onDevice.Stage) + ", " + onDevice.What
		}
		return deviceFailure(place, device)
	case errors.As(err, &e):
		return &failure{classExit[e.Class], e.Class.String(), *e}
	case errors.Is(err, context.Canceled):
		return &failure{exitInterrupted, classInterrupted, detail{Place: "program", What: "the work was stopped and nothing was written", Next: "give the same command again"}}
	case errors.Is(err, syscall.ENOMEM):
		return &failure{exitResource, classMemory, detail{Place: "prover", What: "the system refused memory", Got: err.Error(), Next: "see prove --plan; prove in more shards with --memory"}}
	}
	return &failure{exitInternal, formats.Internal.String(), detail{Class: formats.Internal, Place: "program", What: err.Error(), Next: "report this with the command line"}}
}

// text prints the error for people: what happened where, and each further line only if there is something to say.
func (f *failure) text(w io.Writer) {
	where := f.Place
	if f.Check != "" {
		where = f.Check + ", " + where
	}
	fmt.Fprintf(w, "ixprove: %s: %s (%s)\n", f.class, printable(f.What), printable(where))
	for _, line := range []struct{ label, text string }{{"expected", f.Expected}, {"got", f.Got}, {"next", f.Next}} {
		if line.text != "" {
			fmt.Fprintf(w, "  %-9s %s\n", line.label, printable(line.text))
		}
	}
}

// printable keeps what a file says from commanding a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// errorObject is the error as JSON.
type errorObject struct {
	Schema   string `json:"schema"`
	Exit     exit   `json:"exit"`
	Class    string `json:"class"`
	Check    string `json:"check,omitempty"`
	Place    string `json:"place"`
	What     string `json:"what"`
	Expected string `json:"expected,omitempty"`
	Got      string `json:"got,omitempty"`
	Next     string `json:"next,omitempty"`

	Diagnostics []diagnosticObject `json:"diagnostics,omitempty"` // all errors of a program; the first is that above
}

func (f *failure) object() errorObject {
	return errorObject{Schema: "ixprove/error/1", Exit: f.exit, Class: f.class, Check: f.Check, Place: f.Place, What: f.What, Expected: f.Expected, Got: f.Got, Next: f.Next}
}
