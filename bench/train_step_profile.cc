// Where the time of an optimiser step goes: ONNX Runtime's profile of the training graph, by operator.
//
//   build/release/bench/train_step_profile mlp|resnet|FILE.onnx [threads [steps]] [--standard] [--nodes]
//
// mlp: 32-256-256-256-1, Swish with a learned slope, batch 128; resnet: 64 channels on 28 x 28, batch 10; a
// file's network: batch 8; 32 negatives each. --standard leaves out our own kernels, --nodes also lists the
// nodes that take longest. bench/peers.py and bench/families.py time whole steps without a profiler in the
// way.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "models/architectures/energy_spec.h"
#include "models/graph/model_file.h"
#include "ort_ed/random.h"
#include "runtime/session.h"
#include "trainer/expand/expand_operators.h"
#include "trainer/kernels/ops/cpu_ops.h"
#include "trainer/learner/device_session.h"
#include "trainer/learner/parameter_choice.h"
#include "trainer/learner/step_graph.h"
#include "trainer/negatives/negative_source.h"
#include "trainer/passes/fuse_elementwise.h"
#include "trainer/passes/use_cpu_kernels.h"

namespace ort_ed {
namespace {

constexpr int64_t kNegatives = 32;

struct Arguments {
  std::string network = "mlp";
  int threads = 1;
  int steps = 20;
  bool standard = false, nodes = false;

