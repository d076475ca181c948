#include "trainer/passes/use_image_kernels.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <onnx/defs/tensor_proto_util.h>

#include "models/graph/attributes.h"
#include "trainer/passes/kernel_rewriter.h"

namespace ort_ed {
namespace {

// A plain convolution with fewer outputs, but for one, stays ONNX Runtime's.
constexpr int64_t kNarrowest = 8;

class ImageRewriter : public KernelRewriter {
 public:
  using KernelRewriter::KernelRewriter;

  bool Run() {
    bool changed = false;
    for (auto& node : *graph_.mutable_node()) {
      if (!IsStandard(node)) continue;
      const std::string& op = node.op_type();
      changed |= op == "Conv"                    ? ReplaceConv(node)
                 : op == "ConvTranspose"         ? ReplaceConvTranspose(node)
                 : op == "AveragePool"           ? ReplaceAveragePool(node)
                 : op == "MaxPool"               ? ReplaceMaxPool(node)
                 : op == "InstanceNormalization" ? ReplaceInstanceNormalization(node)
                 : op == "GroupNormalization"    ? ReplaceGroupNormalization(node)
                                                 : false;
    }
    RemoveUnused();
    return changed;
  }

 private:
  struct Window {
    std::vector<int64_t> strides, pads, dilations;
    bool unpadded() const {
      return std::ranges::all_of(pads, [](int64_t pad) { return pad == 0; });
    }
  };

  // An image of one to three axes of known extents with a known number of channels; else null.
  const TensorInfo* Image(const std::string& tensor) const {
    const TensorInfo* info = FloatTensor(tensor, -1);
    if (!info || info->rank() < 3 || info->rank() > 5) return nullptr;
    for (int64_t axis = 1; axis < info->rank(); ++axis)
      if (info->shape[axis].value < 1) return nullptr;
    return info;
  }

  static std::vector<int64_t> SpatialExtents(const TensorInfo& image) {
    std::vector<int64_t> extents;
    for (int64_t axis = 2; axis < image.rank(); ++axis) extents.push_back(image.shape[axis].value);
    return extents;
  }

  static bool HasPadsWrittenOut(const onnx::NodeProto& node) {
    const auto* auto_pad = FindAttribute(node, "auto_pad");
    return !auto_pad || auto_pad->s() == "NOTSET" || auto_pad->s() == "VALID" || auto_pad->s().empty();
  }

  static Window WindowOf(const onnx::NodeProto& node, const TensorInfo& image) {
    const auto axes = static_cast<size_t>(image.rank() - 2);
    const std::vector<int64_t> ones(axes, 1), zeros(2 * axes, 0);
    return {IntsAttribute(node, "strides", ones), IntsAttribute(node, "pads", zeros),
            IntsAttribute(node, "dilations", ones)};
  }

  static void AddWindow(onnx::NodeProto& node, const Window& window) {
    AddInts(node, "strides", window.strides);
    AddInts(node, "pads", window.pads);
    AddInts(node, "dilations", window.dilations);
  }

  static bool HasPositivePads(const Window& window) {
    return std::ranges::all_of(window.pads, [](int64_t pad) { return pad >= 0; });
  }

  // The extents of a window's result, rounded down, from those of the image.
  static std::vector<int64_t> ResultExtents(const Window& window, const std::vector<int64_t>& image,
                                            const std::vector<int64_t>& kernel) {
    std::vector<int64_t> extents;
    const size_t axes = image.size();
    for (size_t i = 0; i < axes; ++i)
      extents.push_back(
          (image[i] + window.pads[i] + window.pads[i + axes] - window.dilations[i] * (kernel[i] - 1) - 1) /
              window.strides[i] +
          1);
    return extents;
  }

  bool ReplaceConv(onnx::NodeProto& node) {
    const TensorInfo* x = Image(node.input(0));
    const TensorInfo* w = x ? Image(node.input(1)) : nullptr;
    if (!w || w->rank() != x->rank() || w->shape[0].value < 1 || !HasPadsWrittenOut(node)) return false;
    const Window window = WindowOf(node, *x);
    if (!HasPositivePads(window)) return false;
    const int64_t group = IntAttribute(node, "group", 1), outputs = w->shape[0].value;
    if (group == 1 && x->rank() == 4 && outputs < kNarrowest && outputs != 1) return false;
    Replace(node, "Conv", {node.input().begin(), node.input().end()});
    AddWindow(node, window);
    AddInt(node, "group", group);
    return true;
  }

