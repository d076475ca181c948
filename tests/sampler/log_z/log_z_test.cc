#include "ort_ed/log_z.h"

#include <cmath>

#include <gtest/gtest.h>

#include "ort_ed/error.h"
#include "tests/sampler/small_autoregressive.h"
#include "tests/sampler/test_energies.h"
#include "tests/support/error_matchers.h"

namespace ort_ed {
namespace {

double LogZByEnumeration(const EnergyFunction& energy) {
  const auto dimension = static_cast<size_t>(energy.dimension());
  std::vector<double> energies(size_t{1} << dimension);
  const std::vector<float> rows = AllStates(energy.dimension());
  energy.Energy(rows, energies);
  const Variables variables = energy.variables();
  double sum = 0;
  for (size_t s = 0; s < energies.size(); ++s)
    if (!variables.FindBroken(std::span(rows).subspan(s * dimension, dimension)))
      sum += std::exp(-energies[s]);
  return std::log(sum);
}

// A ring of spins with coupling j and field h by its transfer matrix, in closed form.
double RingLogZ(int sites, double j, double h) {
  const double mean = std::exp(j) * std::cosh(h);
  const double root = std::sqrt(std::exp(2 * j) * std::sinh(h) * std::sinh(h) + std::exp(-2 * j));
  return std::log(std::pow(mean + root, sites) + std::pow(mean - root, sites));
}

std::shared_ptr<const QuadraticEnergy> Ring(int sites, double j, double h) {
  std::vector<Edge> edges;
  for (int i = 0; i < sites; ++i) edges.push_back({i, (i + 1) % sites, j});
  return SpinEnergy(std::vector<double>(sites, h), edges);
}

AnnealingOptions Options(int64_t temperatures, int64_t chains, uint64_t seed = 1) {
  AnnealingOptions options;
  options.temperatures = temperatures;
  options.chains = chains;
  options.seed = seed;
  return options;
}

LogZEstimate Forward(const EnergyPath& target, const AnnealingOptions& options) {
  Annealing annealing = Annealing::Forward(target, options);
  annealing.Run();
  return annealing.Estimate();
}

LogZEstimate ReverseFromExactSamples(const EnergyPath& target, const AnnealingOptions& options) {
  Annealing annealing = Annealing::Reverse(
      target, options, DrawFrom(ExactLaw(target), target.dimension(), options.chains, options.seed));
  annealing.Run();
  return annealing.Estimate();
}

TEST(ExactLogZ, ZeroEnergyIsDLogTwo) {
  for (int dimension : {1, 5, 12, 17})
    EXPECT_NEAR(ExactLogZ(*SpinEnergy(std::vector<double>(dimension), {})).log_z, dimension * std::log(2),
                1e-9);
}

TEST(ExactLogZ, IndependentFieldsFactorise) {
  const std::vector<double> fields = {0.3, -1.2, 2.5, 0, -0.7};
  double expected = 0;
  for (double h : fields) expected += std::log(2 * std::cosh(h));
  EXPECT_NEAR(ExactLogZ(*SpinEnergy(fields, {})).log_z, expected, 1e-5);
}

TEST(ExactLogZ, RingsMatchTheTransferMatrix) {
  EXPECT_NEAR(ExactLogZ(*Ring(14, 0.4, 0.3)).log_z, RingLogZ(14, 0.4, 0.3), 1e-5);
  EXPECT_NEAR(ExactLogZ(*Ring(13, -0.6, 0.1)).log_z, RingLogZ(13, -0.6, 0.1), 1e-5);
}

TEST(ExactLogZ, SurvivesEnergiesFarFromZero) {
  const QuadraticEnergy energy(-5000, std::vector<double>(3), std::vector<double>(9));
  EXPECT_NEAR(ExactLogZ(energy).log_z, 5000 + 3 * std::log(2), 1e-6);
}

// The second half of the states, more than a block, has no probability.
TEST(ExactLogZ, StatesOfInfiniteEnergyCountNothing) {
  const TestEnergy half(14, [](const float* x, float*) { return x[13] == 1 ? INFINITY : 0.0; });
  EXPECT_NEAR(ExactLogZ(half).log_z, 13 * std::log(2), 1e-9);
  const TestEnergy other_half(14, [](const float* x, float*) { return x[13] == 0 ? INFINITY : 0.0; });
  EXPECT_NEAR(ExactLogZ(other_half).log_z, 13 * std::log(2), 1e-9);
}

TEST(ExactLogZ, IsNoNumberWhereNoStateIsPossibleOrOneIsCertain) {
  for (const double energy : {INFINITY, -INFINITY})
    ExpectError(
        ErrorCode::kBadModel,
        [&] {
          ExactLogZ(TestEnergy(3, [&](const float* x, float*) { return x[0] == 1 ? energy : INFINITY; }));
        },
        "not finite");
}

TEST(ExactLogZ, RefusesLargeDimensions) {
  const auto energy = SpinEnergy(std::vector<double>(27), {});
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { ExactLogZ(*energy); }, "annealed importance sampling");
}

TEST(ExactLogZ, GoesThroughTheStatesOfVariables) {
  for (const auto& energy : {MixedMlpEnergy(3), MixedDenseEnergy(4)}) {
    const LogZEstimate estimate = ExactLogZ(*energy);
    EXPECT_NEAR(estimate.log_z, LogZByEnumeration(*energy), 1e-6);
    EXPECT_EQ(estimate.samples, 96);
  }
}

// 13 variables of 3 states have more than a block of states together, and a last block that is not full.
TEST(ExactLogZ, CountsStatesInBlocks) {
  std::vector<Variable> list;
  for (int v = 0; v < 13; ++v)
    list.push_back({.name = std::to_string(v), .kind = VariableKind::kNominal, .labels = {"a", "b", "c"}});
  const Variables variables(list);
  std::vector<double> fields(variables.dimension());
  for (size_t i = 0; i < fields.size(); ++i) fields[i] = 0.1 * static_cast<double>(i % 7);
  double expected = 0;
  for (size_t v = 0; v < fields.size(); v += 3)
    expected += std::log(std::exp(-fields[v]) + std::exp(-fields[v + 1]) + std::exp(-fields[v + 2]));
  const auto energy = WithVariables(
      std::make_shared<QuadraticEnergy>(0, fields, std::vector<double>(fields.size() * fields.size())),
      variables);
  int64_t done = 0;
  const LogZEstimate estimate = ExactLogZ(*energy, [&](int64_t now, int64_t) { done = now; });
  EXPECT_NEAR(estimate.log_z, expected, 1e-5);
  EXPECT_EQ(estimate.samples, 1594323);
  EXPECT_EQ(done, 1594323);
}

TEST(ExactLogZ, RefusesTooManyStates) {
  std::vector<Variable> list;
  for (int v = 0; v < 17; ++v)
    list.push_back({.name = std::to_string(v), .kind = VariableKind::kNominal, .labels = {"a", "b", "c"}});
  const Variables variables(list);  // 3^17 > 2^26 > 3^16
  EXPECT_EQ(CountStates(variables), std::nullopt);
  EXPECT_EQ(CountStates(Variables(std::vector<Variable>(list.begin(), list.end() - 1))), 43046721);
  const auto energy = WithVariables(SpinEnergy(std::vector<double>(variables.dimension()), {}), variables);
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { ExactLogZ(*energy); }, "ends at 2^26 states");
}

