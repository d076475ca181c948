#include "runtime/provider.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <dlfcn.h>
#include <onnxruntime_cxx_api.h>
#include <unistd.h>

#include "runtime/missing_libraries.h"
#include "runtime/session.h"

namespace ort_ed {
namespace {

constexpr std::string_view kSuffix = "ExecutionProvider";
constexpr char kAdvice[] =
    "; take an ONNX Runtime that has it (docs/gpu.md): of the command ort-ed, --onnxruntime DIR or "
    "ORT_ED_ONNXRUNTIME=DIR does, of other programs LD_LIBRARY_PATH";

// ONNX Runtime lists the providers under one spelling and accepts another.
constexpr std::array<std::pair<std::string_view, const char*>, 5> kAcceptedSpelling = {{
    {"webgpu", "WebGPU"},
    {"WebNN", "WEBNN"},
    {"Xnnpack", "XNNPACK"},
    {"Azure", "AZURE"},
    {"Js", "JS"},
}};

std::string AcceptedSpelling(const std::string& provider) {
  for (const auto& [listed, accepted] : kAcceptedSpelling)
    if (provider == listed) return accepted;
  return provider;
}

std::string UserName(std::string_view listed) {
  if (listed.ends_with(kSuffix)) listed.remove_suffix(kSuffix.size());
  if (listed == "CPU") return "cpu";
  if (listed == "CUDA") return "cuda";
  if (listed == "WebGpu") return "webgpu";
  return std::string(listed);
}

// The providers that ONNX Runtime ships as libraries of their own have a create / update / append / release
// family of functions each.
template <typename Options>
struct OptionsApi {
  OrtStatus* (*create)(Options**);
  OrtStatus* (*update)(Options*, const char* const*, const char* const*, size_t);
  OrtStatus* (*append)(OrtSessionOptions*, const Options*);
  void (*release)(Options*);
};

template <typename Options>
void AppendWith(const OptionsApi<Options>& api, Ort::SessionOptions& session, const Device& device) {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : device.options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  Options* created = nullptr;
  Ort::ThrowOnError(api.create(&created));
  const std::unique_ptr<Options, void (*)(Options*)> options(created, api.release);
  if (!keys.empty()) Ort::ThrowOnError(api.update(options.get(), keys.data(), values.data(), keys.size()));
  Ort::ThrowOnError(api.append(session, options.get()));
}

void Append(Ort::SessionOptions& session, const Device& device) {
  const OrtApi& api = Ort::GetApi();
  if (device.provider == "cuda") {
    AppendWith<OrtCUDAProviderOptionsV2>(
        {api.CreateCUDAProviderOptions, api.UpdateCUDAProviderOptions,
         api.SessionOptionsAppendExecutionProvider_CUDA_V2, api.ReleaseCUDAProviderOptions},
        session, device);
  } else if (device.provider == "Tensorrt") {
    AppendWith<OrtTensorRTProviderOptionsV2>(
        {api.CreateTensorRTProviderOptions, api.UpdateTensorRTProviderOptions,
         api.SessionOptionsAppendExecutionProvider_TensorRT_V2, api.ReleaseTensorRTProviderOptions},
        session, device);
  } else if (device.provider != "cpu") {
    std::unordered_map<std::string, std::string> provider(device.options.begin(), device.options.end());
    // Without it, whatever touches an index or an extent would leave the device.
    if (device.provider == "webgpu") provider.emplace("enableInt64", "1");
    session.AppendExecutionProvider(AcceptedSpelling(device.provider), provider);
  }
}

// What a person installs, for the library of that name.
std::string Described(const std::string& library) {
  if (library.starts_with("libcuda.so")) return "NVIDIA's driver (" + library + ")";
  if (library.starts_with("libcudnn")) return "cuDNN (" + library + ")";
  return library;
}

// Some providers are libraries of their own. Why such a one did not load: ONNX Runtime says only that it did
// not.
std::string LibraryProblem(const std::string& provider) {
  std::string file;
  if (provider == "cuda") file = "libonnxruntime_providers_cuda.so";
  if (provider == "Tensorrt") file = "libonnxruntime_providers_tensorrt.so";
  const std::string library = OnnxRuntimeLibrary();
  if (file.empty() || library.empty()) return "";
  const std::string path = library.substr(0, library.rfind('/') + 1) + file;
  if (access(path.c_str(), F_OK) != 0)
    return "this build of ONNX Runtime comes without " + file + " (not next to " + library + ")" + kAdvice;
  std::vector<std::string> missing = MissingLibraries(path);
  // Some builds ask for it only when they first need it.
  const auto is_cudnn = [](const std::string& name) { return name.starts_with("libcudnn"); };
  if (std::ranges::none_of(missing, is_cudnn) && !CanLoad("libcudnn.so.9", path))
    missing.emplace_back("libcudnn.so.9");
  if (missing.empty()) return "";
  std::string names;
  bool only_driver = true;
  for (const std::string& name : missing) {
    names += (names.empty() ? "" : ", ") + Described(name);
    only_driver = only_driver && name.starts_with("libcuda.so");
  }
  std::string problem = "these libraries are missing: " + names;
  if (only_driver) return problem + ", which comes with the system";
  if (provider == "cuda") problem += "; `tools/setup.sh --cuda` brings all but the driver";
  return problem;
}

std::string DriverAdvice(const std::string& provider) {
  if (provider != "webgpu") return "; is there such a device, with its driver?";
  return "; it takes a GPU through Vulkan: that needs libvulkan.so.1 (Debian: libvulkan1) and the GPU's "
         "driver "
         "(mesa-vulkan-drivers for AMD and Intel, NVIDIA's own for its GPUs)";
}

// y = Relu(x) on one float, as the bytes of an ONNX model: this library has no protobuf to write one.
constexpr unsigned char kProbeModel[] = {
    0x08, 0x08,                                                              // ir_version 8
    0x3a, 0x33,                                                              // graph
    0x0a, 0x0c, 0x0a, 0x01, 'x',  0x12, 0x01, 'y',                           //   node x -> y
    0x22, 0x04, 'R',  'e',  'l',  'u',                                       //     Relu
    0x12, 0x01, 'p',                                                         //   name
    0x5a, 0x0f, 0x0a, 0x01, 'x',                                             //   input x
    0x12, 0x0a, 0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x0a, 0x02, 0x08, 0x01,  // float [1]
    0x62, 0x0f, 0x0a, 0x01, 'y',                                             //   output y
    0x12, 0x0a, 0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x0a, 0x02, 0x08, 0x01,  // float [1]
    0x42, 0x02, 0x10, 0x0d,                                                  // opset 13
};

// Why `device` cannot be appended; empty if it was.
std::string AppendProblem(Ort::SessionOptions& options, const Device& device) {
  const auto names = ProviderNames();
  if (std::find(names.begin(), names.end(), device.provider) == names.end())
    return "this ONNX Runtime " + OnnxRuntimeVersion() + " was built without that provider" + kAdvice;
  try {
    Append(options, device);
    return "";
  } catch (const Ort::Exception& exception) {
    if (IsOutOfMemory(exception)) throw std::bad_alloc();
    const std::string problem = LibraryProblem(device.provider);
    return problem.empty() ? PlainMessage(exception) + DriverAdvice(device.provider) : problem;
  }
}

// Runs the probe model; throws Ort::Exception.
void RunProbe(const Ort::SessionOptions& options) {
  Ort::Session session(Environment(), kProbeModel, sizeof(kProbeModel), options);
  float x = 1;
  const int64_t shape[] = {1};
  const Ort::Value input = Ort::Value::CreateTensor<float>(HostMemory(), &x, 1, shape, 1);
  const char* input_name = "x";
  const char* output_name = "y";
  session.Run(Ort::RunOptions(), &input_name, &input, 1, &output_name, 1);
}

[[noreturn]] void ThrowUnusable(const Device& device, const std::string& problem) {
  throw Error(ErrorCode::kDevice, "the device '" + ToString(device) + "' cannot be used: " + problem);
}

}  // namespace

std::vector<std::string> ProviderNames() {
  Environment();
  std::vector<std::string> names;
  for (const std::string& listed : Ort::GetAvailableProviders()) names.push_back(UserName(listed));
  return names;
}

void AppendProvider(Ort::SessionOptions& options, const Device& device) {
  if (device.provider == "cpu") return;
  if (const std::string problem = AppendProblem(options, device); !problem.empty())
    ThrowUnusable(device, problem);
}

std::string ProviderProblem(const Device& device) {
  Ort::SessionOptions options;
  if (std::string problem = AppendProblem(options, device); !problem.empty()) return problem;
  try {
    RunProbe(options);
    return "";
  } catch (const Ort::Exception& exception) {
    if (IsOutOfMemory(exception)) throw std::bad_alloc();
    return PlainMessage(exception) + DriverAdvice(device.provider);
  }
}

std::string OnnxRuntimeLibrary() {
  Dl_info core;
  // A function inside it: OrtGetApiBase itself may be an entry in a table of the program.
  if (dladdr(reinterpret_cast<const void*>(OrtGetApiBase()->GetVersionString), &core) == 0) return "";
  return core.dli_fname;
}

std::string OnnxRuntimeVersion() { return Ort::GetVersionString(); }

void RequireProvider(const Device& device) {
  if (const std::string problem = ProviderProblem(device); !problem.empty()) ThrowUnusable(device, problem);
}

}  // namespace ort_ed
