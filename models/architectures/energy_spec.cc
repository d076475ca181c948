#include "models/architectures/energy_spec.h"

#include "models/architectures/energy_context.h"
#include "models/base/base_distribution.h"
#include "models/graph/graph_builder.h"
#include "models/graph/model_edits.h"
#include "models/inspect/energy_degree.h"
#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

// Far beyond what trains, and small enough that products of two extents cannot overflow.
constexpr int64_t kMaxExtent = int64_t{1} << 30;

int64_t ResolveDimension(const EnergySpec& spec) {
  const auto reject = [](const std::string& message) { throw Error(ErrorCode::kInvalidArgument, message); };
  int64_t dimension = spec.dimension;
  if (!spec.image_shape.empty()) {
    if (spec.image_shape.size() != 2) reject("an image shape is {height, width}");
    for (int64_t extent : spec.image_shape) {
      if (extent < 1 || extent > kMaxExtent)
        reject("the image shape " + ShapeText(spec.image_shape) + " is impossible");
    }
    const int64_t pixels = spec.image_shape[0] * spec.image_shape[1];
    if (dimension != 0 && dimension != pixels) {
      reject("an image of " + ShapeText(spec.image_shape) + " has " + std::to_string(pixels) +
             " variables, but the dimension is " + std::to_string(dimension));
    }
    dimension = pixels;
  }
  if (dimension == 0) dimension = static_cast<int64_t>(spec.base_mean.size());
  if (dimension == 0) reject("the dimension is missing: how many binary variables has a row?");
  if (dimension < 1 || dimension > kMaxExtent) {
    reject("the dimension must be from 1 to " + std::to_string(kMaxExtent) + ", not " +
           std::to_string(dimension));
  }
  return dimension;
}

void Describe(onnx::ModelProto& model, const EnergyContext& context, const char* architecture) {
  SetMetadata(model, metadata_key::kFormatVersion, std::to_string(kMetadataFormatVersion));
  SetMetadata(model, metadata_key::kDimension, std::to_string(context.dimension));
  if (!context.image_shape.empty())
    SetMetadata(model, metadata_key::kImageShape, ShapeText(context.image_shape));
  SetMetadata(model, metadata_key::kArchitecture, architecture);
  SetMetadata(model, metadata_key::kArchitectureOptions, context.options.ToJson());
}

}  // namespace

onnx::ModelProto BuildModel(const EnergySpec& spec) {
  const Architecture& architecture = FindArchitecture(spec.architecture);
  const ArchitectureOptions options(architecture, spec.options);
  const int64_t dimension = ResolveDimension(spec);
  Initialiser initialiser(spec.seed);

  onnx::ModelProto model;
  model.set_producer_name("ort-ed");
  model.mutable_graph()->set_name(architecture.name);
  GraphBuilder graph(model);
  const Value x = graph.Input(kInputName, std::vector<int64_t>{-1, dimension});
  const EnergyContext context{x, dimension, spec.image_shape, options, initialiser};
  const Value energy = graph.Renamed(architecture.energy(context), kEnergyOutputName);
  graph.Output(energy, std::vector<int64_t>{-1});
  Describe(model, context, architecture.name);
  if (!spec.base_mean.empty()) AddBaseDistribution(model, spec.base_mean);
  NoteDegree(model);
  return model;
}

std::vector<int64_t> ParseImageShape(std::string_view text) {
  if (const auto shape = ParseShape(text)) return *shape;
  throw Error(ErrorCode::kInvalidArgument,
              "an image shape is written HEIGHTxWIDTH, e.g. 28x28; not '" + std::string(text) + "'");
}

}  // namespace ort_ed
