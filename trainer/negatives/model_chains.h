#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ort_ed/options.h"
#include "ort_ed/sampler.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {

struct ChainOptions {
  Choice sampler = "gibbs";
  std::optional<int64_t> chain_steps = {};
  std::optional<double> validation_epsilon = {};

  static void Describe(Declare<ChainOptions>& declare);
};

// Negatives that are samples of the model as it is now, moved there by a sampler. Random numbers depend on
// (seed, step, chain) alone.
//
// The loss that such negatives are made for says nothing about how good a model is: it is near 0 all the
// time. Models are compared by their energy discrepancy with bernoulli noise, which is lowest for the
// distribution of the data whatever the model was trained by; with the same noise and M it can be compared
// with that of --method bernoulli. Where variables have more than two states, the noise is that of
// MethodForCategories().
class ModelChains : public NegativeSource {
 public:
  ModelChains(const ChainOptions& options, const RowContext& rows);

  Shape shape(int64_t requested) const override { return {requested, false}; }
  Needs needs() const override {
    return {.energy = true,
            .gradient = NeedsGradient(options_.sampler),
            .of_all = GradientOf(options_.sampler) == GradientSource::kAuto};
  }
  NegativeSource& validation() override { return *validation_; }
  OptionMap Describe(double progress) const override;

 protected:
  // States of chains, and of the replicas of those samplers that have such.
  struct States {
    std::vector<float> chains, replicas;
  };
  // By the steps of one training step.
  void Advance(const StepView& view, States& states) const;

  int64_t dimension() const { return variables_.dimension(); }
  const BaseDistribution& base() const { return *base_; }  // where chains start that start anew

 private:
  ChainOptions options_;
  int64_t chain_steps_;
  int threads_;
  Variables variables_;
  std::shared_ptr<const BaseDistribution> base_;
  std::unique_ptr<NegativeSource> validation_;
};

}  // namespace ort_ed
