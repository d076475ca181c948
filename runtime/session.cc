#include "runtime/session.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include <onnxruntime_session_options_config_keys.h>

#include "runtime/provider.h"
#include "runtime/support/files/read_file.h"
#include "runtime/support/gate/external_data.h"
#include "runtime/support/gate/model_gate.h"
#include "runtime/support/parallel_for.h"

namespace ort_ed {
namespace {

std::atomic<int64_t> opened_sessions = 0;

thread_local std::function<void(std::string_view)> log_reader;

void ORT_API_CALL ReadLog(void*, OrtLoggingLevel, const char*, const char*, const char*,
                          const char* message) {
  if (log_reader) log_reader(message);
}

std::string LoadFailure(const std::string& name) {
  return "cannot load the model '" + name + "' (damaged, truncated, or no ONNX file?)";
}

// Skips a signature as compilers print it: "T N::F(a, b) const::<lambda(c)> [with c = d]".
size_t SkipSignature(const std::string& text, size_t start) {
  int depth = 0;
  for (size_t i = start; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if ((text[i] != ')' && text[i] != ']') || --depth > 0) continue;
    std::string_view rest = std::string_view(text).substr(i + 1);
    if (rest.starts_with(">")) rest.remove_prefix(1);
    if (rest.starts_with(" const")) rest.remove_prefix(6);
    if (!rest.starts_with("::") && !rest.starts_with(" [with")) return text.size() - rest.size();
  }
  return start;
}

}  // namespace

Ort::Env& Environment() {
  static Ort::Env* const environment = [] {
    if (OrtGetApiBase()->GetApi(ORT_API_VERSION) == nullptr)
      throw Error(ErrorCode::kRuntime, "the ONNX Runtime library that was loaded is version " +
                                           OnnxRuntimeVersion() + ", but this program was built for 1." +
                                           std::to_string(ORT_API_VERSION) +
                                           " or newer; check LD_LIBRARY_PATH, or build with its headers");
    return Translated(ErrorCode::kRuntime, "cannot start ONNX Runtime", [] {
      auto created = std::make_unique<Ort::Env>(ORT_LOGGING_LEVEL_FATAL, "ort_ed", ReadLog, nullptr);
      created->DisableTelemetryEvents();
      return created.release();
    });
  }();
  return *environment;
}

Ort::SessionOptions MakeSessionOptions(const Device& device, int threads) {
  Environment();
  return Translated(ErrorCode::kRuntime, "cannot set up ONNX Runtime", [&] {
    Ort::SessionOptions options;
    options.SetLogSeverityLevel(ORT_LOGGING_LEVEL_FATAL);
    options.SetInterOpNumThreads(1);
    options.SetIntraOpNumThreads(ThreadCount(threads));
    // Spinning within a call keeps small operators fast; between calls it would only burn the cores that the
    // caller needs for its own work.
    options.AddConfigEntry(kOrtSessionOptionsConfigForceSpinningStop, "1");
    AppendProvider(options, device);
    return options;
  });
}

Ort::Session OpenSession(const std::string& path, const Ort::SessionOptions& options) {
  return OpenSession(ReadFile(path, "model"), options, path, path, Maker::kAnyone);
}

Ort::Session OpenSession(std::span<const std::byte> bytes, const Ort::SessionOptions& options,
                         const std::string& name, const std::string& path, Maker maker) {
  ++opened_sessions;
  if (!AdmitModel(bytes, path, name, maker)) throw Error(ErrorCode::kBadModel, LoadFailure(name));
  return Translated(ErrorCode::kBadModel, LoadFailure(name), [&] {
    if (path.empty()) return Ort::Session(Environment(), bytes.data(), bytes.size(), options);
    Ort::SessionOptions with_folder = options.Clone();
    const std::string folder = ModelFolder(path);
    with_folder.AddConfigEntry(kOrtSessionOptionsModelExternalInitializersFileFolderPath, folder.c_str());
    return Ort::Session(Environment(), bytes.data(), bytes.size(), with_folder);
  });
}

SessionLog::SessionLog(std::function<void(std::string_view line)> read) { log_reader = std::move(read); }
SessionLog::~SessionLog() { log_reader = nullptr; }

int64_t OpenedSessionCount() { return opened_sessions; }

Ort::MemoryInfo HostMemory() { return Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault); }

bool HasAddresses(const Device& device) { return device.provider != "webgpu"; }

Ort::MemoryInfo DeviceMemory(const Device& device) {
  if (device.provider == "webgpu")
    return Ort::MemoryInfo(kHandleMemory.data(), OrtDeviceAllocator, 0, OrtMemTypeDefault);
  if (device.provider != "cuda") return HostMemory();
  const auto id = device.options.find("device_id");
  return Ort::MemoryInfo("Cuda", OrtDeviceAllocator, id == device.options.end() ? 0 : std::stoi(id->second),
                         OrtMemTypeDefault);
}

bool IsOutOfMemory(const Ort::Exception& exception) {
  const std::string_view text = exception.what();
  return text.find("bad_alloc") != std::string_view::npos ||
         text.find("Failed to allocate memory") != std::string_view::npos;
}

// "Load failed:/onnxruntime_src/x.cc:187 N::Model::Model(a, b) It has no graph.\n": the location and the
// signature behind it tell a user nothing, nor does the condition in "ptr != nullptr was false. It has ...".
std::string PlainMessage(const Ort::Exception& exception) {
  std::string text = exception.what();
  for (size_t file; (file = text.find("/onnxruntime_src/")) != std::string::npos;) {
    const size_t signature = std::min(text.find_first_of(" \n", file), text.size());
    const size_t message = text.find_first_not_of(' ', SkipSignature(text, signature));
    text.erase(file, std::min(message, text.size()) - file);
    constexpr std::string_view kCondition = " was false. ";
    if (const size_t condition = text.find(kCondition, file); condition != std::string::npos)
      text.erase(file, condition + kCondition.size() - file);
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace ort_ed
