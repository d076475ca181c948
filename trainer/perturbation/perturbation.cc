#include "trainer/perturbation/perturbation.h"

#include "ort_ed/error.h"

namespace ort_ed {

extern const PerturbationEntry kBernoulliPerturbation;
extern const PerturbationEntry kPoolPerturbation;
extern const PerturbationEntry kGridPerturbation;
extern const PerturbationEntry kNeighbourhoodPerturbation;

namespace {

constexpr const PerturbationEntry* kPerturbations[] = {
    &kBernoulliPerturbation,
    &kPoolPerturbation,
    &kGridPerturbation,
    &kNeighbourhoodPerturbation,
};

constexpr uint32_t kNegativesPurpose = 0x4E454741;

}  // namespace

std::span<const PerturbationEntry* const> Perturbations() { return kPerturbations; }

std::unique_ptr<Perturbation> MakePerturbation(const std::string& name, const PerturbationOptions& options) {
  if (options.dimension < 1) {
    throw Error(ErrorCode::kInvalidArgument, "a perturbation needs a dimension of at least 1");
  }
  std::string candidates;
  for (const PerturbationEntry* entry : kPerturbations) {
    if (name == entry->name) return entry->make(options);
    candidates += (candidates.empty() ? "" : ", ") + std::string(entry->name);
  }
  throw Error(ErrorCode::kInvalidArgument,
              "unknown perturbation '" + name + "'; choose one of: " + candidates);
}

void FillNegatives(const Perturbation& perturbation, uint64_t seed, uint64_t step, int64_t first_row,
                   ContrastiveBatch& batch) {
  for (int64_t i = 0; i < batch.positives; ++i) {
    RandomStream random(seed, kNegativesPurpose, step, static_cast<uint64_t>(first_row + i));
    perturbation.Perturb(random, batch.Positive(i), batch.Negatives(i), batch.LogWeights(i));
  }
}

}  // namespace ort_ed
