#if defined(__x86_64__)
#include "sampler/quadratic/sweep_kernels.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif
#define SWEEP_KERNEL(name) name##Avx2
#define SWEEP_BYTES 32
#include "sampler/quadratic/sweep_kernel.inc"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
