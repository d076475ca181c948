#pragma once

#include <cstdint>
#include <string_view>

namespace ort_ed {

// As protobuf itself: deeper nesting is damage.
inline constexpr int kDeepestNesting = 100;

enum WireType : uint32_t { kVarint, kEightBytes, kLengthDelimited, kGroup, kEndOfGroup, kFourBytes };

struct WireTag {
  uint32_t number;
  uint32_t type;  // a WireType, or what damage made of it
};

struct WireField {
  uint32_t number = 0;
  uint32_t type = kVarint;        // one of kVarint, kEightBytes, kFourBytes, kLengthDelimited
  uint64_t value = 0;             // of a varint
  std::string_view payload = {};  // of the others
};

// Reads the fields of one serialised protobuf message, all that protobuf itself would read. Once the bytes
// turn out to be damaged or cut short, damaged() is true and nothing more is read.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  bool AtEnd() const { return rest_.empty(); }
  bool damaged() const { return damaged_; }

  WireTag ReadTag();
  // What follows a tag.
  void Skip(const WireTag& tag) { Skip(tag, 0); }

  // The next field; groups, which ONNX has none of, are skipped. False at the end or where the bytes are
  // damaged.
  bool Next(WireField& field);
  // The next length-delimited field; the others are skipped. False at the end or where the bytes are damaged.
  bool Next(uint32_t& number, std::string_view& payload);

  uint64_t ReadVarint();

 private:
  void Skip(const WireTag& tag, int depth);
  void SkipGroup(uint32_t number, int depth);
  std::string_view Take(uint64_t size);

  std::string_view rest_;
  bool damaged_ = false;
};

}  // namespace ort_ed
