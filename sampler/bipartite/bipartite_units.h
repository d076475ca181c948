#pragma once

#include <cstdint>
#include <vector>

#include "ort_ed/bipartite_form.h"
#include "sampler/base/lanes.h"

namespace ort_ed {

// The matrix of an RBM as the kernels read it, both ways.
class BipartiteUnits {
 public:
  explicit BipartiteUnits(const BipartiteForm& form) : form_(form), by_unit_(form.weights.size()) {
    const int64_t d = form.dimension(), h = form.units();
    for (int64_t i = 0; i < d; ++i)
      for (int64_t j = 0; j < h; ++j) by_unit_[j * d + i] = form.weights[i * h + j];
  }

  const BipartiteForm& form() const { return form_; }
  const float* weights_of(int64_t variable) const { return form_.weights.data() + variable * form_.units(); }

  // What unit j sees of a block of rows.
  Lanes Input(int64_t unit, const Lanes* x) const {
    Lanes sum;
    for (float& lane : sum.lane) lane = form_.biases[unit];
    kernels_.dot(by_unit_.data() + unit * form_.dimension(), x, form_.dimension(), sum);
    return sum;
  }
  // What a variable sees of the units' values.
  Lanes Field(int64_t variable, const Lanes* h) const {
    Lanes sum = {};
    kernels_.dot(weights_of(variable), h, form_.units(), sum);
    return sum;
  }

 private:
  const BipartiteForm& form_;
  const LaneKernels& kernels_ = BestLaneKernels();
  std::vector<float> by_unit_;  // H x D
};

}  // namespace ort_ed
