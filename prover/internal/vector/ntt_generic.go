package vector

import "github.com/ixprove/ixprove/verifier/field"

// block is the size below which a transform runs level by level: 2^12 elements fit the first-level cache. Larger ones recurse, so that each part is finished while it is cached.
const block = 1 << 12

// forwardGeneric transforms x, or src·factors into x, by decimation in frequency.
func forwardGeneric(x, src, factors, w []field.Element) {
	if src != nil {
		mulGeneric(x, src, factors)
	}
	n := len(x)
	if n > block {
		levels2Generic(x, w)
		for q := range 4 {
			forwardGeneric(x[q*n/4:(q+1)*n/4], nil, nil, w)
		}
		return
	}
	for ; n > 1; n /= 2 {
		for start := 0; start < len(x); start += n {
			levelGeneric(x[start:start+n/2], x[start+n/2:start+n], w[n/2:n])
		}
	}
}

func levelGeneric(lo, hi, w []field.Element) {
	hi, w = hi[:len(lo)], w[:len(lo)]
	for i := range lo {
		a, b := lo[i], hi[i]
		lo[i] = field.Add(a, b)
		hi[i] = field.MulLazy(field.Lazy(field.Sub(a, b)), field.Lazy(w[i])).Canonical()
	}
}

// levels2Generic is two levels at once: half the memory traffic.
func levels2Generic(x, w []field.Element) {
	n := len(x) / 4
	x0, x1, x2, x3 := x[:n], x[n:2*n], x[2*n:3*n], x[3*n:4*n]
	w0, w1, w2 := w[2*n:3*n], w[3*n:4*n], w[n:2*n]
	for i := range x0 {
		a, b, c, d := x0[i], x1[i], x2[i], x3[i]
		s, t := field.Add(a, c), field.Add(b, d)
		u, v := field.Mul(field.Sub(a, c), w0[i]), field.Mul(field.Sub(b, d), w1[i])
		x0[i] = field.Add(s, t)
		x1[i] = field.Mul(field.Sub(s, t), w2[i])
		x2[i] = field.Add(u, v)
		x3[i] = field.Mul(field.Sub(u, v), w2[i])
	}
}
