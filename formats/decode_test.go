package formats_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"
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
