#include <filesystem>
#include <iostream>

#include <onnx/onnx_pb.h>
#include <spdlog/spdlog.h>

#include "models/graph/model_file.h"
#include "ort_ed/error.h"
#include "runtime/support/atomic_file.h"
#include "runtime/support/named.h"
#include "tools/cli/command.h"
#include "tools/cli/option_values.h"
#include "tools/jobs/settings/setting_value.h"
#include "tools/jobs/train/export.h"
#include "tools/jobs/train/train.h"
#include "trainer/autodiff/input_gradient.h"

namespace ort_ed {
namespace {

constexpr char kExamples[] = R"(  ort-ed export run -o model.onnx
  ort-ed export run --checkpoint 5000 --weights raw -o early.onnx
  ort-ed export run --with-gradient -o model.onnx
  ort-ed export run --threshold 0.05 --threshold-on G -o sparse.onnx
  ort-ed export my_energy.onnx --with-gradient -o with_gradient.onnx)";

struct WeightsName {
  const char* name;
  Weights weights;
};

constexpr WeightsName kWeights[] = {{"ema", Weights::kAverage}, {"raw", Weights::kRaw}};

void AddArguments(argparse::ArgumentParser& parser) {
  parser.add_argument("source")
      .metavar("RUN|MODEL")
      .help("run directory of `ort-ed train`, or an .onnx file");
  parser.add_argument("-o", "--output").required().metavar("FILE").help("the .onnx file to write");
  parser.add_argument("--checkpoint").scan<'i', int64_t>().metavar("N").help("of this step; else the newest");
  parser.add_argument("--weights")
      .default_value(std::string("ema"))
      .metavar("ema|raw")
      .help("the moving average of the weights, or the weights of the last step");
  parser.add_argument("--threshold")
      .scan<'g', double>()
      .metavar("T")
      .help(
          "set parameters with a magnitude below T to zero; `ort-ed train --freeze-zeros` refits the others");
  parser.add_argument("--threshold-on")
      .default_value(std::string("*"))
      .metavar("PATTERN,...")
      .help("patterns of the parameters with a threshold");
  parser.add_argument("--with-gradient")
      .flag()
      .help("with the graph of dU/dx that gradient-guided samplers need; plain scoring does not load it");
}

void Threshold(const argparse::ArgumentParser& arguments, onnx::ModelProto& model) {
  if (!arguments.is_used("--threshold")) {
    if (arguments.is_used("--threshold-on")) throw UsageError("--threshold-on needs --threshold");
    return;
  }
  const double threshold = PositiveNumber(arguments, "--threshold");
  Words patterns;
  ParseValue(arguments.get("--threshold-on"), patterns);
  const Sparsity sparsity = ThresholdParameters(model, threshold, patterns);
  spdlog::info("{} of {} values are zero", sparsity.zeros, sparsity.entries);
}

onnx::ModelProto FromRun(const argparse::ArgumentParser& arguments, const std::string& folder) {
  ReadRunConfig(folder);  // is it a run at all?
  const CheckpointFolder checkpoints(folder + "/" + run_file::kCheckpoints);
  const auto step = arguments.present<int64_t>("--checkpoint");
  const auto checkpoint = step ? checkpoints.Read(*step) : checkpoints.ReadNewest();
  if (!checkpoint)
    throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' has no checkpoint yet", folder));
  spdlog::info("checkpoint of step {}", checkpoint->step);
  return RestoreModel(*checkpoint, FindNamed(kWeights, arguments.get("--weights"), "--weights").weights);
}

onnx::ModelProto FromFile(const argparse::ArgumentParser& arguments, const std::string& path) {
  for (const char* option : {"--checkpoint", "--weights"})
    if (arguments.is_used(option))
      throw UsageError(fmt::format("{} needs a run directory, not an .onnx file", option));
  return LoadModel(path);
}

void Run(const argparse::ArgumentParser& arguments) {
  const auto source = arguments.get("source");
  const auto output = arguments.get("--output");
  onnx::ModelProto model =
      std::filesystem::is_directory(source) ? FromRun(arguments, source) : FromFile(arguments, source);
  PrepareForDeployment(model, source);
  Threshold(arguments, model);
  if (arguments.get<bool>("--with-gradient")) {
    AttachInputGradient(model);
    CheckOnnx(model, source);
  }
  WriteFileAtomically(output, SerializeModel(model));
}

}  // namespace

extern const Command kExportCommand;
const Command kExportCommand = {"export", "write the model of a training run as a deployable .onnx file",
                                kExamples, AddArguments, Run};

}  // namespace ort_ed
