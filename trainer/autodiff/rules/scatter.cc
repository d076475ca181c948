// Operators that put numbers into places of a tensor, by positions along one axis or by whole positions.
#include <array>

#include "trainer/autodiff/rules.h"

namespace ort_ed {
namespace {

constexpr char kAdd[] = "add";

// data, indices, updates of a node; and the two ways to go between places and updates.
class Scattering {
 public:
  explicit Scattering(GradContext& node) : node_(node), by_axis_(node.node().op_type() == "ScatterElements") {
    if (by_axis_) axis_["axis"] = node.Int("axis", 0);
  }

  Value Scatter(const std::string& reduction, const Value& data, const Value& updates) const {
    Attributes attributes = axis_;
    attributes["reduction"] = reduction;
    return Op(by_axis_ ? "ScatterElements" : "ScatterND", {data, node_.Input(1), updates}, attributes);
  }

  Value AtUpdates(const Value& x) const {
    return Op(by_axis_ ? "GatherElements" : "GatherND", {x, node_.Input(1)}, axis_);
  }

 private:
  GradContext& node_;
  bool by_axis_;
  Attributes axis_;
};

// y = data * the product of the updates of a place. The product of the other updates is a quotient where no
// update is zero; of one zero among them only that update has a gradient.
void Product(GradContext& node, const Scattering& scattering) {
  const Value data = node.Input(0), updates = node.Input(2);
  const Value zero = node.graph().Scalar(0), one = node.graph().Scalar(1), g = node.OutputGradient();
  const Value ones = node.Zeros(Op("Shape", {data})) + one;
  if (node.Needs(0)) node.SetGradient(0, g * scattering.Scatter("mul", ones, updates));
  if (!node.Needs(2)) return;
  const Value is_zero = Op("Equal", {updates, zero});
  const Value zero_mask = node.Mask(is_zero);
  const Value non_zero = Op("Where", {is_zero, one, updates});
  const Value zeros = scattering.AtUpdates(scattering.Scatter(kAdd, ones - one, zero_mask));
  const Value others = scattering.AtUpdates(scattering.Scatter("mul", ones, non_zero)) / non_zero;
  const Value alone = node.Mask(Op("Equal", {zeros, zero_mask}));  // no other update is zero
  node.SetGradient(2, scattering.AtUpdates(g * data) * others * alone);
}

// Where several reach the extremum they share the gradient.
void Extremum(GradContext& node, const Scattering& scattering) {
  const Value data = node.Input(0), updates = node.Input(2), y = node.Output();
  const Value data_hits = node.Mask(Op("Equal", {data, y}));
  const Value update_hits = node.Mask(Op("Equal", {updates, scattering.AtUpdates(y)}));
  const Value share = node.OutputGradient() / scattering.Scatter(kAdd, data_hits, update_hits);
  if (node.Needs(0)) node.SetGradient(0, share * data_hits);
  if (node.Needs(2)) node.SetGradient(2, scattering.AtUpdates(share) * update_hits);
}

void Scatter(GradContext& node) {
  const std::string reduction = node.String("reduction", "none");
  const Scattering scattering(node);
  if (reduction == "mul") return Product(node, scattering);
  if (reduction == "max" || reduction == "min") return Extremum(node, scattering);
  const Value g = node.OutputGradient();
  if (node.Needs(0)) {
    const Value zeros = node.Zeros(Op("Shape", {node.Input(2)}));
    node.SetGradient(0, reduction == kAdd ? g : scattering.Scatter("none", g, zeros));
  }
  if (node.Needs(2)) node.SetGradient(2, scattering.AtUpdates(g));
}

constexpr std::array kRules = {
    GradientRule{"ScatterElements", 11, Scatter},
    GradientRule{"ScatterND", 11, Scatter},
};

}  // namespace

std::span<const GradientRule> ScatterRules() { return kRules; }

}  // namespace ort_ed
