#include "models/architectures/energy_context.h"

namespace ort_ed {
namespace {

constexpr OptionDescription kOptions[] = {
    {"hidden", "256", "number of hidden units"},
    {"scale", "0.01", "standard deviation of the initial weights"},
};

// The hidden units are summed out: U(x) = -b.x - sum_j log(1 + exp((xW + c)_j)).
Value RbmEnergy(const EnergyContext& context) {
  const std::vector<int64_t> visible = {context.dimension};
  const std::vector<int64_t> hidden = {context.options.Integer("hidden", 1)};
  const std::vector<int64_t> pairs = {visible[0], hidden[0]};
  Initialiser& initialiser = context.initialiser;
  GraphBuilder& graph = *context.x.graph;

  const Value weight =
      graph.Parameter("weight", pairs, initialiser.Normal(pairs, context.options.Number("scale")));
  const Value visible_bias = graph.Parameter("visible_bias", visible, initialiser.Fill(visible, 0));
  const Value hidden_bias = graph.Parameter("hidden_bias", hidden, initialiser.Fill(hidden, 0));

  const Value activity = ReduceSum(Softplus(Op("Gemm", {context.x, weight, hidden_bias})), {1});
  return -(MatMul(context.x, visible_bias) + activity);
}

}  // namespace

extern const Architecture kRbmArchitecture;
const Architecture kRbmArchitecture = {"rbm", "restricted Boltzmann machine, as its free energy", kOptions,
                                       RbmEnergy};

}  // namespace ort_ed
