#pragma once

#include <map>
#include <string>

#include <argparse/argparse.hpp>

namespace ort_ed {

// The options of all architectures (--hidden, --activation, ...) as a group of their own, the same for every
// command that builds a model.
void AddArchitectureArguments(argparse::ArgumentParser& parser);

// Those that were given, by name.
std::map<std::string, std::string> GivenArchitectureOptions(const argparse::ArgumentParser& arguments);

}  // namespace ort_ed
