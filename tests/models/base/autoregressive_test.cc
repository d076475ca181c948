#include "models/base/autoregressive.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "models/architectures/energy_spec.h"
#include "models/graph/graph_builder.h"
#include "models/graph/model_edits.h"
#include "models/graph/model_file.h"
#include "ort_ed/metadata.h"
#include "runtime/support/text.h"
#include "tests/models/run_model.h"
#include "tests/support/error_matchers.h"

namespace ort_ed {
namespace {

constexpr int64_t kDimension = 6, kRows = 20;

onnx::ModelProto Made(int64_t dimension = kDimension, const OptionMap& options = {{"hidden", "7,5"}}) {
  return BuildModel({.architecture = {"made", options}, .dimension = dimension, .seed = 3});
}

onnx::ModelProto Mlp() {
  return BuildModel({.architecture = {"mlp", {{"hidden", "4"}}}, .dimension = kDimension});
}

std::vector<float> Energies(const onnx::ModelProto& model, const std::vector<float>& rows) {
  CheckOnnx(model, "test");
  return RunModel(model, rows, {static_cast<int64_t>(rows.size()) / kDimension, kDimension}, "energy");
}

TEST(Made, IsNormalisedFromTheStart) {
  for (const OptionMap& options :
       {OptionMap{{"hidden", "7,5"}}, OptionMap{{"hidden", "30"}, {"order", "random"}},
        OptionMap{{"hidden", "3"}, {"order", "5,3,1,0,2,4"}}, OptionMap{{"hidden", "7,5"}, {"orders", 3}},
        OptionMap{{"hidden", ""}, {"orders", 2}}}) {
    std::vector<float> rows;
    for (int s = 0; s < 1 << kDimension; ++s)
      for (int i = 0; i < kDimension; ++i) rows.push_back(static_cast<float>(s >> i & 1));
    double total = 0;
    for (const float energy : Energies(Made(kDimension, options), rows)) total += std::exp(-energy);
    EXPECT_NEAR(total, 1, 1e-5);
  }
}

Variables Mixed() {
  return Variables({{.name = "a"},
                    {.name = "b", .kind = VariableKind::kNominal, .labels = {"x", "y", "z"}},
                    {.name = "c", .kind = VariableKind::kOrdered, .labels = {"low", "high"}}});
}

TEST(Made, IsNormalisedOverTheStatesOfVariables) {
  const Variables variables = Mixed();
  for (const int64_t orders : {1, 2}) {
    const onnx::ModelProto model =
        BuildModel({.architecture = {"made", {{"hidden", "9,7"}, {"order", "2,0,1"}, {"orders", orders}}},
                    .dimension = kDimension,
                    .variables = variables,
                    .seed = 3});
    std::vector<float> rows;
    for (int64_t s = 0; s < 12; ++s) {
      std::vector<float> row(kDimension);
      variables.SetState(row.data(), 0, s % 2);
      variables.SetState(row.data(), 1, s / 2 % 3);
      variables.SetState(row.data(), 2, s / 6);
      rows.insert(rows.end(), row.begin(), row.end());
    }
    double total = 0;
    for (const float energy : Energies(model, rows)) total += std::exp(-energy);
    EXPECT_NEAR(total, 1, 1e-5);
  }
}

// The first network of a mixture is the one that it would be alone, and the orders are different ones.
TEST(Made, MixesNetworksWithOrdersOfTheirOwn) {
  const OptionMap options = {{"hidden", "7,5"}, {"order", "5,3,1,0,2,4"}};
  OptionMap several = options;
  several["orders"] = 3;
  const onnx::ModelProto one = Made(kDimension, options), mixture = Made(kDimension, several);
  EXPECT_EQ(GetMetadata(one, metadata_key::kBase), "made:2");
  EXPECT_EQ(GetMetadata(mixture, metadata_key::kBase), "made:2x3");
  const std::vector<std::string> orders = Split(GetMetadata(mixture, metadata_key::kBaseOrder), ';');
  EXPECT_EQ(std::set(orders.begin(), orders.end()).size(), 3);
  EXPECT_EQ(orders[0], GetMetadata(one, metadata_key::kBaseOrder));
  EXPECT_EQ(HiddenLayers(mixture).size(), 6);
  onnx::ModelProto with_parts = mixture;
  GraphBuilder graph(with_parts);
  graph.Output(graph.Existing(kNetworkEnergies), std::vector<int64_t>{-1, 3});
  const std::vector<float> rows = RandomRows(kRows, kDimension);
  const std::vector<float> energies = Energies(mixture, rows), alone = Energies(one, rows),
                           parts = RunModel(with_parts, rows, {kRows, kDimension}, kNetworkEnergies);
  for (int64_t row = 0; row < kRows; ++row) {
    EXPECT_EQ(parts[row * 3], alone[row]);
    double mean = 0;
    for (int64_t k = 0; k < 3; ++k) mean += std::exp(-parts[row * 3 + k]) / 3;
    EXPECT_NEAR(energies[row], -std::log(mean), 1e-5);
  }
}

TEST(Made, CanStartAtGivenMeans) {
  onnx::ModelProto model = Made(kDimension, {{"hidden", "7"}, {"orders", 2}});
  const std::vector<float> means = {0.1f, 0.9f, 0.5f, 0.2f, 0.3f, 0.7f};
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer())
    if (tensor.name().ends_with(".weight")) {
      const std::vector<float> zeros(static_cast<size_t>(ElementCount(tensor)));
      tensor.clear_float_data();
      tensor.set_raw_data(zeros.data(), zeros.size() * sizeof(float));
    }
  SetOutputBias(model, means, Variables::Binary(kDimension));
  double expected = 0;
  for (const float m : means) expected -= std::log(1 - m);
  EXPECT_NEAR(Energies(model, std::vector<float>(kDimension))[0], expected, 1e-5);
}

TEST(AutoregressiveBase, IsAddedAndRemoved) {
  const onnx::ModelProto network = Mlp(), base = Made(kDimension, {{"hidden", "7,5"}, {"orders", 2}});
  onnx::ModelProto both = network;
  AddAutoregressiveBase(both, base);
  const std::vector<float> rows = RandomRows(kRows, kDimension);
  const std::vector<float> u = Energies(network, rows), u0 = Energies(base, rows), sum = Energies(both, rows);
  for (int64_t row = 0; row < kRows; ++row) EXPECT_NEAR(sum[row], u[row] + u0[row], 1e-5);
  EXPECT_EQ(GetMetadata(both, metadata_key::kBase), "made:2x2");
  EXPECT_FALSE(IsNormalised(both));
  const onnx::ModelProto again = RemoveAutoregressiveBase(both);
  EXPECT_EQ(Energies(again, rows), u);
  EXPECT_EQ(GetMetadata(again, metadata_key::kBase), "");
  EXPECT_EQ(again.graph().initializer_size(), network.graph().initializer_size());
}

TEST(AutoregressiveBase, RefusesWhatDoesNotFit) {
  const auto refuse = [](onnx::ModelProto model, const onnx::ModelProto& base, const std::string& words) {
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { AddAutoregressiveBase(model, base); }, words);
  };
  refuse(Mlp(), Made(5), "5 variables, the model 6");
  refuse(Mlp(), Mlp(), "normalised");
  onnx::ModelProto of_table = Made();
  SetMetadata(of_table, metadata_key::kVariables, FormatVariables(Mixed()));
  refuse(Mlp(), of_table, "other variables");
  refuse(Made(), Made(), "already has a base");
  ExpectError(
      ErrorCode::kInvalidArgument, [] { RemoveAutoregressiveBase(Mlp()); }, "no learned base");
  for (const char* order : {"0,1,2", "0,1,2,3,4,4", "backwards", "0,1,2,3,4,6"})
    ExpectError(
        ErrorCode::kInvalidArgument,
        [&] {
          Made(kDimension, {{"order", order}});
        },
        "each once");
}

}  // namespace
}  // namespace ort_ed
