// States of annealings: what stands behind the checksum, which is put right.
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <zlib.h>

#include "ort_ed/error.h"
#include "tests/fuzz/memory_file.h"
#include "tools/jobs/log_z/annealing_state_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace ort_ed;
  const auto sum = static_cast<uint32_t>(size > 0 ? crc32_z(0, bytes, size) : 0);
  const std::string text = fmt::format("{:08x}", sum) + std::string(bytes, bytes + size);
  const MemoryFile file(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  try {
    AnnealingStateFile(file.path(), {{"seed", "3"}}).Find("forward");
  } catch (const Error&) {
  }
  return 0;
}
