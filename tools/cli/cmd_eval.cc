#include <cmath>
#include <filesystem>
#include <iostream>
#include <optional>

#include <spdlog/spdlog.h>

#include "ort_ed/error.h"
#include "runtime/data/planar.h"
#include "runtime/data/row_reader.h"
#include "runtime/support/atomic_file.h"
#include "runtime/support/named.h"
#include "tools/cli/command.h"
#include "tools/cli/option_values.h"
#include "tools/cli/output_paths.h"
#include "tools/cli/progress.h"
#include "tools/jobs/annealing_run.h"
#include "tools/jobs/data/random_rows.h"
#include "tools/jobs/sample_comparison.h"
#include "tools/jobs/sampling_model.h"
#include "tools/plot/energies_picture.h"

namespace ort_ed {
namespace {

// Up to this dimension log Z is simply computed.
constexpr int64_t kEnumerateUpTo = 20;

struct Mean {
  double value = 0;
  double standard_error = 0;
};

template <typename Values>
Mean MeanOf(const Values& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  double squares = 0;
  for (double value : values) sum += value;
  for (double value : values) squares += (value - sum / n) * (value - sum / n);
  return {sum / n, n > 1 ? std::sqrt(squares / (n - 1) / n) : NAN};
}

struct Evaluation {
  int64_t rows = 0;
  int64_t dimension = 0;
  std::vector<float> data_energies;
  Mean energy;                          // of the data
  LogZEstimate log_z;                   // the value the likelihood is computed with
  std::optional<LogZEstimate> reverse;  // from where the forward chains ended: the other side of the bracket,
                                        // unless they all missed the same modes
  std::optional<Mean> raise_nll;        // conservative: RAISE from rows of the data
  std::optional<double> entropy;        // of the true density
  std::optional<SampleComparison> samples;

  double Nll() const { return energy.value + log_z.log_z; }
  // Not finite where it is not known: of one row, or of one chain.
  double NllError() const { return std::hypot(energy.standard_error, log_z.standard_error); }
  double BitsPerDimension() const { return Nll() / (static_cast<double>(dimension) * std::log(2.0)); }
};

std::vector<float> Energies(const EnergyModel& model, const RowTable& data) {
  std::vector<float> energies(data.rows);
  model.Energy(data.values, energies);
  return energies;
}

// RAISE: -log p(x) is estimated by U(x) + a(x), a(x) = -log of the mean over chains of 1 / w. The mean of U
// is known for the whole test set; a varies little from row to row, so a few rows do.
Mean RaiseNll(const Mean& energy, std::span<const double> log_weights, size_t rows) {
  const size_t repeats = log_weights.size() / rows;
  std::vector<double> corrections(rows);
  std::vector<double> of_row(repeats);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t repeat = 0; repeat < repeats; ++repeat) of_row[repeat] = -log_weights[repeat * rows + row];
    corrections[row] = -SummariseLogWeights(of_row).log_mean;
  }
  const Mean correction = MeanOf(corrections);
  return {energy.value + correction.value, std::hypot(energy.standard_error, correction.standard_error)};
}

void BracketLogZ(const argparse::ArgumentParser& arguments, const EnergyPath& target, const RowTable& data,
                 Evaluation& evaluation) {
  AnnealingPlan plan{arguments.get("model"), target, ReadAnnealingOptions(arguments)};
  const Annealing forward = RunAnnealing("ais", plan);
  evaluation.log_z = forward.Estimate();

  plan.starts = forward.Samples(plan.options.chains);
  evaluation.reverse = RunAnnealing("reverse ais", plan).Estimate();

  const int64_t rows = std::min(arguments.get<int64_t>("--raise-rows"), data.rows);
  if (rows < 1) return;
  const std::vector<float> chosen = RandomRows(data, rows, plan.options.seed);
  plan.starts.emplace();
  for (int64_t repeat = 0; repeat < arguments.get<int64_t>("--raise-chains"); ++repeat)
    plan.starts->insert(plan.starts->end(), chosen.begin(), chosen.end());
  const Annealing raise = RunAnnealing("raise", plan);
  evaluation.raise_nll = RaiseNll(evaluation.energy, raise.log_weights(), rows);
}

struct LogZRequest {
  const argparse::ArgumentParser& arguments;
  const EnergyModel& model;
  const EnergyPath& target;
  const RowTable& data;
};

void ExactMethod(const LogZRequest& request, Evaluation& evaluation) {
  evaluation.log_z = ExactLogZ(*request.target.energy, ShowWork("enumerating", "states"));
}

void ImportanceMethod(const LogZRequest& request, Evaluation& evaluation) {
  evaluation.log_z = ImportanceLogZ(request.target, request.arguments.get<int64_t>("--proposals"),
                                    request.arguments.get<uint64_t>("--seed"), ShowWork("proposing", "rows"));
}