TEST(LogWeights, EqualWeightsHaveNoError) {
  const std::vector<double> weights(10, -1000.0);
  const WeightSummary summary = SummariseLogWeights(weights);
  EXPECT_DOUBLE_EQ(summary.log_mean, -1000.0);
  EXPECT_NEAR(summary.standard_error, 0, 1e-12);
  EXPECT_NEAR(summary.effective, 10, 1e-9);
}

TEST(LogWeights, OneWeightHasNoErrorBar) {
  EXPECT_TRUE(std::isinf(SummariseLogWeights(std::vector{3.0}).standard_error));
}

struct Case {
  const char* name;
  std::shared_ptr<const EnergyFunction> energy;
};

std::vector<Case> Cases() {
  return {{"lattice", LatticeEnergy(3, 4, 0.3, 0.1)},
          {"frustrated", FrustratedTriangle()},
          {"dense", DenseEnergy(10, 0.3, 5)},
          {"rbm", RbmEnergy(10, 6, 7)},
          {"mlp", MlpEnergy(10, 8, 9)},
          {"ring", Ring(11, 0.5, -0.2)},
          {"fields", SpinEnergy({0.5, -1, 2, 0.1}, {})},
          {"mixed variables", MixedMlpEnergy(9)}};
}

// Five standard errors: a false alarm in two million for each comparison.
void ExpectWithinErrors(const LogZEstimate& estimate, double truth, const std::string& what) {
  EXPECT_NEAR(estimate.log_z, truth, 5 * estimate.standard_error + 1e-6) << what << " by " << estimate.method;
  EXPECT_LT(estimate.standard_error, 0.2) << what;
  EXPECT_EQ(estimate.warning, "") << what;
}

