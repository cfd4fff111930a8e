#include "ntt.cuh"

NTT_COLUMN_PASSES(8, 4, 4, 0, 7, 4)
NTT_ROW_PASSES(8, 4, 4, 0, 7, 4)
