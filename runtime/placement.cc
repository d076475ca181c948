#include "runtime/placement.h"

#include <string_view>
#include <utility>

#include "runtime/session.h"

namespace ort_ed {
namespace {

// ONNX Runtime tells it in its log alone: "Node(s) placed on [CPUExecutionProvider]. Number of nodes: 2",
// then a line "  Cast (name)" for each.
class PlacementReader {
 public:
  void Read(std::string_view line) {
    if (line.find("placed on [") != std::string_view::npos) {
      on_cpu_ = line.find("[CPUExecutionProvider]") != std::string_view::npos;
    } else if (on_cpu_ && line.starts_with("  ") && line.ends_with(")")) {
      const size_t name = line.find(" (", 2);
      if (name == std::string_view::npos) return;
      nodes_.push_back({std::string(line.substr(2, name - 2)),
                        std::string(line.substr(name + 2, line.size() - name - 3))});
    } else {
      on_cpu_ = false;
    }
  }

  std::vector<PlacedNode> nodes() && { return std::move(nodes_); }

 private:
  bool on_cpu_ = false;
  std::vector<PlacedNode> nodes_;
};

}  // namespace

std::vector<PlacedNode> NodesOnCpu(std::span<const std::byte> model, const Device& device) {
  PlacementReader reader;
  // Its own options: those of WebGPU do not outlive their first session.
  Ort::SessionOptions options = MakeSessionOptions(device, 1);
  options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
  options.SetLogSeverityLevel(ORT_LOGGING_LEVEL_VERBOSE);
  const SessionLog log([&](std::string_view line) { reader.Read(line); });
  OpenSession(model, options, "the model to place");
  return std::move(reader).nodes();
}

}  // namespace ort_ed
