#pragma once

#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

namespace ort_ed {

// A node through which an energy depends on x in a way that its gradient does not see.
struct BlindSpot {
  std::string node;
  std::string op;  // with its domain if it is not a standard operator
};

std::vector<BlindSpot> NameBlindSpots(const std::vector<onnx::NodeProto>& nodes);

// Casts to integers, comparisons, ArgMax, rounding and the like on the way from x to the energy, see
// NodesWithoutSlope(). Throws kBadModel.
std::vector<BlindSpot> FindBlindSpots(const onnx::ModelProto& energy_model);

// "the energy depends on x through Cast (node 'c') and 2 more nodes, whose derivative is zero"; of one or
// more.
std::string DescribeBlindSpots(const std::vector<BlindSpot>& spots);
// What the option `gradient` of a sampler that would follow such a gradient has to say.
std::string RefusalOfBlindGradient(const std::vector<BlindSpot>& spots);

// For people: which of the parameters the energy depends on through QuantizeLinear, whose steps have no
// slope, and what to do; empty where none is. Nodes must be in order.
std::string DescribeQuantized(const onnx::GraphProto& graph, const std::vector<std::string>& parameters);

}  // namespace ort_ed
