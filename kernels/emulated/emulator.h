// The emulated device, as Go sees it.
#pragma once
#include <stdint.h>

// The value of memory never written: below p, so that no kernel's arithmetic relies on it being odd, and improbable as a value.
#define EMULATOR_POISON 0xdbdbdbdbdbdbdbdbULL

#ifdef __cplusplus
extern "C" {
#endif
void *emulator_alloc(uint64_t bytes);
int emulator_free(void *at);
int emulator_contains(void *at, uint64_t bytes);
int emulator_launch(const char *kernel, const uint32_t grid[3], const uint32_t block[3], uint64_t shared_bytes, const void *params, uint64_t param_bytes, char *text,
	uint64_t text_bytes);
#ifdef __cplusplus
}
#endif
