#include "models/architectures/energy_spec.h"

#include "models/architectures/energy_context.h"
#include "models/base/autoregressive.h"
#include "models/base/base_distribution.h"
#include "models/graph/graph_builder.h"
#include "models/graph/model_edits.h"
#include "models/inspect/energy_degree.h"
#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "runtime/support/gate/function_calls.h"
#include "runtime/support/limits.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

OptionError TooManyPixels(const std::vector<int64_t>& shape) {
  return OptionError("image_shape",
                     "must have at most " + std::to_string(kMaxColumns) + " pixels, not " + ShapeText(shape));
}

int64_t ResolveDimension(const EnergySpec& spec) {
  const std::string domain = "[1, " + std::to_string(kMaxColumns) + "]";
  int64_t dimension = spec.dimension;
  if (!spec.image_shape.empty()) {
    if (spec.image_shape.size() != 2) throw OptionError("image_shape", "must be {height, width}");
    for (int64_t extent : spec.image_shape) {
      if (extent < 1 || extent > kMaxColumns)
        throw OptionError("image_shape",
                          "must have extents in " + domain + ", not " + ShapeText(spec.image_shape));
    }
    const int64_t pixels = spec.image_shape[0] * spec.image_shape[1];
    if (pixels > kMaxColumns) throw TooManyPixels(spec.image_shape);
    if (dimension != 0 && dimension != pixels) {
      throw OptionError("image_shape", "must hold the " + std::to_string(dimension) +
                                           " variables of a row, but " + ShapeText(spec.image_shape) +
                                           " has " + std::to_string(pixels) + " variables");
    }
    dimension = pixels;
  }
  if (dimension == 0) dimension = static_cast<int64_t>(spec.base_mean.size());
  if (dimension == 0)
    throw OptionError("dimension", "is missing: how many binary variables does a row have?");
  if (dimension < 1 || dimension > kMaxColumns)
    throw OptionError("dimension", "must lie in " + domain + ", not " + std::to_string(dimension));
  return dimension;
}

struct ChosenArchitecture {
  Choice architecture;

  static void Describe(Declare<ChosenArchitecture>& declare) {
    declare("architecture", &ChosenArchitecture::architecture, ArchitectureTable, "of the energy");
  }
};

// All options of the architecture: the defaults of those that are left out, too.
OptionMap CompleteOptions(const Choice& architecture) {
  const ChosenArchitecture chosen{architecture};
  OptionMap options = GetOptions(SchemaOf<ChosenArchitecture>(), &chosen);
  options.erase("architecture");
  return options;
}

std::string FormatAsJson(const OptionMap& options) {
  std::string json;
  for (const auto& [key, value] : options) {
    json += json.empty() ? "{" : ",";
    json += JsonString(key) + ":" + JsonString(FormatOption(value));
  }
  return json + "}";
}

void WriteMetadata(onnx::ModelProto& model, const EnergyContext& context, const char* architecture,
                   const OptionMap& options) {
  SetMetadata(model, metadata_key::kFormatVersion, std::to_string(kMetadataFormatVersion));
  SetMetadata(model, metadata_key::kDimension, std::to_string(context.dimension));
  if (!context.image_shape.empty())
    SetMetadata(model, metadata_key::kImageShape, ShapeText(context.image_shape));
  SetMetadata(model, metadata_key::kArchitecture, architecture);
  SetMetadata(model, metadata_key::kArchitectureOptions, FormatAsJson(options));
}

// No model is made that the gate would not let in again.
void RequireNodesThatLoad(const onnx::ModelProto& model) {
  const int64_t nodes = model.graph().node_size();
  if (nodes > FunctionCalls::kMostNodes)
    throw Error(ErrorCode::kInvalidArgument,
                "the model would have " + std::to_string(nodes) + " nodes, more than the " +
                    std::to_string(FunctionCalls::kMostNodes) + " that are read; choose fewer layers");
}

}  // namespace

onnx::ModelProto BuildModel(const EnergySpec& spec) {
  const OptionMap options = CompleteOptions(spec.architecture);
  const ArchitectureKind& architecture = FindArchitecture(spec.architecture.kind);
  const int64_t dimension = ResolveDimension(spec);
  Initialiser initialiser(spec.seed);

  onnx::ModelProto model;
  model.set_producer_name("ort-ed");
  model.mutable_graph()->set_name(architecture.name);
  GraphBuilder graph(model);
  const Value x = graph.Input(kInputName, std::vector<int64_t>{-1, dimension});
  const Variables variables = spec.variables.dimension() == 0 ? Variables::Binary(dimension) : spec.variables;
  const EnergyContext context{x, dimension, spec.image_shape, initialiser, variables};
  const Value energy = graph.Renamed(architecture.energy(context, options), kEnergyOutputName);
  graph.Output(energy, std::vector<int64_t>{-1});
  RequireNodesThatLoad(model);
  WriteMetadata(model, context, architecture.name, options);
  if (!spec.base_mean.empty()) AddBaseDistribution(model, spec.base_mean);
  NoteNormalised(model);
  NoteDegree(model);
  return model;
}

std::vector<int64_t> ParseImageShape(std::string_view text) {
  if (text.empty()) return {};
  if (const auto shape = ParseShape(text)) {
    if ((*shape)[0] * (*shape)[1] > kMaxColumns) throw TooManyPixels(*shape);
    return *shape;
  }
  throw OptionError("image_shape",
                    "must be a height and a width such as 28x28, not '" + std::string(text) + "'");
}

}  // namespace ort_ed
