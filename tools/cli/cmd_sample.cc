#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <optional>

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "ort_ed/diagnostics.h"
#include "ort_ed/error.h"
#include "ort_ed/sampler.h"
#include "runtime/data/row_writer.h"
#include "runtime/support/atomic_file.h"
#include "tools/cli/command.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/option_values.h"
#include "tools/cli/output_paths.h"
#include "tools/cli/progress.h"
#include "tools/cli/sampler_arguments.h"
#include "tools/jobs/sample_start.h"
#include "tools/jobs/sampling_model.h"
#include "tools/picture/pictures.h"

namespace ort_ed {
namespace {

constexpr int64_t kPictureSamples = 100;

// Which states of the chains are the samples: after step `first`, then every `thin` steps up to `steps`.
struct Schedule {
  int64_t samples;
  int64_t chains;
  int64_t steps;
  int64_t burn_in;
  int64_t draws;  // of each chain
  int64_t thin;

  int64_t first() const { return steps - (draws - 1) * thin; }
  bool IsDraw(int64_t step) const { return step >= first() && (step - first()) % thin == 0; }
};

Schedule ChosenSchedule(const argparse::ArgumentParser& arguments, int64_t rows) {
  Schedule schedule{};
  schedule.samples = arguments.present<int64_t>("--samples").value_or(rows > 0 ? rows : 100);
  schedule.chains = arguments.present<int64_t>("--chains").value_or(schedule.samples);
  schedule.steps = arguments.get<int64_t>("--steps");
  if (schedule.samples < 1) throw UsageError("-n must be at least 1");
  if (schedule.chains < 1 || schedule.steps < 1) throw UsageError("--chains and --steps must be at least 1");
  if (schedule.chains < rows && arguments.is_used("--clamp"))
    throw UsageError(fmt::format("--chains {} leaves rows out: each of the {} rows of --clamp needs a chain",
                                 schedule.chains, rows));
  schedule.draws = (schedule.samples + schedule.chains - 1) / schedule.chains;
  schedule.burn_in = arguments.present<int64_t>("--burn-in").value_or(schedule.steps / 2);
  schedule.thin = arguments.present<int64_t>("--thin").value_or(
      std::max<int64_t>(1, (schedule.steps - schedule.burn_in) / schedule.draws));
  if (schedule.burn_in < 0 || schedule.thin < 1)
    throw UsageError("--burn-in must not be negative and --thin at least 1");
  if (schedule.first() <= schedule.burn_in) {
    throw UsageError(
        fmt::format("{} samples from {} chains are {} of each, {} steps apart: with a burn-in of {} steps "
                    "that needs --steps {} or "
                    "more (or more --chains)",
                    schedule.samples, schedule.chains, schedule.draws, schedule.thin, schedule.burn_in,
                    schedule.burn_in + 1 + (schedule.draws - 1) * schedule.thin));
  }
  return schedule;
}

void AddArguments(argparse::ArgumentParser& parser) {
  const auto integer = [&](const char* name) -> argparse::Argument& {
    return parser.add_argument(name).scan<'i', int64_t>().metavar("N");
  };
  parser.add_argument("model").help("an energy model, .onnx");
  parser.add_argument("-o", "--output")
      .required()
      .metavar("FILE")
      .help("rows of 0 and 1: .npy, .bits.npy (packed), .csv or .tsv; - is CSV on the standard output");
  parser.add_argument("-n", "--samples")
      .scan<'i', int64_t>()
      .metavar("N")
      .help("how many [100, or the rows of --init or --clamp]");
  integer("--steps")
      .default_value(int64_t{1000})
      .help("of each chain; a step of gibbs is a sweep over all variables");
  integer("--chains").help("independent chains [one for each sample]");
  integer("--burn-in").help("steps before the first sample and before diagnostics begin [half of --steps]");
  integer("--thin").help("steps between two samples of one chain [as many as there is room for]");
  parser.add_argument("--beta").default_value(1.0).scan<'g', double>().metavar("B").help(
      "inverse temperature: draws from exp(-B U)");
  parser.add_argument("--seed")
      .default_value(uint64_t{0})
      .scan<'u', uint64_t>()
      .metavar("N")
      .help("the same seed gives the same samples, whatever the number of threads");
  parser.add_argument("--init").metavar("FILE").help(
      "rows where the chains start, chain c at row c mod rows");
  parser.add_argument("--clamp").metavar("FILE").help(
      "conditional sampling: with --init a mask (1 keeps the value), one row or one for each row of --init; "
      "without "
      "it rows with empty cells (or NaN), which are filled");
  parser.add_argument("--trace").metavar("FILE").help(
      "energies of all chains after every step, steps x chains, .npy");
  parser.add_argument("--png").metavar("FILE").help("a picture of the first 100 samples, each as an image");
  parser.add_argument("--shape").metavar("HxW").help("of that image [as the model says]");
  parser.add_argument("--json").flag().help("print the diagnostics as JSON on the standard output");
  AddSamplerArguments(parser);
  AddTemperingArguments(parser);
  AddDeviceArguments(parser);
}

// Runs the chains through the schedule and writes what is asked for on the way.
class SampleRun {
 public:
  SampleRun(Sampler& sampler, Chains chains, const Schedule& schedule)
      : sampler_(sampler), chains_(std::move(chains)), schedule_(schedule) {}

