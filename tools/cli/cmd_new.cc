#include <algorithm>

#include <onnx/onnx_pb.h>
#include <spdlog/spdlog.h>

#include "models/architectures/architectures.h"
#include "models/architectures/energy_spec.h"
#include "models/base/base_distribution.h"
#include "models/graph/model_file.h"
#include "models/inspect/model_summary.h"
#include "ort_ed/error.h"
#include "runtime/data/row_reader.h"
#include "runtime/support/atomic_file.h"
#include "tools/cli/architecture_arguments.h"
#include "tools/cli/command.h"
#include "tools/cli/option_values.h"
#include "tools/cli/output_paths.h"
#include "tools/cli/progress.h"

namespace ort_ed {
namespace {

std::string Description() {
  std::string text = "Create an energy model with initial parameters as an ONNX file.\n\nArchitectures:\n";
  for (const ArchitectureKind* architecture : Architectures())
    text += fmt::format("  {:<8}{}\n", architecture->name, architecture->summary);
  return text;
}

void AddArguments(argparse::ArgumentParser& parser) {
  parser.add_description(Description());
  parser.add_argument("architecture").metavar("ARCH").help("one of the architectures above");
  parser.add_argument("-o", "--output").required().metavar("FILE").help("the .onnx file to write");
  parser.add_argument("-D", "--dimension")
      .scan<'i', int64_t>()
      .metavar("D")
      .help("number of binary variables; not needed with --image-shape or --base");
  parser.add_argument("--image-shape")
      .metavar("HxW")
      .help("the variables form an image; needed by resnet and by the lattice of ising");
  parser.add_argument("--base").metavar("DATA").help(
      "on top of independent Bernoullis with the mean of this data (any format of `ort-ed score`)");
  parser.add_argument("--base-smoothing")
      .default_value(0.01)
      .nargs(1)
      .scan<'g', double>()
      .metavar("S")
      .help("the mean of the data becomes mean * (1 - 2 S) + S");
  parser.add_argument("--base-mean")
      .scan<'g', double>()
      .metavar("P")
      .help("the same without data: P(x_i = 1) of every variable");
  AddDataArguments(parser);
  parser["--seed"].help("of the initial parameters and of the bits of --binarise stochastic");
  AddArchitectureArguments(parser);
}

// The mean of every column, in one pass over a file of any size.
std::vector<double> ColumnMeans(const std::string& path, const RowOptions& options) {
  constexpr int64_t kBlockBytes = int64_t{1} << 20;
  const auto reader = OpenRows(path, options);
  const auto width = static_cast<size_t>(reader->columns());
  std::vector<uint8_t> block(std::max<size_t>(1, kBlockBytes / width) * width);
  std::vector<int64_t> ones(width);
  int64_t total = 0;
  const auto show = ShowWork("reading " + path, "rows");
  while (const int64_t rows = reader->Read(block)) {
    for (size_t i = 0; i < static_cast<size_t>(rows) * width; ++i) ones[i % width] += block[i];
    show(total += rows, reader->rows().value_or(0));
  }
  std::vector<double> means;
  for (const int64_t count : ones) means.push_back(static_cast<double>(count) / static_cast<double>(total));
  return means;
}

int64_t ExpectedColumns(const EnergySpec& spec) {
  return spec.image_shape.empty() ? spec.dimension : spec.image_shape[0] * spec.image_shape[1];
}

std::vector<float> BaseMean(const argparse::ArgumentParser& arguments, const EnergySpec& spec) {
  const auto data = arguments.present("--base");
  const auto mean = arguments.present<double>("--base-mean");
  if (data && mean) throw UsageError("--base and --base-mean exclude each other; choose one");
  if (mean)
    return std::vector<float>(static_cast<size_t>(std::max<int64_t>(0, ExpectedColumns(spec))),
                              static_cast<float>(*mean));
  if (!data) {
    if (arguments.is_used("--base-smoothing")) throw UsageError("--base-smoothing needs --base");
    return {};
  }
  const auto smoothing = NumberWhere<double>(
      arguments, "--base-smoothing", [](double s) { return s >= 0 && s <= 0.5; }, "from 0 to 0.5");
  return SmoothedMean(ColumnMeans(*data, ChosenRowOptions(arguments, ExpectedColumns(spec))), smoothing);
}

EnergySpec ChosenSpec(const argparse::ArgumentParser& arguments) {
  EnergySpec spec;
  const auto options = GivenArchitectureOptions(arguments);
  spec.architecture = {FindArchitecture(arguments.get("architecture")).name,
                       {options.begin(), options.end()}};
  if (arguments.is_used("--dimension")) spec.dimension = NumberFrom<int64_t>(arguments, "--dimension", 1);
  if (arguments.is_used("--image-shape")) spec.image_shape = ImageShapeOf(arguments, "--image-shape");
  spec.seed = arguments.get<uint64_t>("--seed");
  spec.base_mean = BaseMean(arguments, spec);
  return spec;
}

void Run(const argparse::ArgumentParser& arguments) {
  CheckOutputPaths(arguments, {"--output"}, {"--base"});
  const auto output = arguments.get("--output");
  const EnergySpec spec = ChosenSpec(arguments);
  const onnx::ModelProto model = BlameTheOptions([&] { return BuildModel(spec); });
  WriteFileAtomically(output, SerializeModel(model));
  const ModelSummary summary = Summarise(model, output, {});
  spdlog::info("wrote {}: {}, {} variables, {} parameters", output, spec.architecture.kind,
               summary.contract.dimension, summary.ParameterCount());
}

}  // namespace

extern const Command kNewCommand = {
    .name = "new",
    .summary = "create an energy model with initial parameters",
    .examples =
        "  ort-ed new mlp --dimension 32 --hidden 256,256,256 -o mlp.onnx\n"
        "  ort-ed new resnet --image-shape 28x28 --base train.bits.npy.gz -o resnet.onnx\n"
        "  ort-ed new rbm -D 784 --hidden 500 --base-mean 0.5 --seed 7 -o rbm.onnx\n"
        "  ort-ed new ising --image-shape 10x10 --init lattice --coupling 0.2 -o lattice.onnx",
    .add_arguments = AddArguments,
    .run = Run,
};

}  // namespace ort_ed
