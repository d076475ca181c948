#include "tools/jobs/train/export.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <nlohmann/json.hpp>
#include <onnx/onnx_pb.h>

#include "models/base/autoregressive.h"
#include "models/graph/model_edits.h"
#include "models/graph/model_file.h"
#include "models/graph/standard_domain.h"
#include "models/graph/tensor_data.h"
#include "models/inspect/energy_degree.h"
#include "models/inspect/model_summary.h"
#include "ort_ed/error.h"
#include "ort_ed/metadata.h"
#include "ort_ed/options.h"
#include "runtime/support/files/atomic_file.h"
#include "tools/jobs/settings/json_object.h"
#include "trainer/graph/infer_shapes.h"
#include "trainer/graph/inline_functions.h"
#include "trainer/graph/prepare_model.h"
#include "trainer/graph/raise_opset.h"
#include "trainer/graph/tidy_model.h"
#include "trainer/learner/learner.h"
#include "trainer/learner/step_graph.h"

namespace ort_ed {
namespace {

constexpr char kParametersKind[] = "parameters";
constexpr char kAverageKind[] = "average";

void SetValues(onnx::ModelProto& model, const StateTensor& state) {
  onnx::TensorProto* tensor = FindInitialiser(model, state.parameter);
  if (tensor == nullptr || tensor->data_type() != onnx::TensorProto::FLOAT ||
      ElementCount(*tensor) != static_cast<int64_t>(state.values.size())) {
    throw Error(ErrorCode::kBadData,
                fmt::format("the checkpoint holds '{}' with {} values, but its model has no such parameter",
                            state.parameter, state.values.size()));
  }
  tensor->clear_float_data();
  tensor->set_raw_data(state.values.data(), state.values.size() * sizeof(float));
}

// Other networks of the training have tensors, too, and may call their parameters the same.
bool IsOfEnergy(const StateTensor& tensor, const std::string& kind) {
  return tensor.owner == "energy" && tensor.kind == kind;
}

StateTensor CopyZeros(std::span<const float> parameters, StateTensor average) {
  if (parameters.size() == average.values.size()) KeepZeros(parameters, average.values);
  return average;
}

bool HasKind(const Checkpoint& checkpoint, const char* kind) {
  return std::any_of(checkpoint.state.begin(), checkpoint.state.end(),
                     [&](const StateTensor& tensor) { return IsOfEnergy(tensor, kind); });
}

// Adds to what the metadata tells of the training, if it tells anything.
template <typename T>
void NoteInTraining(onnx::ModelProto& model, const char* key, const T& value) {
  auto json = ParseJsonObject(GetMetadata(model, metadata_key::kTraining));
  if (!json) return;
  (*json)[key] = value;
  SetMetadata(model, metadata_key::kTraining, json->dump());
}

// What protobuf writes goes into the file. An exception waits until protobuf has returned: it also writes in
// a destructor.
class FileStream : public google::protobuf::io::CopyingOutputStream {
 public:
  explicit FileStream(AtomicFile& file) : file_(file) {}
  bool Write(const void* bytes, int size) override {
    if (failure_) return false;
    try {
      file_.Write(bytes, static_cast<size_t>(size));
    } catch (const Error&) {
      failure_ = std::current_exception();
    }
    return !failure_;
  }
  void Check() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  AtomicFile& file_;
  std::exception_ptr failure_;
};

// Which ONNX Runtime finds out by itself, and the standard asks for.
void DeclareOutputs(onnx::ModelProto& model) {
  for (auto& output : *model.mutable_graph()->mutable_output()) {
    auto& type = *output.mutable_type()->mutable_tensor_type();
    if (type.has_shape()) continue;
    const TensorInfos infos = InferShapes(model, output.name());
    const auto info = infos.find(output.name());
    if (info == infos.end() || !info->second.has_rank) continue;
    type.set_elem_type(info->second.type);
    for (const Extent& extent : info->second.shape) {
      auto& dimension = *type.mutable_shape()->add_dim();
      if (extent.known()) {
        dimension.set_dim_value(extent.value);
      } else {
        dimension.set_dim_param(extent.symbol.empty() ? "batch" : extent.symbol);
      }
    }
  }
}

std::vector<std::string> WarnOfOtherOperators(const onnx::ModelProto& model, const std::string& name) {
  std::set<std::string> own;
  for (const auto& function : model.functions()) own.insert(function.domain());
  std::set<std::string> others;
  for (const auto& node : model.graph().node()) {
    if (!IsStandardDomain(node.domain()) && !own.contains(node.domain()))
      others.insert(node.domain() + "." + node.op_type());
  }
  if (others.empty()) return {};
  return {fmt::format("{}: not every ONNX runtime has its operators {}", name, fmt::join(others, ", "))};
}

}  // namespace

onnx::ModelProto RestoreModel(const Checkpoint& checkpoint, Weights weights) {
  const bool averaged = weights == Weights::kAverage && HasKind(checkpoint, kAverageKind);
  const std::string name = "the model of the checkpoint";
  onnx::ModelProto model = ParseModel(checkpoint.model, name);
  std::map<std::string, std::span<const float>> parameters;
  for (const StateTensor& tensor : checkpoint.state)
    if (IsOfEnergy(tensor, kParametersKind)) parameters[tensor.parameter] = tensor.values;
  for (const StateTensor& tensor : checkpoint.state) {
    if (!IsOfEnergy(tensor, averaged ? kAverageKind : kParametersKind)) continue;
    SetValues(model, averaged ? CopyZeros(parameters[tensor.parameter], tensor) : tensor);
  }
  CheckTensorData(model, name);
  NoteWeights(model, averaged ? Weights::kAverage : Weights::kRaw);
  return model;
}

void NoteWeights(onnx::ModelProto& model, Weights weights) {
  NoteInTraining(model, "weights", weights == Weights::kAverage ? "ema" : "raw");
}

void WriteModel(const onnx::ModelProto& model, const std::string& path) {
  AtomicFile file(path);
  FileStream stream(file);
  {
    google::protobuf::io::CopyingOutputStreamAdaptor adaptor(&stream);
    SerializeModel(model, adaptor);
  }
  stream.Check();
  file.Commit();
}

void RemoveParameters(onnx::ModelProto& model, std::span<const StateTensor> state) {
  for (const StateTensor& tensor : state) {
    if (tensor.kind != kParametersKind) continue;
    if (onnx::TensorProto* initialiser = FindInitialiser(model, tensor.parameter)) FreeValues(*initialiser);
  }
}

Sparsity ThresholdParameters(onnx::ModelProto& model, double threshold,
                             const std::vector<std::string>& patterns) {
  if (!(threshold > 0 && std::isfinite(threshold)))
    throw OptionError("threshold", fmt::format("must be positive, not {}", threshold));
  PreparedModel prepared = Prepare(model);
  const std::vector<ParameterSlot> slots = TrainedParameters(prepared, {});
  model = std::move(prepared.model);  // where each of them is an initialiser of its own
  const std::vector<bool> selected = Select(ListNames(slots), patterns, "threshold_on");
  std::vector<float> values = FlatParameters(model, slots);
  Sparsity sparsity;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!selected[i]) continue;
    for (float& value : std::span(values).subspan(slots[i].offset, slots[i].size)) {
      if (std::abs(value) < threshold) value = 0;
      sparsity.zeros += value == 0;
    }
    sparsity.entries += slots[i].size;
  }
  SetParameters(model, slots, values);
  RemoveStaleMetadata(model);
  NoteInTraining(model, "threshold", threshold);
  return sparsity;
}

std::vector<std::string> PrepareForDeployment(onnx::ModelProto& model, const std::string& name) {
  const EnergyContract contract = CheckContract(model, name);
  // Some exporters leave it empty; ONNX Runtime does not mind, the standard does.
  if (model.graph().name().empty()) model.mutable_graph()->set_name("energy");
  TidyModel(model);
  if (model.functions_size() > 0) {  // of opsets that only some readers mix, perhaps
    RaiseOpset(model);
    InlineFunctions(model);
    SortNodes(model);
  }
  DeclareOutputs(model);
  SetMetadata(model, metadata_key::kFormatVersion, std::to_string(kMetadataFormatVersion));
  SetMetadata(model, metadata_key::kDimension, std::to_string(contract.dimension));
  NoteNormalised(model);
  NoteDegree(model);
  CheckOnnx(model, name);
  return WarnOfOtherOperators(model, name);
}

}  // namespace ort_ed
