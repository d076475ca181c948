#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "ort_ed/sampler.h"

namespace ort_ed {

// A sampler of chains whose energy is evaluated `group` rows at a time. Groups of that many chains go through
// all steps of a call side by side, so that threads wait for each other once a call and not once an
// evaluation. Groups do not depend on the number of threads, so that no sample does.
class SideBySide final : public Sampler {
 public:
  using Make = std::function<std::unique_ptr<Sampler>()>;  // one of the same kind for each group

  SideBySide(Make make, int64_t group, int threads);
  void Step(Chains& chains, int64_t steps) override;
  void StepReversed(Chains& chains, int64_t steps) override;

 private:
  using Advance = std::function<void(Sampler&, Chains&)>;
  void Run(Chains& chains, const Advance& advance);

  Make make_;
  int64_t group_;
  int threads_;
  std::vector<std::unique_ptr<Sampler>> samplers_;  // of each group
};

}  // namespace ort_ed
