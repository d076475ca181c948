#include "tools/report/row_table.h"

#include "runtime/data/table/variable_codec.h"
#include "tools/report/html.h"

namespace ort_ed {

std::string RowTableHtml(const Variables& variables, const std::vector<std::string>& lead,
                         const std::vector<ShownRow>& rows) {
  std::string html = "<div class=\"scroll\"><table class=\"states\"><tr>";
  for (const std::string& name : lead) html += "<th>" + Escape(name) + "</th>";
  for (int64_t v = 0; v < variables.size(); ++v) html += "<th>" + Escape(variables.Name(v)) + "</th>";
  html += "</tr>";
  for (const ShownRow& row : rows) {
    html += "<tr>";
    for (const std::string& cell : row.lead) html += "<td class=\"n\">" + Escape(cell) + "</td>";
    for (int64_t v = 0; v < variables.size(); ++v)
      html += "<td>" + Escape(DescribeState(variables[v], variables.State(row.bits.data(), v))) + "</td>";
    html += "</tr>";
  }
  return html + "</table></div>";
}

}  // namespace ort_ed
