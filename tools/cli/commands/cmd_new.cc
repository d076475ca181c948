#include <spdlog/spdlog.h>

#include "models/graph/model_file.h"
#include "runtime/support/files/atomic_file.h"
#include "tools/cli/command.h"
#include "tools/cli/output_paths.h"
#include "tools/cli/terminal.h"
#include "tools/jobs/new_model.h"

namespace ort_ed {
namespace {

struct NewCommand {
  std::string output;
  NewModelOptions options;

  static void Describe(Declare<NewCommand>& declare) {
    declare.All(&NewCommand::options);
    declare("output", &NewCommand::output, "FILE", "the .onnx file to write").Letter('o').Required();
  }
};

void RunNew(const NewCommand& command) {
  CheckOutputPaths({{"output", command.output}}, {{"base", command.options.base}});
  Terminal terminal;
  const NewModelResult result = NewModel(command.options, terminal);
  WriteFileAtomically(command.output, SerializeModel(result.model));
  spdlog::info("wrote {}: {}, {} variables, {} parameters", command.output, command.options.architecture.kind,
               result.dimension, result.parameters);
}

}  // namespace

extern const Command kNewCommand = MakeCommand<NewCommand, RunNew>(
    "new", "create an energy model with initial parameters",
    "  ort-ed new mlp --dimension 32 --hidden 256,256,256 -o mlp.onnx\n"
    "  ort-ed new resnet --image-shape 28x28 --base train.bits.npy.gz -o resnet.onnx\n"
    "  ort-ed new rbm -D 784 --hidden 500 --base-mean 0.5 --seed 7 -o rbm.onnx\n"
    "  ort-ed new ising --image-shape 10x10 --init lattice --coupling 0.2 -o lattice.onnx");

}  // namespace ort_ed
