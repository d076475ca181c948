#include "runtime/support/external_data.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "ort_ed/error.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;

// The messages of onnx.proto on the way from a model to the external data of a tensor.
enum class Message { kModel, kGraph, kFunction, kNode, kAttribute, kSparseTensor, kTensor, kExternalData };

// As protobuf itself: deeper nesting is damage.
constexpr int kDeepest = 100;

struct Field {
  Message parent;
  uint32_t number;
  Message child;
};

constexpr Field kFields[] = {
    {Message::kModel, 7, Message::kGraph},
    {Message::kModel, 25, Message::kFunction},
    {Message::kGraph, 1, Message::kNode},
    {Message::kGraph, 5, Message::kTensor},
    {Message::kGraph, 15, Message::kSparseTensor},
    {Message::kFunction, 7, Message::kNode},
    {Message::kNode, 5, Message::kAttribute},
    {Message::kAttribute, 5, Message::kTensor},
    {Message::kAttribute, 6, Message::kGraph},
    {Message::kAttribute, 10, Message::kTensor},
    {Message::kAttribute, 11, Message::kGraph},
    {Message::kAttribute, 22, Message::kSparseTensor},
    {Message::kAttribute, 23, Message::kSparseTensor},
    {Message::kSparseTensor, 1, Message::kTensor},
    {Message::kSparseTensor, 2, Message::kTensor},
    {Message::kTensor, 13, Message::kExternalData},
};

const Field* FindField(Message parent, uint32_t number) {
  const auto* field =
      std::ranges::find_if(kFields, [&](const Field& f) { return f.parent == parent && f.number == number; });
  return field == std::end(kFields) ? nullptr : field;
}

// Reads the fields of one serialised protobuf message, all that protobuf itself would read.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  // The next length-delimited field; the others are skipped. False at the end or where the bytes are damaged.
  bool Next(uint32_t& number, std::string_view& payload) {
    while (!rest_.empty() && !damaged_) {
      const Tag tag = ReadTag();
      number = tag.number;
      if (tag.type == kLengthDelimited) {
        payload = Take(Varint());
        return !damaged_;
      }
      Skip(tag, 0);
    }
    return false;
  }

  bool damaged() const { return damaged_; }

 private:
  enum WireType : uint32_t { kVarint, kEightBytes, kLengthDelimited, kGroup, kEndOfGroup, kFourBytes };
  struct Tag {
    uint32_t number, type;
  };

  // 32 bits, whatever a longer encoding has above them.
  Tag ReadTag() {
    const auto tag = static_cast<uint32_t>(Varint());
    return {tag >> 3, tag & 7};
  }

  void Skip(const Tag& tag, int depth) {
    switch (tag.type) {
      case kVarint:
        Varint();
        break;
      case kEightBytes:
        Take(8);
        break;
      case kFourBytes:
        Take(4);
        break;
      case kLengthDelimited:
        Take(Varint());
        break;
      case kGroup:
        SkipGroup(tag.number, depth + 1);
        break;
      default:
        damaged_ = true;
    }
  }

  void SkipGroup(uint32_t number, int depth) {
    damaged_ |= depth > kDeepest;
    while (!damaged_) {
      const Tag tag = ReadTag();
      if (tag.type == kEndOfGroup) {
        damaged_ |= tag.number != number;
        return;
      }
      Skip(tag, depth);
    }
  }

  uint64_t Varint() {
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

  std::string_view Take(uint64_t size) {
    damaged_ |= size > rest_.size();
    if (damaged_) return {};
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
  bool damaged_ = false;
};

// Thrown where the bytes are no protobuf.
struct Damaged {};

class Checker {
 public:
  Checker(const std::string& path, const std::string& name) : name_(name) {
    if (!path.empty()) folder_ = fs::weakly_canonical(fs::absolute(path).parent_path());
  }

  void Check(Message message, std::string_view bytes, int depth) const {
    if (message == Message::kExternalData) return CheckEntry(bytes);
    WireReader reader(bytes);
    uint32_t number;
    std::string_view payload;
    while (reader.Next(number, payload)) {
      const Field* field = FindField(message, number);
      if (field && depth == kDeepest) throw Damaged();
      if (field) Check(field->child, payload, depth + 1);
    }
    if (reader.damaged()) throw Damaged();
  }

 private:
  // A key with its value; the key "location" holds the path.
  void CheckEntry(std::string_view bytes) const {
    WireReader reader(bytes);
    uint32_t number;
    std::string_view payload, key, value;
    while (reader.Next(number, payload)) {
      if (number == 1) key = payload;
      if (number == 2) value = payload;
    }
    if (reader.damaged()) throw Damaged();
    if (key == "location" && !IsInFolder(value))
      throw Error(ErrorCode::kBadModel,
                  "the model '" + name_ + "' keeps data in '" + std::string(value) + "', which is not in " +
                      (folder_.empty() ? "the model itself; load it from its file"
                                       : "its own folder; move the data next to the model"));
  }

  bool IsInFolder(std::string_view location) const {
    if (folder_.empty() || fs::path(location).is_absolute()) return false;
    std::error_code error;
    const fs::path file = fs::weakly_canonical(folder_ / location, error);
    return !error && std::ranges::mismatch(folder_, file).in1 == folder_.end();
  }

  std::string name_;
  fs::path folder_;
};

}  // namespace

bool CheckExternalData(std::span<const std::byte> model, const std::string& path, const std::string& name) {
  const std::string_view bytes(reinterpret_cast<const char*>(model.data()), model.size());
  try {
    Checker(path, name).Check(Message::kModel, bytes, 0);
  } catch (const Damaged&) {
    return false;
  }
  return true;
}

}  // namespace ort_ed