  void WriteSamplesTo(std::unique_ptr<RowWriter<uint8_t>> samples) { samples_ = std::move(samples); }
  void WriteTraceTo(std::unique_ptr<RowWriter<float>> trace) { trace_ = std::move(trace); }

  void Run() {
    Progress progress("sampling", "steps", schedule_.steps);
    for (int64_t step = 0; step < schedule_.steps && !Interrupted();) {
      const int64_t next = NextStop(step);
      Advance(next - step);
      step = next;
      if (trace_) trace_->Write(std::vector<float>(chains_.energies.begin(), chains_.energies.end()));
      if (step == schedule_.burn_in) StartMeasuring();
      if (step > schedule_.burn_in && (step - schedule_.burn_in) % RecordStride() == 0)
        recorder_.Record(chains_);
      if (schedule_.IsDraw(step)) WriteSamples();
      progress.Update(step);
    }
    progress.Finish();
    if (trace_ && !Interrupted()) trace_->Commit();
    if (written_ > 0) samples_->Commit();
  }

  int64_t written() const { return written_; }
  const std::vector<uint8_t>& first_samples() const { return first_samples_; }
  const Chains& chains() const { return chains_; }
  Diagnostics Summarise() const { return recorder_.Summarise(chains_.counters, Seconds(measured_since_)); }

 private:
  using Clock = std::chrono::steady_clock;
  static double Seconds(Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  }

  int64_t RecordStride() const {
    return std::max<int64_t>(1, (schedule_.steps - schedule_.burn_in) / (2 * TraceRecorder::kMaxEnergies));
  }

  // The next step after which there is something to do. How steps are divided into calls does not change
  // them.
  int64_t NextStop(int64_t step) const {
    if (trace_) return step + 1;
    int64_t next = std::min(schedule_.steps, step + at_once_);
    if (step < schedule_.burn_in) return std::min(next, schedule_.burn_in);
    next = std::min(next, step + RecordStride() - (step - schedule_.burn_in) % RecordStride());
    if (step < schedule_.first()) return std::min(next, schedule_.first());
    return std::min(next, step + schedule_.thin - (step - schedule_.first()) % schedule_.thin);
  }

  void Advance(int64_t steps) {
    const auto start = Clock::now();
    sampler_.Step(chains_, steps);
    constexpr double kBetweenLooksAtTheKeyboard = 0.2;
    if (steps == at_once_ && Seconds(start) < kBetweenLooksAtTheKeyboard / 2) at_once_ *= 2;
  }

  void StartMeasuring() {
    chains_.counters = {};
    measured_since_ = Clock::now();
  }

  void WriteSamples() {
    const int64_t rows = std::min(chains_.count, schedule_.samples - written_);
    const std::vector<uint8_t> values(chains_.states.begin(),
                                      chains_.states.begin() + rows * chains_.dimension);
    samples_->Write(values);
    const int64_t shown = std::clamp<int64_t>(kPictureSamples - written_, 0, rows);
    first_samples_.insert(first_samples_.end(), values.begin(), values.begin() + shown * chains_.dimension);
    written_ += rows;
  }

