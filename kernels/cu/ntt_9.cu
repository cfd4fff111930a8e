#include "ntt.cuh"

NTT_COLUMN_PASSES(9, 3, 3, 3, 8, 2)
NTT_ROW_PASSES(9, 3, 3, 3, 8, 2)
