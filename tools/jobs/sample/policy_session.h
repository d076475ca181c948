#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "runtime/session.h"

namespace ort_ed {

// Some outputs of a network with one input, [batch, D]. The parts that they do not need are left out.
class PolicySession {
 public:
  // `name` stands for the file in messages.
  PolicySession(const onnx::ModelProto& model, const std::string& name, std::vector<std::string> outputs,
                int threads);

  int64_t dimension() const { return dimension_; }

  // Rows that lie one after the other in; out of each as many numbers of each output as there is room for.
  // Throws kRuntime, and kBadModel where the network gives another number of them.
  void Run(std::span<const float> rows, std::initializer_list<std::span<float>> numbers) const;

 private:
  std::vector<Ort::Value> RunSome(std::span<const float> rows) const;

  std::string name_, input_;
  std::vector<std::string> outputs_;
  int64_t dimension_;
  mutable Ort::Session session_;
};

}  // namespace ort_ed
