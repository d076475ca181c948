#include "models/architectures/energy_context.h"

namespace ort_ed {
namespace {

struct Options {
  int64_t hidden = 256;
  double scale = 0.01;

  static void Describe(Declare<Options>& declare) {
    declare("hidden", &Options::hidden, "[1, inf)", "number of hidden units");
    declare("scale", &Options::scale, "", "standard deviation of the initial weights");
  }
};

// The hidden units are summed out: U(x) = -b.x - sum_j log(1 + exp((xW + c)_j)).
Value RbmEnergy(const EnergyContext& context, const Options& options) {
  const std::vector<int64_t> visible = {context.dimension};
  const std::vector<int64_t> hidden = {options.hidden};
  const std::vector<int64_t> pairs = {visible[0], hidden[0]};
  Initialiser& initialiser = context.initialiser;
  GraphBuilder& graph = *context.x.graph;

  const Value weight = graph.Parameter("weight", pairs, initialiser.Normal(pairs, options.scale));
  const Value visible_bias = graph.Parameter("visible_bias", visible, initialiser.Fill(visible, 0));
  const Value hidden_bias = graph.Parameter("hidden_bias", hidden, initialiser.Fill(hidden, 0));

  const Value activity = ReduceSum(Softplus(Op("Gemm", {context.x, weight, hidden_bias})), {1});
  return -(MatMul(context.x, visible_bias) + activity);
}

}  // namespace

extern const ArchitectureKind kRbmArchitecture =
    MakeArchitecture<Options, RbmEnergy>("rbm", "restricted Boltzmann machine, as its free energy");

}  // namespace ort_ed
