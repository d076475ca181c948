#include <cmath>
#include <filesystem>
#include <iostream>
#include <optional>

#include <onnx/onnx_pb.h>
#include <spdlog/spdlog.h>

#include "models/graph/model_edits.h"
#include "models/graph/model_file.h"
#include "ort_ed/error.h"
#include "runtime/data/row_reader.h"
#include "runtime/support/atomic_file.h"
#include "runtime/support/named.h"
#include "tools/cli/command.h"
#include "tools/cli/foreign_options.h"
#include "tools/cli/option_values.h"
#include "tools/cli/output_paths.h"
#include "tools/cli/progress.h"
#include "tools/cli/sampler_arguments.h"
#include "tools/jobs/annealing_run.h"
#include "tools/jobs/annealing_state.h"
#include "tools/jobs/data/random_rows.h"
#include "tools/jobs/sampling_model.h"

namespace ort_ed {
namespace {

struct Request {
  const argparse::ArgumentParser& arguments;
  const EnergyModel& model;
  EnergyPath target;
  AnnealingOptions options;
};

AnnealingPlan Plan(const Request& request) {
  return {request.arguments.get("model"), request.target, request.options};
}

// A reverse annealing that draws its own starts has two long runs.
std::string StateOfSamples(const argparse::ArgumentParser& arguments) {
  const auto state = arguments.get("--state");
  return state.empty() ? "" : state + ".samples";
}

// Where a reverse annealing starts: rows of a file, or samples of the model that a forward annealing found.
std::vector<float> Starts(const Request& request) {
  const auto path = request.arguments.get("--data");
  if (!path.empty())
    return RandomRows(ReadRows(path, ChosenRowOptions(request.arguments, request.model.dimension())),
                      request.options.chains, request.options.seed);
  return RunAnnealing("drawing samples", Plan(request), StateOfSamples(request.arguments))
      .Samples(request.options.chains);
}

LogZEstimate Ais(const Request& request) {
  return RunAnnealing("ais", Plan(request), request.arguments.get("--state")).Estimate();
}

LogZEstimate Raise(const Request& request) {
  AnnealingPlan plan = Plan(request);
  plan.starts = Starts(request);
  return RunAnnealing("raise", plan, request.arguments.get("--state")).Estimate();
}

LogZEstimate Exact(const Request& request) {
  return ExactLogZ(*request.target.energy, ShowWork("enumerating", "states"));
}

LogZEstimate Importance(const Request& request) {
  return ImportanceLogZ(request.target, request.arguments.get<int64_t>("--proposals"), request.options.seed,
                        ShowWork("proposing", "rows"));
}

using Options = std::vector<std::string>;

struct Method {
  const char* name;
  const char* summary;
  Options options;  // those of kOfSome that mean something to it
  LogZEstimate (*estimate)(const Request& request);
};

Options Join(const Options& a, const Options& b) {
  Options all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

// Those that mean something to some methods only.
const Options kOfAnnealing =
    Join({"--sampler", "--temperatures", "--spacing", "--chains", "--state"}, SamplerOptionNames());
const Options kOfSome = Join({"--base", "--data", "--proposals"}, kOfAnnealing);

const Method kMethods[] = {
    {"ais", "annealed importance sampling; on average a little below log Z", Join({"--base"}, kOfAnnealing),
     Ais},
    {"raise",
     "the same in reverse; a little above on average if it starts at samples of the model: rows of --data, "
     "or what ais ends with",
     Join({"--base", "--data"}, kOfAnnealing), Raise},
    {"exact", "all 2^D states, D up to 26", {}, Exact},
    {"is",
     "importance sampling with independent proposals of the base",
     {"--base", "--proposals"},
     Importance},
};

// Why an estimate is not to be written, and what to do; empty: nothing speaks against it.
std::string WhyNotWritten(const LogZEstimate& estimate) {
  if (!std::isfinite(estimate.log_z)) return "its energies overflow: look for divergence in its training";
  if (estimate.samples == 1) return "one chain has no error, take more (--chains)";
  return estimate.warning;
}

// `digest` is that of the model that was estimated.
void WriteToModel(const std::string& path, const std::string& digest, AtomicFile& file,
                  const LogZEstimate& estimate) {
  if (const std::string why = WhyNotWritten(estimate); !why.empty())
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' stays as it is: log Z {} +- {} is nothing to score with; {}", path,
                            estimate.log_z, estimate.standard_error, why));
  if (ModelDigest(path) != digest)
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}' has changed in the meantime and stays as it is: this log Z is not its own", path));
  onnx::ModelProto model = LoadModel(path, ExternalData::kKeep);
  SetMetadata(model, metadata_key::kLogZ, fmt::format("{}", estimate.log_z));
  SetMetadata(model, metadata_key::kLogZError, fmt::format("{}", estimate.standard_error));
  SetMetadata(model, metadata_key::kLogZMethod, estimate.method);
  file.Write(SerializeModel(model));
  file.Commit();
  spdlog::info("wrote log Z into the metadata of '{}'", path);
}

