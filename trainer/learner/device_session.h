#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <onnxruntime_cxx_api.h>

#include "ort_ed/device.h"
#include "runtime/session.h"

namespace onnx {
class ModelProto;
}

namespace ort_ed {

// One graph of a training on a device, run on tensors that stay where they are. This is the seam to the
// device: whatever the device, inputs and outputs are bound the same way; what is bound in host memory is
// copied to and from the device by ONNX Runtime.
class DeviceSession {
 public:
  // What runs of one thread take and give.
  class Runs {
   public:
    explicit Runs(Ort::Session& session) : session_(&session), binding_(session) {}

    void BindInput(const std::string& name, const Ort::Value& tensor);
    void BindOutput(const std::string& name, const Ort::Value& tensor);
    // Runs on what was bound since the last Run(). Throws kRuntime.
    void Run();

   private:
    Ort::Session* session_;
    Ort::IoBinding binding_;
  };

  // Throws kDevice if the device cannot be used and kBadModel if ONNX Runtime does not accept the model.
  // `arena`: on the CPU, memory that is freed is kept for later runs.
  DeviceSession(onnx::ModelProto model, const Device& device, int threads, bool arena = true);

  void BindInput(const std::string& name, const Ort::Value& tensor) { runs_.BindInput(name, tensor); }
  void BindOutput(const std::string& name, const Ort::Value& tensor) { runs_.BindOutput(name, tensor); }
  void Run() { runs_.Run(); }
  // For another thread, beside those of the others.
  Runs MoreRuns() { return Runs(session_); }

  const Ort::Session& session() const { return session_; }

 private:
  Ort::Session session_;
  Runs runs_;
};

// A tensor in the caller's own memory, which must outlive it.
template <typename T>
Ort::Value HostTensor(T* data, const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return Ort::Value::CreateTensor<T>(HostMemory(), data, static_cast<size_t>(count), shape.data(),
                                     shape.size());
}

// A part of a flat tensor, which must outlive it. Where memory has no addresses (HasAddresses()) only the
// whole can be had.
Ort::Value Slice(const Ort::Value& flat, int64_t offset, const std::vector<int64_t>& shape);

// Makes vectors in the memory of a device and moves values between there and here. On other devices than the
// CPU copies are made by a graph with one Identity, so that they need nothing of a device but that ONNX
// Runtime knows it.
class DeviceMemoryPool {
 public:
  explicit DeviceMemoryPool(const Device& device);

  Ort::Value Vector(int64_t size);  // of any values
  Ort::Value Vector(const std::vector<float>& values);
  void Write(const std::vector<float>& values, const Ort::Value& vector);
  std::vector<float> Read(const Ort::Value& vector);
  void Read(const Ort::Value& vector, std::span<float> values);
  // As many as there is room for, from the one at `offset` on.
  void Read(const Ort::Value& vector, int64_t offset, std::span<float> values);

 private:
  Device device_;
  std::optional<DeviceSession> copy_;  // none: the memory is the caller's own
  std::optional<DeviceSession> part_;  // opened when it is first needed
  std::optional<Ort::Allocator> allocator_;
};

}  // namespace ort_ed
