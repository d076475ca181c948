// Which graphs show an RBM.

#include "models/inspect/bipartite_terms.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "models/architectures/energy_spec.h"
#include "models/graph/graph_builder.h"

namespace ort_ed {
namespace {

constexpr int64_t kDimension = 4, kUnits = 3;

onnx::ModelProto Build(const Choice& architecture, std::vector<float> base_mean = {}) {
  EnergySpec spec;
  spec.architecture = architecture;
  spec.dimension = kDimension;
  spec.base_mean = std::move(base_mean);
  return BuildModel(spec);
}

struct Parts {
  GraphBuilder& graph;
  Value x, weight, by_unit, bias, visible;
};

// A graph of one's own.
std::optional<BipartiteTerms> Find(const std::function<Value(const Parts&)>& energy) {
  onnx::ModelProto model;
  GraphBuilder graph(model);
  const auto parameter = [&](const char* name, std::vector<int64_t> shape) {
    const int64_t size = shape.size() == 2 ? shape[0] * shape[1] : shape[0];
    return graph.Parameter(name, shape, std::vector<float>(static_cast<size_t>(size), 0.5f));
  };
  const Value x = graph.Input("x", std::vector<int64_t>{-1, kDimension});
  const Parts parts{graph,
                    x,
                    parameter("W", {kDimension, kUnits}),
                    parameter("V", {kUnits, kDimension}),
                    parameter("c", {kUnits}),
                    parameter("b", {kDimension})};
  graph.Output(graph.Named(energy(parts), "energy"), std::vector<int64_t>{-1});
  return FindBipartiteTerms(model);
}

Value Units(const Value& inputs) { return ReduceSum(Softplus(inputs), {1}); }

TEST(BipartiteTerms, OfArchitectures) {
  const auto plain = FindBipartiteTerms(Build(Choice("rbm", {{"hidden", kUnits}})));
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->units, kUnits);
  EXPECT_EQ(plain->dimension, kDimension);
  EXPECT_EQ(plain->weight.name, "weight");
  EXPECT_FALSE(plain->transposed);
  EXPECT_EQ(plain->bias->name, "hidden_bias");
  ASSERT_EQ(plain->linear.size(), 1u);
  EXPECT_EQ(plain->linear[0].scale, -1);
  EXPECT_EQ(plain->linear[0].values.name, "visible_bias");

  const auto based = FindBipartiteTerms(Build(Choice("rbm", {{"hidden", kUnits}}), {0.2f, 0.4f, 0.6f, 0.8f}));
  ASSERT_TRUE(based);
  ASSERT_EQ(based->linear.size(), 2u);
  EXPECT_EQ(based->linear[1].scale, 1);
  ASSERT_TRUE(based->linear[1].values.fixed);
  EXPECT_NEAR(based->linear[1].values.fixed->front(), std::log(0.8 / 0.2), 1e-6);
  EXPECT_EQ(based->Initialisers(), (std::vector<std::string>{"weight", "hidden_bias", "visible_bias"}));

  for (const std::string other : {"ising", "mlp", "made"})
    EXPECT_FALSE(FindBipartiteTerms(Build(other))) << other;
}

TEST(BipartiteTerms, OfOwnGraphs) {
  const auto transposed = Find([](const Parts& p) {
    return -ReduceSum(p.x * p.visible, {1}) -
           Units(Op("Gemm", {p.x, p.by_unit, p.bias}, {{"transB", int64_t{1}}}));
  });
  ASSERT_TRUE(transposed);
  EXPECT_TRUE(transposed->transposed);
  EXPECT_EQ(transposed->weight.name, "V");
  EXPECT_EQ(transposed->linear.at(0).scale, -1);
  const auto sum = Find([](const Parts& p) { return 2.0f - Units(p.bias + MatMul(p.x, p.weight)); });
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->bias->name, "c");
  EXPECT_TRUE(sum->linear.empty());
  EXPECT_TRUE(Find([](const Parts& p) { return -Units(MatMul(p.x, p.weight)); }));
}

TEST(BipartiteTerms, NotOfWhatOnlyLooksAlike) {
  const auto none = [](const std::function<Value(const Parts&)>& energy) { return !Find(energy); };
  const auto units = [](const Parts& p) { return Units(MatMul(p.x, p.weight) + p.bias); };
  EXPECT_TRUE(none([&](const Parts& p) { return units(p); }));              // the other sign
  EXPECT_TRUE(none([&](const Parts& p) { return -units(p) - units(p); }));  // twice
  EXPECT_TRUE(none([&](const Parts& p) { return -units(p) * 2.0f; }));
  EXPECT_TRUE(none([&](const Parts& p) { return -Units(MatMul(p.x * p.x, p.weight)); }));
  EXPECT_TRUE(none([&](const Parts& p) { return -units(p) - MatMul(p.x * p.x, p.visible); }));
  EXPECT_TRUE(none([&](const Parts& p) { return MatMul(p.x, p.visible); }));  // no units
  EXPECT_TRUE(none([&](const Parts& p) {
    return -Units(Op("Gemm", {p.x, p.weight, p.bias}, {{"alpha", 2.0f}}));
  }));
  EXPECT_TRUE(none([&](const Parts& p) { return -ReduceSum(Sigmoid(MatMul(p.x, p.weight)), {1}); }));
}

}  // namespace
}  // namespace ort_ed
