#include "runtime/initialisers.h"

#include <cstring>

#include "runtime/support/encoding/wire.h"

namespace ort_ed {
namespace {

// Field numbers of onnx.proto.
constexpr uint32_t kModelGraph = 7, kGraphInitializer = 5, kTensorName = 8, kTensorRawData = 9;

struct Tensor {
  std::string_view name, raw_data;
};

Tensor ReadTensor(std::string_view bytes) {
  Tensor tensor;
  WireReader reader(bytes);
  uint32_t number;
  std::string_view payload;
  while (reader.Next(number, payload)) {
    if (number == kTensorName) tensor.name = payload;
    if (number == kTensorRawData) tensor.raw_data = payload;
  }
  return tensor;
}

}  // namespace

std::map<std::string, std::vector<float>> ReadInitialisers(std::span<const std::byte> model,
                                                           std::string_view prefix) {
  std::map<std::string, std::vector<float>> found;
  uint32_t number;
  std::string_view graph, payload;
  WireReader fields({reinterpret_cast<const char*>(model.data()), model.size()});
  while (fields.Next(number, graph)) {
    if (number != kModelGraph) continue;
    WireReader reader(graph);
    while (reader.Next(number, payload)) {
      if (number != kGraphInitializer) continue;
      const auto [name, raw_data] = ReadTensor(payload);
      if (!name.starts_with(prefix) || raw_data.empty() || raw_data.size() % sizeof(float) != 0) continue;
      std::vector<float>& values = found[std::string(name.substr(prefix.size()))];
      values.resize(raw_data.size() / sizeof(float));
      std::memcpy(values.data(), raw_data.data(), raw_data.size());
    }
  }
  return found;
}

}  // namespace ort_ed
