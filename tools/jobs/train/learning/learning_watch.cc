#include "tools/jobs/train/learning/learning_watch.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace ort_ed {
namespace {

// Steps that tell whether negatives were easy from the start: at the end of a training they may well be.
constexpr double kFirstEarly = 20, kLastEarly = 200, kFewest = 30;
constexpr double kForget = 0.98;  // recent: the last 50 steps or so
// Of the way from one bound of the loss to the other. Mushrooms as 112 bits are at 0.0001 with epsilon 0.1,
// where nothing is learned, at 0.005 with 0.05 and at 0.1 with 0.02, where much is.
constexpr double kEasy = 0.01;
constexpr double kEqual = 0.001;
constexpr double kNoGradient = 1e-6;
constexpr double kSameNats = 0.01, kWorseNats = 0.1;

// What makes negatives that are closer to the rows.
std::string LessNoise(const RunSetup& setup) {
  constexpr double kFlips = 1.5;
  if (setup.options.objective.kind == "likelihood") return "less dropout";  // which has no negatives
  const OptionMap noise = setup.negatives->Describe(1);
  std::string advice;
  if (noise.contains("epsilon"))
    advice = fmt::format("a smaller epsilon (epsilon {:.2g})",
                         kFlips / static_cast<double>(setup.learner->dimension()));
  if (noise.contains("redraws")) advice = "fewer redraws (redraws 1)";
  if (noise.contains("walk_time")) advice = "shorter walks (a smaller walk_time)";
  if (noise.contains("block")) advice = "fewer variables erased (a smaller block)";
  if (advice.empty()) advice = "another method (method grid+bernoulli)";
  if (setup.base == nullptr && setup.dataset->variables.all_binary())
    advice += ", or negatives of a learned base (base made)";
  return advice;
}

LearningVerdict Failure(const std::string& text) { return {.learned = false, .text = text}; }
LearningVerdict Success(const std::string& text) { return {.text = text}; }

}  // namespace

LearningWatch::LearningWatch(const RunSetup& setup)
    : of_network_alone_(setup.negatives->of_network_alone()),
      has_base_(setup.base != nullptr),
      against_easy_negatives_(LessNoise(setup)) {
  constant_ = std::ranges::all_of(setup.dataset->mean, [](double mean) { return mean == 0 || mean == 1; });
  bounds_ = BoundsOf(setup, setup.options.batch.batch_size);
}

void LearningWatch::AddStep(const StepResult& result) {
  const double step = ++sums_["steps"];
  if (step > kFirstEarly && step <= kLastEarly) {
    ++sums_["early_weight"];
    sums_["early_loss"] += result.loss;
  }
  for (const auto& [name, value] : {std::pair("recent_weight", 1.0), std::pair("recent_loss", result.loss),
                                    std::pair("recent_gradient_norm", result.gradient_norm)})
    sums_[name] = kForget * sums_[name] + value;
}

void LearningWatch::AddValidation(const LikelihoodEstimate& likelihood, double base_nll) {
  if (!likelihood.reliable() || Sum("steps") == 0) return;  // before the first step it is the base
  const double gain = base_nll - likelihood.nll;
  const auto [known, is_new] = sums_.try_emplace("gain", gain);
  if (!is_new) known->second = std::max(known->second, gain);
}

double LearningWatch::Sum(const std::string& name) const {
  const auto found = sums_.find(name);
  return found == sums_.end() ? 0 : found->second;
}

bool LearningWatch::NegativesWereEasy() const {
  return bounds_ && Sum("early_weight") >= kFewest &&
         bounds_->Place(Sum("early_loss") / Sum("early_weight")) < kEasy &&
         bounds_->Place(Recent("loss")) < kEasy;
}

LearningVerdict LearningWatch::Judge() const {
  if (constant_) return Failure("every row is the same: there is nothing to learn");
  if (Sum("steps") < kFewest) return {.known = false};
  const bool at_bound = bounds_ && bounds_->Place(Recent("loss")) < kEqual;
  if (of_network_alone_ && at_bound && !NegativesWereEasy()) return JudgeBaseThatMissesMuch();
  if (Recent("gradient_norm") < kNoGradient)
    return Failure(
        fmt::format("the gradient has vanished (norm {:.1g}), so that nothing is learned; try {}, "
                    "another learning rate or another model",
                    Recent("gradient_norm"), against_easy_negatives_));
  const auto gain = sums_.find("gain");
  if (gain != sums_.end() && gain->second > kSameNats) return {};
  if (NegativesWereEasy())
    return Failure(
        fmt::format("negatives give themselves away (loss {:.4f}, at its lower bound {:.4f}), so "
                    "that next to nothing is learned from them; try {}",
                    Recent("loss"), bounds_->told_all, against_easy_negatives_));
  if (gain != sums_.end()) return JudgeLikelihood(gain->second);
  if (bounds_ && bounds_->Place(Recent("loss")) > 1 - kEqual) return JudgeEqualEnergies();
  return {};
}

LearningVerdict LearningWatch::JudgeLikelihood(double gain) const {
  if (gain < -kWorseNats)
    return Failure(
        fmt::format("held-out rows are less likely than under {}, by {:.2f} nats each; "
                    "try fewer steps, a lower learning rate, a smaller network or another method",
                    has_base_ ? "the base alone" : "independent variables", -gain));
  if (!has_base_)
    return Success(
        "independent variables explain the data: held-out rows are as likely under them as with the network");
  return Success(
      "the base alone explains the data: held-out rows are as likely under it as with the network");
}

LearningVerdict LearningWatch::JudgeBaseThatMissesMuch() const {
  return Success(
      fmt::format("the network tells every draw of the base from the rows (loss {:.4f}, at its lower bound "
                  "{:.4f}), so that further steps teach nothing; a better base may (more rows, base_steps)",
                  Recent("loss"), bounds_->told_all));
}

LearningVerdict LearningWatch::JudgeEqualEnergies() const {
  if (of_network_alone_)
    return Success(
        fmt::format("the base alone explains the data, as far as the network can tell (loss {:.4f}, "
                    "at its upper bound); a larger network or more steps may tell more",
                    Recent("loss")));
  return Failure(
      fmt::format("the network cannot tell rows from negatives (loss {:.4f}, at its upper bound "
                  "{:.4f}); try a higher learning rate, negatives further from the rows (more "
                  "noise) or another model",
                  Recent("loss"), bounds_->told_nothing));
}

}  // namespace ort_ed
