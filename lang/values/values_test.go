package values_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ixprove/ixprove/formats"
	"github.com/ixprove/ixprove/lang"
	"github.com/ixprove/ixprove/lang/values"
	"github.com/ixprove/ixprove/verifier/field"
)

// entry compiles an entry with a private argument of a type.
func entry(t *testing.T, typ string) *lang.Program {
	t.Helper()
	text := `import "std/list" (List); import "std/bytes" (Bytes); import "std/digest" (Digest); import "std/u256" (U256);
		enum E { A, B(u8, bool), C(&E) } struct S { a: u8, b: (u64, field) } pub fn f(private x: ` + typ + `) -> u8 { 7 }`
	p, err := lang.Compile(fstest.MapFS{"main.ix": {Data: []byte(text)}}, "main.ix")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func read(name string) ([]byte, error) {
	if name == "two" {
		return []byte{1, 2}, nil
	}
	return nil, errors.New("there is no such file")
}

func TestWitness(t *testing.T) {
	big := strings.Repeat("0", 62)
	for _, c := range []struct {
		typ, json string
		want      []field.Element
	}{
		{"u8", "255", []field.Element{255}},
		{"u64", `"18446744073709551615"`, []field.Element{1<<32 - 1, 1<<32 - 1}},
		{"u64", `"0x100000002"`, []field.Element{2, 1}},
		{"field", `"18446744069414584320"`, []field.Element{18446744069414584320}},
		{"bool", "true", []field.Element{1}},
		{"(u8, (), [bool; 2])", "[3, [], [true, false]]", []field.Element{3, 1, 0}},
		{"S", `{"a": 1, "b": [2, 3]}`, []field.Element{1, 2, 0, 3}},
		{"E", `"A"`, []field.Element{0}},
		{"E", `{"B": [4, true]}`, []field.Element{1, 4, 1}},
		{"E", `{"C": {"C": "A"}}`, []field.Element{2, 2, 0}},
		{"&u32", "5", []field.Element{5}},
		{"List<u8>", "[7, 8]", []field.Element{1, 7, 1, 8, 0}},
		{"List<u8>", `{"file": "two"}`, []field.Element{1, 1, 1, 2, 0}},
		{"[u8; 2]", `{"text": "ab"}`, []field.Element{97, 98}},
		{"[u8; 2]", `{"hex": "0x0aff"}`, []field.Element{10, 255}},
		{"Bytes", `{"hex": "0102030405"}`, append([]field.Element{5, 1, 0x04030201, 5}, make([]field.Element, 15)...)},
		{"Bytes", `{"text": ""}`, []field.Element{0, 0}},
		{"Digest", `"01` + big + `"`, []field.Element{1, 0, 0, 0, 0, 0, 0, 0}},
		{"U256", `"0x` + big + `01"`, []field.Element{1, 0, 0, 0, 0, 0, 0, 0}},
	} {
		p := entry(t, c.typ)
		got, err := values.Witness(&p.Entries[0], []byte(`{"x": `+c.json+`}`), read)
		if err != nil || !slices.Equal(got[0], c.want) {
			t.Errorf("%s of %s is %v, %v; want %v", c.json, c.typ, got, err, c.want)
		}
	}
}

func TestBadWitness(t *testing.T) {
	for _, c := range []struct{ typ, witness, want string }{
		{"u8", "", "no JSON"}, {"u8", "{", "no JSON"}, {"u8", "[]", "an object with a member"}, {"u8", `{"x": 1} {}`, "something follows"}, {"u8", `{}`, "missing"}, {"u8", `{"x": 1, "y": 2}`, "no such private argument"},
		{"u8", `{"x": 256}`, "at most 255"}, {"u8", `{"x": -1}`, "another type"}, {"u8", `{"x": 1.5}`, "another type"}, {"u8", `{"x": true}`, "another type"}, {"u8", `{"x": null}`, "null"},
		{"u64", `{"x": "18446744073709551616"}`, "another type"}, {"field", `{"x": "18446744069414584321"}`, "another type"}, {"bool", `{"x": 1}`, "another type"}, {"bool", `{"x": "true"}`, "another type"},
		{"(u8, u8)", `{"x": [1]}`, "wrong number"}, {"[u8; 2]", `{"x": {"file": "two", "text": ""}}`, "another type"}, {"[u8; 3]", `{"x": {"file": "two"}}`, "wrong number of bytes"}, {"[u8; 2]", `{"x": {"file": "one"}}`, "cannot be read"},
		{"[u8; 2]", `{"x": {"hex": "0g"}}`, "no hexadecimal"}, {"[u8; 2]", `{"x": {"path": "two"}}`, `{"file": NAME}`}, {"[u32; 2]", `{"x": {"hex": "0102"}}`, "another type"},
		{"S", `{"x": {"a": 1}}`, "x.b"}, {"S", `{"x": {"a": 1, "b": [2, 3], "c": 4}}`, "other fields"}, {"S", `{"x": [1, [2, 3]]}`, "another type"},
		{"E", `{"x": "D"}`, "no such variant"}, {"E", `{"x": "B"}`, "payload"}, {"E", `{"x": {"B": [1, 2]}}`, "x.B[1]"}, {"E", `{"x": {"A": [], "B": []}}`, "no such variant"},
		{"List<u8>", `{"x": [1, 300]}`, "x[1]"}, {"List<u8>", `{"x": 5}`, "no such variant"}, {"Digest", `{"x": "00"}`, "64"}, {"Digest", `{"x": 5}`, "64"}, {"U256", `{"x": "0x00"}`, "64"}, {"Bytes", `{"x": [1]}`, "another type"},
		{"E", `{"x": ` + strings.Repeat(`{"C": `, 300) + `"A"` + strings.Repeat("}", 300) + `}`, "nested too deeply"},
	} {
		p := entry(t, c.typ)
		got, err := values.Witness(&p.Entries[0], []byte(c.witness), read)
		if err == nil || !errors.Is(err, formats.Malformed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80s for %s: %v, %v; want %q", c.witness, c.typ, got, err, c.want)
		}
	}
}

// TestRoundTrip checks that words give the value back that they were made of, and how it is shown.
func TestRoundTrip(t *testing.T) {
	for _, c := range []struct{ typ, literal, text, json string }{
		{"u64", "18446744073709551615", "18446744073709551615", `"18446744073709551615"`},
		{"(bool, (u8,), ())", "(true, (3,), ())", "(true, (3,), ())", "[true,[3],[]]"},
		{"S", "S { a: 1, b: (2, 3) }", "S { a: 1, b: (2, 3) }", `{"a":1,"b":["2","3"]}`},
		{"F", "F::B(4, true)", "F::B(4, true)", `{"B":[4,true]}`},
		{"F", "F::A", "F::A", `"A"`},
		{"[u8; 5]", `b"abcde"`, "0x6162636465", "[97,98,99,100,101]"},
		{"[u32; 2]", "[1, 2]", "[1, 2]", "[1,2]"},
		{"Digest", `x"` + strings.Repeat("0a", 32) + `"`, strings.Repeat("0a", 32), `"` + strings.Repeat("0a", 32) + `"`},
		{"U256", `x"` + strings.Repeat("00", 30) + `0102"`, "0x" + strings.Repeat("00", 30) + "0102", `"0x` + strings.Repeat("00", 30) + `0102"`},
	} {
		text := `import "std/digest" (Digest); import "std/u256" (U256); enum F { A, B(u8, bool) } struct S { a: u8, b: (u64, field) } pub fn f(x: ` + c.typ + `) -> ` + c.typ + ` { x }`
		p, err := lang.Compile(fstest.MapFS{"main.ix": {Data: []byte(text)}}, "main.ix")
		if err != nil {
			t.Fatal(err)
		}
		call, err := p.ParseCall("f(" + c.literal + ")")
		if err != nil {
			t.Fatal(err)
		}
		typ := p.Entries[0].Result
		v, rest := values.FromWords(typ, call.Words)
		encoded, err := json.Marshal(values.JSON(typ, v))
		if got := values.Text(typ, v); got != c.text || string(encoded) != c.json || err != nil || len(rest) != 0 {
			t.Errorf("%s is shown as %s and %s", c.literal, got, encoded)
		}
	}
}

func TestBadCalls(t *testing.T) {
	p := entry(t, "u8")
	for _, c := range []struct{ call, want string }{
		{"g()", "no such entry"}, {"f(1)", "other public arguments"}, {"f", "no call"}, {"f(", "belong"}, {"1 + f()", "no call"}, {"f() f()", "belong"},
	} {
		if _, err := p.ParseCall(c.call); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.call, err)
		}
	}
}

func FuzzWitness(f *testing.F) {
	f.Add(`{"x": [{"B": [1, true]}, "A"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		p := entry(t, "List<E>")
		if _, err := values.Witness(&p.Entries[0], []byte(text), read); err != nil && !errors.Is(err, formats.Malformed) {
			t.Error(err)
		}
	})
}
