#include "tools/jobs/digest.h"

#include <fmt/format.h>
#include <zlib.h>

namespace ort_ed {

std::string Digest(std::span<const std::byte> bytes) {
  const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  return fmt::format("{}:{:08x}", bytes.size(), crc);
}

}  // namespace ort_ed
