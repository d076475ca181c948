#include "trainer/check/rewrite_for_double.h"

#include <array>
#include <numbers>

#include "trainer/autodiff/grad_context.h"
#include "trainer/autodiff/window_geometry.h"

namespace ort_ed {
namespace {

Value IsPositive(const Value& x) { return Op("Greater", {x, x.graph->Scalar(0)}); }
Value Where(const Value& condition, const Value& yes, const Value& no) {
  return Op("Where", {condition, yes, no});
}
Value Abs(const Value& x) { return Op("Abs", {x}); }
Value Limited(const Value& x) { return Op("Clip", {x, x.graph->Scalar(0), x.graph->Scalar(1)}); }

Value Softplus(const GradContext& node) {
  const Value x = node.Input(0);
  return Op("Relu", {x}) + Log(1 + Exp(-Abs(x)));
}

Value Softsign(const GradContext& node) { return node.Input(0) / (1 + Abs(node.Input(0))); }

Value Elu(const GradContext& node) {
  const Value x = node.Input(0);
  return Where(IsPositive(x), x, node.Float("alpha", 1) * (Exp(x) - 1));
}

Value Celu(const GradContext& node) {
  const Value x = node.Input(0);
  const float alpha = node.Float("alpha", 1);
  return Where(IsPositive(x), x, alpha * (Exp(x / alpha) - 1));
}

Value Selu(const GradContext& node) {
  const Value x = node.Input(0);
  const float alpha = node.Float("alpha", 1.67326319217681884765625f);
  const float gamma = node.Float("gamma", 1.05070102214813232421875f);
  return gamma * Where(IsPositive(x), x, alpha * (Exp(x) - 1));
}

Value HardSigmoid(const GradContext& node) {
  return Limited(node.Input(0) * node.Float("alpha", 0.2f) + node.Float("beta", 0.5f));
}

Value HardSwish(const GradContext& node) {
  const Value x = node.Input(0);
  return x * Limited(x / 6 + 0.5f);
}

Value ThresholdedRelu(const GradContext& node) {
  const Value x = node.Input(0);
  const Value above = Op("Greater", {x, node.graph().Scalar(node.Float("alpha", 1))});
  return Where(above, x, node.graph().Scalar(0));
}

// erfc as in Numerical Recipes (W. H. Press et al., section 6.2): smooth, relative error below 1.2e-7.
Value ErrorFunction(const Value& x) {
  constexpr std::array kCoefficients = {0.17087277f,  -0.82215223f, 1.48851587f, -1.13520398f, 0.27886807f,
                                        -0.18628806f, 0.09678418f,  0.37409196f, 1.00002368f,  -1.26551223f};
  const Value t = 1 / (1 + 0.5f * Abs(x));
  Value polynomial = t * kCoefficients[0];
  for (size_t i = 1; i + 1 < kCoefficients.size(); ++i) polynomial = t * (polynomial + kCoefficients[i]);
  const Value complement = t * Exp(polynomial + kCoefficients.back() - x * x);
  return Op("Sign", {x}) * (1 - complement);
}

Value Erf(const GradContext& node) { return ErrorFunction(node.Input(0)); }

Value Gelu(const GradContext& node) {
  const Value x = node.Input(0);
  if (node.String("approximate", "none") != "none") {
    return Op("Gelu", {x}, {{"approximate", node.String("approximate", "none")}});
  }
  return 0.5f * x * (1 + ErrorFunction(x * static_cast<float>(std::numbers::sqrt2 / 2)));
}

Value Mean(const GradContext& node) {
  std::vector<Value> inputs;
  for (int i = 0; i < node.InputCount(); ++i) inputs.push_back(node.Input(i));
  return node.graph().Node("Sum", inputs) / static_cast<float>(inputs.size());
}

Value GlobalAveragePool(const GradContext& node) {
  return Reduce("ReduceMean", node.Input(0), SpatialAxes(node.Rank(0) - 2, 2), true);
}

Value GlobalMaxPool(const GradContext& node) {
  return Reduce("ReduceMax", node.Input(0), SpatialAxes(node.Rank(0) - 2, 2), true);
}

Value InstanceNormalization(const GradContext& node) {
  const std::vector<int64_t> axes = SpatialAxes(node.Rank(0) - 2, 2);
  const auto per_channel = [&](int i) { return Unsqueeze(node.Input(i), SpatialAxes(node.Rank(0) - 2, 1)); };
  const Value centred = node.Input(0) - Reduce("ReduceMean", node.Input(0), axes, true);
  const Value variance = Reduce("ReduceMean", centred * centred, axes, true);
  return centred / Sqrt(variance + node.Float("epsilon", 1e-5f)) * per_channel(1) + per_channel(2);
}

Value AveragePool(const GradContext& node) {
  const WindowGeometry window =
      ReadWindowGeometry(node, node.InputInfo(0), node.OutputInfo(), node.Ints("kernel_shape"));
  // Windows that ceil_mode lets reach beyond the padding see zeros there.
  WindowGeometry reached = window;
  for (int64_t i = 0; i < window.axes(); ++i) {
    const int64_t last = (window.map[i] - 1) * window.stride[i] + window.span(i);
    reached.pad_end[i] = std::max(window.pad_end[i], last - window.pad_begin[i] - window.image[i]);
  }
  const Value padded = Padded(node.Input(0), reached);
  std::vector<Value> seen;
  for (const auto& position : window.KernelPositions()) seen.push_back(SeenBy(position, padded, window, 2));
  const auto counts = WindowCounts(window, node.Int("count_include_pad", 0) != 0);
  return node.graph().Node("Sum", seen) / node.graph().Constant(window.map, counts);
}

// The sum over kernel positions of [out, in] x [batch, in, positions].
Value Conv(const GradContext& node) {
  const auto shape = StaticExtents(node.InputInfo(1), 0);
  if (!shape) node.Fail("the shape of its weights must be fixed numbers");
  const std::vector<int64_t> kernel(shape->begin() + 2, shape->end());
  const WindowGeometry window = ReadWindowGeometry(node, node.InputInfo(0), node.OutputInfo(), kernel);
  const int64_t group = node.Int("group", 1), out = (*shape)[0], in = (*shape)[1];
  const Value padded = Padded(node.Input(0), window);
  const Value weights = Reshape(node.Input(1), {{group, out / group, in, window.kernel_size()}});
  std::vector<Value> products;
  for (const auto& position : window.KernelPositions()) {
    const auto index = static_cast<int64_t>(products.size());
    const Value matrix = Op("Gather", {weights, node.graph().IntScalar(index)}, {{"axis", int64_t{3}}});
    const Value seen = Reshape(SeenBy(position, padded, window, 2), {{0, group, in, window.map_size()}});
    products.push_back(MatMul(matrix, seen));
  }
  std::vector<int64_t> result = {0, out};
  result.insert(result.end(), window.map.begin(), window.map.end());
  const Value sum = Reshape(node.graph().Node("Sum", products), result);
  return node.HasInput(2) ? sum + Unsqueeze(node.Input(2), SpatialAxes(window.axes(), 1)) : sum;
}

struct DoubleForm {
  const char* op;
  Value (*emit)(const GradContext& node);
};

constexpr std::array kForms = {
    DoubleForm{"Softplus", Softplus},
    DoubleForm{"Softsign", Softsign},
    DoubleForm{"Elu", Elu},
    DoubleForm{"Celu", Celu},
    DoubleForm{"Selu", Selu},
    DoubleForm{"HardSigmoid", HardSigmoid},
    DoubleForm{"HardSwish", HardSwish},
    DoubleForm{"ThresholdedRelu", ThresholdedRelu},
    DoubleForm{"Erf", Erf},
    DoubleForm{"Gelu", Gelu},
    DoubleForm{"Mean", Mean},
    DoubleForm{"GlobalAveragePool", GlobalAveragePool},
    DoubleForm{"GlobalMaxPool", GlobalMaxPool},
    DoubleForm{"InstanceNormalization", InstanceNormalization},
    DoubleForm{"AveragePool", AveragePool},
    DoubleForm{"Conv", Conv},
};

const DoubleForm* FindForm(const onnx::NodeProto& node) {
  for (const DoubleForm& form : kForms) {
    if (node.domain().empty() && node.op_type() == form.op) return &form;
  }
  return nullptr;
}

}  // namespace

void UseDoubleForms(onnx::ModelProto& model) {
  google::protobuf::RepeatedPtrField<onnx::NodeProto> before;
  GraphBuilder builder(model, "double/");
  const std::string output = model.graph().output(0).name();
  GradState state{.builder = builder, .infos = InferShapes(model, output)};
  before.Swap(builder.graph().mutable_node());
  for (const onnx::NodeProto& node : before) {
    if (const DoubleForm* form = FindForm(node)) {
      const Value result = form->emit(GradContext(state, node));
      onnx::NodeProto& identity = *builder.graph().add_node();
      identity.set_op_type("Identity");
      identity.add_input(result.name);
      identity.add_output(node.output(0));
    } else {
      *builder.graph().add_node() = node;
    }
  }
}

}  // namespace ort_ed
