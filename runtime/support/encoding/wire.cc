#include "runtime/support/encoding/wire.h"

namespace ort_ed {

// 32 bits, whatever a longer encoding has above them.
WireTag WireReader::ReadTag() {
  const auto tag = static_cast<uint32_t>(ReadVarint());
  return {tag >> 3, tag & 7};
}

bool WireReader::Next(WireField& field) {
  while (!AtEnd() && !damaged_) {
    const WireTag tag = ReadTag();
    field = {.number = tag.number, .type = tag.type};
    switch (tag.type) {
      case kVarint:
        field.value = ReadVarint();
        return !damaged_;
      case kEightBytes:
        field.payload = Take(8);
        return !damaged_;
      case kFourBytes:
        field.payload = Take(4);
        return !damaged_;
      case kLengthDelimited:
        field.payload = Take(ReadVarint());
        return !damaged_;
      default:
        Skip(tag);
    }
  }
  return false;
}

bool WireReader::Next(uint32_t& number, std::string_view& payload) {
  WireField field;
  while (Next(field)) {
    if (field.type != kLengthDelimited) continue;
    number = field.number;
    payload = field.payload;
    return true;
  }
  return false;
}

void WireReader::Skip(const WireTag& tag, int depth) {
  switch (tag.type) {
    case kVarint:
      ReadVarint();
      break;
    case kEightBytes:
      Take(8);
      break;
    case kFourBytes:
      Take(4);
      break;
    case kLengthDelimited:
      Take(ReadVarint());
      break;
    case kGroup:
      SkipGroup(tag.number, depth + 1);
      break;
    default:
      damaged_ = true;
  }
}

void WireReader::SkipGroup(uint32_t number, int depth) {
  damaged_ |= depth > kDeepestNesting;
  while (!damaged_) {
    const WireTag tag = ReadTag();
    if (tag.type == kEndOfGroup) {
      damaged_ |= tag.number != number;
      return;
    }
    Skip(tag, depth);
  }
}

uint64_t WireReader::ReadVarint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  damaged_ = true;
  return 0;
}

std::string_view WireReader::Take(uint64_t size) {
  damaged_ |= size > rest_.size();
  if (damaged_) return {};
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

}  // namespace ort_ed
