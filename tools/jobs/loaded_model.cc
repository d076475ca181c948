#include "tools/jobs/loaded_model.h"

#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "models/graph/model_edits.h"
#include "models/graph/model_file.h"
#include "models/inspect/energy_degree.h"
#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "runtime/support/files/atomic_file.h"
#include "runtime/support/files/read_file.h"
#include "tools/jobs/digest.h"
#include "tools/jobs/train/run_folder.h"
#include "trainer/autodiff/input_gradient.h"
#include "trainer/learner/read_bipartite.h"

namespace ort_ed {

struct LoadedModel::State {
  std::string name;
  LoadOptions options;
  std::string path;              // empty: no file
  std::vector<std::byte> bytes;  // of the file
  std::optional<onnx::ModelProto> proto;
  std::optional<EnergyModel> energy_model;
  std::optional<EnergyModel> with_gradient;
  std::optional<std::vector<BlindSpot>> blind_spots;

  const onnx::ModelProto& Proto() {
    if (!proto) proto = LoadModel(bytes, path, ExternalData::kLoad);
    return *proto;
  }

  EnergyModel Open(const onnx::ModelProto& model) const {
    const std::string serialised = SerializeModel(model);
    return EnergyModel::FromMemory(std::as_bytes(std::span(serialised)), options, name);
  }

  // The file as it is, unless its metadata claim another degree than its graph has.
  EnergyModel OpenForScoring() {
    if (HasNotedDegree(Proto()))
      return path.empty() ? Open(Proto()) : EnergyModel::FromMemory(bytes, options, name, path);
    onnx::ModelProto noted = Proto();
    NoteDegree(noted);
    return Open(noted);
  }

  EnergyModel OpenWithGradient() {
    if (energy_model && energy_model->HasGradient()) return *energy_model;
    onnx::ModelProto model = Proto();
    NoteDegree(model);
    if (GetMetadata(model, metadata_key::kGradientFragment).empty()) AttachInputGradient(model);
    return Open(model);
  }
};

std::string ModelFile(const std::string& path) {
  const std::string last = path + "/" + run_file::kModel, best = path + "/" + run_file::kBestModel;
  if (!std::filesystem::exists(last)) return path;
  const std::string choice = std::filesystem::exists(best)
                                 ? fmt::format("'{}' (of the best validation) or '{}' (the last)", best, last)
                                 : fmt::format("'{}'", last);
  throw Error(ErrorCode::kIo, fmt::format("'{}' is the folder of a run; name {}", path, choice));
}

LoadedModel::LoadedModel(const std::string& path, const LoadOptions& options)
    : state_(std::make_shared<State>(
          State{path, options, path, ReadFile(ModelFile(path), "model"), {}, {}, {}, {}})) {}

LoadedModel::LoadedModel(onnx::ModelProto model, std::string name, const LoadOptions& options)
    : state_(std::make_shared<State>(State{std::move(name), options, "", {}, std::move(model), {}, {}, {}})) {
}

const std::string& LoadedModel::name() const { return state_->name; }

const onnx::ModelProto& LoadedModel::proto() const { return state_->Proto(); }

const EnergyModel& LoadedModel::energy_model() const {
  if (state_->with_gradient) return *state_->with_gradient;
  if (!state_->energy_model) state_->energy_model = state_->OpenForScoring();
  return *state_->energy_model;
}

const EnergyModel& LoadedModel::with_gradient() const {
  if (!state_->with_gradient) state_->with_gradient = state_->OpenWithGradient();
  return *state_->with_gradient;
}

const std::vector<BlindSpot>& LoadedModel::blind_spots() const {
  if (!state_->blind_spots) state_->blind_spots = FindBlindSpots(state_->Proto());
  return *state_->blind_spots;
}

std::shared_ptr<const BipartiteForm> LoadedModel::bipartite() const { return ReadBipartite(proto()); }

std::string LoadedModel::Digest() const { return ComputeDigest(SerializeModel(proto())); }

void LoadedModel::WriteMetadata(const std::map<std::string, std::string>& entries) const {
  if (state_->path.empty())
    throw Error(ErrorCode::kInvalidArgument,
                "the model '" + state_->name + "' is in memory and has no file to write to");
  AtomicFile file(state_->path);
  const std::vector<std::byte> now = ReadFile(state_->path, "model");
  const bool same =
      now == state_->bytes &&
      ComputeDigest(SerializeModel(LoadModel(now, state_->path, ExternalData::kLoad))) == Digest();
  if (!same)
    throw Error(ErrorCode::kInvalidArgument,
                "'" + state_->path +
                    "' has changed in the meantime and was left as it is: the result is of what it was");
  onnx::ModelProto model = LoadModel(now, state_->path, ExternalData::kKeep);
  for (const auto& [key, value] : entries) SetMetadata(model, key, value);
  file.Write(SerializeModel(model));
  file.Commit();
}

}  // namespace ort_ed
