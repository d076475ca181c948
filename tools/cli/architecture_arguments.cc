#include "tools/cli/architecture_arguments.h"

#include <algorithm>
#include <span>
#include <vector>

#include <spdlog/fmt/ranges.h>

#include "models/architectures/architectures.h"

namespace ort_ed {
namespace {

// Architectures that share an option and what it means.
struct OptionUse {
  std::vector<std::string> architectures;
  std::vector<std::string> defaults;
};

std::string Help(const std::string& meaning, const OptionUse& use) {
  const bool same_default = std::ranges::count(use.defaults, use.defaults[0]) == std::ssize(use.defaults);
  const auto shown = same_default ? std::span(use.defaults).first(1) : std::span(use.defaults);
  return fmt::format("{}: {} [default: {}]", fmt::join(use.architectures, ", "), meaning,
                     fmt::join(shown, ", "));
}

// The options of all architectures, by name, with their help.
std::map<std::string, std::string> OptionHelp() {
  std::map<std::string, std::map<std::string, OptionUse>> uses;
  for (const ArchitectureKind* architecture : Architectures()) {
    const Schema& schema = architecture->schema();
    for (const Option& option : schema.options) {
      OptionUse& use = uses[option.key][option.help];
      use.architectures.emplace_back(architecture->name);
      use.defaults.push_back(FormatOption(option.Get(schema.defaults)));
    }
  }
  std::map<std::string, std::string> help;
  for (const auto& [name, meanings] : uses) {
    for (const auto& [meaning, use] : meanings)
      help[name] += (help[name].empty() ? "" : "\n") + Help(meaning, use);
  }
  return help;
}

}  // namespace

void AddArchitectureArguments(argparse::ArgumentParser& parser) {
  parser.add_group("Options of the architectures");
  for (const auto& [name, help] : OptionHelp()) parser.add_argument("--" + name).metavar("VALUE").help(help);
}

std::map<std::string, std::string> GivenArchitectureOptions(const argparse::ArgumentParser& arguments) {
  std::map<std::string, std::string> given;
  for (const auto& [name, help] : OptionHelp())
    if (const auto value = arguments.present("--" + name)) given[name] = *value;
  return given;
}

}  // namespace ort_ed
