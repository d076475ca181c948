#include "models/energy_context.h"
#include "models/layers.h"

namespace ort_ed {
namespace {

constexpr OptionDescription kOptions[] = {
    {"hidden", "256,256,256", "widths of the hidden layers, first to last"},
    {"activation", "swish", kActivationHelp},
    {"slope", "layer", kSlopeHelp},
};

Value MlpEnergy(const EnergyContext& context) {
  Value features = context.x;
  int64_t width = context.dimension;
  int layer = 0;
  for (const int64_t hidden : context.options.Integers("hidden", 1)) {
    const std::string name = "hidden" + std::to_string(++layer);
    features = Linear(context, name, features, width, hidden);
    features = Activation(context, name, features, std::vector{hidden});
    width = hidden;
  }
  return Squeeze(Linear(context, "output", features, width, 1), {1});
}

}  // namespace

extern const Architecture kMlpArchitecture;
const Architecture kMlpArchitecture = {"mlp", "multi-layer perceptron", kOptions, MlpEnergy};

}  // namespace ort_ed
