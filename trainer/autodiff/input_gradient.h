#pragma once

#include <onnx/onnx_pb.h>

namespace ort_ed {

// What an energy model lacks to give dU/dx: the additional nodes and the output `energy_gradient`, float32
// [batch, D]. Protobuf merges concatenated messages, so the model's bytes followed by the fragment's are the
// model with gradient. Standard operators only. The model must be one that PrepareForDifferentiation() leaves
// as it is. Throws kBadModel.
onnx::ModelProto InputGradientFragment(const onnx::ModelProto& energy_model);

// Prepares the model for differentiation and stores its fragment in the metadata (kGradientFragment), where
// EnergyModel::EnergyAndGradient() finds it; a fragment that is already there is replaced. Call it last: a
// fragment fits the graph it was made from.
void AttachInputGradient(onnx::ModelProto& energy_model);

}  // namespace ort_ed