void AddArguments(argparse::ArgumentParser& parser) {
  parser.add_argument("model").help("an energy model, .onnx");
  std::string methods = "how log Z is estimated:";
  for (const Method& method : kMethods) methods += fmt::format("\n  {:<7}{}", method.name, method.summary);
  parser.add_argument("--method").default_value(std::string("ais")).metavar("NAME").help(methods);
  parser.add_argument("--write").flag().help(
      "write log Z, its error and method into the model's metadata, for `score`; not an estimate that cannot "
      "be believed");
  parser.add_argument("--data")
      .default_value(std::string())
      .metavar("FILE")
      .help("raise: starts from --chains of these rows, drawn by --seed");
  parser.add_argument("--proposals")
      .default_value(int64_t{1000000})
      .scan<'i', int64_t>()
      .metavar("N")
      .help("is: proposals");
  parser.add_argument("--json").flag().help("print the estimate as JSON");
  AddAnnealingArguments(parser);
  parser.add_argument("--state")
      .default_value(std::string())
      .metavar("FILE")
      .help("ais, raise: keeps the state of a long run here; the same command continues from it");
  AddDataArguments(parser);
  parser["--seed"].help(
      "of chains, proposals and the rows drawn from --data, and of the bits of --binarise stochastic");
  AddDeviceArguments(parser);
}

void Run(const argparse::ArgumentParser& arguments) {
  const Method& method = FindNamed(kMethods, arguments.get("--method"), "method");
  CheckOutputPaths(arguments, {"--state"}, {"model", "--data"});
  NumberFrom<int64_t>(arguments, "--proposals", 2);
  const AnnealingOptions options = ReadAnnealingOptions(arguments);
  RefuseForeignOptions(arguments, kOfSome, method.options,
                       fmt::format("`ort-ed logz --method {}`", method.name));
  const std::string path = arguments.get("model");
  const bool write = arguments.get<bool>("--write");
  const std::string digest = write ? ModelDigest(path) : "";
  const EnergyModel model = LoadForSampling(path, ChosenLoadOptions(arguments), options.sampler.kind);
  // Opened first: that it cannot be written should not be found out at the end.
  std::optional<AtomicFile> updated;
  if (write) updated.emplace(path);
  const LogZEstimate estimate = method.estimate({arguments, model, ReadTarget(arguments, model), options});
  if (!updated && !estimate.warning.empty()) spdlog::warn("{}", estimate.warning);  // else an error says it
  if (arguments.get<bool>("--json")) {
    std::cout << ToJson(estimate).dump(2) << "\n";
  } else {
    std::cout << fmt::format("log Z  {}\n", ToText(estimate));
  }
  std::cout.flush();
  if (updated) WriteToModel(path, digest, *updated, estimate);
  // Last: until here the same command would have the result again at once.
  for (const std::string& state : {StateOfSamples(arguments), arguments.get("--state")})
    if (!state.empty()) std::filesystem::remove(state);
}

}  // namespace

extern const Command kLogZCommand = {
    .name = "logz",
    .summary = "estimate log Z, the normaliser of a model",
    .examples =
        "  ort-ed logz model.onnx --method exact --write\n"
        "  ort-ed logz model.onnx --temperatures 10000 --chains 100 --write     annealed importance "
        "sampling\n"
        "  ort-ed logz model.onnx --method raise --temperatures 10000 --json    the other side of the "
        "bracket\n"
        "  ort-ed logz model.onnx --temperatures 300000 --chains 500 --state ais.state\n"
        "                                                       a long run that can be interrupted and "
        "continued",
    .add_arguments = AddArguments,
    .run = Run,
};

}  // namespace ort_ed
