#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <regex>
#include <set>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "ort_ed/device.h"
#include "ort_ed/error.h"
#include "tools/command.h"
#include "tools/find_named.h"
#include "tools/interrupt.h"
#include "tools/version.h"

namespace ort_ed {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

void LogToStderr() {
  auto logger = spdlog::stderr_color_mt("ort-ed");
  logger->set_pattern("%^%l%$: %v");
  spdlog::set_default_logger(std::move(logger));
}

std::string Overview() {
  std::string text =
      "Train discrete energy-based models with energy discrepancy; deploy them as ONNX.\n\nUsage: ort-ed "
      "COMMAND ...\n\n";
  for (const Command* command : Commands())
    text += fmt::format("  {:<10}{}\n", command->name, command->summary);
  return text +
         "\n`ort-ed COMMAND --help` explains a command and shows examples; `ort-ed --version` tells the "
         "versions.\n";
}

// argparse says only which argument it does not know; a user wants to see what there is.
constexpr std::string_view kUnknownArgument = "Unknown argument: ";

std::vector<std::string> OptionNames(const argparse::ArgumentParser& parser) {
  const std::string help = parser.help().str();
  static const std::regex option("(^|[ ,])(--[a-z][a-z0-9-]*)");
  std::set<std::string> names;
  for (std::sregex_iterator match(help.begin(), help.end(), option), end; match != end; ++match)
    names.insert((*match)[2]);
  return {names.begin(), names.end()};
}

// argparse takes the default where the value of an option was forgotten.
void RequireValues(const argparse::ArgumentParser& parser, const std::vector<std::string>& words) {
  const std::string usage = parser.usage(), help = parser.help().str();
  static const std::regex with_value(R"((--[a-z][a-z0-9-]*) [A-Za-z])");
  static const std::regex short_name(R"((-[a-zA-Z]), (--[a-z][a-z0-9-]*))");
  const std::vector<std::string> options = OptionNames(parser);
  std::set<std::string> known(options.begin(), options.end()), valued;
  for (std::sregex_iterator match(usage.begin(), usage.end(), with_value), end; match != end; ++match)
    valued.insert((*match)[1]);
  for (std::sregex_iterator match(help.begin(), help.end(), short_name), end; match != end; ++match) {
    known.insert((*match)[1]);
    if (valued.contains((*match)[2])) valued.insert((*match)[1]);
  }
  for (size_t i = 0; i < words.size(); ++i) {
    if (!valued.contains(words[i])) continue;
    if (i + 1 == words.size() || known.contains(words[i + 1]))
      throw UsageError(fmt::format("{} needs a value (see `ort-ed {} --help`)", words[i], words.front()));
    ++i;
  }
}

// Behind "--" stand files, also those whose names begin with a dash.
std::vector<std::string> WithoutDoubleDash(std::vector<std::string> words) {
  const auto dashes = std::ranges::find(words, "--");
  if (dashes == words.end()) return words;
  for (auto word = dashes + 1; word != words.end(); ++word)
    if (word->size() > 1 && word->starts_with('-')) word->insert(0, "./");
  words.erase(dashes);
  return words;
}

// argparse's own words tell a user nothing: "pattern '-1' not found".
std::string PlainMessage(const std::string& message) {
  static const std::regex pattern("pattern '(.*)' not found");
  std::smatch match;
  return std::regex_match(message, match, pattern)
             ? fmt::format("'{}' is no number that fits there", match[1].str())
             : message;
}

void Parse(argparse::ArgumentParser& parser, const std::vector<std::string>& words) {
  RequireValues(parser, words);
  try {
    parser.parse_args(words);
  } catch (const std::exception& error) {
    const std::string_view message = error.what();
    if (message.starts_with(kUnknownArgument))
      RefuseUnknownName("option", message.substr(kUnknownArgument.size()), OptionNames(parser));
    throw UsageError(fmt::format("{} (see `ort-ed {} --help`)", PlainMessage(error.what()), words.front()));
  }
}

bool AsksForHelp(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const auto& word) { return word == "--help" || word == "-h"; });
}

// Without argparse's notes on the number of values and on defaults that are empty.
std::string Help(const argparse::ArgumentParser& parser) {
  static const std::regex noise(R"( \[nargs[^\]]*\]| \[default: ""\])");
  return std::regex_replace(parser.help().str(), noise, "");
}

void RunCommand(const std::vector<std::string>& words) {
  const Command& command = *FindNamed(Commands(), words.front(), "command");
  argparse::ArgumentParser parser(fmt::format("ort-ed {}", command.name), "",
                                  argparse::default_arguments::none);
  parser.add_argument("-h", "--help").flag().help("show this help");
  parser.set_usage_max_line_width(100);
  parser.add_description(command.summary);
  parser.add_epilog(fmt::format("Examples:\n{}", command.examples));
  command.add_arguments(parser);
  if (AsksForHelp(words)) {
    std::cout << Help(parser);
    return;
  }
  Parse(parser, WithoutDoubleDash(words));
  command.run(parser);
}

// Microsoft's builds of ONNX Runtime since 1.30 start a telemetry service with the first session: a database
// in ~/.cache, a log in /tmp, threads. To say no afterwards is too late.
void RefuseTelemetry() { setenv("ORT_DISABLE_TELEMETRY", "1", /*overwrite=*/1); }

int Main(const std::vector<std::string>& words) {
  RefuseTelemetry();
  LogToStderr();
  CatchInterrupts();
  try {
    if (words.empty()) throw UsageError("a command is missing\n\n" + Overview());
    if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
      std::cout << Overview();
    } else if (words[0] == "--version") {
      std::cout << fmt::format("ort-ed {} (ONNX Runtime {})\n", kVersion, OnnxRuntimeVersion());
    } else {
      RunCommand(words);
    }
    if (!std::cout.flush())
      throw Error(ErrorCode::kIo, "cannot write to the standard output (disk full or pipe closed)");
    return kDone;
  } catch (const UsageError& error) {
    spdlog::error("{}", error.what());
    return kWrongUsage;
  } catch (const std::bad_alloc&) {
    spdlog::error("out of memory; ask for less at once");
    return kFailed;
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
    return kFailed;
  }
}

}  // namespace
}  // namespace ort_ed

int main(int argc, char** argv) { return ort_ed::Main(std::vector<std::string>(argv + 1, argv + argc)); }
