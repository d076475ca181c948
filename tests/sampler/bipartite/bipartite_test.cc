// Samplers that know that an energy is an RBM's; that they keep its laws is tested with all others
// (kinds/invariance_test.cc).

#include <numeric>

#include "ort_ed/log_z.h"
#include "sampler/bipartite/check_bipartite.h"
#include "sampler/bipartite/unit_kernels.h"
#include "tests/sampler/bipartite/known_rbm.h"
#include "tests/sampler/law_test.h"

namespace ort_ed {
namespace {

Chains Moved(const EnergyPath& path, const Choice& sampler, Chains chains, std::initializer_list<int> steps,
             int threads = 1) {
  const auto moving = MakeSampler(sampler, path, threads);
  for (const int count : steps) moving->Step(chains, count);
  return chains;
}

EnergyPath PathTo(const BipartiteForm& form, bool shown) {
  std::vector<float> means(form.fields.size());
  for (size_t i = 0; i < means.size(); ++i) means[i] = 0.1f + 0.8f * static_cast<float>(i) / means.size();
  return {std::make_shared<KnownRbm>(form, shown), ProductBase(means)};
}

// 40 chains: two whole blocks and a part of one. Units: more than products are taken of at once.
TEST(BipartiteGibbs, DecidesAsForAnyEnergy) {
  for (const double scale : {0.1, 1.2, 12.0}) {
    const BipartiteForm form = RandomForm(30, 77, 5, scale);
    for (const Choice& sampler : {Choice("gibbs"), Choice("gibbs", {{"updates", 7}}),
                                  Choice("block-gibbs", {{"block", 3}, {"updates", 2}})}) {
      Chains start = StartChains(PathTo(form, true), 40, 3);
      for (int64_t chain = 0; chain < start.count; ++chain) start.betas[chain] = 0.025 * chain + 0.1;
      start.clamped.assign(30, 0);
      start.clamped[4] = start.clamped[29] = 1;
      const Chains known = Moved(PathTo(form, true), sampler, start, {6});
      const Chains opaque = Moved(PathTo(form, false), sampler, start, {6});
      EXPECT_EQ(known.states, opaque.states) << scale;
      EXPECT_EQ(known.counters.bits_flipped, opaque.counters.bits_flipped);
      EXPECT_EQ(known.counters.proposals, opaque.counters.proposals);
      EXPECT_EQ(known.counters.energy_evaluations, opaque.counters.energy_evaluations);
      ExpectCachesConsistent(PathTo(form, true), known);
    }
  }
}

TEST(BipartiteSamplers, DoNotDependOnThreadsNorOnHowStepsAreDivided) {
  const BipartiteForm form = RandomForm(20, 9, 6);
  const EnergyPath path = PathTo(form, true);
  for (const std::string sampler : {"gibbs", "block-gibbs"}) {
    const Chains start = StartChains(path, 50, 3);
    const Chains whole = Moved(path, sampler, start, {7});
    EXPECT_NE(whole.states, start.states);
    EXPECT_EQ(Moved(path, sampler, start, {2, 4, 1}, 3).states, whole.states) << sampler;
  }
}

// Units say nothing of bits that do not move by themselves.
TEST(BipartiteSamplers, TakeAnRbmOfOtherVariablesAsAnyEnergy) {
  const Variables variables = MixedVariables();
  const BipartiteForm form = RandomForm(variables.dimension(), 6, 4);
  const EnergyPath known(std::make_shared<KnownRbm>(form, true, variables));
  const EnergyPath opaque(std::make_shared<KnownRbm>(form, false, variables));
  EXPECT_EQ(known.bipartite(), nullptr);
  for (const std::string sampler : {"gibbs", "block-gibbs"}) {
    const Chains start = StartChains(known, 20, 3);
    const Chains after = Moved(known, sampler, start, {4});
    EXPECT_NE(after.states, start.states);
    EXPECT_EQ(after.states, Moved(opaque, sampler, start, {4}).states) << sampler;
  }
}

TEST(LayerGibbs, KeepsClampedVariablesAndTheRestsLaw) {
  constexpr int64_t kChains = 20000;
  const EnergyPath path = PathTo(RandomForm(5, 4, 8), true);
  for (const double beta : {1.0, 0.5, 1.7}) {
    Law law = ExactLaw(path, beta);
    for (uint32_t s = 0; s < law.size(); ++s)
      if ((s & 6) != 2) law[s] = 0;  // variable 1 is 1, variable 2 is 0
    const double total = std::accumulate(law.begin(), law.end(), 0.0);
    for (double& p : law) p /= total;
    Chains chains = StartChainsAt(path, DrawFrom(law, 5, kChains, 9), 10);
    chains.betas.assign(kChains, beta);
    chains.clamped = {0, 1, 1, 0, 0};
    const Chains after = Moved(path, "block-gibbs", chains, {2});
    std::map<uint32_t, double> counts = CountStates(after);
    for (const auto& [state, count] : counts) EXPECT_EQ(state & 6, 2u);
    std::erase_if(law, [](double p) { return p == 0; });
    std::map<uint32_t, double> packed;
    for (const auto& [state, count] : counts) packed[(state & 1) | (state >> 3 << 1)] = count;
    ExpectLaw(packed, law, std::to_string(beta));
    EXPECT_GT(after.counters.moves, kChains / 10);
  }
}

// AIS, with both ways of moving, against enumeration.
TEST(BipartiteSamplers, AnnealToLogZ) {
  const EnergyPath path = PathTo(RandomForm(10, 6, 7), true);
  const double truth = ExactLogZ(*path.energy).log_z;
  for (const std::string sampler : {"gibbs", "block-gibbs"}) {
    AnnealingOptions options;
    options.temperatures = 100;
    options.chains = 400;
    options.sampler = sampler;
    Annealing annealing = Annealing::Forward(path, options);
    annealing.Run();
    const LogZEstimate estimate = annealing.Estimate();
    EXPECT_NEAR(estimate.log_z, truth, 5 * estimate.standard_error) << sampler;
    EXPECT_LT(estimate.standard_error, 0.1) << sampler;
  }
}

TEST(CheckBipartite, TellsFormsFromEnergies) {
  const BipartiteForm form = RandomForm(12, 5, 3);
  const KnownRbm energy(form);
  EXPECT_TRUE(IsBipartite(energy, form));
  BipartiteForm other = form;
  other.weights[17] += 1e-3f;
  EXPECT_FALSE(IsBipartite(energy, other));
  other = form;
  other.fields[11] -= 1e-3f;
  EXPECT_FALSE(IsBipartite(energy, other));
  other = form;
  other.biases.push_back(-3);
  EXPECT_FALSE(IsBipartite(energy, other));  // a weight is missing for it
  other = form;
  other.weights[3] = 100;
  EXPECT_FALSE(IsBipartite(KnownRbm(other), other));  // right, but beyond the kernels
  other.weights[3] = std::nanf("");
  EXPECT_FALSE(IsBipartite(KnownRbm(other), other));
}

#if defined(__x86_64__)
TEST(UnitKernels, AgreeBetweenInstructionSets) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) GTEST_SKIP();
  constexpr int64_t kUnits = 37;
  RandomStream random(1, 2, 3, 4);
  std::vector<float> weights(kUnits), factors(kUnits), inverses(kUnits);
  for (int64_t k = 0; k < kUnits; ++k) {
    weights[k] = static_cast<float>(8 * random.UniformDouble() - 4);
    factors[k] = std::exp(weights[k]), inverses[k] = std::exp(-weights[k]);
  }
  Lanes down = {}, change = {};
  std::vector<Unit> units(kUnits);
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    down.lane[lane] = static_cast<float>(lane % 2);
    change.lane[lane] = static_cast<float>(lane % 3) - 1;
    for (Unit& unit : units) unit.input.lane[lane] = static_cast<float>(200 * random.UniformDouble() - 100);
  }
  for (const UnitKernels* kernels : {&kPortableUnitKernels, &kAvx2UnitKernels}) {
    std::vector<Unit> own = units;
    kernels->probabilities(own.data(), kUnits);
    kernels->shift(weights.data(), change, own.data(), kUnits);
    LaneProduct product;
    kernels->ratio(factors.data(), inverses.data(), down, own.data(), kUnits, 20, product);
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      double expected = 0;
      for (int64_t k = 0; k < kUnits; ++k) {
        const double input = double{units[k].input.lane[lane]} + weights[k] * change.lane[lane];
        const double there = input + (down.lane[lane] != 0 ? -weights[k] : weights[k]);
        const auto softplus = [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); };
        expected += softplus(there) - softplus(input);
      }
      const double log = std::log(product.mantissa.lane[lane]) + std::log(2.0) * product.exponent[lane];
      EXPECT_NEAR(log, expected, 1e-4);
    }
  }
}
#endif

}  // namespace
}  // namespace ort_ed
