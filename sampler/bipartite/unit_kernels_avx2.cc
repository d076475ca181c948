#if defined(__x86_64__)
#include "sampler/bipartite/unit_kernels.h"

#pragma GCC target("avx2,fma")
#define UNIT_KERNELS kAvx2UnitKernels
#define UNIT_BYTES 32
#include "sampler/bipartite/unit_kernels.inc"
#endif
