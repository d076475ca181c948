#pragma once

#include <string>
#include <vector>

#include <argparse/argparse.hpp>

namespace ort_ed {

// A subcommand. Adding one: write cmd_<name>.cc with a `const Command k<Name>Command` and add its row in
// commands.cc.
struct Command {
  const char* name;
  const char* summary;   // one line for `ort-ed --help`
  const char* examples;  // shown at the end of `ort-ed <name> --help`
  void (*add_arguments)(argparse::ArgumentParser& parser);
  // Results go to stdout, logs to stderr (spdlog). Failure is an exception: ort_ed::Error ends with exit code
  // 1, UsageError with 2.
  void (*run)(const argparse::ArgumentParser& arguments);
};

// The command line itself is wrong: exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

const std::vector<const Command*>& Commands();

// --threads and --device, the same for every command that runs a model.
void AddDeviceArguments(argparse::ArgumentParser& parser);

}  // namespace ort_ed
