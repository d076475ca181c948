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

}  // namespace ort_ed