void AisMethod(const LogZRequest& request, Evaluation& evaluation) {
  BracketLogZ(request.arguments, request.target, request.data, evaluation);
}

void AutoMethod(const LogZRequest& request, Evaluation& evaluation) {
  (request.model.dimension() <= kEnumerateUpTo ? ExactMethod : AisMethod)(request, evaluation);
}

void MetadataMethod(const LogZRequest& request, Evaluation& evaluation) {
  if (!request.model.HasLogZ())
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' carries no log Z; `ort-ed logz ... --write` puts it there",
                            request.arguments.get("model")));
  const LogZ& log_z = *request.model.metadata().log_z;
  evaluation.log_z.method = log_z.method;
  evaluation.log_z.log_z = log_z.value;
  evaluation.log_z.standard_error = log_z.standard_error;
}

struct LogZMethod {
  const char* name;
  void (*estimate)(const LogZRequest& request, Evaluation& evaluation);
};

constexpr LogZMethod kLogZMethods[] = {
    {"auto", AutoMethod},     {"exact", ExactMethod},       {"ais", AisMethod},
    {"is", ImportanceMethod}, {"metadata", MetadataMethod},
};

Canvas Histograms(const argparse::ArgumentParser& arguments, const Evaluation& evaluation) {
  const std::vector<float>& data = evaluation.data_energies;
  std::vector<HistogramSeries> series = {
      {std::filesystem::path(arguments.get("--data")).filename(), {data.begin(), data.end()}}};
  if (evaluation.samples) series.push_back({"model samples", evaluation.samples->energies});
  return EnergiesPicture(arguments.get("model"), std::move(series));
}

nlohmann::ordered_json ToJson(const Evaluation& e) {
  nlohmann::ordered_json json = {
      {"rows", e.rows},
      {"dimension", e.dimension},
      {"energy", {{"mean", e.energy.value}, {"standard_error", e.energy.standard_error}}},
      {"log_z", ToJson(e.log_z)},
      {"nll", e.Nll()},
      {"nll_error",
       {{"total", e.NllError()}, {"test_set", e.energy.standard_error}, {"log_z", e.log_z.standard_error}}},
      {"bits_per_dimension", e.BitsPerDimension()}};
  if (e.reverse) {
    json["log_z_reverse"] = ToJson(*e.reverse);
    json["nll_reverse"] = e.energy.value + e.reverse->log_z;
  }
  if (e.raise_nll)
    json["nll_raise"] = {{"value", e.raise_nll->value}, {"standard_error", e.raise_nll->standard_error}};
  if (e.entropy) {
    json["entropy"] = *e.entropy;
    json["nll_above_entropy"] = e.Nll() - *e.entropy;
  }
  if (e.samples) json["mmd"] = ToJson(*e.samples);
  return json;
}

std::string NllText(const Evaluation& e) {
  if (!std::isfinite(e.NllError())) return fmt::format("{:.4f} nats, error not known", e.Nll());
  return fmt::format("{:.4f} +- {:.4f} nats (test set {:.4f}, log Z {:.4f})", e.Nll(), e.NllError(),
                     e.energy.standard_error, e.log_z.standard_error);
}

void Print(const Evaluation& e) {
  const auto line = [](const std::string& name, const std::string& value) {
    std::cout << fmt::format("{:<26}{}\n", name, value);
  };
  line("test rows", fmt::format("{} of dimension {}", e.rows, e.dimension));
  line("energy", WithError(e.energy.value, e.energy.standard_error));
  line("log Z", ToText(e.log_z));
  if (e.reverse) line("log Z, reverse", ToText(*e.reverse));
  line("negative log-likelihood", NllText(e));
  if (e.reverse) line("  by log Z in reverse", fmt::format("{:.4f}", e.energy.value + e.reverse->log_z));
  if (e.raise_nll)
    line("  by RAISE, conservative", WithError(e.raise_nll->value, e.raise_nll->standard_error));
  if (e.entropy)
    line("  above the true entropy",
         fmt::format("{:.4f} (entropy {:.4f})", e.Nll() - *e.entropy, *e.entropy));
  line("bits per dimension", fmt::format("{:.4f}", e.BitsPerDimension()));
  if (!e.samples) return;
  const SampleComparison& samples = *e.samples;
  line("squared MMD, hamming",
       fmt::format("{:.3e} ({} samples{})", samples.hamming, samples.samples,
                   samples.sets > 1 ? fmt::format(", mean of {} sets", samples.sets) : ""));
  if (samples.null)
    line("  without a difference",
         fmt::format("{:.3e} to {:.3e} in 95 %", samples.null->low, samples.null->high));
  line("squared MMD, linear", fmt::format("{:.3e}", samples.linear));
}

