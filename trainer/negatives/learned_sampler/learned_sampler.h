#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ort_ed/error.h"
#include "ort_ed/random.h"
#include "trainer/negatives/negative_source.h"

namespace ort_ed {

// Negatives of a sampler with networks of its own, which learns beside the energy and is deployed beside the
// model. Learner is what trains these networks.
template <typename Learner>
class LearnedSampler : public NegativeSource {
 public:
  Shape shape(int64_t requested) const final { return {requested, false}; }
  Needs needs() const final { return {.energy = true}; }
  NegativeSource& validation() final { return *validation_; }

  void Fill(const StepView& view, ContrastiveBatch& batch) final {
    if (view.energy == nullptr)
      throw Error(ErrorCode::kInvalidArgument,
                  "a sampler that learns needs the energy of the model as it is now");
    if (view.step > 0 && !begun_)
      throw Error(ErrorCode::kInvalidArgument, "the training state lacks the sampler's networks");
    begun_ = true;
    LearnAndDraw(view, batch);
  }

  std::map<std::string, std::string> Companions() const final { return {{file_, learner_->Deploy()}}; }
  std::vector<StateTensor> Save() const final { return learner_->Save(); }
  void Load(std::span<const StateTensor> state) final {
    learner_->Load(state);
    begun_ = true;
  }

 protected:
  // Models are compared on held-out rows by energy discrepancy with bits flipped with this probability.
  struct Validation {
    double epsilon = 0.1;

    static void Describe(Declare<Validation>& declare) {
      declare("validation_epsilon", &Validation::epsilon, "(0, 1)",
              "validation: energy discrepancy with bits flipped with this probability");
    }
  };

  LearnedSampler(std::string file, std::unique_ptr<Learner> learner, const Validation& validation,
                 const RowContext& rows)
      : file_(std::move(file)),
        learner_(std::move(learner)),
        validation_(MakeNegatives({"bernoulli", {{"epsilon", validation.epsilon}}}, rows)) {}

  virtual void LearnAndDraw(const StepView& view, ContrastiveBatch& batch) = 0;

  Learner& learner() const { return *learner_; }

  // One for each of `count` rows, the same whoever draws them.
  static std::vector<RandomStream> Streams(const StepView& view, uint32_t purpose, int64_t first,
                                           int64_t count) {
    std::vector<RandomStream> streams;
    for (int64_t row = first; row < first + count; ++row)
      streams.emplace_back(view.seed, purpose, static_cast<uint64_t>(view.step), static_cast<uint64_t>(row));
    return streams;
  }

 private:
  std::string file_;
  std::unique_ptr<Learner> learner_;
  std::unique_ptr<NegativeSource> validation_;
  bool begun_ = false;
};

}  // namespace ort_ed
