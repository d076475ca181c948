#include "trainer/autodiff/blind_spots.h"

#include <map>
#include <set>

#include "models/graph/graph_builder.h"
#include "trainer/autodiff/differentiate.h"
#include "trainer/graph/graph_names.h"
#include "trainer/graph/prepare_model.h"

namespace ort_ed {

std::vector<BlindSpot> NameBlindSpots(const std::vector<onnx::NodeProto>& nodes) {
  std::vector<BlindSpot> spots;
  for (const onnx::NodeProto& node : nodes) {
    const std::string domain = node.domain().empty() ? "" : node.domain() + ".";
    spots.push_back({node.name().empty() ? node.output(0) : node.name(), domain + node.op_type()});
  }
  return spots;
}

std::vector<BlindSpot> FindBlindSpots(const onnx::ModelProto& energy_model) {
  PreparedModel prepared = Prepare(energy_model);
  GraphBuilder builder(prepared.model, "ort_ed_blind/");
  return NameBlindSpots(NodesWithoutSlope(builder, {.output = prepared.contract.output,
                                                    .output_gradient = "",
                                                    .with_respect_to = {prepared.contract.input}}));
}

std::string DescribeBlindSpots(const std::vector<BlindSpot>& spots) {
  const size_t others = spots.size() - 1;
  std::string more;
  if (others > 0) more = " and " + std::to_string(others) + (others == 1 ? " more node" : " more nodes");
  return "the energy depends on x through " + spots[0].op + " (node '" + spots[0].node + "')" + more +
         ", whose derivative is zero";
}

std::string RefusalOfBlindGradient(const std::vector<BlindSpot>& spots) {
  return "has to be chosen: " + DescribeBlindSpots(spots) +
         ", and a sampler that follows the gradient would draw noise. `differences` compares the energies of "
         "all states one move away instead, `derivative` takes the gradient as it is; the sampler gibbs does "
         "without";
}

std::string DescribeQuantized(const onnx::GraphProto& graph, const std::vector<std::string>& parameters) {
  std::map<std::string, std::set<std::string>> behind;  // of a tensor, the parameters
  for (const std::string& parameter : parameters) behind[parameter] = {parameter};
  std::set<std::string> quantized;
  std::string where;
  for (const onnx::NodeProto& node : graph.node()) {
    if (node.op_type() == "Shape" || node.op_type() == "Size") continue;
    std::set<std::string> reached;
    for (const std::string& tensor : TensorsRead(node))
      if (const auto found = behind.find(tensor); found != behind.end())
        reached.insert(found->second.begin(), found->second.end());
    if (reached.empty()) continue;
    if (node.op_type().ends_with("QuantizeLinear") && node.op_type() != "DequantizeLinear") {
      if (where.empty()) where = node.op_type() + " (node '" + NameBlindSpots({node})[0].node + "')";
      quantized.merge(reached);
      continue;
    }
    for (const std::string& output : node.output()) behind[output] = reached;
  }
  if (quantized.empty()) return "";
  std::string names;
  for (const std::string& name : quantized) names += (names.empty() ? "'" : ", '") + name + "'";
  return "the energy depends on " + names + " through " + where +
         ", whose steps have no slope: train the model before it is quantised, or leave them as they are "
         "(`frozen`)";
}

}  // namespace ort_ed
