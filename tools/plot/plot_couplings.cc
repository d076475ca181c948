// The couplings of a quadratic model as a matrix.

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ort_ed/error.h"
#include "runtime/data/npy.h"
#include "tools/jobs/quadratic_couplings.h"
#include "tools/picture/pictures.h"
#include "tools/plot/plot_kind.h"

namespace ort_ed {
namespace {

struct CouplingsOptions {
  std::string truth;

  static void Describe(Declare<CouplingsOptions>& declare) {
    declare("truth", &CouplingsOptions::truth, "FILE", "the true couplings, a square .npy matrix");
  }
};

std::vector<double> ReadSquareMatrix(const std::string& path, int64_t side) {
  const NpyArray array = ReadNpy(path);
  if (array.shape != std::vector<int64_t>{side, side})
    throw Error(ErrorCode::kBadData, fmt::format("'{}' has the shape {}; a matrix of {} x {} is expected",
                                                 path, fmt::join(array.shape, " x "), side, side));
  return array.values;
}

Canvas DrawCouplings(const std::string& input, const CouplingsOptions& options, const LoadOptions& load,
                     Observer& observer) {
  const LoadedModel model(input, load);
  const std::vector<double> couplings = QuadraticCouplings(model, observer);
  std::vector<double> truth;
  if (!options.truth.empty()) {
    truth = ReadSquareMatrix(options.truth, model.dimension());
    double squares = 0;
    for (size_t i = 0; i < truth.size(); ++i) squares += std::pow(truth[i] - couplings[i], 2);
    observer.OnNotice(fmt::format("-log RMSE of the couplings: {:.4f}",
                                  -0.5 * std::log(squares / static_cast<double>(truth.size()))));
  }
  return CouplingsPicture(couplings, truth, static_cast<int>(model.dimension()));
}

}  // namespace

const PlotKind kCouplingsPlot = MakePlotKind<CouplingsOptions, DrawCouplings>(
    "couplings", "pairwise couplings of a quadratic model, beside the true ones: MODEL [--truth FILE]", true);

}  // namespace ort_ed
