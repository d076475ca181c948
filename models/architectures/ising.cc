#include <cmath>
#include <numeric>
#include <optional>

#include "models/architectures/energy_context.h"
#include "models/architectures/lattice.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

enum class Init { kDense, kZero, kLattice };

struct Options {
  Init init = Init::kDense;
  double scale = 0.01;
  double coupling = 0.2;
  double reach = 1;
  std::string field = "none";

  static void Describe(Declare<Options>& declare) {
    declare("init", &Options::init,
            {{"dense", Init::kDense}, {"zero", Init::kZero}, {"lattice", Init::kLattice}},
            "of the couplings: dense (normal), zero, or lattice (periodic, on the image shape)");
    declare("scale", &Options::scale, "",
            "standard deviation of dense couplings before they are made symmetric");
    declare("coupling", &Options::coupling, "", "sigma of the lattice: J = sigma * adjacency");
    declare("reach", &Options::reach, "", "of the lattice: sites up to this distance are adjacent");
    declare("field", &Options::field, "NUMBER", "none, or the initial value of a trained field b");
  }
};

// Symmetric, so that G is J off the diagonal and stays so in training: a zero of G is a zero of J.
std::vector<float> DenseCouplings(const EnergyContext& context, double scale) {
  const auto n = static_cast<size_t>(context.dimension);
  const std::vector<int64_t> shape = {context.dimension, context.dimension};
  std::vector<float> g = context.initialiser.Normal(shape, scale);
  for (size_t i = 0; i < n; ++i) {
    g[i * n + i] = 0;
    for (size_t j = 0; j < i; ++j) g[i * n + j] = g[j * n + i] = (g[i * n + j] + g[j * n + i]) / 2;
  }
  return g;
}

std::vector<float> CouplingsOnLattice(const EnergyContext& context, const Options& options) {
  if (context.image_shape.empty()) {
    throw OptionError("image_shape", "must be given: init lattice of ising needs an image shape, e.g. 10x10");
  }
  const Lattice lattice{context.image_shape[0], context.image_shape[1], options.reach};
  const std::vector<double> couplings = LatticeCouplings(lattice, options.coupling);
  return {couplings.begin(), couplings.end()};
}

std::vector<float> InitialCouplings(const EnergyContext& context, const Options& options) {
  if (options.init == Init::kDense) return DenseCouplings(context, options.scale);
  if (options.init == Init::kLattice) return CouplingsOnLattice(context, options);
  return context.initialiser.Fill(std::vector{context.dimension, context.dimension}, 0);
}

// J = (G + G^T) / 2 with a zero diagonal, whatever G is.
Value Couplings(const EnergyContext& context, const Options& options) {
  GraphBuilder& graph = *context.x.graph;
  const int64_t n = context.dimension;
  const Value g = graph.Parameter("G", std::vector{n, n}, InitialCouplings(context, options));
  std::vector<int64_t> sites(static_cast<size_t>(n));
  std::iota(sites.begin(), sites.end(), 0);
  const Value column = Unsqueeze(graph.Ints(sites), {1});
  const Value diagonal = Op("Equal", {column, graph.Ints(sites)});
  const Value symmetric = (g + Transpose(g, std::vector<int64_t>{1, 0})) * 0.5f;
  return graph.Renamed(Op("Where", {diagonal, graph.Scalar(0), symmetric}), "J");
}

// Nothing: there is no field.
std::optional<double> InitialField(const Options& options) {
  if (options.field == "none") return std::nullopt;
  const auto value = ParseNumber(options.field);
  if (!value || !std::isfinite(*value))
    throw OptionError("field", "must be none or a number, not '" + options.field + "'");
  return value;
}

// U(s) = -s^T J s - b.s with s = 2x - 1: both triangles of J count.
Value IsingEnergy(const EnergyContext& context, const Options& options) {
  const std::optional<double> initial = InitialField(options);
  const Value spins = 2.0f * context.x - 1.0f;
  const Value couplings = Couplings(context, options);
  const Value energy = -ReduceSum(MatMul(spins, couplings) * spins, {1});
  if (!initial) return energy;
  const std::vector<int64_t> shape = {context.dimension};
  const Value field =
      context.x.graph->Parameter("b", shape, context.initialiser.Fill(shape, static_cast<float>(*initial)));
  return energy - MatMul(spins, field);
}

}  // namespace

extern const ArchitectureKind kIsingArchitecture = MakeArchitecture<Options, IsingEnergy>(
    "ising", "pairwise couplings of spins s = 2x - 1: p(s) ~ exp(s^T J s + b.s)");

}  // namespace ort_ed