TEST(Estimators, AgreeWithEnumeration) {
  for (const Case& c : Cases()) {
    const double truth = LogZByEnumeration(*c.energy);
    const EnergyPath target(c.energy);
    ExpectWithinErrors(ImportanceLogZ(target, 20000, 3), truth, c.name);
    ExpectWithinErrors(Forward(target, Options(100, 400)), truth, c.name);
    ExpectWithinErrors(ReverseFromExactSamples(target, Options(100, 400)), truth, c.name);
  }
}

TEST(Estimators, AgreeFromABaseDistribution) {
  const std::vector<float> means = {0.2f, 0.7f, 0.5f, 0.9f, 0.4f, 0.3f, 0.5f, 0.6f, 0.1f, 0.8f};
  const EnergyPath target(RbmEnergy(10, 6, 7), BernoulliBase(means));
  const double truth = LogZByEnumeration(*target.energy);
  ExpectWithinErrors(ImportanceLogZ(target, 50000, 3), truth, "rbm");
  ExpectWithinErrors(Forward(target, Options(100, 400)), truth, "rbm");
  ExpectWithinErrors(ReverseFromExactSamples(target, Options(100, 400)), truth, "rbm");
}

TEST(Estimators, AgreeFromABaseDistributionOfMixedVariables) {
  const EnergyPath target(MixedMlpEnergy(7), ProductBase(MixedMeans(), MixedVariables()));
  const double truth = LogZByEnumeration(*target.energy);
  ExpectWithinErrors(ImportanceLogZ(target, 50000, 3), truth, "mixed");
  for (const char* sampler : {"gibbs", "block-gibbs", "gwg", "dmala", "pas"}) {
    AnnealingOptions options = Options(100, 400);
    options.sampler = sampler;
    ExpectWithinErrors(Forward(target, options), truth, sampler);
    ExpectWithinErrors(ReverseFromExactSamples(target, options), truth, sampler);
  }
}

TEST(Estimators, AgreeFromALearnedBaseOfMixedVariables) {
  const EnergyPath target(MixedMlpEnergy(7), SmallAutoregressive(MixedVariables(), {7}, 3, 0.3f));
  const double truth = LogZByEnumeration(*target.energy);
  ExpectWithinErrors(ImportanceLogZ(target, 50000, 3), truth, "mixed");
  for (const char* sampler : {"refill", "gibbs", "gwg"}) {
    AnnealingOptions options = Options(100, 400);
    options.sampler = sampler;
    ExpectWithinErrors(Forward(target, options), truth, sampler);
    ExpectWithinErrors(ReverseFromExactSamples(target, options), truth, sampler);
  }
}

