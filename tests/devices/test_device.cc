#include "tests/devices/test_device.h"

#include <cstdlib>
#include <filesystem>

#include "ort_ed/error.h"

namespace ort_ed {
namespace {

constexpr char kSwiftShader[] = "/usr/lib/chromium/vk_swiftshader_icd.json";

TestDevice Choose() {
  TestDevice chosen;
  const char* asked = std::getenv("ORT_ED_TEST_DEVICE");
  chosen.asked_for = asked != nullptr && *asked != 0;
  chosen.name = chosen.asked_for ? asked : "webgpu";
  // The drivers that Vulkan's loader shall look at; no GPU, so that the tests run on the same everywhere.
  if (!chosen.asked_for && std::filesystem::exists(kSwiftShader))
    setenv("VK_ICD_FILENAMES", kSwiftShader, /*overwrite=*/0);
  try {
    ParseDevice(chosen.name);
  } catch (const Error& error) {
    chosen.problem = error.what();
  }
  return chosen;
}

}  // namespace

const TestDevice& ChosenTestDevice() {
  static const TestDevice chosen = Choose();
  return chosen;
}

void OnDevice::SetUp() {
  const TestDevice& chosen = ChosenTestDevice();
  if (chosen.asked_for) {
    ASSERT_EQ(chosen.problem, "") << "ORT_ED_TEST_DEVICE asks for it";
  } else if (!chosen.problem.empty()) {
    GTEST_SKIP() << chosen.problem << " (`tools/setup.sh --webgpu` brings a renderer; "
                 << "ORT_ED_TEST_DEVICE=cuda takes a GPU)";
  }
  device_ = ParseDevice(chosen.name);
}

}  // namespace ort_ed
