#include "ntt.cuh"

NTT_COLUMN_PASSES(10, 5, 5, 0, 7, 2)
NTT_ROW_PASSES(10, 5, 5, 0, 7, 2)
