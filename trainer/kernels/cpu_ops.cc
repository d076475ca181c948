#include "trainer/kernels/cpu_ops.h"

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "trainer/kernels/conv2d.h"
#include "trainer/kernels/dense.h"
#include "trainer/kernels/swish.h"

namespace ort_ed {
namespace {

using Dims = std::vector<int64_t>;
using SymbolicShape = Ort::ShapeInferContext::Shape;

// Shape inference of one node.
class ShapeInference : public Ort::ShapeInferContext {
 public:
  explicit ShapeInference(OrtShapeInferContext* context)
      : Ort::ShapeInferContext(&Ort::GetApi(), context), context_(context) {}

  // In place of the headers' SetOutputShape(), which writes -2 for a symbol where newer libraries want -1.
  void Set(size_t output, const SymbolicShape& shape) {
    Dims extents;
    std::vector<std::string> symbols;
    for (const auto& extent : shape) {
      extents.push_back(extent.IsInt() ? extent.AsInt() : -1);
      symbols.push_back(!extent.IsInt() ? extent.AsSym() : extent.AsInt() < 0 ? FreshSymbol() : "");
    }
    std::vector<const char*> symbol_pointers;
    for (const std::string& symbol : symbols) symbol_pointers.push_back(symbol.c_str());
    const OrtApi& api = Ort::GetApi();
    OrtTensorTypeAndShapeInfo* raw = nullptr;
    Ort::ThrowOnError(api.CreateTensorTypeAndShapeInfo(&raw));
    const Ort::TensorTypeAndShapeInfo info(raw);
    Ort::ThrowOnError(api.SetTensorElementType(raw, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT));
    Ort::ThrowOnError(api.SetDimensions(raw, extents.data(), extents.size()));
    Ort::ThrowOnError(api.SetSymbolicDimensions(raw, symbol_pointers.data(), symbols.size()));
    Ort::ThrowOnError(api.ShapeInferContext_SetOutputTypeShape(context_, output, raw));
  }

  // An empty shape may as well be an unknown one: nothing is said then.
  void Copy(size_t input, size_t output) {
    if (!GetInputShape(input).empty()) Set(output, GetInputShape(input));
  }

 private:
  // ONNX Runtime takes an unknown extent only by name, and equal names for equal extents.
  static std::string FreshSymbol() {
    static std::atomic<int> number{0};
    return "ort_ed_unknown_" + std::to_string(number++);
  }

  OrtShapeInferContext* context_;
};

// A node's inputs and outputs while it computes.
class Call {
 public:
  explicit Call(OrtKernelContext* context)
      : context_(context),
        parallel_for_([this](size_t count, const std::function<void(size_t)>& task) { Run(count, task); }) {}

  KernelContext kernels() const { return {BestSimdKernels(), parallel_for_}; }

  Dims Shape(size_t i) const { return context_.GetInput(i).GetTensorTypeAndShapeInfo().GetShape(); }
  size_t Count(size_t i) const { return context_.GetInput(i).GetTensorTypeAndShapeInfo().GetElementCount(); }
  const float* In(size_t i) const { return context_.GetInput(i).GetTensorData<float>(); }
  const float* OptionalIn(size_t i) const {
    return i < context_.GetInputCount() && context_.GetInput(i) ? In(i) : nullptr;
  }
  float* Out(size_t i, const Dims& shape) {
    return context_.GetOutput(i, shape).GetTensorMutableData<float>();
  }
  float* OptionalOut(size_t i, const Dims& shape) {
    return i < context_.GetOutputCount() ? Out(i, shape) : nullptr;
  }

 private:
  void Run(size_t count, const std::function<void(size_t)>& task) const {
    if (count == 1) return task(0);
    context_.ParallelFor(
        [](void* data, size_t i) { (*static_cast<const std::function<void(size_t)>*>(data))(i); }, count, 0,
        const_cast<std::function<void(size_t)>*>(&task));
  }

  Ort::KernelContext context_;
  ParallelFor parallel_for_;
};

void Require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}

// The slope of Swish: input i, or 1.
float Slope(const Call& call, size_t i) {
  const float* slope = call.OptionalIn(i);
  if (!slope) return 1;
  Require(call.Count(i) == 1, "the slope must have one element");
  return *slope;
}

struct SwishOp {
  static constexpr char kName[] = "Swish";
  static constexpr size_t kInputs = 2, kOutputs = 1, kOptionalInputs = 1, kOptionalOutputs = 0;

