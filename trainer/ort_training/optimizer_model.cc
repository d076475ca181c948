#include "trainer/ort_training/optimizer_model.h"

#include <string>
#include <vector>

#include "models/graph/graph_builder.h"
#include "ort_ed/error.h"

namespace ort_ed {
namespace {

constexpr char kMicrosoft[] = "com.microsoft";

[[noreturn]] void Refuse(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "ONNX Runtime's training has no " + what);
}

void RequireKnown(const LearnerOptions& options) {
  const OptimizerOptions& optimizer = options.optimizer;
  const PenaltyOptions& penalties = options.penalties;
  if (penalties.l1 > 0) Refuse("l1 penalty");
  if (penalties.weight_decay > 0 && optimizer.optimizer != OptimizerKind::kAdamW)
    Refuse("weight decay but that of `optimizer` adamw");
  if (penalties.weight_decay > 0 && penalties.weight_decay_parameters != std::vector<std::string>{"*"})
    Refuse("weight decay of some parameters only");
  if (optimizer.optimizer == OptimizerKind::kSgd && optimizer.momentum > 0)
    Refuse("momentum for `optimizer` sgd");
}

// Sequences of tensors: one tensor a parameter.
void AddSequence(onnx::GraphProto& graph, const std::string& name) {
  onnx::ValueInfoProto& input = *graph.add_input();
  input.set_name(name);
  input.mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(
      onnx::TensorProto::FLOAT);
}

class OptimizerModel {
 public:
  explicit OptimizerModel(const LearnerOptions& options) : options_(options), builder_(MakeBuilder()) {}

  // Names and order of inputs are ONNX Runtime's: by them it knows which optimiser it is.
  onnx::ModelProto Make() {
    const bool is_adam = options_.optimizer.optimizer != OptimizerKind::kSgd;
    builder_.Input("learning_rate", std::vector<int64_t>{1});
    builder_.Input("step", std::vector<int64_t>{1}, onnx::TensorProto::INT64);
    for (const char* name : {"params", "gradients", "first_order_moments"})
      AddSequence(builder_.graph(), name);
    if (is_adam) AddSequence(builder_.graph(), "second_order_moments");
    const Value done = is_adam ? Adam(Gradients()) : Descent(Gradients());
    builder_.Output(builder_.Named(done, "ort_ed.updated"), std::vector<int64_t>{1}, onnx::TensorProto::BOOL);
    return std::move(model_);
  }

 private:
  GraphBuilder MakeBuilder() {
    model_.mutable_graph()->set_name("optimizer");
    model_.add_opset_import()->set_version(GraphBuilder::kOpset);
    onnx::OperatorSetIdProto& opset = *model_.add_opset_import();
    opset.set_domain(kMicrosoft);
    opset.set_version(1);
    return GraphBuilder(model_);
  }

  Value Microsoft(const char* op, const std::vector<Value>& inputs, const Attributes& attributes) {
    return builder_.NodeWithOutputs(op, inputs, 1, attributes, kMicrosoft).front();
  }

  Value Gradients() {
    const Value gradients = builder_.Existing("gradients");
    if (options_.optimizer.clip == 0) return gradients;
    return Microsoft("InplaceClipGradNorm", {gradients},
                     {{"max_norm", static_cast<float>(options_.optimizer.clip)}});
  }

  Value Adam(const Value& gradients) {
    const OptimizerOptions& o = options_.optimizer;
    const Attributes attributes = {{"adam_mode", int64_t{0}},  // PyTorch's, which is ours
                                   {"correct_bias", int64_t{1}},
                                   {"alpha", static_cast<float>(o.beta1)},
                                   {"beta", static_cast<float>(o.beta2)},
                                   {"epsilon", static_cast<float>(o.adam_epsilon)},
                                   {"weight_decay", static_cast<float>(options_.penalties.weight_decay)}};
    return Microsoft(
        "AdamWOptimizer",
        {builder_.Existing("learning_rate"), builder_.Existing("step"), builder_.Existing("params"),
         gradients, builder_.Existing("first_order_moments"), builder_.Existing("second_order_moments")},
        attributes);
  }

  Value Descent(const Value& gradients) {
    return Microsoft("SGDOptimizerV2",
                     {builder_.Existing("learning_rate"), builder_.Existing("params"), gradients}, {});
  }

  const LearnerOptions& options_;
  onnx::ModelProto model_;
  GraphBuilder builder_;
};

}  // namespace

onnx::ModelProto MakeOptimizerModel(const LearnerOptions& options) {
  RequireKnown(options);
  return OptimizerModel(options).Make();
}

}  // namespace ort_ed
