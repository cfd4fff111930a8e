// Leaves and nodes of Merkle trees, the transcript, and grinding, under the suite blake3 (docs/protocol.md section 3).
#include "blake3.cuh"
#include "field.cuh"

struct LeavesParams {
	const u64 *columns; // the address of each column's first value
	Digest *out;
	u64 width, rows;
	u64 row_stride; // values from a row to the next
	PackedDigest key;
};

// A stack of one digest for each level of the tree over a row's chunks: 2^20 chunks of 128 values.
#define MAX_CHUNK_LEVELS 20

// Hashes rows, a thread each: chunks of 128 values, and a tree over them.
KERNEL(hash_leaves, LeavesParams, 128, 4) {
	u64 row = thread_index();
	if (row >= p.rows) return;
	u64 offset = row * p.row_stride;
	const Digest key = unpack(p.key);
	Digest stack[MAX_CHUNK_LEVELS], cv = key;
	int depth = 0;
	u32 chunks = (u32)((p.width + 127) / 128);
	for (u32 chunk = 0; chunk < chunks; chunk++) {
		u64 at = (u64)chunk * 128;
		u32 values = (u32)(p.width - at < 128 ? p.width - at : 128);
		cv = key;
		for (u32 i = 0; i < values; i += 8) {
			u32 m[16], n = values - i < 8 ? values - i : 8;
			UNROLL
			for (u32 k = 0; k < 8; k++) {
				u64 v = k < n ? ((const u64 *)p.columns[at + i + k])[offset] : 0;
				m[2 * k] = (u32)v, m[2 * k + 1] = (u32)(v >> 32);
			}
			bool end = i + 8 >= values;
			u32 flags = KEYED | (i == 0 ? CHUNK_START : 0) | (end ? CHUNK_END : 0) | (end && chunks == 1 ? ROOT : 0);
			cv = compress(cv, m, chunk, 8 * n, flags);
		}
		if (chunk + 1 == chunks) break;
		// As many complete subtrees end here as the number of chunks has factors of two.
		for (u32 total = chunk + 1; !(total & 1); total >>= 1) cv = compress_pair(key, stack[--depth], cv, KEYED | PARENT);
		stack[depth++] = cv;
	}
	while (depth > 0) {
		depth--;
		cv = compress_pair(key, stack[depth], cv, KEYED | PARENT | (depth == 0 ? ROOT : 0));
	}
	p.out[row] = cv;
}

struct RowsParams {
	const u64 *rows;
	Digest *out;
	u64 width, count; // width even, at most 128
	PackedDigest key;
};

// Hashes rows of consecutive values, one row after the other, a thread each.
KERNEL(hash_rows, RowsParams, 128, 4) {
	u64 row = thread_index();
	if (row >= p.count) return;
	const u64 *values = p.rows + row * p.width;
	Digest cv = unpack(p.key);
	u32 width = (u32)p.width;
	for (u32 i = 0; i < width; i += 8) {
		u32 m[16], n = width - i < 8 ? width - i : 8;
		UNROLL
		for (u32 k = 0; k < 8; k += 2) {
			u64 v = 0, u = 0;
			if (k < n) load_pair(values + i + k, v, u);
			m[2 * k] = (u32)v, m[2 * k + 1] = (u32)(v >> 32), m[2 * k + 2] = (u32)u, m[2 * k + 3] = (u32)(u >> 32);
		}
		cv = compress(cv, m, 0, 8 * n, KEYED | (i == 0 ? CHUNK_START : 0) | (i + 8 >= width ? CHUNK_END | ROOT : 0));
	}
	p.out[row] = cv;
}

struct LevelsParams {
	Digest *nodes;      // level k has 2^k digests from place 2^k
	const Digest *rows; // digests of the rows that enter at the first level made, or none
	u64 log_below;      // the level whose parents are made
	u64 levels;         // how many levels are made
	PackedDigest node_key, inject_key;
};

