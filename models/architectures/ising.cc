#include <numeric>

#include "models/architectures/energy_context.h"
#include "models/architectures/lattice.h"
#include "ort_ed/error.h"

namespace ort_ed {
namespace {

constexpr OptionDescription kOptions[] = {
    {"init", "dense", "of the couplings: dense (normal), zero, or lattice (periodic, on the image shape)"},
    {"scale", "0.01", "standard deviation of dense couplings before they are made symmetric"},
    {"coupling", "0.2", "sigma of the lattice: J = sigma * adjacency"},
    {"reach", "1", "of the lattice: sites up to this distance are adjacent"},
    {"field", "none", "none, or the initial value of a trained field b"},
};

// Symmetric, so that G is J off the diagonal and stays so in training: a zero of G is a zero of J.
std::vector<float> DenseCouplings(const EnergyContext& context) {
  const auto n = static_cast<size_t>(context.dimension);
  const std::vector<int64_t> shape = {context.dimension, context.dimension};
  std::vector<float> g = context.initialiser.Normal(shape, context.options.Number("scale"));
  for (size_t i = 0; i < n; ++i) {
    g[i * n + i] = 0;
    for (size_t j = 0; j < i; ++j) g[i * n + j] = g[j * n + i] = (g[i * n + j] + g[j * n + i]) / 2;
  }
  return g;
}

std::vector<float> OnLattice(const EnergyContext& context) {
  if (context.image_shape.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "init 'lattice' of ising needs an image shape, height x width, e.g. 10x10");
  }
  const Lattice lattice{context.image_shape[0], context.image_shape[1], context.options.Number("reach")};
  const std::vector<double> couplings = LatticeCouplings(lattice, context.options.Number("coupling"));
  return {couplings.begin(), couplings.end()};
}

std::vector<float> InitialCouplings(const EnergyContext& context) {
  static constexpr std::string_view kInits[] = {"dense", "zero", "lattice"};
  const std::string init = context.options.Choice("init", kInits);
  if (init == "dense") return DenseCouplings(context);
  if (init == "lattice") return OnLattice(context);
  return context.initialiser.Fill(std::vector{context.dimension, context.dimension}, 0);
}

// J = (G + G^T) / 2 with a zero diagonal, whatever G is.
Value Couplings(const EnergyContext& context) {
  GraphBuilder& graph = *context.x.graph;
  const int64_t n = context.dimension;
  const Value g = graph.Parameter("G", std::vector{n, n}, InitialCouplings(context));
  std::vector<int64_t> sites(static_cast<size_t>(n));
  std::iota(sites.begin(), sites.end(), 0);
  const Value column = Unsqueeze(graph.Ints(sites), {1});
  const Value diagonal = Op("Equal", {column, graph.Ints(sites)});
  const Value symmetric = (g + Transpose(g, std::vector<int64_t>{1, 0})) * 0.5f;
  return graph.Renamed(Op("Where", {diagonal, graph.Scalar(0), symmetric}), "J");
}

// U(s) = -s^T J s - b.s with s = 2x - 1: both triangles of J count.
Value IsingEnergy(const EnergyContext& context) {
  const Value spins = 2.0f * context.x - 1.0f;
  const Value couplings = Couplings(context);
  const Value energy = -ReduceSum(MatMul(spins, couplings) * spins, {1});
  if (context.options.Is("field", "none")) return energy;
  const std::vector<int64_t> shape = {context.dimension};
  const auto initial = static_cast<float>(context.options.Number("field"));
  const Value field = context.x.graph->Parameter("b", shape, context.initialiser.Fill(shape, initial));
  return energy - MatMul(spins, field);
}

}  // namespace

extern const Architecture kIsingArchitecture;
const Architecture kIsingArchitecture = {
    "ising", "pairwise couplings of spins s = 2x - 1: p(s) ~ exp(s^T J s + b.s)", kOptions, IsingEnergy};

}  // namespace ort_ed