TEST(Annealing, WorksWithEverySpacingAndExactSampler) {
  const auto energy = MlpEnergy(8, 8, 2);
  const double truth = LogZByEnumeration(*energy);
  for (Spacing spacing : {Spacing::kLinear, Spacing::kSigmoid, Spacing::kAdaptive}) {
    for (const SamplerKind* sampler : Samplers()) {
      if (!sampler->exact || std::string(sampler->name) == "tempering") continue;
      AnnealingOptions options = Options(60, 400);
      options.spacing = spacing;
      options.sampler = sampler->name;
      const EnergyPath target = sampler->needs_autoregressive_base
                                    ? EnergyPath(energy, SmallAutoregressive(8, {7}, 3))
                                    : EnergyPath(energy);
      ExpectWithinErrors(Forward(target, options), truth, sampler->name);
      ExpectWithinErrors(ReverseFromExactSamples(target, options), truth, sampler->name);
    }
  }
}

TEST(Annealing, RefusesSamplersThatAreNotInvariant) {
  const EnergyPath target(MlpEnergy(4, 4, 2));
  AnnealingOptions options = Options(10, 10);
  options.sampler = "dula";
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Annealing::Forward(target, options); }, "dmala");
}

TEST(Annealing, TemperaturesRiseFromZeroToOne) {
  const EnergyPath target(LatticeEnergy(4, 4, 0.5, 0));
  for (Spacing spacing : {Spacing::kLinear, Spacing::kSigmoid, Spacing::kAdaptive}) {
    AnnealingOptions options = Options(50, 10);
    options.spacing = spacing;
    const std::vector<double> betas = AnnealingTemperatures(target, options);
    ASSERT_EQ(betas.size(), 51u);
    EXPECT_EQ(betas.front(), 0);
    EXPECT_EQ(betas.back(), 1);
    for (size_t k = 1; k < betas.size(); ++k) EXPECT_GT(betas[k], betas[k - 1]);
  }
}

TEST(Annealing, TheReverseGoesBackThroughTheSameTemperatures) {
  const EnergyPath target(MlpEnergy(8, 8, 2));
  AnnealingOptions options = Options(30, 10);
  options.spacing = Spacing::kAdaptive;
  const std::vector<float> starts(3 * 8, 1.0f);
  EXPECT_EQ(Annealing::Reverse(target, options, starts).state().temperatures,
            Annealing::Forward(target, options).state().temperatures);
}

// Short annealings of a hard model: the forward estimate lies below log Z and the reverse above, in
// expectation.
TEST(Annealing, ErrsDownwardsForwardsAndUpwardsInReverse) {
  constexpr int kRepeats = 200;
  const EnergyPath target(LatticeEnergy(3, 4, 0.9, 0.05));
  const double truth = LogZByEnumeration(*target.energy);
  double below = 0, above = 0, below_squares = 0, above_squares = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    AnnealingOptions options = Options(4, 5, 100 + repeat);
    options.sampler = {"gibbs", {{"updates", 3}}};
    const double forward = Forward(target, options).log_z - truth;
    const double reverse = ReverseFromExactSamples(target, options).log_z - truth;
    below += forward / kRepeats;
    above += reverse / kRepeats;
    below_squares += forward * forward / kRepeats;
    above_squares += reverse * reverse / kRepeats;
  }
  EXPECT_LT(below, -3 * std::sqrt((below_squares - below * below) / kRepeats));
  EXPECT_GT(above, 3 * std::sqrt((above_squares - above * above) / kRepeats));
}

// The 95 % interval of n repeats covers the truth about 0.95 n times; the bounds are 4.5 standard deviations
// of that binomial, one-sided errors of the normal approximation included.
TEST(Annealing, StandardErrorsAreCalibrated) {
  constexpr int kRepeats = 300;
  const EnergyPath target(DenseEnergy(8, 0.25, 5));
  const double truth = LogZByEnumeration(*target.energy);
  int forward = 0, reverse = 0, importance = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const auto covers = [&](const LogZEstimate& estimate) {
      return std::abs(estimate.log_z - truth) < 1.96 * estimate.standard_error;
    };
    forward += covers(Forward(target, Options(10, 100, repeat)));
    reverse += covers(ReverseFromExactSamples(target, Options(10, 100, repeat)));
    importance += covers(ImportanceLogZ(target, 2000, repeat));
  }
  const double slack = 4.5 * std::sqrt(0.95 * 0.05 * kRepeats);
  for (int covered : {forward, reverse, importance}) {
    EXPECT_GT(covered, 0.95 * kRepeats - slack);
    EXPECT_LT(covered, std::min(0.95 * kRepeats + slack, kRepeats - 0.5));
  }
}

