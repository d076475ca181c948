#pragma once

#include <string>

#include <gtest/gtest.h>

#include "ort_ed/device.h"

namespace ort_ed {

// Where the tests of label gpu run: on the device that ORT_ED_TEST_DEVICE names as --device does, else by
// WebGPU on SwiftShader, a renderer that needs no GPU, where Debian's package chromium and libvulkan1 are
// installed. A device that was asked for and cannot be used is a failure; without one the tests are skipped.
struct TestDevice {
  std::string name;     // as a user writes it
  std::string problem;  // empty: it can be used
  bool asked_for = false;
};
const TestDevice& ChosenTestDevice();

class OnDevice : public testing::Test {
 protected:
  void SetUp() override;
  const Device& device() const { return device_; }

 private:
  Device device_;
};

}  // namespace ort_ed
