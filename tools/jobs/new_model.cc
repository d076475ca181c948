#include "tools/jobs/new_model.h"

#include <algorithm>

#include "models/architectures/architectures.h"
#include "models/architectures/energy_spec.h"
#include "models/base/base_distribution.h"
#include "models/inspect/model_summary.h"
#include "runtime/data/row_reader.h"

namespace ort_ed {
namespace {

// The mean of every column, in one pass over a file of any size.
std::vector<double> ColumnMeans(const std::string& path, const RowOptions& options, Observer& observer) {
  constexpr int64_t kBlockBytes = int64_t{1} << 20;
  const auto reader = OpenRows(path, options);
  const auto width = static_cast<size_t>(reader->columns());
  std::vector<uint8_t> block(std::max<size_t>(1, kBlockBytes / width) * width);
  std::vector<int64_t> ones(width);
  int64_t total = 0;
  const auto watch = Watch(observer, "reading " + path, "rows");
  while (const int64_t rows = reader->Read(block)) {
    for (size_t i = 0; i < static_cast<size_t>(rows) * width; ++i) ones[i % width] += block[i];
    watch(total += rows, reader->rows().value_or(0));
  }
  std::vector<double> means;
  for (const int64_t count : ones) means.push_back(static_cast<double>(count) / static_cast<double>(total));
  return means;
}

int64_t ExpectedColumns(const EnergySpec& spec) {
  return spec.image_shape.empty() ? spec.dimension : spec.image_shape[0] * spec.image_shape[1];
}

std::vector<float> BaseMean(const NewModelOptions& options, const EnergySpec& spec, Observer& observer) {
  if (options.base_mean)
    return std::vector<float>(static_cast<size_t>(std::max<int64_t>(0, ExpectedColumns(spec))),
                              static_cast<float>(*options.base_mean));
  if (options.base.empty()) return {};
  const RowOptions rows = options.binarise.ForRows(options.seed, ExpectedColumns(spec));
  return SmoothedMean(ColumnMeans(options.base, rows, observer), options.base_smoothing);
}

EnergySpec MakeSpec(const NewModelOptions& options, Observer& observer) {
  EnergySpec spec;
  spec.architecture = options.architecture;
  spec.dimension = options.dimension.value_or(0);
  spec.image_shape = ParseImageShape(options.image_shape);
  spec.seed = options.seed;
  spec.base_mean = BaseMean(options, spec, observer);
  return spec;
}

}  // namespace

void NewModelOptions::Describe(Declare<NewModelOptions>& declare) {
  using O = NewModelOptions;
  declare("architecture", &O::architecture, ArchitectureTable, "one of").Positional();
  declare("dimension", &O::dimension, "[1, 1048576]", "number of binary variables")
      .Letter('D')
      .Default("as the image shape or the base's data say");
  declare("image_shape", &O::image_shape, "HxW",
          "the variables form an image; needed by resnet and by the lattice of ising");
  declare("base", &O::base, "DATA",
          "on top of independent Bernoullis with the mean of this data (any format of `ort-ed score`)");
  declare("base_smoothing", &O::base_smoothing, "[0, 0.5]",
          "the mean of the data becomes mean * (1 - 2 S) + S")
      .When("base", "*");
  declare("base_mean", &O::base_mean, "(0, 1)", "the same without data: P(x_i = 1) of every variable");
  declare.All(&O::binarise, Option::Condition{"base", "*"});
  declare("seed", &O::seed, "[0, inf)", "of the initial parameters and of the bits that are drawn");
}

NewModelResult NewModel(const NewModelOptions& options, Observer& observer) {
  CheckOptions(options);
  if (!options.base.empty() && options.base_mean)
    throw OptionError("base_mean", "has no effect with `base`; choose one", OptionError::Problem::kNoEffect);
  NewModelResult result;
  result.model = BuildModel(MakeSpec(options, observer));
  const ModelSummary summary = Summarise(result.model, options.architecture.kind, {});
  result.dimension = summary.contract.dimension;
  result.parameters = summary.ParameterCount();
  return result;
}

}  // namespace ort_ed
