#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>
#include <onnxruntime_cxx_api.h>

namespace ort_ed {

struct DoubleTensor {
  std::vector<int64_t> shape;
  std::vector<double> values;
};
using DoubleTensors = std::map<std::string, DoubleTensor>;  // by name

// A model that is fed doubles and gives doubles, whatever its own precision.
class DoubleEvaluator {
 public:
  DoubleEvaluator(const onnx::ModelProto& model, const std::string& name);

  // All outputs; `feeds` holds at least all inputs. Throws kBadModel if the model does not run.
  DoubleTensors Run(const DoubleTensors& feeds) const;

 private:
  mutable Ort::Session session_;  // Run is thread-safe, though not const
  std::vector<std::string> inputs_, outputs_;
  bool is_double_ = false;
};

}  // namespace ort_ed
