#include "ntt.cuh"

NTT_COLUMN_PASSES(5, 3, 2, 8, 2)
NTT_ROW_PASSES(5, 3, 2, 8, 2)
