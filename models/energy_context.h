#pragma once

#include <cstdint>
#include <vector>

#include "models/architecture_options.h"
#include "models/graph_builder.h"
#include "models/initialiser.h"

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
