#pragma once

#include <cmath>

#include "ort_ed/bipartite_form.h"
#include "tests/sampler/test_energies.h"

namespace ort_ed {

inline BipartiteForm RandomForm(int64_t dimension, int64_t units, uint64_t seed, double scale = 1.2) {
  RandomStream random(seed, 12, 0, 0);
  BipartiteForm form{std::vector<float>(dimension), std::vector<float>(dimension * units),
                     std::vector<float>(units)};
  for (float& w : form.weights) w = static_cast<float>(scale * Normal(random));
  for (float& b : form.fields) b = static_cast<float>(0.5 * Normal(random));
  for (float& c : form.biases) c = static_cast<float>(0.5 * Normal(random));
  return form;
}

// U of the form, which samplers may know or not.
class KnownRbm final : public EnergyFunction {
 public:
  explicit KnownRbm(BipartiteForm form, bool shown = true)
      : KnownRbm(form, shown, Variables::Binary(form.dimension())) {}
  KnownRbm(BipartiteForm form, bool shown, const Variables& variables)
      : form_(std::move(form)), shown_(shown), variables_(variables) {}

  int64_t dimension() const override { return form_.dimension(); }
  Variables variables() const override { return variables_; }
  bool HasGradient() const override { return true; }
  const BipartiteForm* bipartite() const override { return shown_ ? &form_ : nullptr; }

  void Energy(std::span<const float> rows, std::span<double> energies) const override {
    std::vector<float> gradients(rows.size());
    EnergyAndGradient(rows, energies, gradients);
  }
  void EnergyAndGradient(std::span<const float> rows, std::span<double> energies,
                         std::span<float> gradients) const override {
    const int64_t d = form_.dimension(), h = form_.units();
    for (size_t row = 0; row < energies.size(); ++row) {
      const float* x = rows.data() + row * d;
      float* gradient = gradients.data() + row * d;
      energies[row] = 0.7;  // a constant
      for (int64_t i = 0; i < d; ++i) energies[row] += form_.fields[i] * x[i], gradient[i] = form_.fields[i];
      for (int64_t j = 0; j < h; ++j) {
        double input = form_.biases[j];
        for (int64_t i = 0; i < d; ++i) input += form_.weights[i * h + j] * x[i];
        energies[row] -= std::max(input, 0.0) + std::log1p(std::exp(-std::abs(input)));
        for (int64_t i = 0; i < d; ++i)
          gradient[i] -= static_cast<float>(form_.weights[i * h + j] / (1 + std::exp(-input)));
      }
    }
  }

 private:
  BipartiteForm form_;
  bool shown_;
  Variables variables_;
};

}  // namespace ort_ed
