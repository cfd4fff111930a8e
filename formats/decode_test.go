package formats_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/formats"
)

func TestRoundTrip(t *testing.T) {
	for _, c := range codecs {
		t.Run(c.name, func(t *testing.T) {
			g := rand.New(rand.NewPCG(1, 2))
			objects := []any{c.sample()}
			for range 200 {
				objects = append(objects, c.random(g))
			}
			for _, want := range objects {
				data, err := c.encode(want)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(data, itemOf(want).bytes()) {
					t.Fatal("the encoder departs from the order of the types' fields")
				}
				got, err := c.decode(data)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("decoded\n%+v\nwant\n%+v", got, want)
				}
				if again, err := c.encode(got); err != nil || !bytes.Equal(again, data) {
					t.Fatalf("another encoding the second time (%v)", err)
				}
			}
		})
	}
}

// TestAliasing pins what the documentation says of memory: vectors are parts of the input and cannot grow into what follows them.
func TestAliasing(t *testing.T) {
	data := itemOf(sampleClaim()).bytes()
	claim, err := formats.DecodeBoundClaim(data)
	if err != nil {
		t.Fatal(err)
	}
	args, before := claim.Claim.Args, bytes.Clone(data)
	_ = args.Append(77)
	if !bytes.Equal(data, before) {
		t.Error("appending to a decoded vector overwrote the input")
	}
	args[0]++
	if bytes.Equal(data, before) {
		t.Error("a decoded vector is a copy")
	}
}

// refused checks that data is refused as it should be. A place of "*" stands for any.
func refused(t *testing.T, c codec, data []byte, class formats.Class, check, place string) *formats.Error {
	t.Helper()
	v, err := c.decode(data)
	var e *formats.Error
	switch {
	case err == nil:
		t.Fatalf("%s: accepted as %+v", place, v)
	case !errors.As(err, &e):
		t.Fatalf("%s: an error of type %T", place, err)
	case e.Class != class || e.Check != check || place != "*" && e.Place != place:
		t.Errorf("%v\nwant class %v, check %q, place %q", err, class, check, place)
	case e.What == "" || e.Expected == "" || e.Got == "":
		t.Errorf("%v: an error that says too little", err)
	}
	return e
}

// place is how an error names byte off, in the item at path.
func place(path string, off int) string {
	return strings.TrimPrefix(fmt.Sprintf("%s at byte %d", path, off), " ")
}

func TestTruncatedOrContinued(t *testing.T) {
	for _, c := range codecs {
		t.Run(c.name, func(t *testing.T) {
			data := itemOf(c.sample()).bytes()
			for n := range data {
				if e := refused(t, c, data[:n], formats.Malformed, c.form, "*"); !strings.Contains(e.Next, "cut short") {
					t.Errorf("%d bytes: %v", n, e)
				}
			}
			for _, more := range []string{"\x00", "\xf6", string(data)} {
				refused(t, c, append(bytes.Clone(data), more...), formats.Malformed, c.form, place("", len(data)))
			}
		})
	}
}

// otherItems are heads of all types that no schema has.
var otherItems = []string{
	"\xf6", "\xf7", "\xf4", "\xf5", "\xf8\xff", // null, undefined, false, true, simple(255)
	"\xf9\x7e\x00", "\xfa\x3f\x80\x00\x00", "\xfb\x3f\xf0\x00\x00\x00\x00\x00\x00", // floats
	"\xff", "\x20", "\xd8\x18", // break, -1, a tag
}

// TestSecondEncodings spoils a sample at each of its items in each way that CBOR has and expects the decoder to name that item.
func TestSecondEncodings(t *testing.T) {
	for _, c := range codecs {
		t.Run(c.name, func(t *testing.T) {
			root := itemOf(c.sample())
			expect := func(path string, off *int) {
				t.Helper()
				// Zeros follow, or else a list could be refused first, as longer than the data.
				data := append(root.bytes(), make([]byte, 128)...)
				refused(t, c, data, formats.Malformed, c.form, place(path, *off))
			}
			root.walk(func(it *item) {
				spoil := func(head []byte, rest ...byte) {
					t.Helper()
					it.raw = append(head, rest...)
					expect(it.path, &it.off)
					it.raw = nil
				}
				sound, major, argument := it.body(), it.major(), it.argument()
				for _, w := range []int{1, 2, 4, 8} {
					if w > width(argument) {
						spoil(head(major, w, argument), sound...)
					}
				}
				for reserved := byte(28); reserved < 31; reserved++ {
					spoil([]byte{major<<5 | reserved}, sound...)
				}
				for _, other := range otherItems {
					spoil([]byte(other), append(it.head(), sound...)...)
				}
				if major >= 2 {
					spoil([]byte{major<<5 | 31}, append(sound, 0xff)...)
					for _, huge := range []uint64{1 << 32, 1 << 63, 1<<64 - 1} {
						spoil(head(major, 8, huge), sound...)
					}
				}
				if major != 4 {
					spoil([]byte{0x81}, append(it.head(), sound...)...)
				}
				if major >= 4 && !it.list && it != root {
					spoil(head(major, 0, argument+1), sound...)
					spoil(head(major, 0, argument-1), sound...)
					spoil(head(major, 0, 0))
				}
			})
		})
	}
}

