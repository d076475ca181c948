#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "ort_ed/bipartite_form.h"
#include "ort_ed/energy_model.h"
#include "trainer/autodiff/blind_spots.h"

namespace ort_ed {

// The path of a model's file. Throws kIo for the folder of a run, naming the models in it.
std::string ModelFile(const std::string& path);

// An energy model as jobs pass it on: its file is read once; graph, session and what is derived from the
// graph are made of that, when they are first asked for. Copies are cheap: they are the same model. Not
// thread-safe.
class LoadedModel {
 public:
  // Throws kIo and kBadModel.
  explicit LoadedModel(const std::string& path, const LoadOptions& options = {});
  // A model that is no file; `name` stands for it in messages.
  LoadedModel(onnx::ModelProto model, std::string name, const LoadOptions& options = {});

  const std::string& name() const;
  int64_t dimension() const { return energy_model().dimension(); }
  const ModelMetadata& metadata() const { return energy_model().metadata(); }

  // With the tensors that it keeps in other files.
  const onnx::ModelProto& proto() const;

  // For samplers and estimators as well as for scoring: whether the energy is quadratic is read off the
  // graph, whatever the metadata say.
  const EnergyModel& energy_model() const;
  // The same with its gradient, which is derived where the model does not carry it. Throws kBadModel.
  const EnergyModel& with_gradient() const;

  // Through which nodes the energy depends on x unseen by that gradient.
  const std::vector<BlindSpot>& blind_spots() const;

  // The RBM that its graph shows, or null.
  std::shared_ptr<const BipartiteForm> bipartite() const;

  // Of its contents, external data included: another digest, another model.
  std::string Digest() const;

  // Sets entries of the file's metadata. Throws kInvalidArgument if the file is no longer the one that was
  // read.
  void WriteMetadata(const std::map<std::string, std::string>& entries) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ort_ed
