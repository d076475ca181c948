#pragma once

#include <map>
#include <string>
#include <vector>

#include "ort_ed/export.h"

namespace ort_ed {

// Where a model runs. Written by users as "cpu", "cuda", "cuda:1", "auto", or the name of any other execution
// provider of the linked ONNX Runtime with options: "OpenVINO:device_type=CPU,num_of_threads=2".
struct Device {
  std::string provider = "cpu";  // "cpu", "cuda" or ONNX Runtime's name of the provider without its suffix
  std::map<std::string, std::string> options;  // passed on; "device_id" for cuda:n
};

struct DeviceStatus {
  std::string name;  // as a user writes it
  bool usable = false;
  std::string reason;  // why not, and what to do
};

// Throws kDevice for a name this ONNX Runtime does not know (the message lists the candidates) or that cannot
// be used; never falls back. "auto" takes CUDA where it works and the CPU elsewhere: Device::provider tells
// which.
ORT_ED_API Device ParseDevice(const std::string& text);

// Every device of the linked ONNX Runtime, probed.
ORT_ED_API std::vector<DeviceStatus> ListDevices();

// "cpu", "cuda:0", ...: what ParseDevice reads back.
ORT_ED_API std::string ToString(const Device& device);

// Version of the linked ONNX Runtime, e.g. "1.30.0".
ORT_ED_API std::string OnnxRuntimeVersion();

}  // namespace ort_ed
