package formats_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ixprove/ixprove/formats"
)

// schema is a CDDL document: rules by name, in the part of RFC 8610 that formats/*.cddl use. It checks both ways: a key or array member of the
// schema that a value lacks is as wrong as one of the value that the schema lacks.
type schema map[string]*rule

type rule struct {
	ref        string // another rule or a prelude type
	text       string // a text literal
	low, high  uint64 // an integer or a range
	number     bool
	isMap      bool
	isArray    bool
	members    []member
	sized      bool
	short, len uint64         // .size
	pattern    *regexp.Regexp // .regexp
}

type member struct {
	name        string // of an array's member
	key         uint64 // of a map's entry
	least, most int    // occurrences
	rule        *rule
}

var token = regexp.MustCompile(`;[^\n]*|"[^"]*"|[0-9]+|\.\.|\.?[a-z][a-z0-9-]*|[={}\[\](),:*]`)

// parser reads tokens; a syntax error panics with its place, for tests only.
type parser struct {
	tokens []string
	next   int
}

func (p *parser) peek(ahead int) string {
	if p.next+ahead < len(p.tokens) {
		return p.tokens[p.next+ahead]
	}
	return ""
}

func (p *parser) take() string {
	p.next++
	return p.tokens[p.next-1]
}

func (p *parser) accept(want string) bool {
	if p.peek(0) == want {
		p.next++
		return true
	}
	return false
}

func (p *parser) expect(want string) {
	if !p.accept(want) {
		panic(fmt.Sprintf("expected %q at %q", want, p.tokens[p.next:min(p.next+5, len(p.tokens))]))
	}
}

func isNumber(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

func (p *parser) number() uint64 {
	n, err := strconv.ParseUint(p.take(), 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func (p *parser) interval() (low, high uint64) {
	low = p.number()
	if p.accept("..") {
		return low, p.number()
	}
	return low, low
}

func (p *parser) members(end string) (list []member) {
	for !p.accept(end) {
		m := member{least: 1, most: 1}
		if p.peek(1) == "*" {
			m.least = int(p.number())
			p.expect("*")
			m.most = int(p.number())
		}
		if p.peek(1) == ":" {
			if isNumber(p.peek(0)) {
				m.key = p.number()
			} else {
				m.name = p.take()
			}
			p.expect(":")
		}
		m.rule = p.rule()
		list = append(list, m)
		p.accept(",")
	}
	return list
}

func (p *parser) rule() *rule {
	r := &rule{}
	switch t := p.peek(0); {
	case p.accept("{"):
		r.isMap, r.members = true, p.members("}")
	case p.accept("["):
		r.isArray, r.members = true, p.members("]")
	case isNumber(t):
		r.number = true
		r.low, r.high = p.interval()
	case t[0] == '"':
		r.text = strings.Trim(p.take(), `"`)
	default:
		r.ref = p.take()
	}
	switch {
	case p.accept(".size"):
		r.sized = true
		if p.accept("(") {
			r.short, r.len = p.interval()
			p.expect(")")
		} else {
			r.short, r.len = p.interval()
		}
	case p.accept(".regexp"):
		r.pattern = regexp.MustCompile("^(" + strings.Trim(p.take(), `"`) + ")$")
	}
	return r
}

func readSchema(t testing.TB, name string) schema {
	t.Helper()
	text, err := os.ReadFile(name + ".cddl")
	if err != nil {
		t.Fatal(err)
	}
	if rest := strings.TrimSpace(token.ReplaceAllString(string(text), "")); rest != "" {
		t.Fatalf("%s.cddl has text that is not understood: %q", name, rest)
	}
	p := &parser{}
	for _, tok := range token.FindAllString(string(text), -1) {
		if tok[0] != ';' {
			p.tokens = append(p.tokens, tok)
		}
	}
	s := schema{}
	for p.next < len(p.tokens) {
		name := p.take()
		p.expect("=")
		if s[name] != nil {
			t.Fatalf("rule %s is there twice", name)
		}
		s[name] = p.rule()
	}
	return s
}

// mark is how a check tells which members of the schema it has met.
type mark map[*rule]bool

// check says where a generic value (as fxamacker/cbor decodes it) departs from the rule.
func (s schema) check(r *rule, v any, met mark) error {
	met[r] = true
	switch x := v.(type) {
	case map[any]any:
		if !r.isMap {
			break
		}
		if len(x) != len(r.members) {
			return fmt.Errorf("%d entries, the schema has %d", len(x), len(r.members))
		}
		for _, m := range r.members {
			entry, there := x[m.key]
			if !there {
				return fmt.Errorf("no key %d", m.key)
			}
			if err := s.check(m.rule, entry, met); err != nil {
				return fmt.Errorf("key %d: %w", m.key, err)
			}
		}
		return nil
	case []any:
		if !r.isArray {
			break
		}
		for _, m := range r.members {
			n := min(len(x), m.most)
			if n < m.least {
				return fmt.Errorf("no %s", m.name)
			}
			for i, element := range x[:n] {
				if err := s.check(m.rule, element, met); err != nil {
					return fmt.Errorf("%s[%d]: %w", m.name, i, err)
				}
			}
			x = x[n:]
		}
		if len(x) != 0 {
			return fmt.Errorf("%d items more than the schema has", len(x))
		}
		return nil
	case uint64:
		if r.number && r.low <= x && x <= r.high || r.ref == "uint" {
			return nil
		}
	case string:
		if r.text != "" && r.text == x || r.ref == "tstr" && r.pattern.MatchString(x) {
			return nil
		}
	case []byte:
		if r.sized && (uint64(len(x)) < r.short || uint64(len(x)) > r.len) {
			return fmt.Errorf("%d bytes", len(x))
		}
		// What CDDL cannot say.
		switch {
		case r.ref == "bstr":
			return nil
		case r.ref == "digests" && len(x)%32 != 0, r.ref == "elements" && len(x)%8 != 0:
			return fmt.Errorf("%d bytes of %s", len(x), r.ref)
		case r.ref == "elements":
			for i := 0; i < len(x); i += 8 {
				if binary.LittleEndian.Uint64(x[i:]) >= formats.Modulus {
					return fmt.Errorf("element %d", i/8)
				}
			}
		}
	}
	if next := s[r.ref]; next != nil {
		return s.check(next, v, met)
	}
	return fmt.Errorf("%T %v", v, v)
}

// TestSchema checks the published schemas against what is encoded: every rule and member of a schema is met, and nothing is met that it lacks.
func TestSchema(t *testing.T) {
	for _, c := range codecs {
		t.Run(c.name, func(t *testing.T) {
			s, met := readSchema(t, c.name), mark{}
			g := rand.New(rand.NewPCG(3, 4))
			for i := range 100 {
				object := c.sample()
				if i > 0 {
					object = c.random(g)
				}
				data, err := c.encode(object)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.check(s[c.rule], generic(t, data), met); err != nil {
					t.Fatal(err)
				}
			}
			for name, r := range s {
				if !met[r] {
					t.Errorf("rule %s is never met", name)
				}
			}
		})
	}
}

// TestSchemaNames checks that array members of the schemas are called, in order, what the decoder calls them in errors, and that each map
// entry's comment starts with the name.
func TestSchemaNames(t *testing.T) {
	for _, c := range codecs {
		text, err := os.ReadFile(c.name + ".cddl")
		if err != nil {
			t.Fatal(err)
		}
		entry := regexp.MustCompile(`(?m)^  ([0-9]+): .*?[^;]; ([a-z]+)|^  ([a-z]+): `)
		var names []string
		for _, m := range entry.FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1]+m[2]+m[3])
		}
		var want []string
		itemOf(c.sample()).walk(func(it *item) {
			for i, child := range it.items {
				name := child.path[strings.LastIndexByte(child.path, '.')+1:]
				if it.isMap {
					name = strconv.Itoa(i) + name
				}
				if !it.list && !slices.Contains(want, name) {
					want = append(want, name)
				}
			}
		})
		slices.Sort(names)
		slices.Sort(want)
		if names = slices.Compact(names); !slices.Equal(names, want) {
			t.Errorf("%s.cddl names\n%v, the code\n%v", c.name, names, want)
		}
	}
}

