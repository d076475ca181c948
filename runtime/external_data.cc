#include "runtime/external_data.h"

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

struct Field {
  Message parent;
  uint64_t number;
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

const Field* FindField(Message parent, uint64_t number) {
  const auto* field =
      std::ranges::find_if(kFields, [&](const Field& f) { return f.parent == parent && f.number == number; });
  return field == std::end(kFields) ? nullptr : field;
}

// Reads the fields of one serialised protobuf message.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  // The next length-delimited field; the others are skipped. False at the end or where the bytes are damaged.
  bool Next(uint64_t& number, std::string_view& payload) {
    while (!rest_.empty()) {
      const auto tag = Varint();
      if (!tag) return false;
      number = *tag >> 3;
      const uint64_t wire_type = *tag & 7;
      if (wire_type == 0) {
        if (!Varint()) return false;
      } else if (wire_type == 2) {
        const auto size = Varint();
        return size && Take(*size, payload);
      } else if (wire_type == 1 || wire_type == 5) {
        if (!Take(wire_type == 1 ? 8 : 4, payload)) return false;
      } else {
        return false;
      }
    }
    return false;
  }

 private:
  std::optional<uint64_t> Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  bool Take(uint64_t size, std::string_view& payload) {
    if (size > rest_.size()) return false;
    payload = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

  std::string_view rest_;
};

class Checker {
 public:
  Checker(const std::string& path, const std::string& name) : name_(name) {
    if (!path.empty()) folder_ = fs::weakly_canonical(fs::absolute(path).parent_path());
  }

  void Check(Message message, std::string_view bytes, int depth) const {
    constexpr int kDeepest = 100;  // as protobuf itself: deeper nesting is damage, which ONNX Runtime rejects
    if (depth > kDeepest) return;
    if (message == Message::kExternalData) return CheckEntry(bytes);
    WireReader reader(bytes);
    uint64_t number;
    std::string_view payload;
    while (reader.Next(number, payload))
      if (const Field* field = FindField(message, number)) Check(field->child, payload, depth + 1);
  }

 private:
  // A key with its value; the key "location" holds the path.
  void CheckEntry(std::string_view bytes) const {
    WireReader reader(bytes);
    uint64_t number;
    std::string_view payload, key, value;
    while (reader.Next(number, payload)) {
      if (number == 1) key = payload;
      if (number == 2) value = payload;
    }
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

void CheckExternalData(std::span<const std::byte> model, const std::string& path, const std::string& name) {
  const std::string_view bytes(reinterpret_cast<const char*>(model.data()), model.size());
  Checker(path, name).Check(Message::kModel, bytes, 0);
}

}  // namespace ort_ed