  explicit SwishOp(const Ort::ConstKernelInfo&) {}
  void Compute(Call& call) const {
    Swish(call.kernels(), call.Count(0), Slope(call, 1), call.In(0), call.Out(0, call.Shape(0)));
  }
  static void InferShapes(ShapeInference& context) { context.Copy(0, 0); }
};

struct SwishGradOp {
  static constexpr char kName[] = "SwishGrad";
  static constexpr size_t kInputs = 3, kOutputs = 2, kOptionalInputs = 1, kOptionalOutputs = 1;

  explicit SwishGradOp(const Ort::ConstKernelInfo&) {}
  void Compute(Call& call) const {
    Require(call.Count(0) == call.Count(1), "x and dy must have the same shape");
    const float dbeta = SwishGrad(call.kernels(), call.Count(0), Slope(call, 2), call.In(0), call.In(1),
                                  call.Out(0, call.Shape(0)));
    if (call.OptionalIn(2)) {
      if (float* out = call.OptionalOut(1, call.Shape(2))) *out = dbeta;
    }
  }
  static void InferShapes(ShapeInference& context) {
    context.Copy(0, 0);
    if (context.GetInputCount() > 2) context.Copy(2, 1);
  }
};

// w is [in, out], or [out, in] with the attribute trans_w.
struct DenseAttributes {
  explicit DenseAttributes(const Ort::ConstKernelInfo& info)
      : transposed(info.GetAttribute<int64_t>("trans_w") != 0) {}
  explicit DenseAttributes(ShapeInference& context) : transposed(context.GetAttrInt("trans_w") != 0) {}

  template <typename Shape>
  auto In(const Shape& w) const {
    return w[transposed ? 1 : 0];
  }
  template <typename Shape>
  auto Out(const Shape& w) const {
    return w[transposed ? 0 : 1];
  }
  DenseShape MakeShape(int64_t rows, int64_t in, int64_t out) const {
    return {static_cast<size_t>(rows), static_cast<size_t>(in), static_cast<size_t>(out), transposed};
  }

  bool transposed;
};

struct DenseOp {
  static constexpr char kName[] = "Dense";
  static constexpr size_t kInputs = 3, kOutputs = 1, kOptionalInputs = 1, kOptionalOutputs = 0;

  explicit DenseOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const Dims x = call.Shape(0), w = call.Shape(1);
    Require(x.size() == 2 && w.size() == 2 && x[1] == attributes.In(w), "x must be [rows, in], w [in, out]");
    const DenseShape shape = attributes.MakeShape(x[0], x[1], attributes.Out(w));
    const float* bias = call.OptionalIn(2);
    Require(!bias || call.Count(2) == shape.out, "the bias must have one element an output");
    Dense(call.kernels(), shape, call.In(0), call.In(1), bias, call.Out(0, {x[0], attributes.Out(w)}));
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape &x = context.GetInputShape(0), &w = context.GetInputShape(1);
    if (x.size() == 2 && w.size() == 2) context.Set(0, {x[0], DenseAttributes(context).Out(w)});
  }
  DenseAttributes attributes;
};

struct DenseInputGradOp {
  static constexpr char kName[] = "DenseInputGrad";
  static constexpr size_t kInputs = 2, kOutputs = 1, kOptionalInputs = 0, kOptionalOutputs = 0;

  explicit DenseInputGradOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const Dims dy = call.Shape(0), w = call.Shape(1);
    Require(dy.size() == 2 && w.size() == 2 && dy[1] == attributes.Out(w),
            "dy must be [rows, out], w [in, out]");
    DenseInputGrad(call.kernels(), attributes.MakeShape(dy[0], attributes.In(w), dy[1]), call.In(0),
                   call.In(1), call.Out(0, {dy[0], attributes.In(w)}));
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape &dy = context.GetInputShape(0), &w = context.GetInputShape(1);
    if (dy.size() == 2 && w.size() == 2) context.Set(0, {dy[0], DenseAttributes(context).In(w)});
  }
  DenseAttributes attributes;
};

struct DenseWeightGradOp {
  static constexpr char kName[] = "DenseWeightGrad";
  static constexpr size_t kInputs = 2, kOutputs = 2, kOptionalInputs = 0, kOptionalOutputs = 1;

