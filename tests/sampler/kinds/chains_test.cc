// What every sampler owes its caller: seeds, threads, clamps, caches, counters, errors.

#include "tests/sampler/law_test.h"
#include "tests/support/error_matchers.h"

namespace ort_ed {
namespace {

std::vector<std::string> SamplerNames() {
  std::vector<std::string> names;
  for (const SamplerKind* kind : Samplers()) names.push_back(kind->name);  // those of any path
  std::erase_if(names, [](const std::string& name) { return FindSampler(name).needs_autoregressive_base; });
  return names;
}

class EverySampler : public testing::TestWithParam<std::string> {
 protected:
  std::vector<float> StatesAfter(const EnergyPath& target, int threads, const std::vector<int64_t>& calls,
                                 uint64_t seed = 5) {
    Chains chains = StartChains(target, 70, seed);
    const auto sampler = MakeSampler(GetParam(), target, threads);
    for (const int64_t steps : calls) sampler->Step(chains, steps);
    EXPECT_EQ(chains.step, static_cast<uint64_t>(std::accumulate(calls.begin(), calls.end(), int64_t{0})));
    return chains.states;
  }

  std::vector<EnergyPath> Targets() {
    return {EnergyPath(MlpEnergy(9, 7, 3)), EnergyPath(LatticeEnergy(3, 4, 0.2, 0.1)),
            EnergyPath(DenseEnergy(40, 0.05, 2)), EnergyPath(MixedMlpEnergy(3)),
            EnergyPath(std::make_shared<InGroups>(MlpEnergy(9, 7, 3), 16))};
  }
};

TEST_P(EverySampler, DependsOnTheSeedOnly) {
  for (const EnergyPath& target : Targets()) {
    const std::vector<float> states = StatesAfter(target, 1, {12});
    EXPECT_EQ(states, StatesAfter(target, 7, {12}));
    EXPECT_EQ(states, StatesAfter(target, 1, {5, 1, 6}));
    EXPECT_NE(states, StatesAfter(target, 1, {12}, 6));
  }
}

TEST_P(EverySampler, DividesIntoMicroBatches) {
  for (const EnergyPath& target : Targets()) {
    const std::vector<float> whole = StatesAfter(target, 0, {9});
    std::vector<float> parts;
    for (const int64_t first : {0, 33}) {
      Chains chains = StartChains(target, first == 0 ? 33 : 37, 5, first);
      MakeSampler(GetParam(), target)->Step(chains, 9);
      parts.insert(parts.end(), chains.states.begin(), chains.states.end());
    }
    EXPECT_EQ(whole, parts);
  }
}

TEST_P(EverySampler, IsTheSameInGroups) {
  const std::shared_ptr<const EnergyFunction> energy = MixedMlpEnergy(3);
  const EnergyPath whole(energy), in_groups(std::make_shared<InGroups>(energy, 16));
  Chains expected = StartChains(whole, 70, 5), chains = expected;
  for (int64_t chain = 0; chain < chains.count; ++chain) expected.betas[chain] = 0.5 + 0.01 * chain;
  chains.betas = expected.betas;
  const auto sampler = MakeSampler(GetParam(), whole), side_by_side = MakeSampler(GetParam(), in_groups, 3);
  const bool backwards = GetParam() != "tempering";
  for (const auto& [one, all] :
       {std::pair(sampler.get(), &expected), std::pair(side_by_side.get(), &chains)}) {
    one->Step(*all, 5);
    if (backwards) one->StepReversed(*all, 4);
  }
  EXPECT_EQ(chains.states, expected.states);
  EXPECT_EQ(chains.energies, expected.energies);
  EXPECT_EQ(chains.base_energies, expected.base_energies);
  EXPECT_EQ(chains.gradients, expected.gradients);
  EXPECT_EQ(chains.replicas, expected.replicas);
  EXPECT_EQ(chains.step, expected.step);
  EXPECT_EQ(chains.counters.energy_evaluations, expected.counters.energy_evaluations);
  EXPECT_EQ(chains.counters.moves, expected.counters.moves);
}

TEST_P(EverySampler, NeverTouchesWhatIsClamped) {
  for (const EnergyPath& target : Targets()) {
    for (const bool per_chain : {false, true}) {
      Chains chains = StartChains(target, 40, 8);
      RandomStream random(1, 2, 3, 4);
      chains.clamped.resize(per_chain ? chains.states.size() : chains.dimension);
      const Variables variables = target.variables();
      for (size_t row = 0; row < chains.clamped.size(); row += chains.dimension)
        for (int64_t v = 0; v < variables.size(); ++v)
          std::fill_n(chains.clamped.begin() + row + variables.first_bit(v), variables.bits(v),
                      static_cast<uint8_t>(random.Next32() & 1));
      if (per_chain)
        std::fill_n(chains.clamped.begin(), chains.dimension, uint8_t{1});  // nothing to do in chain 0
      const Chains before = chains;
      MakeSampler(GetParam(), target)->Step(chains, 30);
      int64_t changes = 0;
      for (size_t k = 0; k < chains.states.size(); ++k) {
        if (chains.states[k] == before.states[k]) continue;
        ++changes;
        EXPECT_FALSE(chains.IsClamped(k / chains.dimension, k % chains.dimension)) << k;
      }
      EXPECT_GT(changes, 40);
      if (target.dimension() < 30) ExpectCachesConsistent(target, chains);
      chains.clamped.assign(chains.dimension, 1);
      const std::vector<float> frozen = chains.states;
      MakeSampler(GetParam(), target)->Step(chains, 2);
      EXPECT_EQ(chains.states, frozen);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, EverySampler, testing::ValuesIn(SamplerNames()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// Chains that observe different coordinates: each reaches its own conditional distribution.
TEST(Clamping, SamplesTheConditionalDistribution) {
  constexpr int64_t kChains = 3000;
  for (const std::string& name : SamplerNames()) {
    if (!FindSampler(name).exact) continue;
    for (const EnergyPath& target : {EnergyPath(RbmEnergy(7, 5, 3)), EnergyPath(DenseEnergy(7, 0.3, 4))}) {
      const Law law = ExactLaw(target);
      Chains chains = StartChains(target, kChains, 9);
      const std::vector<float> observed[2] = {{1, 0, 1, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 1, 1}};
      const std::vector<uint8_t> clamps[2] = {{1, 1, 1, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 1, 1}};
      std::vector<float> states;
      for (int64_t chain = 0; chain < kChains; ++chain) {
        chains.clamped.insert(chains.clamped.end(), clamps[chain % 2].begin(), clamps[chain % 2].end());
        states.insert(states.end(), observed[chain % 2].begin(), observed[chain % 2].end());
      }
      const std::vector<uint8_t> clamped = chains.clamped;
      chains = StartChainsAt(target, states, 10);
      chains.clamped = clamped;
      Choice sampler(name);
      if (name == "dmala") sampler.options = {{"step_size", 0.6}};
      if (name == "tempering") sampler.options = {{"temperatures", 3}, {"lowest_beta", 0.4}};
      MakeSampler(sampler, target)->Step(chains, name == "gibbs" || name == "block-gibbs" ? 20 : 80);
      for (int kind = 0; kind < 2; ++kind) {
        uint32_t mask = 0;
        for (int i = 0; i < 7; ++i) mask |= static_cast<uint32_t>(clamps[kind][i]) << i;
        Law conditional(law.size());
        double total = 0;
        for (uint32_t s = 0; s < law.size(); ++s)
          if ((s & mask) == StateNumber(observed[kind])) total += conditional[s] = law[s];
        for (double& p : conditional) p /= total;
        std::map<uint32_t, double> counts;
        for (int64_t chain = kind; chain < kChains; chain += 2) ++counts[StateNumber(chains.state(chain))];
        ExpectLaw(counts, conditional, name);
      }
    }
  }
}

TEST(Gibbs, NeverRecomputesTheCurrentEnergyAndBatchesAllChains) {
  const auto energy = MlpEnergy(9, 7, 3);
  const EnergyPath target{std::shared_ptr<const EnergyFunction>(energy)};
  Chains chains = StartChains(target, 50, 1);
  energy->rows_evaluated = energy->calls = 0;
  const StepCounters before = chains.counters;
  MakeSampler("gibbs", target)->Step(chains, 4);
  EXPECT_EQ(energy->calls, 4 * 9);
  EXPECT_EQ(energy->rows_evaluated, 4 * 9 * 50);
  EXPECT_EQ(chains.counters.energy_evaluations - before.energy_evaluations, 4 * 9 * 50);
  EXPECT_EQ(chains.counters.proposals, 4 * 9 * 50);
}

TEST(GradientSamplers, EvaluateEveryProposalOnce) {
  for (const std::string name : {"gwg", "dula", "dmala", "pas"}) {
    const auto energy = MlpEnergy(9, 7, 3);
    const EnergyPath target{std::shared_ptr<const EnergyFunction>(energy)};
    Chains chains = StartChains(target, 50, 1);
    energy->rows_evaluated = energy->calls = 0;
    const auto sampler = MakeSampler(name, target);
    sampler->Step(chains, 3);
    sampler->Step(chains, 2);
    EXPECT_EQ(energy->calls, 1 + 5) << name;  // the initial gradient, then the proposals
    EXPECT_EQ(energy->rows_evaluated, 6 * 50) << name;
    EXPECT_EQ(chains.counters.gradient_evaluations, 6 * 50) << name;
  }
}

TEST(Chains, StartFromTheBaseDistribution) {
  const std::vector<float> means = {0.1f, 0.5f, 0.9f};
  const EnergyPath target(FrustratedTriangle(), BernoulliBase(means));
  const Chains chains = StartChains(target, 20000, 3);
  ExpectLaw(CountStates(chains), ExactLaw(target, 0), "base");
  ExpectCachesConsistent(target, chains);
  double total = 0;
  for (const double p : ExactLaw(target, 0)) total += p;
  EXPECT_NEAR(total, 1, 1e-12);
  const std::vector<float> row = {1, 1, 1};
  EXPECT_NEAR(target.base->independent()->Energy(row), -std::log(0.1 * 0.5 * 0.9), 1e-6);
}

// Each option away from its default and inside its domain.
const std::map<std::string, OptionMap>& OptionsByName() {
  static const std::map<std::string, OptionMap> options = {
      {"gibbs", {{"scan", "random"}, {"updates", 5}}},
      {"block-gibbs", {{"scan", "random"}, {"updates", 2}, {"block", 3}}},
      {"gwg", {{"flips", 3}, {"gradient", "derivative"}}},
      {"dula", {{"step_size", 0.6}, {"gradient", "derivative"}}},
      {"dmala", {{"step_size", 0.6}, {"gradient", "derivative"}}},
      {"pas", {{"path_length", 2}, {"gradient", "derivative"}}},
      {"tempering", {{"inner", "gwg"}, {"flips", 2}, {"temperatures", 3}, {"lowest_beta", 0.4}}}};
  return options;
}

SamplerOptions FormerOptions(const std::string& sampler) {
  SamplerOptions options;
  options.scan = Scan::kRandom;
  options.updates_per_step = sampler == "gibbs" ? 5 : 2;
  options.block = 3;
  options.flips = sampler == "gwg" ? 3 : 2;
  options.step_size = 0.6;
  options.path_length = 2;
  options.inner = "gwg";
  options.temperatures = 3;
  options.lowest_beta = 0.4;
  return options;
}

TEST_P(EverySampler, TakesItsOptionsByName) {
  const SamplerKind& kind = FindSampler(GetParam());
  const OptionMap& options = OptionsByName().at(GetParam());
  for (const Option& option : kind.schema().options)
    EXPECT_TRUE(options.contains(option.key)) << option.key << " is not tested";
  OptionMap texts;
  for (const auto& [key, value] : options) texts[key] = FormatOption(value);
  for (const EnergyPath& target : Targets()) {
    const auto states = [&](const std::unique_ptr<Sampler>& sampler) {
      Chains chains = StartChains(target, 70, 5);
      sampler->Step(chains, 9);
      return chains.states;
    };
    const std::vector<float> by_value = states(MakeSampler({GetParam(), options}, target));
    EXPECT_NE(by_value, states(MakeSampler(GetParam(), target)));
    EXPECT_EQ(by_value, states(MakeSampler({GetParam(), texts}, target)));
    EXPECT_EQ(by_value, states(MakeSampler(GetParam(), target, FormerOptions(GetParam()))));
  }
}

TEST_P(EverySampler, ListsItsOptionsWhereOneIsUnknown) {
  const Choice unknown(GetParam(), {{"flavour", 1}});
  const Error error = ErrorOf([&] { MakeSampler(unknown, EnergyPath(FrustratedTriangle())); });
  EXPECT_THAT(error.what(), testing::HasSubstr("flavour is no option of " + GetParam() + "; there are"));
  for (const auto& [key, value] : OptionsByName().at(GetParam()))
    EXPECT_THAT(error.what(), testing::HasSubstr(key));
}

TEST(Samplers, RefuseWhatHasNoEffect) {
  const EnergyPath target(FrustratedTriangle());
  ExpectError(
      ErrorCode::kInvalidArgument,
      [&] {
        MakeSampler({"gibbs", {{"flips", 2}}}, target);
      },
      "flips", "scan, updates");
  ExpectError(
      ErrorCode::kInvalidArgument,
      [&] {
        MakeSampler({"tempering", {{"flips", 2}}}, target);
      },
      "flips", "no effect with inner gibbs", "gwg");
}

TEST(Samplers, TellWhetherTheyNeedTheGradient) {
  EXPECT_FALSE(NeedsGradient("gibbs"));
  EXPECT_TRUE(NeedsGradient("pas"));
  EXPECT_FALSE(NeedsGradient("tempering"));
  EXPECT_TRUE(NeedsGradient({"tempering", {{"inner", "dmala"}}}));
  EXPECT_FALSE(NeedsGradient({"tempering", {{"inner", "block-gibbs"}}}));
  EXPECT_EQ(GradientOf("gibbs"), std::nullopt);
  EXPECT_EQ(GradientOf("gwg"), GradientSource::kAuto);
  EXPECT_EQ(GradientOf({"tempering", {{"inner", "pas"}, {"gradient", "derivative"}}}),
            GradientSource::kDerivative);
  EXPECT_TRUE(NeedsGradient({"dula", {{"gradient", "derivative"}}}));
  EXPECT_FALSE(NeedsGradient({"dula", {{"gradient", "differences"}}}));
  EXPECT_FALSE(NeedsGradient({"tempering", {{"inner", "gwg"}, {"gradient", "differences"}}}));
}

TEST(Samplers, ThoseForAnnealingAreExactAndStayAtOneTemperature) {
  std::vector<std::string> names;
  for (const KindRow& row : AnnealingSamplerTable().rows) names.push_back(row.name);
  EXPECT_THAT(names, testing::ElementsAre("gibbs", "block-gibbs", "gwg", "dmala", "pas", "refill"));
  EXPECT_EQ(SamplerTable().rows.size(), Samplers().size());
}

TEST(Samplers, ExplainWhatIsWrong) {
  const EnergyPath target(FrustratedTriangle());
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { MakeSampler("gips", target); }, "'gips'", "gibbs", "block-gibbs",
      "gwg", "dula", "dmala", "pas", "tempering");
  const auto make = [&](const Choice& sampler) { return [=] { MakeSampler(sampler, target); }; };
  ExpectError(ErrorCode::kInvalidArgument, make({"gibbs", {{"updates", -1}}}), "updates", "[0, inf)", "-1");
  ExpectError(ErrorCode::kInvalidArgument, make({"block-gibbs", {{"block", 13}}}), "block", "[1, 12]", "13");
  ExpectError(ErrorCode::kInvalidArgument, make({"gwg", {{"flips", 0}}}), "flips", "[1, inf)");
  ExpectError(ErrorCode::kInvalidArgument, make({"dmala", {{"step_size", 0}}}), "step_size", "(0, inf)");
  ExpectError(ErrorCode::kInvalidArgument, make({"dula", {{"step_size", INFINITY}}}), "step_size", "finite");
  ExpectError(ErrorCode::kInvalidArgument, make({"pas", {{"path_length", 0}}}), "path_length", "[1, inf)");
  ExpectError(ErrorCode::kInvalidArgument, make({"tempering", {{"temperatures", 1}}}), "temperatures",
              "[2, inf)");
  ExpectError(ErrorCode::kInvalidArgument, make({"tempering", {{"lowest_beta", 1}}}), "lowest_beta",
              "(0, 1)");
  for (const char* inner : {"tempering", "dula"})
    ExpectError(ErrorCode::kInvalidArgument, make({"tempering", {{"inner", inner}}}),
                "inner must be one of gibbs, block-gibbs, gwg, dmala, pas", inner);
  ExpectError(
      ErrorCode::kBadData,
      [&] {
        StartChainsAt(target, {0, 1, 0.5f}, 1);
      },
      "chain 0", "variable 2");
  ExpectError(
      ErrorCode::kInvalidArgument,
      [&] {
        StartChainsAt(target, {0, 1}, 1);
      },
      "rows of 3");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { StartChains(target, 0, 1); }, "one chain");
  ExpectError(
      ErrorCode::kInvalidArgument,
      [] {
        BernoulliBase(std::vector<float>{0.5f, 1.0f});
      },
      "variable 1");
}

}  // namespace
}  // namespace ort_ed
