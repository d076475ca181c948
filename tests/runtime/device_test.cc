#include "ort_ed/device.h"

#include <algorithm>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "runtime/missing_libraries.h"
#include "runtime/provider.h"
#include "runtime/session.h"
#include "runtime/support/parallel_for.h"
#include "tests/support/error_matchers.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

bool CudaUsable() {
  for (const DeviceStatus& status : ListDevices())
    if (status.name == "cuda") return status.usable;
  return false;
}

TEST(Device, CpuIsAlwaysThere) {
  EXPECT_EQ(ToString(ParseDevice("cpu")), "cpu");
  EXPECT_EQ(ToString(ParseDevice("CPU")), "cpu");
  const auto devices = ListDevices();
  EXPECT_EQ(devices.front().name, "cpu");
  EXPECT_TRUE(devices.front().usable);
  EXPECT_EQ(devices.front().reason, "");
}

TEST(Device, ListNamesCudaAndSaysWhyADeviceCannotBeUsed) {
  bool cuda = false;
  for (const DeviceStatus& status : ListDevices()) {
    cuda |= status.name == "cuda";
    EXPECT_EQ(status.usable, status.reason.empty()) << status.name;
  }
  EXPECT_TRUE(cuda);
}

TEST(Device, MissingCudaIsAnErrorAndNeverAFallBack) {
  if (CudaUsable()) GTEST_SKIP() << "this machine has CUDA";
  for (const char* text : {"cuda", "cuda:0", "CUDA:1"})
    ExpectError(
        ErrorCode::kDevice, [&] { ParseDevice(text); }, "cuda", "cannot be used", "docs/gpu.md");
  ExpectError(
      ErrorCode::kDevice,
      [] {
        MakeSessionOptions({"cuda", {{"device_id", "0"}}}, 1);
      },
      "cuda:0");
}

TEST(Device, AutoTakesCudaOrTheCpu) {
  EXPECT_EQ(ToString(ParseDevice("auto")), CudaUsable() ? "cuda:0" : "cpu");
}

TEST(Device, UnknownNameListsTheCandidates) {
  ExpectError(
      ErrorCode::kDevice, [] { ParseDevice("gpu"); }, "'gpu'", "auto", "cpu");
  ExpectError(
      ErrorCode::kDevice, [] { ParseDevice(""); }, "cpu");
  ExpectError(
      ErrorCode::kDevice, [] { ParseDevice("auto:1"); }, "auto");
}

TEST(Device, OptionsThatAreNotUnderstoodAreErrors) {
  ExpectError(
      ErrorCode::kDevice, [] { ParseDevice("cuda:first"); }, "'first'", "key=value");
  ExpectError(
      ErrorCode::kDevice, [] { ParseDevice("cuda:=1"); }, "'=1'");
  ExpectError(
      ErrorCode::kDevice, [] { ParseDevice("cpu:1"); }, "takes no options");
}

TEST(Device, AProviderOutsideTheBuildIsAnError) {
  ExpectError(
      ErrorCode::kDevice,
      [] {
        MakeSessionOptions({"Nonesuch", {}}, 1);
      },
      "Nonesuch", "built without that provider");
}

TEST(Device, ToStringShowsTheOptions) {
  EXPECT_EQ(ToString({"cuda", {}}), "cuda");
  EXPECT_EQ(ToString({"cuda", {{"device_id", "1"}}}), "cuda:1");
  EXPECT_EQ(ToString({"OpenVINO", {{"device_type", "CPU"}, {"num_streams", "2"}}}),
            "OpenVINO:device_type=CPU,num_streams=2");
}

TEST(Device, WhatALibraryLacksIsListed) {
  EXPECT_THAT(MissingLibraries(OnnxRuntimeLibrary()), testing::IsEmpty());
  EXPECT_THAT(MissingLibraries(ORT_ED_NEEDY_LIBRARY), testing::ElementsAre("libort_ed_missing.so"));
  EXPECT_THAT(MissingLibraries("/proc/self/status"), testing::IsEmpty());
  EXPECT_THAT(MissingLibraries("/nowhere"), testing::IsEmpty());
}

TEST(Device, TheProbeRunsOnTheCpu) { EXPECT_EQ(ProviderProblem({}), ""); }

TEST(Session, ZeroThreadsMeansTheCoresThatMayBeUsed) {
  EXPECT_EQ(ThreadCount(3), 3);
  EXPECT_GE(ThreadCount(0), 1);
  ExpectError(
      ErrorCode::kInvalidArgument, [] { ThreadCount(-1); }, "negative");
}

[[noreturn]] void ExitWithThreadsOfOneCore() {
  cpu_set_t allowed, one;
  sched_getaffinity(0, sizeof(allowed), &allowed);
  CPU_ZERO(&one);
  for (int core = 0; CPU_COUNT(&one) == 0; ++core)
    if (CPU_ISSET(core, &allowed)) CPU_SET(core, &one);
  sched_setaffinity(0, sizeof(one), &one);
  std::exit(ThreadCount(0));
}

TEST(Session, ZeroThreadsMeansOneWhereTheProcessHasOneCore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a new process: cores are counted once
  EXPECT_EXIT(ExitWithThreadsOfOneCore(), testing::ExitedWithCode(1), "");
}

TEST(Session, WhatCannotBeOpenedIsNamed) {
  const Ort::SessionOptions options = MakeSessionOptions({}, 1);
  const TempDir folder;
  ExpectError(
      ErrorCode::kIo, [&] { OpenSession(folder.File("none.onnx"), options); }, "none.onnx", "no such file");
  ExpectError(
      ErrorCode::kIo, [&] { OpenSession(folder.path(), options); }, "folder");
  ExpectError(
      ErrorCode::kBadModel, [&] { OpenSession(std::span<const std::byte>(), options, "nothing"); },
      "nothing");
}

TEST(Session, MessagesCarryNoSourceLocations) {
  const auto plain = [](const char* message) {
    return PlainMessage(Ort::Exception(std::string(message), ORT_FAIL));
  };
  EXPECT_EQ(plain("Load failed:/onnxruntime_src/core/model.cc:187 onnxruntime::Model::Model(a&&, b<c(d)>) "
                  "ModelProto does not have a graph.\n"),
            "Load failed:ModelProto does not have a graph.");
  EXPECT_EQ(
      plain("/onnxruntime_src/x.cc:1 void N::F(int) const::<lambda(auto:1)> [with auto:1 = int] Bad (1)"),
      "Bad (1)");
  EXPECT_EQ(plain("/onnxruntime_src/x.cc:1 void F(int) size == 2 was false. Two are needed"),
            "Two are needed");
  EXPECT_EQ(plain("/onnxruntime_src/x.cc:1"), "");
  EXPECT_EQ(plain("plain (text)"), "plain (text)");
}

}  // namespace
}  // namespace ort_ed
