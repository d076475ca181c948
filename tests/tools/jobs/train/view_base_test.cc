// A base with a view over images: the graph and the sampler's network are one normalised law.

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/architectures/energy_spec.h"
#include "models/graph/model_edits.h"
#include "ort_ed/base_distribution.h"
#include "ort_ed/metadata.h"
#include "ort_ed/random.h"
#include "tests/sampler/law_test.h"
#include "tests/support/error_matchers.h"
#include "tools/jobs/loaded_model.h"

namespace ort_ed {
namespace {

constexpr int64_t kDimension = 12, kStates = int64_t{1} << kDimension;

onnx::ModelProto View(const OptionMap& more = {}, std::vector<int64_t> image_shape = {3, 4}) {
  OptionMap options = {{"hidden", "9"}, {"view", "2x5"}, {"maps", 4}, {"blocks", 2}};
  for (const auto& [key, value] : more) options.insert_or_assign(key, value);
  return BuildModel({.architecture = {"made", options},
                     .dimension = kDimension,
                     .image_shape = std::move(image_shape),
                     .seed = 5});
}

// With weights so large that every part counts.
LoadedModel Loud(const OptionMap& more = {}) {
  onnx::ModelProto model = View(more);
  RandomStream random(1, 2, 3, 4);
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (!tensor.name().starts_with(kBaseTensorPrefix)) continue;
    std::vector<float> values(static_cast<size_t>(ElementCount(tensor)));
    std::copy_n(reinterpret_cast<const float*>(tensor.raw_data().data()), values.size(), values.begin());
    const bool masked = tensor.name().ends_with(".weight");
    for (float& value : values)
      if (!masked || value != 0) value += 0.3f * static_cast<float>(random.Normal());
    tensor.set_raw_data(values.data(), values.size() * sizeof(float));
  }
  return LoadedModel(model, "test");
}

Law GraphLaw(const LoadedModel& model) {
  std::vector<float> energies(kStates);
  model.energy_model().Energy(AllStates(kDimension), energies);
  Law law;
  for (const float energy : energies) law.push_back(std::exp(-energy));
  return law;
}

TEST(ViewBase, GraphAndSamplerAreOneNormalisedLaw) {
  for (const OptionMap& options : std::vector<OptionMap>{{{"blocks", 0}},
                                                         {{"blocks", 1}},
                                                         {{"blocks", 3}},
                                                         {{"orders", 2}, {"blocks", 1}},
                                                         {{"orders", 4}}}) {
    const LoadedModel model = Loud(options);
    const Law law = GraphLaw(model);
    EXPECT_NEAR(std::accumulate(law.begin(), law.end(), 0.0), 1, 1e-4);
    std::vector<double> energies(kStates);
    MakeBaseDistribution(model.energy_model())->Energy(AllStates(kDimension), energies);
    for (int64_t s = 0; s < kStates; ++s) ASSERT_NEAR(energies[s], -std::log(law[s]), 1e-3) << s;
  }
}

// 3 x 4 pixels; each network has weights of its own.
TEST(ViewBase, TheNetworksOfAMixtureBeginAtCorners) {
  const LoadedModel model = Loud({{"orders", 4}});
  const auto base = MakeBaseDistribution(model.energy_model());
  const AutoregressiveBase& networks = *base->autoregressive();
  ASSERT_EQ(networks.networks(), 4);
  const std::vector<std::vector<int32_t>> orders = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
                                                    {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
                                                    {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8},
                                                    {8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3}};
  for (int64_t network = 0; network < 4; ++network)
    EXPECT_THAT(networks.order(network), ::testing::ElementsAreArray(orders[network]));
}

TEST(ViewBase, DrawsAMixtureByItsLaw) {
  const LoadedModel model = Loud({{"orders", 3}, {"blocks", 1}});
  constexpr int64_t kRows = 60000;
  std::vector<float> rows(kRows * kDimension);
  MakeBaseDistribution(model.energy_model())->Draw(3, 0, rows);
  std::map<uint32_t, double> counts;
  for (size_t r = 0; r < rows.size(); r += kDimension)
    ++counts[StateNumber(std::span(rows).subspan(r, kDimension))];
  ExpectLaw(counts, GraphLaw(model), "mixture");
}

// Features of pixels far above the start are not computed: nothing may depend on them.
TEST(ViewBase, RefillsByTheConditionalLaw) {
  const LoadedModel model = Loud({{"blocks", 1}});
  const auto base = MakeBaseDistribution(model.energy_model());
  const Law law = GraphLaw(model);
  for (const int64_t start : {0, 5, 9}) {
    constexpr int64_t kRows = 40000;
    std::vector<float> rows(kRows * kDimension);
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i % kDimension % 3 == 1);
    const std::vector<float> row(rows.begin(), rows.begin() + kDimension);
    base->autoregressive()->Refill({5, 77, 0, 0}, std::vector<int64_t>(kRows, start), rows);
    Law conditional(kStates);
    double total = 0;
    for (int64_t s = 0; s < kStates; ++s) {
      bool kept = true;
      for (int64_t i = 0; i < start; ++i) kept &= static_cast<float>(s >> i & 1) == row[i];
      if (kept) total += conditional[s] = law[s];
    }
    for (double& p : conditional) p /= total;
    std::map<uint32_t, double> counts;
    for (size_t r = 0; r < rows.size(); r += kDimension)
      ++counts[StateNumber(std::span(rows).subspan(r, kDimension))];
    ExpectLaw(counts, conditional, "from " + std::to_string(start));
  }
}

