#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ort_ed {

// Base64 with padding (RFC 4648), one line: how bytes travel in ONNX metadata, whose values are text.
std::string Base64Encode(std::span<const std::byte> bytes);
// Nothing if `text` is not base64.
std::optional<std::vector<std::byte>> Base64Decode(std::string_view text);

}  // namespace ort_ed
