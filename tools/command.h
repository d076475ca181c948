#pragma once

#include <string>
#include <vector>

#include <argparse/argparse.hpp>

#include "ort_ed/energy_model.h"
#include "runtime/data/row_reader.h"

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

// Arguments are missing, malformed or contradict each other: exit code 2. A name that is not known is an
// Error.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

const std::vector<const Command*>& Commands();

// --threads and --device, the same for every command that runs a model. ChosenLoadOptions() reads them back;
// for --device auto it tells on stderr what was taken.
void AddDeviceArguments(argparse::ArgumentParser& parser);
LoadOptions ChosenLoadOptions(const argparse::ArgumentParser& arguments);

// --binarise, --threshold and --seed, the same for every command that reads rows. ChosenRowOptions() reads
// them back; `columns` is the width the rows must have.
void AddDataArguments(argparse::ArgumentParser& parser);
RowOptions ChosenRowOptions(const argparse::ArgumentParser& arguments, int64_t columns);

}  // namespace ort_ed
