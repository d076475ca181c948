// model_gradients MODEL FOLDER kernels|standard: the gradient of sum_i c_i * energy_i of a user's model by
// what is trained of it, and by its input, as a training prepares it: with our own kernels, or of standard
// operators alone. FOLDER/x.bin and FOLDER/c.bin are floats; FOLDER/gradients.bin gets the gradients,
// standard output their names, one a line.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "models/graph/graph_builder.h"
#include "models/graph/model_file.h"
#include "tests/trainer/autodiff/gradient_check.h"
#include "trainer/autodiff/differentiate.h"
#include "trainer/expand/expand_operators.h"
#include "trainer/graph/prepare_model.h"
#include "trainer/learner/parameter_choice.h"
#include "trainer/passes/use_cpu_kernels.h"

namespace ort_ed {
namespace {

TestTensor ReadTensor(const std::string& path, int64_t columns) {
  std::vector<float> values(std::filesystem::file_size(path) / sizeof(float));
  std::ifstream(path).read(reinterpret_cast<char*>(values.data()),
                           static_cast<std::streamsize>(values.size() * sizeof(float)));
  const auto rows = static_cast<int64_t>(values.size()) / std::max<int64_t>(columns, 1);
  const std::vector<int64_t> shape =
      columns > 0 ? std::vector<int64_t>{rows, columns} : std::vector<int64_t>{rows};
  return {shape, {values.begin(), values.end()}};
}

void Run(const std::string& path, const std::string& folder, bool kernels) {
  PreparedModel prepared = Prepare(LoadModel(path), path);
  const ParameterRoles roles = WidenAndFindRoles(prepared.model, {});
  std::vector<std::string> names = ParameterNames(prepared.model, {}, roles.BufferNames());
  names.push_back(prepared.contract.input);
  ExpandOperators(prepared.model);
  if (kernels) {
    UseCpuKernels(prepared.model);
    ImportCpuKernels(prepared.model);
  }
  prepared.model.mutable_graph()->clear_output();
  GraphBuilder builder(prepared.model, "gradients/");
  const Value c = builder.Input("gradients/c", std::vector<int64_t>{-1});
  const Value like = Op("Reshape", {c, Op("Shape", {builder.Existing(prepared.contract.output)})});
  const auto gradients = Differentiate(builder, {prepared.contract.output, like.name, names});
  std::vector<std::string> found;
  for (const std::string& name : names) {
    if (gradients.at(name).empty()) continue;
    found.push_back(name);
    builder.graph().add_output()->set_name(
        builder.Named(builder.Existing(gradients.at(name)), "gradients/of/" + name).name);
  }
  const TestTensors outputs =
      TestSession(prepared.model)
          .Run({{prepared.contract.input, ReadTensor(folder + "/x.bin", prepared.contract.dimension)},
                {"gradients/c", ReadTensor(folder + "/c.bin", 0)}});
  std::ofstream file(folder + "/gradients.bin");
  for (const std::string& name : found) {
    const TestTensor& gradient = outputs.at("gradients/of/" + name);
    const std::vector<float> values(gradient.values.begin(), gradient.values.end());
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
    std::cout << name << ' ' << values.size() << '\n';
  }
}

}  // namespace
}  // namespace ort_ed

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    ort_ed::Run(argv[1], argv[2], argv[3] == std::string("kernels"));
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
