#include "ntt.cuh"

NTT_COLUMN_PASSES(5, 3, 2, 0, 7, 6)
NTT_ROW_PASSES(5, 3, 2, 0, 7, 6)
