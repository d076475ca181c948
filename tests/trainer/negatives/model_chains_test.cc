// cd and pcd on energies that do not change.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sampler/small_autoregressive.h"
#include "tests/sampler/test_energies.h"
#include "tests/support/error_matchers.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {
namespace {

constexpr int64_t kDimension = 6, kPositives = 20, kNegatives = 3;

RowContext Rows(int threads = 1) {
  return {.dimension = kDimension,
          .mean = std::vector<double>(kDimension, 0.5),
          .step_negatives = kPositives * kNegatives,
          .threads = threads};
}

std::vector<std::shared_ptr<const EnergyFunction>> Energies() {
  return {MlpEnergy(kDimension, 4, 1), DenseEnergy(kDimension, 1, 2)};
}

ContrastiveBatch EmptyBatch() {
  ContrastiveBatch batch(kPositives, kNegatives, kDimension, false);
  for (int64_t i = 0; i < kPositives; ++i) batch.Positive(i)[i % kDimension] = 1;
  return batch;
}

// The rows of some steps, one after the other.
std::vector<uint8_t> FillSteps(NegativeSource& source, const EnergyFunction& energy, int64_t first,
                               int64_t last) {
  std::vector<uint8_t> all;
  for (int64_t step = first; step < last; ++step) {
    ContrastiveBatch batch = EmptyBatch();
    source.Fill({.seed = 9, .step = step, .energy = &energy}, batch);
    all.insert(all.end(), batch.rows.begin(), batch.rows.end());
  }
  return all;
}

std::vector<Choice> Methods() {
  std::vector<Choice> methods;
  for (const SamplerKind* sampler : Samplers()) {
    if (sampler->needs_autoregressive_base) continue;
    methods.push_back({"cd", {{"sampler", sampler->name}, {"chain_steps", 3}}});
    methods.push_back(
        {"pcd", {{"sampler", sampler->name}, {"chain_steps", 3}, {"buffer", 100}, {"restart", 0.1}}});
  }
  return methods;
}

std::string Name(const Choice& method) {
  return method.kind + " " + FormatOption(method.options.at("sampler"));
}

TEST(ModelChains, DoNotDependOnThreads) {
  for (const auto& energy : Energies())
    for (const Choice& method : Methods()) {
      const auto one = MakeNegatives(method, Rows(1)), many = MakeNegatives(method, Rows(4));
      EXPECT_EQ(FillSteps(*one, *energy, 0, 5), FillSteps(*many, *energy, 0, 5)) << Name(method);
    }
}

TEST(ModelChains, GoOnFromWhatWasSaved) {
  for (const auto& energy : Energies())
    for (const Choice& method : Methods()) {
      const auto whole = MakeNegatives(method, Rows()), first = MakeNegatives(method, Rows()),
                 second = MakeNegatives(method, Rows());
      FillSteps(*whole, *energy, 0, 4);
      FillSteps(*first, *energy, 0, 4);
      second->Load(first->Save());
      EXPECT_EQ(FillSteps(*whole, *energy, 4, 8), FillSteps(*second, *energy, 4, 8)) << Name(method);
    }
}

TEST(ModelChains, KeepTheRowsAndGiveBits) {
  for (const Choice& method : Methods()) {
    const auto source = MakeNegatives(method, Rows());
    EXPECT_EQ(source->shape(kNegatives).negatives, kNegatives);
    ContrastiveBatch batch = EmptyBatch();
    source->Fill({.seed = 9, .step = 0, .energy = Energies()[0].get()}, batch);
    for (int64_t i = 0; i < kPositives; ++i)
      for (int64_t k = 0; k < kDimension; ++k)
        EXPECT_EQ(batch.Positive(i)[k], k == i % kDimension ? 1 : 0) << Name(method);
    EXPECT_THAT(batch.rows, testing::Each(testing::AnyOf(0, 1)));
  }
}

// Every chain that persists comes to the model's law, whatever sampler moves it, if that sampler is exact.
TEST(ModelChains, PersistentOnesComeToTheModel) {
  for (const auto& energy : Energies())
    for (const SamplerKind* sampler : Samplers()) {
      if (!sampler->exact) continue;
      RowContext rows = Rows();
      if (sampler->needs_autoregressive_base) rows.base = SmallAutoregressive(kDimension, {5}, 3, 0.3f);
      const auto source =
          MakeNegatives({"pcd", {{"sampler", sampler->name}, {"chain_steps", 20}, {"buffer", 60}}}, rows);
      FillSteps(*source, *energy, 0, 10);
      std::vector<double> counts(size_t{1} << kDimension);
      double total = 0;
      for (int64_t step = 10; step < 110; ++step) {
        ContrastiveBatch batch = EmptyBatch();
        source->Fill({.seed = 9, .step = step, .energy = energy.get()}, batch);
        for (int64_t i = 0; i < kPositives; ++i)
          for (int64_t j = 0; j < kNegatives; ++j, ++total) {
            const auto row = batch.Negatives(i).subspan(j * kDimension, kDimension);
            counts[StateNumber(std::vector<float>(row.begin(), row.end()))] += 1;
          }
      }
      const Law law = ExactLaw(EnergyPath(energy));
      double distance = 0;  // total variation; 6000 draws of 64 states have about 0.04 by chance
      for (size_t s = 0; s < counts.size(); ++s) distance += std::abs(counts[s] / total - law[s]) / 2;
      EXPECT_LT(distance, 0.09) << sampler->name;
    }
}

// The same between the states of variables with more than two: no negative is anything else.
TEST(ModelChains, KnowTheStatesOfVariables) {
  const Variables variables = MixedVariables();
  const int64_t dimension = variables.dimension(), rows_in_step = 60;
  std::vector<double> mean;
  for (const float probability : MixedMeans()) mean.push_back(probability);
  const RowContext rows{
      .dimension = dimension, .variables = variables, .mean = mean, .step_negatives = rows_in_step};
  const Law law = ExactLaw(EnergyPath(MixedMlpEnergy(1)));
  const auto network = MlpEnergy(dimension, 12, 1);  // which knows nothing of variables
  for (const char* sampler : {"gibbs", "block-gibbs", "gwg", "dmala", "pas", "tempering"})
    for (const char* kind : {"cd", "pcd"}) {
      const auto source = MakeNegatives({kind, {{"sampler", sampler}, {"chain_steps", 20}}}, rows);
      EXPECT_EQ(source->validation().shape(4).negatives, 4);
      Law counts(law.size());
      for (int64_t step = 0; step < 110; ++step) {
        ContrastiveBatch batch(rows_in_step, 1, dimension, false);
        for (int64_t i = 0; i < rows_in_step; ++i)
          for (int64_t v = 0; v < variables.size(); ++v)
            variables.SetState(batch.Positive(i).data(), v, i % variables.states(v));
        source->Fill({.seed = 9, .step = step, .energy = network.get()}, batch);
        for (int64_t i = 0; i < rows_in_step; ++i) {
          const auto row = batch.Negatives(i);
          ASSERT_EQ(variables.FindBroken(row), std::nullopt) << kind << " " << sampler;
          if (step >= 10) counts[StateNumber(std::vector<float>(row.begin(), row.end()))] += 1.0 / 6000;
        }
      }
      double distance = 0;  // total variation; 6000 draws of 96 states have about 0.05 by chance
      for (size_t s = 0; s < law.size(); ++s) distance += std::abs(counts[s] - law[s]) / 2;
      EXPECT_LT(distance, 0.1) << kind << " " << sampler;
    }
  ExpectError(
      ErrorCode::kInvalidArgument,
      [&] {
        MakeNegatives({"pcd", {{"validation_epsilon", 0.2}}}, rows);
      },
      "validation_epsilon", "more than two states");
}

// With restart 1 every chain starts at the base in every step: one sweep of a flat energy leaves it there.
TEST(ModelChains, RestartsComeFromTheMeanOfTheData) {
  RowContext rows = Rows();
  rows.mean = {0.9, 0.9, 0.9, 0.1, 0.1, 0.1};
  const auto source = MakeNegatives({"pcd", {{"restart", 1.0}, {"sampler_updates", 1}}}, rows);
  const auto energy = DenseEnergy(kDimension, 0, 2);  // a step redraws one variable
  double ones = 0, zeros = 0;
  for (int64_t step = 0; step < 50; ++step) {
    ContrastiveBatch batch = EmptyBatch();
    source->Fill({.seed = 9, .step = step, .energy = energy.get()}, batch);
    for (int64_t i = 0; i < kPositives; ++i)
      for (int64_t k = 0; k < kNegatives * kDimension; ++k)
        (k % kDimension < 3 ? ones : zeros) += batch.Negatives(i)[k];
  }
  const double count = 50.0 * kPositives * kNegatives * 3;
  const double mean = 0.9 * 0.98 + 0.01, expected = mean + (0.5 - mean) / 6;  // one of six is fair
  EXPECT_NEAR(ones / count, expected, 0.02);
  EXPECT_NEAR(zeros / count, 1 - expected, 0.02);
}

TEST(ModelChains, AStepMovesDistinctChainsOfTheBuffer) {
  const auto source = MakeNegatives({"pcd", {{"buffer", 61}, {"sampler_updates", 1}}}, Rows());
  const auto energy = Energies()[0];
  FillSteps(*source, *energy, 0, 1);
  const std::vector<StateTensor> before = source->Save();
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(before[0].owner, "negatives");
  EXPECT_EQ(before[0].shape, (std::vector<int64_t>{61, kDimension}));
  FillSteps(*source, *energy, 1, 2);
  int unmoved = 0;  // in one update of one variable about half of the 60 that were drawn change
  const std::vector<StateTensor> after = source->Save();
  for (size_t i = 0; i < 61 * kDimension; i += kDimension)
    unmoved += std::equal(before[0].octets.begin() + i, before[0].octets.begin() + i + kDimension,
                          after[0].octets.begin() + i);
  EXPECT_GE(unmoved, 1);
  EXPECT_LT(unmoved, 50);
}

TEST(ModelChains, TellWhatTheyAre) {
  const auto source = MakeNegatives({"pcd", {{"sampler", "gwg"}, {"sampler_flips", 2}}}, Rows());
  const OptionMap all = source->Describe(1);
  EXPECT_EQ(FormatOption(all.at("sampler")), "gwg");
  EXPECT_EQ(FormatOption(all.at("chain_steps")), "40");
  EXPECT_EQ(FormatOption(all.at("buffer")), "10000");
  EXPECT_EQ(FormatOption(all.at("sampler_flips")), "2");
  EXPECT_TRUE(source->needs().gradient);
  EXPECT_FALSE(MakeNegatives("cd", Rows())->needs().gradient);
  EXPECT_TRUE(MakeNegatives({"cd", {{"sampler", "tempering"}, {"sampler_inner", "dmala"}}}, Rows())
                  ->needs()
                  .gradient);
  EXPECT_EQ(ObjectiveOf("pcd"), "contrastive-divergence");
  EXPECT_EQ(ObjectiveOf("grid+bernoulli"), "energy-discrepancy");
}

TEST(ModelChains, MistakesAreNamed) {
  const auto refuses = [](const Choice& method, const auto&... parts) {
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { MakeNegatives(method, Rows()); }, parts...);
  };
  refuses({"pcd", {{"sampler_flips", 2}}}, "sampler_flips", "gibbs");
  refuses({"cd", {{"buffer", 100}}}, "buffer");
  refuses({"pcd", {{"buffer", 59}}}, "buffer", "60");
  refuses({"pcd", {{"restart", 1.5}}}, "restart", "[0, 1]");
  refuses({"pcd", {{"sampler", "metropolis"}}}, "sampler", "gibbs");
  refuses("pcd+bernoulli", "pcd alone");
  const auto source = MakeNegatives("pcd", Rows());
  ContrastiveBatch batch = EmptyBatch();
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { source->Fill({.seed = 1}, batch); }, "energy");
  const auto lost = MakeNegatives("pcd", Rows());
  ExpectError(
      ErrorCode::kInvalidArgument,
      [&] { lost->Fill({.seed = 1, .step = 3, .energy = Energies()[0].get()}, batch); }, "chains");
  const StateTensor other{
      .owner = "negatives", .kind = "chains", .shape = {2, 6}, .octets = std::vector<uint8_t>(12)};
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { lost->Load(std::vector{other}); }, "chains", "10000");
}

}  // namespace
}  // namespace ort_ed
