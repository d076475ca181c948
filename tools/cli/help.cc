#include "tools/cli/help.h"

#include <algorithm>
#include <set>

#include <spdlog/fmt/fmt.h>

#include "runtime/support/text.h"
#include "tools/cli/arguments.h"

namespace ort_ed {
namespace {

constexpr size_t kWidth = 100;
constexpr size_t kColumn = 26;  // where explanations begin

// `text` in lines that fit behind `indent` blanks; the first line has no blanks before it.
std::string Wrapped(const std::string& text, size_t indent) {
  std::string wrapped, line;
  for (const std::string& word : SplitWords(text, ' ')) {
    if (!line.empty() && indent + line.size() + 1 + word.size() > kWidth) {
      wrapped += line + "\n" + std::string(indent, ' ');
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return wrapped + line;
}

std::string Entry(const std::string& name, const std::string& text) {
  const std::string head = "  " + name;
  const std::string gap =
      head.size() + 2 > kColumn ? "\n" + std::string(kColumn, ' ') : std::string(kColumn - head.size(), ' ');
  return head + (text.empty() ? "" : gap + Wrapped(text, kColumn)) + "\n";
}

std::string DefaultText(const VisibleOption& each) {
  const Option& option = *each.option;
  if (option.positional || option.required || option.type == OptionType::kFlag) return "";
  if (!option.default_text.empty()) return fmt::format(" [default: {}]", option.default_text);
  const std::string value = FormatOption(option.Get(each.schema->defaults));
  return value.empty() ? "" : fmt::format(" [default: {}]", value);
}

// Of a flag that is on by default the word that turns it off.
std::string Name(const VisibleOption& each) {
  const Option& option = *each.option;
  if (option.positional) return each.key;
  std::string name = OptionName(each.key);
  if (option.type == OptionType::kFlag) {
    const bool on = FormatOption(option.Get(each.schema->defaults)) == "true";
    return on ? "--no-" + name.substr(2) : name;
  }
  if (option.letter != 0) name = fmt::format("-{}, {}", option.letter, name);
  return name + " " + Metavar(option);
}

std::string Explanation(const VisibleOption& each) {
  const bool on = each.option->type == OptionType::kFlag &&
                  FormatOption(each.option->Get(each.schema->defaults)) == "true";
  const std::string whose = each.kinds.empty() ? "" : Join(each.kinds, ", ") + ": ";
  std::string text = whose + (on ? "turns off: " : "") + each.option->help + DefaultText(each);
  for (const VisibleOption& other : each.others) text += "; " + Explanation(other);
  return text;
}

std::string KindLines(const Option& option) {
  const KindTable table = option.kinds();
  size_t width = 0;
  for (const KindRow& row : table.rows) width = std::max(width, row.name.size() + 2);
  std::string lines;
  for (const KindRow& row : table.rows)
    lines += fmt::format("{}{:<{}}{}\n", std::string(kColumn, ' '), row.name, width,
                         Wrapped(row.summary, kColumn + width));
  return lines;
}

std::string Usage(const Command& command) {
  std::string usage = fmt::format("Usage: ort-ed {}", command.name);
  for (const Option& option : command.schema().options) {
    if (option.positional) usage += " " + option.key;
    if (option.required && !option.positional)
      usage += fmt::format(" {} {}", OptionName(option.key), Metavar(option));
  }
  return usage + " [OPTIONS]\n";
}

// The heading above an option: its section, or whose kinds have it.
std::string Heading(const VisibleOption& each, const Schema& schema) {
  if (each.option->positional) return "Arguments";
  if (!each.choice.empty()) {
    const Option* choice = schema.Find(each.choice);
    const bool positional = choice != nullptr && choice->positional;
    return positional ? fmt::format("Options of the {}", each.choice)
                      : fmt::format("Options of {}", OptionName(each.choice));
  }
  return each.option->section.empty() ? "Options" : fmt::format("Options [{}]", each.option->section);
}

// Those of one heading together, headings in the order in which they first come, arguments first.
std::vector<VisibleOption> Grouped(std::vector<VisibleOption> options, const Schema& schema) {
  std::ranges::stable_partition(options, [](const VisibleOption& each) { return each.option->positional; });
  std::vector<std::string> headings;
  for (const VisibleOption& each : options)
    if (std::ranges::find(headings, Heading(each, schema)) == headings.end())
      headings.push_back(Heading(each, schema));
  std::ranges::stable_sort(options, {}, [&](const VisibleOption& each) {
    return std::ranges::find(headings, Heading(each, schema)) - headings.begin();
  });
  return options;
}

}  // namespace

std::string OverviewText() {
  std::string text =
      "Train discrete energy-based models with energy discrepancy; deploy them as ONNX.\n\nUsage: ort-ed "
      "COMMAND ...\n\n";
  for (const Command* command : Commands())
    text += fmt::format("  {:<10}{}\n", command->name, command->summary);
  return text +
         "\n`ort-ed COMMAND --help` explains a command and shows examples; `ort-ed --version` tells the "
         "versions.\nEvery command takes --onnxruntime DIR, the folder of another ONNX Runtime to run with; "
         "so does ORT_ED_ONNXRUNTIME.\n";
}

std::string HelpText(const Command& command) {
  std::string text = Usage(command) + "\n" + command.summary + "\n";
  if (*command.description != 0) text += fmt::format("\n{}\n", command.description);
  std::string heading;
  const Schema& schema = command.schema();
  std::set<KindTable (*)()> listed;  // a sampler inside a sampler is one of the same
  for (const VisibleOption& each : Grouped(VisibleOptions(schema), schema)) {
    if (Heading(each, schema) != heading) text += fmt::format("\n{}:\n", heading = Heading(each, schema));
    text += Entry(Name(each), Explanation(each));
    const auto kinds = each.option->kinds;
    if (kinds != nullptr && listed.insert(kinds).second) text += KindLines(*each.option);
  }
  if (schema.Find("device") != nullptr)
    text +=
        Entry("--onnxruntime DIR", "folder of another ONNX Runtime to run with [default: the linked one]");
  return text + Entry("-h, --help", "show this help") + fmt::format("\nExamples:\n{}\n", command.examples);
}

}  // namespace ort_ed