  Sampler& sampler_;
  Chains chains_;
  Schedule schedule_;
  std::unique_ptr<RowWriter<uint8_t>> samples_;
  std::unique_ptr<RowWriter<float>> trace_;
  TraceRecorder recorder_;
  Clock::time_point measured_since_ = Clock::now();
  int64_t at_once_ = 1;
  int64_t written_ = 0;
  std::vector<uint8_t> first_samples_;
};

// Height and width of a sample as an image, for --png.
std::vector<int64_t> ChosenShape(const argparse::ArgumentParser& arguments, const EnergyModel& model) {
  const bool given = arguments.is_used("--shape");
  if (!given && !model.metadata().image_shape)
    throw UsageError("--png needs --shape HxW: the model does not say how its variables form an image");
  const std::vector<int64_t> shape =
      given ? ImageShapeOf(arguments, "--shape") : *model.metadata().image_shape;
  if (shape[0] * shape[1] != model.dimension()) {
    throw UsageError(
        fmt::format("--shape {}x{} is not the shape of {} variables", shape[0], shape[1], model.dimension()));
  }
  return shape;
}

// Evaluations that a run would cost if the energy were not known to be quadratic.
int64_t ExpectedEvaluations(const Schedule& schedule, const std::string& sampler, int64_t dimension) {
  const bool by_gradient = FindSampler(sampler).needs_gradient;
  return schedule.chains * schedule.steps * (by_gradient ? 1 : dimension);
}

std::string Figure(double value, int digits, const char* unit = "") {
  return std::isnan(value) ? "not known" : fmt::format("{:.{}f}{}", value, digits, unit);
}

std::string EnergySize(const Diagnostics& diagnostics) {
  if (std::isnan(diagnostics.energy_ess)) return Figure(diagnostics.energy_ess, 1);
  return fmt::format("{:.1f} ({:.1f} a second, {:.3g} an evaluation)", diagnostics.energy_ess,
                     diagnostics.ess_per_second, diagnostics.ess_per_evaluation);
}

void Report(const Diagnostics& diagnostics, const std::string& sampler, bool quadratic) {
  spdlog::info("{}{}: acceptance {}, mean jump {}, {} records of each chain after burn-in", sampler,
               quadratic ? " (quadratic energy)" : "", Figure(diagnostics.acceptance_rate, 3),
               Figure(diagnostics.jump_distance, 2, " bits a record"), diagnostics.draws);
  if (!std::isnan(diagnostics.swap_rate))
    spdlog::info("exchanges of temperatures accepted: {:.3f}", diagnostics.swap_rate);
  spdlog::info("energy: effective sample size {}, R-hat {}", EnergySize(diagnostics),
               Figure(diagnostics.energy_r_hat, 4));
  spdlog::info("variables: smallest effective sample size {}, largest R-hat {}",
               Figure(diagnostics.coordinate_ess, 1), Figure(diagnostics.coordinate_r_hat, 4));
  constexpr double kMixed = 1.1;
  if (diagnostics.energy_r_hat > kMixed || diagnostics.coordinate_r_hat > kMixed)
    spdlog::warn(
        "R-hat is above {}: the chains do not agree yet; run more --steps or try --sampler tempering",
        kMixed);
}

// JSON has no NaN: what is not known is null.
nlohmann::ordered_json JsonOf(const Diagnostics& diagnostics) {
  return {{"records", diagnostics.draws},
          {"acceptance_rate", diagnostics.acceptance_rate},
          {"swap_rate", diagnostics.swap_rate},
          {"jump_distance", diagnostics.jump_distance},
          {"energy", {{"ess", diagnostics.energy_ess}, {"r_hat", diagnostics.energy_r_hat}}},
          {"variables",
           {{"smallest_ess", diagnostics.coordinate_ess}, {"largest_r_hat", diagnostics.coordinate_r_hat}}},
          {"seconds", diagnostics.seconds},
          {"energy_evaluations", diagnostics.energy_evaluations},
          {"ess_per_second", diagnostics.ess_per_second},
          {"ess_per_evaluation", diagnostics.ess_per_evaluation}};
}

void Run(const argparse::ArgumentParser& arguments) {
  const auto output = arguments.get("--output");
  const bool json = arguments.get<bool>("--json");
  CheckOutputPaths(arguments, {"--output", "--trace", "--png"}, {"model", "--init", "--clamp"});
  const LoadOptions load = ChosenLoadOptions(arguments);
  ChosenSampler chosen = ReadSamplerArguments(arguments);
  ReadTemperingArguments(arguments, chosen.options);

  const bool tempering = chosen.name == kTempering;
  const EnergyModel model =
      LoadForSampling(arguments.get("model"), load, tempering ? chosen.options.inner : chosen.name);
  const SampleStart start =
      ReadSampleStart(arguments.present("--init"), arguments.present("--clamp"), model.dimension());
  const Schedule schedule = ChosenSchedule(arguments, start.rows);
  std::vector<int64_t> shape;
  std::optional<AtomicFile> picture;
  if (arguments.is_used("--shape") && !arguments.is_used("--png")) throw UsageError("--shape needs --png");
  if (const auto path = arguments.present("--png")) {
    shape = ChosenShape(arguments, model);
    picture.emplace(PicturePath(*path));
  }
  EnergyFunctionOptions detect{.threads = load.threads, .on_progress = ShowWork("reading couplings", "rows")};
  detect.evaluation_budget =
      std::min(detect.evaluation_budget, ExpectedEvaluations(schedule, chosen.name, model.dimension()));
  // Plain tempering for --beta; tempering of the model itself goes towards its base distribution.
  const auto beta = arguments.get<double>("--beta");
  if (!std::isfinite(beta)) throw UsageError("--beta must be a finite number");
  const BernoulliBase base = BernoulliBase::OfModel(model);
  const EnergyPath target(MakeEnergyFunction(model, detect),
                          beta == 1 ? base : BernoulliBase::Uniform(model.dimension()));
  const auto sampler = MakeSampler(chosen.name, target, chosen.options);

  const auto seed = arguments.get<uint64_t>("--seed");
  Chains chains = StartChainsAt(target, start.States(base, schedule.chains, seed), seed);
  chains.clamped = start.Clamps(schedule.chains);
  chains.betas.assign(chains.betas.size(), beta);
  SampleRun run(*sampler, std::move(chains), schedule);
  run.WriteSamplesTo(CreateBitFile(output, {.columns = model.dimension()}));
  if (const auto trace = arguments.present("--trace"))
    run.WriteTraceTo(CreateFloatFile(*trace, {.columns = schedule.chains}));
  run.Run();
  if (Interrupted()) {
    throw Error(ErrorCode::kInterrupted,
                run.written() == 0 ? "interrupted before the first sample; nothing was written"
                                   : fmt::format("interrupted; '{}' holds the {} samples drawn so far",
                                                 output, run.written()));
  }

  if (picture) {
    picture->Write(
        SampleGridPicture(run.first_samples(), static_cast<int>(shape[0]), static_cast<int>(shape[1])).Png());
    picture->Commit();
  }
  Diagnostics diagnostics = run.Summarise();
  if (const auto impossible =
          std::ranges::count_if(run.chains().energies, [](double u) { return std::isinf(u); }))
    spdlog::warn("{} of {} chains are in states of infinite energy, which have no probability", impossible,
                 schedule.chains);
  const bool quadratic = target.energy->quadratic() != nullptr;
  // All chains draw from one distribution.
  const bool alike = start.clamped.empty() || start.rows < 2;
  // Whether chains agree is no question where they are not to.
  if (!alike) diagnostics.energy_r_hat = diagnostics.coordinate_r_hat = std::nan("");
  if (!json) return Report(diagnostics, chosen.name, quadratic);
  nlohmann::ordered_json result = {{"model", arguments.get("model")},
                                   {"output", output},
                                   {"samples", run.written()},
                                   {"chains", schedule.chains},
                                   {"steps", schedule.steps},
                                   {"burn_in", schedule.burn_in},
                                   {"thin", schedule.thin},
                                   {"sampler", chosen.name},
                                   {"quadratic", quadratic},
                                   {"beta", beta},
                                   {"seed", seed}};
  result["diagnostics"] = JsonOf(diagnostics);
  std::cout << result.dump(2) << "\n";
}

}  // namespace

extern const Command kSampleCommand = {
    .name = "sample",
    .summary = "draw samples from a model, also conditionally on known values",
    .examples =
        "  ort-ed sample model.onnx -n 1000 --steps 1000 -o samples.npy --png samples.png\n"
        "  ort-ed sample model.onnx -n 1000 --chains 10 --steps 20000 --sampler dmala --step-size 0.3 -o "
        "samples.npy\n"
        "  ort-ed sample model.onnx --sampler tempering --temperatures 12 --trace energies.npy -o "
        "samples.bits.npy\n"
        "  ort-ed sample model.onnx --clamp holes.csv -o filled.csv     fills empty cells\n"
        "  ort-ed sample model.onnx --init test.npy --clamp mask.npy -o inpainted.npy",
    .add_arguments = AddArguments,
    .run = Run,
};

}  // namespace ort_ed
