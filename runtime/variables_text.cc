#include <array>
#include <stdexcept>
#include <utility>

#include "ort_ed/error.h"
#include "ort_ed/variables.h"
#include "runtime/support/encoding/json_reader.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

template <typename Enum>
struct Word {
  Enum value;
  const char* text;
};

constexpr std::array kKinds = {
    Word<VariableKind>{VariableKind::kBinary, "binary"},
    Word<VariableKind>{VariableKind::kNominal, "nominal"},
    Word<VariableKind>{VariableKind::kOrdered, "ordered"},
    Word<VariableKind>{VariableKind::kCyclic, "cyclic"},
};
constexpr std::array kValues = {
    Word<CellValues>{CellValues::kText, "text"},     Word<CellValues>{CellValues::kInteger, "integer"},
    Word<CellValues>{CellValues::kNumber, "number"}, Word<CellValues>{CellValues::kDate, "date"},
    Word<CellValues>{CellValues::kTime, "time"},     Word<CellValues>{CellValues::kClock, "clock"},
};

template <typename Words, typename Enum>
const char* TextOf(const Words& words, Enum value) {
  for (const auto& word : words)
    if (word.value == value) return word.text;
  throw std::logic_error("a value without a word");
}

template <typename Enum, size_t kCount>
std::optional<Enum> ValueOf(const std::array<Word<Enum>, kCount>& words, std::string_view text) {
  for (const auto& word : words)
    if (word.text == text) return word.value;
  return std::nullopt;
}

void ReadMember(JsonReader& json, const std::string& name, Variable& variable) {
  if (name == "name") {
    variable.name = json.ReadString();
  } else if (name == "kind") {
    const std::string word = json.ReadString();
    const auto kind = ParseVariableKind(word);
    if (!kind) json.Fail("'" + word + "' is no kind; there are binary, nominal, ordered and cyclic");
    variable.kind = *kind;
  } else if (name == "values") {
    const std::string word = json.ReadString();
    const auto values = ParseCellValues(word);
    if (!values) json.Fail("'" + word + "' is none of text, integer, number, date, time and clock");
    variable.values = *values;
  } else if (name == "labels") {
    json.ReadArray([&] { variable.labels.push_back(json.ReadString()); });
  } else if (name == "edges") {
    json.ReadArray([&] { variable.edges.push_back(json.ReadNumber()); });
  } else if (name == "other") {
    variable.other = json.ReadBool();
  } else if (name == "missing") {
    variable.missing = json.ReadBool();
  } else if (name == "format") {
    variable.format = json.ReadString();
  } else {
    json.Fail("'" + name +
              "' is unknown; there are name, kind, values, labels, edges, other, missing and format");
  }
}

Variables Read(std::string_view text) {
  JsonReader json(text);
  std::vector<Variable> list;
  json.ReadArray([&] {
    if (std::ssize(list) >= Variables::kMaxBits) json.Fail("there are too many variables");
    json.ReadObject(
        [&, &variable = list.emplace_back()](const std::string& name) { ReadMember(json, name, variable); });
  });
  json.ReadEnd();
  if (list.empty()) throw std::invalid_argument("there are no variables");
  return Variables(std::move(list));
}

std::string Format(const Variable& variable) {
  std::string text = "{\"name\":" + JsonString(variable.name);
  const auto add = [&](const char* name, const std::string& value) {
    text += std::string(",\"") + name + "\":" + value;
  };
  if (variable.kind != VariableKind::kBinary) add("kind", JsonString(ToText(variable.kind)));
  if (variable.values != CellValues::kText) add("values", JsonString(ToText(variable.values)));
  std::vector<std::string> list;
  for (const std::string& label : variable.labels) list.push_back(JsonString(label));
  if (!list.empty()) add("labels", "[" + Join(list, ",") + "]");
  list.clear();
  for (const double edge : variable.edges) list.push_back(Decimal(edge));
  if (!list.empty()) add("edges", "[" + Join(list, ",") + "]");
  if (variable.other) add("other", "true");
  if (variable.missing) add("missing", "true");
  if (!variable.format.empty()) add("format", JsonString(variable.format));
  return text + "}";
}

}  // namespace

const char* ToText(VariableKind kind) { return TextOf(kKinds, kind); }
const char* ToText(CellValues values) { return TextOf(kValues, values); }
std::optional<VariableKind> ParseVariableKind(std::string_view text) { return ValueOf(kKinds, text); }
std::optional<CellValues> ParseCellValues(std::string_view text) { return ValueOf(kValues, text); }

Variables ParseVariables(std::string_view text) {
  try {
    return Read(text);
  } catch (const std::invalid_argument& error) {
    throw Error(ErrorCode::kBadData, std::string("the list of variables cannot be read: ") + error.what());
  } catch (const Error& error) {
    throw Error(ErrorCode::kBadData, error.what());
  }
}

std::string FormatVariables(const Variables& variables) {
  std::vector<std::string> list;
  for (int64_t v = 0; v < variables.size(); ++v) list.push_back(Format(variables[v]));
  return "[" + Join(list, ",") + "]";
}

}  // namespace ort_ed