// Makes levels of a tree. A block makes 256 nodes of the first and what lies above them.
KERNEL(hash_levels, LevelsParams, 256, 2) {
	Digest *below = (Digest *)shared_memory();
	const Digest key = unpack(p.node_key);
	u32 log = (u32)p.log_below - 1, count = 256;
	if (log < 8) count = 1u << log;
	u64 first = (u64)blockIdx.x * count;
	u32 t = threadIdx.x;
	Digest d;
	if (t < count) {
		const Digest *children = p.nodes + ((u64)1 << p.log_below) + 2 * (first + t);
		Digest left = children[0], right = children[1];
		if (p.rows) {
			const Digest inject_key = unpack(p.inject_key);
			Digest row = p.rows[first + t];
			d = compress_pair(inject_key, left, right, KEYED | CHUNK_START);
			u32 m[16] = {row.w[0], row.w[1], row.w[2], row.w[3], row.w[4], row.w[5], row.w[6], row.w[7], 0, 0, 0, 0, 0, 0, 0, 0};
			d = compress(d, m, 0, 32, KEYED | CHUNK_END | ROOT);
		} else
			d = compress_pair(key, left, right, KEYED | CHUNK_START | CHUNK_END | ROOT);
		p.nodes[((u64)1 << log) + first + t] = d;
	}
	for (u32 made = 1; made < p.levels; made++) {
		block_barrier();
		if (t < count) below[t] = d;
		block_barrier();
		log--, count >>= 1, first >>= 1;
		if (t < count) {
			d = compress_pair(key, below[2 * t], below[2 * t + 1], KEYED | CHUNK_START | CHUNK_END | ROOT);
			p.nodes[((u64)1 << log) + first + t] = d;
		}
	}
}

struct DrawParams {
	Digest *state;
	const Digest *root;
	Digest *seen; // where the root is kept
	Ext *out;
	u64 absorb, squeeze; // tags
	PackedDigest absorb_key, squeeze_key;
};

// Takes those of a block's four words that are below p, until there are three of them, and returns how many there are.
INLINE u32 take(u64 *out, u32 taken, const Digest &block) {
	for (int i = 0; i < 4; i++) {
		u64 v = PACK(block.w[2 * i], block.w[2 * i + 1]);
		if (v < P && taken < 3) out[taken++] = v;
	}
	return taken;
}

struct DrawCheckParams {
	const Digest *blocks;
	u64 *out;
	u64 count;
};

// take, for tests: no state is known whose blocks have larger words.
KERNEL(hash_draw_check, DrawCheckParams, 1, 1) {
	u32 taken = 0;
	for (u64 i = 0; i < p.count && taken < 3; i++) taken = take(p.out, taken, p.blocks[i]);
}

INLINE void put(u32 *m, int at, u64 v) { m[at] = (u32)v, m[at + 1] = (u32)(v >> 32); }

// A transcript absorbs a root as the message of one step, and the tag of the next, whose challenge of three words below p is drawn.
KERNEL(hash_draw, DrawParams, 1, 1) {
	Digest state = *p.state, root = *p.root;
	*p.seen = root;
	u32 m[16];
	for (int i = 0; i < 8; i++) m[i] = state.w[i];
	put(m, 8, p.absorb), put(m, 10, 4);
	for (int i = 0; i < 4; i++) m[12 + i] = root.w[i];
	state = compress(unpack(p.absorb_key), m, 0, 64, KEYED | CHUNK_START);
	for (int i = 0; i < 4; i++) m[i] = root.w[4 + i];
	put(m, 4, p.squeeze), put(m, 6, 0);
	for (int i = 8; i < 16; i++) m[i] = 0;
	state = compress(state, m, 0, 32, KEYED | CHUNK_END | ROOT);
	*p.state = state;
	u64 *out = &p.out->c0;
	u32 taken = 0;
	for (u64 block = 0; taken < 3; block++) {
		for (int i = 0; i < 8; i++) m[i] = state.w[i], m[i + 8] = 0;
		put(m, 8, block);
		taken = take(out, taken, compress(unpack(p.squeeze_key), m, 0, 40, KEYED | CHUNK_START | CHUNK_END | ROOT));
	}
}

struct GrindParams {
	u64 *best; // the lowest nonce found so far
	u64 first, count, mask;
	PackedDigest key, state;
};

// Finds the lowest of some nonces whose hash has the masked bits zero.
KERNEL(hash_grind, GrindParams, 256, 2) {
	u64 i = thread_index();
	if (i >= p.count) return;
	u64 nonce = p.first + i;
	const Digest state = unpack(p.state);
	u32 m[16] = {state.w[0], state.w[1], state.w[2], state.w[3], state.w[4], state.w[5], state.w[6], state.w[7], (u32)nonce, (u32)(nonce >> 32), 0, 0, 0, 0, 0, 0};
	Digest d = compress(unpack(p.key), m, 0, 40, KEYED | CHUNK_START | CHUNK_END | ROOT);
	if ((((u64)d.w[1] << 32 | d.w[0]) & p.mask) == 0) atomic_min(p.best, nonce);
}
