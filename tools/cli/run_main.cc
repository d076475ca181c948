#include <algorithm>
#include <cstdlib>
#include <iostream>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "ort_ed/device.h"
#include "ort_ed/error.h"
#include "runtime/simd/instruction_set.h"
#include "runtime/support/large_buffers.h"
#include "runtime/support/low_memory.h"
#include "runtime/support/named.h"
#include "runtime/support/peer_wait.h"
#include "runtime/support/plain_text.h"
#include "runtime/support/text.h"
#include "runtime/support/version.h"
#include "tools/cli/arguments.h"
#include "tools/cli/choose_onnxruntime.h"
#include "tools/cli/command.h"
#include "tools/cli/help.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/launch/processes.h"
#include "tools/cli/library_errors.h"
#include "tools/cli/main.h"
#include "tools/cli/plain_output.h"
#include "tools/cli/sudden_end.h"

namespace ort_ed {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

// Whatever is told is plain.
class PlainSink : public spdlog::sinks::ansicolor_stderr_sink_mt {
 public:
  void log(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;  // which asks for no memory where the message is short
    text.append(message.payload.begin(), message.payload.end());
    MakePlain({text.data(), text.size()});
    spdlog::details::log_msg plain = message;
    plain.payload = {text.data(), text.size()};
    spdlog::sinks::ansicolor_stderr_sink_mt::log(plain);
  }
};

void LogToStderr() {
  auto logger = std::make_shared<spdlog::logger>("ort-ed", std::make_shared<PlainSink>());
  logger->set_pattern("%^%l%$: %v");
  spdlog::set_default_logger(std::move(logger));
}

bool AsksForHelp(const std::vector<std::string>& words) {
  const auto end = std::ranges::find(words, "--");  // behind it stand files
  return std::any_of(words.begin(), end, [](const auto& word) { return word == "--help" || word == "-h"; });
}

bool IsOfFile(const std::string& origin, const std::string& key) {
  return !origin.empty() && !origin.starts_with('-') && origin != key;
}

// `key` as --key; words in backquotes that are no options stay.
std::string SpellOthers(const std::string& reason, const Schema& schema) {
  const std::vector<VisibleOption> options = VisibleOptions(schema);
  std::string spelled;
  for (size_t i = 0; const std::string& part : Split(reason, '`')) {
    const bool quoted = i++ % 2 == 1;
    const auto option = std::ranges::find(options, part, &VisibleOption::key);
    if (!quoted) {
      spelled += part;
    } else if (option == options.end()) {
      spelled += "`" + part + "`";
    } else {
      spelled += option->option->positional ? part : OptionName(part);
    }
  }
  return spelled;
}

// An option as its user wrote it: in a file "run.toml:12: epsilon", else "--epsilon".
std::string Spelled(const OptionError& error, const std::string& origin, const Schema& schema) {
  if (IsOfFile(origin, error.key())) return fmt::format("{}: {}", origin, error.what());
  const Option* option = schema.Find(error.key());
  const bool positional = option != nullptr && option->positional;
  const std::string name = positional                ? error.key()
                           : origin.starts_with('-') ? origin
                                                     : OptionName(error.key());
  return fmt::format("{} {}", name, SpellOthers(error.reason(), schema));
}

// A name that is not known is bad input, as is what a file says; other mistakes are wrong usage.
int ExitCode(const OptionError& error, const std::string& origin) {
  const bool bad_input =
      IsOfFile(origin, error.key()) || error.problem() == OptionError::Problem::kUnknownName;
  return bad_input ? kFailed : kWrongUsage;
}

int RunCommand(const std::vector<std::string>& words) {
  const Command& command = *FindNamed(Commands(), words.front(), "command");
  if (AsksForHelp(words)) {
    std::cout << HelpText(command);
    return kDone;
  }
  const GivenOptions given = ParseArguments(command, {words.begin() + 1, words.end()});
  UsableInstructions();  // a wrong name in the environment is told before any work begins
  try {
    command.run(given);
  } catch (const OptionError& error) {
    const std::string origin = error.origin().empty() ? given.GetOrigin(error.key()) : error.origin();
    spdlog::error("{}", DescribeFailure(Spelled(error, origin, command.schema()), /*of_this=*/false));
    return ExitCode(error, origin);
  }
  return kDone;
}

// Microsoft's builds of ONNX Runtime since 1.30 start a telemetry service with the first session: a database
// in ~/.cache, a log in /tmp, threads. To say no afterwards is too late.
void RefuseTelemetry() {
  if (setenv("ORT_DISABLE_TELEMETRY", "1", /*overwrite=*/1) != 0) throw std::bad_alloc();
}

// "cuda:local-rank": a device for each process of a host.
std::vector<std::string> WithLocalDevice(std::vector<std::string> words) {
  constexpr std::string_view kEnd = ":local-rank";
  for (std::string& word : words)
    if (word.ends_with(kEnd))
      word.replace(word.size() - kEnd.size() + 1, kEnd.size(), std::to_string(LocalRank()));
  return words;
}

int RunWords(const std::vector<std::string>& words) {
  if (words.empty()) throw UsageError("a command is missing\n\n" + OverviewText());
  int exit_code = kDone;
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    std::cout << OverviewText();
  } else if (words[0] == "--version") {
    std::cout << fmt::format("ort-ed {} (ONNX Runtime {})\n", kVersion, OnnxRuntimeVersion());
  } else {
    exit_code = RunCommand(words);
    PipeEnd::Check();
  }
  if (!std::cout.flush())
    throw Error(ErrorCode::kIo, "cannot write to the standard output (disk full or pipe closed)");
  return exit_code;
}

int Run(std::vector<std::string> words) {
  RefuseTelemetry();
  ReturnLargeBuffers();
  LogToStderr();
  ChooseOnnxRuntime(words);
  CatchInterrupts();
  if (!words.empty()) JoinProcesses(words[0], Join(words, " "));
  const PlainOutput plain(std::cout);
  return RunWords(WithLocalDevice(words));
}

int RunAndTell(const std::vector<std::string>& words, const LibraryErrors& errors) {
  try {
    return Run(words);
  } catch (const UsageError& error) {
    spdlog::error("{}", error.what());
    return kWrongUsage;
  } catch (const std::exception& error) {
    if (IsLowMemory(error) || errors.tell_of_low_memory()) {
      TellLowMemory();
      return kFailed;
    }
    const auto* const own = dynamic_cast<const Error*>(&error);
    spdlog::error("{}", DescribeFailure(error.what(), own != nullptr && own->code() == ErrorCode::kIo));
    return InterruptedExitCode(kFailed);
  }
}

}  // namespace

int Main(std::span<char* const> words) {
  CatchSuddenEnds();
  const LibraryErrors errors;
  const int exit_code = RunAndTell({words.begin(), words.end()}, errors);
  LeaveProcesses(exit_code);
  return exit_code;
}

}  // namespace ort_ed
