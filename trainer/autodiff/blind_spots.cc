#include "trainer/autodiff/blind_spots.h"

#include "models/graph/graph_builder.h"
#include "trainer/autodiff/differentiate.h"
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

}  // namespace ort_ed