class ViewBaseGradient : public testing::TestWithParam<int64_t> {};

TEST_P(ViewBaseGradient, IsThatOfTheEnergy) {
  const auto base = MakeBaseDistribution(Loud({{"orders", GetParam()}}).energy_model());
  constexpr int64_t kRows = 20;
  std::vector<float> rows = AllStates(kDimension);
  rows.erase(rows.begin(), rows.begin() + 1000 * kDimension);
  rows.resize(kRows * kDimension);
  std::vector<double> energies(kRows), above(kRows), below(kRows);
  std::vector<float> gradients(rows.size());
  base->EnergyAndGradient(rows, energies, gradients);
  constexpr float kStep = 1.0f / 64;
  for (int64_t i = 0; i < kDimension; ++i) {
    const auto shifted = [&](float by, std::vector<double>& result) {
      std::vector<float> moved = rows;
      for (int64_t r = 0; r < kRows; ++r) moved[r * kDimension + i] += by;
      base->Energy(moved, result);
    };
    shifted(kStep, above);
    shifted(-kStep, below);
    for (int64_t r = 0; r < kRows; ++r)
      EXPECT_NEAR(gradients[r * kDimension + i], (above[r] - below[r]) / (2 * kStep), 1e-2) << r << " " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, ViewBaseGradient, testing::Values(1, 3));

TEST(ViewBase, RefusesWhatIsNotNormalised) {
  for (const char* name : {"base/view.weight", "base/view_block1.weight"}) {
    onnx::ModelProto model = View();
    onnx::TensorProto& tensor = *FindInitialiser(model, name);
    std::string values = tensor.raw_data();
    const float one = 1;  // the last entry is a pixel to the right
    values.replace(values.size() - sizeof(float), sizeof(float), reinterpret_cast<const char*>(&one),
                   sizeof(float));
    tensor.set_raw_data(values);
    const LoadedModel loaded(model, "test");
    ExpectError(
        ErrorCode::kBadModel, [&] { MakeBaseDistribution(loaded.energy_model()); }, "later ones");
  }
}

TEST(ViewBase, RefusesWhatDoesNotFit) {
  const auto refuse = [](const OptionMap& options, const std::string& words) {
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { View(options); }, words);
  };
  refuse({{"view", "2x4"}}, "odd width");
  refuse({{"view", "9x3"}}, "not larger than the image");
  refuse({{"view", "wide"}}, "HEIGHTxWIDTH");
  refuse({{"order", "random"}}, "ascending");
  refuse({{"orders", 5}}, "four corners");
  ExpectError(
      ErrorCode::kInvalidArgument, [] { View({}, {}); }, "image");
}

}  // namespace
}  // namespace ort_ed