// RAISE: exp(-U(x)) / w, averaged over reverse chains from x, is the probability of x under the distribution
// that the forward annealing generates; summed over all x it is 1.
TEST(Annealing, ReverseFromEveryStateGivesADistribution) {
  constexpr int kChains = 400;
  const EnergyPath target(MlpEnergy(5, 6, 3));
  const std::vector<float> states = AllStates(5);
  std::vector<float> starts;
  for (int chain = 0; chain < kChains; ++chain) starts.insert(starts.end(), states.begin(), states.end());
  Annealing annealing = Annealing::Reverse(target, Options(5, 0), starts);
  annealing.Run();
  std::vector<double> energies(32);
  target.energy->Energy(states, energies);
  double total = 0, squares = 0;
  for (int chain = 0; chain < kChains; ++chain) {
    double sum = 0;
    for (int s = 0; s < 32; ++s) sum += std::exp(-energies[s] - annealing.log_weights()[chain * 32 + s]);
    total += sum / kChains;
    squares += sum * sum / kChains;
  }
  EXPECT_NEAR(total, 1, 5 * std::sqrt((squares - total * total) / kChains));
}

TEST(Annealing, DoesNotDependOnThreadsOrOnHowManyChainsRunAtOnce) {
  const EnergyPath target(MlpEnergy(8, 8, 2));
  AnnealingOptions options = Options(20, 50);
  const LogZEstimate whole = Forward(target, options);
  options.chains_at_once = 7;
  options.threads = 1;
  EXPECT_EQ(Forward(target, options).log_z, whole.log_z);
}

TEST(Annealing, TakesItsOptionsByName) {
  const EnergyPath target(MlpEnergy(8, 8, 2));
  AnnealingOptions by_name = MakeOptions<AnnealingOptions>({{"sampler", "gwg"},
                                                            {"flips", "2"},
                                                            {"temperatures", "20"},
                                                            {"spacing", "adaptive"},
                                                            {"chains", "50"},
                                                            {"threads", "1"}});
  by_name.seed = 1;
  AnnealingOptions options = Options(20, 50);
  options.spacing = Spacing::kAdaptive;
  options.sampler = {"gwg", {{"flips", 2}}};
  const double log_z = Forward(target, options).log_z;
  EXPECT_EQ(Forward(target, by_name).log_z, log_z);
  AnnealingOptions former = options;
  former.sampler = "gwg";
  EXPECT_NE(Forward(target, former).log_z, log_z);
  former.sampler_options.flips = 2;
  former.sampler_options.threads = 1;
  EXPECT_EQ(Forward(target, former).log_z, log_z);
}

TEST(Annealing, ExplainsWhichOptionIsWrong) {
  const EnergyPath target(MlpEnergy(4, 4, 2));
  const auto run = [&](void (*change)(AnnealingOptions&)) {
    AnnealingOptions options = Options(10, 10);
    change(options);
    return [=] { Annealing::Forward(target, options); };
  };
  ExpectError(ErrorCode::kInvalidArgument, run([](auto& o) { o.temperatures = 0; }), "temperatures",
              "[1, inf)");
  ExpectError(ErrorCode::kInvalidArgument, run([](auto& o) { o.chains = 0; }), "chains", "[1, inf)");
  ExpectError(ErrorCode::kInvalidArgument, run([](auto& o) { o.sampler = "tempering"; }), "sampler", "gibbs");
  ExpectError(ErrorCode::kInvalidArgument, run([](auto& o) {
                o.sampler = {"gwg", {{"flips", 0}}};
              }),
              "flips", "[1, inf)");
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { Annealing::Reverse(target, Options(10, 10), {}); }, "start");
  ExpectError(
      ErrorCode::kInvalidArgument, [] { ParseSpacing("even"); }, "'even'", "linear, sigmoid, adaptive");
}

