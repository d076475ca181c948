#pragma once

namespace ort_ed {

// Domain and version of the operators that trainer/kernels/cpu_ops.h describes.
inline constexpr char kCpuKernelDomain[] = "ort_ed";
inline constexpr int kCpuKernelVersion = 1;

}  // namespace ort_ed
