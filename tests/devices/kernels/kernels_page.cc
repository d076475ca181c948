// Writes docs/gpu_kernels.md, or says whether it is up to date: `kernels_page FOLDER FILE [--write]`. FOLDER
// has the lists: cuda.txt, and webgpu_gaps.txt, which kernels_on_device_test checks where there is WebGPU.
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "tests/devices/kernels/emitted_models.h"
#include "tests/devices/kernels/kernel_list.h"

namespace ort_ed {
namespace {

constexpr char kIntroduction[] =
    R"(# Operators that leave the GPU

Which operators of the graphs that we make have no kernel in ONNX Runtime 1.30's CUDA or WebGPU provider: those of the test cases of every
gradient rule and expansion, with their gradients, and of trainings with every objective and optimiser. ONNX Runtime runs such a node
on the CPU: its inputs are copied there and its outputs back, in every step. The result is right; the copies and the waiting cost time. An
operator that is not listed stays on the GPU. Extents and indices (int64) are the exception: whatever only computes shapes runs on the CPU
by choice, and costs next to nothing. Of CUDA, ONNX Runtime's published list of kernels is compared (version and input types of each
node); of WebGPU, where ONNX Runtime placed each node. Written by tests/devices/kernels/kernels_page.cc, which a test repeats.

)";

// What ONNX Runtime replaces before it looks for kernels.
bool IsFolded(const std::string& op) { return op == "Constant" || op == "CastLike"; }

using Gaps = std::map<std::string, std::set<std::string>>;  // operator -> types of inputs

Gaps CudaGaps(const std::string& list) {
  const KernelList kernels(list);
  Gaps gaps;
  for (const EmittedModel& emitted : EmittedModels())
    for (const NodeKind& node : NodeKinds(emitted.model))
      if (!IsFolded(node.op) && !kernels.Has(node)) gaps[node.op].insert(DifferentTypes(node));
  return gaps;
}

Gaps ReadGaps(const std::string& path) {
  Gaps gaps;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const size_t blank = line.find(' ');
    gaps[line.substr(0, blank)].insert(blank == std::string::npos ? "" : line.substr(blank + 1));
  }
  return gaps;
}

std::string Cell(const Gaps& gaps, const std::string& op) {
  const auto found = gaps.find(op);
  if (found == gaps.end()) return "";
  std::string cell;
  for (const std::string& types : found->second)
    cell += (cell.empty() ? "" : "; ") + (types.empty() ? "always" : types);
  return cell;
}

std::string Page(const std::string& folder) {
  const Gaps cuda = CudaGaps(folder + "/cuda.txt"), webgpu = ReadGaps(folder + "/webgpu_gaps.txt");
  std::set<std::string> ops;
  for (const Gaps* gaps : {&cuda, &webgpu})
    for (const auto& [op, types] : *gaps) ops.insert(op);
  std::ostringstream page;
  page << kIntroduction
       << "| operator | no CUDA kernel for inputs | no WebGPU kernel for inputs |\n|---|---|---|\n";
  for (const std::string& op : ops)
    page << "| " << op << " | " << Cell(cuda, op) << " | " << Cell(webgpu, op) << " |\n";
  return page.str();
}

int Run(const std::string& folder, const std::string& path, bool write) {
  const std::string page = Page(folder);
  if (write) {
    std::ofstream(path) << page;
    return 0;
  }
  std::ifstream file(path);
  const std::string known{std::istreambuf_iterator<char>(file), {}};
  if (known == page) return 0;
  std::cerr << path << " is out of date; write it anew with `kernels_page " << folder << " " << path
            << " --write`\n";
  return 1;
}

}  // namespace
}  // namespace ort_ed

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: kernels_page FOLDER FILE [--write]\n";
    return 2;
  }
  return ort_ed::Run(argv[1], argv[2], argc > 3 && std::string(argv[3]) == "--write");
}
