package claims

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/formats"
)

const sample = `{"format":"ixprove-claims/1","system":"s","profile":"dev","claims":[
	{"entry":"e","file":"a b.txt","args":{"n":90,"d":"00ff"},"results":{"v":18446744069414584320}},{"entry":"e"}]}`

func TestDecode(t *testing.T) {
	got, err := Decode([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	want := &File{"s", "dev", []Claim{
		{"e", "a b.txt", []Value{{"n", "90"}, {"d", "00ff"}}, []Value{{"v", "18446744069414584320"}}},
		{Entry: "e"},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

// minimal is a file around a list of claims.
func minimal(claims string) string {
	return `{"format":"ixprove-claims/1","system":"s","claims":` + claims + `}`
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		class       formats.Class
		place, data string
	}{
		{formats.Malformed, "claims file", ""},
		{formats.Malformed, "claims file", "{"},
		{formats.Malformed, "claims file", "\xff"},
		{formats.Malformed, "claims file", "null"},
		{formats.Malformed, "claims file", "[]"},
		{formats.Malformed, "claims file", sample + "x"},
		{formats.Malformed, "claims file", sample + sample},
		{formats.Malformed, "claims file", sample[:len(sample)-1]},
		{formats.Malformed, "claims file", strings.Replace(sample, `90`, `090`, 1)},
		{formats.Malformed, "claims file", strings.Replace(sample, `{"n"`, `{,"n"`, 1)},
		{formats.Malformed, "claims file", minimal(`[[[[[]]]]]`)},
		{formats.Malformed, "claims file", minimal(strings.Repeat("[", 20000) + strings.Repeat("]", 20000))},
		{formats.Malformed, "format", `{}`},
		{formats.Malformed, "format", `{"format":1}`},
		{formats.Malformed, "format", `{"Format":"ixprove-claims/1"}`},
		{formats.Malformed, "format", `{"format":"ixprove-claims/1","format":"ixprove-claims/1"}`},
		{formats.Incompatible, "format", `{"format":"ixprove-claims/2","novelty":null}`},
		{formats.Incompatible, "format", `{"format":"other"}`},
		{formats.Malformed, "system", `{"format":"ixprove-claims/1","claims":[{"entry":"e"}]}`},
		{formats.Malformed, "system", strings.Replace(sample, `"s"`, `""`, 1)},
		{formats.Malformed, "profile", strings.Replace(sample, `"dev"`, `null`, 1)},
		{formats.Malformed, "claims", `{"format":"ixprove-claims/1","system":"s"}`},
		{formats.Malformed, "claims", minimal(`[]`)},
		{formats.Malformed, "claims", minimal(`{}`)},
		{formats.Malformed, "claims", minimal("[" + strings.Repeat("0,", formats.MaxClaims) + "0]")},
		{formats.Malformed, "claims[0]", minimal(`[3]`)},
		{formats.Malformed, "claims[1].entry", minimal(`[{"entry":"e"},{}]`)},
		{formats.Malformed, "claims[0].Entry", minimal(`[{"Entry":"e"}]`)},
		{formats.Malformed, "claims[0].file", minimal(`[{"entry":"e","file":""}]`)},
		{formats.Malformed, "claims[0].args", minimal(`[{"entry":"e","args":[1]}]`)},
		{formats.Malformed, "claims[0].args.n", minimal(`[{"entry":"e","args":{"n":true}}]`)},
		{formats.Malformed, "claims[0].results.n", minimal(`[{"entry":"e","results":{"n":{}}}]`)},
		{formats.Malformed, "n", minimal(`[{"entry":"e","args":{"n":1,"n":1}}]`)},
		{formats.Malformed, "extra", strings.Replace(sample, `{"format"`, `{"extra":0,"format"`, 1)},
		{formats.Limit, "claims file", strings.Repeat(" ", MaxBytes+1)},
	} {
		got, err := Decode([]byte(c.data))
		var e *formats.Error
		if !errors.As(err, &e) {
			t.Errorf("%.80q: accepted as %v", c.data, got)
			continue
		}
		if place, _, _ := strings.Cut(e.Place, " before byte"); e.Class != c.class || place != c.place || e.Expected == "" || e.Got == "" || e.Next == "" {
			t.Errorf("%.80q: %#v", c.data, e)
		}
	}
}

func TestElements(t *testing.T) {
	types := []formats.Value{{Name: "f", Type: formats.TypeField}, {Name: "b", Type: formats.TypeU8}, {Name: "w", Type: formats.TypeU32}, {Name: "q", Type: formats.TypeU64}, {Name: "d", Type: formats.TypeBytes32}}
	given := []Value{
		{"d", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1F"}, {"q", "18446744073709551615"}, {"w", "4294967295"}, {"b", "255"}, {"f", "18446744069414584320"},
	}
	got, err := Elements("args", types, given)
	if err != nil {
		t.Fatal(err)
	}
	var want formats.Elements
	for _, v := range []uint64{formats.Modulus - 1, 255, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c, 0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c} {
		want = want.Append(v)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got %x", got)
	}
	for _, bad := range []Value{
		{"f", "18446744069414584321"}, {"f", "1.0"}, {"f", ""}, {"f", "1e3"}, {"f", "+1"}, {"f", "0x1"}, {"b", "256"}, {"w", "4294967296"}, {"q", "18446744073709551616"}, {"q", "-0"},
		{"d", given[0].Text[1:]}, {"d", "zz" + given[0].Text[2:]}, {"d", "+f" + given[0].Text[2:]}, {"x", "1"}, {"F", "1"},
	} {
		list := slices.DeleteFunc(slices.Clone(given), func(v Value) bool { return v.Name == bad.Name })
		_, err := Elements("args", types, append(list, bad))
		var e *formats.Error
		if !errors.As(err, &e) || e.Class != formats.Invalid || e.Place != "args."+bad.Name {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if _, err := Elements("args", types, given[1:]); !errors.Is(err, formats.Invalid) {
		t.Errorf("a missing value: %v", err)
	}
}

// The schema lists the fields that the decoder knows.
func TestSchema(t *testing.T) {
	data, err := os.ReadFile("claims.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Required             []string                  `json:"required"`
		AdditionalProperties any                       `json:"additionalProperties"`
		Properties           map[string]map[string]any `json:"properties"`
	}
	var schema struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	if got := schema.Properties["format"]["const"]; got != Format {
		t.Errorf("format is %v", got)
	}
	for _, c := range []struct {
		object
		known, required []string
	}{
		{schema.object, []string{"claims", "format", "profile", "system"}, []string{"format", "system", "claims"}},
		{schema.Defs["claim"], []string{"args", "entry", "file", "results"}, []string{"entry"}},
	} {
		if got := slices.Sorted(maps.Keys(c.Properties)); !slices.Equal(got, c.known) || !slices.Equal(c.Required, c.required) || c.AdditionalProperties != false {
			t.Errorf("schema has %v, requires %v", got, c.Required)
		}
	}
	if got := schema.Properties["claims"]["maxItems"]; got != float64(formats.MaxClaims) {
		t.Errorf("maxItems is %v", got)
	}
}

// FuzzDecode checks that what is accepted is the same to a decoder without our rules, and that what is refused is explained.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(minimal(`[{"entry":"blake3","file":"hello.txt"}]`)))
	f.Add([]byte(minimal(`[{"entry":"fibonacci","args":{"n":90},"results":{"value":"2880067194370816120"}}]`)))
	f.Add([]byte(`{"format":"ixprove-claims/2"}`))
	f.Add([]byte(minimal(`[{"entry":"\ud800\u0000","args":{"":1e999}}]`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Decode(data)
		if err != nil {
			var e *formats.Error
			if !errors.As(err, &e) || e.Place == "" || e.What == "" || e.Expected == "" || e.Got == "" {
				t.Fatalf("a poor error: %#v", err)
			}
			return
		}
		var lax struct {
			Format, System, Profile string
			Claims                  []struct {
				Entry, File   string
				Args, Results map[string]any
			}
		}
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		d.DisallowUnknownFields()
		if err := d.Decode(&lax); err != nil {
			t.Fatalf("accepted %q: %v", data, err)
		}
		if lax.Format != Format || lax.System != got.System || lax.Profile != got.Profile || len(lax.Claims) != len(got.Claims) {
			t.Fatalf("accepted %q as %+v", data, got)
		}
		for i, c := range lax.Claims {
			g := got.Claims[i]
			if c.Entry != g.Entry || c.File != g.File || len(c.Args) != len(g.Args) || len(c.Results) != len(g.Results) {
				t.Fatalf("claim %d of %q is %+v", i, data, g)
			}
		}
	})
}
