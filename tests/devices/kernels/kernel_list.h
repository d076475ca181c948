#pragma once

#include <string>
#include <vector>

#include "tests/devices/kernels/emitted_models.h"

namespace ort_ed {

// The kernels of a provider as a file lists them (cuda.txt).
class KernelList {
 public:
  explicit KernelList(const std::string& path);

  bool Has(const NodeKind& node) const;

 private:
  struct Row {
    std::string op;
    int64_t first = 0, last = 0;
    std::vector<std::vector<std::string>> inputs;  // the types that each may have
  };
  std::vector<Row> rows_;
};

}  // namespace ort_ed
