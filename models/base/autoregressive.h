#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ort_ed/options.h"

namespace onnx {
class ModelProto;
}

namespace ort_ed {

// What can be chosen of a masked autoencoder.
struct MadeOptions {
  std::vector<int64_t> hidden = {512};
  std::string order = "ascending";

  static void Describe(Declare<MadeOptions>& declare);
};

// The metadata of a model with an autoregressive base.
void NoteBase(onnx::ModelProto& model, int64_t hidden_layers, std::span<const int64_t> order);

// Whether the model's energy is -log p of an autoregressive network and nothing else, so that log Z is 0.
bool IsNormalised(const onnx::ModelProto& model);
// Notes that log Z is 0 in the metadata of such a model.
void NoteNormalised(onnx::ModelProto& model);

// Which weights have zeros that must stay, as a pattern of parameters' names; and all of its parameters.
inline constexpr char kMaskedParameters[] = "base/*.weight";
inline constexpr char kBaseParameters[] = "base/*";

// What hidden layer 1, 2, ... is called in the graph.
std::string HiddenTensor(int64_t layer);
// Its number of units; 0: there is no such layer.
int64_t HiddenUnits(const onnx::ModelProto& model, int64_t layer);

// Starts a normalised model at independent variables with these means, strictly between 0 and 1.
void SetOutputBias(onnx::ModelProto& model, std::span<const float> means);

// Puts the model on the base: U(x) becomes U(x) + U0(x), where `base` is a normalised model. Weights come
// along as initialisers, the description as metadata. Throws kInvalidArgument for a base of another width, a
// model that is not normalised in place of the base, and a model that has a base already.
void AddAutoregressiveBase(onnx::ModelProto& model, const onnx::ModelProto& base);

// The network alone, as it was before AddAutoregressiveBase(). Throws kInvalidArgument without such a base.
onnx::ModelProto RemoveAutoregressiveBase(const onnx::ModelProto& model);

}  // namespace ort_ed