void AddArguments(argparse::ArgumentParser& parser) {
  parser.add_argument("model").help("an energy model, .onnx");
  parser.add_argument("--data").required().metavar("FILE").help("test rows, in any format of `score`");
  parser.add_argument("--log-z")
      .default_value(std::string("auto"))
      .metavar("HOW")
      .help("exact, ais (both sides), is, or metadata; auto: exact up to D = 20, else ais");
  parser.add_argument("--proposals")
      .default_value(int64_t{1000000})
      .scan<'i', int64_t>()
      .metavar("N")
      .help("is: proposals");
  parser.add_argument("--raise-rows")
      .default_value(int64_t{100})
      .scan<'i', int64_t>()
      .metavar("N")
      .help("ais: test rows from which RAISE starts, drawn by --seed; 0: none");
  parser.add_argument("--raise-chains")
      .default_value(int64_t{5})
      .scan<'i', int64_t>()
      .metavar("N")
      .help("ais: chains of RAISE for each of its rows");
  parser.add_argument("--density")
      .metavar("NAME")
      .help("the planar density the data comes from: also reports how far above its entropy the model is");
  parser.add_argument("--png").metavar("FILE").help(
      "a picture: histograms of the energies of the data and of the model's samples");
  parser.add_argument("--json").flag().help("print everything as JSON");
  AddComparisonArguments(parser);
  AddAnnealingArguments(parser);
  AddDataArguments(parser);
  parser["--seed"].help(
      "of chains, proposals, samples and the rows where RAISE starts, and of the bits of --binarise "
      "stochastic");
  AddDeviceArguments(parser);
}

void WarnOf(const Evaluation& e) {
  if (!e.log_z.warning.empty()) spdlog::warn("log Z: {}", e.log_z.warning);
  if (e.reverse && !e.reverse->warning.empty()) spdlog::warn("log Z, reverse: {}", e.reverse->warning);
  constexpr double kErrors = 4;
  if (e.raise_nll && e.raise_nll->value - e.Nll() > kErrors * e.raise_nll->standard_error) {
    spdlog::warn(
        "RAISE from the test rows is far from annealing: the rows lie where annealed chains seldom end, or "
        "leave "
        "slowly; take more temperatures, and do not trust the likelihood until both agree");
  }
}

// Wrong numbers should not be found out after hours, nor only for the method that uses them.
void CheckNumbers(const argparse::ArgumentParser& arguments) {
  ReadAnnealingOptions(arguments);
  NumberFrom<int64_t>(arguments, "--proposals", 2);
  NumberFrom<int64_t>(arguments, "--raise-rows", 0);
  NumberFrom<int64_t>(arguments, "--raise-chains", 1);
}

void Run(const argparse::ArgumentParser& arguments) {
  CheckNumbers(arguments);
  const LogZMethod& method = FindNamed(kLogZMethods, arguments.get("--log-z"), "--log-z");
  Evaluation evaluation;
  if (const auto density = arguments.present("--density"))
    evaluation.entropy = FindPlanarDensity(*density).entropy;
  // Opened first: that it cannot be written should not be found out at the end.
  std::optional<AtomicFile> picture;
  CheckOutputPaths(arguments, {"--png"}, {"model", "--data"});
  if (const auto path = arguments.present("--png")) picture.emplace(PicturePath(*path));
  const EnergyModel model =
      LoadForSampling(arguments.get("model"), ChosenLoadOptions(arguments), arguments.get("--sampler"));
  const RowTable data = ReadRows(arguments.get("--data"), ChosenRowOptions(arguments, model.dimension()));
  CheckComparison(arguments, data);
  if (evaluation.entropy && data.columns != PlanarCode::kBits)
    throw UsageError(fmt::format("--density: its rows have {} variables, those of '{}' {}",
                                 int{PlanarCode::kBits}, arguments.get("--data"), data.columns));
  const EnergyPath target = ReadTarget(arguments, model);

  evaluation.rows = data.rows;
  evaluation.dimension = data.columns;
  evaluation.data_energies = Energies(model, data);
  evaluation.energy = MeanOf(evaluation.data_energies);
  method.estimate({arguments, model, target, data}, evaluation);
  WarnOf(evaluation);
  evaluation.samples = CompareSamples(arguments, target, data);
  if (arguments.get<bool>("--json")) {
    std::cout << ToJson(evaluation).dump(2) << "\n";
  } else {
    Print(evaluation);
  }
  std::cout.flush();
  if (picture) {
    picture->Write(Histograms(arguments, evaluation).Png());
    picture->Commit();
  }
}

}  // namespace

extern const Command kEvalCommand = {
    .name = "eval",
    .summary = "likelihood of test data from both sides, and how model samples compare with it",
    .examples =
        "  ort-ed eval model.onnx --data test.npy --png energies.png\n"
        "  ort-ed eval model.onnx --data test.npy --temperatures 10000 --chains 200 --samples 0 --json\n"
        "  ort-ed eval pinwheel.onnx --data test.npy --density pinwheel --log-z is",
    .add_arguments = AddArguments,
    .run = Run,
};

}  // namespace ort_ed
