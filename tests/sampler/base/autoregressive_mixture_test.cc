// A mixture of masked autoencoders is the mean of its networks, and refilling leaves it as it is.

#include <cmath>

#include <gtest/gtest.h>

#include "ort_ed/sampler.h"
#include "tests/sampler/law_test.h"
#include "tests/sampler/small_autoregressive.h"
#include "tests/support/error_matchers.h"

namespace ort_ed {
namespace {

constexpr int64_t kDimension = 6;
constexpr int64_t kStates = int64_t{1} << kDimension;
constexpr int64_t kNetworks = 3;

const std::vector<AutoregressiveTensors>& Tensors() {
  static const std::vector<AutoregressiveTensors> tensors = MixtureTensors(kDimension, kNetworks, {9, 5}, 1);
  return tensors;
}

const std::shared_ptr<const AutoregressiveBase>& Mixture() {
  static const auto mixture = std::make_shared<const AutoregressiveBase>(Tensors());
  return mixture;
}

std::vector<Law> LawsOfNetworks() {
  std::vector<Law> laws;
  for (const AutoregressiveTensors& tensors : Tensors()) laws.push_back(LawOf(AutoregressiveBase(tensors)));
  return laws;
}

TEST(AutoregressiveMixture, IsTheMeanOfItsNetworks) {
  const Law law = LawOf(*Mixture());
  const std::vector<Law> laws = LawsOfNetworks();
  double total = 0;
  for (int64_t s = 0; s < kStates; ++s) {
    double mean = 0;
    for (const Law& each : laws) mean += each[s] / kNetworks;
    EXPECT_NEAR(law[s], mean, 1e-6 * mean);
    total += law[s];
  }
  EXPECT_NEAR(total, 1, 1e-5);
}

TEST(AutoregressiveMixture, OfOneNetworkIsThatNetwork) {
  const AutoregressiveBase one{std::span(Tensors()).first(1)}, same(Tensors()[0]);
  EXPECT_EQ(LawOf(one), LawOf(same));
  EXPECT_EQ(one.DrawRows(3, 0, 50), same.DrawRows(3, 0, 50));
}

// Rows that all networks find very odd have energies all the same.
TEST(AutoregressiveMixture, IsStable) {
  std::vector<AutoregressiveTensors> tensors = Tensors();
  for (AutoregressiveTensors& each : tensors)
    for (float& bias : each.output_bias) bias = 3000;
  const std::vector<float> zeros(kDimension);
  std::vector<double> energy(1);
  AutoregressiveBase(tensors).Energy(zeros, energy);
  EXPECT_NEAR(energy[0], 3000 * kDimension, 100);
}

TEST(AutoregressiveMixture, DrawsFromItsLaw) {
  ExpectLaw(CountRows(Mixture()->DrawRows(11, 0, 40000), kDimension), LawOf(*Mixture()), "mixture");
}

TEST(AutoregressiveMixture, KnowsVariablesWithMoreStates) {
  const Variables variables = SmallMixedVariables();
  const auto mixture = std::make_shared<const AutoregressiveBase>(MixtureTensors(variables, 3, {6}, 7));
  const Law law = LawOf(*mixture);
  double total = 0;
  for (const double p : law) total += p;
  EXPECT_NEAR(total, 1, 1e-5);
  ExpectGradient(*mixture, LegalStates(variables));
  constexpr int64_t kRows = 40000;
  std::vector<float> rows = mixture->DrawRows(11, 0, kRows);
  ExpectLaw(CountRows(rows, variables.dimension()), law, "drawn");
  const std::vector<int32_t> networks = mixture->DrawNetworks({6, 78, 0, 0}, rows);
  mixture->Refill({6, 79, 0, 0}, std::vector<int64_t>(kRows, 2), rows, networks);
  ExpectLaw(CountRows(rows, variables.dimension()), law, "refilled");

  // The sampler: exp(-U) where each variable has one bit.
  const EnergyPath target(DenseEnergy(variables.dimension(), 1.0, 3), mixture);
  Law model = ExactLaw(target);
  double legal = 0;
  for (size_t s = 0; s < model.size(); ++s) legal += model[s] = law[s] > 0 ? model[s] : 0;
  for (double& p : model) p /= legal;
  Chains chains = StartChainsAt(target, DrawFrom(model, variables.dimension(), kRows, 51), 52);
  MakeSampler("refill", target)->Step(chains, 3);
  ExpectLaw(CountStates(chains), model, "sampled");
}

TEST(AutoregressiveMixture, DrawsDependOnSeedAndRowAlone) {
  const AutoregressiveBase one_thread(Tensors(), 1);
  const std::vector<float> all = Mixture()->DrawRows(9, 0, 100), some = Mixture()->DrawRows(9, 37, 20);
  EXPECT_EQ(all, one_thread.DrawRows(9, 0, 100));
  EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin() + 37 * kDimension));
}

