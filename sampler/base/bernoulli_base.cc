#include <cmath>
#include <numbers>
#include <string>

#include "ort_ed/base_distribution.h"
#include "ort_ed/error.h"
#include "ort_ed/random.h"

namespace ort_ed {
namespace {

constexpr uint32_t kDrawPurpose = 0x42415345;  // "BASE"

}

BernoulliBase::BernoulliBase(std::span<const float> means) {
  for (size_t i = 0; i < means.size(); ++i) {
    const double mean = means[i];
    if (!(mean > 0 && mean < 1)) {
      throw Error(ErrorCode::kInvalidArgument, "the base distribution's mean of variable " +
                                                   std::to_string(i) + " is " + std::to_string(mean) +
                                                   "; it must lie strictly between 0 and 1");
    }
    fields_.push_back(std::log1p(-mean) - std::log(mean));
    constant_ -= std::log1p(-mean);
  }
}

BernoulliBase BernoulliBase::Uniform(int64_t dimension) {
  BernoulliBase base;
  base.fields_.assign(dimension, 0.0);
  base.constant_ = static_cast<double>(dimension) * std::numbers::ln2;
  return base;
}

BernoulliBase BernoulliBase::OfModel(const EnergyModel& model) {
  const std::vector<float>& means = model.metadata().base_mean;
  return means.empty() ? Uniform(model.dimension()) : BernoulliBase(means);
}

double BernoulliBase::Energy(std::span<const float> row) const {
  double energy = constant_;
  for (size_t i = 0; i < fields_.size(); ++i) energy += fields_[i] * row[i];
  return energy;
}

void BernoulliBase::Energy(std::span<const float> rows, std::span<double> energies) const {
  for (size_t row = 0; row < energies.size(); ++row)
    energies[row] = Energy(rows.subspan(row * fields_.size(), fields_.size()));
}

void BernoulliBase::EnergyAndGradient(std::span<const float> rows, std::span<double> energies,
                                      std::span<float> gradients) const {
  Energy(rows, energies);
  for (size_t i = 0; i < gradients.size(); ++i)
    gradients[i] = static_cast<float>(fields_[i % fields_.size()]);
}

void BernoulliBase::Draw(uint64_t seed, uint64_t first_row, std::span<float> rows) const {
  for (size_t begin = 0; begin < rows.size(); begin += fields_.size()) {
    RandomStream random(seed, kDrawPurpose, 0, first_row + begin / fields_.size());
    for (size_t i = 0; i < fields_.size(); ++i)
      rows[begin + i] = random.UniformDouble() * (1 + std::exp(fields_[i])) < 1 ? 1.0f : 0.0f;
  }
}

}  // namespace ort_ed
