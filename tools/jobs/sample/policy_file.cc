#include "tools/jobs/sample/policy_file.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "models/policy/construction_policy.h"
#include "ort_ed/error.h"
#include "ort_ed/options.h"
#include "runtime/session.h"

namespace ort_ed {
namespace {

using namespace construction_policy;

constexpr int64_t kStatesAtOnce = 4096;  // more gain nothing, and their activations take memory

}  // namespace

struct PolicyFile::Impl {
  Impl(const std::string& path, int64_t width, int threads, const std::string& key)
      : name(path), session(OpenSession(path, MakeSessionOptions({}, threads))) {
    const int64_t dimension = Translated(ErrorCode::kBadModel, "cannot read '" + path + "'", [&] {
      RequireSignature();
      const auto shape = session.GetInputTypeInfo(0).GetTensorTypeAndShapeInfo().GetShape();
      return shape.size() == 2 ? shape[1] : -1;
    });
    if (dimension < 1) Refuse();
    if (dimension != width)
      throw OptionError(key, fmt::format("must be a policy of {} variables as the model; '{}' has {}", width,
                                         path, dimension));
    view = {.dimension = dimension,
            .logits = [this](std::span<const uint8_t> states,
                             std::span<float> logits) { Evaluate(states, logits); },
            .threads = threads};
  }

  [[noreturn]] void Refuse() const {
    throw Error(ErrorCode::kBadModel,
                fmt::format("'{}' is no policy: the policy.onnx of a run by eb-gfn has the input {} and the "
                            "outputs {}, {} and {}",
                            name, kOpen, kAdditions, kRemovals, kLogPartition));
  }

  void RequireSignature() const {
    Ort::AllocatorWithDefaultOptions allocator;
    std::vector<std::string> names;
    for (size_t i = 0; i < session.GetOutputCount(); ++i)
      names.emplace_back(session.GetOutputNameAllocated(i, allocator).get());
    const bool inputs = session.GetInputCount() == 1 &&
                        session.GetInputNameAllocated(0, allocator).get() == std::string(kOpen);
    if (!inputs || names != std::vector<std::string>{kAdditions, kRemovals, kLogPartition}) Refuse();
  }

  // Logarithms of probabilities are logits.
  void Evaluate(std::span<const uint8_t> states, std::span<float> logits) {
    const int64_t d = view.dimension, rows = std::ssize(states) / d;
    for (int64_t first = 0; first < rows; first += kStatesAtOnce) {
      const int64_t count = std::min(kStatesAtOnce, rows - first);
      EvaluateSome(states.subspan(first * d, count * d), logits.subspan(first * 3 * d, count * 3 * d));
    }
  }

  void EvaluateSome(std::span<const uint8_t> states, std::span<float> logits) {
    const int64_t d = view.dimension, rows = std::ssize(states) / d;
    input.resize(states.size());
    std::ranges::transform(states, input.begin(), [](uint8_t code) { return code == kHole ? -1.0f : code; });
    const std::array<int64_t, 2> shape = {rows, d};
    const Ort::Value z =
        Ort::Value::CreateTensor<float>(HostMemory(), input.data(), input.size(), shape.data(), shape.size());
    const std::array<const char*, 1> inputs = {kOpen};
    const std::array<const char*, 2> outputs = {kAdditions, kRemovals};
    const auto results = Translated(ErrorCode::kRuntime, "running the policy '" + name + "' failed", [&] {
      return session.Run(Ort::RunOptions(), inputs.data(), &z, 1, outputs.data(), outputs.size());
    });
    for (size_t k = 0; k < results.size(); ++k)
      if (results[k].GetTensorTypeAndShapeInfo().GetElementCount() != (2 - k) * states.size()) Refuse();
    for (int64_t row = 0; row < rows; ++row) {
      std::copy_n(results[0].GetTensorData<float>() + row * 2 * d, 2 * d, logits.begin() + row * 3 * d);
      std::copy_n(results[1].GetTensorData<float>() + row * d, d, logits.begin() + row * 3 * d + 2 * d);
    }
  }

  std::string name;
  Ort::Session session;
  std::vector<float> input;
  PolicyView view;
};

PolicyFile::PolicyFile(const std::string& path, int64_t dimension, int threads, const std::string& key)
    : impl_(std::make_shared<Impl>(path, dimension, threads, key)) {}

const PolicyView& PolicyFile::view() const { return impl_->view; }

void RequireBinary(const Variables& variables, const std::string& key) {
  if (!variables.all_binary())
    throw OptionError(key, "must be left out: it builds rows of binary variables, and the model has others");
}

}  // namespace ort_ed
