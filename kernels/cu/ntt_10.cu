#include "ntt.cuh"

NTT_COLUMN_PASSES(10, 5, 5, 7, 3)
NTT_ROW_PASSES(10, 5, 5, 7, 3)
