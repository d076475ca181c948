#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/architectures/view_part.h"
#include "ort_ed/options.h"
#include "ort_ed/variables.h"

namespace onnx {
class ModelProto;
}

namespace ort_ed {

// What can be chosen of a masked autoencoder.
struct MadeOptions {
  std::vector<int64_t> hidden = {512};
  std::string order = "ascending";
  int64_t orders = 1;
  ViewOptions view;

  static void Describe(Declare<MadeOptions>& declare);
};

// The metadata of a model with an autoregressive base: a network for each order.
void NoteBase(onnx::ModelProto& model, int64_t hidden_layers, std::span<const std::vector<int64_t>> orders);

// Whether the model's energy is -log p of an autoregressive network and nothing else, so that log Z is 0.
bool IsNormalised(const onnx::ModelProto& model);
// Notes that log Z is 0 in the metadata of such a model.
void NoteNormalised(onnx::ModelProto& model);

// Which weights have zeros that must stay, as a pattern of parameters' names; and all of its parameters.
inline constexpr char kMaskedParameters[] = "base/*.weight";
inline constexpr char kBaseParameters[] = "base/*";

// What hidden layer 1, 2, ... of network 0, 1, ... is called in the graph, and what is within block 1, 2, ...
// of its view.
std::string HiddenTensor(int64_t network, int64_t layer);
std::string ViewBlockTensor(int64_t network, int64_t block);
struct HiddenLayer {
  std::string tensor;
  int64_t units = 0;  // [batch, units], or [batch, units, height, width] within a view
};
// Of all networks of a normalised model.
std::vector<HiddenLayer> HiddenLayers(const onnx::ModelProto& model);
std::vector<HiddenLayer> ViewBlocks(const onnx::ModelProto& model);

// The energies of the networks of a mixture, [batch, networks], are a tensor of the graph.
inline constexpr char kNetworkEnergies[] = "base/energies";

// Starts the networks of a normalised model at independent variables with these means, strictly between 0
// and 1; of a variable with more than two states, the probabilities of these.
void SetOutputBias(onnx::ModelProto& model, std::span<const float> means, const Variables& variables);

// Puts the model on the base: U(x) becomes U(x) + U0(x), where `base` is a normalised model. Weights come
// along as initialisers, the description as metadata. Throws kInvalidArgument for a base of another width or
// over other variables, a model that is not normalised in place of the base, and a model that has a base
// already.
void AddAutoregressiveBase(onnx::ModelProto& model, const onnx::ModelProto& base);

// The network alone, as it was before AddAutoregressiveBase(). Throws kInvalidArgument without such a base.
onnx::ModelProto RemoveAutoregressiveBase(const onnx::ModelProto& model);

}  // namespace ort_ed
