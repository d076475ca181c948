#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ort_ed/device.h"

namespace ort_ed {

struct PlacedNode {
  std::string op;
  std::string name;
};

// The nodes of a model of our own that a session on the device leaves to the CPU: the device has no kernel
// for them, or they compute extents, which ONNX Runtime wants there. As they stand in the model: nothing is
// fused or folded. The model is opened to find out.
std::vector<PlacedNode> NodesOnCpu(std::span<const std::byte> model, const Device& device);

}  // namespace ort_ed
