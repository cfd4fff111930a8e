#include "ntt.cuh"

NTT_COLUMN_PASSES(9, 5, 4, 7, 3)
NTT_ROW_PASSES(9, 5, 4, 7, 3)
