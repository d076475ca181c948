#if defined(__x86_64__)
#include "sampler/quadratic/sweep_kernels.h"

#pragma GCC target("avx2")
#define SWEEP_KERNEL(name) name##Avx2
#define SWEEP_BYTES 32
#include "sampler/quadratic/sweep_kernel.inc"
#endif
