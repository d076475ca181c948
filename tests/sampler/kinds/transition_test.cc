// The kernels themselves, on three variables: transition matrices written out, detailed balance, time
// reversal, and the law of the unadjusted sampler.

#include "tests/sampler/kinds/transition_matrix.h"

namespace ort_ed {
namespace {

constexpr int kDimension = 3;
constexpr int kStates = 8;
constexpr int64_t kStarts = 20000;  // chains from each state
using Matrix = TransitionMatrix<kStates>;

EnergyPath SmallTarget() { return EnergyPath(MlpEnergy(kDimension, 5, 17)); }

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Half the first-order change of log p when bit i of state s flips.
double Gain(const EnergyPath& target, int s, int i) {
  std::vector<float> row(kDimension), gradient(kDimension);
  for (int k = 0; k < kDimension; ++k) row[k] = static_cast<float>(s >> k & 1);
  double energy;
  target.energy->EnergyAndGradient(row, {&energy, 1}, gradient);
  return (row[i] - 0.5) * gradient[i];
}

Chains StartFromAllStates(const EnergyPath& target) {
  std::vector<float> starts;
  const std::vector<float> states = AllStates(kDimension);
  for (int64_t n = 0; n < kStarts; ++n) starts.insert(starts.end(), states.begin(), states.end());
  return StartChainsAt(target, starts, 51);
}

// Counts of one step from each state.
Matrix Transitions(const Choice& choice, const EnergyPath& target, bool reversed = false) {
  Chains chains = StartFromAllStates(target);
  const auto sampler = MakeSampler(choice, target);
  reversed ? sampler->StepReversed(chains, 1) : sampler->Step(chains, 1);
  Matrix counts{};
  for (int64_t chain = 0; chain < chains.count; ++chain)
    ++counts[chain % kStates][StateNumber(chains.state(chain))];
  return counts;
}

Matrix GibbsUpdate(const Law& law, int site) {
  Matrix kernel{};
  for (int s = 0; s < kStates; ++s) {
    const int other = s ^ 1 << site;
    kernel[s][other] = law[other] / (law[s] + law[other]);
    kernel[s][s] = 1 - kernel[s][other];
  }
  return kernel;
}

Matrix LangevinProposal(const EnergyPath& target, double step_size) {
  Matrix proposal{};
  for (int s = 0; s < kStates; ++s) {
    for (int t = 0; t < kStates; ++t) {
      proposal[s][t] = 1;
      for (int i = 0; i < kDimension; ++i) {
        const double flip = Sigmoid(Gain(target, s, i) - 1 / (2 * step_size));
        proposal[s][t] *= ((s ^ t) >> i & 1) != 0 ? flip : 1 - flip;
      }
    }
  }
  return proposal;
}

TEST(Transitions, OfSystematicGibbsAreAProduct) {
  const EnergyPath target = SmallTarget();
  const Law law = ExactLaw(target);
  const Matrix forward = Multiply(Multiply(GibbsUpdate(law, 0), GibbsUpdate(law, 1)), GibbsUpdate(law, 2));
  ExpectTransitions(Transitions("gibbs", target), forward);
  const Matrix backward = Multiply(Multiply(GibbsUpdate(law, 2), GibbsUpdate(law, 1)), GibbsUpdate(law, 0));
  ExpectTransitions(Transitions("gibbs", target, true), backward);
  for (int s = 0; s < kStates; ++s)
    for (int t = 0; t < kStates; ++t) EXPECT_NEAR(law[s] * forward[s][t], law[t] * backward[t][s], 1e-15);
}

TEST(Transitions, OfRandomScanGibbsAreAMixture) {
  const EnergyPath target = SmallTarget();
  const Law law = ExactLaw(target);
  Matrix exact{};
  for (int i = 0; i < kDimension; ++i)
    for (int s = 0; s < kStates; ++s)
      for (int t = 0; t < kStates; ++t) exact[s][t] += GibbsUpdate(law, i)[s][t] / kDimension;
  ExpectTransitions(Transitions({"gibbs", {{"scan", "random"}, {"updates", 1}}}, target), exact);
}

TEST(Transitions, OfBlockGibbsForgetTheBlock) {
  const EnergyPath target = SmallTarget();
  const Law law = ExactLaw(target);
  // The first block: bits 0 and 1.
  const Choice sampler("block-gibbs", {{"block", 2}, {"updates", 1}});
  Matrix exact{};
  for (int s = 0; s < kStates; ++s) {
    const double total = law[s & 4] + law[(s & 4) + 1] + law[(s & 4) + 2] + law[(s & 4) + 3];
    for (int pattern = 0; pattern < 4; ++pattern)
      exact[s][(s & 4) + pattern] = law[(s & 4) + pattern] / total;
  }
  ExpectTransitions(Transitions(sampler, target), exact);
}

TEST(Transitions, OfGibbsWithGradientsAreMetropolised) {
  const EnergyPath target = SmallTarget();
  Matrix proposal{};
  for (int s = 0; s < kStates; ++s) {
    double total = 0;
    for (int i = 0; i < kDimension; ++i) total += std::exp(Gain(target, s, i));
    for (int i = 0; i < kDimension; ++i) proposal[s][s ^ 1 << i] = std::exp(Gain(target, s, i)) / total;
  }
  ExpectTransitions(Transitions("gwg", target), Metropolis(ExactLaw(target), proposal));
}

// A gradient of zeros, as of a model that looks up its energies.
TEST(Transitions, OfGibbsByDifferencesKnowTheEnergiesOfAllNeighbours) {
  const EnergyPath known = SmallTarget();
  const Law law = ExactLaw(known);
  const EnergyPath target(std::make_shared<TestEnergy>(kDimension, [&](const float* x, float* gradient) {
    std::fill_n(gradient, kDimension, 0.0f);
    return -std::log(law[StateNumber({x, kDimension})]);
  }));
  Matrix proposal{};
  for (int s = 0; s < kStates; ++s) {
    double total = 0;
    for (int i = 0; i < kDimension; ++i)
      total += proposal[s][s ^ 1 << i] = std::sqrt(law[s ^ 1 << i] / law[s]);
    for (double& p : proposal[s]) p /= total;
  }
  ExpectTransitions(Transitions({"gwg", {{"gradient", "differences"}}}, target), Metropolis(law, proposal));
}

TEST(Transitions, OfDmalaUseTheProposalAtBothEnds) {
  const EnergyPath target = SmallTarget();
  ExpectTransitions(Transitions({"dmala", {{"step_size", 0.7}}}, target),
                    Metropolis(ExactLaw(target), LangevinProposal(target, 0.7)));
}

// Proposals of the state itself are accepted, and are no moves.
TEST(Counters, TellAcceptancesFromMoves) {
  const EnergyPath target = SmallTarget();
  const Law law = ExactLaw(target);
  const Matrix proposal = LangevinProposal(target, 0.7);
  double acceptances = 0, moves = 0;
  for (int s = 0; s < kStates; ++s) {
    for (int t = 0; t < kStates; ++t) {
      const double accepted =
          proposal[s][t] * std::min(1.0, law[t] * proposal[t][s] / (law[s] * proposal[s][t])) / kStates;
      acceptances += accepted;
      if (t != s) moves += accepted;
    }
  }
  Chains chains = StartFromAllStates(target);
  MakeSampler({"dmala", {{"step_size", 0.7}}}, target)->Step(chains, 1);
  ASSERT_EQ(chains.counters.proposals, chains.count);
  const auto count = static_cast<double>(chains.count), error = 5 * std::sqrt(0.25 / count);
  EXPECT_NEAR(static_cast<double>(chains.counters.acceptances) / count, acceptances, error);
  EXPECT_NEAR(static_cast<double>(chains.counters.moves) / count, moves, error);
  EXPECT_GT(acceptances - moves, 4 * error);
}

TEST(Transitions, OfDulaAreItsProposal) {
  const EnergyPath target = SmallTarget();
  ExpectTransitions(Transitions({"dula", {{"step_size", 0.7}}}, target), LangevinProposal(target, 0.7));
}

TEST(Dula, HasItsOwnStationaryLaw) {
  const EnergyPath target = SmallTarget();
  Matrix power = LangevinProposal(target, 0.7);
  for (int doubling = 0; doubling < 10; ++doubling) power = Multiply(power, power);
  const Law stationary(power[0].begin(), power[0].end());
  Chains chains = StartChains(target, 20000, 61);
  MakeSampler({"dula", {{"step_size", 0.7}}}, target)->Step(chains, 200);
  ExpectLaw(CountStates(chains), stationary, "dula");
  // Which is not the target's: 20,000 draws tell them apart.
  const Law law = ExactLaw(target);
  double distance = 0;
  for (int s = 0; s < kStates; ++s) distance += std::abs(law[s] - stationary[s]) / 2;
  EXPECT_GT(distance, 0.02);
}

struct Reversible {
  const char* name;
  Choice sampler;

