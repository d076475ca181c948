// A masked autoencoder is normalised, draws from its own law, and knows its gradient.

#include <cmath>

#include <gtest/gtest.h>

#include "sampler/base/lanes.h"
#include "tests/sampler/law_test.h"
#include "tests/sampler/small_autoregressive.h"
#include "tests/support/error_matchers.h"

namespace ort_ed {
namespace {

constexpr int64_t kDimension = 7;
constexpr int64_t kStates = int64_t{1} << kDimension;

const std::vector<std::vector<int64_t>>& Widths() {
  static const std::vector<std::vector<int64_t>> widths = {{}, {3}, {20}, {9, 5}, {5, 8, 6}};
  return widths;
}

// Seven bits, as variables of their own or not.
const std::vector<Variables>& Lists() {
  static const std::vector<Variables> lists = {Variables::Binary(kDimension), SmallMixedVariables()};
  return lists;
}

TEST(Autoregressive, IsNormalised) {
  for (const Variables& variables : Lists())
    for (const auto& hidden : Widths()) {
      double total = 0;
      for (const double p : LawOf(*SmallAutoregressive(variables, hidden, 1))) total += p;
      EXPECT_NEAR(total, 1, 1e-5) << hidden.size();
    }
}

TEST(Autoregressive, DrawsFromItsLaw) {
  for (const Variables& variables : Lists())
    for (const auto& hidden : Widths()) {
      const auto base = SmallAutoregressive(variables, hidden, 2);
      ExpectLaw(CountRows(base->DrawRows(11, 0, 40000), kDimension), LawOf(*base),
                std::to_string(hidden.size()) + " layers");
    }
}

// What stands before the start stays, and what comes after has the conditional law.
void ExpectConditionalLaw(const AutoregressiveBase& base, int64_t start) {
  constexpr int64_t kRows = 20000;
  const std::vector<float> row = base.DrawRows(17, 0, 1), states = AllStates(kDimension);
  std::vector<float> rows;
  for (int64_t r = 0; r < kRows; ++r) rows.insert(rows.end(), row.begin(), row.end());
  base.Refill({5, 77, 0, 0}, std::vector<int64_t>(kRows, start), rows);
  Law conditional = LawOf(base);
  double total = 0;
  for (int64_t s = 0; s < kStates; ++s) {
    for (int64_t k = 0; k < start; ++k) {
      const int32_t variable = base.order()[k];
      if (base.variables().State(&states[s * kDimension], variable) !=
          base.variables().State(row.data(), variable))
        conditional[s] = 0;
    }
    total += conditional[s];
  }
  for (double& p : conditional) p /= total;
  ExpectLaw(CountRows(rows, kDimension), conditional, "from " + std::to_string(start));
}

TEST(Autoregressive, RefillsByTheConditionalLaw) {
  for (const Variables& variables : Lists()) {
    const auto base = SmallAutoregressive(variables, {9, 5}, 3);
    for (int64_t start = 0; start <= variables.size(); ++start) ExpectConditionalLaw(*base, start);
  }
}

TEST(Autoregressive, DrawsDependOnSeedAndRowAlone) {
  const auto base = SmallAutoregressive(kDimension, {6}, 4),
             one_thread = SmallAutoregressive(kDimension, {6}, 4, 1, 1);
  const std::vector<float> all = base->DrawRows(9, 0, 100);
  EXPECT_EQ(all, one_thread->DrawRows(9, 0, 100));
  const std::vector<float> some = base->DrawRows(9, 37, 20);
  EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin() + 37 * kDimension));
  EXPECT_NE(all, base->DrawRows(10, 0, 100));
}

TEST(Autoregressive, GradientIsThatOfTheEnergy) {
  for (const auto& hidden : Widths()) {
    std::vector<float> rows = AllStates(kDimension);
    rows.resize(40 * kDimension);
    ExpectGradient(*SmallAutoregressive(kDimension, hidden, 5), rows);
    ExpectGradient(*SmallAutoregressive(SmallMixedVariables(), hidden, 5),
                   LegalStates(SmallMixedVariables()));
  }
}

TEST(Autoregressive, FlippingTheLastVariableGainsItsLogOdds) {
  const auto base = SmallAutoregressive(kDimension, {9, 5}, 6);
  const int32_t last = base->order()[kDimension - 1];
  std::vector<float> rows = AllStates(kDimension);
  std::vector<double> energies(kStates);
  std::vector<float> gradients(rows.size());
  base->EnergyAndGradient(rows, energies, gradients);
  for (int64_t s = 0; s < kStates; ++s) {
    if ((s >> last & 1) != 0) continue;
    EXPECT_NEAR(energies[s | int64_t{1} << last] - energies[s], gradients[s * kDimension + last], 1e-4) << s;
  }
}

