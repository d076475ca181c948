#include "models/inspect/buffers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <string_view>

#include <fnmatch.h>
#include <onnx/onnx_pb.h>

#include "models/graph/model_edits.h"
#include "models/graph/standard_domain.h"
#include "models/inspect/value_patterns.h"

namespace ort_ed {
namespace {

template <typename Patterns>
bool Matches(const std::string& name, const Patterns& patterns) {
  return std::ranges::any_of(patterns,
                             [&](const char* pattern) { return fnmatch(pattern, name.c_str(), 0) == 0; });
}

// What exporters call the constants in a program's text; parameters keep their own names.
bool IsNamedConstant(const std::string& name) {
  constexpr std::array kPatterns = {"Constant_output_0",     "*/Constant_output_0", "Constant_*_output_0",
                                    "*/Constant_*_output_0", "*lifted_tensor*",     "*/Const:0",
                                    "*/Const_[0-9]*:0"};
  return Matches(name, kPatterns);
}

// "12" and, with the prefix "val_", "val_12"; not "12.weight".
bool IsNumbered(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

// What exporters call what has no name in the program: constants, but also weights that they transposed.
bool HasGeneratedName(const std::string& name) {
  constexpr std::array kPatterns = {"onnx::*_[0-9]*", "scalar_tensor*", "ortshared_*", "const_*_[0-9]*",
                                    "*/y:0"};
  return IsNumbered(name, "") || IsNumbered(name, "val_") || Matches(name, kPatterns);
}

// What programs call the buffers that their values do not tell.
bool IsNamedBuffer(const std::string& name) {
  constexpr std::array kPatterns = {"mask",         "*[._/]mask",    "*[a-z]_mask",
                                    "*inv_freq",    "*position_ids", "*running_mean",
                                    "*running_var", "*cos_cached",   "*sin_cached"};
  return Matches(name, kPatterns);
}

// The numbers of an initialiser; none where they are kept elsewhere.
std::span<const float> Values(const onnx::TensorProto& tensor) {
  const auto count = static_cast<size_t>(ElementCount(tensor));
  if (tensor.raw_data().size() == count * sizeof(float))
    return {reinterpret_cast<const float*>(tensor.raw_data().data()), count};
  if (tensor.float_data_size() == static_cast<int>(count)) return {tensor.float_data().data(), count};
  return {};
}

struct Use {
  const onnx::NodeProto* node;
  int input;

  bool Is(const char* op) const { return IsStandardDomain(node->domain()) && node->op_type() == op; }
};

// Who reads which tensor.
class Uses {
 public:
  explicit Uses(const onnx::GraphProto& graph) { Add(graph); }

  const std::vector<Use>& Of(const std::string& tensor) const {
    static const std::vector<Use> none;
    const auto found = uses_.find(tensor);
    return found == uses_.end() ? none : found->second;
  }

 private:
  void Add(const onnx::GraphProto& graph) {
    for (const auto& node : graph.node()) {
      for (int i = 0; i < node.input_size(); ++i) uses_[node.input(i)].push_back({&node, i});
      for (const auto& attribute : node.attribute())
        if (attribute.has_g()) Add(attribute.g());
    }
  }

  std::map<std::string, std::vector<Use>> uses_;
};

bool IsStatistic(const Use& use) { return use.Is("BatchNormalization") && use.input >= 3; }

// Numbers that say how large a result is.
bool IsScale(const Use& use) { return (use.Is("Resize") || use.Is("Upsample")) && use.input >= 1; }

bool IsOfNormalization(const Use& use) {
  constexpr std::array kOps = {"LayerNormalization", "GroupNormalization", "InstanceNormalization",
                               "RMSNormalization", "BatchNormalization"};
  return use.input > 0 && std::ranges::any_of(kOps, [&](const char* op) { return use.Is(op); });
}

// 0 and 1 that multiply, or that take part in a matrix product or in logic, choose; those that are added may
// well be a bias as it is drawn.
bool Chooses(const Use& use) {
  constexpr std::array kOps = {"Mul", "MatMul", "Einsum", "Where", "Sub", "Cast", "Equal", "Greater", "Less"};
  return std::ranges::any_of(kOps, [&](const char* op) { return use.Is(op); });
}

// A number that a program has in its text; what it is there, else "".
class Setting {
 public:
  Setting(const Uses& uses, float value, bool is_scalar)
      : uses_(uses), value_(value), is_scalar_(is_scalar) {}

  std::string Describe(const Use& use) const {
    if (use.Is("Pow") && use.input == 1) return "an exponent";
    if (use.Is("Clip") || ((use.Is("Max") || use.Is("Min")) && is_scalar_)) return "a bound";
    if (use.Is("Where") && use.input > 0 && is_scalar_) return "what Where fills in";
    if (use.Is("Pad") && use.input == 2) return "what Pad fills in";
    if (use.Is("Add") && IsBeforeRoot(use)) return "an epsilon";
    if ((use.Is("Mul") || use.Is("Div")) && Rescales()) return "a number that rescales";
    return "";
  }

 private:
  // Learned scales begin at 0 or 1.
  bool Rescales() const { return is_scalar_ && value_ != 0 && value_ != 1; }

  bool IsBeforeRoot(const Use& use) const {
    constexpr float kLargestEpsilon = 0.01f;
    const auto& next = uses_.Of(use.node->output(0));
    return std::abs(value_) <= kLargestEpsilon &&
           std::ranges::any_of(next, [](const Use& root) { return root.Is("Sqrt") || root.Is("Pow"); });
  }

  const Uses& uses_;
  float value_;
  bool is_scalar_;
};

class Sorting {
 public:
  explicit Sorting(const onnx::ModelProto& model) : model_(model), uses_(model.graph()) {}

  SortedInitialisers Run() const {
    SortedInitialisers sorted;
    for (const auto& tensor : model_.graph().initializer()) {
      if (tensor.data_type() != onnx::TensorProto::FLOAT || ElementCount(tensor) == 0) continue;
      if (std::string why = WhyBuffer(tensor); !why.empty()) {
        sorted.buffers.push_back({tensor.name(), std::move(why)});
        continue;
      }
      sorted.parameters.push_back(tensor.name());
      if (IsMasked(tensor)) sorted.masked.push_back(tensor.name());
    }
    return sorted;
  }

 private:
  std::string WhyBuffer(const onnx::TensorProto& tensor) const {
    const std::string& name = tensor.name();
    const std::vector<Use>& uses = uses_.Of(name);
    if (!uses.empty() && std::ranges::all_of(uses, IsStatistic)) return "statistics of BatchNormalization";
    if (!uses.empty() && std::ranges::all_of(uses, IsScale)) return "scales of Resize";
    if (std::string pattern = DescribePattern(Values(tensor)); !pattern.empty()) return pattern;
    if (IsSelection(tensor, uses)) return "a mask of 0 and 1";
    if (IsNamedConstant(name) || IsNamedBuffer(name)) return "its name is that of a constant";
    if (HasGeneratedName(name) && IsPlainNormalization(tensor, uses))
      return "a normalisation without weights of its own";
    return ElementCount(tensor) == 1 ? WhyNumber(tensor, uses) : "";
  }

  static bool IsSelection(const onnx::TensorProto& tensor, const std::vector<Use>& uses) {
    constexpr int64_t kFewest = 4;  // as many zeros and ones may well be chance
    const std::span<const float> values = Values(tensor);
    if (ElementCount(tensor) < kFewest || uses.empty() || !std::ranges::all_of(uses, Chooses)) return false;
    const bool is_identity = tensor.dims_size() == 2 && IsIdentity(values, tensor.dims(0), tensor.dims(1));
    return IsZerosAndOnes(values) && !is_identity;
  }

  static bool IsPlainNormalization(const onnx::TensorProto& tensor, const std::vector<Use>& uses) {
    const std::span<const float> values = Values(tensor);
    return !uses.empty() && !values.empty() && (values[0] == 0 || values[0] == 1) &&
           std::ranges::all_of(values, [&](float value) { return value == values[0]; }) &&
           std::ranges::all_of(uses, IsOfNormalization);
  }

  std::string WhyNumber(const onnx::TensorProto& tensor, const std::vector<Use>& uses) const {
    if (HasGeneratedName(tensor.name())) return "a number without a name of its own";
    const std::span<const float> values = Values(tensor);
    if (values.empty() || uses.empty()) return "";
    const Setting setting(uses_, values[0], tensor.dims_size() == 0);
    std::string why;
    for (const Use& use : uses) {
      why = setting.Describe(use);
      if (why.empty()) return "";
    }
    return why;
  }

  static bool IsMasked(const onnx::TensorProto& tensor) {
    if (tensor.dims_size() < 2) return false;
    const int64_t rows = tensor.dims(0), columns = ElementCount(tensor) / rows;
    const std::span<const float> values = Values(tensor);
    return !values.empty() && HasMaskedZeros(values, rows, columns, tensor.dims_size() > 2);
  }

  const onnx::ModelProto& model_;
  const Uses uses_;
};

}  // namespace

SortedInitialisers SortInitialisers(const onnx::ModelProto& model) { return Sorting(model).Run(); }

}  // namespace ort_ed