  explicit DenseWeightGradOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const Dims x = call.Shape(0), dy = call.Shape(1);
    Require(x.size() == 2 && dy.size() == 2 && x[0] == dy[0], "x must be [rows, in], dy [rows, out]");
    const Dims dw = attributes.transposed ? Dims{dy[1], x[1]} : Dims{x[1], dy[1]};
    DenseWeightGrad(call.kernels(), attributes.MakeShape(x[0], x[1], dy[1]), call.In(0), call.In(1),
                    call.Out(0, dw), call.OptionalOut(1, {dy[1]}));
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape &x = context.GetInputShape(0), &dy = context.GetInputShape(1);
    if (x.size() != 2 || dy.size() != 2) return;
    const bool transposed = DenseAttributes(context).transposed;
    context.Set(0, transposed ? SymbolicShape{dy[1], x[1]} : SymbolicShape{x[1], dy[1]});
    context.Set(1, {dy[1]});
  }
  DenseAttributes attributes;
};

struct ConvAttributes {
  explicit ConvAttributes(const Ort::ConstKernelInfo& info)
      : ConvAttributes(info.GetAttributes<int64_t>("strides"), info.GetAttributes<int64_t>("pads"),
                       info.GetAttributes<int64_t>("dilations")) {}
  explicit ConvAttributes(ShapeInference& context)
      : ConvAttributes(context.GetAttrInts("strides"), context.GetAttrInts("pads"),
                       context.GetAttrInts("dilations")) {}

  // Extent of the output along an axis (0: y, 1: x).
  int64_t OutExtent(size_t axis, int64_t in, int64_t kernel) const {
    return (in + pads[axis] + pads[axis + 2] - dilations[axis] * (kernel - 1) - 1) / strides[axis] + 1;
  }

  Conv2dShape MakeShape(const Dims& x, const Dims& w) const {
    Require(x.size() == 4 && w.size() == 4 && x[1] == w[1], "Conv needs x [n, c, h, w] and w [o, c, kh, kw]");
    const auto size = [](int64_t extent) { return static_cast<size_t>(extent); };
    const int64_t out_height = OutExtent(0, x[2], w[2]), out_width = OutExtent(1, x[3], w[3]);
    Require(out_height > 0 && out_width > 0, "the kernel of Conv is larger than the padded image");
    return {size(x[0]),       size(x[1]),         size(x[2]),         size(x[3]),    size(w[0]),
            size(out_height), size(out_width),    size(w[2]),         size(w[3]),    size(strides[0]),
            size(strides[1]), size(dilations[0]), size(dilations[1]), size(pads[0]), size(pads[1])};
  }

  Dims strides, pads, dilations;

 private:
  ConvAttributes(Dims s, Dims p, Dims d)
      : strides(std::move(s)), pads(std::move(p)), dilations(std::move(d)) {
    Require(strides.size() == 2 && pads.size() == 4 && dilations.size() == 2, "Conv is two-dimensional");
  }
};

struct ConvOp {
  static constexpr char kName[] = "Conv";
  static constexpr size_t kInputs = 3, kOutputs = 1, kOptionalInputs = 1, kOptionalOutputs = 0;

  explicit ConvOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const Dims x = call.Shape(0), w = call.Shape(1);
    const Conv2dShape s = attributes.MakeShape(x, w);
    const float* bias = call.OptionalIn(2);
    Require(!bias || call.Count(2) == s.out_channels, "the bias of Conv must have one element an output");
    const Dims y = {x[0], w[0], static_cast<int64_t>(s.out_height), static_cast<int64_t>(s.out_width)};
    Conv2d(call.kernels(), s, call.In(0), call.In(1), bias, call.Out(0, y));
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape &x = context.GetInputShape(0), &w = context.GetInputShape(1);
    if (x.size() != 4 || w.size() != 4) return;
    const ConvAttributes attributes(context);
    SymbolicShape y = {x[0], w[0]};
    for (size_t axis = 0; axis < 2; ++axis) {
      if (!x[2 + axis].IsInt() || !w[2 + axis].IsInt()) return;
      y.emplace_back(attributes.OutExtent(axis, x[2 + axis].AsInt(), w[2 + axis].AsInt()));
    }
    context.Set(0, y);
  }
  ConvAttributes attributes;
};

