#include "trainer/optimizer/optimizer.h"

#include <cmath>

#include <gtest/gtest.h>

#include "ort_ed/random.h"
#include "tests/trainer/autodiff/gradient_check.h"

namespace ort_ed {
namespace {

void SetControl(TestTensors& inputs, const StepControl& control) {
  inputs["learning_rate"] = {{1}, {control.learning_rate}};
  inputs["step_size"] = {{1}, {control.step_size}};
  inputs["epsilon"] = {{1}, {control.epsilon}};
  inputs["threshold"] = {{1}, {control.threshold}};
  inputs["average_weight"] = {{1}, {control.average}};
}

using Vector = std::vector<double>;

// The textbook forms, one element at a time, in double precision.
struct ReferenceOptimizer {
  OptimizerOptions options;
  PenaltyOptions penalties;
  Vector theta, m, v, average;
  double gradient_norm = 0;

  void Step(const Vector& loss_gradient, double lr, int t) {
    Vector g = loss_gradient;
    const bool subgradient = penalties.l1_form == L1Form::kSubgradient;
    for (size_t i = 0; i < g.size(); ++i) {
      if (subgradient) g[i] += penalties.l1 * ((theta[i] > 0) - (theta[i] < 0));
    }
    double squares = 0;
    for (double x : g) squares += x * x;
    gradient_norm = std::sqrt(squares);
    if (options.clip > 0 && gradient_norm > options.clip) {
      for (double& x : g) x *= options.clip / gradient_norm;
    }
    for (size_t i = 0; i < g.size(); ++i) Update(i, g[i], lr, t, subgradient ? 0 : penalties.l1);
  }

  void Update(size_t i, double g, double lr, int t, double l1) {
    double shrink = lr * l1;
    const double before = theta[i];
    if (options.optimizer != OptimizerKind::kAdamW) g += penalties.weight_decay * theta[i];
    if (options.optimizer == OptimizerKind::kSgd) {
      m[i] = options.momentum * m[i] + g;
      theta[i] -= lr * m[i];
      shrink /= 1 - options.momentum;
    } else {
      m[i] = options.beta1 * m[i] + (1 - options.beta1) * g;
      v[i] = options.beta2 * v[i] + (1 - options.beta2) * g * g;
      const double m_hat = m[i] / (1 - std::pow(options.beta1, t));
      const double denominator = std::sqrt(v[i] / (1 - std::pow(options.beta2, t))) + options.adam_epsilon;
      theta[i] -= lr * m_hat / denominator;
      shrink /= denominator;
      if (options.optimizer == OptimizerKind::kAdamW) theta[i] -= lr * penalties.weight_decay * before;
    }
    theta[i] = std::copysign(std::max(std::abs(theta[i]) - shrink, 0.0), theta[i]);
    const double decay = std::min(options.ema, (1.0 + t) / (10.0 + t));
    average[i] = decay * average[i] + (1 - decay) * theta[i];
  }

