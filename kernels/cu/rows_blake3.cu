// Rows of the system blake3 (docs/systems/blake3.md): the device's twin of systems/blake3/trace.go. An item is a compression, of eight rows with a thread each; the table
// holds compressions in reverse, each in reverse. Row r > 0 is round r, and row 0 ends the compression before.
#include "blake3.cuh"
#include "field.cuh"
#include "rows.cuh"

enum : u32 {
	ROWS = 8, // of a compression
	// The words of a seed.
	SEED_CV = 0,
	SEED_BLOCK = 4,
	SEED_BYTES = 12,
	SEED_SPLIT = 13,
	SEED_CHUNK = 15, // and the block's length above
	SEED_FLAGS = 16, // and whether the block is short above
	SEED_USES = 17,
	SEED_WORDS = 18,
	// The columns: eight quarter-rounds, the message, the control columns.
	QUARTER_COLUMNS = 40,
	COLUMN_MESSAGE = 8 * QUARTER_COLUMNS,
	COLUMN_CONTROL = COLUMN_MESSAGE + 16,
};

INLINE void load_pairs(u32 *to, const u64 *from, int pairs) {
	UNROLL
	for (int i = 0; i < pairs; i++) to[2 * i] = (u32)from[i], to[2 * i + 1] = (u32)(from[i] >> 32);
}

// The sixteen words before the first round.
INLINE void load_state(u32 *v, const u64 *seed) {
	load_pairs(v, seed + SEED_CV, 4);
	u32 flags = (u32)seed[SEED_FLAGS];
	v[8] = 0x6a09e667, v[9] = 0xbb67ae85, v[10] = 0x3c6ef372, v[11] = 0xa54ff53a;
	v[12] = flags & PARENT ? 0 : (u32)seed[SEED_CHUNK], v[13] = 0, v[14] = (u32)(seed[SEED_CHUNK] >> 32), v[15] = flags;
}

INLINE u32 rotate_left(u32 v, int n) { return rotate_right(v, 32 - n); }

// The words of a quarter-round in a row: its inputs, and what its columns hold, xors before their rotation.
struct Quarter {
	u32 a, b, c, d, a1, d1, c1, b1, a2, d2, c2, b2;
};

// Runs f(g, quarter, x, y) for the quarter-rounds g of row r of compression k, where x and y are the message words in field elements.
template <class F> INLINE void visit_row(const RowParams &p, u64 k, u32 r, F f) {
	const bool initial = r == 0;
	const u64 *own = p.seeds + SEED_WORDS * k, *seed = initial ? p.seeds + SEED_WORDS * (k ? k - 1 : p.items - 1) : own;
	u32 v[16], m[16], s[16];
	load_state(v, seed);
	load_state(s, own);
	load_pairs(m, seed + SEED_BLOCK, 8);
	const u32 length[4] = {(u32)seed[SEED_BYTES], (u32)(seed[SEED_BYTES] >> 32), 0, 0};
	for (u32 rounds = initial ? 7 : r - 1; rounds > 0; rounds--) {
		UNROLL
		for (int g = 0; g < 8; g++) {
			int i = g & 3, t = g >> 2;
			quarter_round(v, i, 4 + (i + t) % 4, 8 + (i + 2 * t) % 4, 12 + (i + 3 * t) % 4, m[2 * g], m[2 * g + 1]);
		}
		u32 next[16] = {m[2], m[6], m[3], m[10], m[7], m[0], m[4], m[13], m[1], m[11], m[12], m[5], m[9], m[14], m[15], m[8]};
		UNROLL
		for (int i = 0; i < 16; i++) m[i] = next[i];
	}
	UNROLL
	for (int g = 0; g < 8; g++) {
		const int i = g & 3, t = g >> 2, ia = i, ib = 4 + (i + t) % 4, ic = 8 + (i + 2 * t) % 4, id = 12 + (i + 3 * t) % 4;
		Quarter q;
		q.a = v[ia], q.b = v[ib], q.c = v[ic], q.d = v[id];
		if (!initial) {
			q.a1 = q.a + q.b + m[2 * g];
			q.d1 = q.d ^ q.a1;
			q.c1 = q.c + rotate_right(q.d1, 16);
			q.b1 = q.b ^ q.c1;
			q.a2 = q.a1 + rotate_right(q.b1, 12) + m[2 * g + 1];
			q.d2 = rotate_right(q.d1, 16) ^ q.a2;
			q.c2 = q.c1 + rotate_right(q.d2, 8);
		} else {
			if (t == 0) { // the outputs v[i] ^ v[8+i] and v[4+i] ^ v[12+i]
				q.d1 = rotate_left(q.a, 16), q.c1 = q.d, q.a2 = q.c, q.c2 = length[i];
			} else { // the initial state, undoing the rotations by 8, 7 and 12
				q.d1 = rotate_left(s[ia] ^ rotate_left(s[id], 8), 16), q.c1 = q.b ^ rotate_left(s[ic] ^ rotate_left(s[ib], 7), 12), q.a2 = s[ia], q.c2 = s[ic];
			}
			q.a1 = q.d ^ q.d1;
			q.b1 = q.b ^ q.c1;
			q.d2 = rotate_right(q.d1, 16) ^ q.a2;
		}
		q.b2 = rotate_right(q.b1, 12) ^ q.c2;
		// In row 0 a message word is what makes the sum true.
		u64 x = initial ? sub(q.a1, (u64)q.a + q.b) : m[2 * g], y = initial ? sub(q.a2, (u64)q.a1 + rotate_right(q.b1, 12)) : m[2 * g + 1];
		f(g, q, x, y);
		v[ia] = q.a2, v[ib] = rotate_right(q.b2, 7), v[ic] = q.c2, v[id] = rotate_right(q.d2, 8);
	}
}

