#include "ntt.cuh"

NTT_COLUMN_PASSES(6, 3, 3, 4)
NTT_ROW_PASSES(6, 3, 3, 4)
