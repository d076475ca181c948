#include "sampler/kinds/side_by_side.h"

#include <algorithm>
#include <utility>

#include "runtime/support/parallel_for.h"

namespace ort_ed {
namespace {

// Calls visit(of all chains, of the part) for what each chain has of its own.
template <typename Visit>
void ForEachCache(Chains& whole, Chains& part, Visit&& visit) {
  visit(whole.states, part.states);
  visit(whole.energies, part.energies);
  visit(whole.base_energies, part.base_energies);
  visit(whole.gradients, part.gradients);
  visit(whole.base_gradients, part.base_gradients);
  visit(whole.betas, part.betas);
  visit(whole.replicas, part.replicas);
}

template <typename T>
std::vector<T> Slice(const std::vector<T>& all, int64_t chains, int64_t first, int64_t count) {
  const int64_t each = std::ssize(all) / chains;
  return {all.begin() + first * each, all.begin() + (first + count) * each};
}

Chains Part(Chains& whole, int64_t first, int64_t count) {
  Chains part;
  part.count = count;
  part.dimension = whole.dimension;
  part.seed = whole.seed;
  part.step = whole.step;
  part.first_chain = whole.first_chain + static_cast<uint64_t>(first);
  const bool clamps_are_shared = std::ssize(whole.clamped) == whole.dimension;
  part.clamped = clamps_are_shared ? whole.clamped : Slice(whole.clamped, whole.count, first, count);
  ForEachCache(whole, part, [&](const auto& all, auto& own) { own = Slice(all, whole.count, first, count); });
  return part;
}

void PutBack(Chains& whole, int64_t first, Chains& part) {
  ForEachCache(whole, part, [&](auto& all, const auto& own) {
    const int64_t each = std::ssize(own) / part.count;
    all.resize(static_cast<size_t>(whole.count * each));
    std::ranges::copy(own, all.begin() + first * each);
  });
  whole.counters += part.counters;
  whole.step = part.step;
}

}  // namespace

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
    parts.push_back(Part(chains, first, std::min(group_, chains.count - first)));
  while (samplers_.size() < parts.size()) samplers_.push_back(make_());
  constexpr double kWorthThreads = 1e12;  // a call is many evaluations of a network
  ParallelFor(threads_, std::ssize(parts), kWorthThreads,
              [&](int64_t part) { advance(*samplers_[part], parts[part]); });
  for (int64_t part = 0; part < std::ssize(parts); ++part) PutBack(chains, part * group_, parts[part]);
}

}  // namespace ort_ed
