#include "runtime/support/external_data.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "ort_ed/error.h"
#include "runtime/support/wire.h"

namespace ort_ed {
namespace {

namespace fs = std::filesystem;

// The messages of onnx.proto on the way from a model to the external data of a tensor.
enum class Message { kModel, kGraph, kFunction, kNode, kAttribute, kSparseTensor, kTensor, kExternalData };

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

// Thrown where the bytes are no protobuf.
struct Damaged {};

class Checker {
 public:
  Checker(const std::string& path, const std::string& name) : name_(name) {
    if (!path.empty()) folder_ = ModelFolder(path);
  }

  void Check(Message message, std::string_view bytes, int depth) const {
    if (message == Message::kExternalData) return CheckEntry(bytes);
    WireReader reader(bytes);
    uint32_t number;
    std::string_view payload;
    while (reader.Next(number, payload)) {
      const Field* field = FindField(message, number);
      if (field && depth == kDeepestNesting) throw Damaged();
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
    if (key != "location") return;
    const std::string location(value), problem = ExternalLocationProblem(folder_, location);
    if (!problem.empty())
      throw Error(ErrorCode::kBadModel, "'" + name_ + "' keeps data in '" + location + "' " + problem);
  }

  std::string name_;
  std::optional<std::string> folder_;
};

}  // namespace

std::string ExternalLocationProblem(const std::optional<std::string>& folder, const std::string& location) {
  const std::string advice = "outside the model's folder; move the file next to the model";
  if (!folder) return "but was given as bytes, which have no folder; load it from its file";
  if (location.empty()) return "(no location is given)";
  if (fs::path(location).is_absolute()) return "(an absolute path), " + advice;
  std::error_code error;
  const fs::path home = fs::weakly_canonical(fs::absolute(*folder), error);
  const fs::path target = error ? fs::path() : fs::weakly_canonical(home / location, error);
  if (error) return "(" + error.message() + ")";
  if (std::ranges::mismatch(home, target).in1 == home.end()) return "";
  return "(a link or path to '" + target.string() + "'), " + advice;
}

std::string ModelFolder(const std::string& path) { return fs::absolute(path).parent_path(); }

bool CheckExternalLocations(std::span<const std::byte> model, const std::string& path,
                            const std::string& name) {
  const std::string_view bytes(reinterpret_cast<const char*>(model.data()), model.size());
  try {
    Checker(path, name).Check(Message::kModel, bytes, 0);
  } catch (const Damaged&) {
    return false;
  }
  return true;
}

}  // namespace ort_ed
