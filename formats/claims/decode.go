package claims

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/ixprove/ixprove/formats"
)

// maxDepth is one more than a claims file needs: the file, its claims, a claim, its arguments.
const maxDepth = 5

// Decode reads a claims file. An error is a *formats.Error of class Limit, Malformed, or, for another format or version, Incompatible.
func Decode(data []byte) (*File, error) {
	if len(data) > MaxBytes {
		e := (&formats.Error{Class: formats.Limit, Place: "claims file", What: "the file is too long", Next: "claim less in one proof"}).Mismatch(MaxBytes, uint64(len(data)))
		e.Expected = "at most " + e.Expected + " bytes"
		return nil, e
	}
	root, err := readTree(data)
	if err != nil {
		return nil, err
	}
	var f File
	var format string
	// The format comes first: a later version may have any other fields.
	if err := root.object("", map[string]field{"format": {true, text(&format)}}, ignore); err != nil {
		return nil, err
	}
	if format != Format {
		return nil, &formats.Error{Class: formats.Incompatible, Place: "format", What: "this is another kind or version of file",
			Expected: strconv.Quote(Format), Got: strconv.Quote(format), Next: "write it for this version, or use the version it was written for"}
	}
	err = root.object("", map[string]field{
		"format":  {true, text(&format)},
		"system":  {true, text(&f.System)},
		"profile": {false, text(&f.Profile)},
		"claims":  {true, f.readClaims},
	}, refuse)
	if err != nil {
		return nil, err
	}
	return &f, nil
}

func (f *File) readClaims(n *node, place string) error {
	if n.kind != list || len(n.items) < 1 || len(n.items) > formats.MaxClaims {
		return n.mismatch(place, "an array of 1 to "+strconv.Itoa(formats.MaxClaims)+" claims")
	}
	f.Claims = make([]Claim, len(n.items))
	for i := range n.items {
		c := &f.Claims[i]
		err := n.items[i].object(place+"["+strconv.Itoa(i)+"]", map[string]field{
			"entry":   {true, text(&c.Entry)},
			"file":    {false, text(&c.File)},
			"args":    {false, values(&c.Args)},
			"results": {false, values(&c.Results)},
		}, refuse)
		if err != nil {
			return err
		}
	}
	return nil
}

// field is how a field of an object is read.
type field struct {
	required bool
	read     func(n *node, place string) error
}

// text reads a string of at least one character.
func text(to *string) func(*node, string) error {
	return func(n *node, place string) error {
		if n.kind != str || n.text == "" {
			return n.mismatch(place, "a string that is not empty")
		}
		*to = n.text
		return nil
	}
}

// values reads an object of numbers and strings.
func values(to *[]Value) func(*node, string) error {
	return func(n *node, place string) error {
		if n.kind != dict || len(n.items) > formats.MaxValues {
			return n.mismatch(place, "an object of at most "+strconv.Itoa(formats.MaxValues)+" values")
		}
		*to = []Value{}
		for i := range n.items {
			v := &n.items[i]
			if v.kind != number && v.kind != str {
				return v.mismatch(place+"."+v.key, "a number or a string")
			}
			*to = append(*to, Value{v.key, v.text})
		}
		return nil
	}
}

// kind is the kind of a JSON value.
type kind string

const (
	dict    kind = "an object"
	list    kind = "an array"
	str     kind = "a string"
	number  kind = "a number"
	literal kind = "true, false or null"
)

// node is a JSON value.
type node struct {
	kind  kind
	key   string // within an object
	text  string // of a string or number
	items []node // of an object or array
	end   int64  // offset of the first byte after it
}

func (n *node) mismatch(place, expected string) error {
	got := string(n.kind)
	switch n.kind {
	case list, dict:
		got += " of " + strconv.Itoa(len(n.items))
	case str, number:
		got += " " + strconv.Quote(n.text)
	}
	return malformed(place, n.end, "the value is not what belongs here", expected, got)
}