  bool is_file() const { return network.ends_with(".onnx"); }
};

EnergySpec EnergyOf(const std::string& network) {
  EnergySpec spec;
  spec.architecture = network;
  if (network == "mlp") {
    spec.dimension = 32;
  } else {
    spec.dimension = 784;
    spec.image_shape = {28, 28};
  }
  spec.base_mean.assign(static_cast<size_t>(spec.dimension), 0.4f);
  return spec;
}

PreparedModel NetworkOf(const Arguments& arguments) {
  return Prepare(arguments.is_file() ? LoadModel(arguments.network)
                                     : BuildModel(EnergyOf(arguments.network)));
}

ContrastiveBatch BatchFor(const Arguments& arguments, int64_t dimension) {
  const std::string& network = arguments.network;
  ContrastiveBatch batch(arguments.is_file() ? 8 : network == "mlp" ? 128 : 10, kNegatives, dimension, false);
  RandomStream random(1, 1, 0, 0);
  for (int64_t i = 0; i < batch.positives; ++i) {
    for (uint8_t& bit : batch.Positive(i)) bit = random.Bernoulli(0.5f);
  }
  const double epsilon = network == "mlp" ? 0.1 : 0.005;
  MakeNegatives({"bernoulli", {{"epsilon", epsilon}}}, {.dimension = dimension})
      ->Fill({.seed = 1, .step = 1}, batch);
  return batch;
}

// Runs the same step again and again; returns the profile's file.
std::string RunProfiled(const Arguments& arguments) {
  PreparedModel network = NetworkOf(arguments);
  LearnerOptions learner;
  if (arguments.is_file()) learner.buffers = FindRoles(network.model, {}).BufferNames();
  ExpandOperators(network.model);
  if (!arguments.standard) {
    UseCpuKernels(network.model);
    ImportCpuKernels(network.model);
  }
  StepGraphs graphs(network, learner, {.negatives = kNegatives});
  onnx::ModelProto graph = graphs.Make(StepGraphKind::kStep);
  if (!arguments.standard) FuseElementwise(graph);
  ContrastiveBatch batch = BatchFor(arguments, network.contract.dimension);
  std::vector<float> control = ControlVector(learner.optimizer, 1e-3, 1, batch.positives);
  std::vector<float> parameters = FlatParameters(network.model, graphs.slots()), zeros(parameters.size());
  const auto flat = static_cast<int64_t>(parameters.size());

  std::vector<std::string> names = {step_tensor::kRows, step_tensor::kControl};
  std::vector<Ort::Value> inputs;
  inputs.push_back(HostTensor(batch.rows.data(), {batch.positives * (1 + batch.negatives), batch.dimension}));
  inputs.push_back(HostTensor(control.data(), {kControlSize}));
  for (const ParameterSlot& slot : graphs.slots()) {
    names.push_back(slot.name);
    inputs.push_back(HostTensor(parameters.data() + slot.offset, slot.shape));
  }
  for (const std::string& kind : StateNames(learner.optimizer)) {
    const bool moment = kind.find("moment") != std::string::npos;
    names.push_back(step_tensor::StateTensorName(kind));
    inputs.push_back(HostTensor(moment ? zeros.data() : parameters.data(), {flat}));
  }
  std::vector<const char*> input_names, output_names;
  for (const std::string& name : names) input_names.push_back(name.c_str());
  for (const auto& output : graph.graph().output()) output_names.push_back(output.name().c_str());

  Ort::SessionOptions options = MakeSessionOptions(Device{}, arguments.threads);
  RegisterCpuKernels(options);
  options.DisableMemPattern();  // as DeviceSession does
  options.EnableProfiling((std::filesystem::temp_directory_path() / "ort_ed_train_step").c_str());
  const std::string bytes = graph.SerializeAsString();
  Ort::Session session = OpenSession(std::as_bytes(std::span(bytes)), options, "training graph");
  for (int i = 0; i < arguments.steps; ++i) {
    session.Run({}, input_names.data(), inputs.data(), inputs.size(), output_names.data(),
                output_names.size());
  }
  return session.EndProfilingAllocated(Ort::AllocatorWithDefaultOptions()).get();
}

bool IsMatrixProduct(const std::string& op) {
  for (const char* part : {"Gemm", "MatMul", "Conv", "Dense"}) {
    if (op.find(part) != std::string::npos) return true;
  }
  return false;
}

// The operators' times in the step that was fastest as a whole: the one that other programs disturbed least.
void Report(const nlohmann::json& events) {
  std::map<std::string, std::pair<double, int>> best, current;
  double best_step = 0;
  for (const auto& event : events) {
    const std::string name = event.value("name", "");
    if (name.ends_with("kernel_time")) {
      auto& [time, count] = current[event.at("args").value("op_name", "?")];
      time += event.at("dur").get<double>() / 1e3;
      ++count;
    } else if (name == "model_run") {
      const double step = event.at("dur").get<double>() / 1e3;
      if (best_step == 0 || step < best_step) {
        best_step = step;
        best = current;
      }
      current.clear();
    }
  }
  double kernels = 0, products = 0;
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [op, cost] : best) {
    kernels += cost.first;
    products += IsMatrixProduct(op) ? cost.first : 0;
    order.emplace_back(cost.first, op);
  }
  std::sort(order.rbegin(), order.rend());
  std::printf("fastest step %.2f ms (profiled), kernels %.2f ms, matrix products %.1f %% of them\n",
              best_step, kernels, 100 * products / kernels);
  for (const auto& [time, op] : order) {
    std::printf("  %-24s %8.3f ms %5.1f %%  %3d nodes\n", op.c_str(), time, 100 * time / kernels,
                best[op].second);
  }
}

std::string Shapes(const nlohmann::json& tensors) {
  std::string text;
  for (const auto& tensor : tensors) {
    for (const auto& [type, shape] : tensor.items()) text += (text.empty() ? "" : " ") + shape.dump();
  }
  return text;
}

// Those that take longest, each in the run in which it was fastest.
void ReportNodes(const nlohmann::json& events) {
  constexpr size_t kShown = 40;
  std::map<std::string, std::pair<double, std::string>> fastest;
  for (const auto& event : events) {
    const std::string name = event.value("name", "");
    if (!name.ends_with("kernel_time")) continue;
    const auto& details = event.at("args");
    const std::string what = details.value("op_name", "?") + " " + Shapes(details["input_type_shape"]) +
                             " -> " + Shapes(details["output_type_shape"]) + "  " + name.substr(0, 60);
    const double time = event.at("dur").get<double>() / 1e3;
    const auto [found, added] = fastest.try_emplace(name, time, what);
    if (!added) found->second = std::min(found->second, {time, what});
  }
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, cost] : fastest) order.push_back(cost);
  std::sort(order.rbegin(), order.rend());
  for (size_t i = 0; i < std::min(kShown, order.size()); ++i)
    std::printf("  %8.3f ms  %s\n", order[i].first, order[i].second.c_str());
}

int Main(int argc, char** argv) {
  Arguments arguments;
  std::vector<std::string> words(argv + 1, argv + argc);
  arguments.standard = std::erase(words, "--standard") > 0;
  arguments.nodes = std::erase(words, "--nodes") > 0;
  if (!words.empty()) arguments.network = words[0];
  if (words.size() > 1) arguments.threads = std::stoi(words[1]);
  if (words.size() > 2) arguments.steps = std::stoi(words[2]);
  const std::string file = RunProfiled(arguments);
  const nlohmann::json events = nlohmann::json::parse(std::ifstream(file));
  Report(events);
  if (arguments.nodes) ReportNodes(events);
  std::filesystem::remove(file);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("largest resident memory %.0f MB\n", static_cast<double>(usage.ru_maxrss) / 1024);
  return 0;
}

}  // namespace
}  // namespace ort_ed

int main(int argc, char** argv) { return ort_ed::Main(argc, argv); }
