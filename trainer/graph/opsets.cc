#include "trainer/graph/opsets.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "models/graph/standard_domain.h"

namespace ort_ed {
namespace {

struct Change {
  std::string_view op;
  int64_t opset;
};

// Operators whose form or meaning changed, by the changelog of ONNX; that an operator takes more types or got
// an attribute that may be left out is no change. Not from the schemas of the linked onnx library: it may be
// older than the model.
constexpr std::array kChanges = {
    Change{"ReduceL1", 18},
    Change{"ReduceL2", 18},
    Change{"ReduceLogSum", 18},
    Change{"ReduceMax", 18},
    Change{"ReduceLogSumExp", 18},
    Change{"ReduceMean", 18},
    Change{"ReduceMin", 18},
    Change{"ReduceProd", 18},
    Change{"ReduceSumSquare", 18},
    Change{"Split", 18},
    Change{"Resize", 18},
    Change{"OptionalHasElement", 18},
    Change{"LpPool", 18},
    Change{"OptionalGetElement", 18},
    Change{"Resize", 19},
    Change{"AveragePool", 19},
    Change{"DFT", 20},
    Change{"GridSample", 20},
    Change{"AveragePool", 22},
    Change{"GroupNormalization", 21},
    Change{"LpPool", 22},
    Change{"Attention", 24},
    Change{"Attention", 25},
};
constexpr int64_t kNewestKnownOpset = 25;

bool Changed(const std::string& op, int64_t from, int64_t to) {
  return to > kNewestKnownOpset || std::any_of(kChanges.begin(), kChanges.end(), [&](const Change& change) {
           return change.op == op && from < change.opset && change.opset <= to;
         });
}

}  // namespace

const onnx::NodeProto* FirstChanged(const Nodes& nodes, int64_t from, int64_t to) {
  if (from == to) return nullptr;
  for (const auto& node : nodes) {
    if (IsStandardDomain(node.domain()) && Changed(node.op_type(), from, to)) return &node;
    for (const auto& attribute : node.attribute()) {
      if (!attribute.has_g()) continue;
      if (const auto* changed = FirstChanged(attribute.g().node(), from, to)) return changed;
    }
  }
  return nullptr;
}

}  // namespace ort_ed
