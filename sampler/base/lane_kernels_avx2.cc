#if defined(__x86_64__)
#include <cstring>

#include "sampler/base/lanes.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define LANE_KERNELS kAvx2LaneKernels
#include "sampler/base/lane_kernels.inc"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
