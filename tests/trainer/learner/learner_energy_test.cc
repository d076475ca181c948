// The energy that a learner lends to samplers.

#include <cmath>
#include <span>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/architectures/energy_spec.h"
#include "ort_ed/energy_model.h"
#include "ort_ed/random.h"
#include "tests/support/error_matchers.h"
#include "tests/trainer/small_models.h"
#include "trainer/autodiff/differentiate.h"
#include "trainer/learner/learner.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {
namespace {

constexpr int64_t kNegatives = 3;

LearnerOptions Options(int threads = 1) {
  LearnerOptions options;
  options.objective = "contrastive-divergence";
  options.threads = threads;
  return options;
}

std::vector<float> RandomStates(int64_t rows, int64_t dimension) {
  RandomStream random(3, 1, 0, 0);
  std::vector<float> states(static_cast<size_t>(rows * dimension));
  for (float& bit : states) bit = random.Bernoulli(0.5f) ? 1.0f : 0.0f;
  return states;
}

void Train(Learner& learner, int steps) {
  ContrastiveBatch batch(8, kNegatives, learner.dimension(), false);
  for (int step = 1; step <= steps; ++step) {
    RandomStream random(4, 1, static_cast<uint64_t>(step), 0);
    for (uint8_t& bit : batch.rows) bit = random.Bernoulli(0.4f);
    ASSERT_TRUE(learner.Step(batch, 0.02, step).finite());
  }
}

std::vector<double> EnergiesOf(const EnergyFunction& energy, const std::vector<float>& states) {
  std::vector<double> energies(states.size() / static_cast<size_t>(energy.dimension()));
  energy.Energy(states, energies);
  return energies;
}

struct NetworkCase {
  const char* name;
  onnx::ModelProto model;
  bool quadratic = false;
  bool bipartite = false;
};

onnx::ModelProto Build(Choice architecture, int64_t dimension, std::vector<int64_t> image_shape = {}) {
  EnergySpec spec;
  spec.architecture = std::move(architecture);
  spec.dimension = dimension;
  spec.image_shape = std::move(image_shape);
  spec.seed = 1;
  return BuildModel(spec);
}

std::vector<NetworkCase> Networks() {
  return {{"perceptron", PerceptronModel(6, 5, 1)},
          {"mlp", Build({"mlp", {{"hidden", "32,32"}}}, 20)},
          {"resnet", Build({"resnet", {{"channels", 4}}}, 16, {4, 4})},
          {"rbm", Build({"rbm", {{"hidden", 5}}}, 9), false, true},
          {"ising", Build({"ising", {{"field", "0.3"}}}, 12), true},
          {"with a diagonal", QuadraticModel(7), true}};
}

TEST(LearnerEnergy, IsThatOfTheModelAsItIsNow) {
  for (const NetworkCase& network : Networks()) {
    SCOPED_TRACE(network.name);
    Learner learner(Prepare(network.model), Options(), {kNegatives, false});
    const std::vector<float> states = RandomStates(50, learner.dimension());
    const std::vector<double> at_first = EnergiesOf(*learner.CurrentEnergy(), states);
    Train(learner, 5);
    const auto energy = learner.CurrentEnergy();
    EXPECT_EQ(energy->quadratic() != nullptr, network.quadratic);
    EXPECT_EQ(energy->bipartite() != nullptr, network.bipartite);
    const std::vector<double> now = EnergiesOf(*energy, states);
    EXPECT_NE(now, at_first);

    onnx::ModelProto exported = Prepare(network.model).model;
    learner.Export(exported, /*averaged=*/false);
    const std::string bytes = exported.SerializeAsString();
    std::vector<float> expected(now.size());
    EnergyModel::FromMemory(std::as_bytes(std::span(bytes))).Energy(states, expected);
    for (size_t i = 0; i < now.size(); ++i) EXPECT_NEAR(now[i], expected[i], 1e-4 * (1 + std::abs(now[i])));
  }
}

double EnergyOf(const BipartiteForm& form, std::span<const float> row) {
  double energy = 0;
  for (int64_t i = 0; i < form.dimension(); ++i) energy += form.fields[i] * row[i];
  for (int64_t j = 0; j < form.units(); ++j) {
    double input = form.biases[j];
    for (int64_t i = 0; i < form.dimension(); ++i) input += form.weights[i * form.units() + j] * row[i];
    energy -= std::log1p(std::exp(input));
  }
  return energy;
}

// Also on a base distribution, whose fields are no parameters.
TEST(LearnerEnergy, OfAnRbmShowsItAsItIsNow) {
  for (const bool base : {false, true}) {
    EnergySpec spec;
    spec.architecture = Choice("rbm", {{"hidden", 5}, {"scale", 1}});
    spec.dimension = 9;
    if (base) spec.base_mean = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 0.8f, 0.9f};
    Learner learner(Prepare(BuildModel(spec)), Options(), {kNegatives, false});
    Train(learner, 5);
    const auto energy = learner.CurrentEnergy();
    ASSERT_NE(energy->bipartite(), nullptr);
    const std::vector<float> states = RandomStates(50, 9);
    const std::vector<double> energies = EnergiesOf(*energy, states);
    const auto form_energy = [&](size_t row) {
      return EnergyOf(*energy->bipartite(), std::span(states).subspan(row * 9, 9));
    };
    for (size_t row = 1; row < energies.size(); ++row)
      EXPECT_NEAR(form_energy(row) - form_energy(0), energies[row] - energies[0], 2e-5) << row;
  }
}

