#include "tools/jobs/log_z/shallow_cbor.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ort_ed {
namespace {

// Major types.
constexpr uint8_t kBytes = 2, kText = 3, kArray = 4, kMap = 5, kTag = 6;

struct Head {
  uint8_t type;
  uint64_t number;  // a length, or the value itself
};

// Nothing where it is cut short, or has no length.
std::optional<Head> ReadHead(std::string_view& bytes) {
  constexpr uint8_t kLargest = 23, kMostWidths = 4;
  if (bytes.empty()) return std::nullopt;
  const auto first = static_cast<uint8_t>(bytes.front());
  bytes.remove_prefix(1);
  Head head{.type = static_cast<uint8_t>(first >> 5), .number = first & 31u};
  if (head.number <= kLargest) return head;
  const uint64_t width = uint64_t{1} << (head.number - kLargest - 1);
  if (head.number > kLargest + kMostWidths || bytes.size() < width) return std::nullopt;
  head.number = 0;
  for (const char byte : bytes.substr(0, width)) head.number = head.number << 8 | static_cast<uint8_t>(byte);
  bytes.remove_prefix(width);
  return head;
}

}  // namespace

bool IsShallowCbor(std::string_view bytes, size_t deepest) {
  std::vector<uint64_t> awaited = {1};  // values still to come, of each array or map that is open
  while (!awaited.empty()) {
    if (awaited.back() == 0) {
      awaited.pop_back();
      continue;
    }
    --awaited.back();
    const std::optional<Head> head = ReadHead(bytes);
    if (!head || head->type == kTag) return false;
    const bool has_content = head->type >= kBytes && head->type <= kMap;
    if (has_content && head->number > bytes.size()) return false;
    if (head->type == kBytes || head->type == kText) bytes.remove_prefix(head->number);
    if (head->type == kArray) awaited.push_back(head->number);
    if (head->type == kMap) awaited.push_back(2 * head->number);
    if (awaited.size() > deepest + 1) return false;
  }
  return true;
}

}  // namespace ort_ed