  friend void PrintTo(const Reversible& reversible, std::ostream* out) { *out << reversible.name; }
};

std::vector<Reversible> ReversibleSamplers() {
  return {{"gibbs", {"gibbs", {{"scan", "random"}}}},
          {"block_gibbs", {"block-gibbs", {{"scan", "random"}, {"block", 2}}}},
          {"gwg", "gwg"},
          {"gwg_two_flips", {"gwg", {{"flips", 2}}}},
          {"pas", {"pas", {{"path_length", 3}}}},
          {"dmala", {"dmala", {{"step_size", 0.7}}}}};
}

class DetailedBalance : public testing::TestWithParam<Reversible> {};

// p(s) P(s, t) = p(t) P(t, s), estimated from both sides.
TEST_P(DetailedBalance, HoldsForEveryPair) {
  for (const EnergyPath& target : {SmallTarget(), EnergyPath(FrustratedTriangle())}) {
    const Law law = ExactLaw(target);
    const Matrix counts = Transitions(GetParam().sampler, target);
    // Bernstein's inequality for the difference of two sums of kStarts bounded terms: exceeded with
    // probability below 2 exp(-t) for each of the 28 pairs.
    const double t = 22;
    for (int a = 0; a < kStates; ++a) {
      for (int b = 0; b < a; ++b) {
        const double forward = law[a] * counts[a][b] / kStarts;
        const double backward = law[b] * counts[b][a] / kStarts;
        const double variance = (law[a] * forward + law[b] * backward) / kStarts;
        const double largest = std::max(law[a], law[b]) / kStarts;
        EXPECT_NEAR(forward, backward, std::sqrt(2 * variance * t) + largest * t) << a << " and " << b;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Samplers, DetailedBalance, testing::ValuesIn(ReversibleSamplers()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace ort_ed