TEST(AutoregressiveMixture, GradientIsThatOfTheEnergy) { ExpectGradient(*Mixture(), AllStates(kDimension)); }

TEST(AutoregressiveMixture, GuessesWhoDrewARow) {
  constexpr int64_t kDraws = 20000;
  const std::vector<Law> laws = LawsOfNetworks();
  for (const uint32_t state : {0u, 21u, 42u}) {
    std::vector<float> rows;
    for (int64_t r = 0; r < kDraws; ++r)
      for (int64_t i = 0; i < kDimension; ++i) rows.push_back(static_cast<float>(state >> i & 1));
    std::map<uint32_t, double> counts;
    for (const int32_t network : Mixture()->DrawNetworks({5, 77, 0, 0}, rows)) ++counts[network];
    Law shares;
    for (const Law& law : laws) shares.push_back(law[state] / (kNetworks * LawOf(*Mixture())[state]));
    ExpectLaw(counts, shares, "state " + std::to_string(state));
  }
}

TEST(AutoregressiveMixture, IsLeftAsItIsByRefilling) {
  constexpr int64_t kRows = 40000;
  const Law law = LawOf(*Mixture());
  for (int64_t start = 0; start < kDimension; ++start) {
    std::vector<float> rows = DrawFrom(law, kDimension, kRows, 3);
    const std::vector<int32_t> networks = Mixture()->DrawNetworks({6, 78, 0, 0}, rows);
    Mixture()->Refill({6, 79, 0, 0}, std::vector<int64_t>(kRows, start), rows, networks);
    ExpectLaw(CountRows(rows, kDimension), law, "from " + std::to_string(start));
  }
}

TEST(AutoregressiveMixture, CarriesTheRefillSampler) {
  constexpr int64_t kChains = 20000;
  const EnergyPath target(DenseEnergy(kDimension, 1.0, 3), Mixture());
  for (const double beta : {0.4, 1.0}) {
    const Law law = ExactLaw(target, beta);
    Chains chains = StartChainsAt(target, DrawFrom(law, kDimension, kChains, 51), 52);
    chains.betas.assign(kChains, beta);
    MakeSampler("refill", target)->Step(chains, 3);
    ExpectLaw(CountStates(chains), law, std::to_string(beta));
    ExpectCachesConsistent(target, chains);
    EXPECT_GT(chains.counters.bits_flipped, kChains / 10);
  }
}

TEST(AutoregressiveMixture, RefusesWhatItCannotDo) {
  std::vector<AutoregressiveTensors> uneven = {RandomTensors(4, {3}, 1), RandomTensors(5, {3}, 1)};
  const auto invalid = [](const std::function<void()>& call, const std::string& words) {
    ExpectError(ErrorCode::kInvalidArgument, call, words);
  };
  invalid([&] { AutoregressiveBase base(uneven); }, "the same variables");
  invalid([] { AutoregressiveBase base(std::span<const AutoregressiveTensors>{}); }, "no network");
  std::vector<float> row(kDimension);
  const std::vector<int64_t> start = {0};
  invalid([&] { Mixture()->Refill({}, start, row); }, "number of one of the networks");
  invalid([&] { Mixture()->Refill({}, start, row, std::vector<int32_t>{3}); }, "one of the networks");
  const EnergyPath target(DenseEnergy(kDimension, 1.0, 3), Mixture());
  Chains chains = StartChains(target, 2, 1);
  chains.clamped.assign(chains.states.size(), 0);
  chains.clamped[0] = 1;
  invalid([&] { MakeSampler("refill", target)->Step(chains, 1); }, "several orders");
}

}  // namespace
}  // namespace ort_ed
