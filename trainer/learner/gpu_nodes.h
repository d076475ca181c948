#pragma once

#include <string>

#include <onnx/onnx_pb.h>

#include "ort_ed/device.h"

namespace ort_ed {

// ONNX Runtime's WebGPU provider takes some nodes and then cannot run them, or computes something else. This
// is the device with those nodes of the model left to the CPU; they, and only they, get names where they have
// none. Other devices stay as they are.
Device WithoutBadNodes(const Device& device, onnx::ModelProto& model);

// "Mod (2), OneHot": operators of a model that the device leaves to the CPU, so that tensors travel in every
// run. Empty: none, or the device is the CPU. Operators on extents are not told: they cost nothing.
std::string OperatorsOnCpu(const Device& device, const onnx::ModelProto& model);

}  // namespace ort_ed
