#include "ntt.cuh"

NTT_COLUMN_PASSES(7, 4, 3, 8, 2)
NTT_ROW_PASSES(7, 4, 3, 8, 2)
