#pragma once

#include <string>

#include "ort_ed/energy_model.h"
#include "ort_ed/options.h"
#include "tools/jobs/observer.h"

namespace ort_ed {

// Where a job runs its model.
struct DeviceOptions {
  std::string device = "cpu";
  int threads = 0;

  static void Describe(Declare<DeviceOptions>& declare) {
    declare("device", &DeviceOptions::device, "DEVICE",
            "cpu, cuda, cuda:1, webgpu, auto, or another execution provider; `ort-ed devices` lists them");
    declare("threads", &DeviceOptions::threads, "[0, inf)", "threads; 0: all cores");
  }

  // Throws kDevice. Of "auto" the observer hears what was taken.
  LoadOptions Resolve(Observer& observer) const {
    LoadOptions options;
    options.device = ParseDevice(device);
    options.threads = threads;
    if (device == "auto") observer.OnNotice("device auto: running on " + ToString(options.device));
    return options;
  }
};

}  // namespace ort_ed