  const Vector& StateOf(const std::string& kind) const {
    if (kind == "parameters") return theta;
    if (kind == "average") return average;
    return kind == "second_moment" ? v : m;
  }
};

// Optimisers without a limit and an average, where a test does not ask for them.
OptimizerOptions Plain(OptimizerKind kind) {
  OptimizerOptions options;
  options.optimizer = kind;
  options.clip = 0;
  options.ema = 0;
  return options;
}

onnx::ModelProto OptimizerModel(const OptimizerSetup& setup, int64_t size) {
  const auto& [options, penalties] = setup;
  onnx::ModelProto model;
  model.mutable_graph()->set_name("optimizer");
  GraphBuilder builder(model);
  const std::vector<int64_t> flat = {size}, one = {1};
  std::vector<Value> state;
  for (const std::string& kind : StateNames(options)) state.push_back(builder.Input(kind, flat));
  const Value gradient = builder.Input("gradient", flat);
  const ControlValues control = {builder.Input("learning_rate", one), builder.Input("step_size", one),
                                 builder.Input("epsilon", one), builder.Input("threshold", one),
                                 builder.Input("average_weight", one)};
  const PenaltyValues strengths = {builder.Scalar(static_cast<float>(penalties.weight_decay)),
                                   builder.Scalar(static_cast<float>(penalties.l1))};
  const OptimizerNodes nodes = EmitOptimizer(setup, state, gradient, control, strengths);
  for (size_t i = 0; i < state.size(); ++i) {
    builder.Output(builder.Named(nodes.next_state[i], "next_" + state[i].name), flat);
  }
  builder.Output(builder.Named(nodes.norms, "norms"), std::vector<int64_t>{2});
  return model;
}

struct OptimizerCase {
  const char* name;
  OptimizerOptions options;
  PenaltyOptions penalties;
};

std::vector<OptimizerCase> Cases() {
  const auto make = [](const char* name, OptimizerKind kind, auto change) {
    OptimizerCase test{name, Plain(kind), {}};
    change(test.options, test.penalties);
    return test;
  };
  using K = OptimizerKind;
  using O = OptimizerOptions;
  using P = PenaltyOptions;
  return {
      make("Adam", K::kAdam, [](O&, P&) {}),
      make("AdamOtherConstants", K::kAdam,
           [](O& o, P&) { o.beta1 = 0.5, o.beta2 = 0.9, o.adam_epsilon = 1e-2; }),
      make("AdamClipAverage", K::kAdam, [](O& o, P&) { o.clip = 2, o.ema = 0.9; }),
      make("AdamClipNotReached", K::kAdam, [](O& o, P&) { o.clip = 1000; }),
      make("AdamDecay", K::kAdam, [](O&, P& p) { p.weight_decay = 0.3; }),
      make("AdamW", K::kAdamW, [](O& o, P& p) { p.weight_decay = 0.3, o.clip = 3; }),
      make("AdamProximal", K::kAdam, [](O&, P& p) { p.l1 = 0.7; }),
      make("AdamWProximalAverage", K::kAdamW,
           [](O& o, P& p) { p.l1 = 0.5, p.weight_decay = 0.1, o.ema = 0.99; }),
      make("AdamSubgradient", K::kAdam,
           [](O& o, P& p) { p.l1 = 0.7, p.l1_form = L1Form::kSubgradient, o.clip = 2; }),
      make("Sgd", K::kSgd, [](O& o, P&) { o.momentum = 0; }),
      make("SgdMomentumDecayClip", K::kSgd,
           [](O& o, P& p) { p.weight_decay = 0.2, o.clip = 1, o.ema = 0.5; }),
      make("SgdProximal", K::kSgd, [](O& o, P& p) { p.l1 = 0.4, o.momentum = 0.5; }),
  };
}

class OptimizerTest : public testing::TestWithParam<OptimizerCase> {};

TEST_P(OptimizerTest, FollowsTheTextbookForSeveralSteps) {
  const OptimizerOptions& options = GetParam().options;
  const PenaltyOptions& penalties = GetParam().penalties;
  constexpr int kSize = 23, kSteps = 8;
  const TestSession session(OptimizerModel({options, penalties}, kSize));
  RandomStream random(3, 1, 0, 0);
  Vector start(kSize);
  for (double& x : start) x = static_cast<float>(2 * random.UniformDouble() - 1);
  ReferenceOptimizer reference{options, penalties, start, Vector(kSize), Vector(kSize), start};
  TestTensors state;
  for (const std::string& kind : StateNames(options)) state[kind] = {{kSize}, reference.StateOf(kind)};

  for (int t = 1; t <= kSteps; ++t) {
    const double lr = 0.1 / t;
    Vector gradient(kSize);
    for (double& x : gradient) x = static_cast<float>(2 * random.UniformDouble() - 1);
    reference.Step(gradient, lr, t);
    const StepControl control = MakeControl(options, lr, t);
    TestTensors inputs = state;
    inputs["gradient"] = {{kSize}, gradient};
    SetControl(inputs, control);
    const TestTensors outputs = session.Run(inputs);
    for (const std::string& kind : StateNames(options)) {
      state[kind] = outputs.at("next_" + kind);
      for (int i = 0; i < kSize; ++i) {
        EXPECT_NEAR(state[kind].values[i], reference.StateOf(kind)[i], 2e-5)
            << kind << "[" << i << "] step " << t;
      }
    }
    double squares = 0;
    for (double x : reference.theta) squares += x * x;
    EXPECT_NEAR(outputs.at("norms").values[0], reference.gradient_norm, 1e-5);
    EXPECT_NEAR(outputs.at("norms").values[1], std::sqrt(squares), 1e-5);
  }
  if (penalties.l1 > 0 && penalties.l1_form == L1Form::kProximal) {
    EXPECT_GT(std::ranges::count(state["parameters"].values, 0.0), 0) << "no exact zero";
  }
}

INSTANTIATE_TEST_SUITE_P(All, OptimizerTest, testing::ValuesIn(Cases()),
                         [](const auto& test) { return std::string(test.param.name); });

// The minimiser of 1/2 sum a_i (theta_i - b_i)^2 + l1 sum |theta_i| is known: soft thresholding of b at
// l1 / a. Every optimiser must stop there, not at that of a penalty scaled by its own step sizes.
TEST(Optimizer, L1HasTheStationaryPointsOfThePenalisedLoss) {
  const Vector a = {1, 4, 0.5, 2}, b = {1, -0.2, 0.3, 0.05};
  const double l1 = 0.3;
  for (OptimizerKind kind : {OptimizerKind::kAdam, OptimizerKind::kAdamW, OptimizerKind::kSgd}) {
    const OptimizerOptions options = Plain(kind);
    PenaltyOptions penalties;
    penalties.l1 = l1;
    const TestSession session(OptimizerModel({options, penalties}, 4));
    TestTensors state;
    for (const std::string& name : StateNames(options)) state[name] = {{4}, Vector(4)};
    state["parameters"].values = {0.5, 0.5, 0.5, 0.5};
    for (int t = 1; t <= 2000; ++t) {
      TestTensors inputs = state;
      Vector& gradient = inputs["gradient"].values;
      inputs["gradient"].shape = {4};
      for (size_t i = 0; i < 4; ++i) gradient.push_back(a[i] * (state["parameters"].values[i] - b[i]));
      const StepControl control = MakeControl(options, 0.02 / (1 + 0.01 * t), t);
      SetControl(inputs, control);
      const TestTensors outputs = session.Run(inputs);
      for (const std::string& name : StateNames(options)) state[name] = outputs.at("next_" + name);
    }
    for (size_t i = 0; i < 4; ++i) {
      const double expected = std::copysign(std::max(std::abs(b[i]) - l1 / a[i], 0.0), b[i]);
      EXPECT_NEAR(state["parameters"].values[i], expected, 2e-3)
          << "optimiser " << static_cast<int>(kind) << ", " << i;
    }
  }
}

}  // namespace
}  // namespace ort_ed
