#include "trainer/negatives/perturbation.h"

#include <utility>

namespace ort_ed {
namespace {

constexpr uint32_t kNegativesPurpose = 0x4E454741;

class PerturbationSource final : public NegativeSource {
 public:
  explicit PerturbationSource(std::unique_ptr<Perturbation> perturbation)
      : perturbation_(std::move(perturbation)) {}

  Shape shape(int64_t requested) const override {
    return {perturbation_->NegativesPerRow(requested), perturbation_->Weighted()};
  }
  bool is_row_by_row() const override { return true; }
  bool enumerates() const override { return perturbation_->Enumerates(); }

  void Fill(const StepView& view, ContrastiveBatch& batch) override {
    perturbation_->SetProgress(view.progress);
    for (int64_t i = 0; i < batch.positives; ++i) {
      RandomStream random(view.seed, kNegativesPurpose, static_cast<uint64_t>(view.step),
                          static_cast<uint64_t>(view.first_row + i));
      perturbation_->Perturb(random, batch.Positive(i), batch.Negatives(i), batch.LogWeights(i));
    }
  }

  OptionMap Describe(double progress) const override { return perturbation_->Describe(progress); }

 private:
  std::unique_ptr<Perturbation> perturbation_;
};

}  // namespace

std::unique_ptr<NegativeSource> MakePerturbationSource(std::unique_ptr<Perturbation> perturbation) {
  return std::make_unique<PerturbationSource>(std::move(perturbation));
}

}  // namespace ort_ed
