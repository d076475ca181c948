#pragma once

#include <optional>
#include <string>
#include <vector>

#include <argparse/argparse.hpp>
#include <nlohmann/json.hpp>

#include "ort_ed/log_z.h"

namespace ort_ed {

// --temperatures, --spacing, --chains and --base, the same for every command that anneals; with the
// sampler's own arguments.
void AddAnnealingArguments(argparse::ArgumentParser& parser);
AnnealingOptions ReadAnnealingOptions(const argparse::ArgumentParser& arguments);
// The path from the model's base distribution (--base model) or the uniform one to the model.
EnergyPath ReadTarget(const argparse::ArgumentParser& arguments, const EnergyModel& model);

// One annealing: what its result depends on.
struct AnnealingPlan {
  std::string model;  // its file
  EnergyPath target;
  AnnealingOptions options;
  std::optional<std::vector<float>> starts = {};  // reverse, from these rows; none: forward
};

// Runs an annealing to its end with progress on stderr. With a state file (may be empty: none) it continues
// where the file says and stores its state once a minute, when interrupted and at the end: the caller removes
// the file when the result is safe. A file of another plan is refused.
Annealing RunAnnealing(const std::string& what, const AnnealingPlan& plan,
                       const std::string& state_file = "");

// "1.2345 +- 0.0678", or that the error is not known.
std::string WithError(double value, double error);

// For --json and for people.
nlohmann::ordered_json ToJson(const LogZEstimate& estimate);
std::string ToText(const LogZEstimate& estimate);

}  // namespace ort_ed
