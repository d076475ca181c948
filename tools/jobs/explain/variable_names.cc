#include "tools/jobs/explain/variable_names.h"

#include <utility>

#include "runtime/data/table/variable_codec.h"

namespace ort_ed {

std::vector<std::string> NameVariables(std::vector<std::string> header, int64_t dimension) {
  std::vector<std::string> names = std::move(header);
  names.resize(static_cast<size_t>(dimension));
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i].empty()) names[i] = "column " + std::to_string(i + 1);
  return names;
}

std::vector<std::string> NameVariables(const Variables& variables, const RowReader& rows) {
  if (!variables.described()) return NameVariables(rows.column_names(), rows.columns());
  std::vector<std::string> names;
  for (int64_t v = 0; v < variables.size(); ++v) names.push_back(variables[v].name);
  return names;
}

std::vector<std::string> NameBits(const Variables& variables, const RowReader& rows) {
  if (variables.all_binary()) return NameVariables(variables, rows);
  std::vector<std::string> names;
  for (int64_t v = 0; v < variables.size(); ++v) {
    const int64_t bits = variables.bits(v);
    for (int64_t k = 0; k < bits; ++k)
      names.push_back(variables.Name(v) + " = " + NameState(variables, v, bits == 1 ? 1 : k));
  }
  return names;
}

std::string NameState(const Variables& variables, int64_t variable, int64_t state) {
  return variables.described() ? DescribeState(variables[variable], state) : std::to_string(state);
}

}  // namespace ort_ed
