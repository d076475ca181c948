#if defined(__x86_64__)
#include "sampler/bipartite/unit_kernels.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define UNIT_KERNELS kAvx2UnitKernels
#define UNIT_BYTES 32
#include "sampler/bipartite/unit_kernels.inc"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
