// Every rule and expansion on a device: its nodes stay there but for those that are listed, and compute what
// they compute on the CPU.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ort_ed/error.h"
#include "runtime/placement.h"
#include "tests/devices/kernels/emitted_models.h"
#include "tests/devices/test_device.h"
#include "tests/trainer/autodiff/gradient_cases.h"
#include "trainer/expand/expand_operators.h"
#include "trainer/learner/gpu_nodes.h"

namespace ort_ed {
namespace {

constexpr char kVersion[] = "1.30.0";  // of the list of gaps

class KernelsOnDevice : public OnDevice {};

std::string Line(const NodeKind& node) {
  const std::string types = DifferentTypes(node);
  return types.empty() ? node.op : node.op + " " + types;
}

// What only computes extents and indices is on the CPU by choice.
bool IsOfShapes(const NodeKind& node) {
  return !node.inputs.empty() && std::ranges::all_of(node.inputs, [](const std::string& type) {
    return type.empty() || type == "int64";
  });
}

std::set<std::string> GapsOf(const Device& device) {
  std::set<std::string> gaps;
  for (const EmittedModel& emitted : EmittedModels()) {
    const std::string bytes = emitted.model.SerializeAsString();
    const std::vector<PlacedNode> on_cpu = NodesOnCpu(std::as_bytes(std::span(bytes)), device);
    if (on_cpu.empty()) continue;
    const std::vector<NodeKind> kinds = NodeKinds(emitted.model);
    for (const PlacedNode& node : on_cpu)
      for (int i = 0; i < emitted.model.graph().node_size(); ++i)
        if (emitted.model.graph().node(i).name() == node.name && !IsOfShapes(kinds[i]) &&
            !kinds[i].inputs.empty())
          gaps.insert(Line(kinds[i]));
  }
  return gaps;
}

std::set<std::string> ListedGaps() {
  std::set<std::string> gaps;
  std::ifstream file(ORT_ED_KERNEL_LISTS "/webgpu_gaps.txt");
  for (std::string line; std::getline(file, line);)
    if (!line.starts_with('#')) gaps.insert(line);
  return gaps;
}

TEST_F(KernelsOnDevice, WhatLeavesWebGpuIsListed) {
  if (device().provider != "webgpu") GTEST_SKIP() << "the list is WebGPU's";
  if (OnnxRuntimeVersion() != kVersion) GTEST_SKIP() << "the list is that of ONNX Runtime " << kVersion;
  const std::set<std::string> gaps = GapsOf(device());
  if (std::getenv("ORT_ED_WRITE_GAPS") != nullptr) {
    std::ofstream file(ORT_ED_KERNEL_LISTS "/webgpu_gaps.txt");
    file << "# Nodes of our graphs that ONNX Runtime " << kVersion
         << " leaves to the CPU under WebGPU: operator and types of inputs. Written by\n"
            "# `ORT_ED_WRITE_GAPS=1 kernels_on_device_test --gtest_filter=*Listed`.\n";
    for (const std::string& gap : gaps) file << gap << "\n";
    return;
  }
  EXPECT_EQ(gaps, ListedGaps());
}

void ExpectNear(const TestTensors& tensors, const TestTensors& expected) {
  ASSERT_EQ(tensors.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    const TestTensor& other = tensors.at(name);
    ASSERT_EQ(other.shape, tensor.shape) << name;
    double scale = 1;
    for (const double value : tensor.values)
      if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
    for (size_t i = 0; i < tensor.values.size(); ++i)
      ASSERT_NEAR(other.values[i], tensor.values[i], 2e-3 * scale) << name << "[" << i << "]";
  }
}

void ExpectSame(const GradientCase& test, bool expand, const Device& device) {
  SCOPED_TRACE(std::string(test.name) + ", opset " + std::to_string(test.opset) + ": " + test.graph);
  PreparedCase prepared = Prepare(test);
  if (test.rewrite) test.rewrite(prepared.model);
  if (expand) ExpandOperators(prepared.model);
  const TestTensors outputs = TestSession(prepared.model).Run(prepared.inputs);
  prepared.inputs["seed"] = SeedFor(outputs.at(prepared.model.graph().output(0).name()));
  onnx::ModelProto model = WithGradients(prepared.model, prepared.wanted);
  const Device used = WithoutBadNodes(device, model);
  try {
    ExpectNear(TestSession(model, true, used).Run(prepared.inputs), TestSession(model).Run(prepared.inputs));
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

// On a renderer every shader takes long to compile: there, every tenth case.
TEST_F(KernelsOnDevice, GradientsAreThoseOfTheCpu) {
  const size_t stride = ChosenTestDevice().asked_for ? 1 : 10;
  const std::vector<GradientCase> rules = AllRuleCases();
  for (size_t i = 0; i < rules.size(); i += stride) ExpectSame(rules[i], false, device());
  const auto expansions = ExpansionCases();
  for (size_t i = 0; i < expansions.size(); i += stride) ExpectSame(expansions[i], true, device());
}

}  // namespace
}  // namespace ort_ed
