#include "models/architectures/energy_context.h"
#include "models/architectures/layers.h"

namespace ort_ed {
namespace {

enum class Input { kBits, kSpins };

struct Options {
  std::vector<int64_t> hidden = {256, 256, 256};
  Activation activation;
  Input input = Input::kBits;

  static void Describe(Declare<Options>& declare) {
    declare("hidden", &Options::hidden, "[1, inf)", "widths of the hidden layers, first to last");
    declare.All(&Options::activation);
    declare("input", &Options::input, {{"bits", Input::kBits}, {"spins", Input::kSpins}},
            "what the first layer sees: bits (0 and 1) or spins (-1 and 1)");
  }
};

Value MlpEnergy(const EnergyContext& context, const Options& options) {
  if (options.hidden.empty()) throw OptionError("hidden", "must have the width of a layer at least");
  Value features = options.input == Input::kBits ? context.x : 2.0f * context.x - 1.0f;
  int64_t width = context.dimension;
  int layer = 0;
  for (const int64_t hidden : options.hidden) {
    const std::string name = "hidden" + std::to_string(++layer);
    features = Linear(context, name, features, width, hidden);
    features = Activate(context, options.activation, name, features, std::vector{hidden});
    width = hidden;
  }
  return Squeeze(Linear(context, "output", features, width, 1), {1});
}

}  // namespace

extern const ArchitectureKind kMlpArchitecture =
    MakeArchitecture<Options, MlpEnergy>("mlp", "multi-layer perceptron");

}  // namespace ort_ed