// TestKeys spoils each key of each map, and each map by an entry.
func TestKeys(t *testing.T) {
	for _, c := range codecs {
		t.Run(c.name, func(t *testing.T) {
			root := itemOf(c.sample())
			root.walk(func(it *item) {
				if !it.isMap {
					return
				}
				all := it.items
				for i, child := range all {
					spoil := func(raw ...byte) {
						t.Helper()
						child.rawKey = raw
						data := root.bytes()
						child.rawKey = nil
						refused(t, c, data, formats.Malformed, c.form, place(it.path, child.key))
					}
					spoil(0x18, byte(i))
					spoil(0x20)
					spoil(0xf6)
					spoil(0x61, '0'+byte(i))
					for other := range 24 {
						if other != i {
							spoil(byte(other)) // repeated, out of order, or unknown
						}
					}
				}
				count := func(items []*item) {
					t.Helper()
					it.items = items
					data := append(root.bytes(), make([]byte, 128)...)
					it.items = all
					refused(t, c, data, formats.Malformed, c.form, place(it.path, it.off))
				}
				for i := range all {
					if it != root || i >= 2 { // without kind or version it is the key that is wrong
						count(append(append([]*item{}, all[:i]...), all[i+1:]...))
					}
				}
				count(append(append([]*item{}, all...), &item{value: uint64(0)}))
			})
		})
	}
}

func TestElementsAreCanonical(t *testing.T) {
	vectors := map[string]bool{"args": true, "results": true, "sums": true, "openings": true, "final": true, "rows": true, "periodic": true}
	for _, c := range codecs {
		root := itemOf(c.sample())
		tried := 0
		root.walk(func(it *item) {
			b, isBytes := it.value.([]byte)
			name, _, _ := strings.Cut(it.path[strings.LastIndexByte(it.path, '.')+1:], "[")
			if !isBytes || !vectors[name] {
				return
			}
			for i := 0; i+8 <= len(b); i += 8 {
				for _, v := range []uint64{formats.Modulus, formats.Modulus + 1, formats.Modulus + uint64(b[i]), 1<<64 - 1} {
					it.value = append(append(bytes.Clone(b[:i]), elements(v)...), b[i+8:]...)
					data := root.bytes()
					refused(t, c, data, formats.Malformed, c.form, place(fmt.Sprintf("%s[%d]", it.path, i/8), it.off+len(it.head())+i))
					tried++
				}
			}
			it.value = b
		})
		if tried == 0 && c.name != "root-key" {
			t.Errorf("the sample %s has no elements", c.name)
		}
	}
}

func TestKindAndVersion(t *testing.T) {
	for i, c := range codecs {
		// Another of our objects, whole, is called what it is.
		other := itemOf(codecs[(i+1)%len(codecs)].sample())
		e := refused(t, c, other.bytes(), formats.Incompatible, c.kind, "kind at byte 2")
		if !strings.HasPrefix(e.What, "this is a ") || !strings.Contains(e.What, ", not a ") {
			t.Errorf("another kind is not named: %v", e)
		}

		root := itemOf(c.sample())
		kind, version := root.items[0], root.items[1]
		kind.raw = []byte("\x6fixprove-receipt")
		refused(t, c, root.bytes(), formats.Incompatible, c.kind, "kind at byte 2")
		kind.raw = nil

		for _, v := range []uint64{0, 2, 1 << 63} {
			version.value = v
			data := root.bytes()
			refused(t, c, data, formats.Incompatible, c.kind, place("version", version.off))
			// Another version may have any fields after these two.
			start := data[1 : version.off+len(version.head())]
			for entries := byte(2); entries < 24; entries++ {
				later := append(append([]byte{0xa0 | entries}, start...), "\x02\xf5"...)
				refused(t, c, later, formats.Incompatible, c.kind, place("version", version.off))
			}
		}
	}
}

