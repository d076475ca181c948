#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace ort_ed {

inline std::string FileContents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace ort_ed
