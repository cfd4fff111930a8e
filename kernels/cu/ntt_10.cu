#include "ntt.cuh"

NTT_COLUMN_PASSES(10, 4, 3, 3, 8, 2)
NTT_ROW_PASSES(10, 4, 3, 3, 8, 2)
