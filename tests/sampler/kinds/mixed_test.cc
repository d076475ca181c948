// Variables with more than two states: the kernels themselves on one of three states and a binary one, with
// transition matrices written out; the base; and what is refused.

#include "tests/sampler/kinds/transition_matrix.h"
#include "tests/sampler/small_autoregressive.h"
#include "tests/support/error_matchers.h"

namespace ort_ed {
namespace {

constexpr int kColours = 3, kStates = 6;  // state number: colour + 3 * on
constexpr int64_t kStarts = 20000;        // chains from each state
constexpr double kStepSize = 0.7;
using Matrix = TransitionMatrix<kStates>;

Variables ColourAndSwitch() {
  return Variables({{.name = "colour", .kind = VariableKind::kNominal, .labels = {"red", "green", "blue"}},
                    {.name = "on"}});
}

EnergyPath SmallTarget() { return EnergyPath(WithVariables(MlpEnergy(4, 5, 17), ColourAndSwitch())); }

std::vector<float> RowOf(int state) {
  std::vector<float> row(4);
  row[state % kColours] = 1;
  row[3] = static_cast<float>(state / kColours);
  return row;
}

int NumberOf(std::span<const float> row) {
  EXPECT_EQ(ColourAndSwitch().FindBroken(row), std::nullopt);
  const auto colour = static_cast<int>(ColourAndSwitch().State(row.data(), 0));
  return colour + kColours * static_cast<int>(row[3]);
}

bool OneVariableApart(int s, int t) { return (s % 3 != t % 3) != (s / 3 != t / 3); }

Law SmallLaw(const EnergyPath& target) {
  Law law(kStates);
  double total = 0;
  for (int s = 0; s < kStates; ++s) {
    double energy;
    target.energy->Energy(RowOf(s), {&energy, 1});
    total += law[s] = std::exp(-energy);
  }
  for (double& p : law) p /= total;
  return law;
}

// Half the first-order change of log p on the way from s to t.
double Gain(const EnergyPath& target, int s, int t) {
  const std::vector<float> from = RowOf(s), to = RowOf(t);
  std::vector<float> gradient(4);
  double energy, change = 0;
  target.energy->EnergyAndGradient(from, {&energy, 1}, gradient);
  for (int i = 0; i < 4; ++i) change -= (to[i] - from[i]) * gradient[i];
  return change / 2;
}

Matrix Transitions(const Choice& choice, const EnergyPath& target, bool reversed = false) {
  std::vector<float> starts;
  for (int64_t n = 0; n < kStarts * kStates; ++n) {
    const std::vector<float> row = RowOf(static_cast<int>(n % kStates));
    starts.insert(starts.end(), row.begin(), row.end());
  }
  Chains chains = StartChainsAt(target, starts, 51);
  const auto sampler = MakeSampler(choice, target);
  reversed ? sampler->StepReversed(chains, 1) : sampler->Step(chains, 1);
  Matrix counts{};
  for (int64_t chain = 0; chain < chains.count; ++chain)
    ++counts[chain % kStates][NumberOf(chains.state(chain))];
  return counts;
}

// Redraws among the states for which `joined` holds.
template <typename Joined>
Matrix HeatBathAmong(const Law& law, const Joined& joined) {
  Matrix kernel{};
  for (int s = 0; s < kStates; ++s) {
    double total = 0;
    for (int t = 0; t < kStates; ++t) total += joined(s, t) ? law[t] : 0;
    for (int t = 0; t < kStates; ++t) kernel[s][t] = joined(s, t) ? law[t] / total : 0;
  }
  return kernel;
}

// Each variable by itself; a change costs 1 / (2 alpha).
Matrix LangevinProposal(const EnergyPath& target) {
  Matrix proposal{};
  const auto weight = [&](int s, int t) {
    return s == t ? 1 : std::exp(Gain(target, s, t) - 1 / (2 * kStepSize));
  };
  for (int s = 0; s < kStates; ++s) {
    const int other = (s + kColours) % kStates, row = s / kColours * kColours;
    const double colours = weight(s, row) + weight(s, row + 1) + weight(s, row + 2);
    const double turn = weight(s, other) / (1 + weight(s, other));
    for (int t = 0; t < kStates; ++t)
      proposal[s][t] = weight(s, row + t % kColours) / colours * (t / 3 != s / 3 ? turn : 1 - turn);
  }
  return proposal;
}

const auto kSameSwitch = [](int s, int t) { return s / kColours == t / kColours; };
const auto kSameColour = [](int s, int t) { return s % kColours == t % kColours; };

TEST(MixedTransitions, OfGibbsRedrawOneVariableAfterTheOther) {
  const EnergyPath target = SmallTarget();
  const Law law = SmallLaw(target);
  const Matrix colour = HeatBathAmong(law, kSameSwitch), turn = HeatBathAmong(law, kSameColour);
  ExpectTransitions(Transitions("gibbs", target), Multiply(colour, turn));
  ExpectTransitions(Transitions("gibbs", target, true), Multiply(turn, colour));
  Matrix either{};
  for (int s = 0; s < kStates; ++s)
    for (int t = 0; t < kStates; ++t) either[s][t] = (colour[s][t] + turn[s][t]) / 2;
  ExpectTransitions(Transitions({"gibbs", {{"scan", "random"}, {"updates", 1}}}, target), either);
}

TEST(MixedTransitions, OfABlockOfAllVariablesForgetEverything) {
  const EnergyPath target = SmallTarget();
  const Law law = SmallLaw(target);
  ExpectTransitions(Transitions("block-gibbs", target), HeatBathAmong(law, [](int, int) { return true; }));
}

TEST(MixedTransitions, OfGibbsWithGradientsAreMetropolised) {
  const EnergyPath target = SmallTarget();
  Matrix proposal{};
  for (int s = 0; s < kStates; ++s) {
    double total = 0;
    for (int t = 0; t < kStates; ++t)
      if (OneVariableApart(s, t)) total += proposal[s][t] = std::exp(Gain(target, s, t));
    for (double& p : proposal[s]) p /= total;
  }
  ExpectTransitions(Transitions("gwg", target), Metropolis(SmallLaw(target), proposal));
}

TEST(MixedTransitions, OfLangevinAreItsProposalOrMetropolised) {
  const EnergyPath target = SmallTarget();
  const Matrix proposal = LangevinProposal(target);
  ExpectTransitions(Transitions({"dula", {{"step_size", kStepSize}}}, target), proposal);
  ExpectTransitions(Transitions({"dmala", {{"step_size", kStepSize}}}, target),
                    Metropolis(SmallLaw(target), proposal));
}

// A variable of two states in two bits is a binary one: the same weights, whatever stands for it.
TEST(MixedTransitions, OfTwoStatesAreThoseOfABit) {
  const Variables pair({{.name = "side", .kind = VariableKind::kNominal, .labels = {"left", "right"}}});
  const auto two = WithVariables(
      std::make_shared<QuadraticEnergy>(0, std::vector{0.4, -0.9}, std::vector<double>(4)), pair);
  const auto one = std::make_shared<QuadraticEnergy>(0.4, std::vector{-1.3}, std::vector<double>(1));
  for (const Choice& sampler : {Choice("dula", {{"step_size", 0.5}}), Choice("gwg"), Choice("pas")}) {
    const auto count_ones = [&](const EnergyPath& target, std::vector<float> start) {
      std::vector<float> starts;
      for (int i = 0; i < 4000; ++i) starts.insert(starts.end(), start.begin(), start.end());
      Chains chains = StartChainsAt(target, starts, 5);
      MakeSampler(sampler, target)->Step(chains, 1);
      double ones = 0;
      for (int64_t chain = 0; chain < chains.count; ++chain) ones += chains.state(chain).back();
      return ones / 4000;
    };
    // Five standard errors of the difference of two frequencies.
    EXPECT_NEAR(count_ones(EnergyPath(two), {1, 0}), count_ones(EnergyPath(one), {0}),
                5 * 0.5 / std::sqrt(2000))
        << sampler.kind;
  }
}

// Where the mask is 1 the law has only what `row` has there.
Law Conditional(Law law, const std::vector<float>& row, const std::vector<uint8_t>& mask) {
  double total = 0;
  for (uint32_t state = 0; state < law.size(); ++state) {
    for (size_t bit = 0; bit < mask.size(); ++bit)
      if (mask[bit] != 0 && static_cast<float>(state >> bit & 1) != row[bit]) law[state] = 0;
    total += law[state];
  }
  for (double& p : law) p /= total;
  return law;
}

// Of variables with several states some are known, others in other chains.
TEST(MixedClamping, SamplesTheConditionalDistribution) {
  constexpr int64_t kChains = 6000;
  const std::vector<float> row = {0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 0};  // green, on, L, not late, left
  const std::vector<uint8_t> masks[2] = {{1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0},
                                         {0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1}};
  for (const Choice& sampler :
       {Choice("gibbs"), Choice("block-gibbs"), Choice("gwg"), Choice("gwg", {{"flips", 2}}),
        Choice("dmala", {{"step_size", 0.6}}), Choice("pas"),
        Choice("tempering", {{"temperatures", 3}, {"lowest_beta", 0.4}})})
    for (const EnergyPath& target : {EnergyPath(MixedMlpEnergy(5)), EnergyPath(MixedDenseEnergy(6))}) {
      std::vector<float> rows;
      std::vector<uint8_t> clamped;
      for (int64_t chain = 0; chain < kChains; ++chain) {
        rows.insert(rows.end(), row.begin(), row.end());
        clamped.insert(clamped.end(), masks[chain % 2].begin(), masks[chain % 2].end());
      }
      Chains chains = StartChainsAt(target, rows, 61);
      chains.clamped = clamped;
      MakeSampler(sampler, target)->Step(chains, 100);
      for (int kind = 0; kind < 2; ++kind) {
        std::map<uint32_t, double> counts;
        for (int64_t chain = kind; chain < kChains; chain += 2) ++counts[StateNumber(chains.state(chain))];
        ExpectLaw(counts, Conditional(ExactLaw(target), row, masks[kind]), sampler.kind);
      }
      ExpectCachesConsistent(target, chains);
    }
}

// What the base draws first may be known: here `side` and `late`, since its order is backwards.
TEST(MixedClamping, RefillKeepsWhatTheBaseDrawsFirst) {
  constexpr int64_t kChains = 6000;
  const std::vector<float> row = {0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 0};
  const std::vector<uint8_t> mask = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1};
  const EnergyPath target(MixedMlpEnergy(5), SmallAutoregressive(MixedVariables(), {7}, 3, 0.1f));
  std::vector<float> rows;
  for (int64_t chain = 0; chain < kChains; ++chain) rows.insert(rows.end(), row.begin(), row.end());
  Chains chains = StartChainsAt(target, rows, 61);
  chains.clamped = mask;
  MakeSampler("refill", target)->Step(chains, 200);
  ExpectLaw(CountStates(chains), Conditional(ExactLaw(target), row, mask), "refill");
}

TEST(ProductBase, IsNormalisedAndDrawsFromItsLaw) {
  constexpr int64_t kDraws = 20000;
  const Variables variables = MixedVariables();
  for (const ProductBase& base : {ProductBase(MixedMeans(), variables), ProductBase::Uniform(variables)}) {
    const std::vector<float> rows = AllStates(variables.dimension());
    Law law(size_t{1} << variables.dimension());
    double total = 0;
    for (size_t s = 0; s < law.size(); ++s) {
      const std::span row(&rows[s * variables.dimension()], static_cast<size_t>(variables.dimension()));
      if (!variables.FindBroken(row)) total += law[s] = std::exp(-base.Energy(row));
    }
    EXPECT_NEAR(total, 1, 1e-9);
    std::map<uint32_t, double> counts;
    const std::vector<float> draws = base.DrawRows(7, 0, kDraws);
    for (size_t begin = 0; begin < draws.size(); begin += variables.dimension())
      ++counts[StateNumber(std::span(draws).subspan(begin, variables.dimension()))];
    ExpectLaw(counts, law, "draws");
  }
}

TEST(ProductBase, RefusesProbabilitiesThatDoNotAddUp) {
  std::vector<float> means = MixedMeans();
  means[1] = 0.9f;
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { ProductBase(means, MixedVariables()); }, "'colour' add up to 1.6");
  means.pop_back();
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { ProductBase(means, MixedVariables()); }, "10 means, the model 11");
}

