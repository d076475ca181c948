#pragma once

#include <optional>

namespace onnx {
class ModelProto;
}

namespace ort_ed {

// The degree of the energy as a polynomial in the model's input, read off its graph: a product has the sum of
// its factors' degrees, a sum the largest, whatever the parameters are. Nothing where the graph does not show
// that it is a polynomial.
std::optional<int> EnergyDegree(const onnx::ModelProto& model);

// Whether the metadata say what NoteDegree() would write.
bool HasNotedDegree(const onnx::ModelProto& model);
// Writes a degree of at most 2 into the metadata, which samplers need to trust in couplings.
void NoteDegree(onnx::ModelProto& model);

}  // namespace ort_ed
