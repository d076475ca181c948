// The planar densities as rows of 32 bits, for `ort-ed data`.

#include <algorithm>
#include <array>

#include <spdlog/spdlog.h>

#include "ort_ed/error.h"
#include "runtime/data/planar.h"
#include "runtime/data/row_writer.h"
#include "tools/cli/data_family.h"
#include "tools/cli/progress.h"

namespace ort_ed {
namespace {

constexpr int64_t kBlockRows = 4096;

std::vector<DataFamily::Member> Members() {
  std::vector<DataFamily::Member> members;
  for (const PlanarDensity& density : PlanarDensities())
    members.push_back(
        {density.name, fmt::format("{} in the plane, {} bits", density.summary, PlanarCode::kBits)});
  return members;
}

void AddArguments(argparse::ArgumentParser& parser) {
  parser.add_argument("--planar")
      .metavar("FILE")
      .help("also write the points themselves, two numbers a row: .npy, .csv or .tsv (planar data sets)");
}

void Write(const DataRequest& request, const argparse::ArgumentParser& arguments) {
  const PlanarDensity& density = FindPlanarDensity(request.name);
  const auto bits = CreateBitFile(request.output, {.columns = PlanarCode::kBits});
  std::unique_ptr<RowWriter<float>> points;
  if (const auto path = arguments.present("--planar"))
    points = CreateFloatFile(*path, {.columns = 2, .names = {"x", "y"}});

  const auto show = ShowWork("drawing " + request.name, "rows");
  std::vector<uint8_t> block;
  for (int64_t row = 0; row < request.rows; row += kBlockRows) {
    const int64_t count = std::min(kBlockRows, request.rows - row);
    block.resize(static_cast<size_t>(count * PlanarCode::kBits));
    DrawPlanarRows(density, request.seed, static_cast<uint64_t>(row), block);
    bits->Write(block);
    for (int64_t i = row; points && i < row + count; ++i) {
      const PlanarPoint point = DrawPlanarPoint(density, request.seed, static_cast<uint64_t>(i));
      points->Write(std::array{static_cast<float>(point.x), static_cast<float>(point.y)});
    }
    show(row + count, request.rows);
  }
  if (points) points->Commit();
  bits->Commit();
  spdlog::info("{}: {} rows of {} bits; entropy {:.4f} nats", request.output, request.rows, PlanarCode::kBits,
               density.entropy);
}

}  // namespace

extern const DataFamily kPlanarData = {
    .members = Members, .add_arguments = AddArguments, .options = {"--planar"}, .write = Write};

}  // namespace ort_ed
