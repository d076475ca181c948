// Einstein sums: the gradient of an operand is the Einstein sum of the output's gradient and the other
// operands.
#include <algorithm>
#include <array>
#include <map>

#include "trainer/autodiff/rules.h"

namespace ort_ed {
namespace {

// An equation with one label an axis; the axes of an ellipsis have labels of their own.
struct Equation {
  std::vector<std::string> operands;
  std::string output;
};

// Labels for the axes behind "...", the last axis first, none of which the equation uses.
std::string FreshLabels(const std::string& equation) {
  std::string labels;
  for (char label = 'Z'; label >= 'A'; --label) {
    if (equation.find(label) == std::string::npos) labels.push_back(label);
  }
  return labels;
}

// A label that is neither in the equation nor among `labels`.
char UnusedLabel(const Equation& equation, const std::string& labels) {
  std::string used = equation.output + labels;
  for (const std::string& operand : equation.operands) used += operand;
  char label = 'a';
  while (used.find(label) != std::string::npos) label = label == 'z' ? 'A' : static_cast<char>(label + 1);
  return label;
}

// The term with "..." replaced by `axes` labels.
std::string WithoutEllipsis(const std::string& term, int64_t axes, const std::string& labels) {
  const size_t dots = term.find("...");
  if (dots == std::string::npos) return term;
  const std::string broadcast = labels.substr(0, axes);
  return term.substr(0, dots) + std::string(broadcast.rbegin(), broadcast.rend()) + term.substr(dots + 3);
}

// Without "->" the output has the labels that occur once, in alphabetical order, after the ellipsis.
std::string ImplicitOutput(const std::string& inputs) {
  std::string output = inputs.find("...") != std::string::npos ? "..." : "";
  std::map<char, int> count;
  for (char label : inputs) count[label] += std::isalpha(static_cast<unsigned char>(label)) != 0;
  for (const auto& [label, times] : count) {
    if (times == 1) output.push_back(label);
  }
  return output;
}

Equation Parse(const GradContext& node) {
  std::string text = node.String("equation", "");
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->");
  const std::string inputs = text.substr(0, arrow);
  const std::string output = arrow == std::string::npos ? ImplicitOutput(inputs) : text.substr(arrow + 2);
  const std::string labels = FreshLabels(text);
  Equation equation;
  int64_t widest = 0;
  size_t begin = 0;
  for (int i = 0; i < node.InputCount(); ++i) {
    const size_t end = std::min(inputs.find(',', begin), inputs.size());
    const std::string term = inputs.substr(begin, end - begin);
    const bool has_ellipsis = term.find("...") != std::string::npos;
    const int64_t named = static_cast<int64_t>(term.size()) - (has_ellipsis ? 3 : 0);
    const int64_t axes = has_ellipsis ? node.Rank(i) - named : 0;
    widest = std::max(widest, axes);
    equation.operands.push_back(WithoutEllipsis(term, axes, labels));
    begin = end + 1;
  }
  equation.output = WithoutEllipsis(output, widest, labels);
  return equation;
}

// The extent that each label runs over: an operand's extent of 1 may be broadcast to another's.
std::map<char, Extent> LabelExtents(const GradContext& node, const Equation& equation) {
  std::map<char, Extent> extents;
  for (int i = 0; i < node.InputCount(); ++i) {
    if (node.Rank(i) != static_cast<int64_t>(equation.operands[i].size()))
      node.Fail("its equation does not fit");
    for (int64_t axis = 0; axis < node.Rank(i); ++axis) {
      const Extent& extent = node.InputInfo(i).shape[axis];
      const auto [known, is_new] = extents.try_emplace(equation.operands[i][axis], extent);
      if (!is_new && known->second.value == 1) known->second = extent;
    }
  }
  return extents;
}

// 1 where two positions along the axis are the same.
Value Identity(const GradContext& node, int operand, size_t axis) {
  GraphBuilder& graph = node.graph();
  const Value extent =
      Op("Gather", {Op("Shape", {node.Input(operand)}), graph.IntScalar(static_cast<int64_t>(axis))});
  const Value positions = Op("Range", {graph.IntScalar(0), extent, graph.IntScalar(1)});
  return node.Mask(Op("Equal", {Unsqueeze(positions, {1}), positions}));
}

void OperandGradient(GradContext& node, const Equation& equation, int operand) {
  std::string labels = equation.operands[operand];
  std::string terms = equation.output;
  std::vector<Value> inputs = {node.OutputGradient()};
  for (int i = 0; i < node.InputCount(); ++i) {
    if (i == operand) continue;
    terms += "," + equation.operands[i];
    inputs.push_back(node.Input(i));
  }
  // A label that occurs twice took a diagonal: its second axis gets a label of its own, and the gradient is
  // zero off the diagonal.
  for (size_t axis = 0; axis < labels.size(); ++axis) {
    const size_t first = labels.find(labels[axis]);
    if (first == axis) continue;
    labels[axis] = UnusedLabel(equation, labels);
    terms += {',', labels[first], labels[axis]};
    inputs.push_back(Identity(node, operand, axis));
  }
  // A label that occurs nowhere else was summed over: the gradient is the same all along its axis.
  std::string result;
  std::vector<int64_t> summed_only;
  for (size_t axis = 0; axis < labels.size(); ++axis) {
    if (terms.find(labels[axis]) == std::string::npos) {
      summed_only.push_back(static_cast<int64_t>(axis));
    } else {
      result.push_back(labels[axis]);
    }
  }
  Value gradient = node.graph().Node("Einsum", inputs, {{"equation", terms + "->" + result}});
  if (!summed_only.empty()) gradient = Unsqueeze(gradient, summed_only);
  const auto extents = LabelExtents(node, equation);
  TensorInfo from = node.InputInfo(operand);
  for (size_t axis = 0; axis < labels.size(); ++axis)
    from.shape[axis] = extents.at(equation.operands[operand][axis]);
  for (int64_t axis : summed_only) from.shape[axis] = {1, ""};
  gradient = node.Unbroadcast(gradient, from, node.Input(operand));
  if (summed_only.empty()) {
    node.SetGradient(operand, gradient);
  } else {
    node.SetCompactGradient(operand, gradient);
  }
}

void Einsum(GradContext& node) {
  const Equation equation = Parse(node);
  for (int i = 0; i < node.InputCount(); ++i) {
    if (node.Needs(i)) OperandGradient(node, equation, i);
  }
}

constexpr std::array kRules = {GradientRule{"Einsum", 12, Einsum}};

}  // namespace

std::span<const GradientRule> EinsumRules() { return kRules; }

}  // namespace ort_ed
