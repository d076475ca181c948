#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ort_ed {

// Thrown where the bytes are no protobuf.
struct DamagedModel {};

// The parts of a serialised model, as far as the gate looks at them. Texts are views of the model.

struct GateAttribute {
  std::string_view bytes;
  bool nested = false;  // has tensors or graphs
  std::string_view name;
  std::string_view reference;  // within a function: the attribute of the call that it stands for
  std::vector<int64_t> integers;
  std::optional<float> number;
};

struct GateNode {
  std::string_view name, op, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<GateAttribute> attributes;

  bool IsStandard() const { return domain.empty() || domain == "ai.onnx"; }
  const GateAttribute* Find(std::string_view attribute) const;
  // "node 'dense_1' (Einsum)".
  std::string Describe() const;
};

// What is known of a tensor without running the model.
struct GateTensor {
  std::optional<int64_t> rank;
  std::optional<int64_t> elements;
  std::optional<int64_t> value;  // of a single whole number
  std::string_view bytes = {};   // of a constant
};

// The tensors that a graph names, and those of the graphs around it.
struct GateScope {
  const GateScope* outer = nullptr;
  int64_t trips = 1;  // how often its nodes run, with those around it
  std::map<std::string_view, GateTensor> tensors = {};

  GateTensor Find(std::string_view name) const;
};

}  // namespace ort_ed
