#include "trainer/optimizer/optimizer.h"

#include <algorithm>
#include <cmath>

namespace ort_ed {
namespace {

Value Norm(const Value& vector) {
  return Sqrt(Reduce("ReduceSumSquare", vector, std::vector<int64_t>{0}, true));
}

// a * x + b * y with constant a + b = 1.
Value Blend(double a, const Value& x, const Value& y) {
  return x * static_cast<float>(a) + y * static_cast<float>(1 - a);
}

constexpr float kClipEpsilon = 1e-6f;  // PyTorch's, so that results can be compared

// At most `limit` long.
Value Clip(const Value& gradient, const Value& norm, double limit) {
  GraphBuilder& graph = *gradient.graph;
  return gradient * Op("Min", {static_cast<float>(limit) / (norm + kClipEpsilon), graph.Scalar(1)});
}

Value SoftThreshold(const Value& x, const Value& threshold) {
  return Op("Sign", {x}) * Op("Relu", {Op("Abs", {x}) - threshold});
}

// Where a rule sends the parameters before the proximal step, and the metric it measures lengths in: the
// gradient is divided by `denominator`, so the penalty's threshold must be too, or the zeros of the whole
// would not be those of loss + l1 * |theta|.
struct Move {
  Value parameters;
  std::vector<Value> moments;
  Value denominator;  // NoValue: 1
};

Move AdamMove(const OptimizerOptions& options, const std::vector<Value>& state, const Value& gradient,
              const ControlValues& control) {
  const Value first = Blend(options.beta1, state[1], gradient);
  const Value second = Blend(options.beta2, state[2], gradient * gradient);
  const Value denominator = Sqrt(second) + control.epsilon;
  return {state[0] - first / denominator * control.step_size, {first, second}, denominator};
}

Move SgdMove(const OptimizerOptions& options, const std::vector<Value>& state, const Value& gradient,
             const ControlValues& control) {
  const Value velocity = state[1] * static_cast<float>(options.momentum) + gradient;
  return {state[0] - velocity * control.step_size, {velocity}, NoValue(gradient)};
}

// The average forgets faster in the first steps, so that a short run does not deploy its initial parameters.
double AverageWeight(const OptimizerOptions& options, double step) {
  return 1 - std::min(options.ema, (1 + step) / (10 + step));
}

}  // namespace

// Adam with bias correction, theta - lr * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon), written as
// theta - step_size * m / (sqrt(v) + epsilon'). A momentum of mu multiplies a constant gradient by 1 / (1 -
// mu).
StepControl MakeControl(const OptimizerOptions& options, double learning_rate, int64_t step) {
  const double t = static_cast<double>(step);
  const double average = AverageWeight(options, t);
  if (options.optimizer == OptimizerKind::kSgd) {
    return {learning_rate, learning_rate, 0, learning_rate / (1 - options.momentum), average};
  }
  const double correction1 = 1 - std::pow(options.beta1, t);
  const double correction2 = std::sqrt(1 - std::pow(options.beta2, t));
  return {learning_rate, learning_rate * correction2 / correction1, options.adam_epsilon * correction2,
          learning_rate * correction2, average};
}

Value EmitPenalisedGradient(const OptimizerSetup& setup, const Value& theta, const Value& gradient,
                            const PenaltyValues& strengths) {
  const bool subgradient = setup.penalties.l1 > 0 && setup.penalties.l1_form == L1Form::kSubgradient;
  return subgradient ? gradient + Op("Sign", {theta}) * strengths.l1 : gradient;
}

double ClipFactor(const OptimizerOptions& options, double norm) {
  return options.clip > 0 ? std::min(1.0, options.clip / (norm + kClipEpsilon)) : 1;
}

std::vector<Value> EmitUpdate(const OptimizerSetup& setup, const std::vector<Value>& state,
                              const Value& gradient, const ControlValues& control,
                              const PenaltyValues& strengths) {
  const auto& [options, penalties] = setup;
  const bool decoupled = options.optimizer == OptimizerKind::kAdamW;
  const Value& theta = state[0];
  const Value g =
      penalties.weight_decay > 0 && !decoupled ? gradient + theta * strengths.weight_decay : gradient;
  Move move = options.optimizer == OptimizerKind::kSgd ? SgdMove(options, state, g, control)
                                                       : AdamMove(options, state, g, control);
  if (penalties.weight_decay > 0 && decoupled) {
    move.parameters = move.parameters - theta * (strengths.weight_decay * control.learning_rate);
  }
  if (penalties.l1 > 0 && penalties.l1_form == L1Form::kProximal) {
    const Value threshold = strengths.l1 * control.threshold;
    move.parameters = SoftThreshold(move.parameters,
                                    move.denominator.name.empty() ? threshold : threshold / move.denominator);
  }
  std::vector<Value> next = {move.parameters};
  next.insert(next.end(), move.moments.begin(), move.moments.end());
  if (options.ema > 0) next.push_back(state.back() + (move.parameters - state.back()) * control.average);
  return next;
}

OptimizerNodes EmitOptimizer(const OptimizerSetup& setup, const std::vector<Value>& state,
                             const Value& gradient, const ControlValues& control,
                             const PenaltyValues& strengths) {
  Value g = EmitPenalisedGradient(setup, state[0], gradient, strengths);
  const Value gradient_norm = Norm(g);
  if (setup.options.clip > 0) g = Clip(g, gradient_norm, setup.options.clip);
  OptimizerNodes nodes;
  nodes.next_state = EmitUpdate(setup, state, g, control, strengths);
  nodes.norms = Op("Concat", {gradient_norm, Norm(nodes.next_state[0])}, {{"axis", int64_t{0}}});
  return nodes;
}

std::vector<std::string> StateNames(const OptimizerOptions& options) {
  std::vector<std::string> names = {"parameters", "velocity"};
  if (options.optimizer != OptimizerKind::kSgd) names = {"parameters", "first_moment", "second_moment"};
  if (options.ema > 0) names.push_back("average");
  return names;
}

}  // namespace ort_ed
