#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

#include "ort_ed/base_distribution.h"
#include "ort_ed/error.h"
#include "ort_ed/random.h"

namespace ort_ed {
namespace {

constexpr uint32_t kDrawPurpose = 0x42415345;  // "BASE"
constexpr double kNormalised = 1e-3;           // what means that were rounded may lack

void CheckMeans(std::span<const float> means, const Variables& variables) {
  if (std::ssize(means) != variables.dimension())
    throw Error(ErrorCode::kInvalidArgument, "the base distribution has " + std::to_string(means.size()) +
                                                 " means, the model " +
                                                 std::to_string(variables.dimension()) + " bits");
  for (size_t i = 0; i < means.size(); ++i) {
    if (means[i] > 0 && means[i] < 1) continue;
    throw Error(ErrorCode::kInvalidArgument, "the base distribution's mean of variable " + std::to_string(i) +
                                                 " is " + std::to_string(means[i]) +
                                                 "; it must lie strictly between 0 and 1");
  }
}

// A state by its -log p. Rounding may leave nothing but the last one.
int64_t DrawState(std::span<const double> energies, RandomStream& random) {
  double rest = random.UniformDouble();
  int64_t state = 0;
  while (state + 1 < std::ssize(energies) && (rest -= std::exp(-energies[state])) >= 0) ++state;
  return state;
}

}  // namespace

ProductBase::ProductBase(std::span<const float> means)
    : ProductBase(means, Variables::Binary(means.size())) {}

ProductBase::ProductBase(std::span<const float> means, const Variables& variables) : variables_(variables) {
  CheckMeans(means, variables);
  for (int64_t v = 0; v < variables.size(); ++v) {
    const std::span own = means.subspan(variables.first_bit(v), variables.bits(v));
    if (own.size() == 1) {
      const double mean = own[0];
      fields_.push_back(std::log1p(-mean) - std::log(mean));
      constant_ -= std::log1p(-mean);
      continue;
    }
    const double sum = std::accumulate(own.begin(), own.end(), 0.0);
    if (std::abs(sum - 1) > kNormalised)
      throw Error(ErrorCode::kInvalidArgument, "the base distribution's probabilities of the states of '" +
                                                   variables.Name(v) + "' add up to " + std::to_string(sum) +
                                                   ", not to 1");
    for (const float mean : own) fields_.push_back(std::log(sum / mean));
  }
}

ProductBase ProductBase::Uniform(const Variables& variables) {
  ProductBase base(variables);
  base.fields_.assign(variables.dimension(), 0.0);
  if (variables.all_binary()) {
    base.constant_ = static_cast<double>(variables.dimension()) * std::numbers::ln2;
    return base;
  }
  for (int64_t v = 0; v < variables.size(); ++v) {
    const double surprise = std::log(static_cast<double>(variables.states(v)));
    if (variables.bits(v) == 1) {
      base.constant_ += surprise;
    } else {
      std::fill_n(base.fields_.begin() + variables.first_bit(v), variables.bits(v), surprise);
    }
  }
  return base;
}

ProductBase ProductBase::OfModel(const EnergyModel& model) {
  const std::vector<float>& means = model.metadata().base_mean;
  return means.empty() ? Uniform(model.variables()) : ProductBase(means, model.variables());
}

double ProductBase::Energy(std::span<const float> row) const {
  double energy = constant_;
  for (size_t i = 0; i < fields_.size(); ++i) energy += fields_[i] * row[i];
  return energy;
}

// A sum waits for its last term: several rows at once keep the processor busy.
void ProductBase::Energy(std::span<const float> rows, std::span<double> energies) const {
  constexpr size_t kAtOnce = 8;
  const size_t width = fields_.size();
  size_t row = 0;
  for (; row + kAtOnce <= energies.size(); row += kAtOnce) {
    const float* const first = rows.data() + row * width;
    std::array<double, kAtOnce> sums;
    sums.fill(constant_);
    for (size_t i = 0; i < width; ++i)
      for (size_t k = 0; k < kAtOnce; ++k) sums[k] += fields_[i] * first[k * width + i];
    std::ranges::copy(sums, energies.begin() + static_cast<std::ptrdiff_t>(row));
  }
  for (; row < energies.size(); ++row) energies[row] = Energy(rows.subspan(row * width, width));
}

void ProductBase::EnergyAndGradient(std::span<const float> rows, std::span<double> energies,
                                    std::span<float> gradients) const {
  Energy(rows, energies);
  for (size_t i = 0; i < gradients.size(); ++i)
    gradients[i] = static_cast<float>(fields_[i % fields_.size()]);
}

void ProductBase::Draw(uint64_t seed, uint64_t first_row, std::span<float> rows) const {
  for (size_t begin = 0; begin < rows.size(); begin += fields_.size()) {
    RandomStream random(seed, kDrawPurpose, 0, first_row + begin / fields_.size());
    float* row = rows.data() + begin;
    for (int64_t v = 0; v < variables_.size(); ++v) {
      const std::span own = fields().subspan(variables_.first_bit(v), variables_.bits(v));
      const int64_t state =
          own.size() > 1 ? DrawState(own, random) : random.UniformDouble() * (1 + std::exp(own[0])) < 1;
      variables_.SetState(row, v, state);
    }
  }
}

}  // namespace ort_ed
