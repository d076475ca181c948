#include "trainer/graph/fold/known_shapes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/graph/attributes.h"
#include "models/graph/standard_domain.h"
#include "trainer/graph/fold/constant_values.h"
#include "trainer/graph/infer_shapes.h"

namespace ort_ed {
namespace {

// Whole numbers of rank 0 or 1, of which some may not be known.
struct Partial {
  bool is_scalar = false;
  std::vector<std::optional<int64_t>> numbers;

  bool known() const {
    return std::ranges::all_of(numbers, [](const auto& number) { return number.has_value(); });
  }
};

int64_t IntAttribute(const onnx::NodeProto& node, const char* name, int64_t otherwise) {
  const auto* attribute = FindAttribute(node, name);
  return attribute ? attribute->i() : otherwise;
}

// Counted from the end where negative, and held within 0 and `size`, as ONNX does for ends.
int64_t Place(int64_t position, int64_t size) {
  return std::clamp<int64_t>(position < 0 ? position + size : position, 0, size);
}

class ShapeNumbers {
 public:
  ShapeNumbers(onnx::ModelProto& model, const std::string& output)
      : graph_(*model.mutable_graph()), infos_(InferShapes(model, output)), constants_(graph_) {}

  void Fix() {
    for (auto& node : *graph_.mutable_node()) {
      if (!IsStandardDomain(node.domain()) || node.output_size() != 1) continue;
      const std::optional<Partial> value = Evaluate(node);
      if (!value) continue;
      values_[node.output(0)] = *value;
      if (value->known() && IsInt64(node.output(0))) Replace(node, *value);
    }
  }

 private:
  bool IsInt64(const std::string& tensor) const {
    const auto info = infos_.find(tensor);
    return info != infos_.end() && info->second.type == onnx::TensorProto::INT64;
  }

  std::optional<Partial> Evaluate(const onnx::NodeProto& node) const {
    const std::string& op = node.op_type();
    if (op == "Shape") return OfShape(node);
    if (op == "Concat") return OfConcat(node);
    if (node.input_size() == 0) return std::nullopt;
    const std::optional<Partial> x = Read(node.input(0));
    if (!x) return std::nullopt;
    if (op == "Size") return Partial{true, {std::ssize(x->numbers)}};
    if (op == "Identity" || (op == "Cast" && IsInt64(node.output(0)))) return x;
    if (op == "Gather") return OfGather(node, *x);
    if (op == "Slice") return OfSlice(node, *x);
    if (op == "Unsqueeze" && x->is_scalar) return HasOneAxis(node) ? AsRank(*x, 1) : std::nullopt;
    if (op == "Squeeze" && !x->is_scalar && x->numbers.size() == 1) return AsRank(*x, 0);
    return std::nullopt;
  }

  bool HasOneAxis(const onnx::NodeProto& node) const {
    const auto axes = node.input_size() > 1 ? constants_.Ints(node.input(1)) : std::nullopt;
    return axes && axes->size() == 1;
  }

  static std::optional<Partial> AsRank(Partial x, int rank) {
    x.is_scalar = rank == 0;
    return x;
  }

  // A constant, or what was found out of the nodes before.
  std::optional<Partial> Read(const std::string& tensor) const {
    if (const auto found = values_.find(tensor); found != values_.end()) return found->second;
    const auto ints = constants_.Ints(tensor);
    const auto info = infos_.find(tensor);
    if (!ints || info == infos_.end() || !info->second.has_rank || info->second.rank() > 1)
      return std::nullopt;
    return Partial{info->second.rank() == 0, {ints->begin(), ints->end()}};
  }

  std::optional<Partial> OfShape(const onnx::NodeProto& node) const {
    const auto info = infos_.find(node.input(0));
    if (info == infos_.end() || !info->second.has_rank) return std::nullopt;
    const int64_t rank = info->second.rank();
    const int64_t start = Place(IntAttribute(node, "start", 0), rank);
    const int64_t end = Place(IntAttribute(node, "end", rank), rank);
    Partial shape;
    for (int64_t axis = start; axis < end; ++axis) {
      const Extent& extent = info->second.shape[axis];
      shape.numbers.push_back(extent.known() ? std::optional(extent.value) : std::nullopt);
    }
    return shape;
  }

  std::optional<Partial> OfConcat(const onnx::NodeProto& node) const {
    Partial joined;
    for (const std::string& input : node.input()) {
      const std::optional<Partial> part = Read(input);
      if (!part || part->is_scalar) return std::nullopt;
      joined.numbers.insert(joined.numbers.end(), part->numbers.begin(), part->numbers.end());
    }
    return joined;
  }

  std::optional<Partial> OfGather(const onnx::NodeProto& node, const Partial& x) const {
    const std::optional<Partial> indices = Read(node.input(1));
    if (!indices || x.is_scalar || !indices->known()) return std::nullopt;
    Partial chosen{indices->is_scalar, {}};
    const auto size = std::ssize(x.numbers);
    for (const auto& index : indices->numbers) {
      const int64_t position = *index < 0 ? *index + size : *index;
      if (position < 0 || position >= size) return std::nullopt;
      chosen.numbers.push_back(x.numbers[position]);
    }
    return chosen;
  }

  // Of step 1, along the one axis there is.
  std::optional<Partial> OfSlice(const onnx::NodeProto& node, const Partial& x) const {
    if (node.input_size() < 3 || x.is_scalar) return std::nullopt;
    const auto starts = constants_.Ints(node.input(1)), ends = constants_.Ints(node.input(2));
    const bool has_steps = node.input_size() > 4 && !node.input(4).empty();
    const auto steps = has_steps ? constants_.Ints(node.input(4)) : std::vector<int64_t>{1};
    if (!starts || !ends || starts->size() != 1 || ends->size() != 1) return std::nullopt;
    if (steps != std::vector<int64_t>{1}) return std::nullopt;
    const auto size = std::ssize(x.numbers);
    const int64_t start = Place((*starts)[0], size), end = std::max(start, Place((*ends)[0], size));
    return Partial{false, {x.numbers.begin() + start, x.numbers.begin() + end}};
  }

  void Replace(onnx::NodeProto& node, const Partial& value) {
    onnx::TensorProto tensor;
    tensor.set_data_type(onnx::TensorProto::INT64);
    if (!value.is_scalar) tensor.add_dims(std::ssize(value.numbers));
    for (const auto& number : value.numbers) tensor.add_int64_data(*number);
    MakeConstant(node, tensor);
  }

  onnx::GraphProto& graph_;
  const TensorInfos infos_;
  const ConstantValues constants_;
  std::map<std::string, Partial> values_;
};

}  // namespace

void FixKnownShapes(onnx::ModelProto& model, const std::string& output) {
  const auto& nodes = model.graph().node();
  const bool has_shapes =
      std::ranges::any_of(nodes, [](const onnx::NodeProto& node) { return node.op_type() == "Shape"; });
  if (has_shapes) ShapeNumbers(model, output).Fix();
}

}  // namespace ort_ed
