#include "tools/jobs/tables/variables_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "ort_ed/error.h"
#include "runtime/data/table/cell_value.h"
#include "runtime/support/text.h"
#include "tools/jobs/settings/toml_file.h"

namespace ort_ed {
namespace {

constexpr char kTable[] = "variable";

// For a comment.
std::string OnOneLine(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' ' || c == 0x7F; }, '?');
  return text;
}

std::string List(const std::vector<std::string>& values) { return "[" + Join(values, ", ") + "]"; }

std::string Format(const Variable& variable) {
  std::string text =
      fmt::format("\n[[{}]]  # {}\nname = {}\nkind = \"{}\"\n", kTable, OnOneLine(DescribeVariable(variable)),
                  JsonString(variable.name), ToText(variable.kind));
  if (variable.values != CellValues::kText) text += fmt::format("values = \"{}\"\n", ToText(variable.values));
  std::vector<std::string> values;
  for (const std::string& label : variable.labels) values.push_back(JsonString(label));
  if (!values.empty()) text += fmt::format("labels = {}\n", List(values));
  values.clear();
  for (const double edge : variable.edges) values.push_back(Decimal(edge));
  if (!values.empty()) text += fmt::format("edges = {}\n", List(values));
  if (variable.other) text += "other = true\n";
  if (variable.missing) text += "missing = true\n";
  if (!variable.format.empty()) text += fmt::format("format = {}\n", JsonString(variable.format));
  return text;
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  Variables Read() const {
    const toml::table root = ParseTomlFile(path_, "variables");
    std::vector<Variable> list;
    for (const auto& [key, node] : root) {
      const toml::array* tables = node.as_array();
      if (key.str() != kTable || tables == nullptr)
        Fail(key.source(), fmt::format("'{}' is unknown; the file has a table [[{}]] for each variable",
                                       key.str(), kTable));
      for (const toml::node& each : *tables) list.push_back(Checked(ReadVariable(each), each.source()));
    }
    if (list.empty())
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' has no variables; write a table [[{}]] for each", path_, kTable));
    try {
      return Variables(std::move(list));
    } catch (const Error& error) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}': {}", path_, error.what()));
    }
  }

 private:
  [[noreturn]] void Fail(const toml::source_region& source, const std::string& reason) const {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{}:{}: {}", path_, source.begin.line, reason));
  }

  template <typename T>
  T Get(const toml::node& node, std::string_view key, const char* expected) const {
    const auto value = node.value<T>();
    const bool fits = node.is<T>() || (std::is_same_v<T, double> && node.is_number());
    if (!value || !fits) Fail(node.source(), fmt::format("{} must be {}", key, expected));
    return *value;
  }

  template <typename T>
  std::vector<T> GetList(const toml::node& node, std::string_view key, const char* expected) const {
    const toml::array* array = node.as_array();
    if (array == nullptr) Fail(node.source(), fmt::format("{} must be {}", key, expected));
    std::vector<T> values;
    for (const toml::node& element : *array) values.push_back(Get<T>(element, key, expected));
    return values;
  }

  // The value that the word stands for.
  template <typename Parse>
  auto GetWord(const toml::node& node, std::string_view key, const Parse& parse, const char* known) const {
    const auto word = Get<std::string>(node, key, "text in quotes");
    const auto value = parse(word);
    if (!value) Fail(node.source(), fmt::format("{} must be {}, not '{}'", key, known, word));
    return *value;
  }

  // What is wrong with one is told with its line.
  Variable Checked(Variable variable, const toml::source_region& source) const {
    try {
      return Variables(std::vector{variable})[0];
    } catch (const Error& error) {
      Fail(source, error.what());
    }
  }

  Variable ReadVariable(const toml::node& node) const {
    const toml::table* table = node.as_table();
    if (table == nullptr) Fail(node.source(), fmt::format("[[{}]] must be a table", kTable));
    Variable variable;
    for (const auto& [name, value] : *table) {
      const std::string_view key = name.str();
      if (key == "name") {
        variable.name = Get<std::string>(value, key, "text in quotes");
      } else if (key == "kind") {
        variable.kind = GetWord(value, key, ParseVariableKind, "binary, nominal, ordered or cyclic");
      } else if (key == "values") {
        variable.values = GetWord(value, key, ParseCellValues, "text, integer, number, date, time or clock");
      } else if (key == "labels") {
        variable.labels = GetList<std::string>(value, key, "a list of texts in quotes");
      } else if (key == "edges") {
        variable.edges = GetList<double>(value, key, "a list of numbers");
      } else if (key == "other") {
        variable.other = Get<bool>(value, key, "true or false");
      } else if (key == "missing") {
        variable.missing = Get<bool>(value, key, "true or false");
      } else if (key == "format") {
        variable.format = Get<std::string>(value, key, "text in quotes");
      } else {
        Fail(name.source(), fmt::format("'{}' is unknown; a variable has name, kind, values, labels, edges, "
                                        "other, missing and format",
                                        key));
      }
    }
    if (!variable.format.empty() && !IsFormatOf(variable.format, variable.values))
      Fail(table->get("format")->source(),
           fmt::format("'{}' is no format of {}; {}", variable.format, ToText(variable.values),
                       FormatExamples(variable.values)));
    return variable;
  }

  static std::string FormatExamples(CellValues values) {
    if (values == CellValues::kText) return "only numbers, dates and times have one (`values`)";
    if (values == CellValues::kDate) return "write DD/MM/YYYY, MM/DD/YYYY, D.M.YYYY or the like";
    if (values == CellValues::kTime) return "write DD/MM/YYYY hh:mm, MM/DD/YYYY hh:mm:ss or the like";
    if (values == CellValues::kClock) return "write hh:mm, h:mm or hh:mm:ss";
    return "write $#,###.00, #%, # EUR, #,# or the like";
  }

  const std::string& path_;
};

}  // namespace

std::string WriteVariables(const Variables& variables, const std::vector<TableGuess::Dropped>& dropped) {
  std::string text =
      "# What the columns of the table are to the model. Edit a copy and give it to another training:\n"
      "# ort-ed train --variables FILE. Columns that have no table here are not read.\n";
  for (const auto& [column, why] : dropped)
    text += fmt::format("# {} is left out: it {}\n", OnOneLine(column), OnOneLine(why));
  for (int64_t v = 0; v < variables.size(); ++v) text += Format(variables[v]);
  return text;
}

Variables ReadVariables(const std::string& path) { return Reader(path).Read(); }

}  // namespace ort_ed