// What to do with unknown fields.
const (
	refuse = true
	ignore = false
)

// object reads the fields of an object.
func (n *node) object(place string, fields map[string]field, refuseUnknown bool) error {
	if n.kind != dict {
		return n.mismatch(place, string(dict))
	}
	inside := func(key string) string {
		if place == "" {
			return key
		}
		return place + "." + key
	}
	seen := make(map[string]bool, len(fields))
	for i := range n.items {
		v := &n.items[i]
		f, known := fields[v.key]
		if !known {
			if refuseUnknown {
				return malformed(inside(v.key), v.end, "the field is unknown", "one of "+keys(fields), strconv.Quote(v.key))
			}
			continue
		}
		seen[v.key] = true
		if err := f.read(v, inside(v.key)); err != nil {
			return err
		}
	}
	for _, key := range order {
		if fields[key].required && !seen[key] {
			return malformed(inside(key), n.end, "a field is missing", strconv.Quote(key), "no such field")
		}
	}
	return nil
}

// order lists all fields as messages name them.
var order = []string{"format", "system", "profile", "claims", "entry", "file", "args", "results"}

func keys(fields map[string]field) string {
	s := ""
	for _, key := range order {
		if _, ok := fields[key]; ok {
			if s != "" {
				s += ", "
			}
			s += key
		}
	}
	return s
}

// readTree reads one JSON value and the end of the data.
func readTree(data []byte) (*node, error) {
	if !utf8.Valid(data) {
		return nil, malformed("claims file", -1, "the file is not text", "JSON in UTF-8", "bytes that are not UTF-8")
	}
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil { // syntax, nesting, and that nothing follows
		var syntax *json.SyntaxError
		offset := int64(-1)
		if errors.As(err, &syntax) {
			offset = syntax.Offset
		}
		return nil, malformed("claims file", offset, "the file is not JSON", "one JSON object", err.Error())
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	root := &node{}
	if err := root.read(d, maxDepth); err != nil {
		return nil, err
	}
	return root, nil
}

func (n *node) read(d *json.Decoder, depth int) error {
	token, err := d.Token()
	if err != nil && err != io.EOF {
		return malformed("claims file", d.InputOffset(), "the file is not JSON", "one JSON object", err.Error())
	}
	switch v := token.(type) {
	case json.Delim:
		if depth == 0 {
			return malformed("claims file", d.InputOffset(), "values are nested too deeply", strconv.Itoa(maxDepth)+" levels", "more")
		}
		n.kind = list
		if v == '{' {
			n.kind = dict
		}
		seen := map[string]bool{}
		for d.More() {
			var item node
			if n.kind == dict {
				key, err := d.Token()
				if err != nil {
					return malformed("claims file", d.InputOffset(), "the file is not JSON", "a key", err.Error())
				}
				item.key, _ = key.(string)
				if seen[item.key] {
					return malformed(item.key, d.InputOffset(), "a key appears twice", "each key once", strconv.Quote(item.key)+" again")
				}
				seen[item.key] = true
			}
			if err := item.read(d, depth-1); err != nil {
				return err
			}
			n.items = append(n.items, item)
		}
		if _, err := d.Token(); err != nil { // the closing delimiter
			return malformed("claims file", d.InputOffset(), "the file is not JSON", "the end of "+string(n.kind), err.Error())
		}
	case string:
		n.kind, n.text = str, v
	case json.Number:
		n.kind, n.text = number, v.String()
	default:
		n.kind = literal
	}
	n.end = d.InputOffset()
	return nil
}

// malformed is an error at a place; offset is negative when there is no byte to point at.
func malformed(place string, offset int64, what, expected, got string) error {
	if place == "" {
		place = "claims file"
	}
	if offset >= 0 {
		place += " before byte " + strconv.FormatInt(offset, 10)
	}
	return &formats.Error{Class: formats.Malformed, Place: place, What: what, Expected: expected, Got: got, Next: "see formats/claims/claims.schema.json for what a claims file looks like"}
}