  bool ReplaceConvTranspose(onnx::NodeProto& node) {
    const TensorInfo *x = Image(node.input(0)), *y = Image(node.output(0));
    const TensorInfo* w = x && y ? Image(node.input(1)) : nullptr;
    if (!w || w->rank() != x->rank() || w->shape[0].value < 1 || !HasPadsWrittenOut(node)) return false;
    const Window window = WindowOf(node, *x);
    const std::vector<int64_t> extents = SpatialExtents(*y);
    if (FindAttribute(node, "output_shape") || !HasPositivePads(window) ||
        ResultExtents(window, extents, SpatialExtents(*w)) != SpatialExtents(*x))
      return false;
    const int64_t group = IntAttribute(node, "group", 1);
    Replace(node, "ConvTranspose", {node.input().begin(), node.input().end()});
    AddWindow(node, window);
    AddInt(node, "group", group);
    AddInts(node, "extents", extents);
    return true;
  }

  // Whether a pooling is one of ours: rounded down, and with no other output.
  bool IsPlainPool(const onnx::NodeProto& node, const TensorInfo* x, const TensorInfo* y) const {
    if (!x || !y || node.output_size() != 1 || !HasPadsWrittenOut(node)) return false;
    const Window window = WindowOf(node, *x);
    return HasPositivePads(window) &&
           ResultExtents(window, SpatialExtents(*x), IntsAttribute(node, "kernel_shape", {})) ==
               SpatialExtents(*y);
  }

  // A convolution of every channel by itself with equal weights.
  bool ReplaceAveragePool(onnx::NodeProto& node) {
    const TensorInfo *x = Image(node.input(0)), *y = Image(node.output(0));
    if (!IsPlainPool(node, x, y)) return false;
    const Window window = WindowOf(node, *x);
    if (!window.unpadded() && IntAttribute(node, "count_include_pad", 0) == 0) return false;
    std::vector<int64_t> shape = IntsAttribute(node, "kernel_shape", {});
    const int64_t size = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies());
    const int64_t channels = x->shape[1].value;
    shape.insert(shape.begin(), {channels, 1});
    const std::string weights =
        Constant(node.output(0) + "/shares", shape,
                 std::vector<float>(channels * size, 1.0f / static_cast<float>(size)));
    Replace(node, "Conv", {node.input(0), weights});
    AddWindow(node, window);
    AddInt(node, "group", channels);
    return true;
  }

  bool ReplaceMaxPool(onnx::NodeProto& node) {
    const TensorInfo *x = Image(node.input(0)), *y = Image(node.output(0));
    if (!IsPlainPool(node, x, y)) return false;
    const Window window = WindowOf(node, *x);
    const std::vector<int64_t> kernel = IntsAttribute(node, "kernel_shape", {});
    Replace(node, "MaxPool", {node.input(0)});
    AddWindow(node, window);
    AddInts(node, "kernel", kernel);
    return true;
  }

  bool ReplaceByGroupNorm(onnx::NodeProto& node, const std::vector<std::string>& inputs, int64_t groups,
                          float epsilon) {
    Replace(node, "GroupNorm", inputs);
    AddInt(node, "groups", groups);
    AddFloat(node, "epsilon", epsilon);
    return true;
  }

  bool ReplaceInstanceNormalization(onnx::NodeProto& node) {
    if (ReplaceGroups(node)) return true;
    const TensorInfo* x = Image(node.input(0));
    if (!x || !FloatTensor(node.input(1), 1) || !FloatTensor(node.input(2), 1)) return false;
    return ReplaceByGroupNorm(node, {node.input().begin(), node.input().end()}, x->shape[1].value,
                              FloatAttribute(node, "epsilon", 1e-5f));
  }