struct ConvInputGradOp {
  static constexpr char kName[] = "ConvInputGrad";
  static constexpr size_t kInputs = 3, kOutputs = 1, kOptionalInputs = 0, kOptionalOutputs = 0;

  explicit ConvInputGradOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const Dims x = call.Shape(2);
    Conv2dInputGrad(call.kernels(), attributes.MakeShape(x, call.Shape(1)), call.In(0), call.In(1),
                    call.Out(0, x));
  }
  static void InferShapes(ShapeInference& context) { context.Copy(2, 0); }
  ConvAttributes attributes;
};

struct ConvWeightGradOp {
  static constexpr char kName[] = "ConvWeightGrad";
  static constexpr size_t kInputs = 3, kOutputs = 2, kOptionalInputs = 0, kOptionalOutputs = 1;

  explicit ConvWeightGradOp(const Ort::ConstKernelInfo& info) : attributes(info) {}
  void Compute(Call& call) const {
    const Dims w = call.Shape(2);
    Conv2dWeightGrad(call.kernels(), attributes.MakeShape(call.Shape(0), w), call.In(0), call.In(1),
                     call.Out(0, w), call.OptionalOut(1, {w[0]}));
  }
  static void InferShapes(ShapeInference& context) {
    const SymbolicShape& w = context.GetInputShape(2);
    context.Copy(2, 0);
    if (w.size() == 4) context.Set(1, {w[0]});
  }
  ConvAttributes attributes;
};

// Runs `body`; an exception becomes ONNX Runtime's status.
template <typename Body>
OrtStatusPtr Guarded(const char* op, Body body) {
  try {
    body();
    return nullptr;
  } catch (const std::exception& exception) {
    return Ort::Status((std::string(op) + ": " + exception.what()).c_str(), ORT_FAIL).release();
  }
}

template <typename Op>
struct OpState {
  explicit OpState(const OrtKernelInfo* info) : op(Ort::ConstKernelInfo(info)) {}
  OrtStatusPtr ComputeV2(OrtKernelContext* context) {
    return Guarded(Op::kName, [&] {
      Call call(context);
      op.Compute(call);
    });
  }
  Op op;
};

template <typename Op>
struct Registered : Ort::CustomOpBase<Registered<Op>, OpState<Op>, true> {
  Registered() {
    this->InferOutputShapeFn = [](const OrtCustomOp*, OrtShapeInferContext* context) {
      return Guarded(Op::kName, [&] {
        ShapeInference inference(context);
        Op::InferShapes(inference);
      });
    };
  }
  OrtStatusPtr CreateKernelV2(const OrtApi&, const OrtKernelInfo* info, void** kernel) const {
    return Guarded(Op::kName, [&] { *kernel = new OpState<Op>(info); });
  }
  const char* GetName() const { return Op::kName; }
  const char* GetExecutionProviderType() const { return "CPUExecutionProvider"; }
  size_t GetInputTypeCount() const { return Op::kInputs; }
  size_t GetOutputTypeCount() const { return Op::kOutputs; }
  ONNXTensorElementDataType GetInputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
  ONNXTensorElementDataType GetOutputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
  OrtCustomOpInputOutputCharacteristic GetInputCharacteristic(size_t i) const {
    return i + Op::kOptionalInputs < Op::kInputs ? INPUT_OUTPUT_REQUIRED : INPUT_OUTPUT_OPTIONAL;
  }
  OrtCustomOpInputOutputCharacteristic GetOutputCharacteristic(size_t i) const {
    return i + Op::kOptionalOutputs < Op::kOutputs ? INPUT_OUTPUT_REQUIRED : INPUT_OUTPUT_OPTIONAL;
  }
};

template <typename... Ops>
Ort::CustomOpDomain MakeDomain() {
  static const std::tuple<Registered<Ops>...> ops;
  Ort::CustomOpDomain domain(kCpuKernelDomain);
  std::apply([&](const auto&... op) { (domain.Add(&op), ...); }, ops);
  return domain;
}

}  // namespace

void RegisterCpuKernels(Ort::SessionOptions& options) {
  static const Ort::CustomOpDomain domain =
      MakeDomain<SwishOp, SwishGradOp, DenseOp, DenseInputGradOp, DenseWeightGradOp, ConvOp, ConvInputGradOp,
                 ConvWeightGradOp>();
  options.Add(domain);
}

}  // namespace ort_ed
