package message_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/formats/encode"
	"github.com/ixprove/ixprove/verifier"
	"github.com/ixprove/ixprove/verifier/hash"
	"github.com/ixprove/ixprove/verifier/security"
	"github.com/ixprove/ixprove/wasm/message"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "prover", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// typesKey has an entry with a value of each type, the second of two entries.
func typesKey(t testing.TB) *verifier.Key {
	t.Helper()
	p, _ := security.ProfileByName("standard")
	data, err := encode.Key(&formats.Key{
		Name: "types", Suite: hash.Blake3{}.Name(), Profile: verifier.RawProfile(p),
		Channels: []formats.Channel{{Name: "none"}, {Name: "all", Arity: 13}},
		Entries: []formats.Entry{{Name: "none"}, {Name: `all "of" \ them`, Channel: 1,
			Args:    []formats.Value{{Name: "f", Type: formats.TypeField}, {Name: "u8", Type: formats.TypeU8}, {Name: "u32", Type: formats.TypeU32}},
			Results: []formats.Value{{Name: "u64", Type: formats.TypeU64}, {Name: "b", Type: formats.TypeBytes32}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	k, err := verifier.ParseKey(data)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func elements(values ...uint64) (e formats.Elements) {
	for _, v := range values {
		e = e.Append(v)
	}
	return e
}

const (
	all    = `"all \"of\" \\ them"`
	digest = `"000102030405060708090A0b0c0d0e0f101112131415161718191a1b1c1d1e1f"`
)

func TestPolicies(t *testing.T) {
	key := typesKey(t)
	var d formats.Digest
	for i := range d {
		d[i] = byte(i)
	}
	claim := formats.Claim{Entry: 1, Args: elements(18446744069414584320, 255, 1<<32-1),
		Results: elements(1<<32-1, 1<<32-1, 0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c, 0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c)}
	for text, want := range map[string]message.Policy{
		"":      {},
		"{}":    {},
		" { } ": {},
		`{"min_bits":100,"insecure":false,"max_proof_bytes":8388608}`:      {Policy: verifier.Policy{MinBits: 100, MaxProofBytes: 8 << 20}},
		`{"min_digest_bits":127}`:                                          {Policy: verifier.Policy{MinDigestBits: 127}},
		"{\"insecure\" :\ttrue\r\n}":                                       {Policy: verifier.Policy{Insecure: true}},
		`{"key":` + digest + `}`:                                           {Key: &d},
		`{"claims":[]}`:                                                    {Policy: verifier.Policy{Claims: []formats.Claim{}}},
		`{"claims":[{"entry":"none"},{"entry":0,"args":{},"results":[]}]}`: {Policy: verifier.Policy{Claims: []formats.Claim{{}, {}}}},
		`{"claims":[{"results":{"b":` + digest + `,"u64":18446744073709551615},"entry":` + all + `,"args":{"u32":"4294967295","f":18446744069414584320,"u8":255}}]}`: {Policy: verifier.Policy{Claims: []formats.Claim{claim}}},
		`{"claims":[{"entry":1,"args":[1,"2"]}]}`:               {}, // results by name are missing
		`{"claims":[{"entry":1,"args":[1,"2"],"results":[ ]}]}`: {Policy: verifier.Policy{Claims: []formats.Claim{{Entry: 1, Args: elements(1, 2)}}}},
	} {
		got, err := message.ParsePolicy(key, []byte(text))
		if strings.HasSuffix(text, `"2"]}]}`) {
			if !errors.Is(err, formats.Invalid) {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v\nwant %+v", text, got, err, want)
		}
	}
}

func TestBadPolicies(t *testing.T) {
	key := typesKey(t)
	for text, class := range map[string]formats.Class{
		" ":                                 formats.Malformed,
		"null":                              formats.Malformed,
		"[]":                                formats.Malformed,
		"{":                                 formats.Malformed,
		"{}x":                               formats.Malformed,
		"{}{}":                              formats.Malformed,
		`{"min_bits":1,}`:                   formats.Malformed,
		`{"min_bits":1 "insecure":true}`:    formats.Malformed,
		`{min_bits:1}`:                      formats.Malformed,
		`{"min_bits":01}`:                   formats.Malformed,
		`{"min_bits":-1}`:                   formats.Malformed,
		`{"min_bits":1.0}`:                  formats.Malformed,
		`{"min_bits":1e2}`:                  formats.Malformed,
		`{"min_bits":257}`:                  formats.Malformed,
		`{"min_digest_bits":257}`:           formats.Malformed,
		`{"min_bits":99999999999999999999}`: formats.Malformed,
		`{"min_bits":null}`:                 formats.Malformed,
		`{"min_bits":"1"}`:                  formats.Malformed,
		`{"max_proof_bytes":8388609}`:       formats.Malformed,
		`{"insecure":1}`:                    formats.Malformed,
		`{"insecure":tru}`:                  formats.Malformed,
		`{"insecure":true,"insecure":true}`: formats.Malformed,
		`{"Insecure":true}`:                 formats.Malformed,
		`{"bits":1}`:                        formats.Malformed,
		`{"key":"00"}`:                      formats.Malformed,
		`{"key":` + strings.Replace(digest, "0", "g", 1) + `}`: formats.Malformed,
		`{"key":1}`:                                              formats.Malformed,
		"{\"k\xffy\":1}":                                         formats.Malformed,
		`{"\u006bey":1}`:                                         formats.Malformed,
		`{"claims":{}}`:                                          formats.Malformed,
		`{"claims":[1]}`:                                         formats.Malformed,
		`{"claims":[{}]}`:                                        formats.Malformed,
		`{"claims":[{"entry":"none"}`:                            formats.Malformed,
		`{"claims":[{"entry":0,"x":1}]}`:                         formats.Malformed,
		`{"claims":[{"entry":0,"args":1}]}`:                      formats.Malformed,
		`{"claims":[{"entry":0,"args":[[]]}]}`:                   formats.Malformed,
		`{"claims":[{"entry":0,"args":[""]}]}`:                   formats.Malformed,
		`{"claims":[{"entry":0,"args":{"a":{}}}]}`:               formats.Malformed,
		`{"claims":[{"entry":1,"args":{"f":1,"f":1}}]}`:          formats.Malformed,
		`{"claims":[{"entry":-1}]}`:                              formats.Malformed,
		`{"claims":[{"entry":2}]}`:                               formats.Invalid,
		`{"claims":[{"entry":"no"}]}`:                            formats.Invalid,
		`{"claims":[{"entry":1}]}`:                               formats.Invalid,
		`{"claims":[{"entry":0,"args":{"a":1}}]}`:                formats.Invalid,
		`{"claims":[{"entry":0,"args":[18446744069414584321]}]}`: formats.Invalid,
		`{"claims":[{"entry":0,"args":["-1"]}]}`:                 formats.Invalid,
		`{"claims":[{"entry":1,"args":{"f":18446744069414584321,"u8":0,"u32":0}}]}`: formats.Invalid,
		`{"claims":[{"entry":1,"args":{"f":0,"u8":256,"u32":0}}]}`:                  formats.Invalid,
		`{"claims":[{"entry":1,"args":{"f":0,"u8":0,"u32":4294967296}}]}`:           formats.Invalid,
		`{"claims":[{"entry":1,"args":{"f":0,"u8":0,"u32":"0x1"}}]}`:                formats.Invalid,
	} {
		_, err := message.ParsePolicy(key, []byte(text))
		e := new(formats.Error)
		if !errors.As(err, &e) || e.Class != class || e.Place == "" || e.What == "" || e.Expected == "" || e.Got == "" {
			t.Errorf("%s: %v\nwant class %v", text, err, class)
		}
	}
}

// TestResultsAreJSON reads results with another reader, and compares them with what they are about.
func TestResultsAreJSON(t *testing.T) {
	key, proof := read(t, "blake3-dev-v1.key"), read(t, "blake3-dev-v1.proof")
	status, result := message.Verify(proof, key, []byte(`{"insecure":true}`))
	var report struct {
		Verdict, System, Profile string
		Claims                   []struct {
			Results []struct{ Name, Type, Value string }
		}
		Sizes struct{ Total int }
	}
	if err := json.Unmarshal(result, &report); err != nil || status != message.Accepted || report.Verdict != "accepted" || report.System != "blake3" || report.Sizes.Total != len(proof) {
		t.Errorf("%v %s", err, result)
	}
	if v := report.Claims[0].Results; len(v) != 2 || v[0].Type != "bytes32" || len(v[0].Value) != 64 || v[1].Value != "3000" {
		t.Errorf("%+v", v)
	}
	want := &formats.Error{Class: formats.Rejected, Check: "P-1", Place: "a \"place\" \\ \x01", What: "w", Expected: "e", Got: "g", Next: "n"}
	status, result = message.Failure("key", want)
	var got struct{ Verdict, Input, Check, Place, What, Expected, Got, Next, Message string }
	if err := json.Unmarshal(result, &got); err != nil || status != message.Rejected {
		t.Error(err)
	}
	if got.Verdict != "rejected" || got.Input != "key" || got.Place != want.Place || got.Message != want.Error() || got.Next != "n" {
		t.Errorf("%+v", got)
	}
	if status, _ := message.Failure("", errors.New("other")); status != message.Internal {
		t.Error(status)
	}
}

// TestStatuses gives each class its own number.
func TestStatuses(t *testing.T) {
	for class, want := range map[formats.Class]message.Status{formats.Rejected: 1, formats.Malformed: 2, formats.Incompatible: 3, formats.Limit: 4, formats.Invalid: 5, formats.Internal: 70} {
		if got := message.StatusOf(class); got != want {
			t.Errorf("%v: %d", class, got)
		}
	}
}

// FuzzParsePolicy asks for a policy or a typed error, and that what is read is JSON.
func FuzzParsePolicy(f *testing.F) {
	key := typesKey(f)
	f.Add([]byte(`{"key":` + digest + `,"min_bits":1,"insecure":true,"claims":[{"entry":` + all + `,"args":{"f":1,"u8":2,"u32":"3"},"results":[1,"2"]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := message.ParsePolicy(key, data)
		if e := new(formats.Error); err != nil && !errors.As(err, &e) {
			t.Errorf("%T: %v", err, err)
		}
		if err == nil && len(data) > 0 && !json.Valid(data) {
			t.Errorf("%q is read, and no JSON", data)
		}
	})
}
