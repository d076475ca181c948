// A construction policy learns to draw from an energy that does not change.

#include "trainer/policy/policy_learner.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/sampler/law_test.h"
#include "tests/support/error_matchers.h"
#include "tests/trainer/autodiff/gradient_check.h"

namespace ort_ed {
namespace {

using namespace construction_policy;

constexpr int64_t kDimension = 5;
constexpr int64_t kBatch = 64;

RowContext Rows() {
  return {.dimension = kDimension, .mean = std::vector<double>(kDimension, 0.5), .threads = 1, .seed = 4};
}

std::shared_ptr<const EnergyFunction> Energy() { return DenseEnergy(kDimension, 0.6, 2); }

double LogPartition(const EnergyFunction& energy) {
  std::vector<double> energies(size_t{1} << kDimension);
  energy.Energy(AllStates(kDimension), energies);
  double sum = 0;
  for (const double u : energies) sum += std::exp(-u);
  return std::log(sum);
}

const OptionMap kSmall = {{"policy_hidden", "48,48"}, {"policy_rate", 3e-3}, {"log_z_rate", 0.1}};

Choice Method(const OptionMap& more = {}) {
  OptionMap options = kSmall;
  for (const auto& [key, value] : more) options[key] = value;
  return {"eb-gfn", options};
}

// Positives from the law of the energy.
ContrastiveBatch Draw(const Law& law, int64_t positives, int64_t step) {
  ContrastiveBatch batch(positives, 1, kDimension, false);
  const std::vector<float> rows = DrawFrom(law, kDimension, positives, 100 + step);
  for (int64_t i = 0; i < positives; ++i)
    std::copy_n(rows.begin() + i * kDimension, kDimension, batch.Positive(i).begin());
  return batch;
}

void Train(NegativeSource& source, const EnergyFunction& energy, int64_t first, int64_t last) {
  const Law law = ExactLaw(EnergyPath({std::shared_ptr<void>(), &energy}));
  for (int64_t step = first; step < last; ++step) {
    ContrastiveBatch batch = Draw(law, kBatch, step);
    source.Fill({.seed = 1, .step = step, .progress = 1, .energy = &energy}, batch);
  }
}

// delta -> 0, log_z -> log Z, acceptance -> 1 or 1/2.
TEST(EbGfn, PolicyLearnsAFixedEnergy) {
  const auto energy = Energy();
  for (const auto& [acceptance, perfect] : {std::pair("metropolis", 1.0), std::pair("barker", 0.5)}) {
    const auto source = MakeNegatives(Method({{"acceptance", acceptance}}), Rows());
    Train(*source, *energy, 0, 1);
    const double at_first = source->Metrics().at("policy_loss");
    Train(*source, *energy, 1, 1200);
    ContrastiveBatch batch = Draw(ExactLaw(EnergyPath(energy)), 4000, 0);
    source->Fill({.seed = 2, .step = 1200, .progress = 1, .energy = energy.get()}, batch);
    const auto metrics = source->Metrics();
    EXPECT_GT(at_first, 1);
    EXPECT_LT(metrics.at("policy_loss"), 0.02) << acceptance;
    EXPECT_NEAR(metrics.at("log_z"), LogPartition(*energy), 0.1) << acceptance;
    EXPECT_NEAR(metrics.at("acceptance"), perfect, 0.07) << acceptance;
  }
}

// A policy that has learned another energy still leaves the law invariant, however many variables it
// rebuilds.
TEST(EbGfn, NegativesOfRowsFromTheLawFollowTheLaw) {
  const auto other = MlpEnergy(kDimension, 4, 1);
  const auto energy = Energy();
  const Law law = ExactLaw(EnergyPath(energy));
  for (const char* acceptance : {"metropolis", "barker"})
    for (const double progress : {0.0, 0.5, 1.0}) {
      const auto source = MakeNegatives(Method({{"acceptance", acceptance}}), Rows());
      Train(*source, *other, 0, 60);
      ContrastiveBatch batch = Draw(law, 20000, 7);
      source->Fill({.seed = 3, .step = 60, .progress = progress, .energy = energy.get()}, batch);
      std::map<uint32_t, double> counts;
      int64_t moved = 0;
      for (int64_t i = 0; i < batch.positives; ++i) {
        const std::vector<float> row(batch.Negatives(i).begin(), batch.Negatives(i).end());
        ++counts[StateNumber(row)];
        moved += !std::ranges::equal(batch.Positive(i), batch.Negatives(i));
      }
      ExpectLaw(counts, law, acceptance + std::to_string(progress));
      EXPECT_GT(moved, 500);
    }
}

TEST(EbGfn, GoesOnFromWhatItSaved) {
  const auto energy = Energy();
  const auto whole = MakeNegatives(Method(), Rows()), cut = MakeNegatives(Method(), Rows());
  Train(*whole, *energy, 0, 6);
  Train(*cut, *energy, 0, 3);
  const std::vector<StateTensor> saved = cut->Save();
  for (const StateTensor& tensor : saved) EXPECT_EQ(tensor.owner, "negatives/policy");
  const auto resumed = MakeNegatives(Method(), Rows());
  resumed->Load(saved);
  Train(*resumed, *energy, 3, 6);
  const auto expected = whole->Save(), state = resumed->Save();
  ASSERT_EQ(state.size(), expected.size());
  for (size_t i = 0; i < state.size(); ++i)
    EXPECT_EQ(state[i].values, expected[i].values) << state[i].parameter;
  EXPECT_EQ(resumed->Companions(), whole->Companions());
}

TEST(EbGfn, RefusesToGoOnWithoutItsPolicy) {
  const auto source = MakeNegatives(Method(), Rows());
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Train(*source, *Energy(), 3, 4); }, "lacks the sampler's networks");
  ContrastiveBatch batch(1, 1, kDimension, false);
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { source->Fill({}, batch); }, "energy");
  ExpectError(
      ErrorCode::kInvalidArgument,
      [] {
        MakeNegatives(Method({{"policy_rate", 0.0}}), Rows());
      },
      "policy_rate");
}

