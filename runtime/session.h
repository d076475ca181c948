#pragma once

// The seam to ONNX Runtime for the whole toolkit: one environment, one way to choose a device, one way to
// open a session and to translate errors. Not installed.

#include <cstddef>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <onnxruntime_cxx_api.h>

#include "ort_ed/device.h"
#include "ort_ed/error.h"
#include "runtime/support/gate/model_gate.h"

namespace ort_ed {

// The one environment of the process: silent (errors are exceptions), without telemetry, never destroyed, so
// that a session in a global variable may outlive main().
Ort::Env& Environment();

// Options that run a session on `device` with ThreadCount(threads) threads of its own. Throws kDevice if the
// device cannot be used. Callers may add to them (custom operators, optimisation level).
Ort::SessionOptions MakeSessionOptions(const Device& device, int threads);

// Throws kIo if the file cannot be read and kBadModel, naming it, if ONNX Runtime does not accept the model
// or if the gate does not (runtime/support/gate).
Ort::Session OpenSession(const std::string& path, const Ort::SessionOptions& options);  // made by anyone
// `name` stands for the file in error messages. Tensors kept in other files are looked for next to `path`,
// the file that the bytes come from; without `path` there must be none. The bytes are not needed after the
// call. `maker`: kAnyone for what comes from outside and has not been through the gate.
Ort::Session OpenSession(std::span<const std::byte> bytes, const Ort::SessionOptions& options,
                         const std::string& name, const std::string& path = "", Maker maker = Maker::kUs);

// What this thread's sessions say while they are opened and run, where their options ask them to say
// anything. Without such an object they are silent.
class SessionLog {
 public:
  explicit SessionLog(std::function<void(std::string_view line)> read);
  ~SessionLog();
  SessionLog(const SessionLog&) = delete;
  SessionLog& operator=(const SessionLog&) = delete;
};

// Where tensors live: HostMemory() for what the program reads and writes itself, DeviceMemory() for buffers
// that stay where the model runs (the same on the CPU). Ort::Allocator(session, DeviceMemory(device)) makes
// them.
Ort::MemoryInfo HostMemory();
Ort::MemoryInfo DeviceMemory(const Device& device);
// Whether what a tensor's pointer there says is an address, so that a part of a tensor is one, too. Elsewhere
// it is a handle.
bool HasAddresses(const Device& device);
// ONNX Runtime's name of memory without addresses.
inline constexpr std::string_view kHandleMemory = "WebGPU_Buf";

// ONNX Runtime's message without the source locations of its own build.
std::string PlainMessage(const Ort::Exception& exception);

// ONNX Runtime has no code of its own for it.
bool IsOutOfMemory(const Ort::Exception& exception);

// Runs `call`; low memory leaves as std::bad_alloc, what else ONNX Runtime throws leaves as Error "<doing>:
// <message>". `doing` names the file and the action: "cannot score with 'model.onnx'".
template <typename Call>
decltype(auto) Translated(ErrorCode code, std::string_view doing, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const Ort::Exception& exception) {
    if (IsOutOfMemory(exception)) throw std::bad_alloc();
    throw Error(code, std::string(doing) + ": " + PlainMessage(exception));
  }
}

// How many sessions were opened so far, for tests that keep the number down.
int64_t OpenedSessionCount();

}  // namespace ort_ed