TEST(Annealing, ResumesWhereItStood) {
  const EnergyPath target(RbmEnergy(8, 5, 2));
  AnnealingOptions options = Options(20, 50);
  options.chains_at_once = 20;
  const LogZEstimate whole = Forward(target, options);
  Annealing first = Annealing::Forward(target, options);
  first.Advance(33);
  EXPECT_EQ(first.done_work(), 20 * 20 + 20 * 13);
  Annealing second = Annealing::Forward(target, options);
  second.Restore(first.state());
  second.Run();
  EXPECT_EQ(second.done_work(), second.total_work());
  EXPECT_EQ(second.Estimate().log_z, whole.log_z);
  EXPECT_EQ(second.counters().energy_evaluations, [&] {
    Annealing again = Annealing::Forward(target, options);
    again.Run();
    return again.counters().energy_evaluations;
  }());
}

TEST(Annealing, WeightedEndsAreSamplesOfTheModel) {
  const EnergyPath target(FrustratedTriangle());
  Annealing annealing = Annealing::Forward(target, Options(50, 20000));
  annealing.Run();
  const std::vector<float> samples = annealing.Samples(10000);
  ASSERT_EQ(samples.size(), 30000u);
  Law counts(8);
  for (size_t row = 0; row < samples.size(); row += 3)
    counts[StateNumber(std::span(samples).subspan(row, 3))] += 1e-4;
  const Law law = ExactLaw(target);
  for (int s = 0; s < 8; ++s) EXPECT_NEAR(counts[s], law[s], 5 * std::sqrt(law[s] / 10000)) << s;
}

TEST(Annealing, ForeignStateIsRefused) {
  const EnergyPath target(RbmEnergy(8, 5, 2));
  Annealing first = Annealing::Forward(target, Options(20, 50));
  first.Advance(3);
  Annealing other = Annealing::Forward(target, Options(21, 50));
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { other.Restore(first.state()); }, "other options");
}

TEST(Annealing, ADamagedStateIsRefused) {
  const EnergyPath target(RbmEnergy(8, 5, 2));
  AnnealingOptions options = Options(20, 50);
  options.chains_at_once = 20;
  Annealing annealing = Annealing::Forward(target, options);
  annealing.Advance(33);
  const std::function<void(AnnealingState&)> damages[] = {
      [](AnnealingState& s) { s.chains.count = 255; },
      [](AnnealingState& s) { s.chains.count = -1; },
      [](AnnealingState& s) { s.chains.states.pop_back(); },
      [](AnnealingState& s) { s.chains.states[0] = 2; },
      [](AnnealingState& s) { s.chains.energies.clear(); },
      [](AnnealingState& s) { s.chains.betas.clear(); },
      [](AnnealingState& s) { s.chains.first_chain = 1; },
      [](AnnealingState& s) { s.partial.pop_back(); },
      [](AnnealingState& s) { s.ends.pop_back(); },
      [](AnnealingState& s) { s.log_weights.clear(); },
      [](AnnealingState& s) { s.moves = -1; },
      [](AnnealingState& s) { s.moves = 20; },
      [](AnnealingState& s) { s.chains.base_energies = {}; },
  };
  for (size_t i = 0; i < std::size(damages); ++i) {
    SCOPED_TRACE(i);
    AnnealingState state = annealing.state();
    damages[i](state);
    Annealing other = Annealing::Forward(target, options);
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { other.Restore(state); }, "other options");
  }
}

TEST(Annealing, WarnsOfTooFewEffectiveChains) {
  const LogZEstimate estimate = Forward(EnergyPath(LatticeEnergy(3, 4, 2.0, 0)), [] {
    AnnealingOptions options = Options(2, 100);
    options.sampler = {"gibbs", {{"updates", 1}}};
    return options;
  }());
  EXPECT_NE(estimate.warning.find("effective chains of 100"), std::string::npos) << estimate.warning;
}

}  // namespace
}  // namespace ort_ed
