#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <argparse/argparse.hpp>

#include "ort_ed/sampler.h"

namespace ort_ed {

struct ChosenSampler {
  std::string name;
  SamplerOptions options;
};

// Whose chains they are: annealing takes only samplers that keep the distribution of one temperature.
enum class ChainUse { kAny, kAnnealing };

inline constexpr std::string_view kTempering = "tempering";

// --sampler and the options of the samplers, the same for every command that moves chains; help lists the
// samplers that the use takes.
void AddSamplerArguments(argparse::ArgumentParser& parser, ChainUse use = ChainUse::kAny);
// All of them but --sampler.
std::vector<std::string> SamplerOptionNames();
// Refuses options that mean nothing to the chosen sampler.
ChosenSampler ReadSamplerArguments(const argparse::ArgumentParser& arguments);

// The options of parallel tempering, for commands whose chains may use it.
void AddTemperingArguments(argparse::ArgumentParser& parser);
// Refuses them where the sampler is another, and what means nothing to the one inside.
void ReadTemperingArguments(const argparse::ArgumentParser& arguments, SamplerOptions& options);

}  // namespace ort_ed