TEST(MixedChains, RefuseWhatIsNoState) {
  const EnergyPath target = SmallTarget();
  ExpectError(
      ErrorCode::kBadData,
      [&] {
        StartChainsAt(target, {1, 0, 0, 1, 1, 1, 0, 0}, 1);
      },
      "chain 1 the 3 states of 'colour'");
  Chains chains = StartChainsAt(target, {1, 0, 0, 1}, 1);
  chains.clamped = {1, 0, 0, 0};
  for (const char* sampler : {"gibbs", "block-gibbs", "gwg", "tempering"})
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { MakeSampler(sampler, target)->Step(chains, 1); },
        "'colour' some are kept");
}

// Blocks end where they would have more than 4096 states.
TEST(MixedChains, BlocksOfLargeVariablesAreShort) {
  std::vector<Variable> list;
  std::vector<std::string> labels;
  for (int k = 0; k < 30; ++k) labels.push_back(std::to_string(k));
  for (int v = 0; v < 4; ++v)
    list.push_back({.name = std::to_string(v), .kind = VariableKind::kNominal, .labels = labels});
  const Variables variables(list);
  const EnergyPath target(
      WithVariables(SpinEnergy(std::vector<double>(variables.dimension()), {}), variables));
  Chains chains = StartChains(target, 2, 3);
  chains.counters = {};
  MakeSampler({"block-gibbs", {{"block", 4}}}, target)->Step(chains, 1);
  EXPECT_EQ(chains.counters.proposals, 4);  // two blocks of two variables in each chain
  EXPECT_EQ(chains.counters.energy_evaluations, 4 * 899);
}

}  // namespace
}  // namespace ort_ed