// pairs calls visit for each item of the tree with the rule that it is under; references with a .size of their own count as rules.
func (s schema) pairs(r *rule, it *item, visit func(*rule, *item)) {
	for s[r.ref] != nil && !r.sized {
		r = s[r.ref]
	}
	visit(r, it)
	for i, child := range it.items {
		member := r.members[0]
		if !it.list {
			member = r.members[i]
		}
		s.pairs(member.rule, child, visit)
	}
}

// TestSchemaBounds checks that every bound in the schemas is the decoder's: the bound itself is accepted, the next value is not.
func TestSchemaBounds(t *testing.T) {
	for _, c := range codecs {
		t.Run(c.name, func(t *testing.T) {
			s, root := readSchema(t, c.name), itemOf(c.sample())
			try := func(it *item, spoilt item, good bool) {
				t.Helper()
				sound := *it
				*it = spoilt
				data := root.bytes()
				*it = sound
				if len(data) > c.most {
					return
				}
				if _, err := c.decode(data); good != (err == nil) {
					t.Errorf("%s %v %d: %v, schema says %v", it.path, spoilt.value, len(spoilt.items), err, good)
				}
			}
			bytesOf := func(n uint64) item { return item{value: make([]byte, n)} }
			bounds := 0
			s.pairs(s[c.rule], root, func(r *rule, it *item) {
				bounds++
				switch {
				case r.number:
					try(it, item{value: r.low}, true)
					try(it, item{value: r.high}, true)
					try(it, item{value: r.high + 1}, false)
				case r.sized:
					unit := uint64(8)
					switch {
					case r.ref == "bstr" && r.short != r.len:
						unit = 1
					case r.len%32 == 0 && r.ref != "elements":
						unit = 32
					}
					try(it, bytesOf(r.short), true)
					try(it, bytesOf(r.len), true)
					try(it, bytesOf(r.len+unit), false)
					try(it, bytesOf(r.len-1), unit == 1)
					if r.short > 0 {
						try(it, bytesOf(r.short-unit), false)
					}
				case r.pattern != nil:
					try(it, item{value: strings.Repeat("~", 64)}, true)
					try(it, item{value: strings.Repeat("~", 65)}, false)
					try(it, item{value: ""}, false)
				case it.list && len(it.items) > 0:
					most := r.members[0].most
					try(it, item{list: true}, true)
					try(it, item{list: true, items: slices.Repeat(it.items[:1], most)}, true)
					try(it, item{list: true, items: slices.Repeat(it.items[:1], most+1)}, false)
				default:
					bounds--
				}
			})
			t.Logf("%d bounds", bounds)
		})
	}
}
