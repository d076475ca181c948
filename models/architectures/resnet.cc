#include "models/architectures/energy_context.h"
#include "models/architectures/layers.h"

namespace ort_ed {
namespace {

struct Options {
  int64_t channels = 64;
  int64_t downsample = 2;
  int64_t blocks = 6;
  std::string head = "mean";
  Activation activation = {.slope = Slope::kFixed};

  static void Describe(Declare<Options>& declare) {
    declare("channels", &Options::channels, "[1, inf)", "feature maps");
    declare("downsample", &Options::downsample, "[0, inf)", "residual blocks of stride 2");
    declare("blocks", &Options::blocks, "[0, inf)", "residual blocks of stride 1, behind those of stride 2");
    declare(
        "head", &Options::head, "mean|flat",
        "the energy is linear in the means of the maps over the image, or in all their values, which knows "
        "where something is");
    declare.All(&Options::activation);
  }
};

// conv 3x3, activation, conv 3x3, + shortcut, activation.
Value ResidualBlock(const EnergyContext& context, const Options& options, const std::string& name,
                    const Value& x, int64_t stride) {
  const int64_t channels = options.channels;
  const std::vector<int64_t> channel = {channels, 1, 1};
  Value inner = Convolution(context, name + ".conv1", x, {channels, channels, 3, stride});
  inner = Activate(context, options.activation, name + ".conv1", inner, channel);
  inner = Convolution(context, name + ".conv2", inner, {channels, channels, 3, 1});
  const Value shortcut =
      stride == 1 ? x : Convolution(context, name + ".shortcut", x, {channels, channels, 1, stride});
  return Activate(context, options.activation, name + ".conv2", inner + shortcut, channel);
}

Value ResnetEnergy(const EnergyContext& context, const Options& options) {
  if (context.image_shape.empty())
    throw OptionError("image_shape", "must be given: resnet needs an image shape, e.g. 28x28");
  const Value image =
      Reshape(context.x, std::vector<int64_t>{0, 1, context.image_shape[0], context.image_shape[1]});
  Value features = Convolution(context, "input", image, {1, options.channels, 3, 1});
  for (int64_t block = 0; block < options.downsample + options.blocks; ++block) {
    const std::string name = "block" + std::to_string(block + 1);
    features = ResidualBlock(context, options, name, features, block < options.downsample ? 2 : 1);
  }
  if (options.head == "mean")
    return Squeeze(Linear(context, "output", ReduceMean(features, {2, 3}), options.channels, 1), {1});
  int64_t values = options.channels;
  for (int64_t extent : context.image_shape) {
    for (int64_t halving = 0; halving < options.downsample; ++halving) extent = (extent + 1) / 2;
    values *= extent;
  }
  return Squeeze(Linear(context, "output", Reshape(features, std::vector<int64_t>{0, values}), values, 1),
                 {1});
}

}  // namespace

extern const ArchitectureKind kResnetArchitecture =
    MakeArchitecture<Options, ResnetEnergy>("resnet", "convolutional residual network on images");

}  // namespace ort_ed
