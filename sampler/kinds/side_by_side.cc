#include "sampler/kinds/side_by_side.h"

#include <algorithm>
#include <utility>

#include "runtime/support/parallel_for.h"

namespace ort_ed {
SideBySide::SideBySide(Make make, int64_t group, int threads)
    : make_(std::move(make)), group_(group), threads_(threads) {
  samplers_.push_back(make_());
}

void SideBySide::Step(Chains& chains, int64_t steps) {
  Run(chains, [steps](Sampler& sampler, Chains& part) { sampler.Step(part, steps); });
}

void SideBySide::StepReversed(Chains& chains, int64_t steps) {
  Run(chains, [steps](Sampler& sampler, Chains& part) { sampler.StepReversed(part, steps); });
}

void SideBySide::Run(Chains& chains, const Advance& advance) {
  if (chains.count <= group_) return advance(*samplers_.front(), chains);
  std::vector<Chains> parts;
  for (int64_t first = 0; first < chains.count; first += group_)
    parts.push_back(TakeChains(chains, first, std::min(group_, chains.count - first)));
  while (samplers_.size() < parts.size()) samplers_.push_back(make_());
  constexpr double kWorthThreads = 1e12;  // a call is many evaluations of a network
  ParallelFor(threads_, std::ssize(parts), kWorthThreads,
              [&](int64_t part) { advance(*samplers_[part], parts[part]); });
  for (int64_t part = 0; part < std::ssize(parts); ++part) PutBackChains(chains, part * group_, parts[part]);
}

}  // namespace ort_ed
