#pragma once

#include <cstdint>
#include <vector>

#include "models/architectures/architecture_options.h"
#include "models/architectures/initialiser.h"
#include "models/graph/graph_builder.h"

namespace ort_ed {

// What an architecture builds its energy from.
struct EnergyContext {
  Value x;  // float32 [batch, dimension], values 0 and 1
  int64_t dimension;
  std::vector<int64_t> image_shape;  // {height, width} or empty
  const ArchitectureOptions& options;
  Initialiser& initialiser;
};

}  // namespace ort_ed
