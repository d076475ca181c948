// An architecture with an option of its own: a linear energy that starts at `toy_weight`.

#include "models/architectures/energy_context.h"

namespace ort_ed {
namespace {

struct ToyOptions {
  double toy_weight = 0.5;
  static void Describe(Declare<ToyOptions>& declare) {
    declare("toy_weight", &ToyOptions::toy_weight, "[-10, 10]", "initial weight of every variable");
  }
};

Value ToyEnergy(const EnergyContext& context, const ToyOptions& options) {
  GraphBuilder& graph = *context.x.graph;
  const std::vector<float> weights(static_cast<size_t>(context.dimension),
                                   static_cast<float>(options.toy_weight));
  return MatMul(context.x, graph.Parameter("weights", std::vector{context.dimension}, weights));
}

}  // namespace

extern const ArchitectureKind kToyArchitecture =
    MakeArchitecture<ToyOptions, ToyEnergy>("toy", "a linear energy");

}  // namespace ort_ed