TEST(LearnerEnergy, GradientIsThatOfDifferences) {
  for (const NetworkCase& network : Networks()) {
    SCOPED_TRACE(network.name);
    Learner learner(Prepare(network.model), Options(), {kNegatives, false});
    Train(learner, 5);
    const auto energy = learner.CurrentEnergy(/*gradient=*/true);
    ASSERT_TRUE(energy->HasGradient());
    const int64_t n = energy->dimension();
    const std::vector<float> states = RandomStates(4, n);
    std::vector<double> energies(4);
    std::vector<float> slopes(states.size());
    energy->EnergyAndGradient(states, energies, slopes);
    const std::vector<double> alone = EnergiesOf(*energy, states);
    for (size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(energies[i], alone[i], 1e-4);
    for (size_t k = 0; k < states.size(); ++k) {
      std::vector<float> above = states, below = states;
      // The gradient of a quadratic energy is that of its multilinear form: between 0 and 1 it is straight.
      const float step = network.quadratic ? 1 - states[k] : 0.01f;
      above[k] = network.quadratic ? 1 : states[k] + step;
      below[k] = network.quadratic ? 0 : states[k] - step;
      const size_t row = k / static_cast<size_t>(n);
      const double slope =
          (EnergiesOf(*energy, above)[row] - EnergiesOf(*energy, below)[row]) / (above[k] - below[k]);
      EXPECT_NEAR(slopes[k], slope, 2e-3 * (1 + std::abs(slope))) << k;
    }
  }
}

TEST(LearnerEnergy, IsDifferentiatedOnlyWhereTheGradientIsAskedFor) {
  Learner learner(Prepare(PerceptronModel(6, 5, 1)), Options(), {kNegatives, false});
  const int64_t before = DifferentiationCount();
  const auto energy = learner.CurrentEnergy();
  EXPECT_FALSE(energy->HasGradient());
  std::vector<double> energies(1);
  std::vector<float> slopes(6);
  ExpectError(
      ErrorCode::kInvalidArgument,
      [&] { energy->EnergyAndGradient(std::vector<float>(6), energies, slopes); }, "gradient");
  EXPECT_EQ(DifferentiationCount(), before);
  learner.CurrentEnergy(true);
  learner.CurrentEnergy(true);
  EXPECT_EQ(DifferentiationCount(), before + 1);
}

TEST(LearnerEnergy, DoesNotDependOnTheSizeOfParts) {
  const onnx::ModelProto model = Build({"mlp", {{"hidden", "16"}}}, 10);
  LearnerOptions in_parts = Options(2);
  in_parts.micro_batch = 2;
  Learner whole(Prepare(model), Options(), {kNegatives, false});
  Learner parts(Prepare(model), in_parts, {kNegatives, false});
  const std::vector<float> states = RandomStates(5000, 10);
  const auto a = EnergiesOf(*whole.CurrentEnergy(), states), b = EnergiesOf(*parts.CurrentEnergy(), states);
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5);
}

// Samplers give each thread a group of chains, and the energy of a row must not tell.
TEST(LearnerEnergy, ThreadsEvaluateSideBySide) {
  for (const NetworkCase& network : Networks()) {
    if (network.quadratic || network.bipartite) continue;
    Learner learner(Prepare(network.model), Options(4), {kNegatives, false});
    const auto energy = learner.CurrentEnergy(true);
    const int64_t group = energy->rows_at_once(), dimension = energy->dimension();
    ASSERT_GT(group, 0) << network.name;
    const std::vector<float> states = RandomStates(6 * group, dimension);
    const std::vector<double> whole = EnergiesOf(*energy, states);
    std::vector<double> parts(whole.size());
    std::vector<float> slopes(states.size());
    {
      std::vector<std::jthread> threads;
      for (int64_t part = 0; part < 6; ++part)
        threads.emplace_back([&, part, first = part * group] {
          const std::span rows = std::span(states).subspan(first * dimension, group * dimension);
          const std::span energies = std::span(parts).subspan(first, group);
          if (part % 2 == 0) return energy->Energy(rows, energies);
          energy->EnergyAndGradient(rows, energies,
                                    std::span(slopes).subspan(first * dimension, group * dimension));
        });
    }
    for (size_t i = 0; i < whole.size(); ++i) ASSERT_NEAR(parts[i], whole[i], 1e-5) << network.name;
  }
}

// A validation of its own: the energy discrepancy of other batches than those of the steps.
TEST(LearnerEnergy, ValidatesByAnObjectiveOfItsOwn) {
  const onnx::ModelProto model = PerceptronModel(6, 5, 1);
  LearnerOptions options = Options();
  options.optimizer.ema = 0;
  options.validation = ValidationOptions{.batch = {5, false}};
  Learner learner(Prepare(model), options, {kNegatives, false});
  LearnerOptions discrepancy;
  discrepancy.threads = 1;
  discrepancy.optimizer.ema = 0;
  Learner other(Prepare(model), discrepancy, {5, false});
  ContrastiveBatch batch(10, 5, 6, false);
  MakeNegatives("bernoulli", {.dimension = 6})->Fill({.seed = 1}, batch);
  EXPECT_EQ(learner.Validate(batch).loss, other.Evaluate(batch).loss);
  EXPECT_EQ(other.Validate(batch).loss, other.Evaluate(batch, true).loss);
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { learner.Evaluate(batch); }, "5 negatives");
}

}  // namespace
}  // namespace ort_ed
