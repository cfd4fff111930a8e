#include "ntt.cuh"

NTT_COLUMN_PASSES(9, 5, 4, 2)
NTT_ROW_PASSES(9, 5, 4, 2)
