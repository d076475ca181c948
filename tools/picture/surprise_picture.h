#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/picture/canvas.h"

namespace ort_ed {

// A row of bits, and how much each of them surprises.
struct SurpriseRow {
  std::string label;
  std::vector<uint8_t> bits;
  std::vector<float> surprise;  // 0 or more for each bit, in nats
  std::string note;             // beside the row; images have no room for it
};

// Each row as a strip: its bits, and below them in colours how much they surprise.
Canvas SurpriseStripsPicture(std::span<const SurpriseRow> rows);

// Each row as an image, and to the right of it the same in colours.
Canvas SurpriseImagesPicture(std::span<const SurpriseRow> rows, int height, int width);

}  // namespace ort_ed
