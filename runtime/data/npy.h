#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/data/array_layout.h"

namespace ort_ed {

class InputStream;

// Reads the header and leaves the stream at the first value. Accepts format versions 1 to 3; throws kBadData
// for anything that is not a C-ordered array of booleans, integers or floats.
ArrayLayout ReadNpyHeader(InputStream& stream);

// The header of a C-ordered array of format version 1.0, padded so that every count of rows of the same
// `row_shape` gives the same length. `descr` as numpy writes it: "|u1", "<f4".
std::string NpyHeader(const std::string& descr, int64_t rows, const std::vector<int64_t>& row_shape);

// A whole .npy file (also .npy.gz) of any supported type as doubles, for what is small: couplings, traces.
struct NpyArray {
  std::vector<int64_t> shape;
  std::vector<double> values;
};
NpyArray ReadNpy(const std::string& path);

}  // namespace ort_ed
