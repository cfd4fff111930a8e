package formats_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/ixprove/ixprove/formats"
)

// strict is the library's decoder with every strict option on.
var strict = must(cbor.DecOptions{
	DupMapKey:        cbor.DupMapKeyEnforcedAPF,
	IndefLength:      cbor.IndefLengthForbidden,
	TagsMd:           cbor.TagsForbidden,
	MaxArrayElements: 1<<31 - 1,
	MaxMapPairs:      1<<31 - 1,
}.DecMode())

// deterministic is its encoder for RFC 8949 section 4.2.1.
var deterministic = must(cbor.CoreDetEncOptions().EncMode())

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // impossible: the options are constant
	}
	return v
}

// generic decodes data without a schema.
func generic(t testing.TB, data []byte) (v any) {
	t.Helper()
	if err := strict.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// agree checks our decoder against the library's and the schema. What ours accepts is the same object to the library, conforms to the schema
// and is encoded to the same bytes. What is deterministic to the library and conforms to the schema, ours accepts.
func agree(t *testing.T, c codec, s schema, data []byte) {
	t.Helper()
	object, err := c.decode(data)
	var free any
	conforms := strict.Unmarshal(data, &free)
	if conforms == nil {
		conforms = s.check(s[c.rule], free, mark{})
	}
	if err == nil {
		if again, err := c.encode(object); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("accepted %x, but encoded as %x (%v)", data, again, err)
		}
		if conforms != nil {
			t.Fatalf("accepted %x against the schema: %v", data, conforms)
		}
		if !reflect.DeepEqual(itemOf(object).generic(), free) {
			t.Fatalf("decoded as\n%+v, by the library as\n%v", object, free)
		}
		return
	}
	if e := new(formats.Error); !errors.As(err, &e) || e.Place == "" || e.What == "" || e.Expected == "" || e.Got == "" {
		t.Fatalf("a poor error: %#v", err)
	}
	if conforms == nil && len(data) <= c.most {
		if again, encErr := deterministic.Marshal(free); encErr == nil && bytes.Equal(again, data) {
			t.Fatalf("refused %x: %v", data, err)
		}
	}
}

// TestChangedBytes changes each byte of the samples.
func TestChangedBytes(t *testing.T) {
	for _, c := range codecs {
		t.Run(c.name, func(t *testing.T) {
			s, data := readSchema(t, c.name), itemOf(c.sample()).bytes()
			for i, was := range data {
				for _, b := range []byte{was + 1, was - 1, was ^ 0x20, was ^ 0x80, was | 0x18, was | 0x1f, 0x00, 0x40, 0x60, 0x80, 0xf6, 0xff} {
					data[i] = b
					agree(t, c, s, data)
				}
				data[i] = was
			}
		})
	}
}

func fuzz(f *testing.F, c codec) {
	s := readSchema(f, c.name)
	f.Add(itemOf(c.sample()).bytes())
	f.Fuzz(func(t *testing.T, data []byte) { agree(t, c, s, data) })
}

func FuzzDecodeProof(f *testing.F)      { fuzz(f, codecs[0]) }
func FuzzDecodeKey(f *testing.F)        { fuzz(f, codecs[1]) }
func FuzzDecodeBoundClaim(f *testing.F) { fuzz(f, codecs[2]) }
func FuzzDecodeRoot(f *testing.F)       { fuzz(f, codecs[3]) }
func FuzzDecodeRootKey(f *testing.F)    { fuzz(f, codecs[4]) }
