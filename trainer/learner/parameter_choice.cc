#include "trainer/learner/parameter_choice.h"

#include <algorithm>
#include <set>

#include <onnx/onnx_pb.h>

#include "models/graph/model_edits.h"
#include "runtime/support/text.h"
#include "trainer/graph/half_parameters.h"
#include "trainer/learner/learner_options.h"

namespace ort_ed {
namespace {

std::vector<std::string> FloatInitialisers(const onnx::ModelProto& model) {
  std::vector<std::string> names;
  for (const auto& tensor : model.graph().initializer())
    if (tensor.data_type() == onnx::TensorProto::FLOAT && ElementCount(tensor) > 0)
      names.push_back(tensor.name());
  return names;
}

std::set<std::string> Selected(const std::vector<std::string>& names,
                               const std::vector<std::string>& patterns, const std::string& key) {
  const std::vector<bool> is_selected = Select(names, patterns, key);
  std::set<std::string> selected;
  for (size_t i = 0; i < names.size(); ++i)
    if (is_selected[i]) selected.insert(names[i]);
  return selected;
}

// Means and variances that BatchNormalization takes from its data elsewhere: a gradient step may well make a
// variance negative.
std::set<std::string> Statistics(const onnx::ModelProto& model) {
  std::set<std::string> statistics, others;
  for (const auto& node : model.graph().node()) {
    for (int i = 0; i < node.input_size(); ++i) {
      const bool statistic = node.op_type() == "BatchNormalization" && i >= 3;
      (statistic ? statistics : others).insert(node.input(i));
    }
  }
  for (const std::string& name : others) statistics.erase(name);
  return statistics;
}

// The first of them, and how many there are.
std::string ListSome(std::vector<std::string> texts) {
  constexpr size_t kMost = 8;
  const size_t count = texts.size();
  if (count <= kMost) return Join(texts, ", ");
  texts.resize(kMost);
  return Join(texts, ", ") + " and " + std::to_string(count - kMost) + " more";
}

}  // namespace

std::vector<std::string> ParameterRoles::BufferNames() const {
  std::vector<std::string> names;
  for (const Buffer& buffer : buffers) names.push_back(buffer.name);
  return names;
}

std::vector<std::string> ParameterRoles::Describe() const {
  std::vector<std::string> sentences, named;
  for (const auto& [name, why] : buffers) named.push_back(name + " (" + why + ")");
  if (!named.empty())
    sentences.push_back("not trained, since they look like constants: " + ListSome(named) +
                        "; `trainable` names those that are parameters");
  if (!masked.empty())
    sentences.push_back("zeros stay zeros, since a mask seems to be part of the weights: " +
                        ListSome(masked) + "; `trainable` names those that are to be free");
  return sentences;
}

ParameterRoles FindRoles(const onnx::ModelProto& model, const std::vector<std::string>& trainable) {
  const std::set<std::string> free = Selected(FloatInitialisers(model), trainable, "trainable");
  SortedInitialisers sorted = SortInitialisers(model);
  std::erase_if(sorted.buffers, [&](const Buffer& buffer) { return free.contains(buffer.name); });
  std::erase_if(sorted.masked, [&](const std::string& name) { return free.contains(name); });
  return {std::move(sorted.buffers), std::move(sorted.masked)};
}

ParameterRoles WidenAndFindRoles(onnx::ModelProto& model, const std::vector<std::string>& trainable) {
  const std::vector<std::string> left = WidenParameters(model);
  ParameterRoles roles = FindRoles(model, trainable);
  for (const std::string& name : left)
    roles.buffers.push_back({name, "float64 of more digits than float32 has; float32 is trained"});
  return roles;
}

std::vector<std::string> ParameterNames(const onnx::ModelProto& model, const std::vector<std::string>& frozen,
                                        const std::optional<std::vector<std::string>>& buffers) {
  std::vector<std::string> names = FloatInitialisers(model);
  std::set<std::string> fixed = Selected(names, frozen, "frozen");
  fixed.merge(buffers ? std::set(buffers->begin(), buffers->end()) : Statistics(model));
  std::erase_if(names, [&](const std::string& name) { return fixed.contains(name); });
  return names;
}

}  // namespace ort_ed
