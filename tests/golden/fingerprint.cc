#include "tests/golden/fingerprint.h"

#include <string>

#include <gnu/libc-version.h>

#include "ort_ed/device.h"

namespace ort_ed {
namespace {

std::string VectorInstructions() {
  std::string names;
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) names += "avx2 ";
  if (__builtin_cpu_supports("fma")) names += "fma ";
  if (__builtin_cpu_supports("avx512f")) names += "avx512f ";
#endif
  return names;
}

#ifdef NDEBUG
constexpr char kBuild[] = "release";
#else
constexpr char kBuild[] = "other";  // sanitizers, for example
#endif

}  // namespace

nlohmann::json Fingerprint() {
  return {{"processor", VectorInstructions()},
          {"glibc", gnu_get_libc_version()},
          {"onnxruntime", OnnxRuntimeVersion()},
          {"compiler", __VERSION__},
          {"build", kBuild}};
}

}  // namespace ort_ed
