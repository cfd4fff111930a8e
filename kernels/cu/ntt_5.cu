#include "ntt.cuh"

NTT_COLUMN_PASSES(5, 3, 2, 0, 7, 4)
NTT_ROW_PASSES(5, 3, 2, 0, 7, 4)