// TestNames checks that names are printable ASCII: other text may hide or reorder what a report shows, and need not be UTF-8.
func TestNames(t *testing.T) {
	c := codecs[1]
	root := itemOf(c.sample())
	tried := 0
	root.walk(func(it *item) {
		was, isText := it.value.(string)
		if !isText {
			return
		}
		for _, bad := range []string{"a\x00", "a\x1fb", "a\x7f", "a\xff", "a\xc3\x28", "a\xed\xa0\x80", "a\xc3\xa9", "a\u202e", "a\n"} {
			it.value = bad
			data := root.bytes()
			refused(t, c, data, formats.Malformed, c.form, place(it.path, it.off+2))
			tried++
		}
		it.value = was
	})
	if tried == 0 {
		t.Error("the sample has no names")
	}
}

func TestTooLong(t *testing.T) {
	for _, c := range codecs {
		data := itemOf(c.sample()).bytes()
		refused(t, c, append(data, make([]byte, c.most)...), formats.Limit, c.limit, "at byte 0")
	}
	data := itemOf(sampleProof()).bytes()
	if _, err := formats.DecodeProof(data, len(data)); err != nil {
		t.Error(err)
	}
	for _, most := range []int{len(data) - 1, 0, -1} {
		if _, err := formats.DecodeProof(data, most); !errors.Is(err, formats.Limit) {
			t.Errorf("a limit of %d: %v", most, err)
		}
	}
}

func TestGarbage(t *testing.T) {
	const size = 8 << 20
	noise := make([]byte, size) // starts with 0, an integer
	g := rand.New(rand.NewPCG(5, 6))
	for i := range noise[1:] {
		noise[1+i] = byte(g.Uint32())
	}
	for _, c := range codecs {
		class, check := formats.Malformed, c.form
		if size > c.most {
			class, check = formats.Limit, c.limit
		}
		refused(t, c, noise, class, check, "at byte 0")
		for _, b := range []byte{0x00, 0x81, 0x9f, 0xa1, 0xa5, 0xbf, 0xc0, 0xf6, 0xff, '{'} {
			place := "at byte 0"
			if b == 0xa5 && class == formats.Malformed {
				place = "at byte 1" // a map with a map for a key
			}
			refused(t, c, bytes.Repeat([]byte{b}, size), class, check, place)
		}
	}
}

// TestMessages shows whole errors as a reader meets them.
func TestMessages(t *testing.T) {
	root := itemOf(sampleProof())
	for _, test := range []struct{ path, raw, want string }{
		{"", `{"kind": "ixprove-proof"}`, `ixprove: malformed: this is not a batch proof (P-2, at byte 0): expected a map, got a text string; check that the right file was given`},
		{"kind", "\x6bixprove-key", `ixprove: incompatible: this is a verifying key, not a batch proof (P-3, kind at byte 2): expected ixprove-proof, got ixprove-key; check that the right file was given`},
		{"version", "\x02", `ixprove: incompatible: this is a batch proof of another version (P-3, version at byte 17): expected 1, got 2; use a release that reads version 2`},
		{"key", "\xf6", `ixprove: malformed: an item of the wrong type (P-2, key at byte 19): expected a byte string, got null`},
		{"shards[0].nonce", "\x18\x05", `ixprove: malformed: an item's head is longer than it need be (P-2, shards[0].nonce at byte 405): expected the shortest head for 5, got 2 bytes; encode it deterministically (RFC 8949 section 4.2.1) by the schema in formats/*.cddl`},
		{"shards[0].tables[1].logheight", "\x18\x1c", `ixprove: malformed: an integer is too large (P-2, shards[0].tables[1].logheight at byte 99): expected at most 27, got 28`},
		{"shards[0].trees[1].rows", "\x49", `ixprove: malformed: a string has a wrong length (P-2, shards[0].trees[1].rows at byte 493): expected a multiple of 8 bytes, got 9`},
		{"claims", "\x9a\x00\x01\x00\x01", `ixprove: malformed: a list is too long (P-2, claims at byte 54): expected at most 65536 items, got 65537`},
	} {
		it := root.find(test.path)
		it.raw = []byte(test.raw)
		_, err := formats.DecodeProof(root.bytes(), formats.MaxProofBytes)
		it.raw = nil
		if err == nil || err.Error() != test.want {
			t.Errorf("got\n%v\nwant\n%s", err, test.want)
		}
	}
}

