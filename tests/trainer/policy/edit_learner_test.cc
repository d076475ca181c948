// ALOE's sampler against enumeration of its ways.

#include "trainer/policy/edit_learner.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/sampler/law_test.h"
#include "tests/support/error_matchers.h"
#include "tests/trainer/autodiff/gradient_check.h"

namespace ort_ed {
namespace {

using State = std::vector<uint8_t>;

constexpr int64_t kDimension = 4;
constexpr uint32_t kTestPurpose = 0x7465;

RowContext Rows() {
  return {.dimension = kDimension, .mean = std::vector<double>(kDimension, 0.5), .threads = 1, .seed = 3};
}

State RowOf(uint32_t number) {
  State row(kDimension);
  for (int64_t i = 0; i < kDimension; ++i) row[i] = number >> i & 1;
  return row;
}

uint32_t NumberOf(std::span<const uint8_t> row) {
  uint32_t number = 0;
  for (size_t i = 0; i < row.size(); ++i) number |= uint32_t{row[i]} << i;
  return number;
}

State AllRows() {
  State rows;
  for (uint32_t s = 0; s < 1u << kDimension; ++s)
    for (const uint8_t bit : RowOf(s)) rows.push_back(bit);
  return rows;
}

std::vector<RandomStream> Streams(int64_t count, uint64_t step) {
  std::vector<RandomStream> streams;
  for (int64_t i = 0; i < count; ++i) streams.emplace_back(1, kTestPurpose, step, static_cast<uint64_t>(i));
  return streams;
}

// By the definitions: start, then stop or flip what was not flipped.
class ExactSampler {
 public:
  explicit ExactSampler(EditLearner& learner)
      : logits_(learner.EditLogits(AllRows())), max_edits_(learner.max_edits()), law_(1 << kDimension) {
    const std::vector<double> starts = learner.StartEnergies(AllRows());
    for (uint32_t s = 0; s < starts.size(); ++s) {
      total_start_ += std::exp(-starts[s]);
      Follow(s, 0, 0, std::exp(-starts[s]));
    }
  }
  const Law& law() const { return law_; }
  double total_start() const { return total_start_; }

 private:
  void Follow(uint32_t state, uint32_t edited, int64_t edits, double probability) {
    if (edits == max_edits_) {
      law_[state] += probability;
      return;
    }
    const float* logits = &logits_[state * (kDimension + 1)];
    const double stop = 1 / (1 + std::exp(-double{logits[kDimension]}));
    law_[state] += probability * stop;
    double total = 0;
    for (int64_t i = 0; i < kDimension; ++i)
      if (!(edited >> i & 1)) total += std::exp(double{logits[i]});
    for (int64_t i = 0; i < kDimension; ++i)
      if (!(edited >> i & 1))
        Follow(state ^ 1u << i, edited | 1u << i, edits + 1,
               probability * (1 - stop) * std::exp(double{logits[i]}) / total);
  }

