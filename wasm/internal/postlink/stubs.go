package postlink

// Instructions (core specification, section 5.4).
const (
	opUnreachable = 0x00
	opLoop        = 0x03
	opEnd         = 0x0b
	opBrIf        = 0x0d
	opLocalGet    = 0x20
	opLocalTee    = 0x22
	opI32Store    = 0x36
	opI64Store    = 0x37
	opI32Store8   = 0x3a
	opI32Const    = 0x41
	opI64Const    = 0x42
	opI32LtU      = 0x49
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

// Results of WASI functions (preview 1, type errno).
const (
	errnoSuccess = 0
	errnoBadFile = 8
)

// stub is the body of a WASI function: no locals, then instructions.
//
//   - There are no arguments and one environment variable.
//   - The clock stands at one second, so that the collector's pacing is the same in every run.
//   - Random bytes are zero: they seed only hash maps, none of which is keyed by a proof.
//   - A write succeeds and goes nowhere. On an error the Go runtime would throw, print, and so write again, for ever.
//   - Waiting and exiting cannot be: they are traps, and the host discards the instance.
func stub(name, environment string) ([]byte, bool) {
	n := uint32(len(environment) + 1)
	bodies := map[string][][]byte{
		"args_get":            {result(errnoSuccess)},
		"args_sizes_get":      {storeI32(0, 0), storeI32(1, 0), result(errnoSuccess)},
		"environ_sizes_get":   {storeI32(0, 1), storeI32(1, n), result(errnoSuccess)},
		"environ_get":         {local(0), local(1), {opI32Store, 2, 0}, storeText(1, environment+"\x00"), result(errnoSuccess)},
		"clock_time_get":      {local(2), {opI64Const}, signed(1e9), {opI64Store, 3, 0}, result(errnoSuccess)},
		"random_get":          {local(0), constant(0), local(1), {opPrefix, memoryFill, 0}, result(errnoSuccess)},
		"fd_write":            {result(errnoSuccess)},
		"sched_yield":         {result(errnoSuccess)},
		"poll_oneoff":         {{opUnreachable}},
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
