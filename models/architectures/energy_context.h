#pragma once

#include <cstdint>
#include <vector>

#include "models/architectures/architectures.h"
#include "models/architectures/initialiser.h"
#include "models/graph/graph_builder.h"
#include "ort_ed/variables.h"

namespace ort_ed {

// What an architecture builds its energy from, beside its options.
struct EnergyContext {
  Value x;  // float32 [batch, dimension], values 0 and 1
  int64_t dimension;
  std::vector<int64_t> image_shape;  // {height, width} or empty
  Initialiser& initialiser;
  Variables variables = {};  // over the bits of x
};

// A row of the table from a struct of options and a function of them.
template <typename Options, Value (*Energy)(const EnergyContext& context, const Options& options)>
constexpr ArchitectureKind MakeArchitecture(const char* name, const char* summary) {
  return {name, summary, &SchemaOf<Options>, [](const EnergyContext& context, const OptionMap& options) {
            return Energy(context, MakeOptions<Options>(options));
          }};
}

}  // namespace ort_ed
