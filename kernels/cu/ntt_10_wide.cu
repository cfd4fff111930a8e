// Column passes of 2^10 for devices with much shared memory.
#include "ntt.cuh"

NTT_COLUMN_PASSES(10_wide, 5, 5, 0, 8, 1)
