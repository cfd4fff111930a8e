// The BLAKE3 compression function (specification, section 2.2), all in registers.
#pragma once
#include "target.cuh"

enum : u32 { CHUNK_START = 1, CHUNK_END = 2, PARENT = 4, ROOT = 8, KEYED = 16 };

struct Digest {
	u32 w[8];
};

// A key or digest in parameters, where every field has 8 bytes.
struct PackedDigest {
	u64 w[4];
};

INLINE Digest unpack(const PackedDigest &p) {
	Digest d;
	UNROLL
	for (int i = 0; i < 4; i++) d.w[2 * i] = (u32)p.w[i], d.w[2 * i + 1] = (u32)(p.w[i] >> 32);
	return d;
}

INLINE void quarter_round(u32 *v, int a, int b, int c, int d, u32 x, u32 y) {
	v[a] += v[b] + x;
	v[d] = rotate_right(v[d] ^ v[a], 16);
	v[c] += v[d];
	v[b] = rotate_right(v[b] ^ v[c], 12);
	v[a] += v[b] + y;
	v[d] = rotate_right(v[d] ^ v[a], 8);
	v[c] += v[d];
	v[b] = rotate_right(v[b] ^ v[c], 7);
}

// The chaining value after a block; m is used up.
INLINE Digest compress(const Digest &cv, u32 *m, u32 counter, u32 length, u32 flags) {
	u32 v[16] = {cv.w[0], cv.w[1], cv.w[2], cv.w[3], cv.w[4], cv.w[5], cv.w[6], cv.w[7], 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, counter, 0, length, flags};
	UNROLL
	for (int round = 0; round < 7; round++) {
		UNROLL
		for (int i = 0; i < 4; i++) quarter_round(v, i, i + 4, i + 8, i + 12, m[2 * i], m[2 * i + 1]);
		UNROLL
		for (int i = 0; i < 4; i++) quarter_round(v, i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12, m[8 + 2 * i], m[9 + 2 * i]);
		// A renaming of registers.
		u32 t[16] = {m[2], m[6], m[3], m[10], m[7], m[0], m[4], m[13], m[1], m[11], m[12], m[5], m[9], m[14], m[15], m[8]};
		UNROLL
		for (int i = 0; i < 16; i++) m[i] = t[i];
	}
	Digest out;
	UNROLL
	for (int i = 0; i < 8; i++) out.w[i] = v[i] ^ v[i + 8];
	return out;
}

// A block of two digests.
INLINE Digest compress_pair(const Digest &key, const Digest &left, const Digest &right, u32 flags) {
	u32 m[16];
	UNROLL
	for (int i = 0; i < 8; i++) m[i] = left.w[i], m[i + 8] = right.w[i];
	return compress(key, m, 0, 64, flags);
}
