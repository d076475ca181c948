#include <chrono>
#include <cmath>
#include <iostream>
#include <limits>

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "ort_ed/error.h"
#include "runtime/data/row_writer.h"
#include "tools/command.h"
#include "tools/option_values.h"
#include "tools/output_paths.h"
#include "tools/progress.h"

namespace ort_ed {
namespace {

// Running mean, spread and range of a column, in double.
class Statistics {
 public:
  void Add(double value) {
    ++count_;
    if (!std::isfinite(value)) {
      ++not_finite_;
      return;
    }
    const double delta = value - mean_;
    mean_ += delta / static_cast<double>(count_ - not_finite_);
    squares_ += delta * (value - mean_);
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }

  int64_t count() const { return count_; }
  int64_t not_finite() const { return not_finite_; }

  nlohmann::ordered_json Json() const {
    const auto n = static_cast<double>(count_ - not_finite_);
    return {{"mean", n > 0 ? mean_ : NAN},
            {"standard_deviation", n > 1 ? std::sqrt(squares_ / (n - 1)) : NAN},
            {"min", n > 0 ? min_ : NAN},
            {"max", n > 0 ? max_ : NAN}};
  }

 private:
  int64_t count_ = 0;
  int64_t not_finite_ = 0;
  double mean_ = 0;
  double squares_ = 0;
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
};

struct Summary {
  Statistics energy;
  Statistics log_likelihood;
};

// Rows held in memory at a time: the file may be larger than the memory.
int64_t BlockRows(int64_t dimension) {
  constexpr int64_t kBlockBytes = int64_t{1} << 22;
  return std::max<int64_t>(1, kBlockBytes / dimension);
}

std::unique_ptr<RowWriter<float>> OpenOutput(const EnergyModel& model, const std::string& path) {
  if (path.empty()) return nullptr;
  std::vector<std::string> names = {"energy"};
  if (model.HasLogZ()) names.emplace_back("log_likelihood");
  return CreateFloatFile(path, {.columns = std::ssize(names), .vector = names.size() == 1, .names = names});
}

// Scores a block; returns the columns of the output, row by row.
std::vector<float> ScoreBlock(const EnergyModel& model, std::span<const uint8_t> rows, Summary& summary) {
  std::vector<float> energies(rows.size() / static_cast<size_t>(model.dimension()));
  model.Energy(rows, energies);
  for (float energy : energies) summary.energy.Add(energy);
  if (!model.HasLogZ()) return energies;
  std::vector<double> log_likelihoods(energies.size());
  model.LogLikelihood(energies, log_likelihoods);
  std::vector<float> columns;
  columns.reserve(2 * energies.size());
  for (size_t row = 0; row < energies.size(); ++row) {
    summary.log_likelihood.Add(log_likelihoods[row]);
    columns.push_back(energies[row]);
    columns.push_back(static_cast<float>(log_likelihoods[row]));
  }
  return columns;
}

Summary ScoreAll(const EnergyModel& model, RowReader& reader, const std::string& data,
                 RowWriter<float>* writer) {
  Summary summary;
  const auto show = ShowWork("scoring", "rows");
  std::vector<uint8_t> block(static_cast<size_t>(BlockRows(model.dimension()) * model.dimension()));
  while (const int64_t rows = reader.Read(block)) {
    const auto values = std::span(block).first(static_cast<size_t>(rows * model.dimension()));
    const std::vector<float> columns = ScoreBlock(model, values, summary);
    if (writer != nullptr) writer->Write(columns);
    show(summary.energy.count(), reader.rows().value_or(0));
  }
  if (summary.energy.count() == 0)
    throw Error(ErrorCode::kBadData, fmt::format("'{}' holds no rows; there is nothing to score", data));
  return summary;
}

void PrintJson(const EnergyModel& model, const Summary& summary, const std::string& model_path,
               const std::string& data, const std::string& output, double seconds) {
  nlohmann::ordered_json json = {
      {"model", model_path},
      {"data", data},
      {"rows", summary.energy.count()},
      {"dimension", model.dimension()},
      {"energy", summary.energy.Json()},
      {"not_finite", summary.energy.not_finite()},
  };
  if (model.HasLogZ()) {
    const LogZ& log_z = *model.metadata().log_z;
    json["log_likelihood"] = summary.log_likelihood.Json();
    json["log_z"] = {
        {"value", log_z.value}, {"standard_error", log_z.standard_error}, {"method", log_z.method}};
  }
  json["device"] = ToString(model.device());
  json["seconds"] = seconds;
  json["rows_per_second"] = static_cast<double>(summary.energy.count()) / seconds;
  if (!output.empty()) json["output"] = output;
  std::cout << json.dump(2) << "\n";
}

void AddArguments(argparse::ArgumentParser& parser) {
  parser.add_argument("model").help("an energy model, .onnx");
  parser.add_argument("data").help(
      "rows of 0 and 1: .npy, .bits.npy, .csv, .tsv or IDX, also .gz; - is stdin, whose lines are scored as "
      "they come");
  parser.add_argument("-o", "--output")
      .metavar("FILE")
      .help("where the energies go: .npy, .csv or .tsv; without it CSV on stdout");
  parser.add_argument("--json").flag().help(
      "print a summary as JSON on stdout; the energies then go only to --output");
  parser.add_argument("--batch")
      .default_value(int64_t{0})
      .scan<'i', int64_t>()
      .metavar("ROWS")
      .help("rows scored at once, shared among the threads; 0: chosen to fit the cache");
  AddDataArguments(parser);
  AddDeviceArguments(parser);
}

void Run(const argparse::ArgumentParser& arguments) {
  const auto model_path = arguments.get<std::string>("model");
  const auto data = arguments.get<std::string>("data");
  const bool json = arguments.get<bool>("--json");
  CheckOutputPaths(arguments, {"--output"}, {"model", "data"});
  auto output = arguments.present("--output").value_or("");
  if (!json && output.empty()) output = "-";

  LoadOptions options = ChosenLoadOptions(arguments);
  options.batch_rows = NumberFrom<int64_t>(arguments, "--batch", 0);
  const EnergyModel model = EnergyModel::FromFile(model_path, options);
  const auto reader = OpenRows(data, ChosenRowOptions(arguments, model.dimension()));
  const auto writer = OpenOutput(model, output);

  const auto start = std::chrono::steady_clock::now();
  const Summary summary = ScoreAll(model, *reader, data, writer.get());
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (writer) writer->Commit();
  if (const int64_t bad = summary.energy.not_finite(); bad > 0)
    spdlog::warn("{} of {} energies are not finite; the model overflows or its weights are damaged", bad,
                 summary.energy.count());
  if (json) PrintJson(model, summary, model_path, data, output, elapsed.count());
}

}  // namespace

extern const Command kScoreCommand = {
    .name = "score",
    .summary = "energies, and log-likelihoods where the model carries log Z, of rows of data",
    .examples =
        "  ort-ed score model.onnx test.npy                  energies as CSV on stdout, with a header line\n"
        "  ort-ed score model.onnx test.csv -o energies.npy  float32 array: rows, or rows x 2 with\n"
        "                                                    log-likelihoods behind the energies\n"
        "  zcat rows.csv.gz | ort-ed score model.onnx - --json\n"
        "  ort-ed score model.onnx grey.npy --binarise stochastic --seed 1 -o energies.csv",
    .add_arguments = AddArguments,
    .run = Run,
};

}  // namespace ort_ed
