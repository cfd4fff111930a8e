#include "ntt.cuh"

NTT_COLUMN_PASSES(7, 4, 3, 0, 7, 4)
NTT_ROW_PASSES(7, 4, 3, 0, 7, 4)