// A thread's row: its compression, its number there, and where it lies in the table.
struct Row {
	u64 k;
	u32 r;
	u64 at;
};

INLINE Row row_of(const RowParams &p, u64 thread) {
	u64 k = p.first + p.count - 1 - thread / ROWS;
	u32 at = (u32)(thread % ROWS);
	return {k, ROWS - 1 - at, (p.items - 1 - k) * ROWS + at};
}

KERNEL(rows_blake3_compress, RowParams, 256, 2) {
	u64 thread = thread_index();
	if (thread >= p.count * ROWS) return;
	Row row = row_of(p, thread);
	u64 *to = p.columns + row.at;
	const u64 height = p.height;
	visit_row(p, row.k, row.r, [=](int g, const Quarter &q, u64 x, u64 y) {
		u64 *out = to + g * QUARTER_COLUMNS * height;
		auto bytes = [&](u32 v) {
			UNROLL
			for (int j = 0; j < 4; j++, out += height) *out = v >> 8 * j & 0xff;
		};
		// The low bits of each byte, then the high ones.
		auto parts = [&](u32 v, int low) {
			UNROLL
			for (int j = 0; j < 4; j++, out += height) *out = v >> 8 * j & ((1 << low) - 1);
			UNROLL
			for (int j = 0; j < 4; j++, out += height) *out = v >> (8 * j + low) & ((1 << (8 - low)) - 1);
		};
		bytes(q.a1), bytes(q.d1), bytes(q.c1), parts(q.b1, 4);
		bytes(q.a2), bytes(q.d2), bytes(q.c2), parts(q.b2, 7);
		to[(COLUMN_MESSAGE + 2 * g) * height] = x;
		to[(COLUMN_MESSAGE + 2 * g + 1) * height] = y;
	});
	const u64 *seed = p.seeds + SEED_WORDS * row.k, *before = p.seeds + SEED_WORDS * (row.k ? row.k - 1 : p.items - 1);
	u32 flags = (u32)seed[SEED_FLAGS];
	u64 *out = to + COLUMN_CONTROL * height;
	const u64 control[10] = {
		(flags & PARENT) != 0, (flags & CHUNK_START) != 0, (flags & CHUNK_END) != 0, (flags & ROOT) != 0, seed[SEED_FLAGS] >> 32,
		(u32)seed[SEED_CHUNK], seed[SEED_BYTES], seed[SEED_CHUNK] >> 32,
		row.r == 0 ? (u32)before[SEED_USES] : row.r == 1 ? seed[SEED_SPLIT] : 0,
		row.r == 0 ? before[SEED_USES] >> 32 : row.r == 1 ? seed[SEED_SPLIT + 1] : 0,
	};
	UNROLL
	for (int i = 0; i < 10; i++, out += height) *out = control[i];
}

// Adds the byte lookups of compressions to the columns of the circuit bytes, as bytes.Counts counts them.
KERNEL(rows_blake3_count, RowParams, 256, 2) {
	u64 thread = thread_index();
	if (thread >= p.count * ROWS) return;
	Row row = row_of(p, thread);
	u64 *xors = p.columns, *nibbles = p.columns + p.height, *split7 = p.columns + 2 * p.height;
	visit_row(p, row.k, row.r, [=](int, const Quarter &q, u64, u64) {
		auto count = [](u64 *uses, u32 x, u32 y) {
			UNROLL
			for (int j = 0; j < 4; j++) atomic_add(uses + ((y >> 8 * j & 0xff) << 8 | (x >> 8 * j & 0xff)), 1);
		};
		count(xors, q.d, q.a1);
		count(nibbles, q.b, q.c1);
		count(xors, rotate_right(q.d1, 16), q.a2);
		count(split7, rotate_right(q.b1, 12), q.c2);
	});
}
