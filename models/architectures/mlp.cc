#include "models/architectures/energy_context.h"
#include "models/architectures/layers.h"

namespace ort_ed {
namespace {

constexpr OptionDescription kOptions[] = {
    {"hidden", "256,256,256", "widths of the hidden layers, first to last"},
    {"activation", "swish", kActivationHelp},
    {"slope", "layer", kSlopeHelp},
    {"input", "bits", "what the first layer sees: bits (0 and 1) or spins (-1 and 1)"},
};

Value Input(const EnergyContext& context) {
  static constexpr std::string_view kInputs[] = {"bits", "spins"};
  return context.options.Choice("input", kInputs) == "bits" ? context.x : 2.0f * context.x - 1.0f;
}

Value MlpEnergy(const EnergyContext& context) {
  Value features = Input(context);
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
