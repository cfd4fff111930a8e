package postlink

import "strings"

// Instructions (core specification, section 5.4).
const (
	opUnreachable = 0x00
	opLoop        = 0x03
	opIf          = 0x04
	opEnd         = 0x0b
	opBrIf        = 0x0d
	opLocalGet    = 0x20
	opLocalTee    = 0x22
	opI64Load     = 0x29
	opI32Store    = 0x36
	opI64Store    = 0x37
	opI32Store8   = 0x3a
	opI32Const    = 0x41
	opI64Const    = 0x42
	opI32LtU      = 0x49
	opI64Ne       = 0x52
	opI32Add      = 0x6a
	opI32Mul      = 0x6c
	opI32ShrU     = 0x76
	opPrefix      = 0xfc
	memoryFill    = 11
)

// Types (core specification, section 5.3).
const (
	typeEmpty    = 0x40
	typeFunction = 0x60
	typeI32      = 0x7f
)

// clockTimeout is where a subscription to a clock holds its timeout, 8 bytes (WASI preview 1, type subscription).
const clockTimeout = 24

// Results of WASI functions (preview 1, type errno).
const (
	errnoSuccess = 0
	errnoBadFile = 8
)

// stub is the body of a WASI function: no locals, then instructions.
//
//   - There are no arguments. The environment is fixed.
//   - The clock stands at one second, so that the collector's pacing is the same in every run.
//   - Random bytes are zero: they seed only hash maps, none of which is keyed by a proof.
//   - A write succeeds and goes nowhere. On an error the Go runtime would throw, print, and so write again, for ever.
//   - The runtime polls, with a timeout of zero, whenever the collector restarts the program: nothing has happened. Waiting and exiting cannot be; they are traps, and the host
//     discards the instance.
func stub(name string, environment []string) ([]byte, bool) {
	text := strings.Join(environment, "\x00") + "\x00"
	bodies := map[string][][]byte{
		"args_get":            {result(errnoSuccess)},
		"args_sizes_get":      {storeI32(0, 0), storeI32(1, 0), result(errnoSuccess)},
		"environ_sizes_get":   {storeI32(0, uint32(len(environment))), storeI32(1, uint32(len(text))), result(errnoSuccess)},
		"environ_get":         {storePointers(environment), storeText(1, text), result(errnoSuccess)},
		"clock_time_get":      {local(2), {opI64Const}, signed(1e9), {opI64Store, 3, 0}, result(errnoSuccess)},
		"random_get":          {local(0), constant(0), local(1), {opPrefix, memoryFill, 0}, result(errnoSuccess)},
		"fd_write":            {result(errnoSuccess)},
		"sched_yield":         {result(errnoSuccess)},
		"poll_oneoff":         {local(0), {opI64Load, 3, clockTimeout, opI64Const, 0, opI64Ne, opIf, typeEmpty, opUnreachable, opEnd}, storeI32(3, 0), result(errnoSuccess)},
		"proc_exit":           {{opUnreachable}},
		"fd_close":            {result(errnoBadFile)},
		"fd_fdstat_get":       {result(errnoBadFile)},
		"fd_fdstat_set_flags": {result(errnoBadFile)},
		"fd_prestat_get":      {result(errnoBadFile)},
		"fd_prestat_dir_name": {result(errnoBadFile)},
	}
	parts, ok := bodies[name]
	body := []byte{0}
	for _, p := range parts {
		body = append(body, p...)
	}
	return append(body, opEnd), ok
}

func local(i byte) []byte { return []byte{opLocalGet, i} }

func constant(v uint32) []byte { return append([]byte{opI32Const}, signed(int64(int32(v)))...) }

func result(errno uint32) []byte { return constant(errno) }

// storeI32 stores v where parameter i points.
func storeI32(i byte, v uint32) []byte {
	return append(append(local(i), constant(v)...), opI32Store, 2, 0)
}

// storePointers stores, where parameter 0 points, a pointer to each string of a list that lies end to end where parameter 1 points.
func storePointers(list []string) []byte {
	var out []byte
	at := uint32(0)
	for i, s := range list {
		out = append(append(append(append(out, local(0)...), local(1)...), constant(at)...), opI32Add, opI32Store, 2)
		out = appendUint(out, uint64(4*i))
		at += uint32(len(s) + 1)
	}
	return out
}

// storeText stores text where parameter i points.
func storeText(i byte, text string) []byte {
	var out []byte
	for at, c := range []byte(text) {
		out = append(append(append(out, local(i)...), constant(uint32(c))...), opI32Store8, 0)
		out = appendUint(out, uint64(at))
	}
	return out
}

// signed encodes v as signed LEB128.
func signed(v int64) []byte {
	var out []byte
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}
