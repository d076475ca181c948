#pragma once

#include <string>

#include "models/inspect/model_summary.h"

namespace ort_ed {

// The shape of every tensor of the main graph when ONNX Runtime scores one row of zeros. Found by running, so
// shapes that the graph computes are known too, whatever the opset. Throws kBadModel, naming `name`, for a
// model that does not run.
TensorShapes ShapesOfOneRow(const onnx::ModelProto& model, const EnergyContract& contract,
                            const std::string& name);

}  // namespace ort_ed
