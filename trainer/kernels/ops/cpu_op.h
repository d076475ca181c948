#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <onnxruntime_cxx_api.h>

#include "trainer/kernels/native/gemm.h"

namespace ort_ed {

// What an operator of cpu_ops.h is made of. An operator is a struct with
//   static constexpr char kName[];
//   static constexpr size_t kInputs, kOutputs, kOptionalInputs, kOptionalOutputs;  // optional ones come last
//   explicit Op(const Ort::ConstKernelInfo&);                                      // reads attributes
//   void Compute(Call&) const;                                                     // may throw
//   static void InferShapes(ShapeInference&);

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
        run_tasks_([this](size_t count, const std::function<void(size_t)>& task) { Run(count, task); }) {}

  KernelContext kernels() const { return {BestSimdKernels(), run_tasks_}; }

  size_t InputCount() const { return context_.GetInputCount(); }
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
    if (i >= context_.GetOutputCount()) return nullptr;
    auto output = context_.GetOutput(i, shape);
    return output ? output.GetTensorMutableData<float>() : nullptr;
  }

 private:
  // ONNX Runtime hands tasks to its threads and back in ways that a thread sanitizer cannot see: the two
  // numbers say once more that a task sees what was written before, and the caller what the tasks wrote.
  struct Tasks {
    const std::function<void(size_t)>& task;
    std::atomic<int> begun{0}, done{0};
    std::atomic<bool> failed{false};
    std::exception_ptr failure{};  // of the first task that failed: ONNX Runtime's threads catch nothing
  };

  void Run(size_t count, const std::function<void(size_t)>& task) const {
    if (count == 1) return task(0);
    Tasks tasks{task};
    tasks.begun.store(1, std::memory_order_release);
    context_.ParallelFor(RunTask, count, count, &tasks);
    tasks.done.load(std::memory_order_acquire);
    if (tasks.failure) std::rethrow_exception(tasks.failure);
  }
  static void RunTask(void* data, size_t i) {
    Tasks& tasks = *static_cast<Tasks*>(data);
    tasks.begun.load(std::memory_order_acquire);
    try {
      tasks.task(i);
    } catch (...) {
      if (!tasks.failed.exchange(true)) tasks.failure = std::current_exception();
    }
    tasks.done.fetch_add(1, std::memory_order_release);
  }

  Ort::KernelContext context_;
  TaskRunner run_tasks_;
};

inline void Require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}

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

}  // namespace ort_ed
