#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ort_ed {

struct GrayPicture {
  int height = 0, width = 0;
  std::string png;  // the bytes of the file
};

// Rows of bits as pictures of height x width pixels in a grid, one after the other from the top left; 1 is
// dark, and lines between them are grey.
GrayPicture DrawGrid(std::span<const uint8_t> rows, int height, int width);

}  // namespace ort_ed