// allocated is the memory that f allocates, in bytes.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Bounds of a decoder's memory, as a multiple of the input's length (48 bytes for an opening of 3, and the allocator's rounding) and for the
// object and an error.
const (
	memoryFactor = 18
	memoryFixed  = 8 << 10
)

// TestMemoryOfClaimedLengths has the head of every list and string claim all it can while the data ends soon after.
func TestMemoryOfClaimedLengths(t *testing.T) {
	for _, c := range codecs {
		t.Run(c.name, func(t *testing.T) {
			root := itemOf(c.sample())
			root.walk(func(it *item) {
				if it.major() < 2 || it == root {
					return
				}
				for _, tail := range []int{0, 100, 10_000} {
					for bit := 0; bit < 64; bit += 3 {
						claim := uint64(1) << bit
						it.raw = append(head(it.major(), width(claim), claim), make([]byte, tail)...)
						data := root.bytes()
						if got, most := allocated(func() { c.decode(data) }), uint64(memoryFactor*len(data)+memoryFixed); got > most {
							t.Fatalf("%s of %d, %d bytes of input: %d bytes allocated, at most %d wanted", it.path, claim, len(data), got, most)
						}
					}
				}
				it.raw = nil
			})
		})
	}
}

// TestMemoryOfSmallItems fills every list with its smallest items, of which the decoded form is largest.
func TestMemoryOfSmallItems(t *testing.T) {
	shard := formats.Shard{Trees: make([]formats.Opening, formats.MaxOpeningSets), Layers: make([]formats.Opening, formats.MaxLayers)}
	proof := &formats.Proof{Claims: make([]formats.Claim, formats.MaxClaims)}
	for range formats.MaxBatchTrees / formats.MaxOpeningSets {
		proof.Shards = append(proof.Shards, shard)
	}
	entry := formats.Entry{Name: "x"}
	for range formats.MaxValues {
		entry.Args = append(entry.Args, formats.Value{Name: "y"})
	}
	circuit := formats.Circuit{Name: "z", Nodes: make([]formats.Node, 100_000), Lookups: make([]formats.Lookup, formats.MaxLookups)}
	for range 1000 {
		circuit.Periodic = append(circuit.Periodic, elements(0))
	}
	key := &formats.Key{Name: "n", Suite: "s", Circuits: []formats.Circuit{circuit}}
	for range formats.MaxEntries {
		key.Entries = append(key.Entries, entry)
	}
	for i, object := range []any{proof, key} {
		data := itemOf(object).bytes()
		got := allocated(func() {
			if _, err := codecs[i].decode(data); err != nil {
				t.Error(err)
			}
		})
		t.Logf("%s of %d bytes: %.1f bytes allocated per byte", codecs[i].name, len(data), float64(got)/float64(len(data)))
		if got > uint64(memoryFactor*len(data)+memoryFixed) {
			t.Errorf("%s of %d bytes: %d bytes allocated", codecs[i].name, len(data), got)
		}
	}
}

func BenchmarkDecodeKey(b *testing.B) {
	circuit := formats.Circuit{Name: "z"}
	for i := range 1_000_000 {
		circuit.Nodes = append(circuit.Nodes, formats.Node{Op: formats.OpAdd, A: uint64(i), B: uint32(i)})
	}
	data := itemOf(&formats.Key{Name: "n", Suite: "s", Circuits: []formats.Circuit{circuit}}).bytes()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := formats.DecodeKey(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeProof(b *testing.B) {
	proof := sampleProof()
	proof.Shards[0].Trees[1].Rows = make(formats.Elements, 1<<20)
	data := itemOf(proof).bytes()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := formats.DecodeProof(data, formats.MaxProofBytes); err != nil {
			b.Fatal(err)
		}
	}
}

// TestKind reads what each object says that it is, and nothing of what is none.
func TestKind(t *testing.T) {
	for _, c := range codecs {
		root := itemOf(c.sample())
		data := root.bytes()
		want := root.items[0].value
		if got := formats.Kind(data); got != want {
			t.Errorf("%s is called %q", c.name, got)
		}
		if got := formats.Kind(data[:24]); got != want {
			t.Errorf("the start of %s is called %q", c.name, got)
		}
		for _, bad := range [][]byte{nil, data[:1], data[:2], data[:5], data[1:], {0x80}, {0xa0}} {
			if got := formats.Kind(bad); got != "" {
				t.Errorf("%x is called %q", bad, got)
			}
		}
	}
}
