#include "models/architectures/energy_context.h"
#include "models/architectures/layers.h"
#include "ort_ed/error.h"

namespace ort_ed {
namespace {

constexpr OptionDescription kOptions[] = {
    {"channels", "64", "feature maps"},
    {"downsample", "2", "residual blocks of stride 2"},
    {"blocks", "6", "residual blocks of stride 1, behind those of stride 2"},
    {"activation", "swish", kActivationHelp},
    {"slope", "fixed", kSlopeHelp},
};

// conv 3x3, activation, conv 3x3, + shortcut, activation.
Value ResidualBlock(const EnergyContext& context, const std::string& name, const Value& x, int64_t channels,
                    int64_t stride) {
  const std::vector<int64_t> channel = {channels, 1, 1};
  Value inner = Convolution(context, name + ".conv1", x, {channels, channels, 3, stride});
  inner = Activation(context, name + ".conv1", inner, channel);
  inner = Convolution(context, name + ".conv2", inner, {channels, channels, 3, 1});
  const Value shortcut =
      stride == 1 ? x : Convolution(context, name + ".shortcut", x, {channels, channels, 1, stride});
  return Activation(context, name + ".conv2", inner + shortcut, channel);
}

Value ResnetEnergy(const EnergyContext& context) {
  if (context.image_shape.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "resnet needs an image shape, height x width, e.g. 28x28");
  }
  const int64_t channels = context.options.Integer("channels", 1);
  const int64_t downsample = context.options.Integer("downsample", 0);
  const int64_t blocks = downsample + context.options.Integer("blocks", 0);

  const Value image =
      Reshape(context.x, std::vector<int64_t>{0, 1, context.image_shape[0], context.image_shape[1]});
  Value features = Convolution(context, "input", image, {1, channels, 3, 1});
  for (int64_t block = 0; block < blocks; ++block) {
    const std::string name = "block" + std::to_string(block + 1);
    features = ResidualBlock(context, name, features, channels, block < downsample ? 2 : 1);
  }
  return Squeeze(Linear(context, "output", ReduceMean(features, {2, 3}), channels, 1), {1});
}

}  // namespace

extern const Architecture kResnetArchitecture;
const Architecture kResnetArchitecture = {"resnet", "convolutional residual network on images", kOptions,
                                          ResnetEnergy};

}  // namespace ort_ed