  // Since opset 21 scale and bias are per channel.
  bool ReplaceGroupNormalization(onnx::NodeProto& node) {
    const TensorInfo *x = Image(node.input(0)), *scale = FloatTensor(node.input(1), 1);
    const int64_t groups = IntAttribute(node, "num_groups", 1);
    if (!x || !scale || scale->shape[0].value != x->shape[1].value || !FloatTensor(node.input(2), 1))
      return false;
    return ReplaceByGroupNorm(node, {node.input().begin(), node.input().end()}, groups,
                              FloatAttribute(node, "epsilon", 1e-5f));
  }

  bool IsFilledWith(const std::string& tensor, float value) const {
    const onnx::TensorProto* initialiser = Initialiser(tensor);
    if (!initialiser || initialiser->data_type() != onnx::TensorProto::FLOAT) return false;
    return std::ranges::all_of(onnx::ParseData<float>(initialiser), [=](float one) { return one == value; });
  }

  // How exporters write a normalisation of groups: Reshape to [n, groups, -1], InstanceNormalization with
  // scales of 1 and biases of 0, Reshape back, Mul and Add for each channel.
  bool ReplaceGroups(onnx::NodeProto& norm) {
    const onnx::NodeProto* grouping = Producer(norm.input(0), "Reshape");
    const TensorInfo *x = grouping ? Image(grouping->input(0)) : nullptr,
                     *grouped = FloatTensor(norm.input(0), 3);
    onnx::NodeProto* back = x && grouped ? OnlyReader(norm.output(0), "Reshape") : nullptr;
    if (!back || !IsFilledWith(norm.input(1), 1) || !IsFilledWith(norm.input(2), 0)) return false;
    const TensorInfo* y = Image(back->output(0));
    const int64_t groups = grouped->shape[1].value, channels = x->shape[1].value;
    if (!y || y->rank() != x->rank() || y->shape[1].value != channels ||
        SpatialExtents(*y) != SpatialExtents(*x) || groups < 1 || channels % groups != 0)
      return false;
    std::vector<std::string> inputs = {grouping->input(0)};
    const float epsilon = FloatAttribute(norm, "epsilon", 1e-5f);
    onnx::NodeProto* scaled = OnlyReader(back->output(0), "Mul");
    onnx::NodeProto* last = scaled ? OnlyReader(scaled->output(0), "Add") : nullptr;
    const std::string scale = last ? PerChannel(*scaled, back->output(0), *x) : "";
    const std::string bias = last ? PerChannel(*last, scaled->output(0), *x) : "";
    if (scale.empty() || bias.empty()) return ReplaceByGroupNorm(*back, inputs, groups, epsilon);
    inputs.push_back(Flat(scale));
    inputs.push_back(Flat(bias));
    return ReplaceByGroupNorm(*last, inputs, groups, epsilon);
  }

  // The other operand of a node, if it is one number a channel that is there before all nodes.
  std::string PerChannel(const onnx::NodeProto& node, const std::string& operand, const TensorInfo& x) const {
    const std::string other = node.input(node.input(0) == operand ? 1 : 0);
    return Initialiser(other) && IsVectorAlong(other, x.shape[1].value, x.rank() - 2) ? other : "";
  }

  std::string Flat(const std::string& tensor) {
    const std::string shape = names_.Fresh(tensor + "/flat_shape");
    onnx::NodeProto& constant = Prepend("Constant", {}, shape);
    AddInts(constant, "value_ints", {-1});
    const std::string flat = names_.Fresh(tensor + "/flat");
    Prepend("Reshape", {tensor, shape}, flat);
    return flat;
  }

  std::string Constant(const std::string& stem, const std::vector<int64_t>& shape,
                       const std::vector<float>& values) {
    const std::string name = names_.Fresh(stem);
    onnx::NodeProto& constant = Prepend("Constant", {}, name);
    onnx::AttributeProto& attribute = *constant.add_attribute();
    attribute.set_name("value");
    attribute.set_type(onnx::AttributeProto::TENSOR);
    onnx::TensorProto& tensor = *attribute.mutable_t();
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    for (const int64_t extent : shape) tensor.add_dims(extent);
    tensor.mutable_float_data()->Add(values.begin(), values.end());
    return name;
  }
};

}  // namespace

bool UseImageKernels(onnx::ModelProto& model, const TensorInfos& infos) {
  return ImageRewriter(model, infos).Run();
}

}  // namespace ort_ed
