#include <spdlog/fmt/fmt.h>

#include "tools/cli/command.h"
#include "tools/cli/output_paths.h"
#include "tools/cli/terminal.h"
#include "tools/jobs/draw_data.h"

namespace ort_ed {
namespace {

void RunData(const DrawDataOptions& options) {
  CheckOutputPaths({{"output", options.output}, {"planar", options.planar}, {"couplings", options.couplings}},
                   {});
  Terminal terminal;
  const DrawDataResult result = DrawData(options, terminal);
  terminal.OnNotice(fmt::format("{}: {} rows of {}", options.output, result.rows, result.row));
}

}  // namespace

extern const Command kDataCommand = MakeCommand<DrawDataOptions, RunData>(
    "data", "draw synthetic data sets",
    "  ort-ed data pinwheel -n 100000 -o pinwheel.npy\n"
    "  ort-ed data moons -n 4000 --seed 2 --planar points.npy -o moons.bits.npy\n"
    "  ort-ed data checkerboard -n 10 -o -\n"
    "  ort-ed data ising --shape 10x10 --sigma 0.2 -n 2000 --steps 1000000 -o ising.npy");

}  // namespace ort_ed
