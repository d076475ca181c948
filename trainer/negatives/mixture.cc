#include "trainer/negatives/mixture.h"

#include <algorithm>
#include <cmath>

namespace ort_ed {
namespace {

class MixturePerturbation : public Perturbation {
 public:
  explicit MixturePerturbation(std::vector<std::unique_ptr<Perturbation>> components)
      : components_(std::move(components)) {}

  int64_t NegativesPerRow(int64_t requested) const override {
    int64_t most = 0;
    for (const auto& component : components_) most = std::max(most, component->NegativesPerRow(requested));
    return most;
  }

  bool Enumerates() const override { return Count(&Perturbation::Enumerates) == components_.size(); }

  bool Weighted() const override {
    const size_t enumerating = Count(&Perturbation::Enumerates);
    const bool alike = enumerating == 0 || (enumerating == components_.size() && EquallyMany());
    return Count(&Perturbation::Weighted) > 0 || !alike;
  }

  void SetProgress(double progress) override {
    for (const auto& component : components_) component->SetProgress(progress);
  }

  OptionMap Describe(double progress) const override {
    OptionMap all;
    for (const auto& component : components_) all.merge(component->Describe(progress));
    return all;
  }

  void Perturb(RandomStream& random, std::span<const uint8_t> positive, std::span<uint8_t> negatives,
               std::span<float> log_weights) const override {
    const auto& component = *components_[random.Below(static_cast<uint32_t>(components_.size()))];
    const size_t available = negatives.size() / positive.size();
    const auto used = static_cast<size_t>(component.NegativesPerRow(static_cast<int64_t>(available)));
    const std::span<float> own_weights = log_weights.empty() ? log_weights : log_weights.first(1 + used);
    std::ranges::fill(own_weights, 0.0f);
    component.Perturb(random, positive, negatives.first(used * positive.size()),
                      component.Weighted() ? own_weights : std::span<float>());
    if (!log_weights.empty() && component.Enumerates() && !Enumerates()) log_weights[0] = kLogOfZero;
    for (size_t j = used; j < available; ++j) {
      std::ranges::copy(positive, negatives.begin() + static_cast<std::ptrdiff_t>(j * positive.size()));
      log_weights[1 + j] = kLogOfZero;
    }
    // The loss divides by the number of all negatives.
    const auto scale = static_cast<float>(std::log(static_cast<double>(available) / used));
    for (float& log_weight : own_weights) log_weight += scale;
  }

 private:
  // Whether all components enumerate the same number of negatives.
  bool EquallyMany() const {
    return std::ranges::all_of(components_, [&](const auto& component) {
      return component->NegativesPerRow(1) == components_.front()->NegativesPerRow(1);
    });
  }

  size_t Count(bool (Perturbation::*property)() const) const {
    return static_cast<size_t>(std::ranges::count_if(
        components_, [&](const auto& component) { return ((*component).*property)(); }));
  }

  std::vector<std::unique_ptr<Perturbation>> components_;
};

}  // namespace

std::unique_ptr<Perturbation> MakeMixture(std::vector<std::unique_ptr<Perturbation>> components) {
  if (components.size() == 1) return std::move(components.front());
  return std::make_unique<MixturePerturbation>(std::move(components));
}

}  // namespace ort_ed
