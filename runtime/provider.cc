#include "runtime/provider.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <dlfcn.h>
#include <onnxruntime_cxx_api.h>
#include <unistd.h>

#include "runtime/session.h"

namespace ort_ed {
namespace {

constexpr std::string_view kSuffix = "ExecutionProvider";
constexpr char kAdvice[] =
    "; configure with -Donnxruntime_ROOT=/path/to/an/onnxruntime/that/has/it (README.md, \"Using a GPU\")";

// ONNX Runtime lists the providers under one spelling and accepts another.
constexpr std::array<std::pair<std::string_view, const char*>, 5> kAcceptedSpelling = {{
    {"WebGpu", "WebGPU"},
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
    session.AppendExecutionProvider(AcceptedSpelling(device.provider),
                                    {device.options.begin(), device.options.end()});
  }
}

// Some providers are libraries of their own. Why such a one did not load: ONNX Runtime says only that it did
// not.
std::string LibraryProblem(const std::string& provider) {
  std::string file;
  if (provider == "cuda") file = "libonnxruntime_providers_cuda.so";
  if (provider == "Tensorrt") file = "libonnxruntime_providers_tensorrt.so";
  Dl_info core;
  if (file.empty() || dladdr(reinterpret_cast<const void*>(&OrtGetApiBase), &core) == 0) return "";
  const std::string library = core.dli_fname, path = library.substr(0, library.rfind('/') + 1) + file;
  if (access(path.c_str(), F_OK) != 0)
    return "this build of ONNX Runtime comes without " + file + " (not next to " + library + ")" + kAdvice;
  if (void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
    dlclose(handle);
    return "";
  }
  return std::string("its library cannot be loaded: ") + dlerror() + "; install what is missing";
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
    return problem.empty() ? PlainMessage(exception) : problem;
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
    return PlainMessage(exception) + "; is there such a device, with its driver?";
  }
}

std::string OnnxRuntimeVersion() { return Ort::GetVersionString(); }

void RequireProvider(const Device& device) {
  if (const std::string problem = ProviderProblem(device); !problem.empty()) ThrowUnusable(device, problem);
}

}  // namespace ort_ed
