#include "ort_ed/device.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "ort_ed/error.h"
#include "runtime/provider.h"

namespace ort_ed {
namespace {

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char left, unsigned char right) {
    return std::tolower(left) == std::tolower(right);
  });
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.size() <= 4 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

// "1" or "key=value,key=value"
void ParseOptions(const std::string& text, std::string_view list, Device& device) {
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), item.size() + 1));
    const size_t equals = item.find('=');
    if (IsNumber(item)) {
      device.options["device_id"] = item;
    } else if (equals != std::string_view::npos && equals > 0) {
      device.options[std::string(item.substr(0, equals))] = item.substr(equals + 1);
    } else {
      throw Error(ErrorCode::kDevice, "the device '" + text + "' is not understood at '" + std::string(item) +
                                          "'; write cuda:1 or provider:key=value,key=value");
    }
  }
}

std::string ProviderNamed(std::string_view name) {
  std::string known = "auto";
  if (SameIgnoringCase(name, "cuda")) return "cuda";
  for (const std::string& provider : ProviderNames()) {
    if (SameIgnoringCase(name, provider)) return provider;
    known += ", " + provider;
  }
  throw Error(ErrorCode::kDevice, "this ONNX Runtime " + OnnxRuntimeVersion() + " knows no device '" +
                                      std::string(name) + "'; it offers " + known);
}

Device FirstCuda() { return {"cuda", {{"device_id", "0"}}}; }

}  // namespace

Device ParseDevice(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string_view name = std::string_view(text).substr(0, colon);
  const bool has_options = colon != std::string::npos;
  if (SameIgnoringCase(name, "auto") && !has_options)
    return ProviderProblem(FirstCuda()).empty() ? FirstCuda() : Device();

  Device device;
  device.provider = ProviderNamed(name);
  if (has_options) ParseOptions(text, std::string_view(text).substr(colon + 1), device);
  if (device.provider == "cpu" && has_options)
    throw Error(ErrorCode::kDevice, "the device 'cpu' takes no options; --threads sets its threads");
  if (device.provider == "cuda") device.options.emplace("device_id", "0");
  if (device.provider != "cpu") RequireProvider(device);
  return device;
}

std::vector<DeviceStatus> ListDevices() {
  std::vector<std::string> names = ProviderNames();
  std::stable_partition(names.begin(), names.end(), [](const std::string& name) { return name == "cpu"; });
  if (std::find(names.begin(), names.end(), "cuda") == names.end()) names.emplace_back("cuda");
  std::vector<DeviceStatus> devices;
  for (const std::string& name : names) {
    const std::string problem = ProviderProblem(name == "cuda" ? FirstCuda() : Device{name, {}});
    devices.push_back({name, problem.empty(), problem});
  }
  return devices;
}

std::string ToString(const Device& device) {
  if (device.options.empty()) return device.provider;
  if (device.options.size() == 1 && device.options.begin()->first == "device_id")
    return device.provider + ":" + device.options.begin()->second;
  std::string text = device.provider;
  for (const auto& [key, value] : device.options)
    text += (text.size() == device.provider.size() ? ":" : ",") + key + "=" + value;
  return text;
}

}  // namespace ort_ed
