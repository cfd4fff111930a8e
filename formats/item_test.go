package formats_test

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"

	"github.com/ixprove/ixprove/formats"
)

// item is an encoded object as a tree, made from the formats types by one rule: fields in order are entries in order. It owes nothing to the
// decoder's lists of fields nor to the encoder's tags, so it is the third opinion in these tests. An edit of raw or rawKey spoils one place.
type item struct {
	path  string  // as in formats.Error.Place
	value any     // uint64, string or []byte of a leaf
	items []*item // of an array or a map
	isMap bool    // the items' keys are 0, 1, 2, …
	list  bool    // an array of any length

	key, off    int    // where the last append put the item's key and the item
	raw, rawKey []byte // written instead, when set
}

// kinds are the kinds of the objects that travel alone.
var kinds = map[reflect.Type]string{
	reflect.TypeFor[formats.Proof]():      formats.KindProof,
	reflect.TypeFor[formats.Key]():        formats.KindKey,
	reflect.TypeFor[formats.BoundClaim](): formats.KindClaim,
	reflect.TypeFor[formats.Root]():       formats.KindRoot,
	reflect.TypeFor[formats.RootKey]():    formats.KindRootKey,
}

// maps are the structs inside them that are encoded as maps.
var maps = map[reflect.Type]bool{
	reflect.TypeFor[formats.Shard]():   true,
	reflect.TypeFor[formats.Circuit](): true,
}

// itemOf is the tree of an object, given by pointer.
func itemOf(object any) *item { return itemAt("", reflect.ValueOf(object).Elem()) }

func itemAt(path string, v reflect.Value) *item {
	it := &item{path: path}
	switch {
	case v.CanUint():
		it.value = v.Uint()
	case v.Kind() == reflect.Bool:
		it.value = uint64(0)
		if v.Bool() {
			it.value = uint64(1)
		}
	case v.Kind() == reflect.String:
		it.value = v.String()
	case v.Type() == reflect.TypeFor[formats.Digest]():
		d := v.Interface().(formats.Digest)
		it.value = d[:]
	case v.Type() == reflect.TypeFor[[]formats.Digest]():
		all := []byte{}
		for _, d := range v.Interface().([]formats.Digest) {
			all = append(all, d[:]...)
		}
		it.value = all
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		it.value = append([]byte{}, v.Bytes()...)
	case v.Kind() == reflect.Slice:
		it.list = true
		for i := range v.Len() {
			it.items = append(it.items, itemAt(fmt.Sprintf("%s[%d]", path, i), v.Index(i)))
		}
	case v.Kind() == reflect.Struct:
		kind, alone := kinds[v.Type()]
		it.isMap = alone || maps[v.Type()]
		if alone {
			it.items = []*item{{path: "kind", value: kind}, {path: "version", value: uint64(formats.Version)}}
		}
		for i := range v.NumField() {
			name := strings.ToLower(v.Type().Field(i).Name)
			it.items = append(it.items, itemAt(strings.TrimPrefix(path+"."+name, "."), v.Field(i)))
		}
	}
	return it
}

// major is the item's CBOR major type and argument its head's argument.
func (it *item) major() byte {
	switch it.value.(type) {
	case uint64:
		return 0
	case []byte:
		return 2
	case string:
		return 3
	}
	if it.isMap {
		return 5
	}
	return 4
}

func (it *item) argument() uint64 {
	switch v := it.value.(type) {
	case uint64:
		return v
	case []byte:
		return uint64(len(v))
	case string:
		return uint64(len(v))
	}
	return uint64(len(it.items))
}

// head is the head of an item with 0, 1, 2, 4 or 8 bytes of argument.
func head(major byte, width int, argument uint64) []byte {
	if width == 0 {
		return []byte{major<<5 | byte(argument)}
	}
	info := map[int]byte{1: 24, 2: 25, 4: 26, 8: 27}[width]
	all := binary.BigEndian.AppendUint64([]byte{major<<5 | info}, argument)
	return append(all[:1], all[9-width:]...)
}

// width is the fewest bytes of argument that hold it.
func width(argument uint64) int {
	switch {
	case argument < 24:
		return 0
	case argument < 1<<8:
		return 1
	case argument < 1<<16:
		return 2
	case argument < 1<<32:
		return 4
	}
	return 8
}

func (it *item) head() []byte { return head(it.major(), width(it.argument()), it.argument()) }

// body is what follows the head, when the item stands alone.
func (it *item) body() []byte {
	start := it.off
	defer func() { it.off = start }()
	raw := it.raw
	it.raw = nil
	all := it.append(nil)
	it.raw = raw
	return all[len(it.head()):]
}

// append appends the item's encoding to b and notes where everything is.
func (it *item) append(b []byte) []byte {
	it.off = len(b)
	if it.raw != nil {
		return append(b, it.raw...)
	}
	b = append(b, it.head()...)
	switch v := it.value.(type) {
	case []byte:
		return append(b, v...)
	case string:
		return append(b, v...)
	}
	for i, child := range it.items {
		if it.isMap {
			child.key = len(b)
			if child.rawKey != nil {
				b = append(b, child.rawKey...)
			} else {
				b = append(b, head(0, width(uint64(i)), uint64(i))...)
			}
		}
		b = child.append(b)
	}
	return b
}

func (it *item) bytes() []byte { return it.append(nil) }

// walk calls visit for the item and everything in it.
func (it *item) walk(visit func(*item)) {
	visit(it)
	for _, child := range it.items {
		child.walk(visit)
	}
}

// find is the item at path.
func (it *item) find(path string) (found *item) {
	it.walk(func(i *item) {
		if i.path == path {
			found = i
		}
	})
	return found
}

// generic is the item as a decoder without a schema sees it.
func (it *item) generic() any {
	switch {
	case it.isMap:
		m := map[any]any{}
		for i, child := range it.items {
			m[uint64(i)] = child.generic()
		}
		return m
	case it.value == nil:
		list := []any{}
		for _, child := range it.items {
			list = append(list, child.generic())
		}
		return list
	}
	return it.value
}