// The same of a variable with more states: what another one costs is the difference of their slopes.
TEST(Autoregressive, ChangingTheLastStateGainsItsLogOdds) {
  const AutoregressiveBase base(RandomTensors(SmallMixedVariables(), {9, 5}, 6, 1, /*turned=*/3));
  const Variables& variables = base.variables();
  const int32_t last = base.order().back();
  ASSERT_EQ(variables.states(last), 3);
  const std::vector<float> rows = LegalStates(variables);
  std::vector<double> energies(rows.size() / kDimension), moved(energies.size());
  std::vector<float> gradients(rows.size());
  base.EnergyAndGradient(rows, energies, gradients);
  for (int64_t state = 0; state < 3; ++state) {
    std::vector<float> others = rows;
    for (size_t row = 0; row < rows.size(); row += kDimension) variables.SetState(&others[row], last, state);
    base.Energy(others, moved);
    for (size_t r = 0; r < energies.size(); ++r) {
      const float* const slopes = &gradients[r * kDimension] + variables.first_bit(last);
      const int64_t before = variables.State(&rows[r * kDimension], last);
      EXPECT_NEAR(moved[r] - energies[r], slopes[state] - slopes[before], 1e-4) << r << " " << state;
    }
  }
}

TEST(Autoregressive, KernelsOfAllProcessorsAgree) {
  const LaneKernels &best = BestLaneKernels(), &portable = kPortableLaneKernels;
  RandomStream random(1, 2, 3, 4);
  std::vector<float> weights(37);
  std::vector<Lanes> values(weights.size());
  for (float& weight : weights) weight = static_cast<float>(random.Normal());
  for (Lanes& lanes : values)
    for (float& value : lanes.lane) value = static_cast<float>(random.Normal());
  Lanes a{}, b{};
  best.dot(weights.data(), values.data(), 37, a);
  portable.dot(weights.data(), values.data(), 37, b);
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    EXPECT_NEAR(a.lane[lane], b.lane[lane], 1e-5);
    double exact = 0;
    for (size_t k = 0; k < weights.size(); ++k) exact += double{weights[k]} * values[k].lane[lane];
    EXPECT_NEAR(a.lane[lane], exact, 1e-5);
  }
  Lanes many[kDots] = {}, portably[kDots] = {};
  best.dots(weights.data(), 5, values.data(), 20, many);
  portable.dots(weights.data(), 5, values.data(), 20, portably);
  for (int64_t row = 0; row < kDots; ++row) {
    Lanes one{};
    best.dot(weights.data() + row * 5, values.data(), 20, one);
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      EXPECT_NEAR(many[row].lane[lane], one.lane[lane], 1e-5);
      EXPECT_NEAR(portably[row].lane[lane], one.lane[lane], 1e-5);
    }
  }
  const Lanes x = {{-200, -90, -30, -5, -1, -1e-3f, 0, 1e-3f, 1, 2, 3, 5, 10, 30, 90, 200}};
  best.sigmoid(x, a);
  portable.sigmoid(x, b);
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    const double exact = 1 / (1 + std::exp(-double{x.lane[lane]}));
    EXPECT_NEAR(a.lane[lane], exact, 1e-6 * exact + 1e-37);
    EXPECT_NEAR(b.lane[lane], exact, 1e-6 * exact + 1e-37);
  }
}

TEST(Autoregressive, RefusesWhatIsNotNormalised) {
  const auto refuse = [](const AutoregressiveTensors& tensors, const std::string& words) {
    ExpectError(
        ErrorCode::kInvalidArgument, [&] { AutoregressiveBase base(tensors); }, words);
  };
  AutoregressiveTensors tensors = RandomTensors(4, {3}, 7);
  tensors.order = {0, 1, 1, 2};
  refuse(tensors, "each of the 4 variables once");
  tensors = RandomTensors(4, {3}, 7);
  tensors.direct[0] = 0.1f;  // a variable that depends on itself
  refuse(tensors, "direct.weight");
  tensors = RandomTensors(4, {3}, 7);
  tensors.output[2 * 4 + 3] = 0.1f;  // the first variable drawn, from the last unit
  refuse(tensors, "output.weight");
  tensors = RandomTensors(4, {3}, 7);
  tensors.hidden[0].bias[1] = NAN;
  refuse(tensors, "not finite");
  tensors = RandomTensors(4, {3}, 7);
  tensors.direct.pop_back();
  refuse(tensors, "15 values instead of 16");
  tensors = RandomTensors(SmallMixedVariables(), {3}, 7);
  tensors.order = {0, 1, 2, 3, 4, 5, 6};  // bits
  refuse(tensors, "each of the 4 variables once");
  tensors.order = {0, 1, 2};
  refuse(tensors, "it names 3");
  tensors = RandomTensors(SmallMixedVariables(), {3}, 7);
  tensors.direct[2 * 7 + 3] = 0.1f;  // from one state of a variable to another
  refuse(tensors, "direct.weight");
}

}  // namespace
}  // namespace ort_ed
