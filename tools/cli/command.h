#pragma once

#include <stdexcept>
#include <vector>

#include "ort_ed/options.h"

namespace ort_ed {

// A subcommand: a struct that declares its options, and a function of that struct. Adding one: write
// cmd_<name>.cc with a `const Command k<Name>Command` and add its row in commands.cc.
struct Command {
  const char* name;
  const char* summary;      // one line for `ort-ed --help`
  const char* description;  // more of it, for its own help; may be empty
  const char* examples;     // at the end of its help
  const Schema& (*schema)();
  // Results go to stdout, logs to stderr (spdlog). Failure is an exception: OptionError and UsageError end
  // with exit code 2, others with 1.
  void (*run)(const GivenOptions& given);
};

// A command whose options are all given by arguments.
template <typename Options, void (*Run)(const Options&)>
Command MakeCommand(const char* name, const char* summary, const char* examples,
                    const char* description = "") {
  return {name, summary, description, examples, &SchemaOf<Options>, [](const GivenOptions& given) {
            Options options;
            given.ApplyTo(options);
            Run(options);
          }};
}

// Arguments are missing or contradict one another, and no single option is to blame: exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

const std::vector<const Command*>& Commands();

}  // namespace ort_ed