  std::vector<float> logits_;
  int64_t max_edits_;
  Law law_;
  double total_start_ = 0;
};

EditOptions Small(int64_t max_edits = 3) {
  return {.q0_hidden = {16}, .editor_hidden = {16}, .max_edits = max_edits, .policy_rate = 1e-2};
}

// Not as it begins, where all is nearly alike.
EditLearner Taught(int64_t max_edits) {
  EditLearner learner(Small(max_edits), Rows());
  State rows;
  for (int i = 0; i < 16; ++i)
    for (const uint32_t number : {3u, 9u, 9u, 14u})
      for (const uint8_t bit : RowOf(number)) rows.push_back(bit);
  for (int64_t step = 1; step <= 40; ++step) {
    auto random = Streams(64, static_cast<uint64_t>(step));
    learner.Learn(rows, random, step);
  }
  return learner;
}

TEST(EditLearner, DrawsFollowTheLawOfItsWays) {
  for (const int64_t max_edits : {int64_t{1}, int64_t{3}, int64_t{16}}) {
    EditLearner learner = Taught(max_edits);
    const ExactSampler exact(learner);
    EXPECT_NEAR(exact.total_start(), 1, 1e-5);  // q0 is normalised after training, too
    auto random = Streams(40000, 99);
    const State rows = learner.Draw(random);
    std::map<uint32_t, double> counts;
    for (size_t i = 0; i < rows.size(); i += kDimension)
      ++counts[NumberOf(std::span(rows).subspan(i, kDimension))];
    ExpectLaw(counts, exact.law(), std::to_string(max_edits));
    EXPECT_GT(*std::ranges::max_element(exact.law()), 0.12);
  }
}

// logmeanexp(log q - log p') approaches log q(x) as copies grow.
TEST(EditLearner, InverseProposalsTellTheLikelihood) {
  for (const int64_t max_edits : {int64_t{2}, int64_t{16}}) {
    EditLearner learner = Taught(max_edits);
    const ExactSampler exact(learner);
    double errors[2] = {};
    for (const bool many : {false, true}) {
      const int64_t copies = many ? 20000 : 10;
      auto random = Streams(1 << kDimension, 7);
      const std::vector<double> estimates = learner.LogLikelihoods(AllRows(), copies, random);
      for (size_t s = 0; s < estimates.size(); ++s)
        errors[many] +=
            std::abs(estimates[s] - std::log(exact.law()[s])) / static_cast<double>(estimates.size());
    }
    EXPECT_LT(errors[1], 0.04) << max_edits;
    EXPECT_GT(errors[0], 3 * errors[1]) << max_edits;
  }
}

// All ways to all rows, with the probability that the inverse proposal draws them.
void AddWays(const State& row, int64_t max_edits, Edits& edits, EditedRows& ways) {
  ways.rows.insert(ways.rows.end(), row.begin(), row.end());
  ways.edits.push_back(edits);
  if (std::ssize(edits) == max_edits) return;
  for (uint32_t site = 0; site < kDimension; ++site) {
    if (std::ranges::find(edits, site) != edits.end()) continue;
    edits.push_back(site);
    AddWays(row, max_edits, edits, ways);
    edits.pop_back();
  }
}

TEST(EditLearner, WaysByTheInverseProposalAddUpToTheLikelihood) {
  for (const int64_t max_edits : {int64_t{2}, int64_t{16}}) {
    EditLearner learner = Taught(max_edits);
    const ExactSampler exact(learner);
    for (uint32_t s = 0; s < 1u << kDimension; ++s) {
      EditedRows ways;
      Edits none;
      AddWays(RowOf(s), learner.max_edits(), none, ways);
      const std::vector<double> ratios = LogWayRatios(learner.view(), ways);
      double total = 0, likelihood = 0;
      for (size_t way = 0; way < ratios.size(); ++way) {
        const double p = std::exp(LogTraceBack(kDimension, learner.max_edits(), std::ssize(ways.edits[way])));
        total += p;
        likelihood += p * std::exp(ratios[way]);
      }
      EXPECT_NEAR(total, 1, 1e-12);
      EXPECT_NEAR(likelihood, exact.law()[s], 1e-5 * exact.law()[s] + 1e-9);
    }
  }
}

// With an energy that does not change the sampler comes to draw from it.
TEST(Aloe, SamplerLearnsAFixedEnergy) {
  const auto energy = DenseEnergy(kDimension, 0.5, 5);
  const Law truth = ExactLaw(EnergyPath(energy));
  const Choice method("aloe", {{"q0_hidden", "32"}, {"editor_hidden", "32"}, {"policy_rate", 3e-3}});
  const auto source = MakeNegatives(method, Rows());
  ContrastiveBatch batch(128, 1, kDimension, false);
  for (int64_t step = 0; step < 800; ++step)
    source->Fill({.seed = 1, .step = step, .progress = 1, .energy = energy.get()}, batch);
  double entropy = 0;
  for (const double p : truth) entropy -= p * std::log(p);
  EXPECT_NEAR(source->Metrics().at("policy_loss"), entropy, 0.25);
  std::map<uint32_t, double> counts;
  ContrastiveBatch last(4000, 1, kDimension, false);
  source->Fill({.seed = 2, .step = 800, .progress = 1, .energy = energy.get()}, last);
  double distance = 0;
  for (int64_t i = 0; i < last.positives; ++i) counts[NumberOf(last.Negatives(i))] += 1.0 / 4000;
  for (uint32_t s = 0; s < truth.size(); ++s) distance += std::abs(counts[s] - truth[s]) / 2;
  EXPECT_LT(distance, 0.08);
}

TEST(Aloe, GoesOnFromWhatItSaved) {
  const auto energy = DenseEnergy(kDimension, 0.5, 5);
  const Choice method("aloe", {{"q0_hidden", "8"}, {"editor_hidden", "8"}});
  const auto fill = [&](NegativeSource& source, int64_t first, int64_t last) {
    std::vector<uint8_t> rows;
    for (int64_t step = first; step < last; ++step) {
      ContrastiveBatch batch(16, 2, kDimension, false);
      source.Fill({.seed = 1, .step = step, .energy = energy.get()}, batch);
      rows = batch.rows;
    }
    return rows;
  };
  const auto whole = MakeNegatives(method, Rows()), cut = MakeNegatives(method, Rows()),
             resumed = MakeNegatives(method, Rows());
  const auto rows = fill(*whole, 0, 6);
  fill(*cut, 0, 3);
  resumed->Load(cut->Save());
  EXPECT_EQ(fill(*resumed, 3, 6), rows);
  EXPECT_EQ(resumed->Companions(), whole->Companions());
  const auto fresh = MakeNegatives(method, Rows());
  ExpectError(
      ErrorCode::kInvalidArgument, [&] { fill(*fresh, 3, 4); }, "lacks");
  ExpectError(
      ErrorCode::kInvalidArgument,
      [] {
        MakeNegatives({"aloe", {{"copies", 0}}}, Rows());
      },
      "copies");
}

TEST(Aloe, DeployedSamplerIsTheSampler) {
  EditLearner learner = Taught(3);
  TestTensor x{{1 << kDimension, kDimension}, {}};
  for (const uint8_t bit : AllRows()) x.values.push_back(bit);
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(learner.Deploy()));
  const TestTensors result = TestSession(model).Run({{edit_policy::kRow, x}});
  const std::vector<float> logits = learner.EditLogits(AllRows());
  for (size_t i = 0; i < logits.size(); ++i)
    EXPECT_NEAR(result.at(edit_policy::kEdits).values[i], logits[i], 1e-4);
  const std::vector<double> starts = learner.StartEnergies(AllRows());
  for (size_t s = 0; s < starts.size(); ++s) {
    double energy = 0;
    for (int64_t i = 0; i < kDimension; ++i) {
      const double odds = result.at(edit_policy::kLogOdds).values[s * kDimension + i];
      energy += std::log1p(std::exp(x.values[s * kDimension + i] > 0 ? -odds : odds));
    }
    EXPECT_NEAR(energy, starts[s], 1e-4);
  }
}

}  // namespace
}  // namespace ort_ed
