// Package keys holds the verifying keys of the built-in systems, so that a proof of one can be checked without a prover. It imports no prover.
//
// The files are made by go generate ./systems and change only with a circuit or a profile; digests.txt lists their digests.
package keys

import (
	"embed"
	"encoding/hex"
	"strings"

	"github.com/ixprove/ixprove/formats"
)

//go:embed digests.txt *.key
var files embed.FS

// Index is the name of the list of digests among the files.
const Index = "digests.txt"

// Key names a built-in key.
type Key struct {
	Digest  formats.Digest
	System  string
	Profile string
}

// FileName is the name of the key's file.
func (k Key) FileName() string { return k.System + "-" + k.Profile + ".key" }

// Line is the key's line in the list of digests.
func (k Key) Line() string {
	return hex.EncodeToString(k.Digest[:]) + " " + k.System + " " + k.Profile + "\n"
}

// All lists the keys, system by system.
func All() []Key {
	index, _ := files.ReadFile(Index) // embedded: it is there
	var all []Key
	for line := range strings.Lines(string(index)) {
		var k Key
		words := strings.Fields(line)
		hex.Decode(k.Digest[:], []byte(words[0]))
		k.System, k.Profile = words[1], words[2]
		all = append(all, k)
	}
	return all
}

// Find returns the key of that digest as it travels, and false if it is none of the built-in systems'. The caller may keep the bytes.
func Find(digest formats.Digest) (Key, []byte, bool) {
	for _, k := range All() {
		if k.Digest == digest {
			data, err := files.ReadFile(k.FileName())
			return k, data, err == nil
		}
	}
	return Key{}, nil, false
}

// Encoded returns the key of a system under a profile, as it travels.
func Encoded(system, profile string) (Key, []byte, bool) {
	for _, k := range All() {
		if k.System == system && k.Profile == profile {
			return Find(k.Digest)
		}
	}
	return Key{}, nil, false
}
