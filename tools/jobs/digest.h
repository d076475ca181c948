#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace ort_ed {

// Size and CRC-32 of bytes, as text.
std::string Digest(std::span<const std::byte> bytes);

template <typename Values>
std::string ComputeDigest(const Values& values) {
  return Digest(std::as_bytes(std::span(values)));
}

}  // namespace ort_ed
