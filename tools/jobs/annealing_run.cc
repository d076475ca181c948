#include "tools/jobs/annealing_run.h"

#include <chrono>
#include <cmath>
#include <filesystem>

#include <spdlog/spdlog.h>

#include "ort_ed/error.h"
#include "runtime/support/atomic_file.h"
#include "runtime/support/named.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/option_values.h"
#include "tools/cli/progress.h"
#include "tools/cli/sampler_arguments.h"
#include "tools/jobs/annealing_state.h"

namespace ort_ed {
namespace {

constexpr std::chrono::seconds kStorePeriod(60);
constexpr std::string_view kBases[] = {"model", "uniform"};

}  // namespace

void AddAnnealingArguments(argparse::ArgumentParser& parser) {
  AddSamplerArguments(parser, ChainUse::kAnnealing);
  parser.add_argument("--temperatures")
      .default_value(AnnealingOptions().temperatures)
      .scan<'i', int64_t>()
      .metavar("K")
      .help("ais, raise: distributions between the base and the model; one sampler step each");
  parser.add_argument("--spacing")
      .default_value(std::string("linear"))
      .metavar("NAME")
      .help("ais, raise: temperatures linear, sigmoid or adaptive (by a pilot run)");
  parser.add_argument("--chains")
      .default_value(AnnealingOptions().chains)
      .scan<'i', int64_t>()
      .metavar("N")
      .help("ais, raise: chains");
  parser.add_argument("--base")
      .default_value(std::string("model"))
      .metavar("BASE")
      .help("where the path begins: model (the base distribution in its metadata, else uniform) or uniform");
}

AnnealingOptions ReadAnnealingOptions(const argparse::ArgumentParser& arguments) {
  const ChosenSampler sampler = ReadSamplerArguments(arguments);
  AnnealingOptions options;
  options.temperatures = NumberFrom<int64_t>(arguments, "--temperatures", 1);
  options.spacing = ParseSpacing(arguments.get("--spacing"));
  options.sampler = sampler.name;
  options.sampler_options = sampler.options;
  options.chains = NumberFrom<int64_t>(arguments, "--chains", 1);
  options.seed = arguments.get<uint64_t>("--seed");
  return options;
}

EnergyPath ReadTarget(const argparse::ArgumentParser& arguments, const EnergyModel& model) {
  const std::string_view base = FindNamed(kBases, arguments.get("--base"), "--base");
  const auto energy = MakeEnergyFunction(model, {.on_progress = ShowWork("reading couplings", "rows")});
  if (base == "uniform") return EnergyPath(energy);
  return EnergyPath(energy, BernoulliBase::OfModel(model));
}

Annealing RunAnnealing(const std::string& what, const AnnealingPlan& plan, const std::string& state_file) {
  Annealing annealing = plan.starts ? Annealing::Reverse(plan.target, plan.options, *plan.starts)
                                    : Annealing::Forward(plan.target, plan.options);
  // Tried first: that it cannot be written should not be found out when it is needed.
  if (!state_file.empty()) AtomicFile{state_file};
  const AnnealingStateFile file(state_file, plan);
  if (file.Exists()) {
    annealing.Restore(file.Load());
    spdlog::info(
        "{}: continuing at {:.1f} % from '{}'", what,
        100.0 * static_cast<double>(annealing.done_work()) / static_cast<double>(annealing.total_work()),
        state_file);
  }
  Progress progress(what, "moves", annealing.total_work());
  auto stored = std::chrono::steady_clock::now();
  while (!annealing.finished()) {
    annealing.Advance(1);
    progress.Update(annealing.done_work());
    const auto now = std::chrono::steady_clock::now();
    const bool stop = Interrupted();
    if (stop || now - stored >= kStorePeriod) {
      file.Store(annealing.state());
      stored = now;
    }
    if (stop) {
      throw Error(ErrorCode::kInterrupted,
                  state_file.empty()
                      ? "interrupted; `ort-ed logz --state FILE` makes runs that can be continued"
                      : fmt::format("interrupted; the same command continues from '{}'", state_file));
    }
  }
  file.Store(annealing.state());  // stays until the caller is done with the result
  return annealing;
}

nlohmann::ordered_json ToJson(const LogZEstimate& estimate) {
  nlohmann::ordered_json json = {{"method", estimate.method},
                                 {"log_z", estimate.log_z},
                                 {"standard_error", estimate.standard_error},
                                 {"samples", estimate.samples},
                                 {"effective_samples", estimate.effective_samples}};
  if (!estimate.warning.empty()) json["warning"] = estimate.warning;
  return json;
}

std::string WithError(double value, double error) {
  if (!std::isfinite(error)) return fmt::format("{:.4f}, error not known", value);
  return fmt::format("{:.4f} +- {:.4f}", value, error);
}

std::string ToText(const LogZEstimate& estimate) {
  if (estimate.standard_error == 0) return fmt::format("{:.6f}  ({})", estimate.log_z, estimate.method);
  return fmt::format("{}  ({}; {:.1f} effective)", WithError(estimate.log_z, estimate.standard_error),
                     estimate.method, estimate.effective_samples);
}

}  // namespace ort_ed
