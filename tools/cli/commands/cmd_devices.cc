#include <iostream>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include "ort_ed/device.h"
#include "runtime/provider.h"
#include "runtime/simd/instruction_set.h"
#include "tools/cli/command.h"
#include "tools/cli/json_text.h"

namespace ort_ed {
namespace {

// Probing makes some providers complain on stderr by themselves; the table below says it better.
class SilencedStderr {
 public:
  SilencedStderr() : saved_(dup(STDERR_FILENO)) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
  }
  ~SilencedStderr() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
  }
  SilencedStderr(const SilencedStderr&) = delete;
  SilencedStderr& operator=(const SilencedStderr&) = delete;

 private:
  int saved_;
};

struct DevicesCommand {
  bool json = false;
  static void Describe(Declare<DevicesCommand>& declare) {
    declare("json", &DevicesCommand::json, "", "print the list as JSON");
  }
};

void RunDevices(const DevicesCommand& command) {
  const std::vector<DeviceStatus> devices = [] {
    const SilencedStderr silence;
    return ListDevices();
  }();
  const std::string instructions = InstructionSetName(UsableInstructions());
  if (command.json) {
    nlohmann::ordered_json json = {{"onnxruntime", OnnxRuntimeVersion()},
                                   {"library", OnnxRuntimeLibrary()},
                                   {"instructions", instructions},
                                   {"devices", nlohmann::json::array()}};
    for (const DeviceStatus& device : devices)
      json["devices"].push_back(
          {{"name", device.name}, {"usable", device.usable}, {"reason", device.reason}});
    std::cout << JsonText(json) << "\n";
    return;
  }
  std::cout << fmt::format("ONNX Runtime {}; our own kernels use {}\n  {}\n", OnnxRuntimeVersion(),
                           instructions, OnnxRuntimeLibrary());
  for (const DeviceStatus& device : devices)
    std::cout << fmt::format("  {:<12}{}\n", device.name,
                             device.usable ? "usable" : "not usable: " + device.reason);
}

}  // namespace

extern const Command kDevicesCommand = MakeCommand<DevicesCommand, RunDevices>(
    "devices", "list where models can run, and why a device cannot be used",
    "  ort-ed devices\n"
    "  ort-ed devices --json\n"
    "  ort-ed devices --onnxruntime ~/.cache/ort-ed/cuda-onnxruntime-1.31.1");

}  // namespace ort_ed
