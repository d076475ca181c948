#include "trainer/negatives/perturbation.h"

#include <algorithm>

#include "ort_ed/error.h"
#include "trainer/negatives/mixture.h"

namespace ort_ed {

extern const PerturbationKind kBernoulliPerturbation;
extern const PerturbationKind kPoolPerturbation;
extern const PerturbationKind kGridPerturbation;
extern const PerturbationKind kNeighbourhoodPerturbation;
extern const PerturbationKind kErasePerturbation;

namespace {

constexpr const PerturbationKind* kPerturbations[] = {
    &kBernoulliPerturbation,     &kPoolPerturbation,  &kGridPerturbation,
    &kNeighbourhoodPerturbation, &kErasePerturbation,
};

constexpr uint32_t kNegativesPurpose = 0x4E454741;

}  // namespace

std::span<const PerturbationKind* const> Perturbations() { return kPerturbations; }

const PerturbationKind& FindPerturbation(const std::string& name) {
  std::string candidates;
  for (const PerturbationKind* entry : kPerturbations) {
    if (name == entry->name) return *entry;
    candidates += (candidates.empty() ? "" : ", ") + std::string(entry->name);
  }
  throw Error(ErrorCode::kInvalidArgument, "unknown perturbation '" + name + "'; choose one of: " +
                                               candidates + ", or several joined by +");
}

std::unique_ptr<Perturbation> MakePerturbation(const std::string& name, const PerturbationOptions& options) {
  if (options.dimension < 1) {
    throw Error(ErrorCode::kInvalidArgument, "a perturbation needs a dimension of at least 1");
  }
  std::vector<std::unique_ptr<Perturbation>> components;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('+', begin), name.size());
    components.push_back(FindPerturbation(name.substr(begin, end - begin)).make(options));
    begin = end + 1;
  }
  return MakeMixture(std::move(components));
}

void FillNegatives(const Perturbation& perturbation, uint64_t seed, uint64_t step, int64_t first_row,
                   ContrastiveBatch& batch) {
  for (int64_t i = 0; i < batch.positives; ++i) {
    RandomStream random(seed, kNegativesPurpose, step, static_cast<uint64_t>(first_row + i));
    perturbation.Perturb(random, batch.Positive(i), batch.Negatives(i), batch.LogWeights(i));
  }
}

}  // namespace ort_ed
