#include "tests/devices/kernels/kernel_list.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <stdexcept>

#include "runtime/support/text.h"

namespace ort_ed {

KernelList::KernelList(const std::string& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const std::vector<std::string> words = SplitWords(line, ' ');
    if (words.size() < 3) throw std::runtime_error(path + ": " + line);
    const std::vector<std::string> range = Split(words[1], '-');
    Row row{words[0], std::stoll(range.at(0)), std::numeric_limits<int64_t>::max(), {}};
    if (!range.at(1).empty()) row.last = std::stoll(range[1]);
    std::map<std::string, std::vector<std::string>> named;
    for (size_t i = 3; i < words.size(); ++i) {
      const std::vector<std::string> parts = Split(words[i], '=');
      named[parts.at(0)] = Split(parts.at(1), ',');
    }
    for (const std::string& type : Split(words[2], ','))
      row.inputs.push_back(named.contains(type) ? named.at(type) : std::vector{type});
    rows_.push_back(std::move(row));
  }
  if (rows_.empty()) throw std::runtime_error("no kernels in " + path);
}

bool KernelList::Has(const NodeKind& node) const {
  return std::ranges::any_of(rows_, [&](const Row& row) {
    if (row.op != node.op || node.version < row.first || node.version > row.last) return false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const auto& types = row.inputs[std::min(i, row.inputs.size() - 1)];
      if (node.inputs[i].empty() || types.front() == "*") continue;
      if (std::ranges::find(types, node.inputs[i]) == types.end()) return false;
    }
    return true;
  });
}

}  // namespace ort_ed
