#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ort_ed {

// Hidden units that are left out of a row with some probability in every step; those that stay count more,
// so that the mean is the same. Not in validations, and not in what is deployed.
struct DropoutOptions {
  struct Layer {
    std::string tensor;  // [batch, units], or [batch, units, height, width]: whole feature maps of images
    int64_t units = 0;
    double rate = 0;
    bool of_images = false;
  };

  std::vector<Layer> layers = {};
  uint64_t seed = 0;
};

// What each unit of `rows` rows is multiplied by: 0 or 1 / (1 - rate). Row r depends on (seed, step, r) and
// the number of the layer alone.
std::vector<float> DrawDropout(const DropoutOptions& options, size_t layer, int64_t step, int64_t rows);

}  // namespace ort_ed
