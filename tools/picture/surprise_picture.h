#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/picture/canvas.h"

namespace ort_ed {

// A row, and how much the value of each of its variables surprises.
struct SurpriseRow {
  std::string label;
  std::vector<uint8_t> bits;    // empty where the variables are not all binary
  std::vector<float> surprise;  // 0 or more for each variable, in nats
  std::string note;             // beside the row; images have no room for it
};

// Each row as a strip: in colours how much the variables surprise, and above them the bits, if there are any.
// The names of the variables stand over the strips where there are few enough to be read.
Canvas SurpriseStripsPicture(std::span<const SurpriseRow> rows, std::span<const std::string> names);

// Each row as an image, and to the right of it the same in colours.
Canvas SurpriseImagesPicture(std::span<const SurpriseRow> rows, int height, int width);

}  // namespace ort_ed
