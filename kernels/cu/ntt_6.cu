#include "ntt.cuh"

NTT_COLUMN_PASSES(6, 3, 3, 0, 7, 6)
NTT_ROW_PASSES(6, 3, 3, 0, 7, 6)
