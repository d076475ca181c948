#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ort_ed {

// The values of a serialised ONNX model's initialisers whose names begin with `prefix`, by the rest of their
// names. Those whose values are not raw floats inside the model are left out.
std::map<std::string, std::vector<float>> ReadInitialisers(std::span<const std::byte> model,
                                                           std::string_view prefix);

}  // namespace ort_ed
