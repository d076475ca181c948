#include "trainer/policy/edit_learner.h"

#include <algorithm>
#include <cmath>

#include "models/graph/model_edits.h"
#include "models/graph/model_file.h"
#include "ort_ed/error.h"
#include "trainer/graph/prepare_model.h"

namespace ort_ed {
namespace {

using namespace edit_policy;

constexpr int64_t kPlusWidth = 3500;  // with two layers as many parameters as the authors' q0
constexpr char kDiverged[] = ": its loss is not a number. Try a smaller policy_rate";

EditPolicySpec Spec(const EditOptions& options, const RowContext& rows) {
  // Not the stream of the energy's initial parameters.
  constexpr uint64_t kPolicySeed = 0x616C6F6500000000ULL;
  EditPolicySpec spec{.dimension = rows.dimension,
                      .q0_hidden = options.q0_hidden,
                      .editor_hidden = options.editor_hidden,
                      .seed = rows.seed ^ kPolicySeed};
  if (options.aloe_plus) spec.q0_hidden = {kPlusWidth, kPlusWidth};
  for (const auto& [key, widths] :
       {std::pair("q0_hidden", spec.q0_hidden), std::pair("editor_hidden", spec.editor_hidden)})
    if (widths.empty()) throw OptionError(key, "must have the width of a layer at least");
  return spec;
}

Learner MakeLearner(const onnx::ModelProto& model, const char* name, const char* tensor,
                    std::vector<std::string> masked, const RowContext& rows) {
  LearnerOptions options;
  options.objective = "weighted-likelihood";
  options.tensor = tensor;
  options.freeze_zeros = std::move(masked);
  options.optimizer.ema = 0;
  options.device = rows.device;
  options.threads = rows.threads;
  return Learner(Prepare(model, name), options, {.negatives = 0, .weighted = true});
}

std::vector<double> Evaluate(Learner& learner, std::span<const uint8_t> rows) {
  std::vector<double> energies(rows.size() / static_cast<size_t>(learner.dimension()));
  if (energies.empty()) return energies;
  learner.CurrentEnergy()->Energy(std::vector<float>(rows.begin(), rows.end()), energies);
  return energies;
}

void Step(Learner& learner, std::span<const uint8_t> rows, const std::vector<double>& weights, double rate,
          int64_t step) {
  ContrastiveBatch batch(std::ssize(weights), 0, learner.dimension(), true);
  std::ranges::copy(rows, batch.rows.begin());
  for (size_t i = 0; i < weights.size(); ++i)
    batch.log_weights[i] = weights[i] > 0 ? static_cast<float>(std::log(weights[i])) : kLogOfZero;
  if (!learner.Step(batch, rate, step).finite())
    throw Error(ErrorCode::kRuntime, "the sampler diverged at step " + std::to_string(step) + kDiverged);
}

}  // namespace

void EditOptions::Describe(Declare<EditOptions>& declare) {
  using Self = EditOptions;
  declare("aloe_plus", &Self::aloe_plus, "",
          "q0 with about 12 million parameters, as the authors' program has");
  declare("q0_hidden", &Self::q0_hidden, "[1, inf)", "widths of the hidden layers of q0")
      .When("aloe_plus", "false");
  declare("editor_hidden", &Self::editor_hidden, "[1, inf)",
          "widths of the hidden layers of the editor, and of what says when to stop");
  declare("max_edits", &Self::max_edits, "[1, 1000000]", "variables that are edited at most");
  declare("copies", &Self::copies, "[1, 1000000]", "ways to each negative that the sampler learns from");
  declare("policy_rate", &Self::policy_rate, "(0, inf)", "size of a step of the sampler's networks");
}

EditLearner::EditLearner(const EditOptions& options, const RowContext& rows)
    : spec_(Spec(options, rows)),
      max_edits_(std::min(options.max_edits, rows.dimension)),
      copies_(options.copies),
      rate_(options.policy_rate),
      start_(MakeLearner(BuildStartForTraining(spec_), "q0", kLogOdds, {kMaskedWeights}, rows)),
      editor_(MakeLearner(BuildEditorForTraining(spec_), "the editor", kEdits, {}, rows)) {}

EditView EditLearner::view() {
  const auto numbers = [](Learner& learner) {
    return [&learner](auto... spans) { learner.CurrentTensor(spans...); };
  };
  return {spec_.dimension, max_edits_, numbers(start_), numbers(editor_)};
}

std::vector<uint8_t> EditLearner::Draw(std::vector<RandomStream>& random) {
  return DrawEditedRows(view(), random).rows;
}

struct EditLearner::Ways {
  std::vector<uint8_t> starts;     // [paths, D]
  std::vector<uint8_t> codes;      // of all decisions of the editor
  std::vector<int64_t> of_path;    // which each belongs to
  std::vector<double> log_ratios;  // log q(way) - log of the probability that it was proposed
};

EditLearner::Ways EditLearner::Propose(std::span<const uint8_t> rows, int64_t copies,
                                       std::vector<RandomStream>& random) {
  const int64_t d = spec_.dimension, count = std::ssize(rows) / d;
  Ways ways;
  for (int64_t path = 0; path < count * copies; ++path) {
    const Edits edits = TraceBack(d, max_edits_, random[path / copies]);
    std::vector<uint8_t> codes(rows.begin() + path / copies * d, rows.begin() + (path / copies + 1) * d);
    for (const uint32_t site : edits) codes[site] ^= 1;
    ways.starts.insert(ways.starts.end(), codes.begin(), codes.end());
    for (int64_t k = 0; k < std::min(std::ssize(edits) + 1, max_edits_); ++k) {
      const bool goes_on = k < std::ssize(edits);
      if (goes_on) codes[edits[k]] += kNextZero;
      ways.codes.insert(ways.codes.end(), codes.begin(), codes.end());
      ways.of_path.push_back(path);
      if (goes_on)
        codes[edits[k]] = static_cast<uint8_t>(kEditedZero + (codes[edits[k]] == kNextZero ? 1 : 0));
    }
    ways.log_ratios.push_back(-LogTraceBack(d, max_edits_, std::ssize(edits)));
  }
  const std::vector<double> starts = Evaluate(start_, ways.starts);
  const std::vector<double> decisions = Evaluate(editor_, ways.codes);
  for (size_t path = 0; path < starts.size(); ++path) ways.log_ratios[path] -= starts[path];
  for (size_t i = 0; i < decisions.size(); ++i) ways.log_ratios[ways.of_path[i]] -= decisions[i];
  return ways;
}

double EditLearner::Learn(std::span<const uint8_t> rows, std::vector<RandomStream>& random, int64_t step) {
  const int64_t count = std::ssize(rows) / spec_.dimension;
  const Ways ways = Propose(rows, copies_, random);
  // Of all ways to a row together the weight is 1; a loss is a mean over what it gets.
  std::vector<double> weights, decision_weights;
  double log_likelihood = 0;
  for (int64_t row = 0; row < count; ++row) {
    const auto own = std::span(ways.log_ratios).subspan(row * copies_, copies_);
    const double total = LogSumExp(own);
    log_likelihood += total - std::log(static_cast<double>(copies_));
    for (const double ratio : own) weights.push_back(std::exp(ratio - total) * static_cast<double>(copies_));
  }
  const double share = static_cast<double>(ways.of_path.size()) / static_cast<double>(weights.size());
  for (const int64_t path : ways.of_path) decision_weights.push_back(weights[path] * share);
  Step(start_, ways.starts, weights, rate_, step);
  Step(editor_, ways.codes, decision_weights, rate_, step);
  return -log_likelihood / static_cast<double>(count);
}

std::vector<double> EditLearner::LogLikelihoods(std::span<const uint8_t> rows, int64_t copies,
                                                std::vector<RandomStream>& random) {
  const Ways ways = Propose(rows, copies, random);
  std::vector<double> result;
  for (size_t first = 0; first < ways.log_ratios.size(); first += copies)
    result.push_back(LogSumExp(std::span(ways.log_ratios).subspan(first, copies)) -
                     std::log(static_cast<double>(copies)));
  return result;
}

std::vector<double> EditLearner::StartEnergies(std::span<const uint8_t> rows) {
  return Evaluate(start_, rows);
}

std::vector<float> EditLearner::EditLogits(std::span<const uint8_t> rows) {
  const int64_t d = spec_.dimension;
  std::vector<float> logits(rows.size() / d * (d + 1));
  editor_.CurrentTensor(std::vector<float>(rows.begin(), rows.end()), logits);
  return logits;
}

std::string EditLearner::Deploy() {
  onnx::ModelProto model = BuildEditPolicyForDeployment(spec_);
  SetMetadata(model, kMaxEdits, std::to_string(max_edits_));
  start_.Export(model, /*averaged=*/false);
  editor_.Export(model, /*averaged=*/false);
  return SerializeModel(model);
}

std::vector<StateTensor> EditLearner::Save() {
  std::vector<StateTensor> all;
  for (const auto& [learner, owner] : {std::pair(&start_, kStartOwner), std::pair(&editor_, kEditorOwner)})
    for (StateTensor& tensor : learner->ReadState()) {
      tensor.owner = owner;
      all.push_back(std::move(tensor));
    }
  return all;
}

void EditLearner::Load(std::span<const StateTensor> state) {
  for (const auto& [learner, owner] : {std::pair(&start_, kStartOwner), std::pair(&editor_, kEditorOwner)}) {
    std::vector<StateTensor> own;
    std::ranges::copy_if(state, std::back_inserter(own),
                         [&](const StateTensor& tensor) { return tensor.owner == owner; });
    learner->WriteState(own);
  }
}

}  // namespace ort_ed
