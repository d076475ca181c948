#if defined(__x86_64__)
#include <cstring>

#include "sampler/base/lanes.h"

#pragma GCC target("avx2,fma")
#define LANE_KERNELS kAvx2LaneKernels
#include "sampler/base/lane_kernels.inc"
#endif
