#include "models/architectures/view_part.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/base/autoregressive.h"
#include "models/graph/model_edits.h"
#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "runtime/support/text.h"

namespace ort_ed {
namespace {

struct Kernel {
  int64_t height, width;  // its last row is the pixel's own, its middle column too
  bool own;               // whether the pixel itself is seen
};

constexpr Kernel kBlockKernel = {kViewBlockHeight, kViewBlockWidth, true};
constexpr Kernel kPoint = {1, 1, true};

bool IsSeen(const Kernel& kernel, int64_t row, int64_t column) {
  const int64_t middle = kernel.width / 2;
  return row < kernel.height - 1 || column < middle + (kernel.own ? 1 : 0);
}

int64_t CountSeen(const Kernel& kernel) {
  return (kernel.height - 1) * kernel.width + kernel.width / 2 + (kernel.own ? 1 : 0);
}

class Builder {
 public:
  Builder(const EnergyContext& context, int64_t network)
      : context_(context),
        graph_(*context.x.graph),
        prefix_(kBaseTensorPrefix + BaseNetworkPrefix(network)) {}

  // Weights of pixels that come later are 0, and a training keeps them there.
  Value Conv(const std::string& name, const Value& x, int64_t inputs, int64_t outputs, const Kernel& kernel,
             double scale) {
    const std::vector<int64_t> shape = {outputs, inputs, kernel.height, kernel.width};
    const double bound = scale * std::sqrt(3.0 / static_cast<double>(inputs * CountSeen(kernel)));
    std::vector<float> weight = context_.initialiser.Uniform(shape, bound);
    for (int64_t i = 0; i < std::ssize(weight); ++i)
      if (!IsSeen(kernel, i / kernel.width % kernel.height, i % kernel.width)) weight[i] = 0;
    const std::vector<int64_t> bias = {outputs};
    return Op("Conv",
              {x, Parameter(name + ".weight", shape, weight),
               Parameter(name + ".bias", bias, context_.initialiser.Fill(bias, 0))},
              {{"kernel_shape", std::vector{kernel.height, kernel.width}},
               {"strides", std::vector<int64_t>{1, 1}},
               {"pads", std::vector<int64_t>{kernel.height - 1, kernel.width / 2, 0, kernel.width / 2}}});
  }

  Value Parameter(const std::string& name, const std::vector<int64_t>& shape,
                  const std::vector<float>& values) {
    return graph_.Parameter(prefix_ + name, shape, values);
  }

  // The values of a row in another order.
  Value Reordered(const Value& values, const std::vector<int64_t>& order) {
    if (std::ranges::is_sorted(order)) return values;
    return Op("Gather", {values, graph_.Ints(order)}, {{"axis", int64_t{1}}});
  }

  static Value Swish(const Value& x) { return x * Sigmoid(x); }

 private:
  const EnergyContext& context_;
  GraphBuilder& graph_;
  std::string prefix_;
};

std::vector<int64_t> ParseView(const EnergyContext& context, const ViewOptions& options) {
  if (context.image_shape.empty())
    throw OptionError("image_shape", "must be given: a view looks at the pixels of an image, e.g. 28x28");
  const auto view = ParseShape(options.view);
  if (!view || (*view)[1] % 2 == 0 || (*view)[0] > context.image_shape[0] ||
      (*view)[1] > 2 * context.image_shape[1])
    throw OptionError("view",
                      "must be HEIGHTxWIDTH with an odd width, not larger than the image, e.g. "
                      "7x15; not '" +
                          options.view + "'");
  return *view;
}

}  // namespace

std::vector<int64_t> OrderFromCorner(const std::vector<int64_t>& image_shape, int64_t network) {
  constexpr int64_t kCorners = 4;
  if (network >= kCorners)
    throw OptionError("orders", "must be at most 4 with a view: an image has four corners to begin at");
  const int64_t height = image_shape[0], width = image_shape[1];
  const bool from_below = network == 1 || network == 3, from_right = network == 1 || network == 2;
  std::vector<int64_t> order;
  for (int64_t row = 0; row < height; ++row)
    for (int64_t column = 0; column < width; ++column)
      order.push_back((from_below ? height - 1 - row : row) * width +
                      (from_right ? width - 1 - column : column));
  return order;
}

// A residual network with weights that all pixels share (van den Oord et al. 2016 have such networks): the
// view, then blocks f + mix(swish(conv(swish(f)))).
Value ViewLogOdds(const EnergyContext& context, const ViewOptions& options, int64_t network) {
  const std::vector<int64_t> view = ParseView(context, options);
  const int64_t height = context.image_shape[0], width = context.image_shape[1], maps = options.maps;
  // Each of these orders is its own inverse.
  const std::vector<int64_t> order = OrderFromCorner(context.image_shape, network);
  Builder build(context, network);
  const Value image = Reshape(build.Reordered(context.x, order), std::vector<int64_t>{0, 1, height, width});
  Value features = build.Conv("view", image, 1, maps, {view[0], view[1], /*own=*/false}, 1);
  // Where in the image a pixel stands.
  const std::vector<int64_t> places = {1, maps, height, width};
  features = features + build.Parameter("view_place", places, context.initialiser.Fill(places, 0));
  for (int64_t block = 1; block <= options.blocks; ++block) {
    const std::string name = "view_block" + std::to_string(block);
    const Value inner = build.Conv(name, Builder::Swish(features), maps, maps, kBlockKernel, 1.4);
    const Value active = context.x.graph->Renamed(Builder::Swish(inner), ViewBlockTensor(network, block));
    features = features + build.Conv(name + "_mix", active, maps, maps, kPoint, 0.5);
  }
  const Value log_odds = build.Conv("view_output", Builder::Swish(features), maps, 1, kPoint, 0.1);
  SetMetadata(context.x.graph->model(), metadata_key::kBaseView,
              ShapeText(context.image_shape) + "," + ShapeText(view) + "," + std::to_string(options.blocks));
  return build.Reordered(Reshape(log_odds, std::vector<int64_t>{0, height * width}), order);
}

void ViewOptions::Describe(Declare<ViewOptions>& declare) {
  using Self = ViewOptions;
  declare("view", &Self::view, "HxW",
          "of images: pixels above and to the left that a part with shared weights sees, e.g. 7x15");
  declare("maps", &Self::maps, "[1, 4096]", "features of each pixel in that part").When("view", "*");
  declare("blocks", &Self::blocks, "[0, 100]", "its residual blocks").When("view", "*");
}

}  // namespace ort_ed
