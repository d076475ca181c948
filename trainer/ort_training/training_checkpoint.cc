#include "trainer/ort_training/training_checkpoint.h"

#include <limits>

#include <flatbuffers/flatbuffers.h>
#include <onnx/onnx_pb.h>

#include "ort_ed/error.h"
#include "trainer/ort_training/training_checkpoint_generated.h"

namespace ort_ed {
namespace {

namespace format = checkpoint_format;
using flatbuffers::FlatBufferBuilder, flatbuffers::Offset;
template <typename T>
using Offsets = std::vector<Offset<T>>;

constexpr int32_t kVersion = 2;
constexpr char kOnlyGroup[] = "group0";
constexpr const char* kMoments[] = {"momentum0", "momentum1"};

Offset<format::Tensor> WriteTensor(FlatBufferBuilder& builder, const std::string& name,
                                   const std::vector<int64_t>& shape, std::span<const float> values) {
  builder.ForceVectorAlignment(values.size_bytes(), 1, alignof(double));
  const auto bytes =
      builder.CreateVector(reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes());
  const auto dims = builder.CreateVector(shape);
  return format::CreateTensor(builder, builder.CreateString(name), 0, dims, onnx::TensorProto::FLOAT, bytes);
}

Offset<format::Moments> WriteMoments(FlatBufferBuilder& builder, const TrainedTensor& tensor) {
  Offsets<format::Tensor> moments;
  for (size_t i = 0; i < tensor.moments.size(); ++i)
    moments.push_back(WriteTensor(builder, kMoments[i], tensor.shape, tensor.moments[i]));
  const auto list = builder.CreateVector(moments);
  return format::CreateMoments(builder, builder.CreateString(tensor.name), list);
}

size_t CountBytes(std::span<const TrainedTensor> tensors) {
  size_t bytes = 0;
  for (const TrainedTensor& tensor : tensors)
    bytes += tensor.values.size_bytes() * (1 + tensor.moments.size());
  return bytes;
}

}  // namespace

std::string WriteTrainingCheckpoint(std::span<const TrainedTensor> tensors,
                                    const TrainingProgress& progress) {
  constexpr size_t kMost = std::numeric_limits<int32_t>::max() / 8 * 7;  // leaves room for all but values
  if (const size_t bytes = CountBytes(tensors); bytes > kMost)
    throw Error(ErrorCode::kInvalidArgument,
                "parameters and moments are " + std::to_string(bytes >> 20) +
                    " MB, and ONNX Runtime's training checkpoint holds less than 2 GB");
  FlatBufferBuilder builder;
  Offsets<format::Tensor> trained;
  Offsets<format::Moments> moments;
  for (const TrainedTensor& tensor : tensors) {
    trained.push_back(WriteTensor(builder, tensor.name, tensor.shape, tensor.values));
    if (!tensor.moments.empty()) moments.push_back(WriteMoments(builder, tensor));
  }
  const auto frozen = builder.CreateVector(Offsets<format::Tensor>());  // they are in the models
  const auto parameters = format::CreateParameters(builder, builder.CreateVector(trained), frozen);
  Offsets<format::Optimizer> optimizers;
  if (!moments.empty()) {
    const auto list = builder.CreateVector(moments);
    optimizers.push_back(format::CreateOptimizer(builder, builder.CreateString(kOnlyGroup), progress.steps,
                                                 progress.learning_rate, list));
  }
  format::FinishCheckpointBuffer(
      builder, format::CreateCheckpoint(builder, kVersion, parameters, builder.CreateVector(optimizers)));
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

}  // namespace ort_ed