// The deployed form gives the probabilities by which paths are drawn.
TEST(EbGfn, DeployedPolicyIsThePolicy) {
  PolicyLearner policy({.policy_hidden = {16}, .policy_rate = 1e-2, .log_z_rate = 0.5}, Rows());
  RandomStream random(1, 2, 0, 0);
  std::vector<RandomStream> streams;
  for (uint64_t i = 0; i < 8; ++i) streams.emplace_back(1, 3, 0, i);
  const ConstructionPaths paths = BuildRows(policy.view(), streams);
  policy.Learn(paths, std::vector<double>(8, 2.5), 1);
  EXPECT_NEAR(std::abs(policy.log_z()), 0.5, 1e-4);  // the first step of Adam has the size of its rate

  std::vector<uint8_t> states;
  TestTensor z{{10, kDimension}, {}};
  for (int64_t i = 0; i < 10 * kDimension; ++i) {
    states.push_back(static_cast<uint8_t>(random.Below(3)));
    z.values.push_back(states.back() == kHole ? -1 : states.back());
  }
  std::vector<float> logits(states.size() * 3);
  policy.view().logits(states, logits);
  onnx::ModelProto deployed;
  ASSERT_TRUE(deployed.ParseFromString(policy.Deploy()));
  const TestTensors result = TestSession(deployed).Run({{kOpen, z}});
  EXPECT_NEAR(result.at(kLogPartition).values[0], policy.log_z(), 1e-5);
  EXPECT_EQ(result.at(kAdditions).shape, (std::vector<int64_t>{10, 2, kDimension}));
  for (int64_t row = 0; row < 10; ++row) {
    double additions = 0, removals = 0;
    for (int64_t k = 0; k < 2 * kDimension; ++k) {
      const double p = std::exp(result.at(kAdditions).values[row * 2 * kDimension + k]);
      const bool open = states[row * kDimension + k % kDimension] == kHole;
      if (open) additions += std::exp(double{logits[row * 3 * kDimension + k]});
      if (!open && std::ranges::count(std::span(states).subspan(row * kDimension, kDimension), kHole) > 0) {
        EXPECT_EQ(p, 0);
      }
    }
    for (int64_t k = 0; k < kDimension; ++k)
      if (states[row * kDimension + k] != kHole)
        removals += std::exp(double{logits[row * 3 * kDimension + 2 * kDimension + k]});
    for (int64_t k = 0; k < 3 * kDimension; ++k) {
      const bool open = states[row * kDimension + k % kDimension] == kHole, adds = k < 2 * kDimension;
      if (open != adds) continue;
      const double log_p = logits[row * 3 * kDimension + k] - std::log(adds ? additions : removals);
      EXPECT_NEAR(adds ? result.at(kAdditions).values[row * 2 * kDimension + k]
                       : result.at(kRemovals).values[row * kDimension + k - 2 * kDimension],
                  log_p, 1e-4);
    }
  }
}

// What the form for training says of the states of a path adds up to what the path's probabilities do.
TEST(EbGfn, LossIsThatOfTheDefinition) {
  PolicyLearner policy({.policy_hidden = {16}}, Rows());
  std::vector<RandomStream> streams;
  for (uint64_t i = 0; i < 20; ++i) streams.emplace_back(1, 3, 0, i);
  const ConstructionPaths paths = BuildRows(policy.view(), streams);
  std::vector<double> energies;
  for (int i = 0; i < 20; ++i) energies.push_back(0.3 * i - 2);
  const std::vector<double> ratios = LogPathRatios(policy.view(), paths);
  double expected = 0;
  for (int i = 0; i < 20; ++i) expected += std::pow(policy.log_z() + ratios[i] + energies[i], 2) / 2 / 20;
  EXPECT_NEAR(policy.Learn(paths, energies, 1), expected, 1e-4 * expected);
}

}  // namespace
}  // namespace ort_ed
