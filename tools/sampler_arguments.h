#pragma once

#include <string>

#include <argparse/argparse.hpp>

#include "ort_ed/sampler.h"

namespace ort_ed {

struct ChosenSampler {
  std::string name;
  SamplerOptions options;
};

// --sampler and the options of the samplers, the same for every command that moves chains.
void AddSamplerArguments(argparse::ArgumentParser& parser);
ChosenSampler ReadSamplerArguments(const argparse::ArgumentParser& arguments);

// The options of parallel tempering, for commands whose chains may use it.
void AddTemperingArguments(argparse::ArgumentParser& parser);
void ReadTemperingArguments(const argparse::ArgumentParser& arguments, SamplerOptions& options);

}  // namespace ort_ed
